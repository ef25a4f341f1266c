//! The first bytes of an images file, and its checksum.

use super::format::{DIGEST, ENTRY, HEADER, MAGIC, PEAKS, VERSION};
use crate::error::{Error, Result};
use crate::little::{array, u32_at, u64_at};

/// What the header states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) ions: u32,
    pub(super) images: u32,
    pub(super) text_bytes: u32,
    pub(super) head_bytes: u64,
    pub(super) file_bytes: u64,
    pub(super) store: [u8; 32],
    pub(super) digest: [u8; 32],
}

impl Header {
    /// Reads the header; what it says is checked against itself.
    pub(super) fn parse(file: &str, bytes: &[u8]) -> Result<Self> {
        let wrong = |at: u64, what: String| Error::Format {
            file: file.to_owned(),
            at,
            what,
        };
        let Some(bytes) = bytes.first_chunk::<HEADER>() else {
            let what = if bytes.starts_with(&MAGIC) {
                format!("the file ends within the {HEADER} bytes of its header; fetch it again")
            } else {
                foreign().to_owned()
            };
            return Err(wrong(
                if bytes.starts_with(&MAGIC) {
                    bytes.len() as u64
                } else {
                    0
                },
                what,
            ));
        };
        if !bytes.starts_with(&MAGIC) {
            return Err(wrong(0, foreign().to_owned()));
        }
        let version = u32_at(bytes, 8);
        if version != VERSION {
            return Err(Error::Unsupported {
                file: file.to_owned(),
                what: format!(
                    "byte 8: images file of version {version}, and this program reads version {VERSION}; get a \
                     newer one, or annotate again"
                ),
            });
        }
        let header = Self {
            width: u32_at(bytes, 12),
            height: u32_at(bytes, 16),
            ions: u32_at(bytes, 20),
            images: u32_at(bytes, 24),
            text_bytes: u32_at(bytes, 28),
            head_bytes: u64_at(bytes, 32),
            file_bytes: u64_at(bytes, 40),
            store: array(bytes, 48),
            digest: array(bytes, DIGEST.start),
        };
        let fault = |at: u64, what: &str| Err(wrong(at, format!("{what}; the file is damaged")));
        let pixels = u64::from(header.width) * u64::from(header.height);
        if pixels == 0 || pixels > u64::from(u32::MAX) {
            return fault(
                12,
                &format!("images of {} x {} pixels", header.width, header.height),
            );
        }
        if u64::from(header.images) > u64::from(header.ions) * PEAKS as u64 {
            return fault(
                24,
                &format!("{} images of {} ions", header.images, header.ions),
            );
        }
        if !header.text_bytes.is_multiple_of(8) {
            return fault(28, &format!("a text of {} bytes", header.text_bytes));
        }
        let head = length(header.ions, header.text_bytes);
        if header.head_bytes != head {
            let stated = header.head_bytes;
            return fault(
                32,
                &format!("a head of {stated} bytes, where its parts have {head}"),
            );
        }
        if header.file_bytes < head {
            let stated = header.file_bytes;
            return fault(
                40,
                &format!("a file of {stated} bytes, where its head has {head}"),
            );
        }
        Ok(header)
    }

    pub(super) fn to_bytes(self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC);
        put(8, &VERSION.to_le_bytes());
        put(12, &self.width.to_le_bytes());
        put(16, &self.height.to_le_bytes());
        put(20, &self.ions.to_le_bytes());
        put(24, &self.images.to_le_bytes());
        put(28, &self.text_bytes.to_le_bytes());
        put(32, &self.head_bytes.to_le_bytes());
        put(40, &self.file_bytes.to_le_bytes());
        put(48, &self.store);
        put(DIGEST.start, &self.digest);
        bytes
    }
}

/// Bytes of a head.
pub(super) fn length(ions: u32, text_bytes: u32) -> u64 {
    HEADER as u64 + u64::from(ions) * ENTRY as u64 + u64::from(text_bytes)
}

fn foreign() -> &'static str {
    "no images file: it does not begin with SECTIMG; give the .sectile-images file of a results folder"
}
