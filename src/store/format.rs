//! The segment store's file format, version 1.
//!
//! A store holds the peaks of one imaging mass-spectrometry dataset, sorted by m/z, so that an ion image
//! is one range of the file. This page is enough to write a reader; `tests/read_store.py` of the
//! repository is one in 60 lines of numpy.
//!
//! All numbers are little-endian; `f32` and `f64` are IEEE 754; offsets count bytes from the start of the
//! file unless said otherwise.
//!
//! ```text
//! 0            160                                        head length                      file length
//! ├────────────┼──────────┬───────────┬───────────────────┼─────────────┬───────────┬──────────────┤
//! │ header     │ text     │ mask      │ directory         │ pixel table │ bin table │ block, block │
//! │ 160        │ meta len │ 1 bit/px  │ 32 B a block      │ 8 B a pixel │ 12 B/bin  │ …            │
//! └────────────┴──────────┴───────────┴───────────────────┴─────────────┴───────────┴──────────────┘
//! └─────────────── head, covered by the SHA-256 ──────────┘
//! ```
//!
//! The parts follow one another in this order without gaps, except for zeros after the bin table up to the
//! next multiple of 8. So the offsets in the header follow from its counts; a reader may use either and
//! should compare both.
//!
//! # Header
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | 8 bytes | `SECTILE` and the byte 1A (hexadecimal) |
//! | 8 | u32 | version, 1 |
//! | 12 | u8 | bytes of an m/z, 4 (f32) or 8 (f64) |
//! | 13 | u8 | bytes of an intensity, 4 or 8 |
//! | 14 | u8 | log₂ of the peaks of a group, 7 |
//! | 15 | u8 | codec, 0 (columns packed to bits) |
//! | 16 | u32 | peaks of a block but the last: 8192 if both are f32, otherwise 4096 |
//! | 20 | u32 | width: pixels of a row |
//! | 24 | u32 | height: rows of a slice |
//! | 28 | u32 | slices; pixels = width · height · slices |
//! | 32 | u64 | peaks |
//! | 40 | u64 | spectra acquired, those without peaks among them |
//! | 48 | f64 | first (least) m/z; 0 without peaks |
//! | 56 | f64 | last (greatest) m/z; 0 without peaks |
//! | 64 | u64 | file length |
//! | 72 | u32 | blocks = peaks / (peaks of a block), rounded up |
//! | 76 | u32 | head length = directory offset + 32 · blocks |
//! | 80 | u32 | text length, a multiple of 8 |
//! | 84 | u32 | mask offset = 160 + text length |
//! | 88 | u32 | directory offset = mask offset + 8 · (pixels / 64, rounded up) |
//! | 92 | u32 | bins, at most 131,072 |
//! | 96 | u64 | pixel table offset = head length |
//! | 104 | u64 | bin table offset = pixel table offset + 8 · pixels |
//! | 112 | f64 | origin of the bins (m/z) |
//! | 120 | f64 | width of a bin in ppm |
//! | 128 | 32 bytes | SHA-256 of the head with these 32 bytes zero |
//!
//! Pixel = slice · width · height + row · width + column. Row 0 is the top one (least y of the source).
//!
//! # Text
//!
//! UTF-8 lines `name = value`, filled up with line ends; lists are separated by one blank. Names may be
//! missing, and readers ignore those they do not know: `source`, `writer`, `instrument`, `polarity`
//! (`positive`, `negative`, `mixed`, `unknown`), `representation` (`centroid`, `profile`, `unknown`),
//! `pixel_width` and `pixel_height` (µm), `origin` (the source's x and y of column 0, row 0), `slices` (the
//! source's z of each), `uuid`, the counts `peaks_read`, `zeros_dropped`, `negative_intensities`,
//! `unsorted_spectra`, `bad_spectra`, `empty_spectra`, `duplicate_pixels`, and any number of `warning`.
//!
//! # Mask
//!
//! One bit a pixel, least significant bit of a byte first: 1 if a spectrum was acquired there. An image has
//! no data where it is 0, and the value 0 where it is 1 and no peak lies in the window.
//!
//! # Directory
//!
//! One entry a block, in the order of the blocks in the file:
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | f64 | m/z of the block's first peak |
//! | 8 | f64 | m/z of its last peak |
//! | 16 | u64 | offset |
//! | 24 | u32 | length in bytes |
//! | 28 | u32 | CRC-32 of the block (that of zlib and PNG) |
//!
//! An m/z may repeat across a border: a closed window `[lo, hi]` needs every block with `last ≥ lo` and
//! `first ≤ hi`.
//!
//! # Tables
//!
//! The pixel table is two columns of f32, each with all pixels: the sum of the pixel's intensities (TIC),
//! and their root mean square over its stored peaks; both 0 without peaks.
//!
//! The bin table is three columns of f32, each with all bins: the sum of the bin's intensities over the
//! number of spectra; the greatest intensity of one peak; the intensity-weighted mean of m/z as a fraction
//! of the bin, 0 at its lower and 1 at its upper edge. All three are 0 without peaks. Edges are
//! `e(0)` = origin and `e(i + 1)` = `e(i)` · (1 + ppm · 10⁻⁶), multiplied one after another in f64. Bin `i`
//! holds `e(i) ≤ m/z < e(i + 1)`; the first one also what is below it, the last one also what is above it.
//! The origin is the first m/z, but at least 1; ppm is the least of 5, 10, 20, 50, 100, … with which the
//! bins reach beyond the last m/z. Sums are f64 in the order of the file, rounded once.
//!
//! # Block
//!
//! Peaks are sorted by m/z; those of the same m/z keep the order of their spectra in the source. A block
//! has a fixed number of them (the last one what is left), in groups of 128 (the last one what is left):
//!
//! ```text
//! ┌───────────────────────────┬────────────────────────────┬─────────┬──────────────┐
//! │ group table, one entry    │ group 0:                   │ group 1 │ … 8 zeros    │
//! │ a group                   │ m/z │ intensity │ pixel    │         │              │
//! └───────────────────────────┴────────────────────────────┴─────────┴──────────────┘
//! ```
//!
//! An entry of the group table has 24 bytes if m/z and intensity are f32, 28 if one is f64, 32 if both are
//! (`M` and `I` are the bytes of an m/z and of an intensity):
//!
//! | at | type | what |
//! |---|---|---|
//! | 0 | M bytes | key of the first m/z |
//! | M | I bytes | least order of an intensity |
//! | M+I | u32 | least pixel |
//! | M+I+4 | u32 | offset in the block of the group's m/z column; the other two follow it |
//! | M+I+8 | u8 | m/z: width, bits of a packed value |
//! | M+I+9 | u8 | m/z: shift |
//! | M+I+10 | u8 | m/z: exceptions |
//! | M+I+11 | u8 | intensity: width |
//! | M+I+12 | u8 | intensity: shift |
//! | M+I+13 | u8 | intensity: exceptions |
//! | M+I+14 | u8 | pixel: width, at most 32 |
//! | M+I+15 | u8 | bytes of the high part of an exception: m/z in the low, intensity in the high four bits |
//!
//! The *key* of an m/z is its bits as an unsigned integer: as no m/z is negative, keys are in the order of
//! the values. The *order* of an intensity is its bits with the sign bit turned if it is not negative, and
//! with all bits turned if it is. Both are of M or I bytes and computed modulo 2 to the number of their
//! bits.
//!
//! A column of `n` values takes `width · (n / 8, rounded up)` bytes: value `i` is the `width` bits from bit
//! `i · width` on, bit `b` being bit `b mod 8` (0 the least significant) of byte `b / 8`. It is followed by
//! its exceptions, if any: first one byte each, their positions in the group, ascending; then their high
//! parts, little-endian. What is unpacked is
//!
//! ```text
//! value(i) = (packed(i) | high(i) << width) << shift        (high is 0 where there is no exception)
//! key(i)   = key of the first m/z + value(0) + … + value(i)   (value(0) is 0)
//! order(i) = least order + value(i)
//! pixel(i) = least pixel + packed(i)
//! ```
//!
//! The writer takes for `shift` the zero bits that all values end with, and for `width` what makes the
//! column shortest, of several the widest. A column with its exceptions is never longer than the values
//! themselves, rounded up to eight of them. The eight zeros at the end let a reader load eight bytes at any
//! bit.
//!
//! # What a reader must check
//!
//! The SHA-256 of the head and the CRC-32 of each block it uses; that offsets and lengths stay in the file;
//! that the first m/z value of a group is 0 and keys ascend; that pixels lie in the image.
//!
//! # Changes
//!
//! - Version 1: the first.

