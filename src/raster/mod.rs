//! Planes of values as pictures: scales, limits, tiles.
