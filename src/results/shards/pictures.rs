//! The pictures of a shard in memory, until its part is written.

use crate::crc::checksum;
use crate::error::{Error, Result};
use crate::results::images::Picture;
use crate::results::part::images::Record;

/// Pictures, each where it was put: as if they lay one after the other.
#[derive(Debug)]
pub(super) struct Pictures {
    held: Vec<(u64, Vec<u8>)>,
    at: u64,
    /// Bytes that they may take.
    room: u64,
    taken: u64,
}

impl Pictures {
    /// Bytes that one is held by, besides its own.
    pub(super) const EACH: u64 = 2 * size_of::<(u64, Vec<u8>)>() as u64;

    pub(super) fn new(room: u64) -> Self {
        Self {
            held: Vec::new(),
            at: 0,
            room,
            taken: 0,
        }
    }

    /// Keeps a picture; the record says where it lies.
    pub(super) fn keep(&mut self, ion: u32, peak: u32, picture: Picture) -> Result<Record> {
        let Picture { mut png, min, max } = picture;
        png.shrink_to_fit();
        let length = png.len() as u64;
        self.taken = self.taken.saturating_add(length + Self::EACH);
        let bytes = u32::try_from(length).ok();
        let full = self.taken > self.room || self.held.try_reserve(1).is_err();
        let Some(bytes) = bytes.filter(|_| !full) else {
            return Err(Error::Budget {
                need: self.taken,
                have: self.room,
                what: "the images of a shard (or cut the job into more shards, or keep fewer images), which".to_owned(),
            });
        };
        let record = Record {
            ion,
            peak,
            bytes,
            crc: checksum(&png),
            min,
            max,
            at: self.at,
        };
        self.held.push((self.at, png));
        self.at += length;
        Ok(record)
    }

    /// The picture that lies at a place.
    pub(super) fn at(&self, at: u64) -> Option<&[u8]> {
        let found = self.held.binary_search_by_key(&at, |(at, _)| *at).ok()?;
        Some(&self.held.get(found)?.1)
    }
}
