//! Images on their way into files.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use sectile::npy::{self, Number};
use sectile::png::{Form, Meta, Writer, encode_masked};
use sectile::raster::plane;

use super::names::Kind;
use crate::cli::arguments::Mass;
use crate::cli::failure::Result;
use crate::cli::output::fresh::Fresh;

/// What all images of one call have in common.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Columns.
    pub width: u32,
    /// Rows; row 0 is the top one.
    pub height: u32,
    /// The file's own coordinates of the first pixel.
    pub origin: [i32; 2],
    /// Write pictures in the grey and alpha form of METASPACE.
    pub alpha: bool,
    /// What pictures say about themselves, besides their m/z.
    pub text: Vec<(String, String)>,
    /// The m/z as they were typed.
    pub masses: Vec<Mass>,
}

impl Frame {
    fn area(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }
}

/// The files that images go into as they are drawn, in any order.
pub struct Gallery {
    frame: Frame,
    targets: Vec<PathBuf>,
    form: Hanging,
}

enum Hanging {
    /// A file for each.
    Pictures,
    /// One behind another in one array; and the bytes of its header.
    Array(Fresh, u64),
    /// Columns of one table, kept until all are there.
    Table(Fresh, Vec<Vec<f32>>),
}

/// What a picture's encoder holds: a few rows, a chunk, the compressor's tables.
const ENCODER: u64 = 512 << 10;

impl Gallery {
    /// Bytes that writing images of this kind holds at one time.
    pub fn bytes(kind: Kind, frame: &Frame) -> u64 {
        let row = 16 * u64::from(frame.width);
        match kind {
            // The pixels' bytes, the compressed ones while they grow, and the file.
            Kind::Png if frame.alpha => ENCODER + 16 * frame.area(),
            Kind::Png => ENCODER + row,
            Kind::Npy => ENCODER / 8 + row,
            Kind::Csv => ENCODER / 8 + 4 * frame.area() * frame.masses.len() as u64,
        }
    }

    /// Begins the files.
    pub fn begin(kind: Kind, frame: Frame, targets: Vec<PathBuf>) -> Result<Self> {
        let one = || {
            let target = targets.first().cloned().unwrap_or_default();
            Fresh::create(&target)
        };
        let images = u32::try_from(frame.masses.len()).unwrap_or(u32::MAX);
        let form = match kind {
            Kind::Png => Hanging::Pictures,
            Kind::Npy => {
                let (width, height) = (frame.width, frame.height);
                let header = match images {
                    1 => npy::header(Number::F32, width, height)?,
                    images => npy::header_of_planes(Number::F32, images, width, height)?,
                };
                let mut file = one()?;
                file.put(&header)?;
                Hanging::Array(file, header.len() as u64)
            }
            Kind::Csv => Hanging::Table(one()?, vec![Vec::new(); frame.masses.len()]),
        };
        Ok(Self {
            frame,
            targets,
            form,
        })
    }

    /// Takes the image of an m/z; NaN where there is no data. The answer is the file it goes to.
    pub fn take(&mut self, index: usize, values: &[f32]) -> Result<PathBuf> {
        let at = index.min(self.targets.len().saturating_sub(1));
        let target = self.targets.get(at).cloned().unwrap_or_default();
        match &mut self.form {
            Hanging::Pictures => picture(&self.frame, index, values, &target)?,
            Hanging::Array(file, head) => {
                let mut at = *head + index as u64 * self.frame.area() * 4;
                let mut bytes = Vec::with_capacity(4 * self.frame.width as usize);
                for row in values.chunks(self.frame.width as usize) {
                    bytes.clear();
                    npy::put_f32(row, &mut bytes);
                    file.put_at(at, &bytes)?;
                    at += bytes.len() as u64;
                }
            }
            Hanging::Table(_, columns) => {
                if let Some(column) = columns.get_mut(index) {
                    *column = values.to_vec();
                }
            }
        }
        Ok(target)
    }

    /// The m/z of an image.
    pub fn mass(&self, index: usize) -> Mass {
        self.frame.masses[index].clone()
    }

    /// Finishes the files; the answer is their names.
    pub fn finish(self) -> Result<Vec<PathBuf>> {
        match self.form {
            Hanging::Pictures => {}
            Hanging::Array(file, _) => file.finish()?,
            Hanging::Table(mut file, columns) => {
                table(&self.frame, &columns, &mut file)?;
                file.finish()?;
            }
        }
        Ok(self.targets)
    }
}

/// Writes one picture. No row is turned over: the first is the top one in both.
fn picture(frame: &Frame, index: usize, values: &[f32], target: &Path) -> Result<()> {
    let mut text = frame.text.clone();
    if let Some(mass) = frame.masses.get(index) {
        text.push(("m/z".into(), mass.text.clone()));
    }
    let mut file = Fresh::create(target)?;
    if frame.alpha {
        let bytes = encode_masked(frame.width, frame.height, values, None, &text)?;
        file.put(&bytes)?;
        return file.finish();
    }
    let mut range = plane::Range::new();
    range.see(values);
    let meta = Meta {
        scale: range.scale(),
        unit: None,
        text,
    };
    file.with(|out| grey(frame, values, &meta, out))?;
    file.finish()
}

fn grey(frame: &Frame, values: &[f32], meta: &Meta, out: &mut BufWriter<File>) -> io::Result<()> {
    let mut writer = Writer::new(out, frame.width, frame.height, Form::Grey, meta)?;
    let mut codes = vec![0; frame.width as usize];
    for row in values.chunks(frame.width as usize) {
        plane::quantise(row, &meta.scale, &mut codes);
        writer.rows(&codes)?;
    }
    writer.finish()?;
    Ok(())
}

/// Writes a line for each pixel that was acquired: where it is, and its value in each image.
fn table(frame: &Frame, columns: &[Vec<f32>], file: &mut Fresh) -> Result<()> {
    let mut line = "x,y".to_owned();
    for mass in &frame.masses {
        let _ = write!(line, ",mz_{}", mass.text);
    }
    line.push('\n');
    file.put(line.as_bytes())?;
    let width = frame.width as usize;
    let first = columns.first().map_or(&[][..], Vec::as_slice);
    let origin = frame.origin.map(i64::from);
    let along = |steps: usize| i64::try_from(steps).unwrap_or(i64::MAX);
    for (at, value) in first.iter().enumerate() {
        if value.is_nan() {
            continue;
        }
        line.clear();
        let (x, y) = (origin[0] + along(at % width), origin[1] + along(at / width));
        let _ = write!(line, "{x},{y}");
        for column in columns {
            let _ = write!(line, ",{}", column[at]);
        }
        line.push('\n');
        file.put(line.as_bytes())?;
    }
    Ok(())
}
