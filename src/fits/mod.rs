//! FITS: from bytes to images, without reading anything itself.
//!
//! [`walk`] goes from header to header and chooses an HDU; [`header`] and [`card`] parse;
//! [`hdu`] computes where data lie; [`pixel`] says what stored bytes mean; [`wcs`] where a pixel
//! is on the sky and [`thinned`] where it is in a preview; [`mod@write`] makes files.

mod angle;
pub mod card;
mod carried;
mod choice;
mod decimal;
pub mod hdu;
pub mod header;
mod held;
mod image;
mod masking;
pub mod pixel;
mod signature;
pub mod thinned;
pub mod walk;
pub mod wcs;
pub mod write;

pub use image::Image;
