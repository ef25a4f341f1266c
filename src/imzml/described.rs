//! What terms say about an array, a spectrum, the scan settings and the file; in a group or inline.

use crate::imzml::dataset::{Checksum, Mode, Number, Polarity, Representation};
use crate::imzml::term::{Code, Term, Unit, ims, ms};
use crate::imzml::value;

/// What was wrong with a value; the place is the term's.
pub(super) type Taken = Result<(), String>;

/// What an array holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Mz,
    Intensity,
}

/// A data type as the accession and the name say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stated {
    /// Both the same, or only the accession tells.
    Agreed(Number),
    /// Old writers name another type than the accession they give.
    Split { accession: Number, name: Number },
    /// One that is not read here.
    Other(Code),
}

/// How bytes are packed, as far as a term says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    None,
    Zlib,
    /// One that is not read here.
    Other(Code),
}

/// Terms about one array.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ArrayTerms {
    pub(super) kind: Option<Kind>,
    pub(super) stated: Option<Stated>,
    pub(super) packing: Option<Packing>,
    pub(super) at: Option<i64>,
    pub(super) len: Option<u64>,
    pub(super) bytes: Option<u64>,
}

impl ArrayTerms {
    pub(super) fn take(&mut self, term: &Term<'_>) -> Taken {
        const MZ: Code = ms(1_000_514);
        const INTENSITY: Code = ms(1_000_515);
        const OFFSET: Code = ims(1_000_102);
        const LENGTH: Code = ims(1_000_103);
        const ENCODED: Code = ims(1_000_104);
        let said = |error: String| format!("{:?} is {error}", term.name);
        match term.code {
            MZ => self.kind = Some(Kind::Mz),
            INTENSITY => self.kind = Some(Kind::Intensity),
            OFFSET => self.at = Some(value::whole(&term.value).map_err(said)?),
            LENGTH => self.len = Some(value::count(&term.value).map_err(said)?),
            ENCODED => self.bytes = Some(value::count(&term.value).map_err(said)?),
            code => {
                if let Some(stated) = number(code, &term.name) {
                    self.stated = Some(stated);
                } else if let Some(packing) = packing(code, &term.name) {
                    self.packing = Some(packing);
                }
            }
        }
        Ok(())
    }

    /// These terms, and from `other` what they do not say.
    pub(super) fn or(self, other: &Self) -> Self {
        Self {
            kind: self.kind.or(other.kind),
            stated: self.stated.or(other.stated),
            packing: self.packing.or(other.packing),
            at: self.at.or(other.at),
            len: self.len.or(other.len),
            bytes: self.bytes.or(other.bytes),
        }
    }
}

fn number(code: Code, name: &str) -> Option<Stated> {
    const F32: Code = ms(1_000_521);
    const F64: Code = ms(1_000_523);
    const I32: Code = ms(1_000_519);
    const I64: Code = ms(1_000_522);
    const IMS_I32: Code = ims(1_000_141);
    const IMS_I64: Code = ims(1_000_142);
    const F16: Code = ms(1_000_520);
    const IMS_I8: Code = ims(1_100_000);
    const IMS_I16: Code = ims(1_100_001);
    let accession = match code {
        F32 => Number::F32,
        F64 => Number::F64,
        I32 | IMS_I32 => Number::I32,
        I64 | IMS_I64 => Number::I64,
        F16 | IMS_I8 | IMS_I16 => return Some(Stated::Other(code)),
        _ => return None,
    };
    let all = [Number::F32, Number::F64, Number::I32, Number::I64];
    let named = |number: &Number| name.trim().eq_ignore_ascii_case(number.name());
    Some(match all.into_iter().find(named) {
        Some(name) if name != accession => Stated::Split { accession, name },
        _ => Stated::Agreed(accession),
    })
}

fn packing(code: Code, name: &str) -> Option<Packing> {
    const NONE: Code = ms(1_000_576);
    const ZLIB: Code = ms(1_000_574);
    match code {
        NONE => Some(Packing::None),
        _ if name.trim() == "no compression" => Some(Packing::None),
        ZLIB => Some(Packing::Zlib),
        // MS-Numpress, Zstandard, byte shuffling and whatever else is invented call themselves so.
        _ if name.trim_end().ends_with("compression") => Some(Packing::Other(code)),
        _ => None,
    }
}

/// Terms about one spectrum or its scan.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SpectrumTerms {
    pub(super) position: [Option<i32>; 3],
    pub(super) polarity: Option<Polarity>,
    pub(super) representation: Option<Representation>,
}

