//! Threads that fill slots while the job reduces.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::Error;
use super::native::{Event, Run, Source};
use super::pace::Pace;
use super::session::Session;
use crate::error;
use crate::job::{Fetch, Job, Tally};

/// How often the cancel flag is looked at while nothing happens, and progress is told.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// A slot to fill, with the buffer that the job lent.
type Work = (Fetch, Vec<u8>);

/// Where the workers find their next slot.
#[derive(Default)]
struct Bench {
    state: Mutex<Waiting>,
    bell: Condvar,
}

#[derive(Default)]
struct Waiting {
    work: VecDeque<Work>,
    running: usize,
    closed: bool,
}

impl Bench {
    fn put(&self, work: Work) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.work.push_back(work);
        self.bell.notify_one();
    }

    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.closed = true;
        state.work.clear();
        self.bell.notify_all();
    }

    /// Waits for work that the pace allows; `None` when the bench is closed.
    fn take(&self, pace: &Pace) -> Option<Work> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if state.closed {
                return None;
            }
            if state.running < pace.limit()
                && let Some(work) = state.work.pop_front()
            {
                state.running += 1;
                return Some(work);
            }
            state = self
                .bell
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finished(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.running -= 1;
        self.bell.notify_all();
    }
}

/// Runs a job: fills its slots with at most `in_flight` requests at a time, and hands out its items
/// as they finish.
///
/// The job is reduced in the calling thread while other threads read. `on` may fail, which stops
/// the run: a full disk, say. The tally is added to. After an error the job is of no use any more.
///
/// # Errors
/// The job's, `on`'s, those of reading, and [`Error::Interrupted`].
pub fn run<J, F>(
    job: &mut J,
    sources: &[Source],
    run: &Run<'_>,
    tally: &mut Tally,
    mut on: F,
) -> Result<(), Error>
where
    J: Job,
    F: for<'e> FnMut(Event<'e, J>) -> Result<(), Error>,
{
    let in_flight = run.in_flight.max(1);
    let options = sources.first().map(|source| source.options().clone());
    let session = Session::new(options.unwrap_or_default().own_agent(in_flight), in_flight);
    let bench = Bench::default();
    let (started, before) = (Instant::now(), tally.seconds);
    let outcome = std::thread::scope(|scope| {
        let (sender, filled) = mpsc::channel();
        for _ in 0..in_flight {
            let (session, bench, sender) = (&session, &bench, sender.clone());
            scope.spawn(move || labour(session, bench, sources, &sender));
        }
        let mut foreman = Foreman {
            session: &session,
            bench: &bench,
            sources,
            run,
            filled,
            outstanding: 0,
            // Some slots lie ready, so that no thread waits for a long reduction.
            most: 2 * in_flight,
            started,
            told: started,
            before,
        };
        foreman.lead(job, tally, &mut on)
    });
    session.meter.settle(tally);
    tally.peak_bytes = tally.peak_bytes.max(job.peak());
    tally.seconds = before + started.elapsed().as_secs_f64();
    outcome
}

/// The calling thread's side of a run.
struct Foreman<'r> {
    session: &'r Session,
    bench: &'r Bench,
    sources: &'r [Source],
    run: &'r Run<'r>,
    filled: Receiver<Filled>,
    /// Slots lent and not yet back.
    outstanding: usize,
    /// Most slots to lend.
    most: usize,
    started: Instant,
    /// When progress was last told.
    told: Instant,
    /// Seconds that the tally held at the start.
    before: f64,
}

/// A slot that came back, or why it did not.
type Filled = Result<Work, Error>;

impl Drop for Foreman<'_> {
    /// However the run ends, the threads end at once: they are waited for.
    fn drop(&mut self) {
        self.session.stop();
        self.bench.close();
    }
}

