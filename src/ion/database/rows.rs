//! The rows of a list, from bytes that come in pieces.

use csv_core::{ReadFieldResult, ReaderBuilder};

use crate::error::Result;
use crate::ion::database::columns::Columns;
use crate::ion::database::lines::Lines;

/// The most bytes of a field that are kept.
pub(super) const LONGEST: usize = 16 << 10;

/// Fields that are wanted: formula, name and id.
const WANTED: usize = 3;

/// A row: what is wanted of it.
#[derive(Debug, Default)]
pub(super) struct Row {
    /// The line it begins on.
    pub(super) line: u64,
    /// Formula, name and id; empty where there is none.
    pub(super) fields: [Vec<u8>; WANTED],
    /// How many columns it has.
    pub(super) columns: usize,
    /// Whether a field had more than [`LONGEST`] bytes.
    pub(super) long: bool,
    /// Whether there is anything but white space in it.
    pub(super) filled: bool,
    /// Lines that a quote took which nothing closed.
    pub(super) open: Option<u64>,
}

/// Cuts bytes into rows and hands each but the header out as it ends.
#[derive(Debug)]
pub(super) struct Rows {
    csv: csv_core::Reader,
    wanted: [Option<usize>; WANTED],
    lines: Lines,
    /// Whether the row is the header, which is not handed out.
    header: bool,
    /// Whether a row has begun.
    inside: bool,
    /// Bytes of the field so far, at most [`LONGEST`].
    len: usize,
    row: Row,
}

impl Rows {
    pub(super) fn new(columns: &Columns, lines: Lines) -> Self {
        let mut builder = ReaderBuilder::new();
        builder.delimiter(columns.separator.byte());
        Self {
            csv: builder.build(),
            wanted: [Some(columns.formula), columns.name, columns.id],
            lines,
            header: !columns.is_plain(),
            inside: false,
            len: 0,
            row: Row::default(),
        }
    }

    /// Takes bytes, and gives the rows that end in them to `each`.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        each: &mut impl FnMut(&Row) -> Result<()>,
    ) -> Result<()> {
        let mut rest = bytes;
        loop {
            if !self.inside {
                rest = self.pass_ends(rest);
            }
            // No bytes at all are the end of the list to the reader of fields.
            if rest.is_empty() {
                return Ok(());
            }
            self.begin();
            rest = self.field(rest, each)?;
        }
    }

    /// Ends the last row.
    pub(super) fn finish(&mut self, each: &mut impl FnMut(&Row) -> Result<()>) -> Result<()> {
        if !self.inside {
            return Ok(());
        }
        let last = self.lines.number;
        self.field(b"\n", each)?;
        if self.inside {
            // Within quotes the end of a line is no end of the row.
            self.row.open = Some(last.saturating_sub(self.row.line));
        }
        while self.inside {
            self.field(&[], each)?;
        }
        Ok(())
    }

    /// Passes over the ends of lines before a row.
    fn pass_ends<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let end = |byte: &u8| !matches!(byte, b'\n' | b'\r');
        let len = bytes.iter().position(end).unwrap_or(bytes.len());
        self.lines.pass(&bytes[..len]);
        &bytes[len..]
    }

    fn begin(&mut self) {
        if self.inside {
            return;
        }
        self.inside = true;
        self.len = 0;
        let row = &mut self.row;
        row.line = self.lines.number;
        row.columns = 0;
        row.long = false;
        row.filled = false;
        row.open = None;
        row.fields.iter_mut().for_each(Vec::clear);
    }

    /// Takes a piece of a field, and gives what is left.
    fn field<'a>(
        &mut self,
        bytes: &'a [u8],
        each: &mut impl FnMut(&Row) -> Result<()>,
    ) -> Result<&'a [u8]> {
        let mut out = [0; 1024];
        let (outcome, taken, given) = self.csv.read_field(bytes, &mut out);
        let (passed, rest) = bytes.split_at(taken);
        self.lines.pass(passed);
        self.keep(&out[..given]);
        match outcome {
            ReadFieldResult::InputEmpty | ReadFieldResult::OutputFull => {}
            ReadFieldResult::Field { record_end } => {
                self.row.columns += 1;
                self.len = 0;
                if record_end {
                    self.inside = false;
                    if !std::mem::take(&mut self.header) {
                        each(&self.row)?;
                    }
                }
            }
            ReadFieldResult::End => self.inside = false,
        }
        Ok(rest)
    }

    fn keep(&mut self, bytes: &[u8]) {
        let row = &mut self.row;
        row.filled |= bytes.iter().any(|byte| !byte.is_ascii_whitespace());
        let kept = &bytes[..bytes.len().min(LONGEST - self.len)];
        self.len += kept.len();
        row.long |= kept.len() < bytes.len();
        for (field, wanted) in row.fields.iter_mut().zip(self.wanted) {
            if wanted == Some(row.columns) {
                field.extend_from_slice(kept);
            }
        }
    }
}
