//! Stacks: N exposures on one pixel grid, reduced to one image.
