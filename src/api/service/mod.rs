//! The decisions: from a request to an answer, or to what a host has to do first.

mod access;
mod document;
mod info;
mod pyramid;

use std::collections::BTreeMap;

use super::answer::Ticket;
use super::canonical::{canonical, etag};
use super::catalog::{Catalog, Dataset, Kind, SourceEntry};
use super::conditions::lists;
use super::cors::{self, Freshness};
use super::job::{self, JobAsk, JobAt, NewJob};
use super::jobs::ask::{Asked, MedianAsked};
use super::jobs::id::Id;
use super::jobs::keys::Key;
use super::layer::Layer;
use super::limits::Limits;
use super::opened::Opened;
use super::problem::Problem;
use super::reply::Reply;
use super::request::Request;
use super::route::{DatasetRef, Route, Routed, route};
use super::version::version;
use super::{file, openapi};
use crate::raster::pyramid::TILE;

/// What a host is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerFacts {
    /// The program's version, as the service document tells it.
    pub version: String,
    /// What addresses in documents begin with, before `/v1`: nothing, or an origin such as `https://tiles.example.org`.
    pub base: String,
    /// Whether there is a queue for jobs.
    pub jobs: bool,
}

/// What a host has to do about a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Ask {
    /// Send this.
    Reply(Reply),
    /// Open this dataset, give it to [`Service::opened`], and ask again.
    Open {
        /// Its name.
        dataset: String,
    },
    /// Send what the cache has under the ticket's canonical form; else start it, feed it, send what comes out, and keep
    /// that in the cache.
    Work(Box<Ticket>),
    /// See to a job.
    Job(JobAsk),
}

/// All that is served, and what of it is open.
#[derive(Debug)]
pub struct Service {
    catalog: Catalog,
    limits: Limits,
    facts: ServerFacts,
    /// What whoever looks at the service should know.
    note: Option<String>,
    open: BTreeMap<String, Open>,
}

/// An open dataset.
#[derive(Debug)]
struct Open {
    opened: Opened,
    /// `name@version`.
    id: String,
}

impl Service {
    /// Serves the datasets of a catalog, none of which is open.
    #[must_use]
    pub fn new(catalog: Catalog, limits: Limits, facts: ServerFacts) -> Self {
        Self {
            catalog,
            limits,
            facts,
            note: None,
            open: BTreeMap::new(),
        }
    }

    /// The same with something that whoever looks at the service should know: a member `note` of its document.
    #[must_use]
    pub fn with_note(mut self, note: &str) -> Self {
        self.note = Some(note.to_owned());
        self
    }

    /// What is declared.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// What an answer may take.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Takes a dataset that was opened; one that is not declared is dropped.
    pub fn opened(&mut self, dataset: &str, opened: Opened) {
        let Some(declared) = self.catalog.dataset(dataset) else {
            return;
        };
        let version = version(declared, opened.sources(), opened.digest());
        let id = format!("{dataset}@{version}");
        self.open.insert(dataset.to_owned(), Open { opened, id });
    }

    /// Forgets an open dataset: a file of it has changed, or memory is needed.
    pub fn forget(&mut self, dataset: &str) {
        self.open.remove(dataset);
    }

    /// An open dataset.
    #[must_use]
    pub fn dataset(&self, dataset: &str) -> Option<&Opened> {
        self.open.get(dataset).map(|open| &open.opened)
    }

    /// The id, `name@version`, of an open dataset.
    #[must_use]
    pub fn id(&self, dataset: &str) -> Option<&str> {
        self.open.get(dataset).map(|open| open.id.as_str())
    }

