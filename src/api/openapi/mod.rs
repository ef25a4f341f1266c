//! The interface described for programs: `OpenAPI` 3.1, of exactly the addresses that [`route`](super::route::route) reads.
//!
//! HEAD is answered like GET without a body, and OPTIONS with 204, at every address; neither is listed.

mod operations;
mod schemas;

use serde_json::{Map, Value, json};

use super::catalog::{Catalog, Kind};
use super::problem::CODES;
use super::service::ServerFacts;

/// The document; datasets that are not private are named as examples.
#[must_use]
pub fn document(catalog: &Catalog, facts: &ServerFacts) -> Value {
    let server = if facts.base.is_empty() {
        "/"
    } else {
        &facts.base
    };
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Sectile",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Medians of FITS stacks and ion images of imaging mass-spectrometry datasets",
            "description": DESCRIPTION,
            "license": {"name": "MIT OR Apache-2.0"},
        },
        "servers": [{"url": server}],
        "security": [{}, {"bearer": []}],
        "tags": [
            {"name": "service", "description": "What is served."},
            {"name": "pictures", "description": "Tiles, cut-outs and numbers of a layer."},
            {"name": "jobs", "description": "Work that does not fit one answer."},
        ],
        "paths": operations::paths(),
        "components": {
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "description": "The token of a private dataset."},
            },
            "parameters": parameters(catalog),
            "responses": responses(),
            "headers": headers(),
            "schemas": schemas::schemas(),
        },
    })
}

const DESCRIPTION: &str = "\
Every address has one canonical form: `name@version` for the dataset, the canonical name of the layer, parameters in the \
order of their names, the usual values left out. It is the key of the cache and, with the program's version, the entity \
tag: `If-None-Match` is answered with 304 before anything is computed. `/v1/{dataset}/…` is kept for a minute, \
what pixels say at `/v1/{dataset}@{version}/…` for a year. HEAD is answered like GET without a body, OPTIONS with 204 and the methods, other \
methods with 405. Parameters that are unknown or given twice are refused. Job results heed `Range` and `If-Range`. \
A tile is a 16-bit grey PNG: 0 is no data, else the value is BZERO + BSCALE * code, as the tile's text and headers say.";

/// Parameters by name.
fn parameters(catalog: &Catalog) -> Value {
    let path = |name: &str, schema: Value, what: &str| json!({"name": name, "in": "path", "required": true, "schema": schema, "description": what});
    let query = |name: &str, schema: Value, what: &str| json!({"name": name, "in": "query", "schema": schema, "description": what});
    let index = json!({"type": "integer", "minimum": 0});
    let mut dataset = path(
        "dataset",
        json!({"type": "string", "pattern": schemas::DATASET, "maxLength": 73}),
        "The dataset's name, or its id `name@version`.",
    );
    let mut layer = path(
        "layer",
        json!({"type": "string", "pattern": schemas::LAYER, "maxLength": 200}),
        "`median`, `rms`, `count`, `frame-1` …; `mz-885.5498`, `C47H83O13P-H`.",
    );
    dataset["examples"] = examples(
        catalog
            .datasets
            .iter()
            .filter(|one| one.token.is_none())
            .map(|one| (one.name.as_str(), one.name.as_str())),
    );
    let kinds = catalog.datasets.iter().map(|one| &one.kind);
    let stacks = kinds.clone().any(|kind| matches!(kind, Kind::Stack(_)));
    let ions = kinds.clone().any(|kind| matches!(kind, Kind::Ions(_)));
    let of_stack = [
        ("median", "median"),
        ("count", "count"),
        ("frame", "frame-1"),
    ];
    let of_ions = [("mz", "mz-885.5498"), ("ion", "C47H83O13P-H")];
    let of_stack = of_stack.into_iter().filter(|_| stacks || !ions);
    layer["examples"] = examples(of_stack.chain(of_ions.into_iter().filter(|_| ions || !stacks)));
    json!({
        "dataset": dataset,
        "layer": layer,
        "z": path("z", index.clone(), "The level; 0 is the coarsest."),
        "x": path("x", index.clone(), "The column, to the right."),
        "y": path("y", index.clone(), "The row; of tiles down, of pixels as the file has them."),
        "job": path("job", json!({"type": "string", "pattern": "^[0-9a-f]{16}$"}), "The job's name."),
        "file": path("file", json!({"enum": super::file::RESULTS.map(|(name, _)| name)}), "A result."),
        "tile": query("tile", json!({"type": "integer", "enum": [256, 512], "default": 256}), "Pixels of a tile's edge."),
        "alpha": query("alpha", json!({"type": "integer", "enum": [0, 1], "default": 0}), "Grey with alpha in place of grey."),
        "bbox": query("bbox", json!({"type": "string", "pattern": schemas::RECTANGLE}), "x0,y0,x1,y1: half-open, from 0, rows as the file has them (of FITS from the lowest); all if left out."),
        "tol": query("tol", json!({"type": "string", "pattern": schemas::TOLERANCE, "default": "3ppm"}), "Half width of the window of m/z; of ions only."),
        "norm": query("norm", json!({"enum": ["none", "tic", "rms"], "default": "none"}), "What values are divided by; of ions only."),
        "isotope": query("isotope", json!({"type": "integer", "enum": [0, 1, 2, 3], "default": 0}), "The isotope peak; of formulas only."),
        "column": query("x", index.clone(), "The column of the pixel."),
        "row": query("y", index, "The row of the pixel."),
    })
}

fn examples<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Value {
    let members = pairs.map(|(name, value)| (name.to_owned(), json!({"value": value})));
    Value::Object(members.collect::<Map<_, _>>())
}

/// A response for each status of a problem, and those without a body.
fn responses() -> Value {
    let mut all = Map::new();
    for (_, status, _) in CODES {
        let codes = CODES.iter().filter(|(_, other, _)| *other == status);
        let what: Vec<String> = codes
            .map(|(code, _, title)| format!("`{code}`: {title}."))
            .collect();
        let content = json!({"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}});
        let mut response = json!({"description": what.join(" "), "content": content});
        let header = match status {
            401 => Some("WWW-Authenticate"),
            405 => Some("Allow"),
            416 => Some("Content-Range"),
            503 => Some("Retry-After"),
            _ => None,
        };
        if let Some(name) = header {
            response["headers"] = json!({name: {"schema": {"type": "string"}, "required": true}});
        }
        all.insert(status.to_string(), response);
    }
    all.insert(
        "204".to_owned(),
        json!({"description": "There is no such tile."}),
    );
    all.insert(
        "304".to_owned(),
        json!({
            "description": "The client has it.",
            "headers": {"ETag": {"$ref": "#/components/headers/ETag"}},
        }),
    );
    Value::Object(all)
}

fn headers() -> Value {
    let number = json!({"type": "string", "pattern": "^-?[0-9.]+(e-?[0-9]+)?$"});
    json!({
        "ETag": {"required": true, "schema": {"type": "string", "pattern": "^\"[0-9a-f]{16}\"$"}},
        "Location": {"required": true, "schema": {"type": "string"}, "description": "The job's address."},
        "X-BZERO": {"required": true, "schema": number, "description": "The value of code 0, which is not used."},
        "X-BSCALE": {"required": true, "schema": number, "description": "The value of one code."},
        "X-BLANK": {"required": true, "schema": {"type": "string", "const": "0"}, "description": "The code of no data."},
    })
}
