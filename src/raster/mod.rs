//! Planes of values as pictures: scales, limits, tiles.
//!
//! [`plane`] turns values into 16-bit codes and back, [`stretch`] finds what to show of them, and
//! [`pyramid`] cuts and shrinks them into tiles; [`shrink`] makes one coarse tile of rows that pass by.

mod halving;
pub mod plane;
pub mod pyramid;
pub mod shrink;
pub mod stretch;
pub mod tiles;
mod zscale;
