//! One header-data unit: what it is, where its data lie, and how a user names it.
//!
//! FITS 4.0 §4.4.1 (mandatory keywords, the length of the data), §6 (random groups), §10 (tiled
//! image compression).

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::error::{Error, Result};
use crate::fits::header::{BLOCK, Header};
use crate::fits::pixel::Bitpix;

/// What an HDU holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub enum Kind {
    /// The primary HDU, an image or nothing.
    Primary,
    /// An IMAGE extension.
    Image,
    /// A primary HDU in the random-groups form.
    Groups,
    /// An ASCII table.
    Table,
    /// A binary table.
    BinTable,
    /// An image compressed by tiles into a binary table; the algorithm as ZCMPTYPE names it.
    Compressed(String),
    /// An extension of another type, by its XTENSION.
    Other(String),
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Primary => f.write_str("primary HDU"),
            Self::Image => f.write_str("image"),
            Self::Groups => f.write_str("random groups"),
            Self::Table => f.write_str("ASCII table"),
            Self::BinTable => f.write_str("binary table"),
            Self::Compressed(algorithm) => write!(f, "{algorithm} compressed image"),
            Self::Other(kind) => write!(f, "{kind} extension"),
        }
    }
}

/// One header-data unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Hdu {
    /// Its place in the file, the primary HDU being 0.
    pub index: u32,
    /// What it holds.
    pub kind: Kind,
    /// EXTNAME without trailing blanks, if there is one.
    pub name: Option<String>,
    /// EXTVER, 1 if there is no card.
    pub ver: i64,
    /// Type of the stored values; that of the image before compression for a compressed one.
    pub bitpix: Bitpix,
    /// NAXIS1, NAXIS2, …, the first being the fastest; of the image before compression for a
    /// compressed one.
    pub axes: Vec<u64>,
    /// First byte of the header.
    pub header_at: u64,
    /// First byte of the data.
    pub data_at: u64,
    /// Bytes of data, the filling of the last block left out.
    pub data_len: u64,
    /// First byte after the filling: where the next HDU would begin.
    pub next_at: u64,
    /// The cards.
    pub header: Header,
}

impl Hdu {
    /// Makes sense of a whole header.
    ///
    /// `header_at` is its first byte and `len` its length with the filling.
    ///
    /// # Errors
    /// [`Error::Format`] naming the card, where a mandatory one is missing or absurd or the data
    /// would be longer than 2⁶⁴ bytes.
    pub(super) fn new(
        file: &str,
        index: u32,
        header_at: u64,
        len: u64,
        header: Header,
    ) -> Result<Self> {
        let cards = Mandatory {
            file,
            index,
            header_at,
            header: &header,
        };
        let bitpix = cards.bitpix("BITPIX")?;
        let axes = cards.axes("NAXIS")?;
        let kind = kind(index, &header, &axes);
        let data_len = cards.data_len(bitpix, &axes, kind == Kind::Groups)?;
        let data_at = header_at.saturating_add(len);
        let next_at = data_len
            .checked_next_multiple_of(BLOCK)
            .and_then(|padded| data_at.checked_add(padded))
            .ok_or_else(|| cards.too_long(&axes))?;
        let (bitpix, axes) = match kind {
            Kind::Compressed(_) => (cards.bitpix("ZBITPIX")?, cards.axes("ZNAXIS")?),
            _ => (bitpix, axes),
        };
        Ok(Self {
            index,
            name: name(&header),
            ver: header.int("EXTVER").unwrap_or(1),
            kind,
            bitpix,
            axes,
            header_at,
            data_at,
            data_len,
            next_at,
            header,
        })
    }

    /// Whether it is an image, in whatever form, with at least one pixel.
    #[must_use]
    pub fn has_pixels(&self) -> bool {
        let image = matches!(
            self.kind,
            Kind::Primary | Kind::Image | Kind::Groups | Kind::Compressed(_)
        );
        let axes = match self.kind {
            // NAXIS1 = 0 is the mark of random groups, not an empty image.
            Kind::Groups => &self.axes[1..],
            _ => &self.axes,
        };
        image && !axes.is_empty() && axes.iter().all(|length| *length > 0)
    }

