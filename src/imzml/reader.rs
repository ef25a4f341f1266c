//! The reader of an `.imzML`: from the XML's bytes, in order and cut anywhere, to a dataset.

use crate::error::{Error, Result};
use crate::imzml::dataset::Dataset;
use crate::imzml::document::Document;
use crate::imzml::finish;
use crate::imzml::foreign;
pub use crate::imzml::index::PIXEL_LIMIT;
use crate::imzml::sequence::Sequence;
pub use crate::imzml::sequence::{CHUNK, LONGEST};
use crate::imzml::xml::Tags;
use crate::job::{Machine, Step};

/// Bytes that tell what a file is.
const TELLING: usize = 256;

/// A read may grow by so much of the memory that is left.
const SPARE: u64 = 16;

/// Reads the XML of an imzML dataset.
///
/// Feed it as a [`Machine`], which asks for one range after another, or with [`Reader::push`]; then
/// [`Reader::finish`]. The ranges are [`CHUNK`] bytes long at first, and grow to [`LONGEST`] where there is
/// plenty of memory, of which what is beyond [`CHUNK`] is then reserved.
///
/// # Cost
/// One pass. Memory: 48 bytes for each spectrum (while the index grows the old and the
/// new one, unless the file says in advance how many there are; at the end 4 bytes more), the groups
/// of terms, and the part of a tag that was cut; independent of the size of the XML.
#[derive(Debug)]
pub struct Reader {
    sequence: Sequence,
    /// Bytes that reads beyond [`CHUNK`] take of the index's budget.
    lent: u64,
    /// First bytes of the file, until there are enough of them to say what it is.
    head: Vec<u8>,
    begun: bool,
    failed: Option<Error>,
    tags: Tags,
    document: Document,
}

impl Reader {
    /// A reader of the file `file` (its path or URL, for messages) whose index may take `memory`
    /// bytes.
    #[must_use]
    pub fn new(file: &str, memory: u64) -> Self {
        Self {
            sequence: Sequence::default(),
            lent: 0,
            head: Vec::new(),
            begun: false,
            failed: None,
            tags: Tags::new(file),
            document: Document::new(file, memory),
        }
    }

    /// Takes the next bytes of the file, any number of them.
    ///
    /// What comes after the dataset's last element is not looked at.
    ///
    /// # Errors
    /// [`Error::Format`] with the byte at which the XML or a value in it is wrong,
    /// [`Error::Unsupported`] for packed or typed arrays that are not read here, [`Error::Budget`] if
    /// the index does not fit. After an error the reader gives the same again.
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

    fn take(&mut self, bytes: &[u8]) -> Result<()> {
        if self.begun {
            return self.read(bytes);
        }
        let (first, rest) = bytes.split_at(bytes.len().min(TELLING - self.head.len()));
        self.head.extend_from_slice(first);
        if self.head.len() < TELLING {
            return Ok(());
        }
        self.begin()?;
        self.read(rest)
    }

    /// Looks at the first bytes, then reads them.
    fn begin(&mut self) -> Result<()> {
        self.begun = true;
        let head = std::mem::take(&mut self.head);
        foreign::check(&self.document.file, &head)?;
        self.read(&head)
    }

    fn read(&mut self, bytes: &[u8]) -> Result<()> {
        let document = &mut self.document;
        if document.ended {
            return Ok(());
        }
        self.tags.push(bytes, |tag| {
            document.tag(&tag)?;
            Ok(document.ended)
        })
    }

    /// Whether the dataset's last element has come.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.document.ended
    }

    /// Spectra read so far.
    #[must_use]
    pub fn spectra(&self) -> u64 {
        self.document.spectra.index.spectra.len() as u64
    }

    /// Spectra that the file announces, once it has; not to be relied on.
    #[must_use]
    pub fn announced(&self) -> Option<u64> {
        self.document.announced
    }

    /// Bytes held now: the index's and those of a tag that was cut.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.document.spectra.index.budget.held() + self.pending() as u64
    }

    /// Bytes kept of a tag that was cut.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.tags.held() + self.head.len()
    }

    /// Most bytes that the index and the groups held at one time.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.document.spectra.index.budget.peak()
    }

    /// The dataset.
    ///
    /// # Errors
    /// Those of [`Reader::push`]; [`Error::Format`] if the XML ends before its last element, if there
    /// is no spectrum in it, or if the positions span more than [`PIXEL_LIMIT`] pixels.
    pub fn finish(mut self) -> Result<Dataset> {
        if let Some(error) = self.failed {
            return Err(error);
        }
        if !self.begun {
            self.begin()?;
        }
        // The driver has let go of its buffer.
        self.document.spectra.index.budget.release(self.lent);
        let at = self.tags.at();
        if !self.document.ended {
            return Err(self.cut_short(at));
        }
        finish::dataset(self.document.into_read(), at)
    }

    /// Makes reads longer where the index leaves plenty of room for what a driver then holds.
    fn lengthen(&mut self) {
        let budget = &mut self.document.spectra.index.budget;
        let spare = budget.limit() - budget.held();
        if let Some(more) = self.sequence.growth()
            && more <= spare / SPARE
            && budget.reserve(more, "a piece of the XML").is_ok()
        {
            self.sequence.grow(more);
            self.lent += more;
        }
    }

    fn cut_short(&self, at: u64) -> Error {
        let document = &self.document;
        let inside = match self.tags.unfinished() {
            Some((what, from)) => format!(" inside {what} that begins at byte {from}"),
            None => String::new(),
        };
        let spectra = document.spectra.index.spectra.len();
        let of = document.announced;
        let of = of.map_or(String::new(), |announced| format!(" of {announced}"));
        document.format(
            at,
            format!(
                "the XML ends{inside} after {spectra}{of} spectra, before </mzML>: the file is cut \
                 short; copy it again"
            ),
        )
    }
}

impl Machine for Reader {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if self.document.ended {
            return Ok(Step::Done);
        }
        self.lengthen();
        Ok(self.sequence.next().map_or(Step::Done, Step::Need))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        self.sequence.feed(&self.document.file, at, bytes, total)?;
        self.document.total = self.sequence.total();
        self.push(bytes)
    }
}
