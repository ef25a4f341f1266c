//! One shard from the store's blocks to its part, in memory.

use std::rc::Rc;

use super::description::Description;
use super::pictures::Pictures;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::annotate::{AnnotateJob, Ions, Keep, Output, Policy, Save, Wish, plan};
use crate::job::{Fetch, Job};
use crate::results::images::Easel;
use crate::results::part::seal::{Seal, Sealed};
use crate::store::head::Head;

/// Computes one shard of a job, and holds its part until it is taken.
///
/// Feed it as any [`Job`]; its items are numbers of ions that were finished, of which nothing has to be made. Then
/// [`into_part`](Self::into_part) has the bytes. A shard that is interrupted begins anew: choose shards as short as
/// an interruption may cost, and as small as the memory holds the images of, which is what [`divide`](super::divide) does.
#[derive(Debug)]
pub struct ShardJob {
    job: AnnotateJob,
    ions: Rc<Ions>,
    desk: Desk,
    other: u64,
}

/// What saves go to.
#[derive(Debug)]
struct Desk {
    easel: Option<Easel>,
    peaks: usize,
    pictures: Pictures,
    seal: Seal,
}

/// The finished part of a shard.
#[derive(Debug)]
pub struct Part {
    sealed: Sealed,
    pictures: Pictures,
}

/// What a shard's memory goes to besides the job that annotates it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Beside {
    /// Drawing.
    pub(super) easel: u64,
    /// Records.
    pub(super) seal: u64,
    /// Pictures, if each of them is as large as can be.
    pub(super) pictures: u64,
}

impl Beside {
    pub(super) fn new(
        head: &Head,
        ions: &Ions,
        shard: std::ops::Range<u32>,
        depicted: super::super::part::whole::Depicted,
    ) -> Self {
        let contents = &head.layout.contents;
        let pixels = u64::from(contents.width) * u64::from(contents.height);
        let all = u64::from(shard.end - shard.start);
        let is_target = |place: &u32| ions.ion(*place).is_some_and(|ion| ions.is_target(ion));
        let targets = shard.filter(is_target).count() as u64;
        let peaks = depicted.peaks() as u64;
        // Grey of noise does not pack, alpha does: two bytes a pixel and what frames them.
        let one = pixels.saturating_mul(5) / 2 + 1024 + Pictures::EACH;
        Self {
            easel: if peaks > 0 {
                Easel::bytes(pixels) + 4 * pixels
            } else {
                0
            },
            seal: Seal::bytes(targets, all - targets, depicted),
            pictures: targets.saturating_mul(peaks).saturating_mul(one),
        }
    }
}

impl ShardJob {
    /// Begins shard `number` (from 1) of a job, in a store that it is about and with its ions
    /// ([`Description::ions`]), in at most `memory` bytes, `in_flight` requests at one time.
    ///
    /// # Errors
    /// [`Error::Mismatch`] for another store or other ions; [`Error::Budget`] with the least that may work;
    /// [`Error::Parameter`] for a number that no shard has, and no request in flight.
    pub fn new(
        head: &Rc<Head>,
        ions: &Rc<Ions>,
        description: &Description,
        number: u32,
        memory: u64,
        in_flight: u32,
    ) -> Result<Self> {
        description.check_store(head)?;
        let whole = description.whole(number)?;
        if whole.identity.ions != ions.fingerprint() {
            return Err(Error::Mismatch {
                file: description.list().to_owned(),
                what: "these ions are not those of the job".to_owned(),
            });
        }
        let shard = whole.identity.shard.clone();
        let depicted = description.images();
        let beside = Beside::new(head, ions, shard.clone(), depicted);
        let fixed = beside.easel.saturating_add(beside.seal);
        let wish = |memory: u64| Wish {
            memory,
            in_flight,
            images: keep(depicted.peaks()),
            max_requests: None,
        };
        let share = memory.saturating_sub(fixed);
        let least = plan(head, ions, 0..0, &wish(share));
        let least = least
            .map_err(|error| with_more(error, fixed, memory))?
            .minimum_bytes;
        // Blocks and images that wait gain little from more; pictures that do not fit end the shard.
        let room = beside.pictures.min((share - least) / 4 * 3);
        let job = AnnotateJob::new(
            head.clone(),
            ions.clone(),
            shard.clone(),
            shard.start,
            &wish(share - room),
        )?;
        let contents = &head.layout.contents;
        let mut budget = Budget::new(beside.easel);
        let easel = if depicted.peaks() > 0 {
            let first = ions.request().slice * contents.width * contents.height;
            Some(Easel::new(
                contents.width,
                contents.height,
                &head.mask,
                first,
                &mut budget,
            )?)
        } else {
            None
        };
        Ok(Self {
            job,
            ions: ions.clone(),
            desk: Desk {
                easel,
                peaks: depicted.peaks(),
                pictures: Pictures::new(room),
                seal: Seal::new(whole, beside.seal),
            },
            other: fixed + room,
        })
    }

