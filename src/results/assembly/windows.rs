//! What has been read of the parts and not been written yet.

use std::ops::Range;

use crate::error::{Error, Result};

/// Bytes that are read at once, if there is room: a request costs as much as some of them.
const MOST: u64 = 1 << 20;
/// Fewer are not worth reading ahead.
const LEAST: u64 = 16 << 10;
/// Bytes of the one window that all parts share if there is no room to read each ahead.
const SHARED: u64 = 256 << 10;

/// A piece of a part.
#[derive(Debug, Default)]
struct Window {
    part: usize,
    at: u64,
    bytes: Vec<u8>,
}

/// Windows over all parts: one each, or one for all.
#[derive(Debug)]
pub(super) struct Windows {
    windows: Vec<Window>,
    /// Bytes of each.
    piece: u64,
}

impl Windows {
    /// Windows over so many parts, in at most `memory` bytes.
    pub(super) fn new(parts: usize, memory: u64) -> Result<Self> {
        let each = memory / (parts as u64).max(1);
        let (count, piece) = if each >= LEAST {
            (parts, each.min(MOST))
        } else {
            (1, memory.min(SHARED))
        };
        let mut windows = Vec::new();
        if piece < 1024 || windows.try_reserve_exact(count).is_err() {
            return Err(Error::Budget {
                need: LEAST,
                have: memory,
                what: "reading the images of all parts".to_owned(),
            });
        }
        windows.resize_with(count, Window::default);
        Ok(Self { windows, piece })
    }

    /// Whether each part has a window of its own, so that it is read ahead.
    pub(super) fn are_own(&self) -> bool {
        self.windows.len() > 1 || self.piece > SHARED
    }

    /// What is there of `range` of a part, from its first byte on; empty if nothing is.
    pub(super) fn held(&self, part: usize, range: &Range<u64>) -> &[u8] {
        let window = &self.windows[self.of(part)];
        let held = window.part == part && range.start >= window.at;
        let from = usize::try_from(range.start.saturating_sub(window.at)).unwrap_or(usize::MAX);
        let rest = window
            .bytes
            .get(from..)
            .filter(|_| held)
            .unwrap_or_default();
        let length = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        &rest[..rest.len().min(length)]
    }

    /// What is to be read of a part from `at` on, where up to `end` is of use.
    pub(super) fn want(&self, at: u64, end: u64) -> Range<u64> {
        at..end.min(at.saturating_add(self.piece))
    }

    /// Takes what was read.
    pub(super) fn put(&mut self, part: usize, at: u64, bytes: &[u8]) -> Result<()> {
        let of = self.of(part);
        let window = &mut self.windows[of];
        window.bytes.clear();
        window
            .bytes
            .try_reserve_exact(bytes.len())
            .map_err(|_| Error::Budget {
                need: bytes.len() as u64,
                have: 0,
                what: "reading the images of all parts".to_owned(),
            })?;
        window.bytes.extend_from_slice(bytes);
        (window.part, window.at) = (part, at);
        Ok(())
    }

    fn of(&self, part: usize) -> usize {
        part.min(self.windows.len() - 1)
    }
}
