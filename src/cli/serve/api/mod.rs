//! Datasets over HTTP: what the library's router decides, done with files, threads, a cache and a gate.
//!
//! ```text
//!  asking ──► watch, shelf ──► router ──► reply at once
//!              catalog         │ open     headers, then asked again
//!                              │ work ──► cache ──► flight ──► gate ──► driver, answer ──► cache, all who wait
//! ```

mod asking;
mod cache;
mod fault;
mod flight;
mod gate;
mod open;
mod shelf;
mod watch;
mod work;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Response;
use sectile::api::answer::Ticket;
use sectile::api::catalog::{Allow, FILE};
use sectile::api::service::Ask;
use sectile::api::{Limits, Problem};
use sectile::budget;
use sectile::drive::native::Options;
use sectile::drive::policy::Patience;
use tokio::task::spawn_blocking;

pub use asking::Asking;

use self::asking::{Ready, put};
use self::cache::Cache;
use self::fault::Fault;
use self::flight::{Cancel, Duty, Flights};
use self::gate::{Gate, Refused};
use self::shelf::{Shelf, Taken};
use self::watch::Watch;
use self::work::{Made, milliseconds};
use crate::cli::arguments::Serve;
use crate::cli::failure::Result;

/// How often a dataset is opened anew because a file of it changed while an answer was computed.
const ANEW: u32 = 1;

/// How long to put up with another server's faults: whoever asks waits.
const PATIENCE: Patience = Patience {
    tries: 3,
    first_wait_ms: 200,
    longest_wait_ms: 2_000,
};

/// Seconds after which to ask again where all is taken.
const AGAIN: u32 = 2;

/// The datasets of a served folder.
#[derive(Debug)]
pub struct Api {
    folder: PathBuf,
    options: Options,
    memory: u64,
    deadline: Duration,
    watch: Watch,
    cache: Mutex<Cache<Ready>>,
    flights: Arc<Flights<Outcome>>,
    gate: Gate,
}

type Outcome = std::result::Result<Made, Fault>;

/// What answering took, for `Server-Timing`.
#[derive(Debug, Default)]
struct Timing {
    opened: f64,
    made: Option<Made>,
    is_cached: bool,
}

impl Api {
    /// The datasets of `folder`, a real path. Warnings about the catalog go to `warn`.
    pub fn new(
        arguments: &Serve,
        folder: &Path,
        warn: tokio::sync::mpsc::UnboundedSender<String>,
    ) -> Result<Arc<Self>> {
        let memory = budget::parse_size(&arguments.memory)?;
        let deadline = Duration::from_secs(arguments.deadline.into());
        let limits = Limits {
            requests: 100_000,
            cpu_ms: u64::from(arguments.deadline) * 1000,
            memory,
            bytes: 1 << 40,
            answer_bytes: memory,
        };
        let allow = Allow {
            private_origins: arguments.allow_private_origins,
        };
        let catalog = arguments.catalog.clone();
        let catalog = catalog.unwrap_or_else(|| folder.join(FILE));
        let places = std::thread::available_parallelism().map_or(2, usize::from);
        let silence = deadline.min(Duration::from_secs(15));
        Ok(Arc::new(Self {
            folder: folder.to_owned(),
            options: Options::default()
                .with_patience(PATIENCE)
                .with_timeouts(silence.min(Duration::from_secs(5)), silence)
                .without_redirects(),
            memory,
            deadline,
            watch: Watch::new(
                catalog,
                watch::Rules {
                    allow,
                    limits,
                    shows_data: !arguments.no_data,
                },
                warn,
            ),
            cache: Mutex::new(Cache::new(budget::parse_size(&arguments.cache)?)),
            flights: Flights::new(),
            // Two for each processor: one computes while the other waits for its bytes.
            gate: Gate::new(memory, 2 * places, usize::from(arguments.queue)),
        }))
    }

