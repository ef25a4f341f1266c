//! `sectile median --shard`: computes one shard and writes its part.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use sectile::job::Tally;
use sectile::results::stack::part::Identity;
use sectile::results::stack::{Description, Input, Made};
use serde_json::json;

use super::folder::Folder;
use crate::cli::arguments::{Median, Shard};
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::median::compute;
use crate::cli::output::format::Format;
use crate::cli::output::journal::Journal;
use crate::cli::output::{Output, Wanted};
use crate::cli::report::Report;
use crate::cli::stack::Opened;

/// How often it is looked whether another process is done with this shard.
const PATIENCE: Duration = Duration::from_millis(200);

/// Runs one shard of the median that is made.
pub fn run(
    arguments: &Median,
    shard: Shard,
    made: &Made<'_>,
    opened: &Opened,
    cancel: &AtomicBool,
    report: &mut Report,
) -> Result<()> {
    let job = Description::new(made, inputs(opened, made, report), shard.of)?;
    let folder = Folder::of(&arguments.output);
    let restart = arguments.extras.restart;
    folder.begin(&job, restart)?;
    let index = shard.index();
    let Some(identity) = job.parts()?.into_iter().nth(index as usize) else {
        return Err(Failure::usage(format!(
            "--shard {shard}: there is no such shard"
        )));
    };
    let part = folder.part(index);
    let mut tally = opened.tally;
    // One that another process has in its hands is not computed twice.
    let mut waits = false;
    let journal = loop {
        if let Some(journal) = folder.lock(index)? {
            break journal;
        }
        if !waits {
            report.detail(
                1,
                &format!("shard {shard}: another process computes it; waiting"),
            );
        }
        waits = true;
        interrupt::check()?;
        std::thread::sleep(PATIENCE);
    };
    if (waits || !restart) && matches!(folder.open(&identity), Ok(Some(_))) {
        report.detail(1, &format!("shard {shard} is there already"));
        journal.remove()?;
    } else {
        let begun = Begun {
            job: &job,
            identity: &identity,
            journal,
            restart,
            made,
        };
        begun.compute(&part, opened, &mut tally, cancel, report)?;
    }
    let path = part.to_string_lossy();
    let rows = [identity.rows.start, identity.rows.end];
    report.event(
        "part",
        json!({ "path": path, "shard": shard.to_string(), "rows": rows }),
    );
    report.line(&path);
    report.done(&tally);
    Ok(())
}

/// A shard that is this process's to compute.
struct Begun<'a> {
    job: &'a Description,
    identity: &'a Identity,
    journal: Journal,
    restart: bool,
    made: &'a Made<'a>,
}

impl Begun<'_> {
    /// Computes what is missing of the part, and gives it its name.
    fn compute(
        self,
        part: &Path,
        opened: &Opened,
        tally: &mut Tally,
        cancel: &AtomicBool,
        report: &mut Report,
    ) -> Result<()> {
        let wanted = Wanted {
            target: part.to_owned(),
            format: Format::Fits,
            tiles: None,
            unit: None,
            pyramid: None,
            shard: Some(self.identity.clone()),
        };
        let wish = self.made.wish;
        let division = self.job.division()?;
        let plan = division.plan(&opened.stack, wish, self.identity.shard)?;
        let fingerprint = json!({
            "journal": 1,
            "job": self.identity.job,
            "shard": self.identity.shard,
        });
        let mut output = Output::begin_with(
            self.journal,
            &wanted,
            &self.identity.layout(),
            &fingerprint,
            self.restart,
            wish.memory,
            report,
        )?;
        let computed = compute(opened, wish, &plan, &mut output, tally, cancel, report);
        if let Err(failure) = computed.and_then(|()| interrupt::check()) {
            // What is finished is kept even so; that it cannot be is a second failure of no interest.
            let _ = output.save();
            return Err(failure.advised());
        }
        output.finish().map_err(Failure::advised)
    }
}

/// Which versions of the exposures are taken.
fn inputs(opened: &Opened, made: &Made<'_>, report: &Report) -> Vec<Input> {
    let named = opened.sources.iter().zip(made.names);
    let all = named.zip(&opened.stack.exposures);
    all.map(|((source, name), exposure)| {
        let identity = source.identity();
        let version = identity.etag.or(identity.modified);
        if version.is_none() {
            report.warn(&format!(
                "{name}: the server does not tell its versions apart, so that nobody can tell whether all shards \
                 read the same one"
            ));
        }
        Input::new(exposure, name, identity.total, version.as_deref())
    })
    .collect()
}
