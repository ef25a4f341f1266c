//! Isotope patterns of singly charged ions as an Orbitrap shows them.

use sectile::ion::formula::Composition;
use sectile::ion::isotope::{Isotopologue, Patterns};

use crate::cli::demo::exponential::exp;

/// Standard deviation in Da of a line at m/z 200: what METASPACE takes for an Orbitrap of resolving
/// power 140,000. It grows with (m/z)^1.5.
const WIDTH: f64 = 0.001_238;

/// How many peaks an ion has at most.
const PEAKS: usize = 4;

/// A peak of a pattern.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Peak {
    /// Where it is highest.
    pub mz: f64,
    /// Its height, of which the largest of a pattern is 1.
    pub height: f64,
}

/// The highest peaks, four at most, of an ion; by m/z. Its isotopologues are those of `patterns`, but its peaks lie where
/// the envelope is highest, not where the grid of the reference program has them.
pub fn pattern(patterns: &mut Patterns, ion: &Composition) -> Option<Vec<Peak>> {
    let lines = patterns.isotopologues(ion).ok()?;
    let mut peaks: Vec<Peak> = Vec::new();
    for line in lines {
        let peak = climb(lines, line.mz);
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
    Some(peaks)
}

/// The top of the envelope uphill of `mz`, each line being a Gaussian.
///
/// The mean of the lines about a place, weighted with what they contribute there, lies uphill of it;
/// going there over and over ends on the top (mean shift; Cheng 1995, doi:10.1109/34.400568).
fn climb(lines: &[Isotopologue], mut mz: f64) -> Peak {
    loop {
        let ratio = mz / 200.0;
        let width = WIDTH * ratio * ratio.sqrt();
        let (mut sum, mut height) = (0.0, 0.0);
        for line in lines {
            let away = (line.mz - mz) / width;
            if away.abs() < 7.0 {
                let share = line.share * exp(-0.5 * away * away);
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
    use sectile::ion::formula::element::ELECTRON;
    use sectile::ion::isotope::{Analyzer, Generation, Instrument};

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

    /// The peaks of a positive ion.
    fn of(ion: &str) -> Vec<Peak> {
        let instrument = Instrument::new(Analyzer::Orbitrap, 140_000.0).unwrap();
        let mut patterns = Patterns::new(instrument, Generation::Current, 1).unwrap();
        pattern(&mut patterns, &Composition::parse(ion).unwrap()).unwrap()
    }

    #[test]
    fn patterns_are_those_of_the_reference() {
        for (ion, mz, height) in KNOWN {
            let peaks = of(ion);
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
            let peaks = of(ion);
            assert!(
                (peaks[0].mz - (mass - ELECTRON)).abs() < 2e-7,
                "{ion}: {peaks:?}"
            );
        }
    }
}