    /// Index, name and version as messages show them, such as `1 SCI,1`.
    #[must_use]
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => format!("{} {},{}", self.index, printable(name), self.ver),
            None if self.index == 0 => "0 PRIMARY".to_owned(),
            None => format!("{} (no name)", self.index),
        }
    }
}

/// At most 40 characters of a text from a file, control characters made visible.
pub(super) fn printable(text: &str) -> String {
    let mut shown = String::new();
    for c in text.chars().take(40) {
        match c {
            '\'' | '"' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    if text.chars().nth(40).is_some() {
        shown.push('…');
    }
    shown
}

fn name(header: &Header) -> Option<String> {
    let name = header.text("EXTNAME")?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn kind(index: u32, header: &Header, axes: &[u64]) -> Kind {
    if index == 0 {
        let groups = header.logical("GROUPS") == Some(true) && axes.first() == Some(&0);
        return if groups { Kind::Groups } else { Kind::Primary };
    }
    match header.text("XTENSION").unwrap_or_default().trim() {
        // IUEIMAGE is the name that the IMAGE extension had before it was a standard.
        "IMAGE" | "IUEIMAGE" => Kind::Image,
        "TABLE" => Kind::Table,
        // A3DTABLE is the binary table's old name.
        "BINTABLE" | "A3DTABLE" => {
            if header.logical("ZIMAGE") == Some(true) {
                let algorithm = header.text("ZCMPTYPE").unwrap_or("unnamed algorithm");
                Kind::Compressed(printable(algorithm))
            } else {
                Kind::BinTable
            }
        }
        other => Kind::Other(printable(other)),
    }
}

/// The cards that say how long the data are.
struct Mandatory<'a> {
    file: &'a str,
    index: u32,
    header_at: u64,
    header: &'a Header,
}

impl Mandatory<'_> {
    fn wrong(&self, key: &str, what: &str) -> Error {
        let line = self.header.card(key).map_or(0, |card| card.line);
        Error::Format {
            file: self.file.to_owned(),
            at: self.header_at + u64::from(line) * 80,
            what: format!("HDU {}: {what}; the header is damaged", self.index),
        }
    }

    /// An integer from `low` on; `default` if there is no card, or an error without a default.
    fn count(&self, key: &str, low: i64, default: Option<u64>) -> Result<u64> {
        let Some(value) = self.header.get(key) else {
            return default.ok_or_else(|| self.wrong(key, &format!("there is no {key} card")));
        };
        self.header
            .int(key)
            .filter(|value| *value >= low)
            .and_then(|value| u64::try_from(value).ok())
            .ok_or_else(|| {
                let value = printable(&value.to_string());
                let what = format!("{key} = {value} is no integer from {low} on");
                self.wrong(key, &what)
            })
    }

    fn bitpix(&self, key: &str) -> Result<Bitpix> {
        let value = self.header.get(key);
        let bitpix = self.header.int(key).and_then(Bitpix::from_card);
        bitpix.ok_or_else(|| {
            let what = match value {
                None => format!("there is no {key} card"),
                Some(value) => format!(
                    "{key} = {} is none of 8, 16, 32, 64, -32 and -64",
                    printable(&value.to_string())
                ),
            };
            self.wrong(key, &what)
        })
    }

    fn axes(&self, key: &str) -> Result<Vec<u64>> {
        let naxis = self.count(key, 0, None)?;
        if naxis > 999 {
            let what = format!("{key} = {naxis}, but an array has at most 999 axes");
            return Err(self.wrong(key, &what));
        }
        (1..=naxis)
            .map(|axis| self.count(&format!("{key}{axis}"), 0, None))
            .collect()
    }

    /// |BITPIX|/8 · GCOUNT · (PCOUNT + NAXIS1 · NAXIS2 · …); NAXIS1 is left out for random groups.
    fn data_len(&self, bitpix: Bitpix, axes: &[u64], groups: bool) -> Result<u64> {
        let pcount = self.count("PCOUNT", 0, Some(0))?;
        let gcount = self.count("GCOUNT", 0, Some(1))?;
        if axes.is_empty() {
            return Ok(0);
        }
        let counted = if groups { &axes[1..] } else { axes };
        product(counted)
            .and_then(|pixels| pixels.checked_add(pcount))
            .and_then(|values| values.checked_mul(gcount))
            .and_then(|values| values.checked_mul(bitpix.size() as u64))
            .ok_or_else(|| self.too_long(axes))
    }

    fn too_long(&self, axes: &[u64]) -> Error {
        let shown: Vec<String> = axes.iter().take(8).map(u64::to_string).collect();
        let more = if axes.len() > 8 { " × …" } else { "" };
        let what = format!(
            "axes of {}{more} values make more than 2^64 bytes",
            shown.join(" × ")
        );
        self.wrong("NAXIS1", &what)
    }
}

/// The product, or `None` beyond 2⁶⁴. A zero makes it zero wherever it stands.
pub(super) fn product(axes: &[u64]) -> Option<u64> {
    if axes.contains(&0) {
        return Some(0);
    }
    axes.iter()
        .try_fold(1_u64, |product, axis| product.checked_mul(*axis))
}

/// Which HDU of a file a user means.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub enum Selection {
    /// The first image named SCI that has pixels, else the first HDU with pixels.
    #[default]
    Default,
    /// The first HDU of this EXTNAME, in any case, and of this EXTVER if one is given. `PRIMARY`
    /// also means HDU 0.
    Name(String, Option<i64>),
    /// The HDU at this place, the primary HDU being 0.
    Index(u32),
}

