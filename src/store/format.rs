//! The segment store's file format, version 1.

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

/// Most bytes of a head: 8 million blocks, or 2 thousand million pixels.
pub const HEAD_LIMIT: u64 = 256 << 20;

/// Most bytes of the text in a head.
pub const META_LIMIT: usize = 1 << 20;