/// The first eight bytes of every store.
pub const MAGIC: [u8; 8] = *b"SECTILE\x1a";

/// The version that is written and read here.
pub const VERSION: u32 = 1;

/// Bytes of the header.
pub const HEADER: usize = 160;

/// Where the header holds the head's SHA-256.
pub const DIGEST: std::ops::Range<usize> = 128..160;

/// Bytes of an entry of the directory.
pub const ENTRY: usize = 32;

/// log₂ of the peaks of a group.
pub const GROUP_LOG2: u8 = 7;

/// Peaks of a group but the last of a block.
pub const GROUP: usize = 1 << GROUP_LOG2;

/// Peaks of a block but the last where m/z and intensities are f32; half of it otherwise.
pub const BLOCK_PEAKS: u32 = 8192;

/// The only codec of version 1: columns packed to bits, nothing on top.
pub const CODEC: u8 = 0;

/// Zero bytes after a block's last group, so that eight bytes can be loaded at any of its bits.
pub const TAIL: usize = 8;

/// Most bins of the spectrum tables.
pub const BINS: u32 = 131_072;

/// Most bytes of a head: that of 8 million blocks, or of 2,000 million pixels.
pub const HEAD_LIMIT: u64 = 256 << 20;

/// Most bytes of the text in a head.
pub const META_LIMIT: usize = 1 << 20;
