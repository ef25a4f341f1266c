//! Planes of values as pictures: scales, limits, tiles.
//!
//! [`plane`] turns values into 16-bit codes and back, [`stretch`] finds what to show of them, and
//! [`pyramid`] cuts and shrinks them into tiles.

pub mod plane;
pub mod pyramid;
pub mod stretch;
pub mod tiles;
mod zscale;
