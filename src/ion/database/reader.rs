//! The reader of a molecule list.

use crate::error::{Error, Result};
use crate::ion::database::Molecules;
use crate::ion::database::columns::Columns;
use crate::ion::database::draft::Draft;
use crate::ion::database::head::{First, Head};
use crate::ion::database::rows::Rows;

/// Reads a molecule list: rows of text with a column of formulas, or one formula a line.
///
/// Columns are parted by tabs, semicolons or commas, whichever makes a column of formulas of the first line
/// (RFC 4180: fields may be quoted, then have line ends in them and quotes doubled). That line names the
/// columns; case and whatever is no letter or digit do not matter:
///
/// * formulas: `formula`, `sf`, `molecular formula`, `mol_formula`, `sum formula` and the like, or else the
///   first name with `formula` in it that is not about ions;
/// * names: `name`, `mol_name`, `common name`, `compound` and the like;
/// * identifiers: `id`, `mol_id`, `database id`, `HMDB ID`, `InChIKey` and the like.
///
/// A list whose first line is one field and none of these is read as one formula a line. Before the first
/// line a byte order mark, blank lines and lines that begin with `#` are passed over. Text that is not UTF-8
/// is read as Latin-1, UTF-16 is refused.
///
/// Blank rows are passed over. Other rows without a formula that can be read are left out, counted, and the
/// first [`Molecules::MOST_SHOWN`] of them noted with their line; see
/// [`Composition::parse`](crate::ion::formula::Composition::parse) for what can be read.
///
/// # Cost
/// One pass, pieces of any size with the same outcome. Memory: 300 to 400 bytes for each row at the most, of which
/// a third is left in the end, within the budget; beside it while they are read up to 64 KiB of a first line and its columns, and 48 KiB
/// of a row.
#[derive(Debug)]
pub struct Reader {
    file: String,
    stage: Stage,
    draft: Draft,
    failed: Option<Error>,
}

/// How far the list is read.
#[derive(Debug)]
enum Stage {
    Head(Box<Head>),
    Rows(Columns, Box<Rows>),
}

impl Reader {
    /// A reader of the list `file` (its path or URL, for messages) whose result may take `memory` bytes.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            stage: Stage::Head(Box::new(Head::new(file))),
            draft: Draft::new(memory),
            failed: None,
        }
    }

    /// Takes the next bytes of the list, any number of them.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for what is no text (UTF-16, workbooks, archives), [`Error::Format`] if the
    /// first line names columns but none of formulas, [`Error::Budget`] if the molecules do not fit. After
    /// an error the reader gives the same again.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let outcome = self.take(bytes);
        if let Err(error) = &outcome {
            self.failed = Some(error.clone());
        }
        outcome
    }

    /// Most bytes that the molecules held at one time.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.draft.budget.peak()
    }

    /// Bytes that the molecules hold now.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.draft.budget.held()
    }

    /// The molecules, sorted.
    ///
    /// # Errors
    /// Those of [`Reader::push`]; [`Error::Format`] if the list is empty or no row has a formula that can be
    /// read, with the first row's fault.
    pub fn finish(mut self) -> Result<Molecules> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if let Stage::Head(head) = &mut self.stage {
            let Some(first) = head.finish()? else {
                return Err(Error::Format {
                    file: self.file,
                    at: 0,
                    what: "the molecule list is empty".to_owned(),
                });
            };
            self.begin(first)?;
        }
        let Stage::Rows(columns, mut rows) = self.stage else {
            return self.draft.finish(&self.file, Columns::plain());
        };
        let draft = &mut self.draft;
        rows.finish(&mut |row| draft.row(row, &columns))?;
        self.draft.finish(&self.file, columns)
    }

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        let mut rest = bytes;
        if let Stage::Head(head) = &mut self.stage {
            let (taken, first) = head.push(bytes)?;
            let Some(first) = first else {
                return Ok(());
            };
            rest = &bytes[taken..];
            self.begin(first)?;
        }
        self.rows(rest)
    }

    /// Goes on to the rows, of which the first line is one.
    fn begin(&mut self, first: First) -> Result<()> {
        self.draft.header(&first.columns)?;
        let rows = Box::new(Rows::new(&first.columns, first.lines));
        self.stage = Stage::Rows(first.columns, rows);
        self.rows(&first.line)
    }

    fn rows(&mut self, bytes: &[u8]) -> Result<()> {
        let Stage::Rows(columns, rows) = &mut self.stage else {
            return Ok(());
        };
        let draft = &mut self.draft;
        rows.push(bytes, &mut |row| draft.row(row, columns))
    }
}
