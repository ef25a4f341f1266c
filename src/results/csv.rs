//! The table of annotations as CSV.

use std::ops::Range;

use super::annotations::{Annotations, Row};
use super::text::{decimal, field};
use crate::ion::isotope::PEAKS;

/// What stands between several molecules of a row.
const BETWEEN: &str = "; ";

const COLUMNS: &str = "formula,adduct,mz,chaos,spatial,spectral,msm,fdr,neutral_loss,ion_formula,mz_err_abs,\
                       mz_err_rel,overlap,iso_mz,iso_theory,total_iso_ints,min_iso_ints,max_iso_ints,molecule_names,\
                       molecule_ids\n";

impl Annotations {
    /// The header line of `results.csv`.
    ///
    /// Fields are divided by commas and quoted where they have to be (RFC 4180), lines end with `\n`; numbers are the
    /// shortest decimals that give back the same f64, and empty where there is none. The same bytes natively and as
    /// WebAssembly.
    ///
    /// Columns: `formula`, `adduct`, `mz` (theoretical, first isotope peak), `chaos`, `spatial`, `spectral`, `msm`,
    /// `fdr`; then `neutral_loss`, `ion_formula`, `mz_err_abs`, `mz_err_rel`, `overlap`, and for the four isotope
    /// peaks, as lists in brackets, `iso_mz`, `iso_theory`, `total_iso_ints`, `min_iso_ints`, `max_iso_ints`; at last
    /// `molecule_names` and `molecule_ids`, divided by `; `.
    #[must_use]
    pub fn csv_head(&self) -> &'static str {
        COLUMNS
    }

    /// The lines of some rows; those beyond the last one are left out.
    #[must_use]
    pub fn csv_rows(&self, rows: Range<usize>) -> String {
        let mut out = String::new();
        for row in self.part(rows) {
            self.csv_row(row, &mut out);
        }
        out
    }

    fn csv_row(&self, row: &Row, out: &mut String) {
        let scored = &row.scored;
        let metrics = &scored.metrics;
        field(self.formula(row), out);
        out.push(',');
        field(self.adduct(row), out);
        let scores = [
            metrics.chaos,
            metrics.spatial,
            metrics.spectral,
            metrics.msm,
        ];
        numbers(&[scored.mz[0]], out);
        numbers(&scores, out);
        numbers(&[row.fdr], out);
        out.push(',');
        field(self.loss(row), out);
        out.push(',');
        field(&self.ion_formula(row), out);
        numbers(&[scored.mz_err_abs, scored.mz_err_rel], out);
        out.push_str(if scored.overlap { ",true" } else { ",false" });
        for values in [
            &scored.mz,
            &scored.theory,
            &metrics.total,
            &metrics.min,
            &metrics.max,
        ] {
            list(values, out);
        }
        let molecules = self.molecules(row);
        let texts = |of: fn(&crate::ion::database::Molecule) -> Option<&String>| {
            let texts: Vec<&str> = molecules
                .iter()
                .filter_map(of)
                .map(String::as_str)
                .collect();
            texts.join(BETWEEN)
        };
        out.push(',');
        field(&texts(|molecule| molecule.name.as_ref()), out);
        out.push(',');
        field(&texts(|molecule| molecule.id.as_ref()), out);
        out.push('\n');
    }
}

/// Numbers, each after a comma.
fn numbers(values: &[f64], out: &mut String) {
    for value in values {
        out.push(',');
        if value.is_finite() {
            decimal(*value, out);
        }
    }
}

/// A list in brackets, which is quoted for its commas.
fn list(values: &[f64; PEAKS], out: &mut String) {
    out.push_str(",\"[");
    for (n, value) in values.iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        if value.is_finite() {
            decimal(*value, out);
        } else {
            out.push_str("null");
        }
    }
    out.push_str("]\"");
}
