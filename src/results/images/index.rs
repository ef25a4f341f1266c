//! The head of an images file: checked before it is believed.

use std::ops::Range;

use super::format::{DIGEST, ENTRY, HEADER, PEAKS};
use super::header::Header;
use super::merge::reserved;
use crate::crc::checksum;
use crate::error::{Error, Result};
use crate::little::{array, f64_at, u32_at, u64_at};
use crate::store::head::digest;

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

impl Index {
    /// Reads a whole head; bytes behind it are ignored.
    ///
    /// # Errors
    /// [`Error::Format`] naming `file` and the byte if it is no images file, is cut short or damaged;
    /// [`Error::Unsupported`] for a later version; [`Error::Budget`] if the memory for it cannot be had.
    pub fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let header = Header::parse(file, bytes)?;
        let wrong = |(at, what): (usize, String)| Error::Format {
            file: file.to_owned(),
            at: at as u64,
            what: format!("{what}; the file is damaged, fetch it again"),
        };
        let len = usize::try_from(header.head_bytes).unwrap_or(usize::MAX);
        let head = bytes
            .get(..len)
            .ok_or_else(|| wrong((bytes.len(), "the file ends within its head".to_owned())))?;
        if digest(head, DIGEST) != header.digest {
            let what = "the head's SHA-256 does not fit its bytes".to_owned();
            return Err(wrong((DIGEST.start, what)));
        }
        let (entries, text) = head[HEADER..].split_at(header.ions as usize * ENTRY);
        let text = std::str::from_utf8(text).map_err(|error| {
            let at = HEADER + entries.len() + error.valid_up_to();
            wrong((at, "a name that is not UTF-8".to_owned()))
        })?;
        let mut index = Self {
            file: file.to_owned(),
            width: header.width,
            height: header.height,
            store: header.store,
            file_bytes: header.file_bytes,
            entries: reserved(header.ions.into())?,
            text: text.to_owned(),
        };
        index.fill(&header, entries).map_err(wrong)?;
        Ok(index)
    }

    /// Takes all entries, or says at which byte of the file one is wrong.
    fn fill(&mut self, header: &Header, entries: &[u8]) -> Result<(), (usize, String)> {
        let mut place = Place {
            at: header.head_bytes,
            text: 0,
            images: 0,
        };
        for (n, bytes) in entries.as_chunks::<ENTRY>().0.iter().enumerate() {
            let at = HEADER + n * ENTRY;
            let entry = self
                .take(bytes, &mut place)
                .map_err(|(byte, what)| (at + byte, format!("ion {n}: {what}")))?;
            self.entries.push(entry);
            if n > 0 && self.name(n - 1) >= self.name(n) {
                return Err((at, format!("ion {n} is not behind the one before it")));
            }
        }
        let rest = &self.text.as_bytes()[place.text as usize..];
        if rest.len() >= 8 || rest.iter().any(|byte| *byte != 0) {
            return Err((
                28,
                format!("{} bytes of text that belong to no ion", rest.len()),
            ));
        }
        if place.images != header.images || place.at != header.file_bytes {
            let what = format!(
                "{} images up to byte {}, where the header states {} up to {}",
                place.images, place.at, header.images, header.file_bytes
            );
            return Err((24, what));
        }
        Ok(())
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
        let [msm, fdr] = [8, 16].map(|at| f64_at(bytes, at));
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
        let wanted = (formula, modifier);
        let at = self.before(|name| name < wanted);
        (at < self.entries.len() && self.name(at) == wanted).then_some(at)
    }

    /// The ions of a formula, one for each modifier that was found.
    #[must_use]
    pub fn of(&self, formula: &str) -> Range<usize> {
        self.before(|name| name.0 < formula)..self.before(|name| name.0 <= formula)
    }

    /// How many ions, of the first ones, have names that are so.
    fn before(&self, so: impl Fn((&str, &str)) -> bool) -> usize {
        let (mut low, mut high) = (0, self.entries.len());
        while low < high {
            let middle = low.midpoint(high);
            if so(self.name(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
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
            mz: f64_at(bytes, 16),
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
