//! The container: a signature, then chunks of length, type, data and checksum (PNG §5).

use crate::crc::checksum;

/// The first eight bytes of every PNG.
pub(super) const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1A\n";
/// Longest data that a chunk may have: 2³¹ − 1 bytes (§5.3).
pub(super) const LONGEST: usize = i32::MAX as usize;

/// Appends a chunk; the data are at most [`LONGEST`] bytes.
pub(super) fn put(kind: [u8; 4], data: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(data.len().min(LONGEST)).unwrap_or(0);
    out.extend_from_slice(&length.to_be_bytes());
    let from = out.len();
    out.extend_from_slice(&kind);
    out.extend_from_slice(&data[..length as usize]);
    let sum = checksum(&out[from..]);
    out.extend_from_slice(&sum.to_be_bytes());
}

/// One chunk of a file.
pub(super) struct Chunk<'a> {
    /// Its type.
    pub(super) kind: [u8; 4],
    /// Its data.
    pub(super) data: &'a [u8],
    /// Whether the checksum is right.
    pub(super) sound: bool,
    /// Where the next chunk starts.
    pub(super) end: usize,
}

/// The chunk that starts at a byte; `None` if the file ends within it.
pub(super) fn take(bytes: &[u8], at: usize) -> Option<Chunk<'_>> {
    let (length, rest) = bytes.get(at..)?.split_first_chunk::<4>()?;
    let length = u32::from_be_bytes(*length) as usize;
    let (kind, _) = rest.split_first_chunk::<4>()?;
    let (summed, rest) = rest.split_at_checked(length.checked_add(4)?)?;
    let (sum, _) = rest.split_first_chunk::<4>()?;
    Some(Chunk {
        kind: *kind,
        data: &summed[4..],
        sound: checksum(summed) == u32::from_be_bytes(*sum),
        end: at + 12 + length,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        // The IEND chunk that every PNG ends with.
        let mut end = Vec::new();
        put(*b"IEND", &[], &mut end);
        assert_eq!(end, b"\0\0\0\0IEND\xAE\x42\x60\x82");
        assert!(take(&end, 0).is_some_and(|chunk| chunk.sound && chunk.end == 12));
        assert!(take(&end, 1).is_none());
    }
}
