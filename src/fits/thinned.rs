//! World coordinates of an image of which only every k-th pixel is kept.
//!
//! FITS 4.0 §8: a pixel of the thinned image is k pixels of the whole one, so CDELT or CD grow by k
//! and CRPIX moves to where its point falls.

use super::decimal;

/// Cards for the thinned image; true if its coordinates had to be left out.
///
/// `origin` is the zero-based pixel that becomes the first. Distortions are polynomials in pixels of
/// the whole image; where there are any, or no matrix to scale, all coordinates are left out rather
/// than given wrong.
///
/// # Cost
/// O(cards) texts.
#[must_use]
pub fn thinned(cards: &[String], origin: [u32; 2], step: u32) -> (Vec<String>, bool) {
    let is_grid = |card: &&String| stem(card).is_some();
    let can_scale = cards.iter().filter(is_grid).all(|card| {
        stem(card) != Some("distortion") && !card.contains("-SIP") && !card.contains("TPV")
    });
    let has_matrix = |alternate: &str| {
        let has = |key: &str| {
            cards
                .iter()
                .any(|card| keyword(card) == format!("{key}{alternate}"))
        };
        (has("CDELT1") && has("CDELT2"))
            || (has("CD1_1") || has("CD1_2")) && (has("CD2_1") || has("CD2_2"))
    };
    let located: Vec<&str> = cards
        .iter()
        .filter_map(|card| keyword(card).strip_prefix("CTYPE1"))
        .collect();
    if !can_scale || !located.iter().all(|alternate| has_matrix(alternate)) {
        let kept = cards.iter().filter(|card| stem(card).is_none()).cloned();
        return (kept.collect(), !located.is_empty());
    }
    let scaled = cards
        .iter()
        .map(|card| rescaled(card, origin, step).unwrap_or_else(|| card.clone()));
    (scaled.collect(), false)
}

fn keyword(card: &str) -> &str {
    card.get(..8).unwrap_or(card).trim_end()
}

/// Which family of coordinate cards a card belongs to.
fn stem(card: &str) -> Option<&'static str> {
    let key = keyword(card);
    let family = |name: &str| {
        key.strip_prefix(name)
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if ["A_", "B_", "AP_", "BP_", "WAT", "PV"]
        .into_iter()
        .any(|name| family(name) || key == format!("{name}ORDER"))
    {
        return Some("distortion");
    }
    [
        "CTYPE", "CUNIT", "CRPIX", "CRVAL", "CDELT", "CROTA", "CNAME", "CD", "PC",
    ]
    .into_iter()
    .find(|name| family(name))
}

/// A card whose number changes.
fn rescaled(card: &str, origin: [u32; 2], step: u32) -> Option<String> {
    let factor = f64::from(step);
    let family = stem(card)?;
    let value = |change: &dyn Fn(f64) -> f64| {
        let field = card.get(10..)?;
        let (number, comment) = field.split_once('/').unwrap_or((field, ""));
        let number = decimal::parse(number.trim())?;
        let text = format!(
            "{:8}= {:>20}",
            keyword(card),
            format!("{:E}", change(number))
        );
        let text = if comment.trim().is_empty() {
            text
        } else {
            format!("{text} / {}", comment.trim())
        };
        Some(format!("{text:80.80}"))
    };
    match family {
        "CDELT" | "CD" => value(&|number| number * factor),
        "CRPIX" => {
            let first = match keyword(card).as_bytes().get(5)? {
                b'1' => origin[0],
                b'2' => origin[1],
                _ => return None,
            };
            // One-based pixel `first + 1` becomes pixel 1.
            value(&|number| (number - f64::from(first) - 1.0) / factor + 1.0)
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may")]
mod tests {
    use super::*;
    use crate::fits::header::Header;
    use crate::fits::wcs::Wcs;

    fn header(cards: &[String]) -> Header {
        let mut lines = cards.to_vec();
        lines.push("END".to_owned());
        let padded: Vec<String> = lines.iter().map(|card| format!("{card:80}")).collect();
        Header::parse(padded.concat().as_bytes())
    }

    fn grid(extra: &[&str]) -> Vec<String> {
        [
            "CTYPE1  = 'RA---TAN'",
            "CTYPE2  = 'DEC--TAN'",
            "CRPIX1  = 100.5 / middle",
            "CRPIX2  = 80.25",
            "CRVAL1  = 10.0",
            "CRVAL2  = 20.0",
        ]
        .iter()
        .chain(extra)
        .map(|card| format!("{card:80}"))
        .collect()
    }

    #[test]
    fn a_kept_pixel_keeps_its_place_on_the_sky() {
        for matrix in [
            ["CDELT1  = -1E-4", "CDELT2  = 1.0D-4", "PC1_2   = 0.3"],
            ["CD1_1   = -1E-4", "CD1_2   = 2E-5", "CD2_2   = 1E-4"],
        ] {
            let cards = grid(&matrix);
            let (thin, lost) = thinned(&cards, [12, 7], 5);
            assert!(!lost);
            let (whole, thin) = (
                Wcs::from_header(&header(&cards)).unwrap(),
                Wcs::from_header(&header(&thin)).unwrap(),
            );
            for (x, y) in [(0.0, 0.0), (3.0, 11.0)] {
                let there = whole.pixel_to_sky(12.0 + 5.0 * x, 7.0 + 5.0 * y).unwrap();
                let here = thin.pixel_to_sky(x, y).unwrap();
                assert!((there[0] - here[0]).abs() < 1e-12 && (there[1] - here[1]).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn what_cannot_be_scaled_is_left_out_and_said() {
        let matrix = [
            "CDELT1  = -1E-4",
            "CDELT2  = 1E-4",
            "A_ORDER = 2",
            "A_2_0   = 1E-5",
            "BUNIT   = 'Jy'",
        ];
        let (thin, lost) = thinned(&grid(&matrix), [0, 0], 2);
        assert!(lost);
        assert_eq!(thin.len(), 1);
        assert!(thinned(&grid(&[]), [0, 0], 2).1);
        assert!(!thinned(&["BUNIT   = 'Jy'".to_owned()], [0, 0], 2).1);
    }
}
