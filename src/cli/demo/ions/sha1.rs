//! SHA-1 (FIPS 180-4 §6.1), which imzML wants of its binary half.

/// A checksum that is fed piece by piece.
#[derive(Debug)]
pub struct Sha1 {
    state: [u32; 5],
    /// What does not yet fill a block.
    rest: Vec<u8>,
    bytes: u64,
}

const BLOCK: usize = 64;

impl Sha1 {
    /// Of nothing yet.
    pub fn new() -> Self {
        Self {
            state: [
                0x6745_2301,
                0xefcd_ab89,
                0x98ba_dcfe,
                0x1032_5476,
                0xc3d2_e1f0,
            ],
            rest: Vec::with_capacity(BLOCK),
            bytes: 0,
        }
    }

    /// Goes on with more bytes.
    pub fn update(&mut self, mut bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if !self.rest.is_empty() {
            let (head, tail) = bytes.split_at(bytes.len().min(BLOCK - self.rest.len()));
            self.rest.extend_from_slice(head);
            bytes = tail;
            if let Some(block) = self.rest.first_chunk() {
                mix(&mut self.state, block);
                self.rest.clear();
            }
        }
        let (blocks, rest) = bytes.as_chunks();
        for block in blocks {
            mix(&mut self.state, block);
        }
        self.rest.extend_from_slice(rest);
    }

    /// The checksum.
    pub fn finish(mut self) -> [u8; 20] {
        let bits = self.bytes * 8;
        let zeros = (BLOCK + 55 - self.rest.len()) % BLOCK;
        let mut end = vec![0; 1 + zeros];
        end[0] = 0x80;
        end.extend_from_slice(&bits.to_be_bytes());
        self.update(&end);
        let mut sum = [0; 20];
        for (place, word) in sum.as_chunks_mut().0.iter_mut().zip(self.state) {
            *place = word.to_be_bytes();
        }
        sum
    }
}

fn mix(state: &mut [u32; 5], block: &[u8; BLOCK]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for at in 16..80 {
        words[at] =
            (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (at, word) in words.iter().enumerate() {
        let (choice, constant) = match at / 20 {
            0 => ((b & c) | (!b & d), 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(choice)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(*word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (word, new) in state.iter_mut().zip([a, b, c, d, e]) {
        *word = word.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8], step: usize) -> String {
        let mut sha1 = Sha1::new();
        bytes.chunks(step).for_each(|piece| sha1.update(piece));
        let sum = sha1.finish();
        sum.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    #[test]
    fn checksums_are_those_of_the_standard() {
        // RFC 3174 §7.3.
        let long = vec![b'a'; 1_000_000];
        for (bytes, sum) in [
            (&b"abc"[..], "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
            (b"", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (&long, "34aa973cd4c4daa4f61eeb2bdbad27316534016f"),
        ] {
            for step in [1, 7, 64, 100, 1_000_000] {
                assert_eq!(hex(bytes, step), sum);
            }
        }
    }
}
