//! From a target as it was sent to decoded segments and a query, tricks refused.

use super::problem::Problem;
use crate::percent::decode;

/// Longest path, and longest query, in bytes as they were sent.
pub const LONGEST: usize = 1024;

/// A target taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target<'a> {
    /// The path's segments, percent-decoded once. None for `/` itself.
    pub segments: Vec<String>,
    /// The query as it was sent, without the question mark.
    pub query: &'a str,
}

impl<'a> Target<'a> {
    /// Takes apart an origin-form target such as `/v1/m13/median.png?bbox=0,0,9,9`.
    ///
    /// # Errors
    /// `uri-length` (414) for more than [`LONGEST`] bytes of path or of query; `path` (400) for one that does not begin
    /// with a slash, for broken escapes, and for segments that are empty, `.`, `..`, or hold a slash, a backslash, a
    /// control character or what is no UTF-8 once they are decoded.
    pub fn parse(target: &'a str) -> Result<Self, Problem> {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        for (what, part) in [("path", path), ("query", query)] {
            if part.len() > LONGEST {
                let detail = format!(
                    "the {what} has {} bytes; at most {LONGEST} are read",
                    part.len()
                );
                return Err(Problem::new("uri-length", detail));
            }
        }
        let Some(path) = path.strip_prefix('/') else {
            return Err(refused("it does not begin with a slash"));
        };
        if path.is_empty() {
            return Ok(Self {
                segments: Vec::new(),
                query,
            });
        }
        let segments = path.split('/').map(segment).collect::<Result<_, _>>()?;
        Ok(Self { segments, query })
    }
}

fn segment(text: &str) -> Result<String, Problem> {
    let decoded = decode(text)
        .ok_or_else(|| refused("it holds a % without two hexadecimal digits, or is no UTF-8"))?;
    match decoded.as_str() {
        "" => return Err(refused("a segment is empty")),
        "." | ".." => return Err(refused("a segment is . or ..")),
        _ => {}
    }
    if decoded.contains(['/', '\\', '#']) {
        return Err(refused("a segment holds a slash, a backslash or a #"));
    }
    if decoded.chars().any(char::is_control) {
        return Err(refused("a segment holds a control character"));
    }
    Ok(decoded)
}

fn refused(why: &str) -> Problem {
    Problem::new("path", format!("the path is not read: {why}"))
}
