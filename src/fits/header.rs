//! A header: its cards, with CONTINUE joined, looked up by keyword.
//!
//! FITS 4.0 §4.1.1, §4.2.1.2 (long strings).

use crate::fits::card::{CARD, Card, Value, parse_value};

/// Bytes of a FITS block: headers and data are padded to whole ones (FITS 4.0 §3.1).
pub const BLOCK: u64 = 2880;

/// The cards of one HDU, END and the filling after it left out.
///
/// Keywords are looked up in any case; where one occurs twice, the first counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Header {
    cards: Vec<Card>,
    /// Places in `cards`, sorted by keyword and then by place.
    order: Vec<u32>,
}

impl Header {
    /// Parses cards up to END or to the last whole card.
    ///
    /// # Cost
    /// O(n log n) in the number of cards.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        let mut cards: Vec<Card> = Vec::new();
        for (line, bytes) in (0..).zip(bytes.as_chunks::<CARD>().0) {
            if is_end(bytes) {
                break;
            }
            let card = Card::parse(bytes, line);
            if card.key == "CONTINUE" && join(cards.last_mut(), &card.comment) {
                continue;
            }
            cards.push(card);
        }
        // Put in one by one: a header is short, and a sort of its own weighs 4 KB in wasm.
        let mut order: Vec<u32> = Vec::with_capacity(cards.len());
        for (place, card) in (0..).zip(&cards) {
            let at = order.partition_point(|p| cards[*p as usize].key <= card.key);
            order.insert(at, place);
        }
        Self { cards, order }
    }

    /// The cards in the order of the file.
    pub fn cards(&self) -> impl Iterator<Item = &Card> {
        self.cards.iter()
    }

    /// The first card with this keyword that has a value indicator.
    #[must_use]
    pub fn card(&self, key: &str) -> Option<&Card> {
        let key = key.trim().to_ascii_uppercase();
        let key = key.strip_prefix("HIERARCH ").unwrap_or(&key);
        let card = |place: &u32| &self.cards[*place as usize];
        let from = self.order.partition_point(|p| card(p).key.as_str() < key);
        self.order[from..]
            .iter()
            .map(card)
            .take_while(|card| card.key == key)
            .find(|card| card.value.is_some())
    }

    /// The value of this keyword.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.card(key)?.value.as_ref()
    }

    /// The value as an integer; a real number counts if it is whole and below 2⁵³.
    #[must_use]
    pub fn int(&self, key: &str) -> Option<i64> {
        match self.get(key)? {
            Value::Integer(value) => Some(*value),
            Value::Real(value) if value.fract() == 0.0 && value.abs() < 9_007_199_254_740_992.0 =>
            {
                #[expect(clippy::cast_possible_truncation, reason = "whole and below 2⁵³")]
                Some(*value as i64)
            }
            _ => None,
        }
    }

    /// The value as a number; integers beyond 2⁵³ are rounded to the nearest f64.
    #[must_use]
    pub fn float(&self, key: &str) -> Option<f64> {
        match self.get(key)? {
            #[expect(clippy::cast_precision_loss, reason = "documented")]
            Value::Integer(value) => Some(*value as f64),
            Value::Real(value) => Some(*value),
            _ => None,
        }
    }

    /// The value as a character string.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The value as a logical one.
    #[must_use]
    pub fn logical(&self, key: &str) -> Option<bool> {
        match self.get(key)? {
            Value::Logical(value) => Some(*value),
            _ => None,
        }
    }
}

/// Whether this card ends a header.
pub(super) fn is_end(card: &[u8; CARD]) -> bool {
    card.starts_with(b"END     ")
}

/// Appends a CONTINUE card to the string before it, if that one ends in the joining `&`.
fn join(last: Option<&mut Card>, field: &str) -> bool {
    let Some(card) = last else { return false };
    let Some(Value::Text(text)) = &mut card.value else {
        return false;
    };
    let (Value::Text(piece), comment) = parse_value(field) else {
        return false;
    };
    // An & without a CONTINUE behind it belongs to the value and stays.
    if !text.ends_with('&') {
        return false;
    }
    text.pop();
    text.push_str(&piece);
    if !card.comment.is_empty() && !comment.is_empty() {
        card.comment.push(' ');
    }
    card.comment.push_str(&comment);
    true
}
