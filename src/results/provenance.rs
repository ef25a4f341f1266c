//! Where results come from.

use crate::store::head::Head;

/// The program, the store and the list that results were made with; the options are those of the ions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// Program and version.
    pub program: String,
    /// The store's path or URL, as the user gave it.
    pub store: String,
    /// SHA-256 of the store's head, which has a checksum of each of its blocks.
    pub store_sha256: [u8; 32],
    /// The dataset that was packed, by the name of its file.
    pub source: String,
    /// Pixels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Pixels with a spectrum, of all slices.
    pub spectra: u64,
    /// `positive`, `negative`, `mixed` or `unknown`.
    pub polarity: String,
    /// The instrument, if the source names it.
    pub instrument: Option<String>,
    /// The molecule list's path, URL or name, as the user gave it.
    pub list: String,
    /// SHA-256 of the list, where it was computed.
    pub list_sha256: Option<[u8; 32]>,
}

impl Provenance {
    /// What a store's head and a list's name say.
    #[must_use]
    pub fn new(head: &Head, list: &str, list_sha256: Option<[u8; 32]>) -> Self {
        let contents = &head.layout.contents;
        Self {
            program: concat!("sectile ", env!("CARGO_PKG_VERSION")).to_owned(),
            store: head.file.clone(),
            store_sha256: head.digest,
            source: head.meta.source.clone(),
            width: contents.width,
            height: contents.height,
            spectra: contents.spectra,
            polarity: head.meta.polarity.clone(),
            instrument: head.meta.instrument.clone(),
            list: list.to_owned(),
            list_sha256,
        }
    }
}

/// A digest as text.
pub(crate) fn hex(digest: &[u8; 32]) -> String {
    digest
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}
