//! Pictures too large for memory: rows in, bytes out.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fdeflate::Compressor;

use super::encode::{Share, grey_alpha};
use super::filter::Filter;
use super::{Form, Meta, chunk, front};
use crate::error::Error;

/// Bytes of one IDAT chunk.
const CHUNK: usize = 64 << 10;

/// Writes one 16-bit picture, row by row from the top, into a [`Write`].
///
/// Holds a few rows and one chunk of 64 KiB, whatever the height. The bytes do not depend on how the
/// rows were dealt out to [`rows`](Self::rows). A picture given up half-way is left without its
/// end, so that no reader takes it for a whole one.
pub struct Writer<W: Write> {
    out: W,
    stream: Compressor<Deflated>,
    deflated: Deflated,
    filter: Filter,
    form: Form,
    width: usize,
    left: u32,
    /// The bytes of one row, and later those of one chunk.
    bytes: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header and the text of a picture.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidInput`] with an [`Error::Parameter`] inside if a
    /// side is 0 or a text keyword is none.
    pub fn new(out: W, width: u32, height: u32, form: Form, meta: &Meta) -> io::Result<Self> {
        Self::begin(out, (width, height), form, &meta.lines(true))
    }

    /// The same for values as METASPACE stores ion images, for [`values`](Self::values): grey and alpha, and no
    /// BLANK, since 0 is a value.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_shares(out: W, width: u32, height: u32, share: &Share) -> io::Result<Self> {
        let lines = Meta::new(share.scale()).lines(false);
        Self::begin(out, (width, height), Form::GreyAlpha, &lines)
    }

    fn begin(
        out: W,
        (width, height): (u32, u32),
        form: Form,
        lines: &[(String, String)],
    ) -> io::Result<Self> {
        let head = front((width, height), form, lines)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let deflated = Deflated::default();
        let mut writer = Self {
            out,
            stream: Compressor::new(deflated.clone())?,
            deflated,
            filter: form.filter(width),
            form,
            width: width as usize,
            left: height,
            bytes: Vec::new(),
        };
        writer.out.write_all(&head)?;
        Ok(writer)
    }

    /// Writes the next rows: any number of whole ones, from the top.
    ///
    /// # Errors
    /// Those of the output; [`io::ErrorKind::InvalidInput`] for a part of a row or for more rows
    /// than the picture has.
    pub fn rows(&mut self, codes: &[u16]) -> io::Result<()> {
        let form = self.form;
        self.lines(codes, |code, bytes| match form {
            Form::Grey => bytes.extend_from_slice(&code.to_be_bytes()),
            Form::GreyAlpha => bytes.extend_from_slice(&grey_alpha(*code)),
        })
    }

    /// Writes the next rows of a picture [`of_shares`](Self::of_shares); where a value is NaN nothing was measured: its
    /// grey is that of 0, and its alpha 0.
    ///
    /// # Errors
    /// As [`rows`](Self::rows).
    pub fn values(&mut self, values: &[f32], share: &Share) -> io::Result<()> {
        self.lines(values, |&value, bytes| {
            let inside = !value.is_nan();
            let value = if inside { value } else { 0.0 };
            bytes.extend_from_slice(&share.pixel(value, inside));
        })
    }

    fn lines<T>(&mut self, pixels: &[T], put: impl Fn(&T, &mut Vec<u8>)) -> io::Result<()> {
        let rows = pixels.len() / self.width;
        if !pixels.len().is_multiple_of(self.width) || rows > self.left as usize {
            return Err(invalid(format!(
                "{} codes in rows of {}, where {} rows are to come",
                pixels.len(),
                self.width,
                self.left
            )));
        }
        for line in pixels.chunks_exact(self.width) {
            self.bytes.clear();
            for pixel in line {
                put(pixel, &mut self.bytes);
            }
            self.stream.write_data(self.filter.row(&self.bytes))?;
            self.left -= 1;
            while self.deflated.len() >= CHUNK {
                pass_on(&self.deflated, &mut self.bytes, &mut self.out)?;
            }
        }
        Ok(())
    }

    /// Writes the end of the picture and gives the output back, flushed.
    ///
    /// # Errors
    /// Those of the output; [`io::ErrorKind::InvalidInput`] if rows are missing.
    pub fn finish(self) -> io::Result<W> {
        let Self {
            mut out,
            stream,
            deflated,
            mut bytes,
            ..
        } = self;
        if self.left > 0 {
            return Err(invalid(format!("{} rows are missing", self.left)));
        }
        stream.finish()?;
        while deflated.len() > 0 {
            pass_on(&deflated, &mut bytes, &mut out)?;
        }
        bytes.clear();
        chunk::put(*b"IEND", &[], &mut bytes);
        out.write_all(&bytes)?;
        out.flush()?;
        Ok(out)
    }
}

/// Writes what has been compressed as one chunk of at most [`CHUNK`] bytes.
fn pass_on(deflated: &Deflated, bytes: &mut Vec<u8>, out: &mut impl Write) -> io::Result<()> {
    bytes.clear();
    deflated.take(CHUNK, |data| chunk::put(*b"IDAT", data, bytes));
    out.write_all(bytes)
}

fn invalid(what: String) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        Error::Parameter { name: "rows", what },
    )
}

/// Where the compressor leaves its bytes until they fill a chunk.
///
/// The compressor keeps what it writes into to itself until it ends, and stops the program if that
/// fails in its last bytes; writing here cannot fail, and the output is written where errors can be
/// given back.
#[derive(Clone, Default)]
struct Deflated(Arc<Mutex<Vec<u8>>>);

impl Deflated {
    fn lock(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> usize {
        self.lock().len()
    }

    fn take(&self, most: usize, give: impl FnOnce(&[u8])) {
        let mut held = self.lock();
        let len = most.min(held.len());
        give(&held[..len]);
        held.drain(..len);
    }
}

impl Write for Deflated {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
