//! The elements of an imzML document, and what the terms in them are about.
//!
//! imzML 1.1 is mzML 1.1 whose arrays stand in a second file; what is needed of it lies in `cvParam`
//! elements, whose meaning depends on the element around them and on groups that are referred to.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::imzml::described::{FileTerms, Group, SettingsTerms, SpectrumTerms, model};
use crate::imzml::foreign;
use crate::imzml::spectra::Spectra;
use crate::imzml::term::{Term, attribute};
use crate::imzml::value;
use crate::imzml::xml::{Form, Tag};

/// Deepest nesting of elements; mzML has 10 levels.
const DEPTH_LIMIT: usize = 64;

/// Most references to groups outside of spectra.
const PENDING_LIMIT: usize = 1000;

/// What is left of the XML once it is read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) file: String,
    pub(super) spectra: Spectra,
    pub(super) settings: SettingsTerms,
    pub(super) terms: FileTerms,
    pub(super) model: Option<String>,
    pub(super) announced: Option<u64>,
    /// References to groups that are not there, and the first of them.
    pub(super) dangling: u64,
    pub(super) dangling_first: String,
}

/// What the terms inside an element are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Nothing,
    File,
    Group,
    Settings,
    Instrument,
    Spectrum,
    Array,
}

/// An element that is open.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// Hash of its name.
    name: u32,
    about: About,
}

/// The elements that are open, and what they said.
#[derive(Debug)]
pub(super) struct Document {
    pub(super) file: String,
    pub(super) total: Option<u64>,
    levels: Vec<Level>,
    pub(super) ended: bool,
    groups: BTreeMap<String, Group>,
    group: Option<(String, Group)>,
    /// References from the file's terms, the settings and the instruments: their groups may come
    /// later.
    pending: Vec<(About, String)>,
    terms: FileTerms,
    settings: SettingsTerms,
    model: Option<String>,
    pub(super) spectra: Spectra,
    pub(super) announced: Option<u64>,
    dangling: u64,
    dangling_first: String,
}

impl Document {
    pub(super) fn new(file: &str, memory: u64) -> Self {
        Self {
            file: file.to_owned(),
            total: None,
            levels: Vec::new(),
            ended: false,
            groups: BTreeMap::new(),
            group: None,
            pending: Vec::new(),
            terms: FileTerms::default(),
            settings: SettingsTerms::default(),
            model: None,
            spectra: Spectra::new(file, memory),
            announced: None,
            dangling: 0,
            dangling_first: String::new(),
        }
    }

    pub(super) fn format(&self, at: u64, what: String) -> Error {
        Error::Format {
            file: self.file.clone(),
            at,
            what,
        }
    }

    /// What the element around is about.
    fn about(&self) -> About {
        self.levels
            .last()
            .map_or(About::Nothing, |level| level.about)
    }

    pub(super) fn tag(&mut self, tag: &Tag<'_>) -> Result<()> {
        match tag.form {
            Form::Open => {
                let about = self.open(tag)?;
                if self.levels.len() == DEPTH_LIMIT {
                    let what = format!("elements nested more than {DEPTH_LIMIT} deep; no imzML");
                    return Err(self.format(tag.at, what));
                }
                let name = hash(tag.name);
                self.levels.push(Level { name, about });
                Ok(())
            }
            Form::Empty => {
                let around = self.about();
                let about = self.open(tag)?;
                self.leave(about, around, tag.at)?;
                self.ended = self.levels.is_empty();
                Ok(())
            }
            Form::Close => {
                let level = self.levels.pop();
                let Some(level) = level.filter(|level| level.name == hash(tag.name)) else {
                    let what = format!(
                        "</{}> closes an element that is not open; the file is damaged",
                        excerpt(tag.name)
                    );
                    return Err(self.format(tag.at, what));
                };
                self.leave(level.about, self.about(), tag.at)?;
                self.ended = self.levels.is_empty() || tag.name == "mzML";
                Ok(())
            }
        }
    }

    /// Goes into an element; what the terms inside are about.
    fn open(&mut self, tag: &Tag<'_>) -> Result<About> {
        let around = self.about();
        match (tag.name, around) {
            _ if self.levels.is_empty() => {
                if !matches!(tag.name, "mzML" | "indexedmzML") {
                    return Err(self.format(tag.at, foreign::root(tag.name)));
                }
            }
            ("cvParam", About::Nothing) => {}
            ("cvParam", _) => self.term(tag, around)?,
            ("referenceableParamGroupRef", _) => self.reference(tag, around)?,
            ("binaryDataArray", About::Spectrum) => {
                self.spectra.begin_array();
                return Ok(About::Array);
            }
            (_, About::Spectrum | About::Array | About::Group | About::Settings) => {}
            ("spectrum", About::Nothing) => {
                self.begin_spectrum(tag)?;
                return Ok(About::Spectrum);
            }
            ("spectrumList", About::Nothing) => self.announce(tag)?,
            ("fileContent", _) => return Ok(About::File),
            ("scanSettings", About::Nothing) => return Ok(About::Settings),
            ("instrumentConfiguration", About::Nothing) => return Ok(About::Instrument),
            ("referenceableParamGroup", About::Nothing) => {
                let id = self.attribute(tag, "id")?.unwrap_or_default();
                self.group = Some((id, Group::default()));
                return Ok(About::Group);
            }
            // The parts of an instrument are not its model.
            _ => return Ok(About::Nothing),
        }
        Ok(around)
    }

