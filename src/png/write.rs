//! Pictures too large for memory: rows in, bytes out.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use ::png::StreamWriter;

use super::encode::grey_alpha;
use super::{Form, Meta, begin};
use crate::error::{Error, Result};

/// Bytes of one IDAT chunk.
const CHUNK: usize = 64 << 10;

/// Writes one 16-bit picture, row by row from the top, into a [`Write`].
///
/// Holds a few rows and one chunk of 64 KiB, whatever the height. The bytes do not depend on how the
/// rows were dealt out to [`rows`](Self::rows). A picture given up half-way is left without its
/// end, so that no reader takes it for a whole one.
pub struct Writer<W: Write> {
    out: W,
    stream: StreamWriter<'static, Chunks>,
    chunks: Chunks,
    form: Form,
    width: usize,
    left: u64,
    row: Vec<u8>,
}

impl<W: Write> Writer<W> {
    /// Writes the header and the text of a picture.
    ///
    /// # Errors
    /// Those of `out`; [`io::ErrorKind::InvalidInput`] with an [`Error::Parameter`] inside if a
    /// side is 0 or a text keyword is none.
    pub fn new(out: W, width: u32, height: u32, form: Form, meta: &Meta) -> io::Result<Self> {
        let chunks = Chunks::default();
        let stream = start(chunks.clone(), (width, height), form, meta)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let width = width as usize;
        let mut writer = Self {
            out,
            stream,
            chunks,
            form,
            width,
            left: u64::from(height),
            row: Vec::with_capacity(width * form.size()),
        };
        writer.pass_on()?;
        Ok(writer)
    }

    /// Writes the next rows: any number of whole ones, from the top.
    ///
    /// # Errors
    /// Those of the output; [`io::ErrorKind::InvalidInput`] for a part of a row or for more rows
    /// than the picture has.
    pub fn rows(&mut self, codes: &[u16]) -> io::Result<()> {
        let rows = codes.len() / self.width;
        if !codes.len().is_multiple_of(self.width) || rows as u64 > self.left {
            return Err(invalid(format!(
                "{} codes in rows of {}, where {} rows are to come",
                codes.len(),
                self.width,
                self.left
            )));
        }
        for line in codes.chunks_exact(self.width) {
            self.row.clear();
            match self.form {
                Form::Grey => line
                    .iter()
                    .for_each(|code| self.row.extend_from_slice(&code.to_be_bytes())),
                Form::GreyAlpha => line
                    .iter()
                    .for_each(|&code| self.row.extend_from_slice(&grey_alpha(code))),
            }
            self.stream.write_all(&self.row)?;
            self.left -= 1;
            self.pass_on()?;
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
            chunks,
            left,
            ..
        } = self;
        if left > 0 {
            return Err(invalid(format!("{left} rows are missing")));
        }
        stream.finish()?;
        chunks.drain(|bytes| out.write_all(bytes))?;
        out.flush()?;
        Ok(out)
    }

    fn pass_on(&mut self) -> io::Result<()> {
        let Self { out, chunks, .. } = self;
        chunks.drain(|bytes| out.write_all(bytes))
    }
}

fn start(
    chunks: Chunks,
    size: (u32, u32),
    form: Form,
    meta: &Meta,
) -> Result<StreamWriter<'static, Chunks>> {
    let encoder = begin(chunks, size, form, meta.lines(true))?;
    encoder
        .write_header()
        .and_then(|writer| writer.into_stream_writer_with_size(CHUNK))
        .map_err(|error| super::refused(&error))
}

fn invalid(what: String) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        Error::Parameter { name: "rows", what },
    )
}

/// Where the encoder leaves its bytes until they are passed on.
///
/// The encoder ends a stream in its destructor, where an error of the output would be lost; writing
/// here cannot fail, and the output is written where errors can be given back.
#[derive(Clone, Default)]
struct Chunks(Arc<Mutex<Vec<u8>>>);

impl Chunks {
    fn drain(&self, take: impl FnOnce(&[u8]) -> io::Result<()>) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !bytes.is_empty() {
            take(&bytes)?;
            bytes.clear();
        }
        Ok(())
    }
}

impl Write for Chunks {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
