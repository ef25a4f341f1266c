//! Isotope patterns of singly charged ions as an Orbitrap shows them.

use crate::cli::demo::exponential::exp;

/// Symbols, and isotopes as mass in Da and abundance (CIAAW 2009).
const ELEMENTS: [(&str, &[(f64, f64)]); 8] = [
    ("C", &[(12.0, 0.9893), (13.003_354_84, 0.0107)]),
    (
        "H",
        &[(1.007_825_032, 0.999_885), (2.014_101_778, 0.000_115)],
    ),
    ("N", &[(14.003_074_01, 0.996_36), (15.000_108_97, 0.003_64)]),
    (
        "O",
        &[
            (15.994_914_62, 0.997_57),
            (16.999_131_5, 0.000_38),
            (17.999_160_4, 0.002_05),
        ],
    ),
    ("P", &[(30.973_761_49, 1.0)]),
    (
        "S",
        &[
            (31.972_070_73, 0.9499),
            (32.971_458_54, 0.0075),
            (33.967_866_87, 0.0425),
            (35.967_080_88, 0.0001),
        ],
    ),
    ("Na", &[(22.989_769_66, 1.0)]),
    (
        "K",
        &[
            (38.963_706_9, 0.932_581),
            (39.963_998_67, 0.000_117),
            (40.961_825_97, 0.067_302),
        ],
    ),
];

const ELECTRON: f64 = 0.000_548_579_909_24;

/// Standard deviation in Da of a line at m/z 200: what METASPACE takes for an Orbitrap of resolving
/// power 140,000. It grows with (m/z)^1.5.
const WIDTH: f64 = 0.001_238;

/// Isotopologues rarer than that, beside the commonest, are left out.
const RARE: f64 = 1e-4;

/// Masses closer than that, in Da, are one isotopologue reached on two ways.
const SAME: f64 = 1e-6;

/// How many peaks an ion has at most.
const PEAKS: usize = 4;

/// How many atoms of each of [`ELEMENTS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Composition([u32; ELEMENTS.len()]);

impl Composition {
    /// Reads a formula such as `C6H12O6`; nothing if it is not one, or has other elements.
    pub fn parse(formula: &str) -> Option<Self> {
        let mut atoms = [0; ELEMENTS.len()];
        let mut rest = formula;
        while !rest.is_empty() {
            let name = end_of(rest, 1, |c| c.is_ascii_lowercase());
            let (symbol, tail) = rest.split_at(name);
            let (count, tail) = tail.split_at(end_of(tail, 0, |c| c.is_ascii_digit()));
            let element = ELEMENTS.iter().position(|(known, _)| *known == symbol)?;
            atoms[element] += if count.is_empty() {
                1
            } else {
                count.parse().ok()?
            };
            rest = tail;
        }
        Some(Self(atoms))
    }

    /// Both together.
    pub fn with(self, other: Self) -> Self {
        let mut atoms = self.0;
        for (count, more) in atoms.iter_mut().zip(other.0) {
            *count += more;
        }
        Self(atoms)
    }
}

/// Where the characters that are `wanted` end, the first few being so anyway.
fn end_of(text: &str, first: usize, wanted: impl Fn(char) -> bool) -> usize {
    let mut rest = text.char_indices().skip(first);
    rest.find(|(_, c)| !wanted(*c))
        .map_or(text.len(), |(at, _)| at)
}

/// A peak of a pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Where it is highest.
    pub mz: f64,
    /// Its height, of which the largest of a pattern is 1.
    pub height: f64,
}

/// The highest peaks, four at most, of a positive ion with one charge; by m/z.
pub fn pattern(ion: Composition) -> Vec<Peak> {
    let lines = isotopologues(ion);
    let mut peaks: Vec<Peak> = Vec::new();
    for line in &lines {
        let peak = climb(&lines, line.mz);
        if peaks.iter().all(|other| (other.mz - peak.mz).abs() > 1e-5) {
            peaks.push(peak);
        }
    }
    peaks.sort_by(|a, b| b.height.total_cmp(&a.height));
    peaks.truncate(PEAKS);
    let highest = peaks.first().map_or(1.0, |peak| peak.height);
    for peak in &mut peaks {
        peak.height /= highest;
    }
    peaks.sort_by(|a, b| a.mz.total_cmp(&b.mz));
    peaks
}

/// The fine structure: m/z and probability of each isotopologue that is not rare.
fn isotopologues(ion: Composition) -> Vec<Peak> {
    let mut lines = vec![Peak {
        mz: -ELECTRON,
        height: 1.0,
    }];
    for ((_, isotopes), count) in ELEMENTS.iter().zip(ion.0) {
        for _ in 0..count {
            // Far below RARE, so that what is dropped early does not add up.
            lines = add_atom(&lines, isotopes, RARE * 1e-3);
        }
    }
    without_rare(&mut lines, RARE);
    lines
}

/// The convolution with one atom.
fn add_atom(lines: &[Peak], isotopes: &[(f64, f64)], rare: f64) -> Vec<Peak> {
    let mut all: Vec<Peak> = lines
        .iter()
        .flat_map(|line| {
            isotopes.iter().map(|(mass, abundance)| Peak {
                mz: line.mz + mass,
                height: line.height * abundance,
            })
        })
        .collect();
    all.sort_by(|a, b| a.mz.total_cmp(&b.mz));
    all.dedup_by(|next, kept| {
        let same = next.mz - kept.mz < SAME;
        if same {
            kept.height += next.height;
        }
        same
    });
    without_rare(&mut all, rare);
    all
}

