//! The header of a `.npy` file: what numpy needs in front of the raw numbers.
//!
//! `NumPy` enhancement proposal 1, format version 1.0. The numbers follow as little-endian, row by
//! row; row 0 is whatever row is written first (for a FITS image its first row, as
//! `astropy.io.fits` gives it).

use crate::error::{Error, Result};

/// What the numbers are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Number {
    /// Little-endian f32, `<f4`.
    F32,
    /// Little-endian f64, `<f8`.
    F64,
    /// Little-endian u16, `<u2`.
    U16,
}

impl Number {
    fn descr(self) -> &'static str {
        match self {
            Self::F32 => "<f4",
            Self::F64 => "<f8",
            Self::U16 => "<u2",
        }
    }
}

/// The bytes in front of `height` rows of `width` numbers, in C order: a multiple of 64.
///
/// # Errors
/// [`Error::Parameter`] if a side is 0.
pub fn header(number: Number, width: u32, height: u32) -> Result<Vec<u8>> {
    front(number, &[height, width])
}

/// The bytes in front of `planes` planes of `height` rows of `width` numbers, in C order.
///
/// # Errors
/// [`Error::Parameter`] if a side is 0.
pub fn header_of_planes(number: Number, planes: u32, width: u32, height: u32) -> Result<Vec<u8>> {
    front(number, &[planes, height, width])
}

fn front(number: Number, shape: &[u32]) -> Result<Vec<u8>> {
    let sides: Vec<String> = shape.iter().map(u32::to_string).collect();
    if shape.contains(&0) {
        return Err(Error::Parameter {
            name: "shape",
            what: format!("{} holds no number", sides.join(" x ")),
        });
    }
    // Magic, version and length take 10 bytes, and the last byte is the newline.
    let dictionary = format!(
        "{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}",
        number.descr(),
        sides.join(", ")
    );
    let total = (10 + dictionary.len() + 1).next_multiple_of(64);
    let mut bytes = Vec::with_capacity(total);
    bytes.extend_from_slice(b"\x93NUMPY\x01\x00");
    let rest = u16::try_from(total - 10).unwrap_or(u16::MAX);
    bytes.extend_from_slice(&rest.to_le_bytes());
    bytes.extend_from_slice(dictionary.as_bytes());
    bytes.resize(total - 1, b' ');
    bytes.push(b'\n');
    Ok(bytes)
}

/// Appends f32 values as little-endian bytes.
pub fn put_f32(values: &[f32], out: &mut Vec<u8>) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

/// Appends f64 values as little-endian bytes.
pub fn put_f64(values: &[f64], out: &mut Vec<u8>) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}

/// Appends u16 values as little-endian bytes.
pub fn put_u16(values: &[u16], out: &mut Vec<u8>) {
    out.extend(values.iter().flat_map(|value| value.to_le_bytes()));
}
