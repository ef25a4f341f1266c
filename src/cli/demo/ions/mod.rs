//! An imaging mass-spectrometry dataset whose contents are known: `tissue.imzML`, `tissue.ibd`, and
//! `tissue_truth.csv` with each ion, its first isotope and where it is; and `molecules.csv`, the list of
//! common metabolites and lipids that the page has too, to look for.
//!
//! Centroids as an Orbitrap gives them, in positive mode, on pixels of 50 µm. m/z values are off by
//! an error with a standard deviation of 1 ppm, and by no more than 2.5 ppm.

mod document;
mod isotopes;
mod molecules;
mod scan;
mod tissue;

use std::io::{self, Write};
use std::path::Path;

use sha1::{Digest, Sha1};

use super::random::Random;
use super::write_file;
use crate::cli::failure::Result;
use crate::cli::interrupt;
use document::{Document, Spectrum};
use molecules::Ion;
use scan::Sample;
use tissue::SIZE;

/// The files, in the order in which they are written.
const NAMES: [&str; 4] = [
    "tissue.ibd",
    "tissue.imzML",
    "tissue_truth.csv",
    "molecules.csv",
];

/// Common metabolites and lipids of animals, as the page has them.
const MOLECULES: &str = include_str!("../../../../www/ions/molecules.csv");

/// Writes the dataset that belongs to a seed; gives the names.
pub fn write(folder: &Path, seed: u64) -> Result<[&'static str; 4]> {
    let sample = Sample::new(seed);
    let [arrays, document, truth, molecules] = NAMES.map(|name| folder.join(name));
    let mut written = Written::new(seed);
    write_file(&arrays, |out| written.put_all(out, &sample))?;
    write_file(&document, |out| written.describe(out))?;
    write_file(&truth, |out| put_truth(out, sample.ions()))?;
    write_file(&molecules, |out| out.write_all(MOLECULES.as_bytes()))?;
    Ok(NAMES)
}

/// What the XML needs to know of the arrays.
struct Written {
    uuid: [u8; 16],
    sha1: Sha1,
    at: u64,
    spectra: Vec<Spectrum>,
}

impl Written {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed, &[30]);
        let mut uuid = (u128::from(random.next()) << 64 | u128::from(random.next())).to_be_bytes();
        // Version 4, variant 1: what a random UUID says of itself (RFC 9562 §5.4).
        uuid[6] = uuid[6] & 0x0f | 0x40;
        uuid[8] = uuid[8] & 0x3f | 0x80;
        Self {
            uuid,
            sha1: Sha1::new(),
            at: 0,
            spectra: Vec::new(),
        }
    }

    fn put_all(&mut self, out: &mut impl Write, sample: &Sample) -> io::Result<()> {
        let uuid = self.uuid;
        self.put(out, &uuid)?;
        for row in 0..SIZE[1] {
            if interrupt::is_asked() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            for column in 0..SIZE[0] {
                if let Some(peaks) = sample.peaks(column, row) {
                    self.put_spectrum(out, [column + 1, row + 1], &peaks)?;
                }
            }
        }
        Ok(())
    }

    fn put_spectrum(
        &mut self,
        out: &mut impl Write,
        place: [u32; 2],
        peaks: &[(f64, f32)],
    ) -> io::Result<()> {
        let end = |peak: Option<&(f64, f32)>| peak.map_or(0.0, |(mz, _)| *mz);
        self.spectra.push(Spectrum {
            index: self.spectra.len(),
            place,
            at: self.at,
            peaks: peaks.len() as u64,
            range: [end(peaks.first()), end(peaks.last())],
            total: peaks.iter().map(|(_, height)| f64::from(*height)).sum(),
        });
        let mz = peaks.iter().flat_map(|(mz, _)| mz.to_le_bytes());
        let heights = peaks.iter().flat_map(|(_, height)| height.to_le_bytes());
        let bytes: Vec<u8> = mz.chain(heights).collect();
        self.put(out, &bytes)
    }

    fn put(&mut self, out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
        self.sha1.update(bytes);
        self.at += bytes.len() as u64;
        out.write_all(bytes)
    }

    fn describe(self, out: &mut impl Write) -> io::Result<()> {
        let document = Document {
            writer: "sectile demo-data",
            instrument: "simulated Orbitrap, resolving power 140,000 at m/z 200",
            size: SIZE,
            pixel: 50,
            spectra: self.spectra.len(),
            mz_bytes: 8,
            uuid: self.uuid,
            sha1: self.sha1.finalize().into(),
        };
        document.write(out, self.spectra.into_iter())
    }
}

fn put_truth(out: &mut impl Write, ions: &[Ion]) -> io::Result<()> {
    writeln!(out, "formula,adduct,mz,pattern,name")?;
    for ion in ions {
        let mz = ion.peaks.first().map_or(0.0, |peak| peak.mz);
        let (formula, adduct, pattern) = (ion.formula, ion.adduct(), ion.pattern.name());
        writeln!(out, "{formula},{adduct},{mz:.6},{pattern},{}", ion.name)?;
    }
    Ok(())
}