fn without_rare(lines: &mut Vec<Peak>, rare: f64) {
    let top = lines
        .iter()
        .fold(0.0, |top: f64, line| top.max(line.height));
    lines.retain(|line| line.height >= rare * top);
}

/// The top of the envelope uphill of `mz`, each line being a Gaussian.
///
/// The mean of the lines about a place, weighted with what they contribute there, lies uphill of it;
/// going there over and over ends on the top (mean shift; Cheng 1995, doi:10.1109/34.400568).
fn climb(lines: &[Peak], mut mz: f64) -> Peak {
    loop {
        let ratio = mz / 200.0;
        let width = WIDTH * ratio * ratio.sqrt();
        let (mut sum, mut height) = (0.0, 0.0);
        for line in lines {
            let away = (line.mz - mz) / width;
            if away.abs() < 7.0 {
                let share = line.height * exp(-0.5 * away * away);
                height += share;
                sum += share * (line.mz - mz);
            }
        }
        let step = sum / height;
        mz += step;
        if step.abs() < 1e-10 {
            return Peak { mz, height };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ion, and m/z and height in per cent of its centroids: cpyMSpec 0.4.2, Orbitrap, 140,000.
    type Known = (&'static str, [f64; 4], [f64; 4]);

    const KNOWN: [Known; 12] = [
        (
            "C6H13O6",
            [181.070_690, 182.074_073, 183.074_904, 184.078_264],
            [100.000, 6.660, 1.246, 0.080],
        ),
        (
            "C6H12O6Na",
            [203.052_640, 204.055_943, 205.056_953, 206.060_261],
            [100.000, 6.679, 1.263, 0.080],
        ),
        (
            "C6H12O6K",
            [219.026_580, 220.029_910, 221.024_652, 221.030_883],
            [100.000, 6.701, 7.219, 1.278],
        ),
        (
            "C40H81NO8P",
            [734.569_640, 735.572_824, 736.575_607, 737.578_711],
            [100.000, 44.746, 11.345, 2.092],
        ),
        (
            "C42H82NO8PK",
            [798.541_200, 799.544_277, 800.544_516, 801.545_705],
            [100.000, 46.960, 18.072, 5.330],
        ),
        (
            "C42H82NO8PNa",
            [782.567_256, 783.570_199, 784.573_195, 785.576_267],
            [100.000, 46.928, 12.348, 2.349],
        ),
        (
            "C9H12NO2",
            [166.086_277, 167.089_648, 168.090_652, 168.092_887],
            [100.000, 9.781, 0.428, 0.438],
        ),
        (
            "C27H45",
            [369.351_652, 370.354_958, 371.358_254, 372.361_757],
            [100.000, 29.550, 4.203, 0.384],
        ),
        (
            "C55H100O6Na",
            [879.741_485, 880.744_337, 881.747_708, 882.750_686],
            [100.000, 60.826, 19.379, 4.284],
        ),
        (
            "C5H10NO4",
            [148.060_453, 149.057_447, 149.063_818, 150.064_654],
            [100.000, 0.365, 5.494, 0.823],
        ),
        (
            "C5H12NO2S",
            [150.058_345, 151.057_716, 151.061_699, 152.054_124],
            [100.000, 0.795, 5.453, 4.476],
        ),
        (
            "C10H18N3O6S",
            [308.091_139, 309.094_319, 310.086_902, 310.095_687],
            [100.000, 11.357, 4.499, 1.684],
        ),
    ];

    #[test]
    fn patterns_are_those_of_the_reference() {
        for (ion, mz, height) in KNOWN {
            let peaks = pattern(Composition::parse(ion).unwrap());
            assert_eq!(peaks.len(), 4, "{ion}");
            for ((peak, mz), height) in peaks.iter().zip(mz).zip(height) {
                // The reference reads its centroids off a grid, which moves them by up to 0.4 ppm.
                assert!(
                    (peak.mz / mz - 1.0).abs() < 0.45e-6,
                    "{ion}: {peak:?}, {mz}"
                );
                assert!(
                    (100.0 * peak.height - height).abs() < 0.03,
                    "{ion}: {peak:?}, {height}"
                );
            }
        }
    }

    #[test]
    fn a_lone_line_stays_where_it_is() {
        // Nothing lies within 7 widths of these first peaks.
        for (ion, mass) in [("C6H13O6", 181.071_213_136), ("C5H5N5Na", 158.044_264_87)] {
            let peaks = pattern(Composition::parse(ion).unwrap());
            assert!(
                (peaks[0].mz - (mass - ELECTRON)).abs() < 2e-7,
                "{ion}: {peaks:?}"
            );
        }
    }

    #[test]
    fn formulas_are_read_and_added() {
        let glucose = Composition::parse("C6H12O6").unwrap();
        let hydrogen = Composition::parse("H").unwrap();
        assert_eq!(
            glucose.with(hydrogen),
            Composition::parse("C6H13O6").unwrap()
        );
        for wrong in ["C6X", "6C", "Sn", "C6(H2)", "c6"] {
            assert_eq!(Composition::parse(wrong), None, "{wrong}");
        }
    }
}
