//! One part of a file over HTTP: its requests, until the policy is content.

use std::io::Read;
use std::time::Instant;

use ureq::Body;
use ureq::http::Response;

use super::error::Error;
use super::http::{CHUNK, head, request};
use super::native::Source;
use super::policy::{self, After, Asked, Identity, Take, Verdict};
use super::session::{Got, Session, dice, now};

/// How far one request has brought its part.
enum Turn {
    /// These many more bytes are there, by an answer as it should be.
    Got { bytes: u64, short: bool },
    /// These many more bytes are there, but the body broke, or nothing came: wait.
    Wait { bytes: u64, ms: u64 },
    /// Ask again, only up to here.
    Clip(u64),
    /// The source has no byte here or further on.
    End,
}

/// Fills `buffer` from byte `start` of a URL on; less only where the file ends.
///
/// # Errors
/// [`Error::Http`], [`Error::Changed`], or [`Error::Interrupted`] if the session was stopped.
pub(super) fn read(
    session: &Session,
    source: &Source,
    start: u64,
    buffer: &mut [u8],
) -> Result<Got, Error> {
    let end = start.saturating_add(buffer.len() as u64);
    let mut asked = Asked {
        start,
        end,
        patience: source.options().patience(),
        ..Asked::default()
    };
    loop {
        asked.known = source.identity();
        let total = asked.known.total;
        let last = total.map_or(end, |total| end.min(total));
        if asked.start >= last {
            let bytes = usize::try_from(asked.start - start).unwrap_or(buffer.len());
            return Ok(Got { bytes, total });
        }
        asked.end = asked.end.min(last);
        asked.tries += 1;
        let done = usize::try_from(asked.start - start).unwrap_or(buffer.len());
        match turn(session, source, &asked, &mut buffer[done..])? {
            Turn::Got { bytes, short } => {
                asked.start += bytes;
                asked.end = end;
                asked.after_short = short;
                asked.tries -= 1;
            }
            Turn::Wait { bytes, ms } => {
                asked.start += bytes;
                asked.after_short &= bytes == 0;
                session.meter.retry();
                session.halt.sleep(ms)?;
            }
            Turn::Clip(end) => {
                asked.end = end;
                asked.tries -= 1;
            }
            Turn::End => {
                return Ok(Got {
                    bytes: done,
                    total: source.identity().total,
                });
            }
        }
    }
}

/// Sends one request and does with its answer what the policy says.
fn turn(
    session: &Session,
    source: &Source,
    asked: &Asked,
    buffer: &mut [u8],
) -> Result<Turn, Error> {
    session.halt.check()?;
    let sent = Instant::now();
    let (verdict, answer) = match request(session, source, asked)? {
        Ok(answer) => (
            policy::judge(asked, &head(&answer), dice(), now()),
            Some(answer),
        ),
        Err(why) => (policy::judge_lost(asked, &why, dice()), None),
    };
    // A stopped client fails in ways that look like the server's fault.
    session.halt.check()?;
    let learn_total = |total| {
        source.learn(&Identity {
            total,
            ..Identity::default()
        })
    };
    match (verdict, answer) {
        (Verdict::Take(take), Some(answer)) => {
            source.learn(&take.known)?;
            body(session, source, asked, &take, answer, buffer)
        }
        (Verdict::Retry { wait_ms, slow_down }, _) => {
            if slow_down {
                session.pace.slow_down(sent);
            }
            Ok(Turn::Wait {
                bytes: 0,
                ms: wait_ms,
            })
        }
        (Verdict::Clip { end, total }, _) => {
            learn_total(total)?;
            Ok(Turn::Clip(end))
        }
        (Verdict::End { total }, _) => {
            learn_total(total)?;
            Ok(Turn::End)
        }
        (Verdict::Fail(fault), _) => Err(Error::fault(source.name(), fault)),
        (Verdict::Take(_), None) => Err(Error::Interrupted),
    }
}

/// Streams a body into the buffer.
fn body(
    session: &Session,
    source: &Source,
    asked: &Asked,
    take: &Take,
    answer: Response<Body>,
    buffer: &mut [u8],
) -> Result<Turn, Error> {
    let mut reader = answer.into_body().into_reader();
    let mut scrap = [0; 8 << 10];
    let wanted = take.skip + take.take;
    // Where the body should end with the part, one read more shows whether it does, and lets the
    // connection be used again.
    let ends_here = take.body == Some(wanted);
    let mut received = 0;
    let mut ended = false;
    while received < wanted || ends_here {
        session.halt.check()?;
        let room = if received < take.skip {
            let left = usize::try_from(take.skip - received).unwrap_or(scrap.len());
            let room = left.min(scrap.len());
            &mut scrap[..room]
        } else if received < wanted {
            let at = usize::try_from(received - take.skip).unwrap_or(buffer.len());
            let end = usize::try_from(take.take)
                .unwrap_or(buffer.len())
                .min(at + CHUNK);
            &mut buffer[at..end]
        } else {
            &mut scrap[..1]
        };
        match reader.read(room) {
            Ok(0) => {
                ended = true;
                break;
            }
            Ok(n) => {
                received += n as u64;
                session.meter.fetched(n);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        if received > wanted {
            break;
        }
    }
    // A stopped connection may look like an orderly end.
    session.halt.check()?;
    match policy::judge_body(asked, take, received, ended, dice()) {
        After::Done { got, total } => {
            source.learn(&Identity {
                total,
                ..Identity::default()
            })?;
            Ok(Turn::Got {
                bytes: got,
                short: false,
            })
        }
        After::Continue { from } => Ok(Turn::Got {
            bytes: from - asked.start,
            short: true,
        }),
        After::Retry { from, wait_ms } => Ok(Turn::Wait {
            bytes: from - asked.start,
            ms: wait_ms,
        }),
        After::Fail(fault) => Err(Error::fault(source.name(), fault)),
    }
}
