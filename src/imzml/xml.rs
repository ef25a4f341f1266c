//! Tags out of bytes that may be cut anywhere.
//!
//! A tag that lies within the bytes at hand is handed out as it stands; one that is cut is kept
//! until its rest comes, and nothing is looked at twice. Text, comments, processing instructions and
//! CDATA sections are stepped over: imzML says everything in attributes.

use std::borrow::Cow;

use quick_xml::parser::{ElementParser, Parser};

use crate::error::{Error, Result};

/// Longest tag that is read.
pub(super) const TAG_LIMIT: usize = 1 << 20;

/// One tag, and how it opens and closes.
#[derive(Debug)]
pub(super) struct Tag<'a> {
    /// The element's name without its namespace's prefix.
    pub(super) name: &'a str,
    /// What follows the name, up to the closing bracket.
    pub(super) rest: &'a str,
    pub(super) form: Form,
    /// The byte of its opening bracket.
    pub(super) at: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `<a>`
    Open,
    /// `</a>`
    Close,
    /// `<a/>`
    Empty,
}

/// Where in the grammar the bytes were cut.
#[derive(Debug, Clone, Copy)]
enum State {
    Text,
    /// Behind an opening bracket.
    Opened,
    /// Behind `<!`, with what follows held.
    Declared,
    Element(ElementParser),
    /// In something that ends with marks and a closing bracket.
    Until(Ending),
}

/// The end of a comment (`-->`), a CDATA section (`]]>`) or an instruction (`?>`).
#[derive(Debug, Clone, Copy)]
struct Ending {
    mark: u8,
    need: u8,
    seen: u8,
}

impl Ending {
    const fn new(mark: u8, need: u8) -> Self {
        Self {
            mark,
            need,
            seen: 0,
        }
    }

    /// Bytes up to and with the end.
    fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        for (place, byte) in bytes.iter().enumerate() {
            if *byte == self.mark {
                self.seen = self.seen.saturating_add(1);
            } else if *byte == b'>' && self.seen >= self.need {
                return Some(place + 1);
            } else {
                self.seen = 0;
            }
        }
        None
    }
}

/// The tags of a file that comes in pieces.
#[derive(Debug)]
pub(super) struct Tags {
    file: String,
    state: State,
    /// The beginning of a tag that was cut, without its opening bracket.
    held: Vec<u8>,
    /// The byte of the last opening bracket.
    opened_at: u64,
    /// Bytes seen.
    at: u64,
}

impl Tags {
    pub(super) fn new(file: &str) -> Self {
        Self {
            file: file.to_owned(),
            state: State::Text,
            held: Vec::new(),
            opened_at: 0,
            at: 0,
        }
    }

    /// Bytes seen so far.
    pub(super) fn at(&self) -> u64 {
        self.at
    }

    /// Bytes held of a tag that was cut.
    pub(super) fn held(&self) -> usize {
        self.held.len()
    }

    /// Whether the bytes so far end within a tag, a comment or the like, and which.
    pub(super) fn unfinished(&self) -> Option<(&'static str, u64)> {
        let what = match self.state {
            State::Text => return None,
            State::Opened | State::Declared | State::Element(_) => "a tag",
            State::Until(Ending { mark: b'-', .. }) => "a comment",
            State::Until(Ending { mark: b'?', .. }) => "an instruction",
            State::Until(_) => "a CDATA section",
        };
        Some((what, self.opened_at))
    }

