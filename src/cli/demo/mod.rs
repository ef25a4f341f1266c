//! `sectile demo-data`: a stack and a dataset to try things on, the same bytes on every machine.
//!
//! The stack is exposures in the layout of space telescopes' drizzled products: an empty primary HDU, then the
//! image in an extension `SCI` with unit and world coordinates.

mod exponential;
mod exposure;
mod ions;
mod noise;
mod random;
mod sky;

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::thread;

use sectile::fits::write::{Cards, padding, put_f32};
use serde_json::json;

use crate::cli::arguments::DemoData;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::report::Report;
use exposure::Exposure;
use sky::Sky;

/// Degrees a pixel: 0.031 arc seconds.
const SCALE: f64 = 0.031 / 3600.0;

/// Runs `sectile demo-data`.
pub fn run(arguments: &DemoData, report: &mut Report) -> Result<()> {
    interrupt::listen()?;
    let folder = &arguments.folder;
    fs::create_dir_all(folder).map_err(|error| Failure::file(folder, "cannot make it", &error))?;
    let demo = Demo::new(arguments);
    let mut files = demo.write(folder)?;
    files.extend(ions::write(folder, arguments.seed)?.map(str::to_owned));
    for name in &files {
        let path = folder.join(name);
        report.event("file", json!({ "path": path.to_string_lossy() }));
    }
    report.line(&format!(
        "{}: {} exposures of {}×{} pixels, their list exposures.txt and truth.fits; tissue.imzML \
         with tissue.ibd, tissue_truth.csv, and molecules.csv to look for",
        folder.display(),
        arguments.exposures,
        arguments.size,
        arguments.size
    ));
    report.done(&sectile::job::Tally::default());
    Ok(())
}

struct Demo {
    size: usize,
    seed: u64,
    sky: Sky,
    exposures: Vec<Exposure>,
}

impl Demo {
    fn new(arguments: &DemoData) -> Self {
        let (size, seed) = (arguments.size as usize, arguments.seed);
        Self {
            size,
            seed,
            sky: Sky::new(size, seed),
            exposures: (0..arguments.exposures)
                .map(|number| Exposure::new(size, seed, number))
                .collect(),
        }
    }

