//! A list's first line: where it ends, and what it says of the rest.

use crate::error::{Error, Result};
use crate::ion::database::columns::Columns;
use crate::ion::database::foreign;
use crate::ion::database::lines::Lines;

/// The most bytes that the first line may have.
const LONGEST: usize = 64 << 10;

/// Collects the first line, over blank ones and comments, however its bytes come.
#[derive(Debug)]
pub(super) struct Head {
    file: String,
    /// The line so far, its end included.
    line: Vec<u8>,
    /// Byte of the list at which it begins.
    at: u64,
    lines: Lines,
    quoted: bool,
    /// Whether the byte order mark was looked for.
    begun: bool,
}

/// The first line, whole.
#[derive(Debug)]
pub(super) struct First {
    /// Its bytes, the end included.
    pub(super) line: Vec<u8>,
    /// The line it is on, no byte of it passed.
    pub(super) lines: Lines,
    pub(super) columns: Columns,
}

impl Head {
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            line: Vec::new(),
            at: 0,
            lines: Lines::new(),
            quoted: false,
            begun: false,
        }
    }

    /// Takes bytes until the line is whole; gives how many it took.
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(usize, Option<First>)> {
        for (taken, byte) in bytes.iter().enumerate() {
            self.line.push(*byte);
            if *byte == b'"' {
                self.quoted = !self.quoted && self.opens();
            }
            if matches!(byte, b'\n' | b'\r') && !self.quoted {
                if let Some(first) = self.end()? {
                    return Ok((taken + 1, Some(first)));
                }
            } else if self.line.len() == LONGEST {
                foreign::check(&self.file, &self.line)?;
                return Err(self.refuse(format!(
                    "the first line does not end within {LONGEST} bytes: it has to name the columns"
                )));
            }
        }
        Ok((bytes.len(), None))
    }

    /// Whether the quote that came last is the first of a field, or the second that stands for one.
    fn opens(&self) -> bool {
        let before = self.line.iter().rev().nth(1);
        // The last is the end of a byte order mark.
        let opens = |byte: &u8| matches!(byte, b'\t' | b';' | b',' | b'"' | 0xbf);
        before.is_none_or(opens) && self.line[0] != b'#'
    }

    /// The line with which the list ends; none if there is nothing.
    pub(super) fn finish(&mut self) -> Result<Option<First>> {
        self.end()
    }

    /// Looks at a line that has ended, and forgets it where it says nothing.
    fn end(&mut self) -> Result<Option<First>> {
        if !self.begun {
            foreign::check(&self.file, &self.line)?;
            self.begun = true;
            if self.line.starts_with(b"\xef\xbb\xbf") {
                self.line.drain(..3);
                self.at = 3;
            }
        }
        let columns = self.columns()?;
        let line = std::mem::take(&mut self.line);
        self.quoted = false;
        let lines = self.lines;
        self.at += line.len() as u64;
        self.lines.pass(&line);
        Ok(columns.map(|columns| First {
            line,
            lines,
            columns,
        }))
    }

    /// The columns that the line says there are; none if it is blank or a comment.
    fn columns(&self) -> Result<Option<Columns>> {
        let blank = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b';');
        if self.line.iter().all(blank) {
            return Ok(None);
        }
        if self.line[0] == b'#' {
            return Ok(Columns::usual(&self.line));
        }
        let columns = Columns::read(&self.line);
        columns.map(Some).map_err(|what| self.refuse(what))
    }

    fn refuse(&self, what: String) -> Error {
        Error::Format {
            file: self.file.clone(),
            at: self.at,
            what,
        }
    }
}
