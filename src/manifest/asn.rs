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
    let root: Value = serde_json::from_slice(bytes).map_err(|error| {
        let at = offset(bytes, error.line(), error.column());
        wrong(file, mark + at, &error.to_string())
    })?;
    members(file, &&root)
}

/// A value of JSON that somebody has read: serde natively, the browser's own reader in a page.
pub trait Node: Sized {
    /// The member of an object that has this name; `None` where there is none, or `null`.
    fn field(&self, name: &str) -> Option<Self>;
    /// The items of an array.
    fn items(&self) -> Option<Vec<Self>>;
    /// The text of a string.
    fn text(&self) -> Option<String>;
    /// The value as JSON.
    fn json(&self) -> String;
}

impl Node for &Value {
    fn field(&self, name: &str) -> Option<Self> {
        self.get(name).filter(|value| !value.is_null())
    }

    fn items(&self) -> Option<Vec<Self>> {
        self.as_array().map(|items| items.iter().collect())
    }

    fn text(&self) -> Option<String> {
        self.as_str().map(str::to_owned)
    }

    fn json(&self) -> String {
        self.to_string()
    }
}

/// [`parse`] for JSON that was read already.
///
/// # Errors
/// As [`parse`], for all but what is no JSON.
pub fn members<N: Node>(file: &str, root: &N) -> Result<Members> {
    let products = array(root, "products").map_err(|what| wrong(file, 0, &what))?;
    let Some(product) = products.first() else {
        return Err(wrong(file, 0, "products is empty"));
    };
    let mut members = science(product).map_err(|what| wrong(file, 0, &what))?;
    if members.names.is_empty() {
        return Err(wrong(
            file,
            0,
            "products[0] has no member of exptype science",
        ));
    }
    if products.len() > 1 {
        let name = product.field("name").and_then(|name| name.text());
        members.notes.push(format!(
            "the association has {} products; only the first, {}, is taken",
            products.len(),
            name.as_deref().unwrap_or("which has no name")
        ));
    }
    members.notes.extend(list::repeated(&members.names));
    Ok(members)
}

fn wrong(file: &str, at: usize, what: &str) -> Error {
    Error::Format {
        file: file.to_owned(),
        at: at as u64,
        what: format!("no JWST association: {what}"),
    }
}

fn science<N: Node>(product: &N) -> Result<Members, String> {
    let mut members = Members::default();
    let listed = array(product, "members").map_err(|what| format!("products[0].{what}"))?;
    for (place, member) in listed.iter().enumerate() {
        let field = |name: &str| {
            let text = member.field(name).and_then(|value| value.text());
            text.map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
                .ok_or_else(|| format!("products[0].members[{place}].{name} is no text"))
        };
        let (name, kind) = (field("expname")?, field("exptype")?);
        if !kind.eq_ignore_ascii_case("science") {
            members
                .notes
                .push(format!("{name} is left out: its exptype is {kind}"));
            continue;
        }
        if let Some(problem) = member.field("exposerr").and_then(|value| problem(&value)) {
            members
                .notes
                .push(format!("{name} had a problem when it was taken: {problem}"));
        }
        members.names.push(name);
    }
    Ok(members)
}

/// What `exposerr` says, unless it says that all is well: empty, or the word null.
fn problem<N: Node>(exposerr: &N) -> Option<String> {
    let Some(text) = exposerr.text() else {
        return Some(exposerr.json());
    };
    let text = text.trim();
    (!matches!(text, "" | "null" | "None")).then(|| text.to_owned())
}

fn array<N: Node>(value: &N, name: &str) -> Result<Vec<N>, String> {
    let found = value.field(name).and_then(|value| value.items());
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