    /// Bytes that open datasets hold.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let open = self.open.values();
        open.map(|open| open.opened.bytes()).sum()
    }

    /// The job whose pyramid serves coarse tiles of an open stack, were it done; `None` where there can be none.
    #[must_use]
    pub fn pyramid_job(&self, dataset: &str) -> Option<NewJob> {
        let declared = self.catalog.dataset(dataset)?;
        let open = self.open.get(dataset)?;
        let stack = matches!(declared.kind, Kind::Stack(_));
        (stack && declared.jobs && self.facts.jobs)
            .then(|| self.new_job(open, Asked::Median(MedianAsked::default())))
    }

    /// The declaration of an open stack with the pyramid of that job: what to open in its place once the job is done.
    ///
    /// The version stays what it was: the pyramid is a function of it, and its tiles are the same bytes.
    #[must_use]
    pub fn with_pyramid(&self, dataset: &str) -> Option<Dataset> {
        let job = self.pyramid_job(dataset)?;
        let mut declared = self.catalog.dataset(dataset)?.clone();
        let Kind::Stack(stack) = &mut declared.kind else {
            return None;
        };
        if stack.pyramid.is_some() {
            return None;
        }
        stack.pyramid = Some(SourceEntry {
            url: Key::Result("pyramid.fits".to_owned()).of(&job.at.job),
            remote: false,
            size: None,
            etag: None,
            image: None,
        });
        Some(declared)
    }

    /// Decides about a request.
    #[must_use]
    pub fn ask(&self, request: &Request<'_>) -> Ask {
        match self.decide(request) {
            Ok(ask) => ask,
            Err(problem) => Ask::Reply(problem.reply()),
        }
    }

    /// Reads the body of a new job, after [`JobAsk::New`].
    ///
    /// # Errors
    /// `body` (400) and `job` (404); `busy` (503) if the dataset is not open any more.
    pub fn job(&self, dataset: &str, body: &[u8]) -> Result<NewJob, Problem> {
        let declared = self.catalog.dataset(dataset);
        let (Some(declared), Some(open)) = (declared, self.open.get(dataset)) else {
            return Err(Problem::busy("the dataset is being opened; ask again", 1));
        };
        let asked = job::read(declared, body)?;
        Ok(self.new_job(open, asked))
    }

    /// Makes any answer to a request ready to be sent: caching, CORS, and no body for HEAD.
    ///
    /// To be done once, last of all, for what [`Service::ask`] gave, what was computed and what the cache had.
    #[must_use]
    pub fn finish(&self, request: &Request<'_>, mut reply: Reply) -> Reply {
        let (freshness, private) = match route(request) {
            Ok(Routed::To(Some(dataset), route)) => {
                (freshness(&dataset, &route), self.is_private(&dataset.name))
            }
            Ok(Routed::Cancel(dataset, _)) => (Freshness::Never, self.is_private(&dataset.name)),
            _ => (Freshness::Minute, false),
        };
        cors::dress(&mut reply, request, freshness, private);
        reply
    }

    fn decide(&self, request: &Request<'_>) -> Result<Ask, Problem> {
        match route(request)? {
            Routed::Options(allow) => Ok(Ask::Reply(cors::options(allow))),
            Routed::To(None, Route::OpenApi) => {
                let reply = Reply::json(200, &openapi::document(&self.catalog, &self.facts));
                Ok(Ask::Reply(tagged(request, reply)))
            }
            Routed::To(None, _) => Ok(Ask::Reply(tagged(request, self.document(request)))),
            Routed::To(Some(named), route) => self.of_dataset(request, &named, route),
            Routed::Cancel(named, id) => {
                let Some((declared, open)) = self.admitted(request, &named)? else {
                    return Ok(open_first(&named));
                };
                self.with_jobs(declared)?;
                Ok(Ask::Job(JobAsk::Cancel(self.job_at(open, &id)?)))
            }
        }
    }

    fn of_dataset(
        &self,
        request: &Request<'_>,
        named: &DatasetRef,
        route: Route,
    ) -> Result<Ask, Problem> {
        let Some((declared, open)) = self.admitted(request, named)? else {
            return Ok(open_first(named));
        };
        match route {
            Route::Info => {
                let info = self.info(declared, open);
                Ok(Ask::Reply(tagged(request, Reply::json(200, &info))))
            }
            Route::TileJson { layer } => {
                self.check(open, &layer)?;
                let tilejson = self.tilejson(declared, open, &layer)?;
                Ok(Ask::Reply(tagged(request, Reply::json(200, &tilejson))))
            }
            Route::JobNew => {
                self.with_jobs(declared)?;
                json_only(request)?;
                let dataset = declared.name.clone();
                Ok(Ask::Job(JobAsk::New { dataset }))
            }
            Route::JobOf { id } => {
                self.with_jobs(declared)?;
                Ok(Ask::Job(JobAsk::Progress(self.job_at(open, &id)?)))
            }
            Route::JobFile { id, file } => {
                self.with_jobs(declared)?;
                if file::content_type(&file).is_none() {
                    let detail = format!("{file:?} is no result of a job");
                    return Err(Problem::new("job", detail));
                }
                let at = self.job_at(open, &id)?;
                Ok(Ask::Job(JobAsk::File { at, file }))
            }
            route => self.work(request, declared, open, &route),
        }
    }

    /// What takes data: 304 and 204 at once, a ticket within the limits, a job or 413 beyond them.
    fn work(
        &self,
        request: &Request<'_>,
        declared: &Dataset,
        open: &Open,
        route: &Route,
    ) -> Result<Ask, Problem> {
        let route = whole(route, open.opened.size());
        if matches!(declared.kind, Kind::Stack(_)) && route == (Route::Spectrum { at: None }) {
            let detail = "a stack has no mean spectrum; give x and y";
            return Err(Problem::new("outside", detail));
        }
        let Some(ticket) = Ticket::plan(&open.id, &route, &open.opened, &self.limits)? else {
            let tag = etag(&canonical(&open.id, &route));
            let reply = Reply::empty(204).with("ETag", tag);
            return Ok(Ask::Reply(unchanged(request, reply)));
        };
        let known = request.if_none_match;
        if known.is_some_and(|tags| lists(tags, &ticket.etag)) {
            return Ok(Ask::Reply(Reply::empty(304).with("ETag", ticket.etag)));
        }
        match self.limits.check(&ticket.cost) {
            Ok(()) => Ok(Ask::Work(Box::new(ticket))),
            Err(problem) => match self.pyramid_job(&declared.name) {
                Some(job) if is_of_pyramid(&route) && !has_pyramid(&open.opened) => {
                    Ok(Ask::Job(JobAsk::Instead(job)))
                }
                _ => Err(problem),
            },
        }
    }

    /// Refuses a layer that an open dataset does not have.
    fn check(&self, open: &Open, layer: &Layer) -> Result<(), Problem> {
        let coarsest = Route::Tile {
            layer: layer.clone(),
            z: 0,
            x: 0,
            y: 0,
            tile: TILE,
            alpha: false,
        };
        Ticket::plan(&open.id, &coarsest, &open.opened, &self.limits).map(|_| ())
    }

    fn new_job(&self, open: &Open, asked: Asked) -> NewJob {
        NewJob::new(&self.facts.base, open.name(), &open.id, asked)
    }

    fn job_at(&self, open: &Open, id: &str) -> Result<JobAt, Problem> {
        let id = Id::parse(id).ok_or_else(|| Problem::new("job", "there is no such job"))?;
        Ok(JobAt::new(&self.facts.base, open.name(), &open.id, id))
    }
}

