//! Stacks with masks, and which pixels these leave out, worked out from the numbers that they hold.

use crate::stack_cases::{Dice, Files, image};
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::exposure::{Rules, Stack};
use sectile::stack::mask::Meaning;

/// Flags of so many bits, as a header would call them: with the BZERO that turns their sign around, or none.
pub(crate) fn flags(bitpix: Bitpix, turned: bool) -> Encoding {
    let bzero = match bitpix {
        _ if !turned => 0.0,
        Bitpix::U8 => -128.0,
        other => 2.0_f64.powi(other.size() as i32 * 8 - 1),
    };
    Encoding {
        bzero,
        ..Encoding::plain(bitpix)
    }
}

/// Gives the exposures masks of these kinds in turn, before or behind their pixels, and takes from the oracle's
/// pixels what they leave out.
pub(crate) fn mask(mut files: Files, kinds: &[Option<Encoding>], meaning: Meaning) -> Files {
    let (width, height) = (files.stack.width, files.stack.height);
    let mut dice = Dice(u64::from(width) * 131 + kinds.len() as u64);
    let mut images = Vec::new();
    for (index, exposure) in files.stack.exposures.iter().enumerate() {
        let (name, data_at) = (&exposure.name, exposure.data_at);
        let mut of_exposure = image(name, width, height, exposure.encoding, data_at);
        if let Some(encoding) = kinds[index % kinds.len()] {
            let (stored, left_out) = plane(&mut dice, width * height, encoding, meaning);
            for (pixel, left_out) in files.pixels[index].iter_mut().zip(left_out) {
                *pixel = if left_out { f64::NAN } else { *pixel };
            }
            let file = &mut files.bytes[index];
            let mask_at = if index % 2 == 0 {
                file.extend_from_slice(&[0xEE; 7]);
                file.extend_from_slice(&stored);
                file.len() - stored.len()
            } else {
                of_exposure.data_at += stored.len() as u64;
                file.splice(0..0, stored);
                0
            };
            let of_mask = image(name, width, height, encoding, mask_at as u64);
            of_exposure.mask = Some(Box::new(of_mask));
        }
        images.push(of_exposure);
    }
    let rules = Rules {
        mask: meaning,
        ..Rules::default()
    };
    files.stack = Stack::open(images, rules).unwrap();
    files
}

/// A mask's bytes, and for each pixel whether it is left out.
fn plane(dice: &mut Dice, pixels: u32, kind: Encoding, meaning: Meaning) -> (Vec<u8>, Vec<bool>) {
    let (mut bytes, mut left_out) = (Vec::new(), Vec::new());
    for _ in 0..pixels {
        let raw = dice.next();
        // Half of all pixels without a flag, some with the highest bit, some with a few.
        let flag = match raw % 8 {
            0..4 => 0,
            4 => 1_u64 << (kind.bitpix.size() * 8 - 1),
            5 => 1,
            _ => raw >> 32 & 0x55,
        };
        let weight =
            [1.5, 0.0, -0.0, -2.0, f64::NAN, f64::INFINITY, 1e-30, 7.0][(raw % 8) as usize];
        left_out.push(match kind.bitpix {
            Bitpix::F32 | Bitpix::F64 => weight.is_nan() || weight <= 0.0,
            _ => match meaning {
                Meaning::Any => flag != 0,
                Meaning::Zero => flag == 0,
                Meaning::Bits(bits) => (0..64).any(|bit| flag >> bit & bits >> bit & 1 == 1),
            },
        });
        // Stored is what BZERO must be added to, in the width of the type.
        let stored = (i128::from(flag) - kind.bzero as i128) as u64;
        match kind.bitpix {
            Bitpix::F32 => bytes.extend((weight as f32).to_be_bytes()),
            Bitpix::F64 => bytes.extend(weight.to_be_bytes()),
            _ => bytes.extend(&stored.to_be_bytes()[8 - kind.bitpix.size()..]),
        }
    }
    (bytes, left_out)
}
