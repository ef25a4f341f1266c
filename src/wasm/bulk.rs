//! Typed arrays of JavaScript, copied in only when there is room for them.

#[cfg(feature = "wasm-stack")]
use js_sys::Float32Array;
#[cfg(any(feature = "wasm-stack", feature = "wasm-ions"))]
use js_sys::Float64Array;
use js_sys::Uint8Array;

use super::{Thrown, thrown};
use crate::error::Error;

/// Most bytes that a machine is ever fed at one time.
const MOST_BYTES: u32 = 4 << 20;

/// Bytes for a machine.
pub(super) fn bytes(array: &Uint8Array) -> Result<Vec<u8>, Thrown> {
    if array.length() > MOST_BYTES {
        let what = format!("{} bytes at one time", array.length());
        return Err(thrown(Error::Parameter {
            name: "bytes",
            what,
        }));
    }
    let mut values = room(array.length())?;
    array.copy_to(&mut values);
    Ok(values)
}

/// Bytes of which so many are expected at most.
#[cfg(any(
    feature = "wasm-ions",
    feature = "wasm-annotate",
    feature = "wasm-edge"
))]
pub(super) fn within(array: &Uint8Array, most: u64) -> Result<Vec<u8>, Thrown> {
    let need = u64::from(array.length());
    let mut values = Vec::new();
    if need > most || values.try_reserve_exact(array.length() as usize).is_err() {
        let what = "bytes from JavaScript".to_owned();
        let have = most;
        return Err(thrown(Error::Budget { need, have, what }));
    }
    values.resize(array.length() as usize, 0);
    array.copy_to(&mut values);
    Ok(values)
}

/// Most values that one call takes: bands are small, so that they fit beside everything else.
const MOST_VALUES: u32 = 1 << 22;

/// Room for `length` values, or a refusal.
pub(super) fn room<T: Default + Clone>(length: u32) -> Result<Vec<T>, Thrown> {
    let need = u64::from(length) * size_of::<T>() as u64;
    let mut values = Vec::new();
    if length > MOST_VALUES || values.try_reserve_exact(length as usize).is_err() {
        let what = format!("a band of {length} values");
        let have = u64::from(MOST_VALUES) * size_of::<T>() as u64;
        return Err(thrown(Error::Budget { need, have, what }));
    }
    values.resize(length as usize, T::default());
    Ok(values)
}

#[cfg(feature = "wasm-stack")]
pub(super) fn floats(array: &Float32Array) -> Result<Vec<f32>, Thrown> {
    let mut values = room(array.length())?;
    array.copy_to(&mut values);
    Ok(values)
}

#[cfg(any(feature = "wasm-stack", feature = "wasm-ions"))]
pub(super) fn doubles(array: &Float64Array) -> Result<Vec<f64>, Thrown> {
    let mut values = room(array.length())?;
    array.copy_to(&mut values);
    Ok(values)
}
