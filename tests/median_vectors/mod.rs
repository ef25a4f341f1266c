//! Stacks and the oracle that the median is held against, natively and in wasm.
//!
//! Nothing here but additions, multiplications and bit patterns, so that both build the same stacks.

use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::median::{Kernel, Samples, nanmedian};

/// Sizes of stacks: every one that has a kernel of its own or is padded to one, and then some.
pub(crate) fn sizes() -> impl Iterator<Item = usize> {
    (1..=70).chain([
        90, 100, 128, 129, 200, 255, 256, 257, 400, 511, 513, 1000, 4096,
    ])
}

/// Ways to fill a stack.
pub(crate) const KINDS: [&str; 19] = [
    "normal",
    "normal about zero",
    "one in ten missing",
    "nine in ten missing",
    "infinities",
    "infinities and missing",
    "signed zeros",
    "denormals",
    "ties",
    "two values",
    "any bits",
    "all missing",
    "payloads",
    "rising",
    "falling",
    "geometric",
    "huge",
    "cosmic rays",
    "steps between neighbours",
];

/// Splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.bits() % end
    }

    pub(crate) fn unit(&mut self) -> f32 {
        (self.bits() >> 40) as f32 / 16_777_216.0
    }

    /// Bell-shaped, with deviation 1.
    pub(crate) fn normal(&mut self) -> f32 {
        let mut sum = -6.0;
        for _ in 0..12 {
            sum += self.unit();
        }
        sum
    }
}

/// Value of exposure `row` at pixel `x`.
fn value(kind: &str, random: &mut Random, row: usize, x: usize) -> f32 {
    let nan = f32::NAN;
    match kind {
        "normal" => 100.0 + 10.0 * random.normal(),
        "normal about zero" => random.normal(),
        "one in ten missing" => match random.below(10) {
            0 => nan,
            _ => random.normal(),
        },
        "nine in ten missing" => match random.below(10) {
            0 => random.normal(),
            _ => nan,
        },
        "infinities" => [f32::INFINITY, f32::NEG_INFINITY, 1.0, 2.0][random.below(4) as usize],
        "infinities and missing" => {
            [f32::INFINITY, f32::NEG_INFINITY, nan][random.below(3) as usize]
        }
        "signed zeros" => [0.0, -0.0, nan, -0.0][random.below(4) as usize],
        "denormals" => f32::from_bits((random.bits() as u32) & 0x8000_00ff),
        "ties" => random.below(3) as f32,
        "two values" => [7.25, -1e30][random.below(2) as usize],
        "any bits" => f32::from_bits(random.bits() as u32),
        "all missing" => nan,
        "payloads" => match random.below(2) {
            0 => f32::from_bits((random.bits() as u32) | 0x7f80_0001),
            _ => random.normal(),
        },
        "rising" => row as f32 * 0.5 + x as f32,
        "falling" => -(row as f32) - x as f32,
        "geometric" => {
            let exponent = random.below(255) as u32;
            f32::from_bits((random.below(2) as u32) << 31 | exponent << 23)
        }
        "huge" => (random.unit() * 2.0 - 1.0) * 3.4e38,
        "cosmic rays" => match random.below(20) {
            0 => 6e4 * random.unit(),
            1 => nan,
            _ => 10.0 + 0.25 * random.normal(),
        },
        "steps between neighbours" => {
            [1e-3, 1e6, -40.0, 3e20][x / 3 % 4] * (1.0 + 0.01 * random.normal())
        }
        _ => panic!("no such kind: {kind}"),
    }
}