    /// Whether a path is one of the interface's.
    pub fn has(path: &str) -> bool {
        path == "/v1" || path.starts_with("/v1/") || path == "/openapi.json"
    }

    /// Whether a real path is that of the catalog.
    pub fn is_catalog(&self, path: &Path) -> bool {
        self.watch.is_at(path)
    }

    /// Answers a request. Dropping the future gives up what is computed for it alone.
    pub async fn answer(self: &Arc<Self>, asking: &Asking) -> Response<Body> {
        let shelf = self.shelf().await;
        let mut timing = Timing::default();
        let found = self.found(&shelf, asking, &mut timing);
        let ready = match tokio::time::timeout(self.deadline, found).await {
            Ok(Ok(ready)) => ready,
            Ok(Err(fault)) => fault.into_problem().reply().into(),
            Err(_) => {
                let seconds = self.deadline.as_secs();
                let what = format!("it takes longer than {seconds} s; ask again or for less");
                Problem::busy(what, AGAIN).reply().into()
            }
        };
        let mut response = ready.respond(asking, |request, reply| shelf.finish(request, reply));
        timing.put(&mut response);
        response
    }

    /// What is served now.
    async fn shelf(self: &Arc<Self>) -> Arc<Shelf> {
        if let Some(shelf) = self.watch.last() {
            return shelf;
        }
        let api = self.clone();
        match spawn_blocking(move || api.watch.current()).await {
            Ok(shelf) => shelf,
            // The runtime is ending.
            Err(_) => self.watch.current(),
        }
    }

    async fn found(
        self: &Arc<Self>,
        shelf: &Arc<Shelf>,
        asking: &Asking,
        timing: &mut Timing,
    ) -> std::result::Result<Ready, Fault> {
        if let Some(fault) = shelf.fault.as_ref().filter(|_| asking.is_of_datasets()) {
            return Err(fault.clone().into());
        }
        if let Some(name) = asking.dataset().filter(|name| shelf.is_open(name)) {
            let shelf = shelf.clone();
            blocking(move || {
                shelf.look(&name);
                Ok(())
            })
            .await?;
        }
        let mut anew = 0;
        loop {
            let (ask, taken) = shelf.ask(&asking.request());
            let (fault, id) = match ask {
                Ask::Reply(reply) => return Ok(reply.into()),
                Ask::Job(_) => return Err(no_jobs().into()),
                Ask::Open { dataset } => match self.open(shelf, &dataset, timing).await {
                    Ok(()) => continue,
                    Err(fault) => (fault, dataset),
                },
                Ask::Work(ticket) => {
                    let id = ticket.dataset.clone();
                    let taken = taken.ok_or_else(open::gone)?;
                    match self.worked(*ticket, taken, timing).await {
                        Ok(ready) => return Ok(ready),
                        Err(fault) => (fault, id),
                    }
                }
            };
            if !matches!(fault, Fault::Changed(_)) || anew == ANEW {
                return Err(fault);
            }
            anew += 1;
            shelf.forget(&id);
        }
    }

    /// Opens a dataset, once for all who want it now.
    async fn open(
        self: &Arc<Self>,
        shelf: &Arc<Shelf>,
        name: &str,
        timing: &mut Timing,
    ) -> std::result::Result<(), Fault> {
        let started = Instant::now();
        let turn = shelf.turn(name);
        let _turn = turn.lock().await;
        if !shelf.is_open(name) {
            let memory = self.memory / 2;
            let _pass = self.gate.enter(memory).await.map_err(refused)?;
            let cancel = Arc::new(Cancel::default());
            let _given_up = cancel.clone().on_drop();
            let (api, shelf, name) = (self.clone(), shelf.clone(), name.to_owned());
            blocking(move || {
                let how = open::How {
                    folder: &api.folder,
                    options: &api.options,
                    memory,
                    cancel: cancel.flag(),
                };
                shelf::open(&shelf, &name, &how)
            })
            .await?;
        }
        timing.opened += milliseconds(started);
        Ok(())
    }

