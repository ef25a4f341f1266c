//! The reader of an `.imzML`: from the XML's bytes, in order and cut anywhere, to a dataset.
//!
//! imzML 1.1 is mzML 1.1 whose arrays stand in a second file; what is needed of it lies in `cvParam`
//! elements, whose meaning depends on the element around them and on groups that are referred to.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Dataset, Spectrum};
use crate::imzml::described::{
    ArrayTerms, FileTerms, Group, Kind, SettingsTerms, SpectrumTerms, model,
};
use crate::imzml::draft::{self, Refusal, Repairs, Wrap};
use crate::imzml::finish;
use crate::imzml::foreign;
use crate::imzml::index::Index;
pub use crate::imzml::index::PIXEL_LIMIT;
pub use crate::imzml::sequence::CHUNK;
use crate::imzml::sequence::Sequence;
use crate::imzml::term::{Term, attribute};
use crate::imzml::value;
use crate::imzml::xml::{Form, Tag, Tags};
use crate::job::{Machine, Step};

/// Deepest nesting of elements; mzML has 10 levels.
const DEPTH_LIMIT: usize = 64;

/// Most references to groups outside of spectra.
const PENDING_LIMIT: usize = 1000;

/// Bytes that tell what a file is.
const TELLING: usize = 256;

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

/// Reads the XML of an imzML dataset.
///
/// Feed it as a [`Machine`], which asks for [`CHUNK`] bytes after another, or with
/// [`Reader::push`]; then [`Reader::finish`].
///
/// # Cost
/// One pass. Memory: [`Spectrum`]'s 48 bytes for each spectrum (while the index grows the old and the
/// new one, unless the file says in advance how many there are; at the end 4 bytes more), the groups
/// of terms, and the part of a tag that was cut; independent of the size of the XML.
#[derive(Debug)]
pub struct Reader {
    sequence: Sequence,
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
        self.document.index.spectra.len() as u64
    }

    /// Spectra that the file announces, once it has; not to be relied on.
    #[must_use]
    pub fn announced(&self) -> Option<u64> {
        self.document.announced
    }

    /// Bytes held now: the index's and those of a tag that was cut.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.document.index.budget.held() + self.pending() as u64
    }

    /// Bytes kept of a tag that was cut.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.tags.held() + self.head.len()
    }

    /// Most bytes that the index and the groups held at one time.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.document.index.budget.peak()
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
        let at = self.tags.at();
        if !self.document.ended {
            return Err(self.cut_short(at));
        }
        finish::dataset(self.document.into_read(), at)
    }

    fn cut_short(&self, at: u64) -> Error {
        let document = &self.document;
        let inside = match self.tags.unfinished() {
            Some((what, from)) => format!(" inside {what} that begins at byte {from}"),
            None => String::new(),
        };
        let spectra = document.index.spectra.len();
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
        Ok(self.sequence.next().map_or(Step::Done, Step::Need))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        self.sequence.feed(&self.document.file, at, bytes, total)?;
        self.document.total = self.sequence.total();
        self.push(bytes)
    }
}

/// What is left of the XML once it is read.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) file: String,
    pub(super) index: Index,
    pub(super) settings: SettingsTerms,
    pub(super) terms: FileTerms,
    pub(super) model: Option<String>,
    pub(super) repairs: Repairs,
    pub(super) announced: Option<u64>,
    /// Arrays of m/z or intensity beyond the first of a spectrum.
    pub(super) surplus: u64,
    /// References to groups that are not there, and the first of them.
    pub(super) dangling: u64,
    pub(super) dangling_first: String,
}

/// The spectrum that is being read.
#[derive(Debug, Default)]
struct Draft {
    at: u64,
    default_len: Option<u64>,
    inline: SpectrumTerms,
    grouped: SpectrumTerms,
    mz: Option<Array>,
    intensity: Option<Array>,
}

/// The elements that are open, and what they said.
#[derive(Debug)]
struct Document {
    file: String,
    total: Option<u64>,
    levels: Vec<Level>,
    ended: bool,
    groups: BTreeMap<String, Group>,
    group: Option<(String, Group)>,
    /// References from the file's terms, the settings and the instruments: their groups may come
    /// later.
    pending: Vec<(About, String)>,
    terms: FileTerms,
    settings: SettingsTerms,
    model: Option<String>,
    index: Index,
    draft: Draft,
    inline: ArrayTerms,
    grouped: ArrayTerms,
    mz_wrap: Wrap,
    intensity_wrap: Wrap,
    repairs: Repairs,
    announced: Option<u64>,
    surplus: u64,
    dangling: u64,
    dangling_first: String,
}

