//! The file that finished sections are written to: a FITS file in the making.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use sectile::fits::write::{put_f32, put_f64, put_u16};
use sectile::results::stack::Layout;
use sectile::results::stack::part::{Identity, Sum, Sums};
use sectile::stack::job::Values;

use crate::cli::failure::{Failure, Result};

/// Values encoded at one time, so that writing takes no memory to speak of.
const CHUNK: usize = 8 << 10;

/// Bytes read at one time, to be summed up.
const READ: u64 = 64 << 10;

/// Part of a result, in the result's own pixels.
#[derive(Debug, Clone, Copy)]
pub struct Band<'a> {
    /// First column.
    pub x: u32,
    /// First row.
    pub y: u32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub rows: u32,
    /// Medians, row by row.
    pub values: Values<'a>,
    /// How many exposures contributed to each.
    pub count: &'a [u16],
}

/// An open part file.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    file: File,
    layout: Layout,
    scratch: Vec<u8>,
}

impl Part {
    /// Makes the file anew, at its full length, headers written.
    pub fn create(path: &Path, layout: &Layout) -> Result<Self> {
        let mut part = Self::with(path, layout, true)?;
        part.file
            .set_len(layout.total())
            .map_err(|error| part.refused(&error))?;
        for (at, header) in layout.headers() {
            part.put(at, header)?;
        }
        part.sync()?;
        Ok(part)
    }

    /// Opens one that an earlier run has left; `None` if it is not there or not of this layout.
    pub fn reopen(path: &Path, layout: &Layout) -> Result<Option<Self>> {
        if !path.is_file() {
            return Ok(None);
        }
        let mut part = Self::with(path, layout, false)?;
        let length = part
            .file
            .metadata()
            .map_err(|error| part.refused(&error))?
            .len();
        if length != layout.total() {
            return Ok(None);
        }
        for (at, header) in layout.headers() {
            let mut found = vec![0; header.len()];
            part.read_at(at, &mut found)?;
            if found != header {
                return Ok(None);
            }
        }
        Ok(Some(part))
    }

    fn with(path: &Path, layout: &Layout, anew: bool) -> Result<Self> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(anew)
            .truncate(anew)
            .open(path)
            .map_err(|error| Failure::file(path, "cannot write", &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            layout: layout.clone(),
            scratch: Vec::new(),
        })
    }

    /// The layout of what is written.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Writes a band to its places.
    pub fn write(&mut self, band: &Band<'_>) -> Result<()> {
        // Whole rows lie one behind the other; parts of rows are written row by row.
        let whole = band.width == self.layout.width;
        let (runs, run) = if whole {
            (1, band.width as usize * band.rows as usize)
        } else {
            (band.rows, band.width as usize)
        };
        for (row, start) in (0..runs).zip((0..).step_by(run)) {
            let y = band.y + row;
            let at = self.layout.value_at(band.x, y);
            match band.values {
                Values::F32(values) => {
                    self.encode(at, &values[start..start + run], |values, out| {
                        put_f32(values, out);
                        Ok(())
                    })?;
                }
                Values::F64(values) => {
                    self.encode(at, &values[start..start + run], |values, out| {
                        put_f64(values, out);
                        Ok(())
                    })?;
                }
            }
            let at = self.layout.count_at(band.x, y);
            self.encode(at, &band.count[start..start + run], |counts, out| {
                Ok(put_u16(counts, out)?)
            })?;
        }
        Ok(())
    }

    /// Waits until all that was written is on the disk.
    pub fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|error| self.refused(&error))
    }

    /// Says that the part of a shard is whole: its checksums and, last of all, its header.
    pub fn seal(&mut self, identity: &Identity) -> Result<()> {
        let sums = Sums {
            values: self.sum(identity.values())?,
            counts: self.sum(identity.counts())?,
        };
        self.put(0, &identity.header(sums))
    }

    /// The checksum of bytes that were written, some of them perhaps by an earlier run.
    fn sum(&mut self, range: Range<u64>) -> Result<u32> {
        let mut sum = Sum::default();
        let mut bytes = std::mem::take(&mut self.scratch);
        let mut at = range.start;
        while at < range.end {
            let len = (range.end - at).min(READ);
            bytes.resize(usize::try_from(len).unwrap_or(0), 0);
            self.read_at(at, &mut bytes)?;
            sum.update(&bytes);
            at += len;
        }
        self.scratch = bytes;
        Ok(sum.value())
    }

    /// Reads one row of values, as f64 if the layout is wide and else as f32 that f64 holds exactly.
    pub fn row(&mut self, y: u32, out: &mut Row) -> Result<()> {
        let (at, width) = (self.layout.value_at(0, y), self.layout.width as usize);
        let mut bytes = std::mem::take(&mut self.scratch);
        let size = if self.layout.wide { 8 } else { 4 };
        bytes.resize(width * size, 0);
        self.read_at(at, &mut bytes)?;
        match out {
            Row::F32(values) => {
                values.clear();
                values.extend(
                    bytes
                        .as_chunks::<4>()
                        .0
                        .iter()
                        .map(|b| f32::from_be_bytes(*b)),
                );
            }
            Row::F64(values) => {
                values.clear();
                values.extend(
                    bytes
                        .as_chunks::<8>()
                        .0
                        .iter()
                        .map(|b| f64::from_be_bytes(*b)),
                );
            }
        }
        self.scratch = bytes;
        Ok(())
    }

    fn encode<T>(
        &mut self,
        at: u64,
        values: &[T],
        encode: impl Fn(&[T], &mut Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let mut bytes = std::mem::take(&mut self.scratch);
        self.seek(at)?;
        for values in values.chunks(CHUNK) {
            bytes.clear();
            encode(values, &mut bytes)?;
            self.file
                .write_all(&bytes)
                .map_err(|error| self.refused(&error))?;
        }
        self.scratch = bytes;
        Ok(())
    }

    fn put(&mut self, at: u64, bytes: &[u8]) -> Result<()> {
        self.seek(at)?;
        self.file
            .write_all(bytes)
            .map_err(|error| self.refused(&error))
    }

    fn read_at(&mut self, at: u64, bytes: &mut [u8]) -> Result<()> {
        self.seek(at)?;
        self.file
            .read_exact(bytes)
            .map_err(|error| Failure::file(&self.path, "cannot read back", &error))
    }

    fn seek(&mut self, at: u64) -> Result<()> {
        match self.file.seek(SeekFrom::Start(at)) {
            Ok(_) => Ok(()),
            Err(error) => Err(self.refused(&error)),
        }
    }

    fn refused(&self, error: &io::Error) -> Failure {
        Failure::file(&self.path, "cannot write", error)
    }
}

/// One row of a result.
#[derive(Debug, Clone)]
pub enum Row {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

impl Row {
    /// A row to be read into.
    pub fn new(layout: &Layout) -> Self {
        if layout.wide {
            Self::F64(Vec::new())
        } else {
            Self::F32(Vec::new())
        }
    }
}
