//! Annotations as JSON, for the page and for provenance.

use std::ops::Range;

use super::annotations::{Annotations, Row};
use super::text::Json;
use super::{Provenance, hex};
use crate::ion::fdr::level::{LEVELS, nearest};

/// The version of `annotations.json`.
const VERSION: u32 = 1;

impl Annotations {
    /// The beginning of `annotations.json`, up to where the rows come.
    ///
    /// `annotations.json` is [`json_head`](Self::json_head), [`json_rows`](Self::json_rows) of all rows, in as many
    /// pieces as one likes, and [`json_tail`](Self::json_tail). Members: `version` (1), `program`, `store` (`file`,
    /// `sha256` of its head, `source`, `width`, `height`, `spectra`, `polarity`, `instrument`), `list` (`file`,
    /// `sha256`), `options`, `counts` (`rows`, `formulas`, `molecules`, `rejected`, `targets`, `decoys`,
    /// `impossible`, `scoring_targets`, `scoring_decoys`), `levels` (rows at each FDR or below), `warnings`,
    /// `rejected` (the first rows of the list that were left out), `rows`.
    #[must_use]
    pub fn json_head(&self, provenance: &Provenance) -> String {
        let mut out = String::new();
        let mut json = Json::new(&mut out);
        json.open("", '{');
        json.whole("version", VERSION);
        json.text("program", &provenance.program);
        store(provenance, &mut json);
        self.options(&mut json);
        self.counts(&mut json);
        json.texts("warnings", self.warnings());
        json.open("rejected", '[');
        for rejected in &self.ions().molecules().rejected {
            json.open("", '{');
            json.whole("line", rejected.line);
            json.text("text", &rejected.text);
            json.text("what", &rejected.what);
            json.close('}');
        }
        json.close(']');
        json.open("rows", '[');
        out
    }

    /// Some of the rows, with a comma before each but the first of all; those beyond the last one are left out.
    #[must_use]
    pub fn json_rows(&self, rows: Range<usize>) -> String {
        let mut out = String::new();
        let json = Json::new(&mut out);
        let mut json = if rows.start > 0 { json.after() } else { json };
        for row in self.part(rows) {
            self.json_row(row, &mut json);
        }
        out
    }

    /// The end of `annotations.json`.
    #[must_use]
    pub fn json_tail(&self) -> &'static str {
        "]}\n"
    }

    fn options(&self, json: &mut Json<'_>) {
        let request = self.ions().request();
        json.open("options", '{');
        let targets: Vec<String> = request.targets.iter().map(ToString::to_string).collect();
        json.texts("adducts", &targets);
        json.whole("decoys", request.decoys);
        json.text("scoring", request.scoring.name());
        json.text("analyzer", request.instrument.analyzer().name());
        json.float("resolving_power", request.instrument.stated_power());
        json.float("sigma", request.instrument.sigma());
        json.float("charge", f64::from(request.charge));
        json.float("ppm", request.ppm);
        json.flag("hotspot", request.hotspot);
        json.whole("slice", request.slice);
        json.text("fingerprint", &hex(&self.ions().fingerprint()));
        json.close('}');
    }

    fn counts(&self, json: &mut Json<'_>) {
        let ions = self.ions();
        let molecules = ions.molecules();
        json.open("counts", '{');
        json.whole("rows", self.rows().len() as u64);
        json.whole("formulas", molecules.formulas.len() as u64);
        json.whole("molecules", molecules.molecules.len() as u64);
        json.whole("rejected", molecules.rejected_rows);
        json.whole("targets", ions.targets());
        json.whole("decoys", ions.decoys());
        json.whole("impossible", ions.impossible());
        json.whole("scoring_targets", self.rows().len() as u64);
        json.whole("scoring_decoys", self.decoys());
        json.close('}');
        json.open("levels", '[');
        for (fdr, rows) in LEVELS.into_iter().zip(self.levels()) {
            json.open("", '{');
            json.float("fdr", fdr);
            json.whole("rows", rows);
            json.close('}');
        }
        json.close(']');
    }

    fn json_row(&self, row: &Row, json: &mut Json<'_>) {
        let scored = &row.scored;
        let metrics = &scored.metrics;
        json.open("", '{');
        json.text("formula", self.formula(row));
        json.text("modifier", self.modifier(row));
        json.text("neutral_loss", self.loss(row));
        json.text("adduct", self.adduct(row));
        json.text("ion", &self.ion_formula(row));
        json.float("mz", scored.mz[0]);
        json.float("msm", metrics.msm);
        json.float("fdr", row.fdr);
        json.float("level", nearest(row.fdr));
        json.float("chaos", metrics.chaos);
        json.float("spatial", metrics.spatial);
        json.float("spectral", metrics.spectral);
        json.float("mz_err_abs", scored.mz_err_abs);
        json.float("mz_err_rel", scored.mz_err_rel);
        json.flag("overlap", scored.overlap);
        json.open("peaks", '[');
        for k in (0..scored.mz.len()).filter(|k| scored.mz[*k] > 0.0) {
            json.open("", '{');
            json.float("mz", scored.mz[k]);
            json.float("theory", scored.theory[k]);
            json.float("total", metrics.total[k]);
            json.float("min", metrics.min[k]);
            json.float("max", metrics.max[k]);
            json.close('}');
        }
        json.close(']');
        json.open("molecules", '[');
        for molecule in self.molecules(row) {
            json.open("", '{');
            json.maybe("id", molecule.id.as_deref());
            json.maybe("name", molecule.name.as_deref());
            json.close('}');
        }
        json.close(']');
        json.close('}');
    }
}

fn store(provenance: &Provenance, json: &mut Json<'_>) {
    json.open("store", '{');
    json.text("file", &provenance.store);
    json.text("sha256", &hex(&provenance.store_sha256));
    json.text("source", &provenance.source);
    json.whole("width", provenance.width);
    json.whole("height", provenance.height);
    json.whole("spectra", provenance.spectra);
    json.text("polarity", &provenance.polarity);
    json.maybe("instrument", provenance.instrument.as_deref());
    json.close('}');
    json.open("list", '{');
    json.text("file", &provenance.list);
    let digest = provenance.list_sha256.as_ref().map(hex);
    json.maybe("sha256", digest.as_deref());
    json.close('}');
}
