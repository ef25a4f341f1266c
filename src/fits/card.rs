//! One header card: eighty bytes with a keyword, a value and a comment.
//!
//! FITS 4.0 §4.1 (keyword records), §4.2 (value formats); the HIERARCH convention of ESO.

use std::fmt;

use super::decimal;

/// Bytes of a card.
pub const CARD: usize = 80;

/// A card's value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A character string without its trailing blanks, doubled quotes made single.
    Text(String),
    /// `T` or `F`; lower-case letters are no logical values.
    Logical(bool),
    /// An integer that fits 64 bits.
    Integer(i64),
    /// A finite number with a point or an exponent (`E` or `D`), or an integer beyond 64 bits.
    Real(f64),
    /// A complex number.
    Complex(f64, f64),
    /// The value indicator is there, the value is not.
    Undefined,
    /// Text that is no value of the standard, as it stands in the card.
    Malformed(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "'{}'", text.replace('\'', "''")),
            Self::Logical(true) => f.write_str("T"),
            Self::Logical(false) => f.write_str("F"),
            Self::Integer(value) => value.fmt(f),
            Self::Real(value) => write!(f, "{value:?}"),
            Self::Complex(re, im) => write!(f, "({re:?}, {im:?})"),
            Self::Undefined => Ok(()),
            Self::Malformed(text) => f.write_str(text),
        }
    }
}

/// A parsed card. CONTINUE cards are joined by [`Header`](crate::fits::header::Header).
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The keyword in upper case, without trailing blanks. For a HIERARCH card the words after
    /// HIERARCH, one blank between two words.
    pub key: String,
    /// The value; `None` for commentary (COMMENT, HISTORY, blank, and whatever has no `= `).
    pub value: Option<Value>,
    /// The comment, or the text of a commentary card.
    pub comment: String,
    /// Its place in the header, counted from 0: the card begins `80 · line` bytes after the header.
    pub line: u32,
}

impl Card {
    /// Parses one card.
    ///
    /// Never fails: what is no value of the standard becomes [`Value::Malformed`]. Bytes beyond
    /// ASCII are read as Latin-1.
    #[must_use]
    pub fn parse(bytes: &[u8; CARD], line: u32) -> Self {
        let (name, rest) = bytes.split_at(8);
        let key = latin(name).trim_end().to_ascii_uppercase();
        if key == "HIERARCH"
            && let Some(card) = hierarch(&latin(rest), line)
        {
            return card;
        }
        let commentary = matches!(
            key.as_str(),
            "" | "COMMENT" | "HISTORY" | "END" | "CONTINUE"
        );
        if commentary || !rest.starts_with(b"= ") {
            return Self {
                key,
                value: None,
                comment: latin(rest).trim_end().to_owned(),
                line,
            };
        }
        let (value, comment) = parse_value(&latin(&rest[2..]));
        Self {
            key,
            value: Some(value),
            comment,
            line,
        }
    }
}

/// `HIERARCH ESO DET NAME = value / comment`; `None` if there is no equals sign.
fn hierarch(rest: &str, line: u32) -> Option<Card> {
    let (words, value) = rest.split_once('=')?;
    // A quote before the sign means that the sign belongs to a text.
    if words.contains('\'') {
        return None;
    }
    let key = words.split_whitespace().collect::<Vec<_>>().join(" ");
    let (value, comment) = parse_value(value);
    (!key.is_empty()).then(|| Card {
        key: key.to_ascii_uppercase(),
        value: Some(value),
        comment,
        line,
    })
}

/// The value and the comment of what follows a value indicator.
pub(super) fn parse_value(field: &str) -> (Value, String) {
    let field = field.trim_start_matches(' ');
    if let Some(rest) = field.strip_prefix('\'') {
        let (text, rest) = quoted(rest);
        let comment = comment_of(rest.unwrap_or_default());
        return (Value::Text(text.trim_end().to_owned()), comment);
    }
    let (value, comment) = match field.split_once('/') {
        Some((value, comment)) => (value.trim(), comment.trim().to_owned()),
        None => (field.trim(), String::new()),
    };
    let value = match value {
        "" => Value::Undefined,
        "T" => Value::Logical(true),
        "F" => Value::Logical(false),
        _ => number(value)
            .or_else(|| complex(value))
            .unwrap_or_else(|| Value::Malformed(value.to_owned())),
    };
    (value, comment)
}

/// The text behind an opening quote up to the closing one, doubled quotes halved, and what follows
/// (§4.2.1). A text whose closing quote is missing ends with the card, and `None` follows.
pub(super) fn quoted(rest: &str) -> (String, Option<&str>) {
    let mut text = String::new();
    let mut chars = rest.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c != '\'' {
            text.push(c);
        } else if chars.next_if(|(_, next)| *next == '\'').is_some() {
            text.push('\'');
        } else {
            return (text, Some(&rest[at + 1..]));
        }
    }
    (text, None)
}

fn comment_of(rest: &str) -> String {
    rest.split_once('/')
        .map_or(String::new(), |(_, comment)| comment.trim().to_owned())
}

fn number(text: &str) -> Option<Value> {
    // Rust would also take "inf", "nan" and "infinity", which are no FITS numbers.
    let legal = |b: u8| b.is_ascii_digit() || b"+-.EeDd".contains(&b);
    if !text.bytes().all(legal) {
        return None;
    }
    if let Ok(value) = text.parse::<i64>() {
        return Some(Value::Integer(value));
    }
    let value = decimal::parse(text)?;
    value.is_finite().then_some(Value::Real(value))
}

fn complex(text: &str) -> Option<Value> {
    let (re, im) = text.strip_prefix('(')?.strip_suffix(')')?.split_once(',')?;
    let part = |text: &str| match number(text.trim())? {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a complex number is a pair of f64"
        )]
        Value::Integer(value) => Some(value as f64),
        Value::Real(value) => Some(value),
        _ => None,
    };
    Some(Value::Complex(part(re)?, part(im)?))
}

fn latin(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}
