//! The walk from header to header: which bytes of a file are needed to find an image in it.
//!
//! Sans I/O: [`Walk`] asks for a range, is fed, and goes on. Only headers are read, pixels are
//! stepped over by arithmetic (FITS 4.0 §3, §4.4.1).

use std::ops::Range;

use crate::error::{Error, Result};
use crate::fits::card::CARD;
use crate::fits::choice::Choice;
use crate::fits::hdu::{Hdu, Selection};
use crate::fits::header::{BLOCK, Header, is_end};
use crate::fits::held::Held;
use crate::fits::image::Image;
use crate::fits::signature::{Foreign, excerpt, foreign};
use crate::job::{Machine, Step};

/// Bytes of the first read: a space telescope's primary header (20 to 30 KB) and the header of its
/// first extension lie within.
pub const FIRST_READ: u64 = 64 << 10;

/// Least bytes of a later read: a usual header of an extension. A longer header is asked for in
/// pieces as long as what is there already.
pub const NEXT_READ: u64 = 16 << 10;

/// Longest header that is read: 26,214 cards. What is longer is taken for a header without END.
pub const HEADER_LIMIT: u64 = 2 << 20;

/// Most HDUs that are looked at.
pub const HDU_LIMIT: u32 = 10_000;

/// Finds one image in a file, header by header.
///
/// Hands out every HDU it passes. It stops as soon as the choice is certain: by index or name at
/// that HDU, by default at the first `SCI` image; without one it goes to the end of the file and
/// chooses the first HDU with pixels.
///
/// # Cost
/// One read of [`FIRST_READ`] bytes; then at most one of [`NEXT_READ`] bytes for each HDU that lies
/// beyond what was read, and further ones only for headers longer than that. Nothing is asked for
/// beyond a known end. Where the size is hidden, a read begins with the last byte of the data
/// before the header, so that a file cut short is noticed. Memory: one header and its cards.
#[derive(Debug)]
pub struct Walk {
    file: String,
    /// Whether the walk goes to the end though the choice is made.
    all: bool,
    held: Held,
    /// First byte of the header that comes next, and its index.
    header_at: u64,
    index: u32,
    /// Bytes of that header that hold no END.
    scanned: usize,
    /// The range asked for.
    asked: Option<Range<u64>>,
    /// End of the data of the HDU before, without the filling.
    data_end: u64,
    /// Whether there are no more HDUs.
    ended: bool,
    choice: Choice,
    notes: Vec<String>,
}

impl Walk {
    /// A walk to one plane of one HDU. `plane` counts from 0.
    #[must_use]
    pub fn new(file: &str, selection: Selection, plane: u64) -> Self {
        Self {
            file: file.to_owned(),
            all: false,
            held: Held::default(),
            header_at: 0,
            index: 0,
            scanned: 0,
            asked: None,
            data_end: 0,
            ended: false,
            choice: Choice::new(selection, plane),
            notes: Vec::new(),
        }
    }

    /// A walk over every HDU; the image is the one that the default chooses.
    #[must_use]
    pub fn all(file: &str) -> Self {
        Self {
            all: true,
            ..Self::new(file, Selection::Default, 0)
        }
    }

    /// The same walk, which also looks for the image's mask and goes on until it has found both.
    ///
    /// A name without a version means the HDU of the image's own EXTVER: with `SCI,2` goes `DQ,2`. A mask
    /// of one plane is that of every plane of a cube. It is the image's
    /// [`mask`](crate::fits::Image::mask).
    #[must_use]
    pub fn with_mask(mut self, selection: Selection) -> Self {
        self.choice.seek_mask(selection);
        self
    }

