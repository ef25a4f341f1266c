//! From what is said about an array to where it lies.

use crate::imzml::dataset::{Array, Compression, Number};
use crate::imzml::described::{ArrayTerms, Packing, Stated};
use crate::imzml::term::accession;

/// What was made good on the way, counted over all arrays.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Repairs {
    /// Data types whose name and accession differ.
    pub(super) split_types: u64,
    /// Data types that nobody states.
    pub(super) missing_types: u64,
    /// Encoded lengths that were worked out.
    pub(super) lengths: u64,
    /// Array lengths that were worked out.
    pub(super) counts: u64,
    /// Offsets that had run over 32 bits.
    pub(super) offsets: u64,
}

/// Undoes 32-bit offsets that ran over: each time they turn negative, 2^32 more are missing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Wrap {
    negative: bool,
    missing: i64,
}

impl Wrap {
    fn settle(&mut self, at: i64, repairs: &mut Repairs) -> Result<u64, String> {
        if at < i64::from(i32::MIN) {
            return Err(format!(
                "the offset {at} is negative, and no 32-bit number that ran over"
            ));
        }
        if at < 0 && !self.negative {
            self.missing = self.missing.saturating_add(1 << 32);
        }
        self.negative = at < 0;
        repairs.offsets += u64::from(self.missing > 0);
        let settled = at.checked_add(self.missing);
        let settled = settled.and_then(|settled| u64::try_from(settled).ok());
        settled.ok_or_else(|| format!("the offset {at} is too large"))
    }
}

/// Why there is no array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// The file is wrong.
    Format(String),
    /// The file is in order, but in a form that is not read.
    Unsupported(String),
}

/// Where an array lies. `default_len` is the spectrum's own word on how many values it has.
pub(super) fn settle(
    terms: &ArrayTerms,
    default_len: Option<u64>,
    wrap: &mut Wrap,
    repairs: &mut Repairs,
) -> Result<Array, Refusal> {
    let compression = match terms.packing {
        None | Some(Packing::None) => Compression::None,
        Some(Packing::Zlib) => Compression::Zlib,
        Some(Packing::Other(code)) => {
            return Err(Refusal::Unsupported(format!(
                "is packed by {}, of which only \"no compression\" and \"zlib compression\" are \
                 read; export the file again with one of those",
                accession(code)
            )));
        }
    };
    let plain = compression == Compression::None;
    let number = number(terms, default_len, plain, repairs)?;
    let len = match terms.len {
        Some(len) => len,
        None => length(terms, default_len, number, plain, repairs)?,
    };
    let worked_out = len.saturating_mul(number.size());
    let bytes = match terms.bytes {
        // A writer that has no encoded length writes 0.
        Some(bytes) if bytes > 0 || len == 0 => bytes,
        _ if plain => {
            repairs.lengths += 1;
            worked_out
        }
        _ => {
            return Err(Refusal::Format(
                "is packed by zlib but has no external encoded length (IMS:1000104)".to_owned(),
            ));
        }
    };
    let at = match terms.at {
        _ if len == 0 => u64::try_from(terms.at.unwrap_or(0)).unwrap_or(0),
        Some(at) => wrap.settle(at, repairs).map_err(Refusal::Format)?,
        None => {
            return Err(Refusal::Format(
                "has no external offset (IMS:1000102); if its numbers stand in the XML, this is \
                 plain mzML, which is not read"
                    .to_owned(),
            ));
        }
    };
    let narrow = |value: u64, what: &str| {
        let large = |_| Refusal::Format(format!("has {value} {what}, more than 4294967295"));
        u32::try_from(value).map_err(large)
    };
    Ok(Array {
        at,
        bytes: narrow(bytes, "bytes")?,
        len: narrow(len, "values")?,
        number,
        compression,
    })
}

/// The data type. The encoded length settles a dispute; where it cannot, the name is right: what is
/// known of such files is that an old writer gave the accession of 64-bit floats to 32-bit ones.
fn number(
    terms: &ArrayTerms,
    default_len: Option<u64>,
    plain: bool,
    repairs: &mut Repairs,
) -> Result<Number, Refusal> {
    let len = terms.len.or(default_len);
    let fits = |number: &Number| {
        let need = len.map(|len| len.saturating_mul(number.size()));
        plain && len != Some(0) && need.is_some() && need == terms.bytes
    };
    match terms.stated {
        Some(Stated::Agreed(number)) => Ok(number),
        Some(Stated::Split { accession, name }) => {
            repairs.split_types += 1;
            let settled = [name, accession].into_iter().find(fits);
            Ok(settled.unwrap_or(name))
        }
        Some(Stated::Other(code)) => Err(Refusal::Unsupported(format!(
            "has numbers of the type {}; those that are read are 32- and 64-bit floats and integers",
            accession(code)
        ))),
        None if len == Some(0) => Ok(Number::F32),
        None => {
            repairs.missing_types += 1;
            let settled = [Number::F32, Number::F64].into_iter().find(fits);
            settled.ok_or_else(|| {
                Refusal::Format("has no data type (such as MS:1000521, 32-bit float)".to_owned())
            })
        }
    }
}

/// How many values, where the array itself does not say.
fn length(
    terms: &ArrayTerms,
    default_len: Option<u64>,
    number: Number,
    plain: bool,
    repairs: &mut Repairs,
) -> Result<u64, Refusal> {
    let whole = |bytes: &u64| plain && bytes.is_multiple_of(number.size());
    let by_bytes = terms.bytes.filter(whole).map(|bytes| bytes / number.size());
    let len = by_bytes.or(default_len);
    repairs.counts += u64::from(len != Some(0));
    len.ok_or_else(|| Refusal::Format("has no external array length (IMS:1000103)".to_owned()))
}
