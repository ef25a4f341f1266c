//! What a text about an instrument says of its resolving power.

/// The resolving power at m/z 200, where nothing says another: that of most Orbitrap datasets.
pub const USUAL_POWER: f64 = 140_000.0;

/// The resolving power at m/z 200 in a text as "…, resolving power 140,000 at m/z 200"; `None` where it is stated at
/// another m/z, or is none from 1,000 to 10⁸.
#[must_use]
pub fn stated_power(text: &str) -> Option<f64> {
    let text = text.to_ascii_lowercase();
    let (_, rest) = text.split_once("resolving power")?;
    let rest = rest.trim_start_matches([' ', ':', '=']);
    let end = rest
        .find(|c: char| !(c.is_ascii_digit() || c == ','))
        .unwrap_or(rest.len());
    let (number, place) = rest.split_at(end);
    let place = place.trim_start();
    let elsewhere = place.starts_with("at m/z") && !place.starts_with("at m/z 200");
    let power: f64 = number.replace(',', "").parse().ok()?;
    (!elsewhere && (1000.0..=1e8).contains(&power)).then_some(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_elsewhere_than_at_200_is_not_taken() {
        assert_eq!(stated_power("Resolving power: 120000"), Some(120_000.0));
        assert_eq!(stated_power("resolving power 120000 at m/z 400"), None);
        assert_eq!(stated_power("resolving power high"), None);
        assert_eq!(stated_power("resolving power 7"), None);
    }
}