impl Open {
    fn name(&self) -> &str {
        self.id.split('@').next().unwrap_or_default()
    }
}

/// A document with its own entity tag, or 304.
fn tagged(request: &Request<'_>, reply: Reply) -> Reply {
    let tag = etag(&String::from_utf8_lossy(&reply.body));
    unchanged(request, reply.with("ETag", tag))
}

/// 304 in place of an answer that the client has.
fn unchanged(request: &Request<'_>, reply: Reply) -> Reply {
    let tag = reply.header("ETag").unwrap_or_default();
    if request.if_none_match.is_some_and(|tags| lists(tags, tag)) {
        return Reply::empty(304).with("ETag", tag);
    }
    reply
}

fn open_first(named: &DatasetRef) -> Ask {
    Ask::Open {
        dataset: named.name.clone(),
    }
}

/// Refuses a body that says it is something else than JSON.
fn json_only(request: &Request<'_>) -> Result<(), Problem> {
    let media = request.content_type.map(|text| {
        let media = text.split(';').next().unwrap_or_default();
        media.trim().to_ascii_lowercase()
    });
    match media.as_deref() {
        None | Some("application/json") => Ok(()),
        Some(other) if other.starts_with("application/") && other.ends_with("+json") => Ok(()),
        Some(other) => {
            let shown: String = other.chars().take(80).collect();
            let detail = format!("the body is {shown:?}; send application/json");
            Err(Problem::new("media-type", detail))
        }
    }
}

/// The same route without a rectangle that is all of the image.
fn whole(route: &Route, (width, height): (u32, u32)) -> Route {
    let mut route = route.clone();
    if let Route::Cutout { bbox, .. } | Route::Statistics { bbox, .. } = &mut route {
        *bbox = bbox.filter(|rect| [rect.x0, rect.y0, rect.x1, rect.y1] != [0, 0, width, height]);
    }
    route
}

/// Whether a pyramid of the median would have it.
fn is_of_pyramid(route: &Route) -> bool {
    let Route::Tile { layer, tile, .. } = route else {
        return false;
    };
    *tile == TILE && matches!(layer, Layer::Median | Layer::Count)
}

/// Whether the pyramid is there already, so that computing it would not help.
fn has_pyramid(opened: &Opened) -> bool {
    matches!(
        opened,
        Opened::Stack {
            pyramid: Some(_),
            ..
        }
    )
}

fn freshness(dataset: &DatasetRef, route: &Route) -> Freshness {
    match route {
        Route::JobNew | Route::JobOf { .. } => Freshness::Never,
        // A job can be removed, and be done anew; a title, lists and jobs are declared anew without another version.
        Route::JobFile { .. } | Route::Info | Route::TileJson { .. } => Freshness::Minute,
        _ if dataset.version.is_some() => Freshness::Immutable,
        _ => Freshness::Minute,
    }
}
