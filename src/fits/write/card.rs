//! Header cards as text: 80 characters each, in fixed format where the standard has one.
//!
//! FITS 4.0 §4.1 (cards), §4.2 (values), §4.4.2.4 (commentary).

use std::iter;

use crate::error::{Error, Result};
use crate::fits::card::quoted;
use crate::fits::decimal;

/// Characters of a card.
const CARD: usize = 80;
/// Characters between the quotes of a string, at most (columns 12 to 79).
const STRING: usize = 68;
/// Characters of commentary (columns 9 to 80).
const COMMENTARY: usize = 72;

/// Keywords that describe the file a card comes from and would be wrong in another one.
const STRUCTURAL: [&str; 30] = [
    "SIMPLE", "XTENSION", "BITPIX", "NAXIS", "EXTEND", "PCOUNT", "GCOUNT", "GROUPS", "BLOCKED",
    "BSCALE", "BZERO", "BLANK", "DATAMIN", "DATAMAX", "EXTNAME", "EXTVER", "EXTLEVEL", "INHERIT",
    "CHECKSUM", "DATASUM", "TFIELDS", "THEAP", "ZIMAGE", "ZCMPTYPE", "ZBITPIX", "ZNAXIS", "ZBLANK",
    "NEXTEND", "LONGSTRN", "END",
];

/// The cards of a header in the making, without END.
///
/// Characters outside printable ASCII become `?`: a header holds nothing else (§4.1.2.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cards {
    text: String,
}

impl Cards {
    /// No card.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of cards.
    #[must_use]
    pub fn len(&self) -> usize {
        self.text.len() / CARD
    }

    /// Whether there is no card.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Whether a card with this keyword is there.
    #[must_use]
    pub fn has(&self, keyword: &str) -> bool {
        let name = format!("{keyword:8}");
        (0..self.len()).any(|i| self.text[i * CARD..].starts_with(&name))
    }

    /// Adds a card with T or F in column 30.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a keyword that is none.
    pub fn logical(&mut self, keyword: &str, value: bool, comment: &str) -> Result<()> {
        self.value(keyword, if value { "T" } else { "F" }, comment)
    }

    /// Adds a card with an integer, its last digit in column 30.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a keyword that is none.
    pub fn integer(&mut self, keyword: &str, value: i64, comment: &str) -> Result<()> {
        self.value(keyword, &value.to_string(), comment)
    }

    /// Adds a card with the shortest decimal that gives back the same f64.
    ///
    /// It ends in column 30, or beyond where it takes more than 20 characters, which is still valid
    /// in free format (§4.2.4). NaN and infinities, which FITS has no number for, become a card
    /// without a value (§4.1.2.3).
    ///
    /// # Errors
    /// [`Error::Parameter`] for a keyword that is none.
    pub fn float(&mut self, keyword: &str, value: f64, comment: &str) -> Result<()> {
        self.value(keyword, &float(value), comment)
    }

    /// Adds a card with a string, and CONTINUE cards if it is longer than 68 characters (§4.2.1.2).
    ///
    /// # Errors
    /// [`Error::Parameter`] for a keyword that is none.
    pub fn text(&mut self, keyword: &str, value: &str, comment: &str) -> Result<()> {
        check(keyword)?;
        let value = ascii(value.trim_end());
        let mut pieces = pieces(&value);
        let last = pieces.pop().unwrap_or_default();
        let mut start = format!("{keyword:8}= ");
        for piece in pieces {
            self.push(&format!("{start}'{piece}&'"));
            "CONTINUE  ".clone_into(&mut start);
        }
        // The closing quote stands no further left than column 20, where old readers look for it.
        let card = format!("{start}{:20}", format!("'{last:8}'"));
        self.push(&with_comment(card, comment));
        Ok(())
    }

    /// Adds HISTORY cards: each line of the text, wrapped between words.
    pub fn history(&mut self, text: &str) {
        self.commentary("HISTORY", text);
    }

    /// Adds COMMENT cards: each line of the text, wrapped between words.
    pub fn comment(&mut self, text: &str) {
        self.commentary("COMMENT", text);
    }

    fn commentary(&mut self, keyword: &str, text: &str) {
        for line in text.lines() {
            for piece in wrap(&ascii(line)) {
                self.push(&format!("{keyword:8}{piece}"));
            }
        }
    }

    /// Adds cards of another header, `CRPIXja` moved by the origin of a part of its image.
    ///
    /// Left out are cards about that file's structure, keywords that are there already, cards whose
    /// keyword or value is none, and CONTINUE cards that continue nothing. Shorter cards are padded.
    pub fn carry(&mut self, cards: &[String], origin: [u32; 2]) {
        let mut follows = false;
        for card in cards {
            let card = format!("{:80.80}", ascii(card));
            let keyword = card[..8].trim_end();
            if keyword == "CONTINUE" {
                let piece = string(&card[8..]).filter(|_| follows);
                follows = piece.as_ref().is_some_and(|piece| piece.ends_with('&'));
                if piece.is_some() {
                    self.push(&card);
                }
                continue;
            }
            follows = false;
            let commentary = matches!(keyword, "COMMENT" | "HISTORY" | "");
            let wanted = check(keyword).is_ok() && !is_structural(keyword) && !self.has(keyword);
            if commentary || (wanted && is_well_formed(&card)) {
                let moved = moved(&card, keyword, origin);
                self.push(moved.as_deref().unwrap_or(&card));
                follows = !commentary && string(&card[10..]).is_some_and(|s| s.ends_with('&'));
            }
        }
    }

