//! Threads that fill slots while the job reduces.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::error::Error;
use super::native::{Event, Run, Source, walk_in};
use super::session::Session;
use crate::error;
use crate::job::{Fetch, Job, Machine, Tally};

/// How often the cancel flag is looked at while nothing happens.
const TICK: Duration = Duration::from_millis(50);
/// Slots filled without a complaint after which one request more is tried.
const EASE: usize = 32;

/// How many requests may be in flight: halved when a server says that it is overloaded, and raised
/// by one after a while without complaints.
#[derive(Debug)]
pub(super) struct Pace {
    ceiling: usize,
    now: Mutex<Speed>,
}

#[derive(Debug)]
struct Speed {
    limit: usize,
    clean: usize,
    lowered: Option<Instant>,
}

impl Pace {
    pub(super) fn new(in_flight: usize) -> Self {
        let ceiling = in_flight.max(1);
        Self {
            ceiling,
            now: Mutex::new(Speed {
                limit: ceiling,
                clean: 0,
                lowered: None,
            }),
        }
    }

    /// Halves the limit, unless the request that met the complaint was `sent` before the last time.
    pub(super) fn slow_down(&self, sent: Instant) {
        let mut speed = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if speed.lowered.is_none_or(|lowered| sent >= lowered) {
            speed.limit = (speed.limit / 2).max(1);
            speed.lowered = Some(Instant::now());
        }
        speed.clean = 0;
    }

    fn ease(&self) {
        let mut speed = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        speed.clean += 1;
        if speed.clean >= EASE && speed.limit < self.ceiling {
            speed.limit += 1;
            speed.clean = 0;
        }
    }

    fn limit(&self) -> usize {
        let speed = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        speed.limit
    }
}

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
    F: for<'i> FnMut(Event<'_, J::Item<'i>>) -> Result<(), Error>,
{
    let in_flight = run.in_flight.max(1);
    let agent = sources.first().map_or_else(
        || super::http::Options::default().own_agent(1),
        |source| source.options().own_agent(in_flight),
    );
    let session = Session::new(agent, in_flight);
    let bench = Bench::default();
    let started = Instant::now();
    let mut told = started;
    let seconds = tally.seconds;
    let (sender, receiver) = mpsc::channel();
    let mut main = Foreman {
        session: &session,
        bench: &bench,
        outstanding: 0,
        most: 2 * in_flight,
    };
    let outcome = std::thread::scope(|scope| {
        for _ in 0..in_flight {
            let sender = sender.clone();
            scope.spawn(|| labour(&session, &bench, sources, sender));
        }
        let outcome = loop {
            match main.turn(job, tally, &mut on) {
                Ok(false) => {}
                Ok(true) => break Ok(()),
                Err(error) => break Err(error),
            }
            if run.cancel.load(Ordering::SeqCst) {
                break Err(Error::Interrupted);
            }
            match receiver.recv_timeout(TICK) {
                Ok(filled) => {
                    if let Err(error) = main.take(job, tally, filled) {
                        break Err(error);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break Err(Error::Interrupted),
            }
            if told.elapsed() < TICK {
                continue;
            }
            told = Instant::now();
            session.meter.settle(tally);
            tally.seconds = seconds + started.elapsed().as_secs_f64();
            if let Err(error) = on(Event::Progress(tally)) {
                break Err(error);
            }
        };
        // Before the threads are waited for, so that they end at once.
        session.stop();
        bench.close();
        outcome
    });
    session.meter.settle(tally);
    tally.peak_bytes = tally.peak_bytes.max(job.peak());
    tally.seconds = seconds + started.elapsed().as_secs_f64();
    outcome
}

/// The calling thread's side of a run.
struct Foreman<'r> {
    session: &'r Session,
    bench: &'r Bench,
    /// Slots lent and not yet back.
    outstanding: usize,
    /// Most slots to lend: some lie ready, so that no thread waits for a long reduction.
    most: usize,
}

/// A slot that came back, or why it did not.
type Filled = Result<(Fetch, Vec<u8>), Error>;

impl Foreman<'_> {
    /// Gives out work and hands out items; whether the job is done.
    fn turn<J, F>(&mut self, job: &mut J, tally: &mut Tally, on: &mut F) -> Result<bool, Error>
    where
        J: Job,
        F: for<'i> FnMut(Event<'_, J::Item<'i>>) -> Result<(), Error>,
    {
        loop {
            self.lend(job);
            let Some(item) = job.ready()? else { break };
            tally.sections += 1;
            on(Event::Item(item))?;
        }
        if job.is_done() {
            return Ok(true);
        }
        if self.outstanding == 0 {
            // Waiting would be for ever.
            return Err(Error::Core(error::Error::Parameter {
                name: "job",
                what: "it is not done, but asks for nothing; this is a fault of the program"
                    .to_owned(),
            }));
        }
        Ok(false)
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

    fn take<J: Job>(
        &mut self,
        job: &mut J,
        tally: &mut Tally,
        filled: Filled,
    ) -> Result<(), Error> {
        let (fetch, buffer) = filled?;
        self.outstanding -= 1;
        self.session.pace.ease();
        tally.bytes_payload += fetch.reads.iter().map(crate::job::Read::len).sum::<u64>();
        job.filled(&fetch, buffer)?;
        tally.peak_bytes = tally.peak_bytes.max(job.peak());
        Ok(())
    }
}

/// A worker: fills slots until the bench is closed.
fn labour(session: &Session, bench: &Bench, sources: &[Source], sender: Sender<Filled>) {
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
            let at = read.range.start + got.bytes as u64;
            return Err(Error::Core(error::Error::Format {
                file: source.name().to_owned(),
                at,
                what: format!(
                    "the file ends here, but its header promises bytes {}: it is truncated; \
                     fetch it again",
                    super::fault::spell(read.range.start, read.range.end)
                ),
            }));
        }
    }
    Ok(())
}