    /// Goes out of an element to the one around.
    fn leave(&mut self, about: About, around: About, at: u64) -> Result<()> {
        if about == around {
            return Ok(());
        }
        match about {
            About::Array => self.spectra.end_array(at),
            About::Spectrum => self.spectra.end(),
            About::Group => self.end_group(),
            _ => Ok(()),
        }
    }

    fn attribute(&self, tag: &Tag<'_>, name: &str) -> Result<Option<String>> {
        let found = attribute(tag.rest, name);
        let found = found.map_err(|what| self.attributes(tag, &what))?;
        Ok(found.map(Cow::into_owned))
    }

    fn attributes(&self, tag: &Tag<'_>, what: &str) -> Error {
        let name = excerpt(tag.name);
        self.format(tag.at, format!("the attributes of <{name}>: {what}"))
    }

    fn announce(&mut self, tag: &Tag<'_>) -> Result<()> {
        /// Fewest bytes of XML that a spectrum takes.
        const LEAST: u64 = 400;
        let count = self.attribute(tag, "count")?;
        self.announced = count.and_then(|count| value::count(count.trim()).ok());
        if let Some(count) = self.announced
            && let Some(total) = self.total
        {
            self.spectra.index.announce(count.min(total / LEAST));
        }
        Ok(())
    }

    fn term(&mut self, tag: &Tag<'_>, around: About) -> Result<()> {
        let wanted = |code| around != About::Spectrum || SpectrumTerms::wants(code);
        let term = Term::read(tag.rest, tag.at, wanted);
        let term = term.map_err(|what| self.attributes(tag, &what))?;
        let Some(term) = term else {
            return Ok(());
        };
        let taken = match around {
            About::Array => self.spectra.array_inline.take(&term),
            About::Spectrum => self.spectra.inline.take(&term),
            About::Group => match &mut self.group {
                Some((_, group)) => group.take(&term),
                None => Ok(()),
            },
            About::File => {
                self.terms.take(&term);
                Ok(())
            }
            About::Settings => {
                self.settings.take(&term);
                Ok(())
            }
            About::Instrument => {
                if self.model.is_none() {
                    self.model = model(&term);
                }
                Ok(())
            }
            About::Nothing => Ok(()),
        };
        taken.map_err(|what| {
            let inside = match around {
                About::Array | About::Spectrum => self.spectra.here(),
                _ => String::new(),
            };
            self.format(term.at, format!("{inside}{what}"))
        })
    }

    fn reference(&mut self, tag: &Tag<'_>, around: About) -> Result<()> {
        match around {
            About::Array | About::Spectrum => {}
            About::File | About::Settings | About::Instrument => {
                if self.pending.len() < PENDING_LIMIT
                    && let Some(id) = self.attribute(tag, "ref")?
                {
                    self.spectra
                        .index
                        .budget
                        .reserve(id.len() as u64, "references to groups")?;
                    self.pending.push((around, id));
                }
                return Ok(());
            }
            About::Group | About::Nothing => return Ok(()),
        }
        let id = attribute(tag.rest, "ref").map_err(|what| self.attributes(tag, &what))?;
        let id = id.unwrap_or_default();
        let Some(group) = self.groups.get(&*id) else {
            if self.dangling == 0 {
                self.dangling_first = excerpt(&id);
            }
            self.dangling += 1;
            return Ok(());
        };
        if around == About::Array {
            let terms = &mut self.spectra.array_grouped;
            *terms = group.array.or(terms);
        } else {
            let terms = &mut self.spectra.grouped;
            *terms = group.spectrum.or(terms);
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        if let Some((id, group)) = self.group.take() {
            let bytes = Group::MOST + size_of::<Group>() as u64 + id.len() as u64;
            self.spectra
                .index
                .budget
                .reserve(bytes, "groups of terms")?;
            self.groups.insert(id, group);
        }
        Ok(())
    }

    fn begin_spectrum(&mut self, tag: &Tag<'_>) -> Result<()> {
        let len = attribute(tag.rest, "defaultArrayLength");
        let len = len.map_err(|what| self.attributes(tag, &what))?;
        let len = len.and_then(|len| value::count(len.trim()).ok());
        self.spectra.begin(tag.at, len);
        Ok(())
    }

    /// Resolves what was referred to before it was there.
    pub(super) fn into_read(mut self) -> Read {
        for (about, id) in &self.pending {
            let Some(group) = self.groups.get(id) else {
                if self.dangling == 0 {
                    self.dangling_first = excerpt(id);
                }
                self.dangling += 1;
                continue;
            };
            match about {
                About::File => self.terms.fill(&group.file),
                About::Settings => self.settings.fill(&group.settings),
                _ => self.model = self.model.or_else(|| group.model.clone()),
            }
        }
        Read {
            file: self.file,
            spectra: self.spectra,
            settings: self.settings,
            terms: self.terms,
            model: self.model,
            announced: self.announced,
            dangling: self.dangling,
            dangling_first: self.dangling_first,
        }
    }
}

/// FNV-1a: names are compared by it, so that the levels take no memory.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn excerpt(name: &str) -> String {
    name.chars().take(40).collect()
}
