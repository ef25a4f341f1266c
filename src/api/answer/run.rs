//! The job of an answer: reads, collects, makes the reply.

use std::rc::Rc;

use super::Ticket;
use super::cost::{self, Favour};
use super::errand::{Errand, Form};
use super::gather::Frame;
use super::plane::{Making, Plane};
use super::samples::Pixels;
use super::spectrum;
use super::subject::{OfIon, OfStack, Shows, Subject};
use super::table::Table;
use super::work::Work;
use crate::api::opened::Opened;
use crate::api::reply::Reply;
use crate::api::route::Route;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::images::{BASE, Reader};
use crate::ion::normalise::{Normalise, Norms};
use crate::ion::region::Region;
use crate::ion::spectrum::SpectrumJob;
use crate::job::{Fetch, Job, Read};
use crate::stack::job::{MedianJob, StackJob};
use crate::stack::statistic::Statistic;
use crate::store::PixelTable;
use crate::store::head::Head;

/// Bytes of a peak in the two lists of a spectrum, each of which may have grown to twice its length.
const PEAK: u64 = 32;

/// An answer in the making: a [`Job`] that hands out one item, nothing, when it is finished.
///
/// A fetch's source is an index into [`sources`](Self::sources).
#[derive(Debug)]
pub struct Answer {
    dataset: String,
    layer: String,
    etag: String,
    errand: Rc<Errand>,
    opened: Opened,
    sources: Vec<u32>,
    budget: Budget,
    work: Work,
    /// Bytes of the budget that go back when the work is done.
    held: u64,
    plane: Option<Plane>,
    norms: Option<Norms>,
    /// How many values the last pixel was computed of.
    count: Option<u16>,
    reply: Option<Reply>,
    /// Requests and bytes asked for.
    asked: (u64, u64),
    handed_out: bool,
}

impl Answer {
    pub(super) fn new(
        ticket: &Ticket,
        errand: Errand,
        opened: &Opened,
        memory: u64,
    ) -> Result<Self> {
        let layer = match &ticket.route {
            Route::Tile { layer, .. }
            | Route::Cutout { layer, .. }
            | Route::Point { layer, .. }
            | Route::Statistics { layer, .. } => layer.to_string(),
            _ => String::new(),
        };
        let mut answer = Self {
            dataset: ticket.dataset.clone(),
            layer,
            etag: ticket.etag.clone(),
            errand: Rc::new(errand),
            opened: opened.clone(),
            sources: vec![0],
            budget: Budget::new(memory),
            work: Work::Done,
            held: 0,
            plane: None,
            norms: None,
            count: None,
            reply: None,
            asked: (0, 0),
            handed_out: false,
        };
        answer.begin(ticket.favour)?;
        Ok(answer)
    }

    /// The dataset's sources that it reads: what the sources of its fetches are indices of.
    #[must_use]
    pub fn sources(&self) -> &[u32] {
        &self.sources
    }

    /// Requests and bytes that were asked for so far.
    #[must_use]
    pub fn asked(&self) -> (u64, u64) {
        self.asked
    }

    /// Feeds part of a read: byte `offset` of read `read` of the fetch that fills `slot`.
    ///
    /// `write` is given the place in the slot and fills all of it. Bytes may come in pieces of any size; a piece may begin
    /// anywhere up to the first byte that is still missing (a driver may start a read over).
    ///
    /// # Errors
    /// [`Error::Unexpected`] and [`Error::Parameter`] for bytes that were not asked for.
    pub fn feed(
        &mut self,
        slot: u32,
        read: usize,
        offset: u64,
        len: usize,
        write: impl FnOnce(&mut [u8]),
    ) -> Result<()> {
        self.work.feed(slot, read, offset, len, write)
    }

    /// Says that every read of a fetch has been fed whole.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if bytes are missing.
    pub fn complete(&mut self, slot: u32) -> Result<()> {
        self.work.complete(slot)
    }

    /// The reply, once the answer is done.
    ///
    /// It has what depends on the canonical form alone: status 200, the type, the entity tag, the scale of a picture. The
    /// rest is for the [service](crate::api) to put on.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is not done.
    pub fn into_reply(self) -> Result<Reply> {
        let reply = self.reply.ok_or_else(|| Error::Parameter {
            name: "answer",
            what: "it is not finished: bytes are missing".to_owned(),
        })?;
        Ok(reply.with("ETag", self.etag))
    }