    /// Writes everything, the list last; gives the names.
    fn write(&self, folder: &Path) -> Result<Vec<String>> {
        let digits = self.exposures.len().to_string().len().max(2);
        let names: Vec<String> = (1..=self.exposures.len())
            .map(|number| format!("exposure_{number:0digits$}.fits"))
            .collect();
        let work: Vec<_> = names.iter().zip(&self.exposures).enumerate().collect();
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            let hands: Vec<_> = work
                .chunks(work.len().div_ceil(threads).max(1))
                .map(|share| {
                    scope.spawn(move || {
                        share.iter().try_for_each(|(at, (name, exposure))| {
                            self.write_exposure(&folder.join(name), exposure, *at)
                        })
                    })
                })
                .collect();
            hands.into_iter().try_for_each(|hand| {
                hand.join()
                    .unwrap_or_else(|_| Err(Failure::failed("a thread ended early")))
            })
        })?;
        self.write_truth(&folder.join("truth.fits"))?;
        let list = names.join("\n") + "\n";
        write_file(&folder.join("exposures.txt"), |out| {
            out.write_all(list.as_bytes())
        })?;
        let others = ["truth.fits", "exposures.txt"].map(str::to_owned);
        Ok(names.into_iter().chain(others).collect())
    }

    fn write_exposure(&self, path: &Path, exposure: &Exposure, at: usize) -> Result<()> {
        let number = integer(at) + 1;
        let mut primary = Cards::new();
        primary.logical("SIMPLE", true, "conforms to the FITS standard")?;
        primary.integer("BITPIX", 8, "no data here")?;
        primary.integer("NAXIS", 0, "no data here")?;
        primary.logical("EXTEND", true, "the image is in SCI")?;
        self.describe(&mut primary)?;
        primary.integer("EXPOSURE", number, "number of the exposure")?;
        primary.float("EFFEXPTM", 100.0, "[s] exposure time")?;

        let mut science = Cards::new();
        science.text("XTENSION", "IMAGE", "image extension")?;
        self.shape(&mut science, -32, None)?;
        science.integer("PCOUNT", 0, "no parameters")?;
        science.integer("GCOUNT", 1, "one group")?;
        science.text("EXTNAME", "SCI", "name of this extension")?;
        science.integer("EXTVER", 1, "version of this extension")?;
        science.text("BUNIT", "MJy/sr", "unit of the pixel values")?;
        self.coordinates(&mut science)?;
        let heads = [primary.into_blocks(), science.into_blocks()];
        write_file(path, |out| {
            heads.iter().try_for_each(|head| out.write_all(head))?;
            self.put_rows(out, |y| exposure.row(&self.sky, y))
        })
    }

    /// The noise-free sky in the primary HDU, and a cube with each exposure's cosmic rays.
    fn write_truth(&self, path: &Path) -> Result<()> {
        let mut primary = Cards::new();
        primary.logical("SIMPLE", true, "conforms to the FITS standard")?;
        self.shape(&mut primary, -32, None)?;
        primary.logical("EXTEND", true, "cosmic rays are in CRMASK")?;
        self.describe(&mut primary)?;
        primary.text("BUNIT", "MJy/sr", "unit of the pixel values")?;
        self.coordinates(&mut primary)?;

        let mut mask = Cards::new();
        mask.text("XTENSION", "IMAGE", "image extension")?;
        self.shape(&mut mask, 8, Some(self.exposures.len()))?;
        mask.integer("PCOUNT", 0, "no parameters")?;
        mask.integer("GCOUNT", 1, "one group")?;
        mask.text("EXTNAME", "CRMASK", "1 where an exposure has a cosmic ray")?;
        let heads = [primary.into_blocks(), mask.into_blocks()];
        write_file(path, |out| {
            out.write_all(&heads[0])?;
            self.put_rows(out, |y| self.sky.row(y).to_vec())?;
            out.write_all(&heads[1])?;
            for exposure in &self.exposures {
                (0..self.size).try_for_each(|y| out.write_all(&exposure.mask_row(y)))?;
            }
            let bytes = (self.size * self.size * self.exposures.len()) as u64;
            out.write_all(&vec![0; padding(bytes)])
        })
    }

    fn put_rows(
        &self,
        out: &mut impl Write,
        row: impl Fn(usize) -> Vec<f32>,
    ) -> std::io::Result<()> {
        let mut bytes = Vec::new();
        for y in 0..self.size {
            if interrupt::is_asked() {
                return Err(std::io::ErrorKind::Interrupted.into());
            }
            bytes.clear();
            put_f32(&row(y), &mut bytes);
            out.write_all(&bytes)?;
        }
        out.write_all(&vec![0; padding((self.size * self.size * 4) as u64)])
    }

    fn shape(&self, cards: &mut Cards, bitpix: i64, planes: Option<usize>) -> Result<()> {
        let size = integer(self.size);
        cards.integer("BITPIX", bitpix, "type of the pixels")?;
        cards.integer(
            "NAXIS",
            if planes.is_some() { 3 } else { 2 },
            "number of axes",
        )?;
        cards.integer("NAXIS1", size, "pixels a row")?;
        cards.integer("NAXIS2", size, "rows")?;
        if let Some(planes) = planes {
            cards.integer("NAXIS3", integer(planes), "exposures")?;
        }
        Ok(())
    }

    fn describe(&self, cards: &mut Cards) -> Result<()> {
        cards.text(
            "ORIGIN",
            "sectile demo-data",
            "nothing here was ever observed",
        )?;
        cards.text("TELESCOP", "SIMULATED", "telescope")?;
        cards.text("INSTRUME", "DEMOCAM", "instrument")?;
        cards.text("DETECTOR", "DEMO1", "detector")?;
        cards.text("FILTER", "F200W", "filter")?;
        cards.text("OBJECT", "Invented Nebula", "target")?;
        cards.text("SEED", &self.seed.to_string(), "what the sky was made from")?;
        Ok(())
    }

    /// A TAN projection, turned a little: the sine and cosine are those of a 7-24-25 triangle.
    fn coordinates(&self, cards: &mut Cards) -> Result<()> {
        #[expect(clippy::cast_precision_loss, reason = "a width in pixels")]
        let middle = f64::midpoint(self.size as f64, 1.0);
        cards.integer("WCSAXES", 2, "number of coordinate axes")?;
        cards.text("CTYPE1", "RA---TAN", "gnomonic projection")?;
        cards.text("CTYPE2", "DEC--TAN", "gnomonic projection")?;
        for (key, value) in [
            ("CRPIX1", middle),
            ("CRPIX2", middle),
            ("CRVAL1", 150.1125),
            ("CRVAL2", 2.2125),
            ("CDELT1", SCALE),
            ("CDELT2", SCALE),
            ("PC1_1", -0.96),
            ("PC1_2", 0.28),
            ("PC2_1", 0.28),
            ("PC2_2", 0.96),
        ] {
            cards.float(key, value, "")?;
        }
        cards.text("CUNIT1", "deg", "")?;
        cards.text("CUNIT2", "deg", "")?;
        cards.text("RADESYS", "ICRS", "celestial reference frame")?;
        Ok(())
    }
}

fn integer(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn write_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<()> {
    File::create(path)
        .map(|file| BufWriter::with_capacity(256 << 10, file))
        .and_then(|mut out| write(&mut out).and_then(|()| out.flush()))
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::Interrupted => Failure::interrupted("interrupted"),
            _ => Failure::file(path, "cannot write", &error),
        })
}
