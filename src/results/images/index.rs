//! The head of an images file: checked before it is believed.

use std::cmp::Ordering;
use std::ops::Range;

use sha2::{Digest as _, Sha256};

use super::format::{DIGEST, ENTRY, HEADER, MAGIC, PEAKS, VERSION};
use crate::crc::checksum;
use crate::error::{Error, Result};

/// Where one isotope image is, and what its codes mean.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Peak {
    /// Offset in the file.
    pub at: u64,
    /// Bytes; 0 if there is no image.
    pub bytes: u32,
    /// CRC-32 of them.
    pub crc: u32,
    /// Theoretical m/z; 0 if the pattern has no such peak.
    pub mz: f64,
    /// Value of code 0.
    pub min: f32,
    /// Value of code 65,535.
    pub max: f32,
}

impl Peak {
    /// The bytes of the image in the file; empty if there is none.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.at..self.at + u64::from(self.bytes)
    }

    /// The value that a code stands for, rounded to f32.
    #[must_use]
    pub fn value(&self, code: u16) -> f32 {
        let (min, max) = (f64::from(self.min), f64::from(self.max));
        #[expect(clippy::cast_possible_truncation, reason = "rounded, as documented")]
        let value = (min + f64::from(code) * (max - min) / 65_535.0) as f32;
        value
    }
}

/// One ion of the index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry {
    /// MSM, above 0.
    pub msm: f64,
    /// FDR, 0 to 1.
    pub fdr: f64,
    /// Its isotope peaks, ascending in m/z.
    pub peaks: [Peak; PEAKS],
    /// Where its formula and its modifier lie in the text.
    formula: (u32, u16),
    modifier: (u32, u16),
}

/// All that an images file says before an image is read.
#[derive(Debug, Clone, PartialEq)]
pub struct Index {
    /// The file's path or URL, as the user gave it.
    pub file: String,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// SHA-256 that the store has in its header.
    pub store: [u8; 32],
    /// Bytes of the whole file.
    pub file_bytes: u64,
    /// The ions, ascending by formula, then by modifier, as bytes.
    pub entries: Vec<Entry>,
    text: String,
}

/// What the header states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) ions: u32,
    pub(super) images: u32,
    pub(super) text_bytes: u32,
    pub(super) head_bytes: u64,
    pub(super) file_bytes: u64,
    pub(super) store: [u8; 32],
    pub(super) digest: [u8; 32],
}

impl Header {
    /// Reads the header; what it says is checked against itself.
    pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let wrong = |at: u64, what: String| Error::Format {
            file: file.to_owned(),
            at,
            what,
        };
        let Some(bytes) = bytes.first_chunk::<HEADER>() else {
            let what = if bytes.starts_with(&MAGIC) {
                format!("the file ends within the {HEADER} bytes of its header; fetch it again")
            } else {
                foreign().to_owned()
            };
            return Err(wrong(
                if bytes.starts_with(&MAGIC) {
                    bytes.len() as u64
                } else {
                    0
                },
                what,
            ));
        };
        if !bytes.starts_with(&MAGIC) {
            return Err(wrong(0, foreign().to_owned()));
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return Err(Error::Unsupported {
                file: file.to_owned(),
                what: format!(
                    "byte 8: images file of version {version}, and this program reads version {VERSION}; get a \
                     newer one, or annotate again"
                ),
            });
        }
        let header = Self {
            width: u32_at(bytes, 12),
            height: u32_at(bytes, 16),
            ions: u32_at(bytes, 20),
            images: u32_at(bytes, 24),
            text_bytes: u32_at(bytes, 28),
            head_bytes: u64_at(bytes, 32),
            file_bytes: u64_at(bytes, 40),
            store: array(bytes, 48),
            digest: array(bytes, DIGEST.start),
        };
        let fault = |at: u64, what: &str| Err(wrong(at, format!("{what}; the file is damaged")));
        let pixels = u64::from(header.width) * u64::from(header.height);
        if pixels == 0 || pixels > u64::from(u32::MAX) {
            return fault(
                12,
                &format!("images of {} x {} pixels", header.width, header.height),
            );
        }
        if u64::from(header.images) > u64::from(header.ions) * PEAKS as u64 {
            return fault(
                24,
                &format!("{} images of {} ions", header.images, header.ions),
            );
        }
        if !header.text_bytes.is_multiple_of(8) {
            return fault(28, &format!("a text of {} bytes", header.text_bytes));
        }
        let head = length(header.ions, header.text_bytes);
        if header.head_bytes != head {
            let stated = header.head_bytes;
            return fault(
                32,
                &format!("a head of {stated} bytes, where its parts have {head}"),
            );
        }
        if header.file_bytes < head {
            let stated = header.file_bytes;
            return fault(
                40,
                &format!("a file of {stated} bytes, where its head has {head}"),
            );
        }
        Ok(header)
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &self.width.to_le_bytes());
        put(16, &self.height.to_le_bytes());
        put(20, &self.ions.to_le_bytes());
        put(24, &self.images.to_le_bytes());
        put(28, &self.text_bytes.to_le_bytes());
        put(32, &self.head_bytes.to_le_bytes());
        put(40, &self.file_bytes.to_le_bytes());
        put(48, &self.store);
        put(DIGEST.start, &self.digest);
        bytes
    }
}

