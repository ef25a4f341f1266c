//! The datasets of one reading of the catalog, and which of them are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use sectile::api::catalog::Dataset;
use sectile::api::opened::Opened;
use sectile::api::service::{Ask, Service};
use sectile::api::{Problem, Reply, Request};
use sectile::drive::native::{Options, Source};

use super::open;

/// How often files are looked at, whether they are still what they were.
pub const LOOK: Duration = Duration::from_millis(200);

/// What is served from one reading of the catalog.
#[derive(Debug)]
pub struct Shelf {
    service: RwLock<Service>,
    /// Why the catalog cannot be used; then no dataset is declared.
    pub fault: Option<Problem>,
    held: Mutex<Held>,
    /// One opening of a dataset at a time.
    opening: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

/// The files of open datasets.
#[derive(Debug, Default)]
struct Held {
    files: HashMap<String, Files>,
    /// Names in the order in which they were opened.
    order: Vec<String>,
}

#[derive(Debug)]
struct Files {
    sources: Arc<[Source]>,
    looked: Instant,
}

/// A dataset as it was when an answer was planned.
#[derive(Debug, Clone)]
pub struct Taken {
    /// What its headers say.
    pub opened: Opened,
    /// Its files.
    pub sources: Arc<[Source]>,
}

impl Shelf {
    /// None open yet.
    pub fn new(service: Service, fault: Option<Problem>) -> Self {
        Self {
            service: RwLock::new(service),
            fault,
            held: Mutex::default(),
            opening: Mutex::default(),
        }
    }

    /// What is to be done about a request; with a ticket comes the dataset that it was planned for.
    pub fn ask(&self, request: &Request<'_>) -> (Ask, Option<Taken>) {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner);
        let ask = service.ask(request);
        let taken = match &ask {
            Ask::Work(ticket) => self.taken(&service, name_of(&ticket.dataset)),
            _ => None,
        };
        (ask, taken)
    }

    fn taken(&self, service: &Service, name: &str) -> Option<Taken> {
        let opened = service.dataset(name)?.clone();
        let held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let sources = held.files.get(name)?.sources.clone();
        Some(Taken { opened, sources })
    }

    /// Puts on a reply what depends on who asks.
    pub fn finish(&self, request: &Request<'_>, reply: Reply) -> Reply {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner);
        service.finish(request, reply)
    }

    /// A dataset as it is declared.
    pub fn declared(&self, name: &str) -> Option<Dataset> {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner);
        service.catalog().dataset(name).cloned()
    }

    /// Whether a dataset is open.
    pub fn is_open(&self, name: &str) -> bool {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner);
        service.dataset(name).is_some()
    }

    /// The turn to open a dataset.
    pub fn turn(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut opening = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        opening.entry(name.to_owned()).or_default().clone()
    }

    /// Takes a dataset that was opened. Of what was opened before, the oldest is let go until all holds at most `memory` bytes.
    pub fn opened(&self, name: &str, taken: Taken, memory: u64) {
        let mut service = self.service.write().unwrap_or_else(PoisonError::into_inner);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        service.opened(name, taken.opened);
        let files = Files {
            sources: taken.sources,
            looked: Instant::now(),
        };
        held.files.insert(name.to_owned(), files);
        held.order.retain(|other| other != name);
        held.order.push(name.to_owned());
        while held.order.len() > 1 && service.bytes() > memory {
            let oldest = held.order.remove(0);
            held.files.remove(&oldest);
            service.forget(&oldest);
        }
    }

    /// Forgets an open dataset, if it is still this version of it.
    pub fn forget(&self, id: &str) {
        let mut service = self.service.write().unwrap_or_else(PoisonError::into_inner);
        let name = name_of(id);
        if service.id(name) == Some(id) {
            service.forget(name);
            let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
            held.files.remove(name);
            held.order.retain(|other| other != name);
        }
    }

    /// Forgets an open dataset one of whose local files is not the one that it was.
    ///
    /// Blocks for a look at each file, unless they were looked at a moment ago.
    pub fn look(&self, name: &str) {
        let Some((id, sources)) = self.to_look_at(name) else {
            return;
        };
        if sources.iter().any(|source| !is_same(source)) {
            self.forget(&id);
        }
    }

    fn to_look_at(&self, name: &str) -> Option<(String, Arc<[Source]>)> {
        let service = self.service.read().unwrap_or_else(PoisonError::into_inner);
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let files = held.files.get_mut(name)?;
        if files.looked.elapsed() < LOOK {
            return None;
        }
        files.looked = Instant::now();
        Some((service.id(name)?.to_owned(), files.sources.clone()))
    }
}

/// The name in `name@version`.
fn name_of(id: &str) -> &str {
    id.split('@').next().unwrap_or(id)
}

/// Whether a local file is still the one that it was; what lies on a server is not asked.
fn is_same(source: &Source) -> bool {
    source.path().is_none_or(
        |path| match Source::file(path, source.name(), &Options::default()) {
            Ok(now) => now.identity() == source.identity(),
            Err(_) => false,
        },
    )
}

/// Opens a dataset of a shelf, unless that is done; blocks.
pub fn open(shelf: &Shelf, name: &str, how: &open::How<'_>) -> Result<(), super::fault::Fault> {
    let declared = shelf
        .declared(name)
        .ok_or_else(|| Problem::busy("the catalog has changed; ask again", 1))?;
    let taken = open::read(&declared, how)?;
    shelf.opened(name, taken, how.memory);
    Ok(())
}