    /// The answer to a ticket: kept, being computed for another, or computed now.
    async fn worked(
        self: &Arc<Self>,
        ticket: Ticket,
        taken: Taken,
        timing: &mut Timing,
    ) -> std::result::Result<Ready, Fault> {
        if let Some(ready) = self.kept(&ticket.canonical) {
            timing.is_cached = true;
            return Ok(ready);
        }
        let (seat, duty) = self.flights.join(&ticket.canonical);
        if let Some(duty) = duty {
            let api = self.clone();
            tokio::spawn(async move { api.fly(duty, ticket, taken).await });
        }
        let made = seat.outcome().await.unwrap_or(Err(Fault::GivenUp))?;
        let ready = made.ready.clone();
        timing.made = Some(made);
        Ok(ready)
    }

    /// Computes for all who wait, as long as someone does.
    async fn fly(self: Arc<Self>, duty: Duty<Outcome>, ticket: Ticket, taken: Taken) {
        let cancel = duty.cancel.clone();
        let outcome = tokio::select! {
            biased;
            () = cancel.set() => Err(Fault::GivenUp),
            outcome = self.made(ticket, taken, &cancel) => outcome,
        };
        duty.done(outcome);
    }

    async fn made(&self, ticket: Ticket, taken: Taken, cancel: &Arc<Cancel>) -> Outcome {
        let came = Instant::now();
        let bytes = ticket.cost.peak_bytes;
        let pass = self.gate.enter(bytes).await.map_err(refused)?;
        let waited = milliseconds(came);
        let cancel = cancel.clone();
        let key = ticket.canonical.clone();
        let made = blocking(move || {
            // Held until the thread is done, whether or not anyone still waits for it.
            let _pass = pass;
            work::compute(&ticket, &taken, cancel.flag())
        })
        .await?;
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.keep(&key, made.ready.clone(), made.ready.bytes());
        Ok(Made { waited, ..made })
    }

    fn kept(&self, key: &str) -> Option<Ready> {
        let mut cache = self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        cache.find(key)
    }
}

/// Runs on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::result::Result<T, Fault> + Send + 'static,
) -> std::result::Result<T, Fault> {
    let stopped = |_| Fault::Problem(Problem::new("internal", "the work ended early; ask again"));
    spawn_blocking(work).await.map_err(stopped)?
}

fn refused(why: Refused) -> Fault {
    Fault::Problem(match why {
        Refused::Full => Problem::busy("as much is computed and waiting as may be", AGAIN),
        Refused::TooLarge => Problem::new(
            "budget",
            "it takes more memory than this server has for all",
        ),
    })
}

fn no_jobs() -> Problem {
    let what = "this server has no queue for jobs; run `sectile median` or `sectile annotate`";
    Problem::new("job", what)
}

impl Timing {
    /// How long it took (W3C Server Timing), and what was read for it.
    fn put(&self, response: &mut Response<Body>) {
        let mut parts = Vec::new();
        if self.opened > 0.0 {
            parts.push(format!("open;dur={:.1}", self.opened));
        }
        if let Some(made) = &self.made {
            parts.push(format!("wait;dur={:.1}", made.waited));
            parts.push(format!("compute;dur={:.1}", made.computed));
        }
        if self.made.is_some() || self.is_cached {
            let how = if self.is_cached { "hit" } else { "miss" };
            parts.push(format!("cache;desc={how}"));
            let made = self.made.as_ref();
            let [bytes, requests] = made.map_or([0, 0], |made| [made.bytes, made.requests]);
            put(response, "X-Upstream-Bytes", &bytes.to_string());
            put(response, "X-Upstream-Requests", &requests.to_string());
        }
        if !parts.is_empty() {
            put(response, "Server-Timing", &parts.join(", "));
        }
    }
}