impl Foreman<'_> {
    /// Goes on until the job is done.
    fn lead<J, F>(&mut self, job: &mut J, tally: &mut Tally, on: &mut F) -> Result<(), Error>
    where
        J: Job,
        F: for<'e> FnMut(Event<'e, J>) -> Result<(), Error>,
    {
        loop {
            self.hand_out(job, tally, on)?;
            if job.is_done() {
                return Ok(());
            }
            if self.outstanding == 0 {
                // Waiting would be for ever.
                return Err(Error::Core(error::Error::Parameter {
                    name: "job",
                    what: "it is not done, but asks for nothing; this is a fault of the program"
                        .to_owned(),
                }));
            }
            self.check()?;
            match self.filled.recv_timeout(TICK) {
                Ok(filled) => self.take_back(job, tally, filled?)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
            self.tell(job, tally, on)?;
        }
    }

    /// Tells of progress, unless it was told a moment ago.
    fn tell<J, F>(&mut self, job: &mut J, tally: &mut Tally, on: &mut F) -> Result<(), Error>
    where
        J: Job,
        F: for<'e> FnMut(Event<'e, J>) -> Result<(), Error>,
    {
        if self.told.elapsed() < TICK {
            return Ok(());
        }
        self.told = Instant::now();
        self.session.meter.settle(tally);
        tally.seconds = self.before + self.started.elapsed().as_secs_f64();
        tally.peak_bytes = tally.peak_bytes.max(job.peak());
        on(Event::Progress(tally, job))
    }

    fn check(&self) -> Result<(), Error> {
        if self.run.cancel.load(Ordering::SeqCst) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    /// Gives out work and hands out items, until no item is ready.
    fn hand_out<J, F>(&mut self, job: &mut J, tally: &mut Tally, on: &mut F) -> Result<(), Error>
    where
        J: Job,
        F: for<'e> FnMut(Event<'e, J>) -> Result<(), Error>,
    {
        loop {
            self.lend(job);
            self.check()?;
            let Some(item) = job.ready()? else { break };
            tally.sections += 1;
            on(Event::Item(item))?;
            // A job may have much to hand out between two reads.
            self.tell(job, tally, on)?;
        }
        // Looking for the next item may have freed the slots of the one before.
        self.lend(job);
        Ok(())
    }

    fn lend<J: Job>(&mut self, job: &mut J) {
        while self.outstanding < self.most
            && let Some(fetch) = job.next()
        {
            let buffer = job.lend(&fetch);
            self.outstanding += 1;
            self.bench.put((fetch, buffer));
        }
    }

    fn take_back<J: Job>(
        &mut self,
        job: &mut J,
        tally: &mut Tally,
        work: Work,
    ) -> Result<(), Error> {
        let (fetch, buffer) = work;
        self.outstanding -= 1;
        self.session.pace.ease();
        let source = self.sources.get(fetch.source as usize);
        if !source.is_some_and(Source::is_scratch) {
            tally.bytes_payload += fetch.reads.iter().map(crate::job::Read::len).sum::<u64>();
        }
        job.filled(&fetch, buffer)?;
        tally.peak_bytes = tally.peak_bytes.max(job.peak());
        Ok(())
    }
}

/// A worker: fills slots until the bench is closed.
fn labour(session: &Session, bench: &Bench, sources: &[Source], sender: &Sender<Filled>) {
    while let Some((fetch, mut buffer)) = bench.take(&session.pace) {
        let filled = fill(session, sources, &fetch, &mut buffer);
        bench.finished();
        if sender.send(filled.map(|()| (fetch, buffer))).is_err() {
            return;
        }
    }
}

/// Brings all bytes of one slot, each straight to its place.
fn fill(
    session: &Session,
    sources: &[Source],
    fetch: &Fetch,
    buffer: &mut [u8],
) -> Result<(), Error> {
    let source = sources.get(fetch.source as usize);
    for read in &fetch.reads {
        let length = usize::try_from(read.len()).unwrap_or(usize::MAX);
        let room = buffer.get_mut(read.at..read.at.saturating_add(length));
        let (Some(source), Some(room)) = (source, room) else {
            return Err(Error::Core(error::Error::Unexpected {
                file: source.map_or("job", Source::name).to_owned(),
                at: read.range.start,
                asked: read.len(),
                got: 0,
            }));
        };
        let got = source.read(session, read.range.start, room)?;
        if got.bytes < length {
            let bytes = super::fault::spell(read.range.start, read.range.end);
            return Err(Error::Core(error::Error::Format {
                file: source.name().to_owned(),
                at: read.range.start + got.bytes as u64,
                what: if source.is_scratch() {
                    format!(
                        "the file ends here, though bytes {bytes} were written: something else \
                         has changed it; begin anew"
                    )
                } else {
                    format!(
                        "the file ends here, but its header promises bytes {bytes}: it is \
                         truncated; fetch it again"
                    )
                },
            }));
        }
    }
    Ok(())
}
