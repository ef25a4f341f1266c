//! A window of m/z out of a block, decoding no more groups than it touches.

use std::ops::Range;

use super::bits::{packed, unpack_narrow, unpack_wide};
use super::encode::Packing;
pub use super::encode::{Columns, encode};
use super::format::GROUP;
use super::group::Group;
use super::head::{Entry, Head};
use super::real::Real;
use crate::crc::checksum;
use crate::error::{Error, Result};

/// Intensities of some peaks, in the store's precision.
#[derive(Debug, Clone, Copy)]
pub enum Intensities<'v> {
    /// f32.
    F32(&'v [f32]),
    /// f64.
    F64(&'v [f64]),
}

/// The bytes of one block, checked.
///
/// Peaks are counted from 0 in the block. A value is checked when it is decoded: whatever the bytes,
/// an m/z is never smaller than the one before, an intensity is finite and a pixel is in the image.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    pub(super) head: &'a Head,
    pub(super) entry: &'a Entry,
    pub(super) bytes: &'a [u8],
    pub(super) len: usize,
}

impl<'a> Block<'a> {
    /// Opens block `n` of which these are all bytes: compares their CRC-32 and checks the group table.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if there are more or fewer bytes than the directory says, or no such
    /// block; [`Error::Format`] naming file and byte if they are not those that were written.
    ///
    /// # Cost
    /// One pass over the bytes, about 30 µs for a full block.
    pub fn open(head: &'a Head, n: usize, bytes: &'a [u8]) -> Result<Self> {
        let block = Self::again(head, n, bytes)?;
        if checksum(bytes) != block.entry.crc {
            return Err(block.format(
                0,
                format!("the CRC-32 of block {n} does not fit its bytes; fetch the file again"),
            ));
        }
        block.check_groups()?;
        Ok(block)
    }

    /// Opens a block that was [opened](Self::open) before, without a pass over its bytes.
    ///
    /// Bytes that were never checked give wrong peaks or an error later, but never a panic.
    ///
    /// # Errors
    /// [`Error::Unexpected`] as [`Block::open`].
    pub fn again(head: &'a Head, n: usize, bytes: &'a [u8]) -> Result<Self> {
        let range = head.block_range(n);
        let unexpected = || Error::Unexpected {
            file: head.file.clone(),
            at: range.start,
            asked: range.end - range.start,
            got: bytes.len() as u64,
        };
        let entry = head.blocks.get(n).ok_or_else(unexpected)?;
        if bytes.len() as u64 != u64::from(entry.bytes) {
            return Err(unexpected());
        }
        let len = head.peaks_of(n);
        Ok(Self {
            head,
            entry,
            bytes,
            len,
        })
    }

    /// Peaks of the block.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "no block is empty")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The peaks whose m/z lies in the closed window.
    ///
    /// Empty if there is none, or if a bound is not a number.
    ///
    /// # Errors
    /// [`Error::Format`] if the m/z of a group that was decoded contradict the group table.
    ///
    /// # Cost
    /// A binary search over the groups; one or two groups are decoded, 0.2 µs each.
    pub fn find(&self, lo: f64, hi: f64) -> Result<Range<usize>> {
        let real = self.head.layout.contents.mz;
        let (Some(lo), Some(hi)) = (real.at_least(lo), real.at_most(hi)) else {
            return Ok(0..0);
        };
        if lo > hi {
            return Ok(0..0);
        }
        let start = self.count(|key| key < lo)?;
        let end = self.count(|key| key <= hi)?;
        Ok(start..end.max(start))
    }