    /// The file's size in bytes, as far as it is known by now.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        self.held.total()
    }

    /// What a user should know about the file as a whole, a sentence each.
    #[must_use]
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The image chosen, once the walk is done.
    ///
    /// # Errors
    /// [`Error::Format`] if the HDU asked for is not there (the message lists those that are), if
    /// the file has no pixels at all or ends before the plane does; [`Error::Unsupported`] if the
    /// HDU is no image, has no pixels, or has them in a form that is not read;
    /// [`Error::Parameter`] if it has no such plane. Likewise for the mask, where one was asked for.
    pub fn into_image(self) -> Result<Image> {
        if !self.is_done() {
            let what = "the walk is not finished, so that no image is chosen".to_owned();
            return Err(self.format(self.header_at, what));
        }
        let mut image = self
            .choice
            .into_image(&self.file, self.header_at, &self.held)?;
        image.notes.extend(self.notes);
        Ok(image)
    }

    fn format(&self, at: u64, what: String) -> Error {
        Error::Format {
            file: self.file.clone(),
            at,
            what,
        }
    }

    /// The bytes of the next header that are held, from its start.
    fn header(&self) -> &[u8] {
        self.held.from(self.header_at)
    }

    /// The range that is missing, or `None` if the file has no more bytes.
    fn missing(&self) -> Option<Range<u64>> {
        let have = self.header().len() as u64;
        let hidden = self.held.total().is_none() && self.data_end > self.held.end();
        let start = if !self.held.is_empty() {
            self.held.end()
        } else if hidden {
            // Where the size is hidden, the data's last byte shows whether they are all there.
            self.data_end - 1
        } else {
            self.header_at
        };
        let least = if self.index == 0 {
            FIRST_READ
        } else {
            NEXT_READ
        };
        // What has no END yet is doubled, so that a long header takes few reads.
        let rest = have.max(least.saturating_sub(have));
        let limit = self.header_at.saturating_add(HEADER_LIMIT);
        let from = start.max(self.header_at);
        let end = from.saturating_add(rest).min(limit);
        let end = self.held.total().map_or(end, |total| end.min(total));
        (start < end).then_some(start..end)
    }

    /// Looks at what is held: the next HDU, or `None` if there is not enough or nothing more.
    fn look(&mut self) -> Result<Option<Hdu>> {
        if let Some(total) = self.held.total()
            && self.index > 0
        {
            let rest = total.saturating_sub(self.header_at);
            if rest < BLOCK {
                if rest > 0 {
                    self.trailing("too few for a header");
                }
                self.ended = true;
                return Ok(None);
            }
        }
        let cut = self.missing().is_none();
        let have = self.header().len();
        if have < self.telling() && !cut {
            return Ok(None);
        }
        if self.scanned == 0 && !self.begins()? {
            self.ended = true;
            return Ok(None);
        }
        if let Some(end) = self.scan()? {
            return self.pass(end).map(Some);
        }
        if !cut {
            return Ok(None);
        }
        let at = self.held.end();
        let limit = format!("{HEADER_LIMIT} bytes were searched, which is the limit");
        Err(if have as u64 >= HEADER_LIMIT {
            self.no_end(at, &limit)
        } else {
            self.no_end(at, &format!("the file ends at byte {at}"))
        })
    }

    /// Looks for END in what is held and not yet looked at; the header's length without filling.
    fn scan(&mut self) -> Result<Option<usize>> {
        let header = self.header();
        let mut scanned = self.scanned;
        let mut end = None;
        for card in header[scanned..].as_chunks::<CARD>().0 {
            scanned += CARD;
            if is_end(card) {
                end = Some(scanned);
                break;
            }
            if card[..8].iter().any(|b| !(b' '..=b'~').contains(b)) {
                let at = self.header_at + (scanned - CARD) as u64;
                let excerpt = excerpt(&card[..8]);
                return Err(self.no_end(at, &format!("there is a card {excerpt:?} in its place")));
            }
        }
        self.scanned = scanned;
        Ok(end)
    }

    fn no_end(&self, at: u64, why: &str) -> Error {
        let what = format!(
            "the header of HDU {}, which begins at byte {}, has no END card: {why}; the file is \
             damaged or cut short{}",
            self.index,
            self.header_at,
            self.choice.advice()
        );
        self.format(at, what)
    }

    fn is_done(&self) -> bool {
        self.ended || (self.choice.is_certain() && !self.all)
    }

    /// Bytes that tell what begins here: a card, and at the start of the file enough to find the
    /// first word of a web page.
    fn telling(&self) -> usize {
        if self.index == 0 { 512 } else { CARD }
    }

    /// Whether the bytes at the next header begin one. Looks at a fixed number of them, so that the
    /// answer does not depend on how they arrive.
    fn begins(&mut self) -> Result<bool> {
        let head = self.header();
        let head = &head[..head.len().min(self.telling())];
        if self.index > 0 {
            if head.starts_with(b"XTENSION=") {
                return Ok(true);
            }
            let shown = if head.iter().take(CARD).all(|b| *b == 0) {
                "zeros".to_owned()
            } else {
                format!("\"{}\"", excerpt(&head[..head.len().min(24)]))
            };
            self.trailing(&shown);
            return Ok(false);
        }
        if head.is_empty() {
            return Err(self.format(0, "the file is empty, so it is no FITS file".to_owned()));
        }
        match foreign(head) {
            None => Ok(true),
            Some(Foreign::Packed(name)) => Err(Error::Unsupported {
                file: self.file.clone(),
                what: format!(
                    "the file is packed with {name}, not plain FITS: parts of it cannot be read by \
                     themselves; unpack it first"
                ),
            }),
            Some(Foreign::Other(looks)) => {
                let what = format!(
                    "no FITS file: {looks}; it begins with \"{}\"",
                    excerpt(head)
                );
                Err(self.format(0, what))
            }
        }
    }

    fn trailing(&mut self, shown: &str) {
        let length = self
            .held
            .total()
            .map(|total| total.saturating_sub(self.header_at));
        let length = length.map_or("bytes".to_owned(), |length| format!("{length} bytes"));
        self.notes.push(format!(
            "{length} after the last HDU, from byte {}, are no HDU ({shown}) and are ignored",
            self.header_at
        ));
    }

    /// Makes an HDU of a header that is whole, and moves on behind its data.
    fn pass(&mut self, end: usize) -> Result<Hdu> {
        if self.index == HDU_LIMIT {
            let what = format!(
                "more than {HDU_LIMIT} HDUs, which is the limit{}",
                self.choice.advice()
            );
            return Err(self.format(self.header_at, what));
        }
        let raw = &self.header()[..end];
        let len = (end as u64).next_multiple_of(BLOCK);
        let header = Header::parse(raw);
        let hdu = Hdu::new(&self.file, self.index, self.header_at, len, header);
        let hdu = hdu.map_err(|error| self.choice.advise(error))?;
        if self.index == 0 && hdu.header.logical("SIMPLE") != Some(true) {
            let note = "SIMPLE is not T: the file says that it departs from the standard";
            self.notes.push(note.to_owned());
        }
        let raw = self.held.from(self.header_at).get(..end);
        self.choice
            .consider(&self.file, &hdu, raw.unwrap_or_default());
        self.data_end = hdu.data_at + hdu.data_len;
        self.move_to(hdu.next_at);
        Ok(hdu)
    }

    /// Drops what is held before the next header.
    fn move_to(&mut self, header_at: u64) {
        self.index += 1;
        self.scanned = 0;
        self.header_at = header_at;
        self.held.drop_before(header_at);
    }
}

impl Machine for Walk {
    type Item = Hdu;

    fn step(&mut self) -> Result<Step<Hdu>> {
        if !self.is_done()
            && let Some(hdu) = self.look()?
        {
            return Ok(Step::Ready(hdu));
        }
        if self.is_done() {
            self.held.clear();
            return Ok(Step::Done);
        }
        // `look` has seen to it that a file without more bytes is done or in error.
        let range = self.missing().unwrap_or(self.header_at..self.header_at);
        self.asked = Some(range.clone());
        Ok(Step::Need(range))
    }

    /// Takes bytes. Where the size is known, fewer than asked for are taken as a first part, and
    /// the next [`Step::Need`] names the rest; where it is not, they end the file.
    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let Some(asked) = self.asked.take_if(|asked| asked.start == at) else {
            return Err(Error::Unexpected {
                file: self.file.clone(),
                at,
                asked: 0,
                got: bytes.len() as u64,
            });
        };
        self.held.take(&self.file, &asked, bytes, total)
    }
}
