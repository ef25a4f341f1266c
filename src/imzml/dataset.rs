//! What an imzML file says about its dataset: one compact entry for each spectrum.

use crate::error::Result;
use crate::imzml::extent;

/// How one value of an array is stored in the `.ibd`; always little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Number {
    /// 32-bit float (MS:1000521).
    F32,
    /// 64-bit float (MS:1000523).
    F64,
    /// 32-bit signed integer (IMS:1000141 or MS:1000519).
    I32,
    /// 64-bit signed integer (IMS:1000142 or MS:1000522).
    I64,
}

impl Number {
    /// Bytes of one value.
    #[must_use]
    pub fn size(self) -> u64 {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }

    /// What the vocabulary calls it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "32-bit float",
            Self::F64 => "64-bit float",
            Self::I32 => "32-bit integer",
            Self::I64 => "64-bit integer",
        }
    }

    fn of_bits(bits: u16) -> Self {
        match bits & 3 {
            0 => Self::F32,
            1 => Self::F64,
            2 => Self::I32,
            _ => Self::I64,
        }
    }
}

/// How an array's bytes are packed in the `.ibd`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Compression {
    /// As they are (MS:1000576).
    None,
    /// One zlib stream for each array (MS:1000574).
    Zlib,
}

/// One array of one spectrum: where it lies in the `.ibd`, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Array {
    /// First byte in the `.ibd`.
    pub at: u64,
    /// Bytes in the `.ibd`, as the file says (IMS:1000104); not checked against `len` before it is
    /// decoded.
    pub bytes: u32,
    /// Values (IMS:1000103).
    pub len: u32,
    /// How one value is stored.
    pub number: Number,
    /// How the bytes are packed.
    pub compression: Compression,
}

impl Array {
    /// The byte behind its last one. An array without values takes no bytes.
    #[must_use]
    pub fn end(&self) -> u64 {
        let bytes = if self.len == 0 { 0 } else { self.bytes };
        self.at.saturating_add(u64::from(bytes))
    }
}

/// One spectrum of the index: its two arrays, its position, and what kind it is; 48 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Spectrum {
    mz_at: u64,
    intensity_at: u64,
    mz_bytes: u32,
    intensity_bytes: u32,
    mz_len: u32,
    intensity_len: u32,
    /// Column, as the file says (IMS:1000050).
    pub x: i32,
    /// Row, as the file says (IMS:1000051); rows go down.
    pub y: i32,
    /// Slice, as the file says (IMS:1000052); 1 where it says none.
    pub z: i32,
    /// Two bits each: m/z number, intensity number, polarity, representation; then one bit each:
    /// m/z packed, intensity packed.
    flags: u16,
}

const _: () = assert!(size_of::<Spectrum>() <= 48);

impl Spectrum {
    /// Packs an entry. `position` is x, y, z as the file says them.
    ///
    /// A polarity of [`Polarity::Mixed`] makes no sense for one spectrum and is kept as unknown.
    #[must_use]
    pub fn new(
        mz: Array,
        intensity: Array,
        position: [i32; 3],
        polarity: Polarity,
        representation: Representation,
    ) -> Self {
        let zlib = |array: Array| u16::from(array.compression == Compression::Zlib);
        let polarity = match polarity {
            Polarity::Unknown | Polarity::Mixed => 0,
            Polarity::Positive => 1,
            Polarity::Negative => 2,
        };
        let flags = mz.number as u16
            | (intensity.number as u16) << 2
            | polarity << 4
            | (representation as u16) << 6
            | zlib(mz) << 8
            | zlib(intensity) << 9;
        Self {
            mz_at: mz.at,
            intensity_at: intensity.at,
            mz_bytes: mz.bytes,
            intensity_bytes: intensity.bytes,
            mz_len: mz.len,
            intensity_len: intensity.len,
            x: position[0],
            y: position[1],
            z: position[2],
            flags,
        }
    }

    /// The array of m/z.
    #[must_use]
    pub fn mz(&self) -> Array {
        Array {
            at: self.mz_at,
            bytes: self.mz_bytes,
            len: self.mz_len,
            number: Number::of_bits(self.flags),
            compression: packed(self.flags >> 8),
        }
    }

    /// The array of intensities.
    #[must_use]
    pub fn intensity(&self) -> Array {
        Array {
            at: self.intensity_at,
            bytes: self.intensity_bytes,
            len: self.intensity_len,
            number: Number::of_bits(self.flags >> 2),
            compression: packed(self.flags >> 9),
        }
    }

    /// Its polarity, never [`Polarity::Mixed`].
    #[must_use]
    pub fn polarity(&self) -> Polarity {
        match self.flags >> 4 & 3 {
            1 => Polarity::Positive,
            2 => Polarity::Negative,
            _ => Polarity::Unknown,
        }
    }

    /// Whether its peaks are picked.
    #[must_use]
    pub fn representation(&self) -> Representation {
        match self.flags >> 6 & 3 {
            1 => Representation::Centroid,
            2 => Representation::Profile,
            _ => Representation::Unknown,
        }
    }
}

fn packed(bits: u16) -> Compression {
    if bits & 1 == 1 {
        Compression::Zlib
    } else {
        Compression::None
    }
}

/// Sign of the ions (MS:1000130, MS:1000129).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Polarity {
    /// The file does not say.
    #[default]
    Unknown,
    /// All positive.
    Positive,
    /// All negative.
    Negative,
    /// Some spectra positive, others negative.
    Mixed,
}

impl Polarity {
    /// One lower-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Positive => "positive",
            Self::Negative => "negative",
            Self::Mixed => "mixed",
        }
    }
}