    fn begin(&mut self, favour: Favour) -> Result<()> {
        let errand = Rc::clone(&self.errand);
        match (&*errand, &self.opened) {
            (Errand::Layer { subject, frame, .. }, _) => {
                self.plane = Some(Plane::new(subject, *frame, &mut self.budget)?);
                match subject {
                    Subject::Stack(of) => self.begin_stack(of, frame, favour),
                    Subject::Ion(of) if of.norm == Normalise::None => self.begin_image(of, frame),
                    Subject::Ion(of) => {
                        self.hold(BASE, "the program")?;
                        let range = of.head.layout.pixel_table();
                        self.work =
                            Work::Norms(Table::new(&of.head.file, range, &mut self.budget)?);
                        Ok(())
                    }
                }
            }
            (Errand::Stored { pyramid, range, .. }, Opened::Stack { stack, .. }) => {
                self.sources = vec![u32::try_from(stack.exposures.len()).unwrap_or(u32::MAX)];
                self.hold(BASE, "the program")?;
                let table = Table::new(&pyramid.file, range.clone(), &mut self.budget)?;
                self.work = Work::Table(table);
                Ok(())
            }
            (Errand::Samples { x, y }, Opened::Stack { stack, .. }) => {
                let exposures = stack.exposures.len();
                self.sources = (0..).take(exposures).collect();
                let pixels = Pixels::new(stack, *x, *y)?;
                self.hold(BASE + Pixels::bytes(exposures), "a pixel of every exposure")?;
                self.work = Work::Samples(pixels);
                Ok(())
            }
            (Errand::Spectrum { x, y }, Opened::Ions { head, .. }) => {
                let head = Rc::new(Head::clone(head));
                let region = Region::Pixel { x: *x, y: *y };
                let wish = cost::image_wish(self.budget.limit());
                let job = SpectrumJob::of_store(&head, &region, &wish)?;
                self.work = Work::Spectrum(Box::new(job));
                Ok(())
            }
            (Errand::Mean, Opened::Ions { head, .. }) => {
                let (name, range) = (head.file.clone(), head.layout.bins.range());
                self.hold(BASE, "the program")?;
                self.work = Work::Table(Table::new(&name, range, &mut self.budget)?);
                Ok(())
            }
            _ => Err(cost::another_type()),
        }
    }

    fn begin_stack(&mut self, of: &OfStack, frame: &Frame, favour: Favour) -> Result<()> {
        let room = self.budget.limit() - self.budget.held();
        let plan = cost::stack_plan(&of.stack, frame.rect, room, favour)?;
        self.sources.clone_from(&of.sources);
        self.hold(plan.peak_bytes, "the exposures")?;
        self.work = match of.shows {
            Shows::Rms => Work::Rms(Box::new(StackJob::new(&of.stack, plan)?)),
            Shows::Median | Shows::Count => {
                Work::Median(Box::new(MedianJob::new(&of.stack, plan)?))
            }
        };
        Ok(())
    }

    fn begin_image(&mut self, of: &OfIon, frame: &Frame) -> Result<()> {
        self.hold(cost::line_bytes(frame), "a row of the image")?;
        let room = self.budget.limit() - self.budget.held();
        // Nothing is kept from one answer to the next: the host's cache is what keeps.
        let reader = Reader::new(Rc::new(Head::clone(&of.head)), 0);
        let job = reader.images(&[of.window], &cost::image_wish(room))?;
        self.hold(job.plan().peak_bytes, "the image")?;
        self.work = Work::Image(Box::new(job));
        Ok(())
    }

    fn hold(&mut self, bytes: u64, what: &str) -> Result<()> {
        self.budget.reserve(bytes, what)?;
        self.held += bytes;
        Ok(())
    }

    /// Lets go of the work; what the program itself takes stays.
    fn end_work(&mut self) -> Work {
        self.budget.release(self.held.saturating_sub(BASE));
        self.held = self.held.min(BASE);
        std::mem::replace(&mut self.work, Work::Done)
    }

