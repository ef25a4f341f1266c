//! The demo's imaging dataset: a valid pair whose contents are what its list of truths says.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::float_cmp,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared module serves several files"
)]

mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use sectile::imzml::checksum::Check;
use sectile::imzml::dataset::{Dataset, Mode, Number, Polarity, Representation};
use sectile::imzml::reader::Reader;
use sectile::imzml::spectrum;

/// 3 ppm, the usual window.
const WINDOW: f64 = 3e-6;

/// The demo dataset as read back.
struct Tissue {
    folder: tempfile::TempDir,
    dataset: Dataset,
    ibd: Vec<u8>,
    /// m/z, intensity and pixel of every peak.
    peaks: Vec<(f64, f64, usize)>,
    truth: Vec<Truth>,
}

/// A row of `tissue_truth.csv`.
#[derive(Debug, Clone)]
struct Truth {
    formula: String,
    adduct: String,
    mz: f64,
    pattern: String,
}

impl Tissue {
    fn read() -> Self {
        let folder = program::stack(1, 64);
        let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
        let mut reader = Reader::new("tissue.imzML", 1 << 20);
        for piece in read("tissue.imzML").chunks(4096) {
            reader.push(piece).unwrap();
        }
        let mut dataset = reader.finish().unwrap();
        let ibd = read("tissue.ibd");
        dataset
            .settle("tissue.ibd", ibd.len() as u64, &ibd[..16])
            .unwrap();
        Self {
            peaks: peaks(&dataset, &ibd),
            truth: truth(&String::from_utf8(read("tissue_truth.csv")).unwrap()),
            dataset,
            ibd,
            folder,
        }
    }

    /// The image of a closed window, by the definition: a look at every peak.
    fn image(&self, mz: f64) -> Vec<f64> {
        let mut image = vec![0.0; usize::try_from(self.dataset.grid.pixels()).unwrap()];
        let half = mz * WINDOW;
        for (at, intensity, pixel) in &self.peaks {
            if (mz - half..=mz + half).contains(at) {
                image[*pixel] += intensity;
            }
        }
        image
    }

    fn ion(&self, formula: &str, adduct: &str) -> &Truth {
        let mut all = self.truth.iter();
        all.find(|ion| ion.formula == formula && ion.adduct == adduct)
            .unwrap()
    }
}

fn peaks(dataset: &Dataset, ibd: &[u8]) -> Vec<(f64, f64, usize)> {
    let (mut mz, mut intensity, mut peaks) = (Vec::new(), Vec::new(), Vec::new());
    for (index, spectrum) in (0..).zip(&dataset.spectra) {
        for (array, out) in [
            (spectrum.mz(), &mut mz),
            (spectrum.intensity(), &mut intensity),
        ] {
            let (start, end) = (array.at, array.end());
            let place = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
            out.clear();
            spectrum::decode(array, &ibd[place], "tissue.ibd", index, out).unwrap();
        }
        assert!(mz.is_sorted(), "spectrum {index}");
        assert_eq!(mz.len(), intensity.len());
        let pixel = dataset.grid.pixel(spectrum) as usize;
        peaks.extend(mz.iter().zip(&intensity).map(|(m, i)| (*m, *i, pixel)));
    }
    peaks
}

fn truth(text: &str) -> Vec<Truth> {
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("formula,adduct,mz,pattern,name"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), 5, "{line}");
        Truth {
            formula: cells[0].to_owned(),
            adduct: cells[1].to_owned(),
            mz: cells[2].parse().unwrap(),
            pattern: cells[3].to_owned(),
        }
    };
    lines.map(row).collect()
}

#[test]
fn the_pair_is_valid_and_says_what_it_is() {
    let tissue = Tissue::read();
    let Tissue { dataset, ibd, .. } = &tissue;
    assert_eq!(dataset.warnings, Vec::<String>::new());
    assert_eq!((dataset.grid.width, dataset.grid.height), (60, 45));
    assert_eq!(dataset.grid.slices.len(), 1);
    assert_eq!(dataset.pixel_size, [Some(50.0), Some(50.0)]);
    assert_eq!(dataset.polarity, Polarity::Positive);
    assert_eq!(dataset.representation, Representation::Centroid);
    assert_eq!(dataset.mode, Some(Mode::Processed));
    assert_eq!(dataset.mz_number(), Number::F64);
    assert_eq!(dataset.intensity_number(), Number::F32);
    assert!(dataset.instrument.as_ref().unwrap().contains("Orbitrap"));
    assert_eq!(dataset.uuid.unwrap(), ibd[..16]);
    let mut check = Check::new("tissue.ibd", dataset.checksum.unwrap());
    check.push(ibd);
    check.finish().unwrap();
    // Tissue is not a rectangle, and no pixel was acquired twice.
    let pixels: BTreeSet<u32> = dataset
        .spectra
        .iter()
        .map(|spectrum| dataset.grid.pixel(spectrum))
        .collect();
    assert_eq!(pixels.len(), dataset.spectra.len());
    assert!((1900..2300).contains(&pixels.len()), "{}", pixels.len());
    let each = tissue.peaks.len() / pixels.len();
    assert!((200..400).contains(&each), "{each}");
}

