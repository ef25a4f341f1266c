//! Machines over sources: one, or many side by side.

use std::sync::atomic::Ordering;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::Error;
use super::crew::TICK;
use super::native::{Run, Source, grow};
use super::session::Session;
use crate::job::{Machine, Step, Tally};

/// What a machine found in one source.
pub type Found<T> = Result<Vec<T>, Error>;

/// Runs a machine over a source, and gives what it found.
///
/// # Cost
/// One request for each range that the machine asks for, one after the other; a buffer of the
/// longest of them.
///
/// # Errors
/// The machine's, and those of reading.
pub fn walk<M: Machine>(source: &Source, machine: &mut M, tally: &mut Tally) -> Found<M::Item> {
    let session = Session::new(source.options().shared_agent(), 1);
    let found = walk_in(&session, source, machine);
    session.meter.settle(tally);
    found
}

/// The walk itself, inside a session that may be stopped.
fn walk_in<M: Machine>(session: &Session, source: &Source, machine: &mut M) -> Found<M::Item> {
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    loop {
        match machine.step()? {
            Step::Need(range) => {
                session.halt.check()?;
                let length = range.end.saturating_sub(range.start);
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                grow(&mut buffer, length, source.name())?;
                let got = source.read(session, range.start, &mut buffer)?;
                machine.feed(range.start, &buffer[..got.bytes], got.total)?;
            }
            Step::Ready(item) => found.push(item),
            Step::Done => return Ok(found),
        }
    }
}

/// Runs a machine over a source as [`walk`] does, for long walks: it can be cancelled, and `on` sees
/// about every twentieth of a second what it has cost so far.
///
/// # Cost
/// As [`walk`], and one thread that reads.
///
/// # Errors
/// The machine's, those of reading, and [`Error::Interrupted`].
pub fn follow<M>(
    source: &Source,
    machine: &mut M,
    run: &Run<'_>,
    tally: &mut Tally,
    mut on: impl FnMut(&Tally),
) -> Found<M::Item>
where
    M: Machine + Send,
    M::Item: Send,
{
    let session = Session::new(source.options().own_agent(1), 1);
    let (started, before) = (Instant::now(), tally.seconds);
    let (sender, receiver) = mpsc::channel();
    let found = std::thread::scope(|scope| {
        let session = &session;
        scope.spawn(move || {
            // Nobody listens any more after a cancel.
            let _ = sender.send(walk_in(session, source, machine));
        });
        loop {
            match receiver.recv_timeout(TICK) {
                Ok(found) => return found,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Error::Interrupted),
            }
            if run.cancel.load(Ordering::SeqCst) {
                session.stop();
                return Err(Error::Interrupted);
            }
            session.meter.settle(tally);
            tally.seconds = before + started.elapsed().as_secs_f64();
            on(tally);
        }
    });
    session.meter.settle(tally);
    tally.seconds = before + started.elapsed().as_secs_f64();
    found
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
    mut on: impl FnMut(usize, &Found<M::Item>),
) -> Result<Vec<Found<M::Item>>, Error>
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
