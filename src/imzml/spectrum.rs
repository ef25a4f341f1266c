//! From the bytes of one array in the `.ibd` to its values, and whether they make sense.

use fdeflate::Decompressor;

use crate::error::{Error, Result};
use crate::imzml::dataset::{Array, Compression, Number, Spectrum};

/// Most bytes that one byte of a deflate stream stands for (RFC 1951: a match of 258 bytes in two
/// bits).
const DEFLATE_RATIO: u64 = 1032;

/// Bytes that a stream is first given room for.
const FIRST_ROOM: usize = 64 << 10;

/// Largest whole number up to which `f64` has all.
const EXACT: u64 = 1 << 53;

/// The values of an array, widened to `f64`: exactly, for every type that is read.
///
/// `bytes` are those of the array in the `.ibd`, `file` its path or URL and `index` the spectrum's
/// number, for messages. `out` is overwritten.
///
/// # Cost
/// One pass. Allocates `8 * len` bytes in `out` where it has not got them; for a zlib stream
/// up to twice `len * number.size()` bytes more, for the time of the call.
///
/// # Errors
/// [`Error::Format`] naming the spectrum if the bytes are not as many as the values need, if a zlib
/// stream is damaged or holds more or fewer values than claimed, or for a 64-bit integer beyond 2^53,
/// which `f64` does not hold; [`Error::Unexpected`] if `bytes` are not the array's;
/// [`Error::Budget`] if there is no memory.
pub fn decode(
    array: Array,
    bytes: &[u8],
    file: &str,
    index: u64,
    out: &mut Vec<f64>,
) -> Result<()> {
    let place = Place { array, file, index };
    place.values(bytes, |raw| {
        place.room(out)?;
        match array.number {
            Number::F32 => out.extend(words(raw).map(f32::from_le_bytes).map(f64::from)),
            Number::F64 => out.extend(words(raw).map(f64::from_le_bytes)),
            Number::I32 => out.extend(words(raw).map(i32::from_le_bytes).map(f64::from)),
            Number::I64 => {
                let whole = |value: &i64| value.unsigned_abs() > EXACT;
                let values = words(raw).map(i64::from_le_bytes);
                if let Some(value) = values.clone().find(whole) {
                    let what = format!("{value} is too large to be kept exactly");
                    return Err(place.format(&what));
                }
                #[expect(clippy::cast_precision_loss, reason = "checked above")]
                out.extend(values.map(|value| value as f64));
            }
        }
        Ok(())
    })
}

/// The values of an array of 32-bit floats, as they are; otherwise as [`decode`].
///
/// # Errors
/// Those of [`decode`]; [`Error::Parameter`] if the array is of another type.
pub fn decode_f32(
    array: Array,
    bytes: &[u8],
    file: &str,
    index: u64,
    out: &mut Vec<f32>,
) -> Result<()> {
    let place = Place { array, file, index };
    if array.number != Number::F32 {
        return Err(Error::Parameter {
            name: "array",
            what: format!("it has {}s, not 32-bit floats", array.number.name()),
        });
    }
    place.values(bytes, |raw| {
        place.room(out)?;
        out.extend(words(raw).map(f32::from_le_bytes));
        Ok(())
    })
}

/// Whether the two arrays of a spectrum are of one length.
///
/// # Errors
/// [`Error::Format`] naming the spectrum and both lengths.
pub fn check_lengths(spectrum: &Spectrum, file: &str, index: u64) -> Result<()> {
    let (mz, intensity) = (spectrum.mz(), spectrum.intensity());
    if mz.len == intensity.len {
        return Ok(());
    }
    Err(Error::Format {
        file: file.to_owned(),
        at: mz.at,
        what: format!(
            "spectrum {index} (x={} y={}) has {} values of m/z but {} intensities, so that they \
             cannot be paired{SKIP}",
            spectrum.x, spectrum.y, mz.len, intensity.len
        ),
    })
}

/// What to do about one bad spectrum.
const SKIP: &str = "; leave such spectra out with --skip-bad, or export the file again";

/// Whether all of these are m/z: finite and not negative. `array` is where they come from.
///
/// # Errors
/// [`Error::Format`] naming the spectrum, the first value that is not and its byte (of a zlib stream,
/// the first of the stream).
pub fn check_mz<T: Copy + Into<f64>>(
    values: &[T],
    array: Array,
    file: &str,
    index: u64,
) -> Result<()> {
    let good = |value: f64| value.is_finite() && value.is_sign_positive();
    Place { array, file, index }.check(values, good, "m/z")
}

/// Whether all of these are intensities: finite. `array` is where they come from.
///
/// # Errors
/// Those of [`check_mz`].
pub fn check_intensity<T: Copy + Into<f64>>(
    values: &[T],
    array: Array,
    file: &str,
    index: u64,
) -> Result<()> {
    Place { array, file, index }.check(values, f64::is_finite, "intensity")
}

