//! `sectile info`: what files hold.

use sectile::drive::native::{Options, Source, walk};
use sectile::fits::hdu::Hdu;
use sectile::fits::walk::Walk;
use sectile::fits::wcs::Wcs;
use sectile::job::Tally;
use serde_json::{Value, json};

use crate::cli::arguments::Info;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::report::{Report, size};
use crate::cli::stack;

/// Runs `sectile info`. One file's failure does not keep the others from being told.
pub fn run(arguments: &Info, report: &mut Report) -> Result<()> {
    interrupt::listen()?;
    let options = Options::default();
    let mut tally = Tally::default();
    let names = stack::expand(&arguments.sources, &options, &mut tally, report)?;
    let mut failed: Option<Failure> = None;
    for name in &names {
        interrupt::check()?;
        if let Err(failure) = tell(name, &options, &mut tally, report) {
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

fn tell(name: &str, options: &Options, tally: &mut Tally, report: &Report) -> Result<()> {
    let source = Source::open(name, options)?;
    let mut machine = Walk::all(source.name());
    let hdus = walk(&source, &mut machine, tally)?;
    let total = source.identity().total.or(machine.total());
    let mut notes = machine.notes().to_vec();
    // What would be read by default, and what is to be said about it; that there is no image is no
    // failure of `info`.
    let chosen = match machine.into_image() {
        Ok(image) => {
            notes.extend(
                image
                    .notes
                    .iter()
                    .filter(|note| !notes.contains(note))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
            Some(image.hdu)
        }
        Err(error @ sectile::error::Error::Format { .. }) if hdus.iter().any(Hdu::has_pixels) => {
            return Err(error.into());
        }
        Err(error) => {
            notes.push(error.to_string());
            None
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
    for line in table(&hdus, chosen) {
        report.line(&line);
    }
    for note in notes {
        report.line(&format!("  note: {note}"));
    }
    Ok(())
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

fn table(hdus: &[Hdu], chosen: Option<u32>) -> Vec<String> {
    let header = [
        "", "HDU", "name", "ver", "type", "BITPIX", "axes", "data at", "bytes", "unit",
    ];
    let mut rows = vec![header.map(str::to_owned)];
    for hdu in hdus {
        let axes: Vec<String> = hdu.axes.iter().map(u64::to_string).collect();
        rows.push([
            if chosen == Some(hdu.index) { "*" } else { "" }.to_owned(),
            hdu.index.to_string(),
            hdu.name.clone().unwrap_or_default(),
            hdu.ver.to_string(),
            hdu.kind.to_string(),
            hdu.bitpix.card().to_string(),
            axes.join("×"),
            hdu.data_at.to_string(),
            hdu.data_len.to_string(),
            hdu.header.text("BUNIT").unwrap_or_default().to_owned(),
        ]);
    }
    let widths: Vec<usize> = (0..header.len())
        .map(|at| {
            rows.iter()
                .map(|row| row[at].chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let cells: Vec<String> = row
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            cells.join("  ").trim_end().to_owned()
        })
        .collect();
    lines.extend(hdus.iter().filter_map(|hdu| {
        Some(format!(
            "  sky of HDU {}: {}",
            hdu.index,
            Sky::of(hdu)?.sentence()
        ))
    }));
    lines
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
