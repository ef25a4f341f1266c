//! The sign of the ions that are looked for: as asked, as the adducts have it, as the store says.

/// Atoms and groups that make a positive ion when they are added.
const GIVERS: [&str; 9] = ["H", "Li", "Na", "K", "Rb", "Cs", "NH4", "Ag", "H4N"];

/// Atoms and groups that make a negative ion when they are added.
const TAKERS: [&str; 9] = [
    "F", "Cl", "Br", "I", "HCOO", "CHO2", "HCO2", "CH3COO", "C2H3O2",
];

/// The adducts that are looked for, where none are named: METASPACE's.
#[must_use]
pub fn usual(charge: i8) -> &'static [&'static str] {
    if charge < 0 {
        &["-H", "+Cl"]
    } else {
        &["+H", "+Na", "+K"]
    }
}

/// A charge, why it is that, and what is to be warned of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chosen {
    /// 1 or -1.
    pub charge: i8,
    /// Why it is that: `asked`, `adducts`, `store` or `default`.
    pub from: &'static str,
    /// What contradicts it, a sentence each.
    pub warnings: Vec<String>,
}

/// Chooses the charge of ions of `adducts` in `file`, whose own polarity is `stated` (`positive`, `negative`, or any
/// other word where it says none).
///
/// What is `asked` goes before what all adducts imply that imply anything, and that before what the store says; else
/// the ions are positive. Contradictions are warned of.
#[must_use]
pub fn choose(file: &str, stated: &str, asked: Option<i8>, adducts: &[impl AsRef<str>]) -> Chosen {
    let stated = match stated {
        "positive" => Some(1),
        "negative" => Some(-1),
        _ => None,
    };
    let implied = agreed(adducts);
    let (charge, from) = match (asked, implied, stated) {
        (Some(asked), ..) => (asked, "asked"),
        (None, Some(charge), _) => (charge, "adducts"),
        (None, None, Some(charge)) => (charge, "store"),
        (None, None, None) => (1, "default"),
    };
    let mut warnings = Vec::new();
    if let Some(stated) = stated.filter(|stated| *stated != charge) {
        warnings.push(format!(
            "{file}: says that its polarity is {}, and {} ions are looked for; if the file is right, \
             choose other adducts or --polarity {}",
            name(stated),
            name(charge),
            name(stated)
        ));
    }
    let other: Vec<&str> = adducts
        .iter()
        .map(AsRef::as_ref)
        .filter(|adduct| self::implied(adduct).is_some_and(|other| other != charge))
        .collect();
    if !other.is_empty() {
        warnings.push(format!(
            "{}: makes {} ions, and {} ones are looked for",
            other.join(", "),
            name(-charge),
            name(charge)
        ));
    }
    if stated.is_none() {
        let why = match from {
            "asked" => "as asked",
            "adducts" => "as the adducts have it",
            _ => "by default; --polarity negative looks for the others",
        };
        warnings.push(format!(
            "{file}: does not say one polarity for all of it; {} ions are looked for, {why}",
            name(charge)
        ));
    }
    Chosen {
        charge,
        from,
        warnings,
    }
}

/// `positive` or `negative`.
#[must_use]
pub fn name(charge: i8) -> &'static str {
    if charge < 0 { "negative" } else { "positive" }
}

/// The charge that all adducts have which have one.
fn agreed(adducts: &[impl AsRef<str>]) -> Option<i8> {
    let mut charges = adducts.iter().filter_map(|adduct| implied(adduct.as_ref()));
    let first = charges.next()?;
    charges.all(|charge| charge == first).then_some(first)
}

/// The charge of an ion by this adduct, where it can be told.
fn implied(adduct: &str) -> Option<i8> {
    let text = adduct.trim().replace('−', "-");
    if text.starts_with('[') {
        return match text.as_bytes().last() {
            Some(b'+') => Some(1),
            Some(b'-') => Some(-1),
            _ => None,
        };
    }
    let starts: Vec<usize> = text.match_indices(['+', '-']).map(|(at, _)| at).collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    let mut net = 0_i32;
    for (start, end) in starts.iter().zip(ends) {
        let (sign, part) = text[*start..end].split_at(1);
        // A digit in front counts the whole part, as in +2Na-H.
        let atoms = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let times = part[..part.len() - atoms.len()].parse().unwrap_or(1);
        let each = match (sign, atoms) {
            ("+", atoms) if GIVERS.contains(&atoms) => 1,
            ("+", atoms) if TAKERS.contains(&atoms) => -1,
            ("-", atoms) => -protons(atoms),
            _ => 0,
        };
        net = each.saturating_mul(times).saturating_add(net);
    }
    i8::try_from(net.signum())
        .ok()
        .filter(|charge| *charge != 0)
}

/// Hydrogens of a part that holds nothing else.
fn protons(part: &str) -> i32 {
    match part.strip_prefix('H') {
        Some("") => 1,
        Some(count) => count.parse().unwrap_or(0),
        None => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adducts_tell_their_sign_where_they_have_one() {
        for (adduct, charge) in [
            ("+H", Some(1)),
            ("+NH4", Some(1)),
            ("[M]+", Some(1)),
            ("[M-H]-", Some(-1)),
            ("-H", Some(-1)),
            ("+Cl", Some(-1)),
            ("-H2O+H", Some(1)),
            ("-H2O-H", Some(-1)),
            ("-H2+Na", Some(-1)),
            ("+K-H", None),
            ("+2Na-H", Some(1)),
            ("−H", Some(-1)),
            ("[M−H]−", Some(-1)),
            ("-2H+K", Some(-1)),
            ("+He", None),
            ("", None),
        ] {
            assert_eq!(implied(adduct), charge, "{adduct}");
        }
    }

    #[test]
    fn what_contradicts_the_store_is_warned_of() {
        let plain = choose("s", "positive", None, &["+H", "+Na"]);
        assert_eq!(
            (plain.charge, plain.from, plain.warnings.len()),
            (1, "adducts", 0)
        );
        let none: [&str; 0] = [];
        let negative = choose("s", "negative", None, &none);
        assert_eq!(
            (negative.charge, negative.from, negative.warnings.len()),
            (-1, "store", 0)
        );
        let wrong = choose("s", "positive", None, &["-H", "+Cl"]);
        assert_eq!(wrong.charge, -1);
        assert!(
            wrong.warnings[0].contains("its polarity is positive"),
            "{wrong:?}"
        );
        let mixed = choose("s", "mixed", None, &["-H"]);
        assert_eq!(
            (mixed.charge, mixed.from, mixed.warnings.len()),
            (-1, "adducts", 1)
        );
        let torn = choose("s", "positive", None, &["+H", "-H"]);
        assert_eq!((torn.charge, torn.from), (1, "store"));
        assert!(
            torn.warnings[0].contains("-H: makes negative ions"),
            "{torn:?}"
        );
        let asked = choose("s", "unknown", Some(-1), &["[M]+"]);
        assert_eq!(
            (asked.charge, asked.from, asked.warnings.len()),
            (-1, "asked", 2)
        );
    }
}
