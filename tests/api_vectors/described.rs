//! The `OpenAPI` document beside what is routed.

use sectile::api::openapi::document;
use sectile::api::problem::CODES;
use sectile::api::route::{Routed, route};
use sectile::api::{Problem, Request, ServerFacts};
use serde_json::Value;

use super::served::catalog;

/// What stands for a parameter of a path.
const VALUES: [(&str, &str); 7] = [
    ("dataset", "m13"),
    ("layer", "median"),
    ("z", "0"),
    ("x", "0"),
    ("y", "0"),
    ("job", "0123456789abcdef"),
    ("file", "median.fits"),
];

fn described() -> Value {
    document(&catalog(), &ServerFacts::default())
}

pub(crate) fn every_reference_leads_somewhere() {
    let document = described();
    let mut open = vec![&document];
    let mut seen = 0;
    while let Some(value) = open.pop() {
        if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
            let pointer = reference.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some(), "{reference}");
            seen += 1;
        }
        match value {
            Value::Array(members) => open.extend(members),
            Value::Object(members) => open.extend(members.values()),
            _ => {}
        }
    }
    assert!(seen > 200, "{seen} references");
}

pub(crate) fn every_address_is_routed_with_its_methods_and_parameters() {
    let document = described();
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 14);
    for (path, methods) in paths {
        let mut target = path.clone();
        for (name, value) in VALUES {
            target = target.replace(&format!("{{{name}}}"), value);
        }
        for (method, operation) in methods.as_object().unwrap() {
            let query: Vec<String> = parameters(&document, operation)
                .filter(|parameter| parameter["in"] == "query")
                .map(|parameter| {
                    let name = parameter["name"].as_str().unwrap();
                    let value = match name {
                        "bbox" => "0,0,1,1",
                        "tol" => "3ppm",
                        "norm" => "tic",
                        "tile" => "512",
                        _ => "1",
                    };
                    format!("{name}={value}")
                })
                .collect();
            let asked = format!("{target}?{}", query.join("&"));
            // Parameters of ions fit formulas alone.
            let asked = asked
                .replace("median?", "C6H12O6+H?")
                .replace("/median", "/C6H12O6+H");
            let asked = asked.replace(
                "C6H12O6+H.fits?",
                if path.contains("jobs") {
                    "median.fits?"
                } else {
                    "C6H12O6+H.fits?"
                },
            );
            let asked = asked.trim_end_matches('?');
            let method = method.to_uppercase();
            let found = route(&Request {
                method: &method,
                ..Request::get(asked)
            });
            assert!(
                matches!(found, Ok(Routed::To(..) | Routed::Cancel(..))),
                "{method} {asked}: {found:?}"
            );
            let put = route(&Request {
                method: "PUT",
                ..Request::get(asked)
            })
            .unwrap_err();
            assert_eq!(put.status, 405);
            let unknown = format!(
                "{asked}{}unknown=1",
                if asked.contains('?') { '&' } else { '?' }
            );
            let unknown = route(&Request {
                method: &method,
                ..Request::get(&unknown)
            })
            .unwrap_err();
            assert_eq!(unknown.code, "parameter");
        }
    }
}

fn parameters<'a>(document: &'a Value, operation: &'a Value) -> impl Iterator<Item = &'a Value> {
    let list = operation["parameters"].as_array().unwrap().iter();
    list.map(|one| {
        let reference = one["$ref"].as_str().unwrap();
        document.pointer(&reference[1..]).unwrap()
    })
}

pub(crate) fn every_parameter_of_a_path_is_in_it() {
    let document = described();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            let mut names: Vec<String> = parameters(&document, operation)
                .filter(|parameter| parameter["in"] == "path")
                .map(|parameter| format!("{{{}}}", parameter["name"].as_str().unwrap()))
                .collect();
            assert!(
                names.iter().all(|name| path.contains(name.as_str())),
                "{path}"
            );
            names.dedup();
            assert_eq!(path.matches('{').count(), names.len(), "{path}");
        }
    }
}

pub(crate) fn private_datasets_are_not_named() {
    let text = described().to_string();
    assert!(text.contains("\"m13\"") && !text.contains("secret") && !text.contains("shy"));
}

pub(crate) fn every_problem_has_its_status_and_title() {
    let document = described();
    for (code, status, title) in CODES {
        let problem = Problem::new(code, "why");
        assert_eq!(
            (problem.code, problem.status, problem.title),
            (code, status, title)
        );
        assert!(
            document["components"]["responses"][status.to_string()].is_object(),
            "{status}"
        );
    }
    let unknown = Problem::new("no-such-code", "why");
    assert_eq!((unknown.code, unknown.status), ("internal", 500));
    assert!(!unknown.title.is_empty());
    let codes = &document["components"]["schemas"]["Problem"]["properties"]["code"]["enum"];
    assert_eq!(codes.as_array().unwrap().len(), CODES.len());
}
