//! One total of bytes, reserved before they are allocated.

use crate::error::{Error, Result};

/// The default total: 256 MiB.
pub const DEFAULT: u64 = 256 << 20;

/// An account of bytes held, with a limit that is never passed.
///
/// Every buffer whose size depends on the input is reserved here before it is allocated.
#[derive(Debug, Clone)]
pub struct Budget {
    limit: u64,
    held: u64,
    peak: u64,
}

impl Budget {
    /// An empty account of `limit` bytes.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            held: 0,
            peak: 0,
        }
    }

    /// Takes `bytes` out of what is left.
    ///
    /// # Errors
    /// [`Error::Budget`], and nothing is taken, if fewer are left.
    pub fn reserve(&mut self, bytes: u64, what: &str) -> Result<()> {
        match self.held.checked_add(bytes) {
            Some(held) if held <= self.limit => {
                self.held = held;
                self.peak = self.peak.max(held);
                Ok(())
            }
            _ => Err(Error::Budget {
                need: self.held.saturating_add(bytes),
                have: self.limit,
                what: what.to_owned(),
            }),
        }
    }

    /// Gives `bytes` back. Giving back more than is held leaves nothing held.
    pub fn release(&mut self, bytes: u64) {
        self.held = self.held.saturating_sub(bytes);
    }

    /// Reserves room for `len` elements and allocates it, filled with the element's default.
    ///
    /// # Errors
    /// [`Error::Budget`] if the account or the allocator has not enough left.
    pub fn allocate<T: Default + Clone>(&mut self, len: usize, what: &str) -> Result<Vec<T>> {
        let bytes = (len as u64).saturating_mul(size_of::<T>() as u64);
        self.reserve(bytes, what)?;
        let mut buffer = Vec::new();
        if buffer.try_reserve_exact(len).is_err() {
            self.release(bytes);
            return Err(Error::Budget {
                need: bytes,
                have: self.limit - self.held,
                what: what.to_owned(),
            });
        }
        buffer.resize(len, T::default());
        Ok(buffer)
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Bytes held now.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Most bytes held at one time so far.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.peak
    }
}

/// Reads a size such as `64MiB`, `1GiB`, `500MB`, `1048576` (bytes).
///
/// Units are `B`, `KiB`, `MiB`, `GiB`, `TiB` (powers of 1024), `KB`, `MB`, `GB`, `TB` (powers of
/// 1000) and `K`, `M`, `G`, `T` (as the powers of 1024), in any case; a fraction is rounded down.
///
/// # Errors
/// [`Error::Parameter`] naming what was given.
pub fn parse_size(text: &str) -> Result<u64> {
    let wrong = || Error::Parameter {
        name: "--memory",
        what: format!("{text:?} is not a size; write for instance 64MiB, 1GiB or 500MB"),
    };
    let text_trimmed = text.trim();
    let digits = text_trimmed
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(text_trimmed.len());
    let (number, unit) = text_trimmed.split_at(digits);
    let unit: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kib" => 1 << 10,
        "m" | "mib" => 1 << 20,
        "g" | "gib" => 1 << 30,
        "t" | "tib" => 1 << 40,
        "kb" => 1_000,
        "mb" => 1_000_000,
        "gb" => 1_000_000_000,
        "tb" => 1_000_000_000_000,
        _ => return Err(wrong()),
    };
    if let Ok(whole) = number.parse::<u64>() {
        return whole
            .checked_mul(unit)
            .filter(|size| *size > 0)
            .ok_or_else(wrong);
    }
    let number: f64 = number.parse().map_err(|_| wrong())?;
    #[expect(clippy::cast_precision_loss, reason = "units are exact in f64")]
    let size = number * unit as f64;
    if !(1.0..9.0e15).contains(&size) {
        return Err(wrong());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "range checked above"
    )]
    Ok(size as u64)
}