/// Whether peaks are picked (MS:1000127) or spectra are whole (MS:1000128).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Representation {
    /// The file does not say, or says both.
    #[default]
    Unknown,
    /// Picked peaks.
    Centroid,
    /// Whole spectra.
    Profile,
}

impl Representation {
    /// One lower-case word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Centroid => "centroid",
            Self::Profile => "profile",
        }
    }
}

/// What the file says about its m/z arrays; nothing here relies on it, the offsets are what counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// All spectra share one m/z array (IMS:1000030).
    Continuous,
    /// Each spectrum has its own (IMS:1000031).
    Processed,
}

/// The checksum of the whole `.ibd` that the `.imzML` states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checksum {
    /// MD5 (IMS:1000090).
    Md5([u8; 16]),
    /// SHA-1 (IMS:1000091).
    Sha1([u8; 20]),
}

/// The smallest box that holds all positions: the images' shape.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Grid {
    /// Smallest x: the file's own number of column 0.
    pub x0: i32,
    /// Smallest y: the file's own number of row 0, the top one.
    pub y0: i32,
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The z that occur, ascending: each is an image of its own.
    pub slices: Vec<i32>,
}

impl Grid {
    /// Pixels of all slices together. Fits into `u32` for any grid that [`Dataset`] has.
    #[must_use]
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height) * self.slices.len() as u64
    }

    /// Index of a spectrum's pixel: slice by slice, rows from the top, columns from the left.
    ///
    /// The spectrum must be one of those that the grid was made of; another one is put somewhere.
    ///
    /// # Cost
    /// A search among the slices: nothing for a flat dataset.
    #[must_use]
    pub fn pixel(&self, spectrum: &Spectrum) -> u32 {
        let column = spectrum.x.wrapping_sub(self.x0).cast_unsigned();
        let row = spectrum.y.wrapping_sub(self.y0).cast_unsigned();
        let slice = match self.slices.as_slice() {
            [_] => 0,
            slices => slices.partition_point(|z| *z < spectrum.z),
        };
        #[expect(
            clippy::cast_possible_truncation,
            reason = "there are at most as many slices as pixels, which are counted in u32"
        )]
        let slice = slice as u32;
        let area = self.width.wrapping_mul(self.height);
        let above = slice.wrapping_mul(area);
        above
            .wrapping_add(row.wrapping_mul(self.width))
            .wrapping_add(column)
    }
}

/// The `.ibd` of a dataset, as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partner {
    /// Its path or URL, as the user gave it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Everything that is known from the `.imzML` alone, and by [`Dataset::settle`] of its `.ibd`.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// The `.imzML`'s path or URL, as the user gave it.
    pub file: String,
    /// The `.ibd`, once the index was [held against it](Dataset::settle).
    pub ibd: Option<Partner>,
    /// One entry for each spectrum, in the order of the file.
    pub spectra: Vec<Spectrum>,
    /// The box of all positions.
    pub grid: Grid,
    /// Size of a pixel in µm, x and y, where the file says it with a length's unit.
    pub pixel_size: [Option<f64>; 2],
    /// Polarity of all spectra together.
    pub polarity: Polarity,
    /// Representation of all spectra together.
    pub representation: Representation,
    /// What the file says about its m/z arrays.
    pub mode: Option<Mode>,
    /// UUID that the `.imzML` states (IMS:1000080); the `.ibd` begins with the same.
    pub uuid: Option<[u8; 16]>,
    /// Checksum of the `.ibd` that the `.imzML` states.
    pub checksum: Option<Checksum>,
    /// Model of the instrument, where the file names one.
    pub instrument: Option<String>,
    /// Positions at which there is more than one spectrum.
    pub duplicates: u64,
    /// What a user should know, a sentence each; each kind once, with how often it occurs.
    pub warnings: Vec<String>,
}

impl Dataset {
    /// The type that holds every m/z exactly: `F32` if all m/z arrays are that, else `F64`.
    #[must_use]
    pub fn mz_number(&self) -> Number {
        widest(self.spectra.iter().map(Spectrum::mz))
    }

    /// The type that holds every intensity: `F32` if all intensity arrays are that, else `F64`.
    #[must_use]
    pub fn intensity_number(&self) -> Number {
        widest(self.spectra.iter().map(Spectrum::intensity))
    }

    /// Whether all spectra with peaks share one m/z array, so that it need be read only once.
    #[must_use]
    pub fn shares_mz(&self) -> bool {
        let mut arrays = self.spectra.iter().map(Spectrum::mz).filter(|a| a.len > 0);
        let first = arrays.next();
        first.is_some_and(|first| arrays.all(|array| array == first))
    }

    /// Compares the index with its `.ibd`: `size` bytes that begin with `first16`.
    ///
    /// `ibd` is its path or URL, for messages. A UUID that differs from the one stated is a warning
    /// with both; so is an array that begins within the UUID.
    ///
    /// # Cost
    /// One pass over the index.
    ///
    /// # Errors
    /// [`Error::Format`](crate::error::Error::Format) about the `.ibd` if it has no room for a UUID,
    /// or if an array does not lie inside it: names the first such spectrum with its position, the
    /// bytes there are and the bytes that the whole index needs.
    pub fn settle(&mut self, ibd: &str, size: u64, first16: &[u8]) -> Result<()> {
        extent::settle(self, ibd, size, first16)
    }
}

fn widest(mut arrays: impl Iterator<Item = Array>) -> Number {
    if arrays.all(|array| array.number == Number::F32 || array.len == 0) {
        Number::F32
    } else {
        Number::F64
    }
}