impl SpectrumTerms {
    /// Whether a term says anything about a spectrum.
    pub(super) fn wants(code: Code) -> bool {
        (ms(1_000_127)..=ms(1_000_130)).contains(&code)
            || (ims(1_000_050)..=ims(1_000_052)).contains(&code)
    }

    /// Takes a term; the first of its kind counts.
    pub(super) fn take(&mut self, term: &Term<'_>) -> Taken {
        const FIRST: Code = ims(1_000_050);
        const LAST: Code = ims(1_000_052);
        if (FIRST..=LAST).contains(&term.code) {
            let place = usize::from(term.code != FIRST) + usize::from(term.code == LAST);
            // A slice without a number is as good as none.
            if !(term.value.is_empty() && term.code == LAST) && self.position[place].is_none() {
                let position = value::position(&term.value);
                let said = |error| format!("{:?} is {error}", term.name);
                self.position[place] = Some(position.map_err(said)?);
            }
        } else if let Some(polarity) = polarity(term) {
            self.polarity.get_or_insert(polarity);
        } else if let Some(representation) = representation(term) {
            self.representation.get_or_insert(representation);
        }
        Ok(())
    }

    /// These terms, and from `other` what they do not say.
    pub(super) fn or(self, other: &Self) -> Self {
        let [x, y, z] = self.position;
        let [ox, oy, oz] = other.position;
        Self {
            position: [x.or(ox), y.or(oy), z.or(oz)],
            polarity: self.polarity.or(other.polarity),
            representation: self.representation.or(other.representation),
        }
    }
}

fn polarity(term: &Term<'_>) -> Option<Polarity> {
    const POSITIVE: Code = ms(1_000_130);
    const NEGATIVE: Code = ms(1_000_129);
    const CENTROID: Code = ms(1_000_127);
    const PROFILE: Code = ms(1_000_128);
    match (term.code, &*term.name) {
        // An old writer gives a polarity by its name under the accession of a representation.
        (POSITIVE, _) | (CENTROID | PROFILE, "positive scan") => Some(Polarity::Positive),
        (NEGATIVE, _) | (CENTROID | PROFILE, "negative scan") => Some(Polarity::Negative),
        _ => None,
    }
}

fn representation(term: &Term<'_>) -> Option<Representation> {
    const CENTROID: Code = ms(1_000_127);
    const PROFILE: Code = ms(1_000_128);
    match term.code {
        CENTROID => Some(Representation::Centroid),
        PROFILE => Some(Representation::Profile),
        _ => None,
    }
}

/// A pixel's size along one axis, as it is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Size {
    pub(super) text: String,
    pub(super) unit: Unit,
}

/// Terms of the scan settings.
#[derive(Debug, Clone, Default)]
pub(super) struct SettingsTerms {
    /// Declared pixels along x and y.
    pub(super) counts: [Option<i64>; 2],
    /// Size of a pixel along x and y.
    pub(super) sizes: [Option<Size>; 2],
}

impl SettingsTerms {
    /// Takes a term; the first of its kind counts. A count that is no number is as good as none.
    pub(super) fn take(&mut self, term: &Term<'_>) {
        const COUNT_X: Code = ims(1_000_042);
        const COUNT_Y: Code = ims(1_000_043);
        const SIZE_X: Code = ims(1_000_046);
        const SIZE_Y: Code = ims(1_000_047);
        let axis = usize::from(matches!(term.code, COUNT_Y | SIZE_Y));
        match term.code {
            COUNT_X | COUNT_Y => {
                let count = value::whole(&term.value).ok();
                self.counts[axis] = self.counts[axis].or(count);
            }
            SIZE_X | SIZE_Y => {
                self.sizes[axis].get_or_insert_with(|| Size {
                    text: short(&term.value, 40),
                    unit: term.unit,
                });
            }
            _ => {}
        }
    }

    /// Fills what these terms do not say from `other`.
    pub(super) fn fill(&mut self, other: &Self) {
        for axis in 0..2 {
            self.counts[axis] = self.counts[axis].or(other.counts[axis]);
            if self.sizes[axis].is_none() {
                self.sizes[axis].clone_from(&other.sizes[axis]);
            }
        }
    }
}

/// Terms about the file as a whole.
#[derive(Debug, Clone, Default)]
pub(super) struct FileTerms {
    pub(super) mode: Option<Mode>,
    /// As it is written.
    pub(super) uuid: Option<String>,
    pub(super) md5: Option<String>,
    pub(super) sha1: Option<String>,
    pub(super) spectrum: SpectrumTerms,
}

