//! Ions: imaging datasets, packed and looked at.

pub mod pack;
