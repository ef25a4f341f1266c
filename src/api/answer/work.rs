//! The jobs that bring an answer its values, each behind the same few calls.

use super::samples::Pixels;
use super::table::Table;
use crate::error::{Error, Result};
use crate::ion::images::ImagesJob;
use crate::ion::spectrum::SpectrumJob;
use crate::job::{Fetch, Job};
use crate::stack::job::{MedianJob, StackJob};
use crate::stack::rms::Rms;

/// What reads and computes.
#[derive(Debug)]
pub(super) enum Work {
    Median(Box<MedianJob>),
    Rms(Box<StackJob<Rms>>),
    Samples(Pixels),
    /// The norms of an image, before the image itself.
    Norms(Table),
    Image(Box<ImagesJob>),
    Spectrum(Box<SpectrumJob>),
    Table(Table),
    /// Everything was read, and its memory given back.
    Done,
}

impl Work {
    pub(super) fn next(&mut self) -> Option<Fetch> {
        match self {
            Self::Median(job) => job.next(),
            Self::Rms(job) => job.next(),
            Self::Samples(pixels) => pixels.next(),
            Self::Image(job) => job.next(),
            Self::Spectrum(job) => job.next(),
            Self::Norms(table) | Self::Table(table) => table.next(),
            Self::Done => None,
        }
    }

    pub(super) fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        match self {
            Self::Median(job) => job.lend(fetch),
            Self::Rms(job) => job.lend(fetch),
            Self::Samples(pixels) => pixels.lend(fetch),
            Self::Image(job) => job.lend(fetch),
            Self::Spectrum(job) => job.lend(fetch),
            Self::Norms(table) | Self::Table(table) => table.lend(),
            Self::Done => Vec::new(),
        }
    }

    pub(super) fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        match self {
            Self::Median(job) => job.filled(fetch, buffer),
            Self::Rms(job) => job.filled(fetch, buffer),
            Self::Samples(pixels) => pixels.filled(fetch, buffer),
            Self::Image(job) => job.filled(fetch, buffer),
            Self::Spectrum(job) => job.filled(fetch, buffer),
            Self::Norms(table) | Self::Table(table) => table.filled(buffer),
            Self::Done => Err(over()),
        }
    }

    pub(super) fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        match self {
            Self::Median(job) => job.feed(slot, read, offset, len, write),
            Self::Rms(job) => job.feed(slot, read, offset, len, write),
            Self::Samples(pixels) => pixels.feed(slot, read, offset, len, write),
            Self::Image(job) => job.feed(slot, read, offset, len, write),
            Self::Spectrum(job) => job.feed(slot, read, offset, len, write),
            Self::Norms(table) | Self::Table(table) => table.feed(read, offset, len, write),
            Self::Done => Err(over()),
        }
    }

    pub(super) fn complete(&mut self, slot: u32) -> Result<()> {
        match self {
            Self::Median(job) => job.complete(slot),
            Self::Rms(job) => job.complete(slot),
            Self::Samples(pixels) => pixels.complete(slot),
            Self::Image(job) => job.complete(slot),
            Self::Spectrum(job) => job.complete(slot),
            Self::Norms(table) | Self::Table(table) => table.complete(),
            Self::Done => Err(over()),
        }
    }
}

fn over() -> Error {
    Error::Parameter {
        name: "slot",
        what: "nothing was asked for any more".to_owned(),
    }
}
