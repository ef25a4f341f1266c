//! The forms of what is sent and answered.

use serde_json::{Value, json};

use crate::api::jobs::MOST_SHARDS;
use crate::api::problem::CODES;

/// `name` or `name@version`: see [`is_name`](crate::api::route::is_name).
pub(super) const DATASET: &str = "^[a-z0-9][a-z0-9._-]{0,63}(@[0-9a-f]{8})?$";

/// A layer: what [`Layer::parse`](crate::api::Layer::parse) may take; ions that cannot be are 404.
pub(super) const LAYER: &str = r"^(median|rms|count|frame-[0-9]{1,6}|mz-[0-9]{1,9}(\.[0-9]{1,9})?|[A-Z][A-Za-z0-9()]{0,80}([+-][A-Z][A-Za-z0-9]{0,20}){1,3})$";

/// Half-open: `x0,y0,x1,y1`.
pub(super) const RECTANGLE: &str = "^[0-9]{1,9},[0-9]{1,9},[0-9]{1,9},[0-9]{1,9}$";

/// Millionths or Da.
pub(super) const TOLERANCE: &str = r"^[0-9]{1,8}(\.[0-9]{1,8})?(ppm|da)$";

/// What adds to or takes from a molecule, of the usual elements.
const MODIFIER: &str = r"^([+-](H|Li|C|N|O|F|Na|P|S|Cl|K|Br|I|Ag)[1-9]?(H|C|N|O)?[1-9]?){1,2}$";

/// What a molecule loses.
const LOSS: &str = r"^-(H|C|N|O|P|S)[1-9]?(H|C|N|O)?[1-9]?$";

pub(super) fn schemas() -> Value {
    json!({
        "Problem": problem(),
        "Service": service(),
        "OpenApi": {"type": "object", "required": ["openapi", "info", "paths"]},
        "Info": info(),
        "TileJson": {
            "type": "object",
            "required": ["tilejson", "tiles", "minzoom", "maxzoom", "scheme", "tile_size", "width", "height"],
            "properties": {
                "tilejson": {"const": "3.0.0"},
                "tiles": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                "minzoom": count(),
                "maxzoom": count(),
                "scheme": {"const": "xyz"},
                "tile_size": count(),
                "width": count(),
                "height": count(),
            },
        },
        "Point": point(),
        "Spectrum": spectrum(),
        "Statistics": statistics(),
        "JobRequest": job_request(),
        "Job": job(),
    })
}

fn count() -> Value {
    json!({"type": "integer", "minimum": 0})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn maybe(kind: &str) -> Value {
    json!({"type": [kind, "null"]})
}

fn numbers() -> Value {
    json!({"type": "array", "items": {"type": ["number", "null"]}})
}

fn problem() -> Value {
    json!({
        "type": "object",
        "description": "RFC 9457.",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": {"type": "string", "pattern": "^/problems/"},
            "title": text(),
            "status": {"type": "integer", "minimum": 400, "maximum": 599},
            "detail": text(),
            "code": {"enum": CODES.map(|(code, ..)| code)},
            "plan": {"type": "object", "description": "What it would take."},
            "limits": {"type": "object", "description": "What it may take."},
        },
    })
}

fn service() -> Value {
    json!({
        "type": "object",
        "required": ["name", "version", "jobs", "limits", "datasets", "links"],
        "properties": {
            "name": {"const": "sectile"},
            "version": text(),
            "jobs": {"type": "boolean"},
            "limits": {
                "type": "object",
                "required": ["requests", "cpu_ms", "memory", "bytes", "answer_bytes"],
                "additionalProperties": count(),
            },
            "links": {"type": "object", "additionalProperties": text()},
            "datasets": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "faulty"],
                "properties": {
                    "name": text(),
                    "faulty": {"type": "boolean"},
                    "reason": text(),
                    "id": text(),
                    "type": {"enum": ["stack", "ions"]},
                    "title": text(),
                    "jobs": {"type": "boolean"},
                    "info": text(),
                },
            }},
        },
    })
}

fn info() -> Value {
    json!({
        "type": "object",
        "required": [
            "id", "name", "version", "type", "title", "width", "height", "dtype", "unit", "origin", "tile", "levels",
            "layers", "template", "jobs", "links", "warnings",
        ],
        "properties": {
            "id": text(),
            "name": text(),
            "version": {"type": "string", "pattern": "^[0-9a-f]{8}$"},
            "type": {"enum": ["stack", "ions"]},
            "title": maybe("string"),
            "width": count(),
            "height": count(),
            "dtype": {"enum": ["float32", "float64"]},
            "unit": maybe("string"),
            "origin": {"enum": ["lower", "upper"], "description": "Where row 0 is."},
            "tile": count(),
            "levels": {"type": "integer", "minimum": 1},
            "layers": {"type": "array", "items": text()},
            "template": text(),
            "jobs": {"type": "boolean"},
            "warnings": {"type": "array", "items": text()},
            "cards": {"type": "array", "items": {"type": "string", "maxLength": 80}},
            "frames": count(),
            "exposures": {"type": "array", "items": text()},
            "masked": {"type": "boolean"},
            "mz": {"type": "array", "items": {"type": "number"}},
            "pixel_size": numbers(),
            "polarity": text(),
            "lists": {"type": "array", "items": text()},
        },
    })
}

