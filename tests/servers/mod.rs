//! Starts the misbehaving servers, and the smallest jobs that drive them.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use sectile::drive::native::Options;
use sectile::drive::policy::Patience;
use sectile::error::{Error, Result};
use sectile::job::{Fetch, Job, Machine, Read as Part, Step};

/// Size of the file that the modes serve: no multiple of anything.
pub(crate) const SIZE: u64 = 20_011;
/// A header's worth, a piece in the middle, and the end asked for beyond itself.
pub(crate) const RANGES: [Range<u64>; 3] = [0..2880, 5000..9000, SIZE - 100..SIZE + 1000];

/// Bytes that repeat nowhere near.
pub(crate) fn content(size: u64) -> Vec<u8> {
    let mut state = 1_u32;
    (0..size)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect()
}

pub(crate) fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.bin"), content(SIZE)).unwrap();
    folder
}

/// Waits of milliseconds: what is tested is how often, not how long.
pub(crate) fn hasty() -> Options {
    Options::default().with_patience(Patience {
        first_wait_ms: 4,
        ..Patience::default()
    })
}

pub(crate) fn slice(all: &[u8], range: &Range<u64>) -> Vec<u8> {
    let end = range.end.min(all.len() as u64);
    all[usize::try_from(range.start).unwrap()..usize::try_from(end).unwrap()].to_vec()
}

/// A server in a process of its own, ended when it is dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) base: String,
}

impl Server {
    /// Our own server, over a folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/servers/faults.mjs");
        Self::spawn(Command::new("node").arg(script).arg(folder))
    }

    /// The server of the shared cases, if it and python3 are there.
    pub(crate) fn start_shared(folder: &Path) -> Option<Self> {
        let shared = std::env::var_os("SECTILE_SHARED").map_or_else(
            || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared"),
            PathBuf::from,
        );
        let script = shared.join("cases/http/bad_server.py");
        let python = Command::new("python3").arg("--version").output().is_ok();
        if !python || !script.is_file() {
            return None;
        }
        // It must not leave compiled files in a folder that is not ours.
        let mut command = Command::new("python3");
        command.arg("-B").arg(script).arg(folder);
        Some(Self::spawn(&mut command))
    }

    fn spawn(command: &mut Command) -> Self {
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("its output is piped"));
        let mut base = String::new();
        lines.read_line(&mut base).expect("it prints its address");
        // What else it prints must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
        Self {
            child,
            base: base.trim().to_owned(),
        }
    }

    pub(crate) fn url(&self, mode: &str, file: &str) -> String {
        format!("{}{mode}/{file}", self.base)
    }

    pub(crate) fn reset(&self) {
        ureq::get(format!("{}__reset", self.base))
            .call()
            .expect("the log is cleared");
    }

    pub(crate) fn log(&self) -> serde_json::Value {
        let mut text = String::new();
        ureq::get(format!("{}__log", self.base))
            .call()
            .expect("the log is there")
            .into_body()
            .into_reader()
            .read_to_string(&mut text)
            .expect("the log is text");
        serde_json::from_str(&text).expect("the log is JSON")
    }

    /// Requests that the log shows.
    pub(crate) fn requests(&self) -> u64 {
        self.log()["log"].as_array().expect("a list").len() as u64
    }

    /// Answers that are on their way; a closed connection takes the server a moment to notice.
    pub(crate) fn active_soon(&self) -> u64 {
        for _ in 0..40 {
            let active = self.log()["active"].as_u64().expect("a count");
            if active == 0 {
                return 0;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        self.log()["active"].as_u64().expect("a count")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Asks for given ranges, one after the other, and keeps what comes.
pub(crate) struct Reading {
    todo: VecDeque<Range<u64>>,
    pub(crate) got: Vec<Vec<u8>>,
    pub(crate) total: Option<u64>,
}

impl Reading {
    pub(crate) fn of(ranges: &[Range<u64>]) -> Self {
        Self {
            todo: ranges.iter().cloned().collect(),
            got: Vec::new(),
            total: None,
        }
    }
}

impl Machine for Reading {
    type Item = ();

    fn step(&mut self) -> Result<Step<()>> {
        Ok(self
            .todo
            .front()
            .map_or(Step::Done, |range| Step::Need(range.clone())))
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Result<()> {
        let range = self.todo.pop_front().expect("something was asked for");
        assert_eq!(range.start, at);
        assert!(bytes.len() as u64 <= range.end - range.start);
        self.got.push(bytes.to_vec());
        self.total = total;
        Ok(())
    }
}

/// Hands out its ranges' bytes as they come, from a pool of slots.
///
/// It borrows its ranges, so that `run` is seen to take jobs that borrow.
pub(crate) struct Copying<'a> {
    ranges: &'a [(u32, Vec<Range<u64>>)],
    asked: usize,
    handed: usize,
    free: Vec<u32>,
    slots: Vec<Vec<u8>>,
    full: VecDeque<Fetch>,
    shown: Option<u32>,
}

impl<'a> Copying<'a> {
    pub(crate) fn new(ranges: &'a [(u32, Vec<Range<u64>>)], slots: u32) -> Self {
        Self {
            ranges,
            asked: 0,
            handed: 0,
            free: (0..slots).collect(),
            slots: (0..slots).map(|_| Vec::new()).collect(),
            full: VecDeque::new(),
            shown: None,
        }
    }
}

impl Job for Copying<'_> {
    type Item<'i>
        = (Fetch, &'i [u8])
    where
        Self: 'i;

    fn next(&mut self) -> Option<Fetch> {
        let (source, ranges) = self.ranges.get(self.asked)?;
        let slot = self.free.pop()?;
        self.asked += 1;
        let mut at = 0;
        let reads = ranges.iter().map(|range| {
            let read = Part {
                source: *source,
                range: range.clone(),
                slot,
                at,
            };
            at += usize::try_from(read.len()).expect("small");
            read
        });
        Some(Fetch {
            slot,
            source: *source,
            reads: reads.collect(),
        })
    }

    fn lend(&mut self, fetch: &Fetch) -> Vec<u8> {
        let length: u64 = fetch.reads.iter().map(Part::len).sum();
        let mut buffer = std::mem::take(&mut self.slots[fetch.slot as usize]);
        buffer.clear();
        // A pattern, so that bytes which nobody filled show.
        buffer.resize(usize::try_from(length).expect("small"), 0xAA);
        buffer
    }

    fn filled(&mut self, fetch: &Fetch, buffer: Vec<u8>) -> Result<()> {
        let asked: u64 = fetch.reads.iter().map(Part::len).sum();
        if buffer.len() as u64 != asked {
            return Err(Error::Unexpected {
                file: String::new(),
                at: 0,
                asked,
                got: buffer.len() as u64,
            });
        }
        self.slots[fetch.slot as usize] = buffer;
        self.full.push_back(fetch.clone());
        Ok(())
    }

    fn ready(&mut self) -> Result<Option<(Fetch, &[u8])>> {
        self.free.extend(self.shown.take());
        let Some(fetch) = self.full.pop_front() else {
            return Ok(None);
        };
        self.shown = Some(fetch.slot);
        self.handed += 1;
        let bytes = self.slots[fetch.slot as usize].as_slice();
        Ok(Some((fetch, bytes)))
    }

    fn is_done(&self) -> bool {
        self.handed == self.ranges.len()
    }

    fn peak(&self) -> u64 {
        self.slots.iter().map(|slot| slot.capacity() as u64).sum()
    }
}
