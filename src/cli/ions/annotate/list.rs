//! Reading the list of molecules, wherever it lies.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use sectile::drive::native::{Run, Source, follow};
use sectile::error::{Error, Result as Read};
use sectile::ion::database::{Molecules, Reader};
use sectile::job::{Machine, Step, Tally};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::cli::arguments::Reading;
use crate::cli::failure::Result;
use crate::cli::report::Report;

/// Bytes that are asked for at once.
const PIECE: u64 = 1 << 20;

/// Rows that were left out and are shown one by one.
const SHOWN: usize = 5;

/// A list that has been read.
#[derive(Debug)]
pub struct List {
    pub source: Source,
    pub molecules: Rc<Molecules>,
    /// Of its bytes.
    pub sha256: [u8; 32],
}

/// Reads a list whole, in at most `memory` bytes.
pub fn read(
    name: &str,
    reading: &Reading,
    memory: u64,
    cancel: &AtomicBool,
    tally: &mut Tally,
) -> Result<List> {
    let source = Source::open(name, &reading.options()?)?;
    let mut reader = Reader::new(source.name(), memory);
    let sha256 = follow_all(&source, &reading.run(cancel), tally, |piece| {
        reader.push(piece)
    })?;
    Ok(List {
        source,
        molecules: Rc::new(reader.finish()?),
        sha256,
    })
}

/// Reads a file again from its first byte to its last; the answer is its SHA-256.
pub fn follow_all(
    source: &Source,
    run: &Run<'_>,
    tally: &mut Tally,
    take: impl FnMut(&[u8]) -> Read<()> + Send,
) -> Result<[u8; 32]> {
    let mut machine = Pieces {
        file: source.name().to_owned(),
        take,
        sha256: Sha256::new(),
        at: 0,
        ended: false,
    };
    follow(source, &mut machine, run, tally, |_| {})?;
    Ok(machine.sha256.finalize().into())
}

impl List {
    /// Says what of the list cannot be used.
    pub fn tell(&self, report: &Report) {
        let (name, found) = (self.source.name(), &self.molecules);
        for warning in &found.warnings {
            report.warn(&format!("{name}: {warning}"));
        }
        for rejected in &found.rejected {
            report.event(
                "rejected",
                json!({ "line": rejected.line, "text": rejected.text, "what": rejected.what }),
            );
        }
        let first: Vec<String> = found.rejected.iter().take(SHOWN).map(said).collect();
        let left_out = found.rejected_rows;
        if left_out > 0 {
            let more = if left_out > first.len() as u64 {
                ", …"
            } else {
                ""
            };
            report.warn(&format!(
                "{name}: {left_out} of {} rows are left out: {}{more}",
                found.rows,
                first.join(", ")
            ));
        }
    }
}

fn said(rejected: &sectile::ion::database::Rejected) -> String {
    format!(
        "line {} ({:?}: {})",
        rejected.line, rejected.text, rejected.what
    )
}

/// Takes a file from its first byte to its last.
struct Pieces<T> {
    file: String,
    take: T,
    sha256: Sha256,
    at: u64,
    ended: bool,
}

impl<T: FnMut(&[u8]) -> Read<()>> Machine for Pieces<T> {
    type Item = ();

    fn step(&mut self) -> Read<Step<()>> {
        Ok(if self.ended {
            Step::Done
        } else {
            Step::Need(self.at..self.at.saturating_add(PIECE))
        })
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Read<()> {
        if at != self.at {
            return Err(Error::Unexpected {
                file: self.file.clone(),
                at,
                asked: PIECE,
                got: bytes.len() as u64,
            });
        }
        (self.take)(bytes)?;
        self.sha256.update(bytes);
        self.at += bytes.len() as u64;
        self.ended = (bytes.len() as u64) < PIECE || total == Some(self.at);
        Ok(())
    }
}
