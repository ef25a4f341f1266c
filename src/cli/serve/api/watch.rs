//! The catalog's file, read anew when it changes.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use sectile::api::catalog::{Allow, Catalog, FILE, LARGEST};
use sectile::api::service::{ServerFacts, Service};
use sectile::api::{Limits, Problem};

use super::shelf::{LOOK, Shelf};

/// What is said in the service document where there is no catalog.
const HINT: &str = "this folder has no sectile.json, so no dataset is declared; `sectile catalog DIR --stack NAME=FILES \
                    --ions NAME=STORE` writes one";

/// What a catalog is held to.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// Which origins it may name.
    pub allow: Allow,
    /// What an answer may take.
    pub limits: Limits,
    /// Whether the files themselves are shown to anyone.
    pub shows_data: bool,
}

/// The catalog, and what is served of it now.
#[derive(Debug)]
pub struct Watch {
    path: PathBuf,
    rules: Rules,
    state: Mutex<State>,
    warn: tokio::sync::mpsc::UnboundedSender<String>,
}

#[derive(Debug)]
struct State {
    looked: Instant,
    stamp: Option<Stamp>,
    shelf: Arc<Shelf>,
}

/// What tells one version of the file from another; `None` where it is not there.
type Stamp = Option<(u64, SystemTime)>;

impl Watch {
    /// Reads the catalog for the first time. Warnings, now and later, go to `warn`.
    pub fn new(
        path: PathBuf,
        rules: Rules,
        warn: tokio::sync::mpsc::UnboundedSender<String>,
    ) -> Self {
        let empty = shelf(Catalog::default(), rules.limits, None, None);
        let watch = Self {
            path,
            rules,
            state: Mutex::new(State {
                looked: Instant::now(),
                stamp: None,
                shelf: Arc::new(empty),
            }),
            warn,
        };
        let mut state = watch.state.lock().unwrap_or_else(PoisonError::into_inner);
        watch.look(&mut state);
        drop(state);
        watch
    }

    /// Whether a real path is that of the file.
    pub fn is_at(&self, path: &Path) -> bool {
        self.path.canonicalize().is_ok_and(|own| own == path)
    }

    /// What is served now. Blocks for a look at the file, unless it was looked at a moment ago.
    pub fn current(&self) -> Arc<Shelf> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.looked.elapsed() >= LOOK {
            self.look(&mut state);
        }
        state.shelf.clone()
    }

    /// The shelf as it was at the last look.
    pub fn last(&self) -> Option<Arc<Shelf>> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.looked.elapsed() < LOOK).then(|| state.shelf.clone())
    }

    fn look(&self, state: &mut State) {
        state.looked = Instant::now();
        let stamp = stamp(&self.path);
        if state.stamp == Some(stamp) {
            return;
        }
        state.stamp = Some(stamp);
        state.shelf = Arc::new(self.read(stamp.is_some()));
    }

    fn read(&self, is_there: bool) -> Shelf {
        if !is_there {
            return shelf(Catalog::default(), self.rules.limits, Some(HINT), None);
        }
        let read = bytes(&self.path).and_then(|bytes| {
            Catalog::parse(&bytes, self.rules.allow).map_err(|error| error.to_string())
        });
        match read {
            Ok(catalog) => {
                for faulty in &catalog.faulty {
                    self.say(&format!("{}: {}", faulty.name, faulty.reason));
                }
                let mut datasets = catalog.datasets.iter();
                if self.rules.shows_data && datasets.any(|dataset| dataset.token.is_some()) {
                    self.say(
                        "datasets with a token are declared, and the files of the folder are shown to anyone \
                         at /data/; --no-data keeps them",
                    );
                }
                shelf(catalog, self.rules.limits, None, None)
            }
            Err(why) => {
                self.say(&why);
                let problem = Problem::new("catalog", format!("the catalog cannot be read: {why}"));
                shelf(Catalog::default(), self.rules.limits, None, Some(problem))
            }
        }
    }

    fn say(&self, what: &str) {
        // Nobody listens any more while the server ends.
        let _ = self.warn.send(format!("{}: {what}", self.path.display()));
    }
}

fn shelf(catalog: Catalog, limits: Limits, note: Option<&str>, fault: Option<Problem>) -> Shelf {
    let facts = ServerFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        ..ServerFacts::default()
    };
    let mut service = Service::new(catalog, limits, facts);
    if let Some(note) = note {
        service = service.with_note(note);
    }
    Shelf::new(service, fault)
}

fn stamp(path: &Path) -> Stamp {
    let found = std::fs::metadata(path).ok()?;
    Some((
        found.len(),
        found.modified().unwrap_or(SystemTime::UNIX_EPOCH),
    ))
}

/// The file, or what is wrong; one that is too long shows as such without being read whole.
fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    if !path.is_file() {
        return Err(format!("{FILE} is no regular file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(path)
        .and_then(|file| file.take(LARGEST as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}
