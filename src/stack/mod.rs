//! Stacks: N exposures on one pixel grid, reduced to one image.

mod kernels;
pub mod median;
