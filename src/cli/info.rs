//! `sectile info`: what files hold.

use std::path::Path;

use sectile::drive::native::{Options, Source, walk};
use sectile::error::Error;
use sectile::fits::hdu::{Hdu, Kind};
use sectile::fits::walk::Walk;
use sectile::fits::wcs::Wcs;
use sectile::imzml::pair::{is_ibd, is_imzml};
use sectile::job::Tally;
use serde_json::{Value, json};

use crate::cli::arguments::Info;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::ions;
use crate::cli::ions::partner::has_suffix;
use crate::cli::report::{Report, size};
use crate::cli::stack;

/// Runs `sectile info`. One file's failure does not keep the others from being told.
pub fn run(arguments: &Info, report: &mut Report) -> Result<()> {
    let cancel = interrupt::listen()?;
    let options = Options::default();
    let mut tally = Tally::default();
    let names = stack::expand(&arguments.sources, &options, &mut tally, report)?;
    let mut failed: Option<Failure> = None;
    for name in &names {
        interrupt::check()?;
        let told = if is_imzml(name) {
            ions::info::dataset(name, &options, cancel, &mut tally, report)
        } else if has_suffix(name, "sectile") {
            ions::info::store(name, &options, cancel, &mut tally, report)
        } else if has_suffix(name, "sectile-images") {
            ions::images::info(name, &options, cancel, &mut tally, report)
        } else if Path::new(name).is_dir() {
            ions::annotate::info(Path::new(name), report)
        } else if is_ibd(name) {
            Err(ions::info::lone_ibd(name))
        } else {
            tell(name, &options, &mut tally, report)
        };
        if let Err(failure) = told {
            match &failed {
                None => failed = Some(failure),
                Some(_) => report.warn(&failure.message),
            }
        }
    }
    if let Some(failure) = failed {
        return Err(failure);
    }
    report.done(&tally);
    Ok(())
}

