//! The smallest host of the interface: files whole in memory, one request at a time, nothing kept.
//!
//! What it answers is the core's own word, beside which a real host's is held.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

use sectile::api::catalog::{Allow, Catalog, FILE};
use sectile::api::opened::Opening;
use sectile::api::service::{Ask, ServerFacts, Service};
use sectile::api::{Limits, Reply, Request};
use sectile::drive::native::{Options, Source};
use sectile::job::Job;
use serde_json::Value;

use crate::program::{self, Answer, run_well, stack};

pub struct Host {
    folder: PathBuf,
    service: Service,
    /// Tags of the files, as the host under test tells them apart.
    tags: Vec<(String, String)>,
}

impl Host {
    /// The datasets of a folder with a catalog; `tags` are file names with their entity tags.
    pub fn new(folder: &Path, tags: Vec<(String, String)>) -> Self {
        let catalog = fs::read(folder.join(FILE)).unwrap();
        let catalog = Catalog::parse(&catalog, Allow::default()).unwrap();
        let facts = ServerFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..ServerFacts::default()
        };
        let limits = Limits {
            memory: 256 << 20,
            ..Limits::default()
        };
        Self {
            folder: folder.to_owned(),
            service: Service::new(catalog, limits, facts),
            tags,
        }
    }

    /// The answer to a GET, as it leaves the core.
    pub fn get(&mut self, target: &str) -> Reply {
        loop {
            match self.service.ask(&Request::get(target)) {
                Ask::Reply(reply) => return reply,
                Ask::Open { dataset } => self.open(&dataset),
                Ask::Work(ticket) => {
                    let (name, _) = ticket.dataset.split_once('@').unwrap();
                    let files = self.files(name);
                    let opened = self.service.dataset(name).unwrap();
                    let mut answer = ticket.start(opened, ticket.cost.peak_bytes).unwrap();
                    let sources = answer.sources().to_vec();
                    while !answer.is_done() {
                        while let Some(fetch) = answer.next() {
                            let mut buffer = answer.lend(&fetch);
                            let file = &files[sources[fetch.source as usize] as usize];
                            let bytes = fs::read(self.folder.join(file)).unwrap();
                            for read in &fetch.reads {
                                let start = usize::try_from(read.range.start).unwrap();
                                let len = usize::try_from(read.len()).unwrap();
                                buffer[read.at..read.at + len]
                                    .copy_from_slice(&bytes[start..start + len]);
                            }
                            answer.filled(&fetch, buffer).unwrap();
                        }
                        answer.ready().unwrap();
                    }
                    return answer.into_reply().unwrap();
                }
                Ask::Job(_) => panic!("no jobs here"),
            }
        }
    }

    fn files(&self, name: &str) -> Vec<String> {
        let declared = self.service.catalog().dataset(name).unwrap();
        let files = sectile::api::version::files(&declared.kind);
        files.map(|file| file.url.clone()).collect()
    }

    fn open(&mut self, name: &str) {
        let mut declared = self.service.catalog().dataset(name).unwrap().clone();
        if let sectile::api::catalog::Kind::Stack(stack) = &mut declared.kind {
            for exposure in &mut stack.exposures {
                // Headers are read, as the host under test reads them.
                (exposure.image, exposure.size, exposure.etag) = (None, None, None);
            }
        }
        let files = self.files(name);
        let mut opening = Opening::new(&declared, 64 << 20).unwrap();
        for (source, file) in (0_u32..).zip(&files) {
            let bytes = fs::read(self.folder.join(file)).unwrap();
            while let Some(range) = opening.need(source).unwrap() {
                let end = usize::try_from(range.end).unwrap().min(bytes.len());
                let start = usize::try_from(range.start).unwrap();
                let total = Some(bytes.len() as u64);
                opening
                    .feed(source, range.start, &bytes[start..end], total)
                    .unwrap();
            }
            let tag = self.tags.iter().find(|(name, _)| name == file);
            opening
                .identify(source, tag.map(|(_, tag)| tag.as_str()), None)
                .unwrap();
        }
        self.service.opened(name, opening.finish().unwrap());
    }
}

/// A stack of three exposures of 320×320 pixels, a small tissue, and their catalog.
pub fn sky() -> tempfile::TempDir {
    let folder = stack(3, 320);
    run_well(
        folder.path(),
        &["pack", "tissue.imzML", "-o", "tissue.sectile"],
    );
    let exposures = "sky=exposure_*.fits";
    run_well(
        folder.path(),
        &[
            "catalog",
            "--stack",
            exposures,
            "--ions",
            "tissue=tissue.sectile",
        ],
    );
    folder
}

/// The tags by which the program tells versions of files apart.
pub fn tags(folder: &Path) -> Vec<(String, String)> {
    let names = program::names(folder);
    let tag = |name: String| {
        let path = folder.canonicalize().unwrap().join(&name);
        let source = Source::file(&path, &name, &Options::default()).unwrap();
        let tag = source.identity().etag.unwrap();
        (name, tag)
    };
    names.into_iter().map(tag).collect()
}

pub fn json(answer: &Answer) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// The problem that an answer is, after a look at its form.
pub fn problem(answer: &Answer) -> Value {
    assert_eq!(
        answer.header("content-type"),
        "application/problem+json",
        "{answer:?}"
    );
    let problem = json(answer);
    assert_eq!(problem["status"], answer.status);
    for member in ["type", "title", "detail", "code"] {
        assert!(
            problem[member]
                .as_str()
                .is_some_and(|text| !text.is_empty()),
            "{problem}"
        );
    }
    assert_eq!(answer.header("cache-control"), "no-store");
    problem
}

pub fn code(answer: &Answer) -> String {
    problem(answer)["code"].as_str().unwrap().to_owned()
}
