//! Columns of integers packed to a fixed number of bits.

/// Appends the low `width` bits of every value, least significant bit first, and fills the last byte
/// with zeros.
pub(super) fn pack(values: impl Iterator<Item = u64>, width: u32, out: &mut Vec<u8>) {
    let (mut held, mut bits) = (0u128, 0u32);
    for value in values {
        held |= u128::from(value) << bits;
        bits += width;
        while bits >= 64 {
            out.extend_from_slice(&(held as u64).to_le_bytes());
            held >>= 64;
            bits -= 64;
        }
    }
    let rest = (held as u64).to_le_bytes();
    out.extend_from_slice(&rest[..bits.div_ceil(8) as usize]);
}

/// Bytes of `len` values of `width` bits.
pub(super) fn packed(len: usize, width: u32) -> usize {
    (len * width as usize).div_ceil(8)
}

/// Unpacks `out.len()` values from value `first` on.
///
/// Eight bytes behind the column must be there: `bytes` goes on behind it.
#[inline]
pub(super) fn unpack(bytes: &[u8], width: u32, first: usize, out: &mut [u64]) {
    if width == 0 {
        out.fill(0);
        return;
    }
    let mask = u64::MAX >> (64 - width);
    let mut bit = first * width as usize;
    for value in out {
        let (at, skip) = (bit / 8, bit % 8);
        let mut bits = load(bytes, at) >> skip;
        if width > 57 && skip > 0 {
            let ninth = bytes.get(at + 8).copied().unwrap_or(0);
            bits |= u64::from(ninth) << (64 - skip);
        }
        *value = bits & mask;
        bit += width as usize;
    }
}

#[inline]
fn load(bytes: &[u8], at: usize) -> u64 {
    match bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        Some(eight) => u64::from_le_bytes(*eight),
        None => 0,
    }
}
