//! Ions for benches: metabolites and lipids with usual adducts, and with the adducts of decoys.

use sectile::ion::formula::{Composition, Fault};

/// What is added to molecules to make ions of them.
const TARGETS: [&str; 3] = ["H", "Na", "K"];

/// Adducts of METASPACE's decoys, those with many isotopes among them.
const DECOYS: [&str; 20] = [
    "He", "Li", "B", "Mg", "S", "Cl", "Ca", "Ti", "Fe", "Zn", "Ge", "Se", "Br", "Mo", "Pd", "Cd",
    "Sn", "Xe", "W", "Hg",
];

/// Formulas by class: lipids of several lengths and numbers of double bonds, and small molecules.
fn formulas() -> impl Iterator<Item = String> {
    let pc = (28..48).flat_map(|carbon| (0..7).map(move |double| (carbon, double)));
    let lipids = pc.flat_map(|(carbon, double)| {
        let hydrogen = 2 * (carbon - double);
        [
            format!("C{}H{}NO8P", carbon + 8, hydrogen + 16),
            format!("C{}H{}O13P", carbon + 9, hydrogen + 15),
            format!("C{}H{}O6", carbon + 16, 2 * (carbon + 16 - double) - 4),
        ]
    });
    let small = (3..28).flat_map(|carbon| (0..4).map(move |nitrogen| (carbon, nitrogen)));
    let small = small.flat_map(|(carbon, nitrogen)| {
        let hydrogen = carbon + 4 + nitrogen;
        [
            format!("C{carbon}H{hydrogen}N{}O{}", nitrogen + 1, 2 + carbon / 3),
            format!("C{carbon}H{}O{}", 2 * carbon, 1 + carbon / 4),
            format!("C{carbon}H{hydrogen}N{}O3S", nitrogen + 1),
        ]
    });
    lipids.chain(small)
}

fn with(adducts: &[&str]) -> Result<Vec<Composition>, Fault> {
    let ions = formulas().flat_map(|formula| {
        adducts
            .iter()
            .map(move |adduct| format!("{formula}{adduct}"))
    });
    ions.map(|ion| Composition::parse(&ion)).collect()
}

/// Some 2,000 ions of usual adducts.
pub(crate) fn targets() -> Result<Vec<Composition>, Fault> {
    with(&TARGETS)
}

/// Some 14,000 ions of decoys' adducts.
pub(crate) fn decoys() -> Result<Vec<Composition>, Fault> {
    with(&DECOYS)
}
