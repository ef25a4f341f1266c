//! The container: a signature, then chunks of length, type, data and checksum (PNG §5).

use std::sync::LazyLock;

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

/// CRC-32 as §D of the PNG standard and ISO 3309 define it, eight bytes at a time.
fn checksum(bytes: &[u8]) -> u32 {
    // Made when first needed: tables of noise would stand in the wasm file uncompressed.
    static TABLES: LazyLock<[[u32; 256]; 8]> = LazyLock::new(tables);
    let tables = &*TABLES;
    let mut sum = u32::MAX;
    let (eights, rest) = bytes.as_chunks::<8>();
    for &[a, b, c, d, e, f, g, h] in eights {
        let low = sum ^ u32::from_le_bytes([a, b, c, d]);
        let [a, b, c, d] = low.to_le_bytes();
        sum = tables[7][usize::from(a)]
            ^ tables[6][usize::from(b)]
            ^ tables[5][usize::from(c)]
            ^ tables[4][usize::from(d)]
            ^ tables[3][usize::from(e)]
            ^ tables[2][usize::from(f)]
            ^ tables[1][usize::from(g)]
            ^ tables[0][usize::from(h)];
    }
    for byte in rest {
        sum = tables[0][usize::from(sum.to_le_bytes()[0] ^ byte)] ^ (sum >> 8);
    }
    !sum
}

fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0_u32; 256]; 8];
    for (entry, byte) in tables[0].iter_mut().zip(0_u32..) {
        *entry = (0..8).fold(byte, |sum, _| (sum >> 1) ^ (0xEDB8_8320 * (sum & 1)));
    }
    for k in 1..8 {
        for i in 0..256 {
            let before = tables[k - 1][i];
            tables[k][i] = (before >> 8) ^ tables[0][usize::from(before.to_le_bytes()[0])];
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_the_standard() {
        // The check value of CRC-32, and the IEND chunk that every PNG ends with.
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum(b""), 0);
        let mut end = Vec::new();
        put(*b"IEND", &[], &mut end);
        assert_eq!(end, b"\0\0\0\0IEND\xAE\x42\x60\x82");
        assert!(take(&end, 0).is_some_and(|chunk| chunk.sound && chunk.end == 12));
        assert!(take(&end, 1).is_none());
    }
}
