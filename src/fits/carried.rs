//! The cards of an input that a result computed from it should carry.

use crate::fits::card::CARD;
use crate::fits::header::is_end;

/// The cards of an image that a result should carry, then those of the primary HDU (as
/// [`handed_down`] gives them) whose keywords the image lacks.
pub(super) fn with_primary(raw: &[u8], primary: &[String]) -> Vec<String> {
    let mut cards = carried(raw);
    let own: Vec<String> = cards.iter().map(|card| keyword(card).to_owned()).collect();
    let missing = |card: &&String| !own.iter().any(|key| key == keyword(card));
    cards.extend(primary.iter().filter(missing).cloned());
    cards
}

/// Keywords that describe the observation and not the grid: also handed down by the primary HDU.
const OBSERVATION: [&str; 12] = [
    "TELESCOP", "INSTRUME", "DETECTOR", "CHANNEL", "BAND", "FILTER", "FILTER1", "FILTER2", "PUPIL",
    "OBJECT", "TARGNAME", "ORIGIN",
];

/// Cards of the primary HDU that describe the exposure as a whole.
pub(super) fn handed_down(raw: &[u8]) -> Vec<String> {
    let mut cards = carried(raw);
    cards.retain(|card| OBSERVATION.contains(&keyword(card)));
    cards
}

/// The keyword of a card.
fn keyword(card: &str) -> &str {
    card.get(..8).unwrap_or(card).trim_end()
}

/// The cards of a header that a result should carry, in their order.
fn carried(raw: &[u8]) -> Vec<String> {
    let mut cards = Vec::new();
    let mut kept = false;
    for card in raw.as_chunks::<CARD>().0 {
        if is_end(card) {
            break;
        }
        let text: String = card.iter().map(|b| legal(*b)).collect();
        let key = keyword(&text);
        // A long string goes on in the cards after it.
        kept = match key {
            "CONTINUE" => kept,
            _ => text.get(8..10) == Some("= ") && (OBSERVATION.contains(&key) || of_grid(key)),
        };
        if kept {
            cards.push(text);
        }
    }
    cards
}

/// Headers may hold only printable ASCII (FITS 4.0 §4.1.2): results must, even if inputs do not.
fn legal(byte: u8) -> char {
    if matches!(byte, b' '..=b'~') {
        char::from(byte)
    } else {
        '?'
    }
}

/// Whether a keyword describes the unit or the WCS of the first two axes.
///
/// WCSAXES is left out: a plane has two axes, which is what its absence means. Distortions by table
/// refer to other HDUs and are left out too.
fn of_grid(key: &str) -> bool {
    const WHOLE: [&str; 9] = [
        "BUNIT", "RADESYS", "RADECSYS", "EQUINOX", "EPOCH", "LONPOLE", "LATPOLE", "WCSNAME",
        "MJD-OBS",
    ];
    const PER_AXIS: [&str; 7] = [
        "CTYPE", "CUNIT", "CRPIX", "CRVAL", "CDELT", "CROTA", "CNAME",
    ];
    const PER_TWO: [&str; 3] = ["CD", "PC", "PV"];
    const SIP: [&str; 4] = ["A_", "B_", "AP_", "BP_"];
    let axis = |text: &str| matches!(text, "1" | "2");
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let after = |stem: &&str| key.strip_prefix(*stem);
    WHOLE.contains(&key)
        || PER_AXIS.iter().filter_map(after).any(axis)
        || PER_TWO.iter().filter_map(after).any(|rest| {
            rest.split_once('_').is_some_and(|(i, j)| {
                axis(i)
                    && if key.starts_with("PV") {
                        number(j)
                    } else {
                        axis(j)
                    }
            })
        })
        || SIP.iter().filter_map(after).any(|rest| {
            rest == "ORDER"
                || rest
                    .split_once('_')
                    .is_some_and(|(i, j)| number(i) && number(j))
        })
        || key.strip_prefix("WAT").is_some_and(|rest| {
            rest.split_once('_')
                .is_some_and(|(i, j)| axis(i) && number(j))
        })
}