impl Document {
    fn new(file: &str, memory: u64) -> Self {
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
            index: Index::new(memory),
            draft: Draft::default(),
            inline: ArrayTerms::default(),
            grouped: ArrayTerms::default(),
            mz_wrap: Wrap::default(),
            intensity_wrap: Wrap::default(),
            repairs: Repairs::default(),
            announced: None,
            surplus: 0,
            dangling: 0,
            dangling_first: String::new(),
        }
    }

    fn format(&self, at: u64, what: String) -> Error {
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

    fn tag(&mut self, tag: &Tag<'_>) -> Result<()> {
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
                self.inline = ArrayTerms::default();
                self.grouped = ArrayTerms::default();
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
            About::Array => self.end_array(at),
            About::Spectrum => self.end_spectrum(),
            About::Group => self.end_group(),
            _ => Ok(()),
        }
    }

    fn attribute(&self, tag: &Tag<'_>, name: &str) -> Result<Option<String>> {
        let found = attribute(tag.rest, name);
        let found = found.map_err(|what| self.attributes(tag, &what))?;
        Ok(found.map(std::borrow::Cow::into_owned))
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
            self.index.announce(count.min(total / LEAST));
        }
        Ok(())
    }

    fn term(&mut self, tag: &Tag<'_>, around: About) -> Result<()> {
        let term = Term::read(tag.rest, tag.at).map_err(|what| self.attributes(tag, &what))?;
        let Some(term) = term else {
            return Ok(());
        };
        let taken = match around {
            About::Array => self.inline.take(&term),
            About::Spectrum => self.draft.inline.take(&term),
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
                About::Array | About::Spectrum => self.here(),
                _ => String::new(),
            };
            self.format(term.at, format!("{inside}{what}"))
        })
    }

    /// The spectrum that is being read, for messages.
    fn here(&self) -> String {
        format!("spectrum {}: ", self.index.spectra.len())
    }

    fn reference(&mut self, tag: &Tag<'_>, around: About) -> Result<()> {
        match around {
            About::Array | About::Spectrum => {}
            About::File | About::Settings | About::Instrument => {
                if self.pending.len() < PENDING_LIMIT
                    && let Some(id) = self.attribute(tag, "ref")?
                {
                    self.index
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
            self.grouped = group.array.or(&self.grouped);
        } else {
            self.draft.grouped = group.spectrum.or(&self.draft.grouped);
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<()> {
        if let Some((id, group)) = self.group.take() {
            let bytes = Group::MOST + size_of::<Group>() as u64 + id.len() as u64;
            self.index.budget.reserve(bytes, "groups of terms")?;
            self.groups.insert(id, group);
        }
        Ok(())
    }

    fn begin_spectrum(&mut self, tag: &Tag<'_>) -> Result<()> {
        let len = attribute(tag.rest, "defaultArrayLength");
        let len = len.map_err(|what| self.attributes(tag, &what))?;
        self.draft = Draft {
            at: tag.at,
            default_len: len.and_then(|len| value::count(len.trim()).ok()),
            ..Draft::default()
        };
        Ok(())
    }

    fn end_array(&mut self, at: u64) -> Result<()> {
        let terms = self.inline.or(&self.grouped);
        let Some(kind) = terms.kind else {
            return Ok(());
        };
        let (place, wrap, name) = match kind {
            Kind::Mz => (&mut self.draft.mz, &mut self.mz_wrap, "m/z"),
            Kind::Intensity => (
                &mut self.draft.intensity,
                &mut self.intensity_wrap,
                "intensity",
            ),
        };
        if place.is_some() {
            self.surplus += 1;
            return Ok(());
        }
        match draft::settle(&terms, self.draft.default_len, wrap, &mut self.repairs) {
            Ok(array) => {
                *place = Some(array);
                Ok(())
            }
            Err(Refusal::Format(what)) => {
                Err(self.format(at, format!("{}its {name} array {what}", self.here())))
            }
            Err(Refusal::Unsupported(what)) => Err(Error::Unsupported {
                file: self.file.clone(),
                what: format!("{}its {name} array {what}", self.here()),
            }),
        }
    }

    fn end_spectrum(&mut self) -> Result<()> {
        let draft = std::mem::take(&mut self.draft);
        let wrong = |what: &str| self.format(draft.at, format!("{}{what}", self.here()));
        let terms = draft.inline.or(&draft.grouped);
        let [Some(x), Some(y), z] = terms.position else {
            return Err(wrong(
                "it has no position (IMS:1000050 and IMS:1000051); if the file is plain mzML, it is \
                 no image",
            ));
        };
        let (mz, intensity) = match (draft.mz, draft.intensity) {
            (Some(mz), Some(intensity)) => (mz, intensity),
            (None, None) if draft.default_len == Some(0) => (EMPTY, EMPTY),
            (None, _) => return Err(wrong("it has no m/z array (MS:1000514)")),
            (_, None) => return Err(wrong("it has no intensity array (MS:1000515)")),
        };
        let position = [x, y, z.unwrap_or(1)];
        let polarity = terms.polarity.unwrap_or_default();
        let representation = terms.representation.unwrap_or_default();
        let spectrum = Spectrum::new(mz, intensity, position, polarity, representation);
        self.index.push(spectrum)?;
        match self.index.absurd() {
            Some(what) => Err(self.format(draft.at, what)),
            None => Ok(()),
        }
    }

    /// Resolves what was referred to before it was there.
    fn into_read(mut self) -> Read {
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
            index: self.index,
            settings: self.settings,
            terms: self.terms,
            model: self.model,
            repairs: self.repairs,
            announced: self.announced,
            surplus: self.surplus,
            dangling: self.dangling,
            dangling_first: self.dangling_first,
        }
    }
}

/// The array of a spectrum without peaks.
const EMPTY: Array = Array {
    at: 0,
    bytes: 0,
    len: 0,
    number: crate::imzml::dataset::Number::F32,
    compression: crate::imzml::dataset::Compression::None,
};

/// FNV-1a: names are compared by it, so that the levels take no memory.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

fn excerpt(name: &str) -> String {
    name.chars().take(40).collect()
}