/// A stack of `n` exposures of `width` pixels, one exposure after the other.
pub(crate) fn stack(kind: &str, n: usize, width: usize) -> Vec<f32> {
    let seed = kind.bytes().fold(n as u64, |seed, byte| {
        seed.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    let mut random = Random(seed);
    (0..n * width)
        .map(|i| value(kind, &mut random, i / width, i % width))
        .collect()
}

/// The median and the count by sorting.
pub(crate) fn oracle_f32(values: impl Iterator<Item = f32>) -> (f32, u16) {
    let mut valid: Vec<f32> = values.filter(|value| !value.is_nan()).collect();
    valid.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let n = valid.len();
    let median = match n {
        0 => f32::NAN,
        _ if n % 2 == 1 => valid[n / 2],
        _ => (valid[n / 2 - 1] + valid[n / 2]) * 0.5,
    };
    (median, n as u16)
}

/// [`oracle_f32`] in f64.
pub(crate) fn oracle_f64(values: impl Iterator<Item = f64>) -> (f64, u16) {
    let mut valid: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    valid.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let n = valid.len();
    let median = match n {
        0 => f64::NAN,
        _ if n % 2 == 1 => valid[n / 2],
        _ => (valid[n / 2 - 1] + valid[n / 2]) * 0.5,
    };
    (median, n as u16)
}

/// Equal in value; a NaN must be the canonical one and a zero positive.
pub(crate) fn same_f32(got: f32, want: f32) -> bool {
    if want.is_nan() {
        got.to_bits() == 0x7fc0_0000
    } else if want == 0.0 {
        got.to_bits() == 0
    } else {
        got == want
    }
}

/// [`same_f32`] for f64.
pub(crate) fn same_f64(got: f64, want: f64) -> bool {
    if want.is_nan() {
        got.to_bits() == 0x7ff8_0000_0000_0000
    } else if want == 0.0 {
        got.to_bits() == 0
    } else {
        got == want
    }
}

/// The stack through the f32 path, from big-endian bytes.
pub(crate) fn median_f32(n: usize, width: usize, values: &[f32]) -> (Vec<f32>, Vec<u16>) {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    let encoding = Encoding::plain(Bitpix::F32);
    let rows: Vec<Samples<'_>> = bytes
        .chunks(width * 4)
        .map(|bytes| Samples { bytes, encoding })
        .collect();
    let (mut out, mut count) = (vec![f32::NAN; width], vec![u16::MAX; width]);
    let mut kernel = Kernel::new(n).unwrap();
    kernel.median_f32(&rows, &mut out, &mut count).unwrap();
    (out, count)
}

/// The stack through the f64 path, from big-endian bytes.
pub(crate) fn median_f64(n: usize, width: usize, values: &[f64]) -> (Vec<f64>, Vec<u16>) {
    let bytes: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_be_bytes())
        .collect();
    let encoding = Encoding::plain(Bitpix::F64);
    let rows: Vec<Samples<'_>> = bytes
        .chunks(width * 8)
        .map(|bytes| Samples { bytes, encoding })
        .collect();
    let (mut out, mut count) = (vec![f64::NAN; width], vec![u16::MAX; width]);
    let mut kernel = Kernel::new(n).unwrap();
    kernel.median_f64(&rows, &mut out, &mut count).unwrap();
    (out, count)
}

/// Column `x` of a stack.
pub(crate) fn column<T: Copy>(
    values: &[T],
    width: usize,
    x: usize,
) -> impl Iterator<Item = T> + '_ {
    values.iter().skip(x).step_by(width).copied()
}

/// Holds both entrances of the f32 path against the oracle; gives the results' bits.
pub(crate) fn check_f32(what: &str, n: usize, width: usize, values: &[f32]) -> Vec<u32> {
    let (out, count) = median_f32(n, width, values);
    for x in 0..width {
        let (want, contributing) = oracle_f32(column(values, width, x));
        assert!(
            same_f32(out[x], want) && count[x] == contributing,
            "{what}, n = {n}, pixel {x} of {width}: got {:e} ({:08x}) of {}, want {want:e} of {contributing}",
            out[x],
            out[x].to_bits(),
            count[x],
        );
    }
    let exposures: Vec<&[f32]> = values.chunks(width).collect();
    let (mut native, mut native_count) = (vec![0.0; width], vec![0; width]);
    nanmedian(&exposures, &mut native, &mut native_count).unwrap();
    let bits = |values: &[f32]| values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&native), bits(&out), "{what}, n = {n}: native arrays");
    assert_eq!(native_count, count, "{what}, n = {n}: native arrays");
    bits(&out)
}

/// Holds the f64 path against the oracle.
pub(crate) fn check_f64(what: &str, n: usize, width: usize, values: &[f64]) -> Vec<u64> {
    let (out, count) = median_f64(n, width, values);
    for x in 0..width {
        let (want, contributing) = oracle_f64(column(values, width, x));
        assert!(
            same_f64(out[x], want) && count[x] == contributing,
            "{what}, n = {n}, pixel {x} of {width}: got {:e} of {}, want {want:e} of {contributing}",
            out[x],
            count[x],
        );
    }
    out.iter().map(|value| value.to_bits()).collect()
}

/// A stack for the f64 path: values that f32 could not tell apart.
pub(crate) fn wide_stack(kind: &str, n: usize, width: usize) -> Vec<f64> {
    let mut random = Random(n as u64);
    stack(kind, n, width)
        .into_iter()
        .map(|value| match kind {
            "any bits" => f64::from_bits(random.bits()),
            "huge" => f64::from(value) * 5e269,
            _ => f64::from(value) * (1.0 + random.below(1 << 20) as f64 * 2f64.powi(-50)),
        })
        .collect()
}

/// Every kind at every size up to `most` exposures, in one number made of all the results' bits.
pub(crate) fn digest(most: usize) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut mix = |bits: u64| hash = (hash ^ bits).wrapping_mul(0x0000_0100_0000_01b3);
    for n in sizes().filter(|&n| n <= most) {
        for kind in KINDS {
            let width = 33 + n % 38;
            for bits in check_f32(kind, n, width, &stack(kind, n, width)) {
                mix(u64::from(bits));
            }
            let width = 5 + n % 7;
            for bits in check_f64(kind, n, width, &wide_stack(kind, n, width)) {
                mix(bits);
            }
        }
    }
    hash
}

/// [`digest`] of 4096: what every build on every machine must give.
#[cfg(not(target_arch = "wasm32"))]
pub(crate) const DIGEST_ALL: u64 = 0xb9a2_6f14_3cf3_66ac;

/// [`digest`] of 257.
pub(crate) const DIGEST_257: u64 = 0xd994_0f49_93a8_4127;
