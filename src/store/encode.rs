//! Peaks to the bytes of a block.

use super::bits::{pack, packed};
use super::format::{GROUP, TAIL};
use super::real::Real;

/// Peaks in three columns of equal length, as the integers that a block is made of.
#[derive(Debug, Clone, Copy)]
pub struct Columns<'a> {
    /// [Keys](Real::key) of the m/z, ascending.
    pub keys: &'a [u64],
    /// [Orders](Real::order) of the intensities.
    pub orders: &'a [u64],
    /// Pixels.
    pub pixels: &'a [u32],
}

/// How one column of one group is packed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Packing {
    /// Bits of a value in the column.
    pub(super) width: u8,
    /// Zero bits that were taken off the end of every value.
    pub(super) shift: u8,
    /// Values that have more bits than that.
    pub(super) exceptions: u8,
    /// Bytes for the bits that are more.
    pub(super) high: u8,
}

impl Packing {
    /// The packing of the fewest bytes; of several the one with the fewest exceptions.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "widths are at most 64, groups have 128 values"
    )]
    fn smallest(values: &[u64]) -> Self {
        let all = values.iter().fold(0, |all, value| all | value);
        if all == 0 {
            return Self::default();
        }
        let shift = all.trailing_zeros();
        let longest = 64 - (all >> shift).leading_zeros();
        let mut lengths = [0u8; 65];
        for value in values {
            lengths[(64 - (value >> shift).leading_zeros()) as usize] += 1;
        }
        let mut best = Self {
            width: longest as u8,
            shift: shift as u8,
            exceptions: 0,
            high: 0,
        };
        let mut least = best.bytes(values.len());
        let mut longer = 0u8;
        for width in (0..longest).rev() {
            longer += lengths[width as usize + 1];
            let high = (longest - width).div_ceil(8) as u8;
            let candidate = Self {
                width: width as u8,
                exceptions: longer,
                high,
                ..best
            };
            let bytes = candidate.bytes(values.len());
            if bytes < least {
                (best, least) = (candidate, bytes);
            }
        }
        best
    }

    /// Bytes of a column of `len` values.
    pub(super) fn bytes(self, len: usize) -> usize {
        packed(len, u32::from(self.width))
            + usize::from(self.exceptions) * (1 + usize::from(self.high))
    }

    /// Appends the column: packed values, positions of the exceptions, their high bytes.
    #[expect(clippy::cast_possible_truncation, reason = "groups have 128 values")]
    fn put(self, values: &[u64], out: &mut Vec<u8>) {
        let Self {
            width, shift, high, ..
        } = self;
        let mask = u64::MAX.checked_shr(64 - u32::from(width)).unwrap_or(0);
        let low = values.iter().map(|value| value >> shift & mask);
        pack(low, u32::from(width), out);
        if self.exceptions == 0 {
            return;
        }
        let rests = || values.iter().map(|value| value >> shift >> width);
        let positions = rests().enumerate().filter(|(_, rest)| *rest > 0);
        out.extend(positions.map(|(at, _)| at as u8));
        for rest in rests().filter(|rest| *rest > 0) {
            out.extend_from_slice(&rest.to_le_bytes()[..usize::from(high)]);
        }
    }
}

/// Appends the block of the peaks to `out`, whose length need not be 0.
///
/// The columns are of equal length; a longer one is cut. `out` grows by at most
/// [`Layout::most_bytes_of`](super::head::Layout::most_bytes_of).
///
/// # Cost
/// About 10 ns a peak.
#[expect(
    clippy::cast_possible_truncation,
    reason = "widths are at most 64, blocks far below 4 GiB"
)]
pub fn encode(mz: Real, intensity: Real, peaks: Columns<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    let groups = peaks.keys.len().div_ceil(GROUP);
    out.resize(
        start + groups * super::layout::group_entry(mz, intensity),
        0,
    );
    let mut entry_at = start;
    let mut values = [0; GROUP];
    for n in 0..groups {
        let range = n * GROUP..peaks.keys.len().min((n + 1) * GROUP);
        let [keys, orders] = [&peaks.keys[range.clone()], &peaks.orders[range.clone()]];
        let pixels = &peaks.pixels[range];
        let values = &mut values[..keys.len()];
        let at = (out.len() - start) as u32;

        values[0] = 0;
        for (value, pair) in values[1..].iter_mut().zip(keys.windows(2)) {
            *value = pair[1].wrapping_sub(pair[0]);
        }
        let mz_packing = Packing::smallest(values);
        mz_packing.put(values, out);

        let base = orders.iter().copied().min().unwrap_or(0);
        for (value, order) in values.iter_mut().zip(orders) {
            *value = order - base;
        }
        let intensity_packing = Packing::smallest(values);
        intensity_packing.put(values, out);

        let least = pixels.iter().copied().min().unwrap_or(0);
        let most = pixels.iter().copied().max().unwrap_or(0);
        let width = 32 - (most - least).leading_zeros();
        pack(
            pixels.iter().map(|pixel| u64::from(pixel - least)),
            width,
            out,
        );

        let mut put = |bytes: &[u8]| {
            out[entry_at..entry_at + bytes.len()].copy_from_slice(bytes);
            entry_at += bytes.len();
        };
        put(&keys[0].to_le_bytes()[..usize::from(mz.bytes())]);
        put(&base.to_le_bytes()[..usize::from(intensity.bytes())]);
        put(&least.to_le_bytes());
        put(&at.to_le_bytes());
        let (m, i) = (mz_packing, intensity_packing);
        put(&[m.width, m.shift, m.exceptions]);
        put(&[i.width, i.shift, i.exceptions]);
        put(&[width as u8, m.high | i.high << 4]);
    }
    out.extend_from_slice(&[0; TAIL]);
}
