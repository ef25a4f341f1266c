//! Reading the list of molecules, wherever it lies.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use sectile::drive::native::{Run, Source, follow};
use sectile::error::Result as Read;
use sectile::ion::database::{Molecules, Reader};
use sectile::job::whole::Whole;
use sectile::job::{Machine, Step, Tally};
use serde_json::json;

use crate::cli::arguments::Reading;
use crate::cli::failure::Result;
use crate::cli::report::Report;

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
        whole: Whole::new(source.name()),
        take,
    };
    follow(source, &mut machine, run, tally, |_| {})?;
    Ok(machine.whole.sha256())
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
    whole: Whole,
    take: T,
}

impl<T: FnMut(&[u8]) -> Read<()>> Machine for Pieces<T> {
    type Item = ();

    fn step(&mut self) -> Read<Step<()>> {
        Ok(self.whole.step())
    }

    fn feed(&mut self, at: u64, bytes: &[u8], total: Option<u64>) -> Read<()> {
        self.whole.feed(at, bytes, total, &mut self.take)
    }
}