impl Selection {
    /// Whether this HDU carries the name or the place asked for; never for the default.
    #[must_use]
    pub fn names(&self, hdu: &Hdu) -> bool {
        self.is_of(hdu.index, hdu.name.as_deref(), hdu.ver)
    }

    /// The same of an HDU with this place, EXTNAME and EXTVER.
    #[must_use]
    pub fn is_of(&self, index: u32, name: Option<&str>, ver: i64) -> bool {
        match self {
            Self::Default => false,
            Self::Index(wanted) => index == *wanted,
            Self::Name(wanted, version) => {
                let own = name.or((index == 0).then_some("PRIMARY"));
                own.is_some_and(|own| own.eq_ignore_ascii_case(wanted))
                    && version.is_none_or(|version| version == ver)
            }
        }
    }
}

impl FromStr for Selection {
    type Err = Error;

    /// Reads `SCI`, `SCI,2` or an index such as `1`.
    fn from_str(text: &str) -> Result<Self> {
        let wrong = |why: &str| Error::Parameter {
            name: "--hdu",
            what: format!("{text:?} {why}; write for instance SCI, SCI,2 or 1"),
        };
        let (name, ver) = match text.split_once(',') {
            Some((name, ver)) => {
                let ver = ver.trim().parse();
                let ver = ver.map_err(|_| wrong("has no whole number after its comma"))?;
                (name.trim(), Some(ver))
            }
            None => (text.trim(), None),
        };
        if name.is_empty() {
            return Err(wrong("names no HDU"));
        }
        if ver.is_none() && name.bytes().all(|b| b.is_ascii_digit()) {
            let index = name.parse().map_err(|_| wrong("is no possible index"))?;
            return Ok(Self::Index(index));
        }
        Ok(Self::Name(name.to_owned(), ver))
    }
}

impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("SCI or the first image"),
            Self::Name(name, None) => f.write_str(name),
            Self::Name(name, Some(ver)) => write!(f, "{name},{ver}"),
            Self::Index(index) => index.fmt(f),
        }
    }
}
