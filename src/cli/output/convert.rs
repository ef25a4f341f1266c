//! From a finished part file to a picture or an array: a second pass, one row in memory.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use sectile::npy::{self, Number};
use sectile::png::{Form, Meta, Writer};
use sectile::raster::plane;

use super::part::{Part, Row};
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;

/// Writes the values as `.npy`, row 0 first, as `astropy.io.fits` gives them.
pub fn to_npy(part: &mut Part, path: &Path) -> Result<()> {
    let mut out = BufWriter::new(create(path)?);
    let (width, height) = (part.layout().width, part.layout().height);
    let number = if part.layout().wide {
        Number::F64
    } else {
        Number::F32
    };
    let mut bytes = npy::header(number, width, height)?;
    let mut row = Row::new(part.layout());
    for y in 0..height {
        interrupt::check()?;
        part.row(y, &mut row)?;
        match &row {
            Row::F32(values) => npy::put_f32(values, &mut bytes),
            Row::F64(values) => npy::put_f64(values, &mut bytes),
        }
        out.write_all(&bytes)
            .map_err(|error| refused(path, &error))?;
        bytes.clear();
    }
    out.flush().map_err(|error| refused(path, &error))
}

/// Writes the values as one 16-bit picture, its first row the last one of the image.
pub fn to_png(part: &mut Part, path: &Path, unit: Option<&str>) -> Result<()> {
    let meta = meta(part, unit)?;
    let (width, height) = (part.layout().width, part.layout().height);
    let refused = |error: &std::io::Error| refused(path, error);
    let out = BufWriter::new(create(path)?);
    let mut writer =
        Writer::new(out, width, height, Form::Grey, &meta).map_err(|error| refused(&error))?;
    let mut row = Row::new(part.layout());
    let mut codes = vec![0; width as usize];
    for y in (0..height).rev() {
        interrupt::check()?;
        part.row(y, &mut row)?;
        quantise(&row, &meta.scale, &mut codes);
        writer.rows(&codes).map_err(|error| refused(&error))?;
    }
    writer.finish().map_err(|error| refused(&error))?;
    Ok(())
}

/// The scale that fits all values, and the unit.
pub fn meta(part: &mut Part, unit: Option<&str>) -> Result<Meta> {
    let mut range = plane::Range::new();
    let mut row = Row::new(part.layout());
    for y in 0..part.layout().height {
        interrupt::check()?;
        part.row(y, &mut row)?;
        match &row {
            Row::F32(values) => range.see(values),
            Row::F64(values) => range.see(values),
        }
    }
    Ok(Meta {
        scale: range.scale(),
        unit: unit.map(str::to_owned),
        text: vec![(
            "Software".into(),
            concat!("sectile ", env!("CARGO_PKG_VERSION")).into(),
        )],
    })
}

/// The codes of a row.
pub fn quantise(row: &Row, scale: &plane::Scale, codes: &mut [u16]) {
    match row {
        Row::F32(values) => plane::quantise(values, scale, codes),
        Row::F64(values) => plane::quantise(values, scale, codes),
    }
}

fn create(path: &Path) -> Result<File> {
    File::create(path).map_err(|error| refused(path, &error))
}

fn refused(path: &Path, error: &std::io::Error) -> Failure {
    Failure::file(path, "cannot write", error)
}