    /// Hands every tag that ends within `bytes` to `on`, until it says that it has enough.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        mut on: impl FnMut(Tag<'_>) -> Result<bool>,
    ) -> Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = match self.state {
                State::Text => match rest.iter().position(|b| *b == b'<') {
                    None => rest.len(),
                    Some(place) => {
                        self.opened_at = self.at + place as u64;
                        self.state = State::Opened;
                        place + 1
                    }
                },
                State::Opened => self.opened(rest[0]),
                State::Declared => self.declared(rest[0])?,
                State::Element(mut parser) => match parser.feed(rest) {
                    None => {
                        self.state = State::Element(parser);
                        self.hold(rest)?;
                        rest.len()
                    }
                    Some(end) => {
                        self.state = State::Text;
                        let enough = self.element(&rest[..end], &mut on)?;
                        self.held.clear();
                        if enough {
                            self.at += end as u64 + 1;
                            return Ok(());
                        }
                        end + 1
                    }
                },
                State::Until(mut ending) => {
                    let end = ending.feed(rest);
                    self.state = end.map_or(State::Until(ending), |_| State::Text);
                    end.unwrap_or(rest.len())
                }
            };
            self.at += taken as u64;
            rest = &rest[taken..];
        }
        Ok(())
    }

    fn opened(&mut self, first: u8) -> usize {
        let (state, taken) = match first {
            b'?' => (State::Until(Ending::new(b'?', 1)), 1),
            b'!' => (State::Declared, 1),
            _ => (State::Element(ElementParser::default()), 0),
        };
        self.state = state;
        taken
    }

    /// Takes one byte behind `<!`.
    fn declared(&mut self, byte: u8) -> Result<usize> {
        self.hold(&[byte])?;
        let until = |mark| State::Until(Ending::new(mark, 2));
        self.state = match self.held.as_slice() {
            b"--" => until(b'-'),
            b"[CDATA[" => until(b']'),
            part if b"--".starts_with(part) || b"[CDATA[".starts_with(part) => return Ok(1),
            _ => {
                let what = "a declaration such as <!DOCTYPE>, which imzML files do not have: it is \
                            not read; if this is a web page, ask the server for the file itself";
                return Err(self.format(what.to_owned()));
            }
        };
        self.held.clear();
        Ok(1)
    }

    fn hold(&mut self, bytes: &[u8]) -> Result<()> {
        if self.held.len() + bytes.len() > TAG_LIMIT {
            let what = format!(
                "a tag of more than {TAG_LIMIT} bytes: a quote or a closing bracket is missing; the \
                 file is damaged"
            );
            return Err(self.format(what));
        }
        if self.held.try_reserve(bytes.len()).is_err() {
            return Err(Error::Budget {
                need: (self.held.len() + bytes.len()) as u64,
                have: self.held.capacity() as u64,
                what: "a tag of the XML".to_owned(),
            });
        }
        self.held.extend_from_slice(bytes);
        Ok(())
    }

    /// Hands out the element that ends with `last`.
    fn element(
        &mut self,
        last: &[u8],
        on: &mut impl FnMut(Tag<'_>) -> Result<bool>,
    ) -> Result<bool> {
        if self.held.len() + last.len() > TAG_LIMIT || !self.held.is_empty() {
            self.hold(last)?;
        }
        let whole = if self.held.is_empty() {
            last
        } else {
            &self.held
        };
        if whole.contains(&b'<') {
            let what = "a tag with an opening bracket in it: the tag's own end or a quote is \
                        missing; the file is damaged";
            return Err(self.format(what.to_owned()));
        }
        let text = text(whole);
        let (text, form) = if let Some(text) = text.strip_prefix('/') {
            (text, Form::Close)
        } else if let Some(text) = text.strip_suffix('/') {
            (text, Form::Empty)
        } else {
            (&*text, Form::Open)
        };
        let space = |c: char| c.is_ascii_whitespace();
        let (name, rest) = text.split_at(text.find(space).unwrap_or(text.len()));
        let name = name.rsplit(':').next().unwrap_or(name);
        if name.is_empty() {
            return Err(self.format("a tag without a name; the file is damaged".to_owned()));
        }
        on(Tag {
            name,
            rest,
            form,
            at: self.opened_at,
        })
    }

    fn format(&self, what: String) -> Error {
        Error::Format {
            file: self.file.clone(),
            at: self.opened_at,
            what,
        }
    }
}

/// Bytes as text: UTF-8, or else Latin-1, whatever the declaration says: the terms are ASCII, and a
/// wrong letter in a name harms nobody.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().copied().map(char::from).collect()),
    }
}