/// Tells one FITS file. What is wrong with the image that would be read is said after the table.
fn tell(name: &str, options: &Options, tally: &mut Tally, report: &Report) -> Result<()> {
    let source = Source::open(name, options)?;
    let mut machine = Walk::all(source.name());
    let hdus = walk(&source, &mut machine, tally)?;
    let total = source.identity().total.or(machine.total());
    let mut notes = machine.notes().to_vec();
    let has_pixels = hdus.iter().any(Hdu::has_pixels);
    let (chosen, failed) = match machine.into_image() {
        Ok(image) => {
            let own: Vec<String> = image
                .notes
                .into_iter()
                .filter(|note| !notes.contains(note))
                .collect();
            notes.extend(own);
            (Some(image.hdu), None)
        }
        Err(error @ Error::Format { .. }) if has_pixels => (None, Some(error)),
        // That there is no image, or none that is read, is no fault of the file.
        Err(error) => {
            notes.push(error.to_string());
            (None, None)
        }
    };
    report.event(
        "source",
        json!({
            "name": source.name(),
            "bytes": total,
            "image": chosen,
            "hdus": hdus.iter().map(fields).collect::<Vec<_>>(),
            "notes": notes,
        }),
    );
    let bytes = total.map_or_else(|| "of unknown size".to_owned(), size);
    report.line(&format!("{}: FITS, {bytes}", source.name()));
    let notes = notes.iter().map(|note| format!("  note: {note}"));
    for line in table(&hdus, chosen)
        .into_iter()
        .chain(skies(&hdus))
        .chain(masks(&hdus, chosen))
        .chain(notes)
    {
        report.line(&line);
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn fields(hdu: &Hdu) -> Value {
    json!({
        "index": hdu.index,
        "name": hdu.name,
        "ver": hdu.ver,
        "type": hdu.kind.to_string(),
        "bitpix": hdu.bitpix.card(),
        "axes": hdu.axes,
        "header_at": hdu.header_at,
        "data_at": hdu.data_at,
        "data_bytes": hdu.data_len,
        "unit": hdu.header.text("BUNIT"),
        "sky": Sky::of(hdu).map(|sky| json!({
            "projection": sky.projection,
            "center": sky.center,
            "pixel_arcsec": sky.pixel,
        })),
    })
}

/// The titles of a table's columns, the first for the mark of the image that would be read.
const TITLES: [&str; 10] = [
    "", "HDU", "name", "ver", "type", "BITPIX", "axes", "data at", "bytes", "unit",
];

fn table(hdus: &[Hdu], chosen: Option<u32>) -> Vec<String> {
    let mut rows = vec![TITLES.map(str::to_owned)];
    rows.extend(hdus.iter().map(|hdu| cells(hdu, chosen == Some(hdu.index))));
    let widest = |at: usize| {
        rows.iter()
            .map(|row| row[at].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: Vec<usize> = (0..TITLES.len()).map(widest).collect();
    let line = |row: &[String; 10]| {
        let cells = row.iter().zip(&widths);
        let cells: Vec<String> = cells
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

fn cells(hdu: &Hdu, is_chosen: bool) -> [String; 10] {
    let axes: Vec<String> = hdu.axes.iter().map(u64::to_string).collect();
    [
        if is_chosen { "*" } else { "" }.to_owned(),
        hdu.index.to_string(),
        hdu.name.clone().unwrap_or_default(),
        hdu.ver.to_string(),
        hdu.kind.to_string(),
        hdu.bitpix.card().to_string(),
        axes.join("×"),
        hdu.data_at.to_string(),
        hdu.data_len.to_string(),
        hdu.header.text("BUNIT").unwrap_or_default().to_owned(),
    ]
}

fn skies(hdus: &[Hdu]) -> Vec<String> {
    let sky = |hdu: &Hdu| {
        Some(format!(
            "  sky of HDU {}: {}",
            hdu.index,
            Sky::of(hdu)?.sentence()
        ))
    };
    hdus.iter().filter_map(sky).collect()
}

/// What of the file can be the chosen image's mask, and by which options.
fn masks(hdus: &[Hdu], chosen: Option<u32>) -> Vec<String> {
    let image = hdus.iter().find(|hdu| Some(hdu.index) == chosen);
    let as_mask = |hdu: &&Hdu| {
        let image = image.filter(|image| {
            image.index != hdu.index && image.ver == hdu.ver && image.axes == hdu.axes
        });
        image.is_some() && hdu.kind == Kind::Image
    };
    let line = |hdu: &Hdu| {
        let options = match hdu.name.as_deref()?.to_ascii_uppercase().as_str() {
            "DQ" if hdu.bitpix.card() > 0 => "--mask DQ",
            "WHT" => "--mask WHT --mask-bits zero",
            _ => return None,
        };
        Some(format!(
            "  mask: HDU {} tells which pixels to leave out ({options})",
            hdu.index
        ))
    };
    hdus.iter().filter(as_mask).filter_map(line).collect()
}

/// Where an image lies on the sky, in short.
struct Sky {
    /// CTYPE1 and CTYPE2.
    projection: String,
    /// Right ascension and declination of the middle pixel in degrees; only for a plain TAN.
    center: Option<[f64; 2]>,
    /// A pixel's side in arc seconds, at the middle.
    pixel: Option<f64>,
}

impl Sky {
    fn of(hdu: &Hdu) -> Option<Self> {
        let wcs = Wcs::from_header(&hdu.header)?;
        let kind = |key| hdu.header.text(key).unwrap_or("").trim().to_owned();
        #[expect(clippy::cast_precision_loss, reason = "a pixel's number")]
        let middle = |axis: usize| {
            hdu.axes
                .get(axis)
                .map(|length| (*length as f64 - 1.0) / 2.0)
        };
        let (x, y) = (middle(0)?, middle(1)?);
        let center = wcs.pixel_to_sky(x, y);
        let side = |to: Option<[f64; 2]>| Some(separation(center?, to?) * 3600.0);
        let across = side(wcs.pixel_to_sky(x + 1.0, y));
        let up = side(wcs.pixel_to_sky(x, y + 1.0));
        Some(Self {
            projection: format!("{}, {}", kind("CTYPE1"), kind("CTYPE2")),
            center,
            pixel: across.zip(up).map(|(across, up)| (across * up).sqrt()),
        })
    }

    fn sentence(&self) -> String {
        match (self.center, self.pixel) {
            (Some([ra, dec]), Some(pixel)) => format!(
                "{}; middle at {ra:.6}°, {dec:+.6}°; a pixel is {pixel:.4}\" wide",
                self.projection
            ),
            _ => format!(
                "{}; positions of this projection are not computed",
                self.projection
            ),
        }
    }
}

/// Angle between two directions in degrees, right for small ones too (haversine).
fn separation(a: [f64; 2], b: [f64; 2]) -> f64 {
    let half = |degrees: f64| (degrees.to_radians() / 2.0).sin().powi(2);
    let cos = |degrees: f64| degrees.to_radians().cos();
    let h = half(b[1] - a[1]) + cos(a[1]) * cos(b[1]) * half(b[0] - a[0]);
    2.0 * h.sqrt().min(1.0).asin().to_degrees()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_are_right_small_and_large() {
        assert!((separation([10.0, 0.0], [10.0, 90.0]) - 90.0).abs() < 1e-12);
        assert!((separation([359.9999, 0.0], [0.0001, 0.0]) - 0.0002).abs() < 1e-12);
        assert!((separation([0.0, 60.0], [0.001, 60.0]) - 0.0005).abs() < 1e-9);
    }
}