    /// Peaks for which `below` holds, which it does for the first ones.
    fn count(&self, below: impl Fn(u64) -> bool) -> Result<usize> {
        let (mut low, mut high) = (0, self.groups());
        while low < high {
            let middle = usize::midpoint(low, high);
            if below(self.first_key(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let Some(n) = low.checked_sub(1) else {
            return Ok(0);
        };
        if n + 1 == self.groups() && below(self.last_key()) {
            return Ok(self.len);
        }
        // Keys that ascend are counted while they are summed up: nothing is written and searched.
        let group = self.group(n);
        let mut count = 0;
        let see = |key| count += usize::from(below(key));
        match self.head.layout.contents.mz {
            Real::F32 => {
                let mut deltas = [0; GROUP];
                self.narrow(group.at, &group, group.mz, 0..group.len, &mut deltas);
                let deltas = deltas[..group.len].iter().map(|delta| u64::from(*delta));
                self.ascend(n, &group, deltas, see)?;
            }
            Real::F64 => {
                let mut deltas = [0; GROUP];
                let deltas = &mut deltas[..group.len];
                self.wide(group.at, &group, group.mz, 0, deltas);
                self.ascend(n, &group, deltas.iter().copied(), see)?;
            }
        }
        Ok(n * GROUP + count)
    }

    /// Shows the keys of a group's deltas.
    fn ascend(
        &self,
        n: usize,
        group: &Group,
        deltas: impl Iterator<Item = u64>,
        mut see: impl FnMut(u64),
    ) -> Result<()> {
        let mut key = group.first;
        // The table's key is that of the first peak, on which the search among groups relies.
        let mut first = true;
        let mut ascending = true;
        for delta in deltas {
            let next = key.wrapping_add(delta);
            ascending &= next >= key && (!first || delta == 0);
            first = false;
            key = next;
            see(key);
        }
        let next = if n + 1 < self.groups() {
            self.first_key(n + 1)
        } else {
            self.last_key()
        };
        if !ascending || first || key > next {
            let what = format!(
                "the m/z of group {n} do not ascend from the one in its table; the store is damaged"
            );
            return Err(self.format(group.at, what));
        }
        Ok(())
    }

    /// Decodes the m/z of a range of peaks.
    ///
    /// `out` has the range's length; what is missing of either is left out.
    ///
    /// # Errors
    /// [`Error::Format`] if the m/z of a group contradict the group table.
    pub fn decode_mz(&self, range: Range<usize>, out: &mut [f64]) -> Result<()> {
        let real = self.head.layout.contents.mz;
        let mut keys = [0; GROUP];
        let mut rest = out;
        for (n, part) in self.parts(range) {
            let group = self.group(n);
            self.keys(n, &group, &mut keys)?;
            let (now, later) = rest.split_at_mut(part.len().min(rest.len()));
            for (mz, key) in now.iter_mut().zip(&keys[part]) {
                *mz = real.mz(*key);
            }
            rest = later;
        }
        Ok(())
    }

    /// Shows pixel and intensity of each peak of a range, in stored order.
    ///
    /// # Errors
    /// Those of [`Block::visit_groups`].
    ///
    /// # Cost
    /// About 3 ns a peak in WebAssembly; only the groups of the range are looked at.
    #[inline]
    pub fn visit(&self, range: Range<usize>, mut show: impl FnMut(u32, f64)) -> Result<()> {
        self.visit_groups(range, |pixels, intensities| match intensities {
            Intensities::F32(values) => {
                for (pixel, value) in pixels.iter().zip(values) {
                    show(*pixel, f64::from(*value));
                }
            }
            Intensities::F64(values) => {
                for (pixel, value) in pixels.iter().zip(values) {
                    show(*pixel, *value);
                }
            }
        })
    }

    /// Shows pixels and intensities of a range, a group's at a time, in stored order.
    ///
    /// # Errors
    /// [`Error::Format`] naming file and byte if a pixel is outside of the image or an intensity is
    /// not finite; groups before were shown.
    #[inline]
    pub fn visit_groups(
        &self,
        range: Range<usize>,
        mut show: impl FnMut(&[u32], Intensities<'_>),
    ) -> Result<()> {
        let mut pixels = [0; GROUP];
        match self.head.layout.contents.intensity {
            Real::F32 => {
                let mut values = [0.0; GROUP];
                for (n, part) in self.parts(range) {
                    self.singles(n, part.clone(), &mut values, &mut pixels)?;
                    show(&pixels[part.clone()], Intensities::F32(&values[part]));
                }
            }
            Real::F64 => {
                let mut values = [0.0; GROUP];
                for (n, part) in self.parts(range) {
                    self.doubles(n, part.clone(), &mut values, &mut pixels)?;
                    show(&pixels[part.clone()], Intensities::F64(&values[part]));
                }
            }
        }
        Ok(())
    }

    /// Decodes f32 intensities and pixels of a part of a group, each into its place.
    fn singles(
        &self,
        n: usize,
        part: Range<usize>,
        values: &mut [f32; GROUP],
        pixels: &mut [u32; GROUP],
    ) -> Result<()> {
        let group = self.group(n);
        let at = group.at + group.mz.bytes(group.len);
        let mut orders = [0; GROUP];
        self.narrow(at, &group, group.intensity, part.clone(), &mut orders);
        let finite = single(&orders[part.clone()], group.base, &mut values[part.clone()]);
        self.finite(at, finite)?;
        self.pixels(at, &group, part, pixels)
    }

    /// As [`Block::singles`], of f64 intensities.
    fn doubles(
        &self,
        n: usize,
        part: Range<usize>,
        values: &mut [f64; GROUP],
        pixels: &mut [u32; GROUP],
    ) -> Result<()> {
        let group = self.group(n);
        let at = group.at + group.mz.bytes(group.len);
        let mut orders = [0; GROUP];
        let some = &mut orders[part.clone()];
        self.wide(at, &group, group.intensity, part.start, some);
        let finite = double(some, group.base, &mut values[part.clone()]);
        self.finite(at, finite)?;
        self.pixels(at, &group, part, pixels)
    }

    fn finite(&self, at: usize, finite: bool) -> Result<()> {
        if finite {
            return Ok(());
        }
        let what = "an intensity is not a finite number; the store is damaged".to_owned();
        Err(self.format(at, what))
    }

    /// Decodes pixels of a part of a group, each into its place; `at` is where the intensities are.
    fn pixels(
        &self,
        at: usize,
        group: &Group,
        part: Range<usize>,
        pixels: &mut [u32; GROUP],
    ) -> Result<()> {
        let at = at + group.intensity.bytes(group.len);
        unpack_narrow(self.from(at), group.pixel_width, part.clone(), pixels);
        let mut outermost = 0;
        for pixel in &mut pixels[part] {
            *pixel = pixel.saturating_add(group.least_pixel);
            outermost = outermost.max(*pixel);
        }
        if outermost >= self.head.pixels() {
            let what = format!(
                "a peak lies in pixel {outermost} of an image of {} pixels; the store is damaged",
                self.head.pixels()
            );
            return Err(self.format(at, what));
        }
        Ok(())
    }

    /// Decodes the keys of a group into the first places of `keys`.
    fn keys(&self, n: usize, group: &Group, keys: &mut [u64; GROUP]) -> Result<()> {
        let mut deltas = [0; GROUP];
        match self.head.layout.contents.mz {
            Real::F32 => {
                let mut narrow = [0; GROUP];
                self.narrow(group.at, group, group.mz, 0..group.len, &mut narrow);
                for (delta, narrow) in deltas.iter_mut().zip(narrow) {
                    *delta = u64::from(narrow);
                }
            }
            Real::F64 => self.wide(group.at, group, group.mz, 0, &mut deltas[..group.len]),
        }
        let mut places = keys.iter_mut();
        self.ascend(n, group, deltas[..group.len].iter().copied(), |key| {
            if let Some(place) = places.next() {
                *place = key;
            }
        })
    }

    /// Decodes a part of a column of 32-bit values, without base or sum, each into its place.
    #[expect(clippy::cast_possible_truncation, reason = "such values have 32 bits")]
    fn narrow(
        &self,
        at: usize,
        group: &Group,
        packing: Packing,
        part: Range<usize>,
        out: &mut [u32; GROUP],
    ) {
        let width = u32::from(packing.width);
        unpack_narrow(self.from(at), width, part, out);
        for (place, rest) in self.exceptions(at, group.len, packing) {
            if let Some(value) = out.get_mut(place) {
                *value |= (rest as u32).checked_shl(width).unwrap_or(0);
            }
        }
        if packing.shift > 0 {
            for value in out {
                *value = value.checked_shl(u32::from(packing.shift)).unwrap_or(0);
            }
        }
    }

    /// Decodes a part of a column of 64-bit values, without base or sum, from its first on.
    fn wide(&self, at: usize, group: &Group, packing: Packing, start: usize, out: &mut [u64]) {
        let width = u32::from(packing.width);
        unpack_wide(self.from(at), width, start, out);
        for (place, rest) in self.exceptions(at, group.len, packing) {
            let place = place.checked_sub(start);
            if let Some(value) = place.and_then(|place| out.get_mut(place)) {
                *value |= rest.checked_shl(width).unwrap_or(0);
            }
        }
        if packing.shift > 0 {
            for value in out {
                *value = value.checked_shl(u32::from(packing.shift)).unwrap_or(0);
            }
        }
    }

    /// Places and high bits of a column's exceptions.
    fn exceptions(
        &self,
        at: usize,
        len: usize,
        packing: Packing,
    ) -> impl Iterator<Item = (usize, u64)> + use<'a> {
        let bytes = self.from(at + packed(len, u32::from(packing.width)));
        let (places, rests) = bytes
            .split_at_checked(usize::from(packing.exceptions))
            .unwrap_or_default();
        let rests = rests.chunks(usize::from(packing.high).max(1));
        places.iter().zip(rests).map(|(place, rest)| {
            let mut bytes = [0; 8];
            let used = rest.len().min(8);
            bytes[..used].copy_from_slice(&rest[..used]);
            (usize::from(*place), u64::from_le_bytes(bytes))
        })
    }

    /// The groups of a range of peaks, each with the part of it in the range.
    fn parts(&self, range: Range<usize>) -> impl Iterator<Item = (usize, Range<usize>)> + use<> {
        let range = range.start..range.end.min(self.len);
        let groups = range.start / GROUP..range.end.div_ceil(GROUP);
        groups.map(move |n| {
            let from = range.start.max(n * GROUP) - n * GROUP;
            let to = range.end.min((n + 1) * GROUP) - n * GROUP;
            (n, from..to)
        })
    }

    /// The block's bytes from an offset on.
    pub(super) fn from(&self, at: usize) -> &'a [u8] {
        self.bytes.get(at..).unwrap_or_default()
    }

    pub(super) fn format(&self, at: usize, what: String) -> Error {
        Error::Format {
            file: self.head.file.clone(),
            at: self.entry.at + at as u64,
            what,
        }
    }
}

/// Intensities of orders relative to a base; whether all are finite.
#[expect(clippy::cast_possible_truncation, reason = "such orders have 32 bits")]
fn single(orders: &[u32], base: u64, out: &mut [f32]) -> bool {
    let base = base as u32;
    let mut finite = true;
    for (order, out) in orders.iter().zip(out) {
        let order = order.wrapping_add(base);
        // The sign bit says which way the order was turned.
        let turned = (order.cast_signed() >> 31).cast_unsigned();
        *out = f32::from_bits(order ^ (!turned | 1 << 31));
        finite &= out.is_finite();
    }
    finite
}

/// As [`single`], of 64 bits.
fn double(orders: &[u64], base: u64, out: &mut [f64]) -> bool {
    let mut finite = true;
    for (order, out) in orders.iter().zip(out) {
        *out = Real::F64.intensity(order.wrapping_add(base));
        finite &= out.is_finite();
    }
    finite
}