fn point() -> Value {
    json!({
        "type": "object",
        "required": ["x", "y", "value", "unit"],
        "properties": {
            "x": count(),
            "y": count(),
            "value": maybe("number"),
            "unit": maybe("string"),
            "count": count(),
            "sky": {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2},
        },
    })
}

fn spectrum() -> Value {
    json!({
        "description": "Of a stack the value of every exposure; of ions the peaks of a pixel; without a pixel the mean.",
        "type": "object",
        "anyOf": [
            {"required": ["x", "y", "count", "median", "rms", "values"]},
            {"required": ["x", "y", "mz", "intensity"]},
            {"required": ["mz", "mean", "max"]},
        ],
        "properties": {
            "x": count(),
            "y": count(),
            "count": count(),
            "median": maybe("number"),
            "rms": maybe("number"),
            "values": numbers(),
            "mz": numbers(),
            "intensity": numbers(),
            "mean": numbers(),
            "max": numbers(),
        },
    })
}

fn statistics() -> Value {
    json!({
        "type": "object",
        "required": ["min", "max", "mean", "std", "sum", "valid", "nodata", "percentiles", "zscale", "histogram"],
        "properties": {
            "min": maybe("number"),
            "max": maybe("number"),
            "mean": maybe("number"),
            "std": maybe("number"),
            "sum": maybe("number"),
            "valid": count(),
            "nodata": count(),
            "percentiles": {"type": "object", "additionalProperties": {"type": ["number", "null"]}},
            "zscale": {"type": ["object", "null"]},
            "histogram": {"type": ["object", "null"]},
        },
    })
}

fn job_request() -> Value {
    let shards = json!({"type": "integer", "minimum": 1, "maximum": MOST_SHARDS});
    json!({
        "oneOf": [
            {
                "type": "object",
                "required": ["type"],
                "additionalProperties": false,
                "properties": {"type": {"const": "median"}, "shards": shards},
            },
            {
                "type": "object",
                "required": ["type", "molecules"],
                "additionalProperties": false,
                "properties": {
                    "type": {"const": "annotation"},
                    "molecules": {"type": "string", "description": "A list of the catalog, or `core`."},
                    "adducts": {"type": "array", "uniqueItems": true, "maxItems": 8, "items": {"type": "string", "pattern": MODIFIER}},
                    "neutral_losses": {"type": "array", "uniqueItems": true, "maxItems": 4, "items": {"type": "string", "pattern": LOSS}},
                    "polarity": {"enum": ["positive", "negative"]},
                    "ppm": {"type": "number", "exclusiveMinimum": 0, "maximum": 1000, "default": 3},
                    "scoring": {"enum": ["metaspace-v1", "metaspace-v2", "metaspace-v3"], "default": "metaspace-v3"},
                    "decoys": {"type": "integer", "minimum": 1, "maximum": 80, "default": 20},
                    "hotspot": {"type": "boolean", "default": false},
                    "slice": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
                    "images": {"enum": ["all", "first", "none"], "default": "all"},
                    "shards": shards,
                },
            },
        ],
    })
}

fn reasons(what: &str) -> Value {
    json!({
        "type": "array",
        "description": what,
        "items": {
            "type": "object",
            "required": ["code", "reason"],
            "properties": {"shard": count(), "assembly": {"const": true}, "code": text(), "reason": text()},
        },
    })
}

fn job() -> Value {
    json!({
        "type": "object",
        "required": ["id", "type", "dataset", "state", "asked", "shards", "estimate", "failures", "retries", "results", "links"],
        "properties": {
            "id": {"type": "string", "pattern": "^[0-9a-f]{16}$"},
            "type": {"enum": ["median", "annotation"]},
            "dataset": text(),
            "state": {"enum": ["queued", "running", "assembling", "done", "failed", "cancelled"]},
            "asked": {"type": "object"},
            "shards": {"type": "object", "required": ["total", "done", "failed", "retrying"], "additionalProperties": count()},
            "estimate": {"type": "object", "description": "What the job was expected to take.", "required": ["shards", "requests"], "additionalProperties": count()},
            "tally": {
                "type": "object",
                "description": "What the finished shards took, until the job is done.",
                "required": ["requests", "bytes_fetched"],
                "additionalProperties": count(),
            },
            "failures": reasons("What was given up."),
            "retries": reasons("What is tried again."),
            "results": {"type": "array", "items": {
                "type": "object",
                "required": ["name", "bytes", "href"],
                "properties": {"name": text(), "bytes": count(), "href": text(), "media_type": text()},
            }},
            "links": {"type": "object"},
        },
    })
}