impl FileTerms {
    pub(super) fn take(&mut self, term: &Term<'_>) {
        const CONTINUOUS: Code = ims(1_000_030);
        const PROCESSED: Code = ims(1_000_031);
        const UUID: Code = ims(1_000_080);
        const MD5: Code = ims(1_000_090);
        const SHA1: Code = ims(1_000_091);
        let text = || short(&term.value, 80);
        match term.code {
            CONTINUOUS => self.mode = self.mode.or(Some(Mode::Continuous)),
            PROCESSED => self.mode = self.mode.or(Some(Mode::Processed)),
            UUID => self.uuid = self.uuid.take().or_else(|| Some(text())),
            MD5 => self.md5 = self.md5.take().or_else(|| Some(text())),
            SHA1 => self.sha1 = self.sha1.take().or_else(|| Some(text())),
            _ => {
                self.spectrum.polarity = self.spectrum.polarity.or(polarity(term));
                if polarity(term).is_none() {
                    let said = representation(term);
                    self.spectrum.representation = self.spectrum.representation.or(said);
                }
            }
        }
    }

    /// Fills what these terms do not say from `other`.
    pub(super) fn fill(&mut self, other: &Self) {
        let or = |own: &mut Option<String>, other: &Option<String>| {
            if own.is_none() {
                own.clone_from(other);
            }
        };
        self.mode = self.mode.or(other.mode);
        or(&mut self.uuid, &other.uuid);
        or(&mut self.md5, &other.md5);
        or(&mut self.sha1, &other.sha1);
        self.spectrum = self.spectrum.or(&other.spectrum);
    }

    /// The UUID, and what is wrong with the one written.
    pub(super) fn uuid(&self) -> (Option<[u8; 16]>, Option<String>) {
        let uuid = self.uuid.as_deref();
        let read = uuid.and_then(value::hexadecimal);
        let wrong = uuid.filter(|_| read.is_none());
        let wrong = wrong.map(|text| {
            format!("the UUID {text:?} is none, so the ibd cannot be compared with the imzML")
        });
        (read, wrong)
    }

    /// The checksum, and what is wrong with one written. SHA-1 before MD5.
    pub(super) fn checksum(&self) -> (Option<Checksum>, Option<String>) {
        let sha1 = self.sha1.as_deref();
        let md5 = self.md5.as_deref();
        let read = sha1.and_then(value::hexadecimal).map(Checksum::Sha1);
        let read = read.or_else(|| md5.and_then(value::hexadecimal).map(Checksum::Md5));
        let wrong = sha1.or(md5).filter(|_| read.is_none());
        let wrong = wrong.map(|text| {
            format!("the checksum {text:?} is none, so the ibd cannot be checked against it")
        });
        (read, wrong)
    }
}

/// The model of the instrument, if this term of an instrument's configuration names one.
///
/// The vocabulary has hundreds of models, each a term without a value; around them stand a serial
/// number and the like, with one.
pub(super) fn model(term: &Term<'_>) -> Option<String> {
    const MODEL: Code = ms(1_000_031);
    const SERIAL: Code = ms(1_000_529);
    const CUSTOMIZATION: Code = ms(1_000_032);
    let name = match term.code {
        MODEL => &term.value,
        SERIAL | CUSTOMIZATION => return None,
        code if code >> 32 != 0 || !term.value.is_empty() => return None,
        _ => &term.name,
    };
    (!name.is_empty()).then(|| short(name, 200))
}

/// At most so many letters of a text.
fn short(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// A group of terms that is referred to from many places.
#[derive(Debug, Clone, Default)]
pub(super) struct Group {
    pub(super) array: ArrayTerms,
    pub(super) spectrum: SpectrumTerms,
    pub(super) settings: SettingsTerms,
    pub(super) file: FileTerms,
    pub(super) model: Option<String>,
}

impl Group {
    pub(super) fn take(&mut self, term: &Term<'_>) -> Taken {
        self.array.take(term)?;
        self.spectrum.take(term)?;
        self.settings.take(term);
        self.file.take(term);
        if self.model.is_none() {
            self.model = model(term);
        }
        Ok(())
    }

    /// Most bytes that it takes on the heap.
    pub(super) const MOST: u64 = 4 * (200 + 2 * 40 + 3 * 80);
}
