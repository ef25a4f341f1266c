//! What a dataset is, for programs that show it.

use serde_json::{Value, json};

use super::{Open, Service};
use crate::api::canonical::encode;
use crate::api::catalog::{BUILT_IN, Dataset, Kind, SourceEntry};
use crate::api::layer::Layer;
use crate::api::opened::Opened;
use crate::api::problem::Problem;
use crate::ion::normalise::Normalise;
use crate::raster::pyramid::{Pyramid, TILE};
use crate::stack::exposure::Stack;
use crate::store::head::Head;

impl Service {
    /// The members of `/v1/{dataset}/info`.
    pub(super) fn info(&self, declared: &Dataset, open: &Open) -> Value {
        let base = &self.facts.base;
        let id = &open.id;
        let (width, height) = open.opened.size();
        let mut info = json!({
            "id": id,
            "name": declared.name,
            "version": id.split('@').nth(1),
            "title": declared.title,
            "width": width,
            "height": height,
            "tile": TILE,
            "levels": levels(open),
            "template": format!("{base}/v1/{id}/{{layer}}/{{z}}/{{x}}/{{y}}.png"),
            "jobs": declared.jobs && self.facts.jobs,
            "links": {
                "self": format!("{base}/v1/{id}/info"),
                "spectrum": format!("{base}/v1/{id}/spectrum"),
            },
        });
        match (&open.opened, &declared.kind) {
            (Opened::Stack { stack, .. }, Kind::Stack(entry)) => {
                let names: Vec<&str> = entry.exposures.iter().map(SourceEntry::shown).collect();
                of_stack(&mut info, stack, &names);
                info["masked"] = json!(entry.mask.is_some());
            }
            (
                Opened::Ions {
                    head, instrument, ..
                },
                Kind::Ions(entry),
            ) => {
                of_ions(&mut info, head);
                info["analyzer"] = json!(instrument.analyzer().name());
                info["resolving_power"] = json!(instrument.stated_power());
                let lists = entry.molecules.iter().map(|(name, _)| name.as_str());
                info["lists"] = json!(lists.chain([BUILT_IN]).collect::<Vec<_>>());
            }
            // A dataset is opened as what it is declared.
            _ => {}
        }
        info
    }

    /// The members of `…/{layer}/tilejson.json`: `TileJSON` 3.0.0, with the size of the plane in its own pixels.
    pub(super) fn tilejson(
        &self,
        declared: &Dataset,
        open: &Open,
        layer: &Layer,
    ) -> Result<Value, Problem> {
        let (width, height) = open.opened.size();
        let levels = Pyramid::new(width, height, TILE)?.levels();
        let parameters = layer.parameters().into_iter();
        let query: Vec<String> = parameters
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let query = if query.is_empty() {
            String::new()
        } else {
            format!("?{}", query.join("&"))
        };
        let base = &self.facts.base;
        let name = layer.to_string();
        let tiles = format!(
            "{base}/v1/{}/{}/{{z}}/{{x}}/{{y}}.png{query}",
            open.id,
            encode(&name)
        );
        Ok(json!({
            "tilejson": "3.0.0",
            "name": declared.title.as_ref().unwrap_or(&declared.name),
            "description": format!("{name} of {}; 16-bit grey: 0 is no data, else BZERO + BSCALE * code, as each tile states them", open.id),
            "version": "1.0.0",
            "scheme": "xyz",
            "tiles": [tiles],
            "minzoom": 0,
            "maxzoom": levels - 1,
            "tile_size": TILE,
            "width": width,
            "height": height,
        }))
    }
}

fn levels(open: &Open) -> u32 {
    let (width, height) = open.opened.size();
    // Nothing that was opened is without pixels.
    Pyramid::new(width, height, TILE).map_or(0, |pyramid| pyramid.levels())
}

fn of_stack(info: &mut Value, stack: &Stack, names: &[&str]) {
    info["type"] = json!("stack");
    info["dtype"] = json!(if stack.wide { "float64" } else { "float32" });
    info["unit"] = json!(stack.unit);
    info["origin"] = json!("lower");
    info["cards"] = json!(stack.cards);
    info["layers"] = json!(["median", "rms", "count", "frame-{n}"]);
    info["frames"] = json!(names.len());
    info["exposures"] = json!(names);
    info["warnings"] = json!(stack.warnings);
}

fn of_ions(info: &mut Value, head: &Head) {
    let contents = &head.layout.contents;
    let meta = &head.meta;
    info["type"] = json!("ions");
    info["dtype"] = json!("float32");
    info["unit"] = Value::Null;
    info["origin"] = json!("upper");
    info["slices"] = json!(meta.slices);
    info["spectra"] = json!(contents.spectra);
    info["peaks"] = json!(contents.peaks);
    info["mz"] = json!([contents.first_mz, contents.last_mz]);
    info["pixel_size"] = json!(meta.pixel_size);
    info["polarity"] = json!(meta.polarity);
    info["representation"] = json!(meta.representation);
    info["instrument"] = json!(meta.instrument);
    info["source"] = json!(meta.source);
    info["layers"] = json!(["mz-{mz}", "{formula}{modifier}"]);
    info["norms"] = json!(Normalise::ALL.map(Normalise::name));
    info["warnings"] = json!(meta.warnings);
}