    /// Feeds part of a read: as [`AnnotateJob::feed`].
    ///
    /// # Errors
    /// Those of [`AnnotateJob::feed`].
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        self.job.feed(slot, read, offset, len, write)
    }

    /// Says that the read of a fetch has been fed whole: as [`AnnotateJob::complete`].
    ///
    /// # Errors
    /// Those of [`AnnotateJob::complete`].
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        self.job.complete(slot)
    }

    /// Requests that were asked for so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.job.requests()
    }

    /// Ions so far whose isotope pattern cannot be computed: as [`AnnotateJob::skipped`].
    #[must_use]
    pub fn skipped(&self) -> u64 {
        self.job.skipped()
    }

    /// The part, once the job [is done](Job::is_done).
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is not; those of [`Seal::finish`].
    pub fn into_part(self) -> Result<Part> {
        if !self.job.is_done() {
            return Err(Error::Parameter {
                name: "shard",
                what: "it is not finished".to_owned(),
            });
        }
        // Blocks go before the records are written.
        drop(self.job);
        Ok(Part {
            sealed: self.desk.seal.finish(&self.ions)?,
            pictures: self.desk.pictures,
        })
    }
}

impl Part {
    /// Bytes of the whole part.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.sealed.bytes
    }

    /// The bytes of the part in their order, piece by piece: the head, then each picture.
    pub fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let pictures = self.sealed.copies.iter();
        let pictures = pictures.filter_map(|range| self.pictures.at(range.start));
        std::iter::once(&*self.sealed.head).chain(pictures)
    }

    /// One of the [`pieces`](Self::pieces); `None` behind the last.
    #[must_use]
    pub fn piece(&self, number: usize) -> Option<&[u8]> {
        match number.checked_sub(1) {
            None => Some(&self.sealed.head),
            Some(picture) => self.pictures.at(self.sealed.copies.get(picture)?.start),
        }
    }
}

impl Desk {
    fn put(&mut self, save: &Save<'_>) -> Result<()> {
        if let Some(easel) = &mut self.easel {
            for kept in save.images {
                for (peak, image) in (0..).zip(kept.peaks.iter().take(self.peaks)) {
                    if let Some(image) = image {
                        let picture = easel.draw(&image.pixels, &image.values)?;
                        let record = self.pictures.keep(kept.ion, peak, picture)?;
                        self.seal.take_picture(record)?;
                    }
                }
            }
        }
        self.seal.take(save.targets, save.decoys)
    }
}

impl Job for ShardJob {
    type Item<'a> = u32;

    fn next(&mut self) -> Option<Fetch> {
        self.job.next()
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.job.lend(fetch)
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        self.job.filled(fetch, buffer)
    }

    fn ready(&mut self) -> Result<Option<u32>> {
        match self.job.ready()? {
            None => Ok(None),
            Some(Output::Progress { ions }) => Ok(Some(ions)),
            Some(Output::Save(save)) => {
                self.desk.put(&save)?;
                Ok(Some(0))
            }
        }
    }

    fn is_done(&self) -> bool {
        self.job.is_done()
    }

    fn peak(&self) -> u64 {
        self.job.peak().saturating_add(self.other)
    }
}

/// What is asked of a job for so many pictures of an ion.
pub(super) fn keep(peaks: usize) -> Keep {
    if peaks == 0 {
        return Keep::None;
    }
    Keep::Buffer {
        bytes: None,
        policy: Policy::FlushBefore,
    }
}

/// The same refusal, of a budget that has to hold something else too.
fn with_more(error: Error, more: u64, memory: u64) -> Error {
    match error {
        Error::Budget { need, what, .. } => Error::Budget {
            need: need.saturating_add(more),
            have: memory,
            what,
        },
        other => other,
    }
}
