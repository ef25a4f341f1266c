//! Stacks: N exposures on one pixel grid, reduced to one image.

mod cut;
pub mod exposure;
pub mod job;
mod kernels;
pub mod mask;
pub mod median;
pub mod plan;
mod reads;
pub mod rms;
pub mod shards;
pub mod statistic;
