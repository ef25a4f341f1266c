//! FITS: from bytes to images, without reading anything itself.
//!
//! [`pixel`] says what stored bytes mean.

pub mod pixel;
