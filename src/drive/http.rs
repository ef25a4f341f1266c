//! The HTTP client: options, one request with its redirects, and one part with its tries.

use std::io::Read;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use ureq::Agent;
use ureq::http::{HeaderName, HeaderValue, Response, header};

use super::error::Error;
use super::fault::spell;
use super::native::Source;
use super::policy::{self, After, Asked, Head, Identity, Patience, Take, Verdict};
use super::session::{Got, Session, dice, now};
use super::url;

/// Most hops from one URL to another before an answer counts.
const REDIRECTS: usize = 10;
/// Bytes read from a body at once, and so between two looks at the cancel flag.
const CHUNK: usize = 64 << 10;

/// How to talk to servers. Clones share their connections.
#[derive(Debug, Clone)]
pub struct Options {
    headers: Vec<(HeaderName, HeaderValue)>,
    patience: Patience,
    connect: Duration,
    silence: Duration,
    agent: Arc<OnceLock<Agent>>,
}

impl Default for Options {
    /// No own headers, six tries, 10 s to connect, 30 s of silence.
    fn default() -> Self {
        Self {
            headers: Vec::new(),
            patience: Patience::default(),
            connect: Duration::from_secs(10),
            silence: Duration::from_secs(30),
            agent: Arc::default(),
        }
    }
}

impl Options {
    /// Adds a header to all requests, for instance `Authorization`.
    ///
    /// It goes to the origin of the URL that was opened and, after a redirect, to no other. It is
    /// never shown in a message.
    ///
    /// # Errors
    /// [`Parameter`](crate::error::Error::Parameter) if the name or the value is not allowed in
    /// HTTP, or if the header is one that ranges depend on.
    pub fn with_header(mut self, name: &str, value: &str) -> Result<Self, Error> {
        let wrong = |what: &str| crate::error::Error::Parameter {
            name: "--header",
            what: format!("{name:?} {what}"),
        };
        let field: HeaderName = name
            .trim()
            .parse()
            .map_err(|_| wrong("is not a header name; write for instance Authorization"))?;
        let mut value: HeaderValue = value
            .trim()
            .parse()
            .map_err(|_| wrong("has a value with bytes that HTTP does not allow"))?;
        if [
            header::RANGE,
            header::ACCEPT_ENCODING,
            header::IF_RANGE,
            header::IF_MATCH,
        ]
        .contains(&field)
        {
            return Err(wrong("is set by the program itself").into());
        }
        value.set_sensitive(true);
        self.headers.push((field, value));
        Ok(self)
    }

    /// How long to put up with a server's faults.
    #[must_use]
    pub fn with_patience(mut self, patience: Patience) -> Self {
        self.patience = patience;
        self
    }

    /// Most time to connect, and most time without a byte.
    #[must_use]
    pub fn with_timeouts(mut self, connect: Duration, silence: Duration) -> Self {
        (self.connect, self.silence) = (connect, silence);
        self.agent = Arc::default();
        self
    }

    /// The connections that walks share.
    pub(super) fn shared_agent(&self) -> Agent {
        self.agent.get_or_init(|| self.own_agent(6)).clone()
    }

    /// Fresh connections, so that stopping them stops nothing else.
    pub(super) fn own_agent(&self, in_flight: usize) -> Agent {
        Agent::config_builder()
            .http_status_as_error(false)
            // Followed here: the client would send our headers along, and forget the range.
            .max_redirects(0)
            .user_agent(concat!("sectile/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(self.connect))
            .timeout_connect(Some(self.connect))
            .timeout_recv_response(Some(self.silence))
            .timeout_per_read(Some(self.silence))
            .timeout_per_write(Some(self.silence))
            .input_buffer_size(CHUNK)
            .output_buffer_size(8 << 10)
            .max_idle_connections(in_flight)
            .max_idle_connections_per_host(in_flight)
            .build()
            .into()
    }
}

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
        patience: source.options().patience,
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
    answer: Response<ureq::Body>,
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

/// Sends a request and follows its redirects, the range with it; the inner error says why no
/// answer came.
fn request(
    session: &Session,
    source: &Source,
    asked: &Asked,
) -> Result<Result<Response<ureq::Body>, String>, Error> {
    let fail = |status, what| {
        Err(Error::Http {
            file: source.name().to_owned(),
            status,
            what,
        })
    };
    let bytes = spell(asked.start, asked.end);
    let first = source.url();
    let home = url::origin(first);
    let mut target = first.to_owned();
    for _ in 0..=REDIRECTS {
        session.meter.request();
        let mut request = session
            .agent
            .get(&target)
            .header(header::RANGE, format!("bytes={bytes}"))
            .header(header::ACCEPT_ENCODING, "identity");
        if url::origin(&target) == home {
            for (name, value) in &source.options().headers {
                request = request.header(name, value);
            }
        }
        let answer = match request.call() {
            Ok(answer) => answer,
            Err(error) if may_pass(&error, &asked.known) => return Ok(Err(error.to_string())),
            Err(error) => {
                return fail(
                    None,
                    format!(
                        "bytes {bytes}: no answer ({error}); check the address and the network"
                    ),
                );
            }
        };
        let status = answer.status().as_u16();
        if !matches!(status, 301 | 302 | 303 | 307 | 308) {
            return Ok(Ok(answer));
        }
        let Some(location) = field(&answer, header::LOCATION.as_str()) else {
            return Ok(Ok(answer));
        };
        match url::resolve(&target, &location) {
            Some(next) => target = next,
            None => {
                return fail(
                    Some(status),
                    format!(
                        "bytes {bytes}: a redirect leads to {location:?}, which is no http address"
                    ),
                );
            }
        }
    }
    fail(
        Some(302),
        format!(
            "bytes {bytes}: more than {REDIRECTS} redirects, the last to {}; check the address",
            url::redacted(&target)
        ),
    )
}

/// Whether trying again makes sense: not for a wrong name or certificate, nor for an address at
/// which no server ever answered.
fn may_pass(error: &ureq::Error, known: &Identity) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, InvalidData};
    let answered = *known != Identity::default();
    match error {
        ureq::Error::Io(error) => match error.kind() {
            InvalidData => false,
            ConnectionRefused => answered,
            _ => true,
        },
        ureq::Error::HostNotFound | ureq::Error::ConnectionFailed => answered,
        ureq::Error::Timeout(_) | ureq::Error::Protocol(_) | ureq::Error::BodyStalled => true,
        _ => false,
    }
}

fn head(answer: &Response<ureq::Body>) -> Head {
    let field = |name: HeaderName| field(answer, name.as_str());
    Head {
        status: answer.status().as_u16(),
        content_range: field(header::CONTENT_RANGE),
        content_encoding: field(header::CONTENT_ENCODING),
        content_length: field(header::CONTENT_LENGTH),
        content_type: field(header::CONTENT_TYPE),
        etag: field(header::ETAG),
        last_modified: field(header::LAST_MODIFIED),
        retry_after: field(header::RETRY_AFTER),
    }
}

/// A header's value; bytes that are not UTF-8 are replaced, so that nothing is taken as absent.
fn field(answer: &Response<ureq::Body>, name: &str) -> Option<String> {
    let value = answer.headers().get(name)?;
    Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
}