#[test]
fn every_ion_is_found_at_its_mass_and_with_its_isotopes() {
    let tissue = Tissue::read();
    let formulas: BTreeSet<&str> = tissue.truth.iter().map(|ion| &*ion.formula).collect();
    assert_eq!(formulas.len(), 40);
    assert!(
        tissue
            .truth
            .iter()
            .all(|ion| ["+H", "+Na", "+K"].contains(&&*ion.adduct))
    );
    for ion in &tissue.truth {
        let near = |(at, ..): &&(f64, f64, usize)| (at / ion.mz - 1.0).abs() < WINDOW;
        let errors: Vec<f64> = tissue
            .peaks
            .iter()
            .filter(near)
            .map(|peak| (peak.0 / ion.mz - 1.0) * 1e6)
            .collect();
        let n = errors.len() as f64;
        let mean = errors.iter().sum::<f64>() / n;
        let spread = (errors
            .iter()
            .map(|error| (error - mean) * (error - mean))
            .sum::<f64>()
            / n)
            .sqrt();
        assert!(n > 1500.0, "{ion:?}: {n} peaks");
        assert!(mean.abs() < 0.1, "{ion:?}: {mean} ppm");
        assert!((0.8..1.1).contains(&spread), "{ion:?}: {spread} ppm");
    }
    // m/z of 1-hydrogen, 13-carbon and so on by hand: C42H82NO8P+H, 760.58508, and 46.9 % one 13C further.
    let lipid = tissue.ion("C42H82NO8P", "+H").mz;
    assert!((lipid - 760.585_080).abs() < 1e-4, "{lipid}");
    let [first, second] = [lipid, lipid + 1.003_26].map(|mz| tissue.image(mz).iter().sum::<f64>());
    assert!((second / first - 0.469).abs() < 0.01, "{}", second / first);
    let potassium = tissue.ion("C42H82NO8P", "+K").mz;
    assert!((potassium - lipid - 37.955_882).abs() < 1e-4);
}

#[test]
fn ions_of_one_pattern_look_alike_and_of_two_they_differ() {
    let tissue = Tissue::read();
    let mut images: BTreeMap<&str, Vec<Vec<f64>>> = BTreeMap::new();
    for ion in &tissue.truth {
        images
            .entry(&ion.pattern)
            .or_default()
            .push(tissue.image(ion.mz));
    }
    assert_eq!(images.len(), 14);
    for (name, alike) in images.iter().filter(|(name, _)| **name != "everywhere") {
        for image in alike {
            let own = correlation(image, &alike[0]);
            assert!(own > 0.8, "{name}: {own}");
            for (other, theirs) in images.iter().filter(|(other, _)| *other != name) {
                let foreign = correlation(image, &theirs[0]);
                assert!(foreign < own, "{name}, {other}: {foreign} against {own}");
            }
        }
    }
}

/// Pearson's.
fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut both, mut left, mut right) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        both += x * y;
        left += x * x;
        right += y * y;
    }
    both / (left * right).sqrt()
}

#[test]
fn nothing_is_where_nothing_was_put() {
    let tissue = Tissue::read();
    // Cytosine and PC 30:0, which no list of truths has.
    for absent in [112.050_538, 706.538_131] {
        let hits = tissue
            .image(absent)
            .iter()
            .filter(|value| **value > 0.0)
            .count();
        assert!(hits < 10, "{absent}: {hits}");
    }
}

#[test]
fn packed_in_whatever_memory_it_gives_the_images_of_a_full_scan() {
    let tissue = Tissue::read();
    let run = |arguments: &[&str]| program::run_well(tissue.folder.path(), arguments);
    let read = |name: &str| fs::read(tissue.folder.path().join(name)).unwrap();
    for memory in ["8MiB", "256MiB"] {
        let store = format!("{memory}.sectile");
        run(&["pack", "tissue.imzML", "-o", &store, "--memory", memory]);
    }
    assert!(read("8MiB.sectile") == read("256MiB.sectile"));

    let mz: Vec<String> = tissue.truth.iter().map(|ion| ion.mz.to_string()).collect();
    let mut words = vec!["ion", "8MiB.sectile", "-o", "ions.npy", "--mz"];
    words.extend(mz.iter().map(String::as_str));
    run(&words);
    let bytes = read("ions.npy");
    let pixels = usize::try_from(tissue.dataset.grid.pixels()).unwrap();
    let values = bytes[bytes.len() - mz.len() * pixels * 4..].as_chunks().0;
    let acquired: BTreeSet<usize> = tissue.peaks.iter().map(|peak| peak.2).collect();
    for (ion, image) in tissue.truth.iter().zip(values.chunks(pixels)) {
        let scanned = tissue.image(ion.mz);
        for (pixel, (value, wanted)) in image.iter().zip(scanned).enumerate() {
            let value = f32::from_le_bytes(*value);
            if acquired.contains(&pixel) {
                // Sums of a few f32 in f64 are exact, whatever their order.
                assert_eq!(
                    f64::from(value),
                    f64::from(wanted as f32),
                    "{ion:?}, {pixel}"
                );
            } else {
                assert!(value.is_nan(), "{ion:?}, {pixel}");
            }
        }
    }
}