    /// Goes as far as the bytes allow; whether the reply is made.
    fn advance(&mut self) -> Result<bool> {
        let errand = Rc::clone(&self.errand);
        while self.reply.is_none() {
            let more = match &mut self.work {
                Work::Median(_) | Work::Rms(_) => self.take_sections()?,
                Work::Image(_) => self.take_image(&errand)?,
                Work::Norms(table) => match table.bytes() {
                    Some(_) => self.take_norms(&errand).map(|()| true)?,
                    None => false,
                },
                Work::Done => {
                    self.reply = Some(self.made(&errand)?);
                    true
                }
                _ => self.take_spectrum(&errand)?,
            };
            if !more {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn take_sections(&mut self) -> Result<bool> {
        let Some(plane) = &mut self.plane else {
            return Ok(false);
        };
        let is_done = match &mut self.work {
            Work::Median(job) => sections(job.as_mut(), plane, &mut self.count)?,
            Work::Rms(job) => sections(job.as_mut(), plane, &mut self.count)?,
            _ => false,
        };
        if is_done {
            self.end_work();
        }
        Ok(is_done)
    }

    fn take_image(&mut self, errand: &Errand) -> Result<bool> {
        let Errand::Layer { frame, .. } = errand else {
            return Ok(false);
        };
        let (Work::Image(job), Some(plane)) = (&mut self.work, &mut self.plane) else {
            return Ok(false);
        };
        let Some(image) = job.ready()? else {
            return Ok(false);
        };
        let (first, width) = (image.first, image.width);
        let normalise = |y: u32, row: &mut [f32], norms: &Norms| {
            norms
                .apply(first + y * width + frame.rect.x0, row)
                .map(drop)
        };
        let norms = self.norms.as_ref();
        plane.take_image(image.values, width, frame, |y, row| match norms {
            Some(norms) => normalise(y, row, norms),
            None => Ok(()),
        })?;
        self.norms = None;
        self.end_work();
        Ok(true)
    }

    fn take_norms(&mut self, errand: &Errand) -> Result<()> {
        let Errand::Layer {
            subject: Subject::Ion(of),
            frame,
            ..
        } = errand
        else {
            return Err(cost::another_type());
        };
        let Work::Norms(table) = self.end_work() else {
            return Ok(());
        };
        let columns = PixelTable::parse(
            &of.head,
            table.bytes().unwrap_or_default(),
            &mut self.budget,
        )?;
        self.norms = Norms::of(columns, of.norm)?;
        // The bytes and the column that was not wanted.
        self.budget.release(table.held() + cost::norm_bytes(of));
        drop(table);
        self.budget.release(self.held);
        self.held = 0;
        self.begin_image(of, frame)
    }

    fn take_spectrum(&mut self, errand: &Errand) -> Result<bool> {
        let reply = match (&mut self.work, errand, &self.opened) {
            (Work::Samples(pixels), Errand::Samples { x, y }, Opened::Stack { stack, .. }) => {
                let Some(found) = pixels.ready()? else {
                    return Ok(false);
                };
                spectrum::of_stack(&found, stack, (*x, *y), &mut self.budget)?
            }
            (Work::Spectrum(job), Errand::Spectrum { x, y }, Opened::Ions { head, .. }) => {
                let Some(found) = job.ready()? else {
                    return Ok(false);
                };
                // Its blocks are gone; what it still holds are the peaks, in lists that may have grown.
                let peaks = found.mz.len() as u64 * PEAK;
                self.budget
                    .reserve(BASE + head.held_bytes() + peaks, "the peaks of a pixel")?;
                spectrum::of_pixel(&found, (*x, *y), &mut self.budget)?
            }
            (
                Work::Table(table),
                Errand::Stored {
                    subject,
                    frame,
                    form,
                    ..
                },
                _,
            ) => {
                let Some(bytes) = table.bytes() else {
                    return Ok(false);
                };
                let making = Making {
                    subject,
                    frame,
                    form: *form,
                    dataset: &self.dataset,
                    layer: &self.layer,
                    count: None,
                };
                making.of_stored(bytes, &mut self.budget)?
            }
            (Work::Table(table), Errand::Mean, Opened::Ions { head, .. }) => {
                let Some(bytes) = table.bytes() else {
                    return Ok(false);
                };
                spectrum::of_bins(head, bytes, &mut self.budget)?
            }
            _ => return Err(cost::another_type()),
        };
        self.reply = Some(reply);
        Ok(true)
    }

    fn made(&mut self, errand: &Errand) -> Result<Reply> {
        let (
            Errand::Layer {
                subject,
                frame,
                form,
            },
            Some(plane),
        ) = (errand, self.plane.take())
        else {
            return Err(cost::another_type());
        };
        let making = Making {
            subject,
            frame,
            form: *form,
            dataset: &self.dataset,
            layer: &self.layer,
            count: self.count.filter(|_| *form == Form::Point),
        };
        plane.reply(&making, &mut self.budget)
    }
}

/// Collects the sections that are ready; whether they were the last ones.
fn sections<S: Statistic>(
    job: &mut StackJob<S>,
    plane: &mut Plane,
    count: &mut Option<u16>,
) -> Result<bool> {
    while let Some(section) = job.ready()? {
        plane.take(&section)?;
        *count = section.count.last().copied();
    }
    Ok(job.is_done())
}

impl Job for Answer {
    type Item<'a> = ();

    fn next(&mut self) -> Option<Fetch> {
        let fetch = self.work.next()?;
        self.asked.0 += fetch.reads.len() as u64;
        self.asked.1 += fetch.reads.iter().map(Read::len).sum::<u64>();
        Some(fetch)
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        self.work.lend(fetch)
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        self.work.filled(fetch, buffer)
    }

    fn ready(&mut self) -> Result<Option<()>> {
        if self.handed_out || !self.advance()? {
            return Ok(None);
        }
        self.handed_out = true;
        Ok(Some(()))
    }

    fn is_done(&self) -> bool {
        self.handed_out
    }

    fn peak(&self) -> u64 {
        let work = match &self.work {
            Work::Spectrum(job) => job.peak(),
            _ => 0,
        };
        self.budget.peak().max(work)
    }
}