impl Index {
    /// Reads a whole head; bytes behind it are ignored.
    ///
    /// # Errors
    /// [`Error::Format`] naming `file` and the byte if it is no images file, is cut short or damaged;
    /// [`Error::Unsupported`] for a later version; [`Error::Budget`] if the memory for it cannot be had.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let header = Header::parse(file, bytes)?;
        let wrong = |at: u64, what: String| Error::Format {
            file: file.to_owned(),
            at,
            what: format!("{what}; the file is damaged, fetch it again"),
        };
        let head = usize::try_from(header.head_bytes)
            .ok()
            .and_then(|len| bytes.get(..len))
            .ok_or_else(|| {
                wrong(
                    bytes.len() as u64,
                    "the file ends within its head".to_owned(),
                )
            })?;
        if digest(head) != header.digest {
            let what = "the head's SHA-256 does not fit its bytes".to_owned();
            return Err(wrong(DIGEST.start as u64, what));
        }
        let (entries, text) = head[HEADER..].split_at(header.ions as usize * ENTRY);
        let text = std::str::from_utf8(text).map_err(|error| {
            let at = (HEADER + entries.len() + error.valid_up_to()) as u64;
            wrong(at, "a name that is not UTF-8".to_owned())
        })?;
        let mut index = Self {
            file: file.to_owned(),
            width: header.width,
            height: header.height,
            store: header.store,
            file_bytes: header.file_bytes,
            entries: Vec::new(),
            text: text.to_owned(),
        };
        let bytes = header.ions as usize * size_of::<Entry>();
        index
            .entries
            .try_reserve_exact(header.ions as usize)
            .map_err(|_| Error::Budget {
                need: bytes as u64,
                have: 0,
                what: "the index of images".to_owned(),
            })?;
        let mut place = Place {
            at: header.head_bytes,
            text: 0,
            images: 0,
        };
        for (n, bytes) in entries.as_chunks::<ENTRY>().0.iter().enumerate() {
            let at = HEADER + n * ENTRY;
            let entry = index
                .take(bytes, &mut place)
                .map_err(|(byte, what)| wrong((at + byte) as u64, format!("ion {n}: {what}")))?;
            index.entries.push(entry);
            if n > 0 && index.name(n - 1) >= index.name(n) {
                let what = format!("ion {n} is not behind the one before it");
                return Err(wrong(at as u64, what));
            }
        }
        let rest = index.text.len() - place.text as usize;
        if rest >= 8
            || index
                .text
                .bytes()
                .skip(place.text as usize)
                .any(|byte| byte != 0)
        {
            return Err(wrong(
                28,
                format!("{rest} bytes of text that belong to no ion"),
            ));
        }
        if place.images != header.images || place.at != header.file_bytes {
            let what = format!(
                "{} images up to byte {}, where the header states {} up to {}",
                place.images, place.at, header.images, header.file_bytes
            );
            return Err(wrong(24, what));
        }
        Ok(index)
    }

    /// Reads one entry, or says at which of its bytes it is wrong.
    fn take(&self, bytes: &[u8; ENTRY], place: &mut Place) -> Result<Entry, (usize, String)> {
        let at = u32_at(bytes, 0);
        let [formula, modifier] = [4, 6].map(|at| u16::from_le_bytes(array(bytes, at)));
        let between = at.saturating_add(u32::from(formula));
        let end = between.saturating_add(u32::from(modifier));
        let borders = [at, between, end].map(|at| at as usize);
        let inside = borders.iter().all(|at| self.text.is_char_boundary(*at));
        if at != place.text || formula == 0 || !inside {
            return Err((0, format!("a name at {at} to {end} of the text")));
        }
        place.text = end;
        let [msm, fdr] = [8, 16].map(|at| f64::from_le_bytes(array(bytes, at)));
        if !(msm > 0.0 && msm.is_finite()) {
            return Err((8, format!("an MSM of {msm}")));
        }
        if !(0.0..=1.0).contains(&fdr) {
            return Err((16, format!("an FDR of {fdr}")));
        }
        let mut peaks = [Peak::default(); PEAKS];
        for (k, peak) in peaks.iter_mut().enumerate() {
            let from = 24 + 32 * k;
            *peak = Peak::parse(&array(bytes, from));
            if !peak.sound(place.at) {
                return Err((
                    from,
                    format!("peak {k} contradicts itself or the image before it"),
                ));
            }
            place.at = place.at.max(peak.range().end);
            place.images += u32::from(peak.bytes > 0);
        }
        Ok(Entry {
            msm,
            fdr,
            peaks,
            formula: (at, formula),
            modifier: (between, modifier),
        })
    }

    /// Formula and modifier of an ion; empty if there is no such ion.
    #[must_use]
    pub fn name(&self, ion: usize) -> (&str, &str) {
        let part = |(at, len): (u32, u16)| {
            let from = at as usize;
            self.text
                .get(from..from + usize::from(len))
                .unwrap_or_default()
        };
        self.entries.get(ion).map_or(("", ""), |entry| {
            (part(entry.formula), part(entry.modifier))
        })
    }

    /// The ion of this formula and modifier, as they are spelled in the results.
    #[must_use]
    pub fn find(&self, formula: &str, modifier: &str) -> Option<usize> {
        self.search(|name| name.cmp(&(formula, modifier)))
    }

    /// The ions of a formula, one for each modifier that was found.
    #[must_use]
    pub fn of(&self, formula: &str) -> Range<usize> {
        let before = |bound: Ordering| {
            let mut low = 0;
            let mut high = self.entries.len();
            while low < high {
                let middle = low.midpoint(high);
                if self.name(middle).0.cmp(formula) < bound {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            low
        };
        before(Ordering::Equal)..before(Ordering::Greater)
    }

    fn search(&self, compare: impl Fn((&str, &str)) -> Ordering) -> Option<usize> {
        let (mut low, mut high) = (0, self.entries.len());
        while low < high {
            let middle = low.midpoint(high);
            match compare(self.name(middle)) {
                Ordering::Less => low = middle + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Compares an image that was read with its length and CRC-32 in the index.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the ion has no such image; [`Error::Unexpected`] for a wrong length;
    /// [`Error::Format`] naming the byte where the image begins if it is damaged.
    pub fn check(&self, ion: usize, peak: usize, bytes: &[u8]) -> Result<()> {
        let entry = self
            .entries
            .get(ion)
            .and_then(|entry| entry.peaks.get(peak));
        let Some(found) = entry.filter(|found| found.bytes > 0) else {
            return Err(Error::Parameter {
                name: "peak",
                what: format!("{}: ion {ion} has no image of peak {peak}", self.file),
            });
        };
        if bytes.len() as u64 != u64::from(found.bytes) {
            return Err(Error::Unexpected {
                file: self.file.clone(),
                at: found.at,
                asked: found.bytes.into(),
                got: bytes.len() as u64,
            });
        }
        if checksum(bytes) != found.crc {
            let (formula, modifier) = self.name(ion);
            return Err(Error::Format {
                file: self.file.clone(),
                at: found.at,
                what: format!(
                    "the image of {formula} {modifier}, peak {peak}, does not fit its CRC-32; the file is damaged, \
                     fetch it again"
                ),
            });
        }
        Ok(())
    }

    /// Bytes of memory that this index holds.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        (self.entries.len() * size_of::<Entry>() + self.text.len()) as u64
    }
}

impl Peak {
    fn parse(bytes: &[u8; 32]) -> Self {
        Self {
            at: u64_at(bytes, 0),
            bytes: u32_at(bytes, 8),
            crc: u32_at(bytes, 12),
            mz: f64::from_le_bytes(array(bytes, 16)),
            min: f32::from_le_bytes(array(bytes, 24)),
            max: f32::from_le_bytes(array(bytes, 28)),
        }
    }

    pub(super) fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.at.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.bytes.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.crc.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.mz.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.min.to_le_bytes());
        bytes[28..].copy_from_slice(&self.max.to_le_bytes());
        bytes
    }

    /// Whether it may follow an image that ends at `at`.
    fn sound(&self, at: u64) -> bool {
        let mz = self.mz.is_finite() && self.mz >= 0.0;
        if self.bytes == 0 {
            return mz
                && *self
                    == Self {
                        mz: self.mz,
                        ..Self::default()
                    };
        }
        let range = self.min.is_finite() && self.max.is_finite() && self.min <= self.max;
        mz && range && self.mz > 0.0 && self.at == at && at.checked_add(self.bytes.into()).is_some()
    }
}

/// How far the entries have come.
struct Place {
    /// End of the images.
    at: u64,
    /// End of the names.
    text: u32,
    images: u32,
}

/// Bytes of a head.
pub(super) fn length(ions: u32, text_bytes: u32) -> u64 {
    HEADER as u64 + u64::from(ions) * ENTRY as u64 + u64::from(text_bytes)
}

/// SHA-256 of a head with its digest field taken for zero.
pub(super) fn digest(head: &[u8]) -> [u8; 32] {
    let mut sha = Sha256::new();
    let (before, rest) = head.split_at(DIGEST.start.min(head.len()));
    sha.update(before);
    sha.update([0; DIGEST.end - DIGEST.start]);
    sha.update(rest.get(DIGEST.len()..).unwrap_or_default());
    sha.finalize().into()
}

fn foreign() -> &'static str {
    "no images file: it does not begin with SECTIMG; give the .sectile-images file of a results folder"
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes
        .get(at..)
        .and_then(|rest| rest.first_chunk())
        .copied()
        .unwrap_or([0; N])
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}