    /// The header: the cards, END and blanks up to a whole block (§3.3.1).
    #[must_use]
    pub fn into_blocks(self) -> Vec<u8> {
        let mut bytes = self.text.into_bytes();
        bytes.extend_from_slice(b"END");
        let len = bytes.len().next_multiple_of(2880);
        bytes.resize(len, b' ');
        bytes
    }

    fn value(&mut self, keyword: &str, value: &str, comment: &str) -> Result<()> {
        check(keyword)?;
        self.push(&with_comment(format!("{keyword:8}= {value:>20}"), comment));
        Ok(())
    }

    fn push(&mut self, card: &str) {
        self.text
            .extend(card.chars().chain(iter::repeat(' ')).take(CARD));
    }
}

/// §4.1.2.1: 1 to 8 of A–Z, 0–9, hyphen and underscore.
fn check(keyword: &str) -> Result<()> {
    let valid = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if (1..=8).contains(&keyword.len()) && keyword.chars().all(valid) {
        return Ok(());
    }
    Err(Error::Parameter {
        name: "keyword",
        what: format!("{keyword:?} is no FITS keyword: 1 to 8 of A-Z, 0-9, - and _"),
    })
}

fn is_structural(keyword: &str) -> bool {
    let numbered = |stem: &str| {
        keyword
            .strip_prefix(stem)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    };
    STRUCTURAL.contains(&keyword)
        || ["NAXIS", "ZNAXIS", "ZTILE", "TFORM", "TTYPE"]
            .into_iter()
            .any(numbered)
}

/// The text of a string value; `None` for what is no closed string with at most a comment behind it.
fn string(field: &str) -> Option<String> {
    let (text, rest) = quoted(field.trim_start().strip_prefix('\'')?);
    let rest = rest?.trim_start();
    (rest.is_empty() || rest.starts_with('/')).then_some(text)
}

/// Whether a card has a value as §4.2 writes them: nothing, a closed string, T or F, a number or a
/// pair of numbers.
fn is_well_formed(card: &str) -> bool {
    let Some(field) = card[8..].strip_prefix("= ") else {
        return false;
    };
    if field.trim_start().starts_with('\'') {
        return string(field).is_some();
    }
    let value = field.split('/').next().unwrap_or_default().trim();
    let number = |text: &str| {
        text.bytes()
            .all(|b| b.is_ascii_digit() || b"+-.EDed".contains(&b))
            && decimal::parse(text.trim()).is_some()
    };
    let pair = value
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    matches!(value, "" | "T" | "F")
        || number(value)
        || pair
            .and_then(|pair| pair.split_once(','))
            .is_some_and(|(re, im)| number(re.trim()) && number(im.trim()))
}

/// The card with CRPIX1 or CRPIX2 of any alternate WCS moved to the part's own pixels; `None` where
/// nothing moves.
fn moved(card: &str, keyword: &str, origin: [u32; 2]) -> Option<String> {
    let rest = keyword.strip_prefix("CRPIX")?;
    let (axis, alternate) = rest.split_at_checked(1)?;
    let by = match axis {
        "1" => origin[0],
        "2" => origin[1],
        _ => return None,
    };
    let one_letter = alternate.len() == 1 && alternate.bytes().all(|b| b.is_ascii_uppercase());
    if by == 0 || !(alternate.is_empty() || one_letter) {
        return None;
    }
    let (value, comment) = match card.get(10..)?.split_once('/') {
        Some((value, comment)) => (value, comment.trim()),
        None => (card.get(10..)?, ""),
    };
    let value = float(decimal::parse(value.trim())? - f64::from(by));
    Some(with_comment(format!("{keyword:8}= {value:>20}"), comment))
}

fn float(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    if value == 0.0 || (1e-4..1e16).contains(&value.abs()) {
        return format!("{value:?}");
    }
    // A decimal point is recommended, and some readers take a number without for an integer.
    let text = format!("{value:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}

/// Adds as much of a comment as there is room for.
fn with_comment(card: String, comment: &str) -> String {
    if comment.is_empty() || card.len() + 4 > CARD {
        return card;
    }
    format!("{card} / {}", ascii(comment))
}

fn ascii(text: &str) -> String {
    let printable = |c: char| if matches!(c, ' '..='~') { c } else { '?' };
    text.chars().map(printable).collect()
}

/// Cuts a string into pieces that fit a card each, quotes doubled and never torn apart; all but the
/// last leave room for the ampersand.
fn pieces(value: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut piece = String::new();
    let size = |c: char| if c == '\'' { 2 } else { 1 };
    let mut left: usize = value.chars().map(size).sum();
    for c in value.chars() {
        let fits = piece.len() + left <= STRING || piece.len() + size(c) < STRING;
        if !fits {
            pieces.push(std::mem::take(&mut piece));
        }
        piece.push(c);
        if c == '\'' {
            piece.push('\'');
        }
        left -= size(c);
    }
    pieces.push(piece);
    pieces
}

/// Cuts a line between words, and inside words that are longer than a card.
fn wrap(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line.trim_end();
    while rest.len() > COMMENTARY {
        let cut = match rest[..=COMMENTARY].rfind(' ') {
            Some(space) if space > 0 => space,
            _ => COMMENTARY,
        };
        pieces.push(rest[..cut].trim_end());
        rest = rest[cut..].trim_start();
    }
    pieces.push(rest);
    pieces
}
