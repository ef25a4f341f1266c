//! The checksum of PNG chunks, of blocks of a store and of images.

use std::sync::LazyLock;

/// CRC-32 as ISO 3309 defines it (and §D of the PNG standard, and zlib's `crc32`).
///
/// # Cost
/// Eight bytes at a time: about 2 GB/s.
pub(crate) fn checksum(bytes: &[u8]) -> u32 {
    let mut sum = Running::default();
    sum.update(bytes);
    sum.value()
}

/// [`checksum`] of bytes that come in pieces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Running(u32);

impl Default for Running {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Running {
    /// Takes the next bytes.
    pub(crate) fn update(&mut self, bytes: &[u8]) {
        // Made when first needed: tables of noise would stand in the wasm file uncompressed.
        static TABLES: LazyLock<[[u32; 256]; 8]> = LazyLock::new(tables);
        let tables = &*TABLES;
        let mut sum = self.0;
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
        self.0 = sum;
    }

    /// The checksum of the bytes so far.
    pub(crate) fn value(self) -> u32 {
        !self.0
    }
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
        // The check value of CRC-32.
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(checksum(b""), 0);
        let mut pieces = Running::default();
        for piece in [&b"1234"[..], b"", b"56789"] {
            pieces.update(piece);
        }
        assert_eq!(pieces.value(), 0xCBF4_3926);
    }
}
