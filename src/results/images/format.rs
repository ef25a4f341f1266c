//! The images file's format, version 1: ion images that are read by ranges.
//!
//! One file (`.sectile-images`) holds the isotope images of every annotated ion. Head first, so that one read, seldom
//! two, says where each image is, and one range brings it. No names of objects, no keys. This page is enough to
//! write a reader; `tests/read_images.py` of the repository is one.
//!
//! All numbers are little-endian; `f32` and `f64` are IEEE 754; offsets count bytes from the start of the file.
//!
//! ```text
//! 0            112                                   head length                            file length
//! ├────────────┼──────────────────┬──────────────────┼─────────┬─────────┬─────────┬───────────────┤
//! │ header     │ index            │ text             │ ion 0,  │ ion 0,  │ ion 1,  │ …             │
//! │ 112        │ 152 an ion       │ text length      │ peak 0  │ peak 1  │ peak 0  │               │
//! └────────────┴──────────────────┴──────────────────┴─────────┴─────────┴─────────┴───────────────┘
//! └────────── head, covered by the SHA-256 ──────────┘ PNG, each covered by its CRC-32 in the index
//! ```
//!
//! The parts follow one another without gaps, and so do the images, in the order of the index.
//!
//! # Header
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | 8 bytes | `SECTIMG` and the byte 1A (hexadecimal) |
//! | 8 | u32 | version, 1 |
//! | 12 | u32 | width: pixels of a row |
//! | 16 | u32 | height: rows |
//! | 20 | u32 | ions |
//! | 24 | u32 | images |
//! | 28 | u32 | text length, a multiple of 8 |
//! | 32 | u64 | head length = 112 + 152 · ions + text length |
//! | 40 | u64 | file length |
//! | 48 | 32 bytes | SHA-256 that the store of the images has in its own header |
//! | 80 | 32 bytes | SHA-256 of the head with these 32 bytes zero |
//!
//! # Index
//!
//! One entry an ion, ascending by formula and then by modifier, both compared as bytes of UTF-8:
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | u32 | where its name begins in the text |
//! | 4 | u16 | bytes of the formula, such as `C6H12O6` |
//! | 6 | u16 | bytes of the modifier behind it, such as `-H2O+Na` |
//! | 8 | f64 | MSM, above 0 |
//! | 16 | f64 | FDR, 0 to 1 |
//! | 24 | 4 × 32 bytes | its isotope peaks, ascending in m/z: |
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | u64 | offset of the image |
//! | 8 | u32 | bytes of the image; 0 if there is none (no peak in the window, or not kept) |
//! | 12 | u32 | CRC-32 of the image (that of zlib and PNG) |
//! | 16 | f64 | theoretical m/z; 0 if the pattern has no such peak |
//! | 24 | f32 | value of code 0 |
//! | 28 | f32 | value of code 65,535 |
//!
//! Where there is no image, all but the m/z is 0.
//!
//! # Text
//!
//! UTF-8: formula and modifier of each ion in the order of the index, without anything between them, filled up with
//! zeros.
//!
//! # Image
//!
//! A PNG of 16-bit grey and alpha (colour type 4), row 0 at the top. Alpha is 65,535 where a spectrum was acquired, else
//! 0. The grey code is the value's share of the range, cut: `trunc((v − least) / (greatest − least) · 65535)`, where
//! least and greatest are those of the whole picture, in which pixels without a spectrum are 0; a constant picture has
//! code 0 everywhere. This is how METASPACE stores ion images. So value = least + code · (greatest − least) / 65535, at
//! most one 65,535th of the range too small.
//!
//! # What a reader must check
//!
//! Magic and version; the SHA-256; that the lengths in the header agree; that names are in order, and that images
//! follow one another from the end of the head to the end of the file; an image's CRC-32 when it is read. A
//! reader refuses later versions.
//!
//! # Changelog
//!
//! * 1: the first.

/// The first eight bytes.
pub const MAGIC: [u8; 8] = *b"SECTIMG\x1a";
/// The version that is written, and the only one that is read.
pub const VERSION: u32 = 1;
/// Bytes of the header.
pub const HEADER: usize = 112;
/// Bytes of one ion in the index.
pub const ENTRY: usize = 152;
/// Isotope peaks of an ion.
pub const PEAKS: usize = 4;
/// What names of such files end with.
pub const SUFFIX: &str = ".sectile-images";
/// Where the header has the SHA-256 of the head.
pub const DIGEST: std::ops::Range<usize> = 80..112;
