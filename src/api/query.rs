//! The parameters of a query: each known, each once.

use super::problem::Problem;
use crate::percent::decode;

/// Parameters that have not been asked for yet.
///
/// Whoever reads a request takes what it knows and then calls [`Query::end`], which refuses the rest.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(String, String)>,
}

impl Query {
    /// Takes a query apart: `&` between parameters, `=` before the value, both percent-decoded once. A `+` is a plus.
    ///
    /// # Errors
    /// `parameter` (400) for broken escapes, a parameter without a name, and one that is there twice.
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let mut pairs: Vec<(String, String)> = Vec::new();
        if text.is_empty() {
            return Ok(Self { pairs });
        }
        for part in text.split('&') {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                return Err(refused(format!(
                    "{part:?} holds a % without two hexadecimal digits, or is no UTF-8"
                )));
            };
            if name.is_empty() {
                return Err(refused(format!("{part:?} has no name before its value")));
            }
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(refused(format!("{name:?} is given twice")).with("parameter", name));
            }
            pairs.push((name, value));
        }
        Ok(Self { pairs })
    }

    /// Takes a parameter's value out.
    pub fn take(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        Some(self.pairs.swap_remove(at).1)
    }

    /// Refuses what was not taken.
    ///
    /// # Errors
    /// `parameter` (400) naming the parameters, and those that there are.
    pub fn end(mut self, known: &[&str]) -> Result<(), Problem> {
        if self.pairs.is_empty() {
            return Ok(());
        }
        self.pairs.sort();
        let names: Vec<String> = self.pairs.into_iter().map(|(name, _)| name).collect();
        let offered = if known.is_empty() {
            "this address takes none".to_owned()
        } else {
            format!("this address takes {}", known.join(", "))
        };
        let detail = format!("unknown {}: {offered}", names.join(", "));
        Err(refused(detail).with("parameters", names))
    }
}

fn refused(why: impl Into<String>) -> Problem {
    Problem::new("parameter", why)
}