/// Runs one machine over each source, several at a time, and gives what each found, in order.
///
/// One source's failure does not stop the others. `on` sees each outcome as it comes, with the
/// source's index.
///
/// # Errors
/// [`Error::Interrupted`] alone: the outcomes are then dropped.
pub fn walk_all<M>(
    sources: &[Source],
    machines: &mut [M],
    run: &Run<'_>,
    tally: &mut Tally,
    mut on: impl FnMut(usize, &Result<Vec<M::Item>, Error>),
) -> Result<Vec<Result<Vec<M::Item>, Error>>, Error>
where
    M: Machine + Send,
    M::Item: Send,
{
    let Some(first) = sources.first() else {
        return Ok(Vec::new());
    };
    let in_flight = run.in_flight.max(1).min(sources.len());
    let session = Session::new(first.options().own_agent(in_flight), in_flight);
    let count = sources.len().min(machines.len());
    let work = Mutex::new(sources.iter().zip(machines.iter_mut()).enumerate());
    let mut outcomes: Vec<_> = (0..count).map(|_| None).collect();
    let started = Instant::now();
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..in_flight {
            let sender = sender.clone();
            scope.spawn(|| {
                let sender = sender;
                let next = || work.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((index, (source, machine))) = next() {
                    let found = walk_in(&session, source, machine);
                    if session.halt.check().is_err() || sender.send((index, found)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(TICK) {
                Ok((index, found)) => {
                    on(index, &found);
                    outcomes[index] = Some(found);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if run.cancel.load(Ordering::SeqCst) {
                session.stop();
                break;
            }
        }
    });
    session.meter.settle(tally);
    tally.seconds += started.elapsed().as_secs_f64();
    let outcomes: Option<Vec<_>> = outcomes.into_iter().collect();
    outcomes.ok_or(Error::Interrupted)
}
