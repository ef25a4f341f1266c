//! A JWST association: the exposures that make one product, as JSON.
//!
//! JWST calibration pipeline documentation, "Associations": `products[].members[]` with `expname`,
//! `exptype` and `exposerr`.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::manifest::{Members, list};

/// Reads an association: the science members of its first product.
///
/// Members of another `exptype` are left out and noted, further products too. A member whose
/// `exposerr` says that its exposure had a problem is kept and noted.
///
/// # Errors
/// [`Error::Format`] for what is no JSON (with line, column and byte), for a missing or mistyped
/// field (named by its place), and for a product without science members.
pub fn parse(file: &str, bytes: &[u8]) -> Result<Members> {
    let mark = if bytes.starts_with(b"\xef\xbb\xbf") {
        3
    } else {
        0
    };
    let bytes = &bytes[mark..];
    let wrong = |at: usize, what: String| Error::Format {
        file: file.to_owned(),
        at: at as u64,
        what: format!("no JWST association: {what}"),
    };
    let root: Value = serde_json::from_slice(bytes).map_err(|error| {
        let at = offset(bytes, error.line(), error.column());
        wrong(mark + at, error.to_string())
    })?;
    let products = array(&root, "products").map_err(|what| wrong(0, what))?;
    let Some(product) = products.first() else {
        return Err(wrong(0, "products is empty".to_owned()));
    };
    let mut members = science(product).map_err(|what| wrong(0, what))?;
    if members.names.is_empty() {
        let what = "products[0] has no member of exptype science".to_owned();
        return Err(wrong(0, what));
    }
    if products.len() > 1 {
        members.notes.push(format!(
            "the association has {} products; only the first, {}, is taken",
            products.len(),
            product["name"].as_str().unwrap_or("which has no name")
        ));
    }
    members.notes.extend(list::repeated(&members.names));
    Ok(members)
}

fn science(product: &Value) -> Result<Members, String> {
    let mut members = Members::default();
    let listed = array(product, "members").map_err(|what| format!("products[0].{what}"))?;
    for (place, member) in listed.iter().enumerate() {
        let field = |name: &str| {
            let text = member.get(name).and_then(Value::as_str).map(str::trim);
            text.filter(|text| !text.is_empty())
                .ok_or_else(|| format!("products[0].members[{place}].{name} is no text"))
        };
        let (name, kind) = (field("expname")?, field("exptype")?);
        if !kind.eq_ignore_ascii_case("science") {
            members
                .notes
                .push(format!("{name} is left out: its exptype is {kind}"));
            continue;
        }
        if let Some(problem) = problem(&member["exposerr"]) {
            members
                .notes
                .push(format!("{name} had a problem when it was taken: {problem}"));
        }
        members.names.push(name.to_owned());
    }
    Ok(members)
}

/// What `exposerr` says, unless it says that all is well: null, empty, or the word null.
fn problem(exposerr: &Value) -> Option<String> {
    match exposerr {
        Value::Null => None,
        Value::String(text) if matches!(text.trim(), "" | "null" | "None") => None,
        Value::String(text) => Some(text.trim().to_owned()),
        other => Some(other.to_string()),
    }
}

fn array<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>, String> {
    let found = value.get(name).and_then(Value::as_array);
    found.ok_or_else(|| format!("{name} is no array"))
}

/// The byte at a line and a column, both counted from 1 and the column in bytes.
fn offset(bytes: &[u8], line: usize, column: usize) -> usize {
    let before: usize = bytes
        .split_inclusive(|b| *b == b'\n')
        .take(line.saturating_sub(1))
        .map(<[u8]>::len)
        .sum();
    (before + column.saturating_sub(1)).min(bytes.len())
}
