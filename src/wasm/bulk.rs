//! Typed arrays of JavaScript, copied in only when there is room for them.

use js_sys::{Float32Array, Float64Array};

use super::{Thrown, thrown};
use crate::error::Error;

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

pub(super) fn doubles(array: &Float64Array) -> Result<Vec<f64>, Thrown> {
    let mut values = room(array.length())?;
    array.copy_to(&mut values);
    Ok(values)
}