/// An array and what messages call it.
#[derive(Clone, Copy)]
struct Place<'a> {
    array: Array,
    file: &'a str,
    index: u64,
}

impl Place<'_> {
    fn format(&self, what: &str) -> Error {
        self.format_at(self.array.at, what)
    }

    fn format_at(&self, at: u64, what: &str) -> Error {
        Error::Format {
            file: self.file.to_owned(),
            at,
            what: format!("spectrum {}: {what}{SKIP}", self.index),
        }
    }

    /// Bytes of all values.
    fn need(&self) -> u64 {
        u64::from(self.array.len) * self.array.number.size()
    }

    /// Hands the values' own bytes to `take`.
    fn values(&self, bytes: &[u8], take: impl FnOnce(&[u8]) -> Result<()>) -> Result<()> {
        if self.array.len == 0 {
            return take(&[]);
        }
        if bytes.len() as u64 != u64::from(self.array.bytes) {
            return Err(Error::Unexpected {
                file: self.file.to_owned(),
                at: self.array.at,
                asked: u64::from(self.array.bytes),
                got: bytes.len() as u64,
            });
        }
        match self.array.compression {
            Compression::Zlib => take(&self.inflate(bytes)?),
            Compression::None if bytes.len() as u64 == self.need() => take(bytes),
            Compression::None => Err(self.format(&format!(
                "an array of {} values, {} each, has {} bytes instead of {}",
                self.array.len,
                self.array.number.name(),
                bytes.len(),
                self.need()
            ))),
        }
    }

    /// The bytes of a zlib stream (RFC 1950), exactly as many as the values need.
    fn inflate(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let wrong = |what: &str| {
            let Array { len, number, .. } = self.array;
            self.format(&format!(
                "the zlib stream of {} bytes {what} for {len} values, {} each",
                bytes.len(),
                number.name()
            ))
        };
        if self.need() > (bytes.len() as u64).saturating_mul(DEFLATE_RATIO) {
            return Err(wrong("is too short"));
        }
        // One more byte shows whether there is more than is claimed.
        let Ok(most) = usize::try_from(self.need() + 1) else {
            return Err(self.memory(self.need()));
        };
        let mut decoder = Decompressor::new();
        let mut raw = Vec::new();
        let (mut taken, mut made) = (0, 0);
        while !decoder.is_done() && made < most {
            if made == raw.len() {
                // Grown as it fills: a claim alone takes no memory.
                let room = (2 * made).clamp(FIRST_ROOM, most.max(FIRST_ROOM)).min(most);
                if raw.try_reserve_exact(room - made).is_err() {
                    return Err(self.memory(self.need()));
                }
                raw.resize(room, 0);
            }
            let step = decoder.read(&bytes[taken..], &mut raw, made, true);
            let (read, written) =
                step.map_err(|error| wrong(&format!("is damaged ({error:?})")))?;
            if (read, written) == (0, 0) && made < raw.len() {
                return Err(wrong("is cut short"));
            }
            taken += read;
            made += written;
        }
        let need = most - 1;
        if made > need {
            return Err(wrong("holds too much"));
        }
        if made < need || !decoder.is_done() {
            return Err(wrong(&format!("holds {made} bytes instead of {need}")));
        }
        raw.truncate(need);
        Ok(raw)
    }

    /// Empties `out` and makes room for the values.
    fn room<T>(&self, out: &mut Vec<T>) -> Result<()> {
        out.clear();
        let room = usize::try_from(self.array.len).map(|len| out.try_reserve_exact(len));
        if matches!(room, Ok(Ok(()))) {
            return Ok(());
        }
        Err(self.memory(u64::from(self.array.len) * size_of::<T>() as u64))
    }

    fn memory(&self, need: u64) -> Error {
        Error::Budget {
            need,
            have: 0,
            what: format!("an array of spectrum {} of {}", self.index, self.file),
        }
    }

    fn check<T: Copy + Into<f64>>(
        &self,
        values: &[T],
        good: impl Fn(f64) -> bool,
        name: &str,
    ) -> Result<()> {
        // All at once first: that is fast, and hardly ever is one bad.
        if values.iter().fold(true, |all, v| all & good((*v).into())) {
            return Ok(());
        }
        let bad = values.iter().position(|value| !good((*value).into()));
        let place = bad.unwrap_or(0);
        let value: f64 = values[place].into();
        let at = match self.array.compression {
            Compression::None => self.array.at + place as u64 * self.array.number.size(),
            Compression::Zlib => self.array.at,
        };
        Err(self.format_at(at, &format!("value {place} of its {name} is {value}")))
    }
}

/// Bytes as words of `N`; `raw` has a whole number of them.
fn words<const N: usize>(raw: &[u8]) -> impl ExactSizeIterator<Item = [u8; N]> + Clone {
    raw.as_chunks::<N>().0.iter().copied()
}
