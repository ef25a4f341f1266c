//! How many work side by side and what it will cost; `sectile plan annotate`.

use std::ops::Range;
use std::rc::Rc;

use sectile::error::Error;
use sectile::ion::annotate::{self, Ions, Keep, Plan, Policy, Wish};
use sectile::results::shards::{Invocation, divide};
use serde_json::{Value, json};

use super::Ready;
use super::save::Desk;
use crate::cli::arguments::{Annotating, Kept, PlanAnnotate};
use crate::cli::failure::Result;
use crate::cli::interrupt;
use crate::cli::ions::reading::with_taken;
use crate::cli::report::{Report, size};

/// Most workers, unless more are asked for.
const WORKERS: usize = 8;

/// How the budget is divided.
#[derive(Debug, Clone)]
pub struct Crew {
    pub workers: usize,
    /// Bytes that are held beside the workers.
    pub held: u64,
    /// Bytes of one worker's share that are not its job's: for encoding and writing.
    pub taken: u64,
    /// The smallest budget that one worker can work in.
    pub minimum: u64,
    /// What is asked of each shard's job.
    pub wish: Wish,
}

impl Crew {
    /// Divides the budget among as many workers as are asked for, or as make sense.
    ///
    /// A share that is smaller than what a job needs is no use: there are fewer workers then, with a warning
    /// if more were asked for.
    pub fn new(
        annotating: &Annotating,
        ready: &Ready,
        ions: &Rc<Ions>,
        shards: usize,
        report: &Report,
    ) -> Result<Self> {
        let head = &ready.opened.head;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let asked = annotating.workers.map(usize::from);
        let most = asked.unwrap_or(cores.min(WORKERS)).min(shards).max(1);
        // The main thread's ions and head, which each worker has for itself too; one shard is done by the main thread.
        let held = match annotating.shard {
            Some(_) => 0,
            None => head.held_bytes() + ions.bytes(),
        };
        let taken = Desk::bytes(head);
        let share = |workers: usize| {
            let all = ready.memory.saturating_sub(held);
            (all / workers as u64).saturating_sub(taken)
        };
        let wish = |workers: usize| Wish {
            memory: share(workers),
            in_flight: (u32::from(annotating.reading.in_flight) / count(workers)).max(1),
            images: match annotating.images {
                Kept::None => Keep::None,
                Kept::All | Kept::First => Keep::Buffer {
                    bytes: None,
                    policy: Policy::FlushBefore,
                },
            },
            max_requests: annotating.max_requests,
        };
        let fits = |workers: usize| annotate::plan(head, ions, 0..0, &wish(workers));
        let alone = fits(1).map_err(|error| with_taken(error, held + taken, ready.memory))?;
        let workers = (2..=most).rev().find(|workers| fits(*workers).is_ok());
        let workers = workers.unwrap_or(1);
        if asked.is_some_and(|asked| asked.min(shards) > workers) {
            let each = size(alone.minimum_bytes + taken);
            let all = size(ready.memory);
            report.warn(&format!(
                "--memory: {all} are enough for {workers} workers only; each needs {each}"
            ));
        }
        Ok(Self {
            workers,
            held,
            taken,
            minimum: alone.minimum_bytes + taken + held,
            wish: wish(workers),
        })
    }
}

fn count(workers: usize) -> u32 {
    u32::try_from(workers).unwrap_or(u32::MAX)
}

impl Ready {
    /// The plan for events, without what reading blocks will cost.
    pub fn fields(&self, ions: &Ions, shards: usize, crew: &Crew) -> Value {
        let mut fields = self.settings.fields();
        if let (Some(fields), Some(origins)) =
            (fields.as_object_mut(), self.settings.origins().as_object())
        {
            fields.extend(origins.clone());
        }
        fields["formulas"] = json!(ions.molecules().formulas.len());
        fields["molecules"] = json!(ions.molecules().molecules.len());
        fields["rejected_rows"] = json!(ions.molecules().rejected_rows);
        fields["ions"] = json!(ions.len());
        fields["targets"] = json!(ions.targets());
        fields["decoys_in_all"] = json!(ions.decoys());
        fields["impossible"] = json!(ions.impossible());
        fields["shards"] = json!(shards);
        fields["workers"] = json!(crew.workers);
        fields["memory"] = json!(self.memory);
        fields["minimum_bytes"] = json!(crew.minimum);
        fields
    }

    /// The same for people.
    pub fn rows(&self, ions: &Ions, shards: usize, crew: &Crew) -> Vec<(&'static str, String)> {
        let mut rows = self.settings.rows();
        let request = &self.settings.request;
        rows.push((
            "rules",
            format!(
                "{}, {} ppm, {} decoys a target",
                request.scoring, request.ppm, request.decoys
            ),
        ));
        rows.push((
            "molecules",
            format!(
                "{}, of {} formulas",
                ions.molecules().molecules.len(),
                ions.molecules().formulas.len()
            ),
        ));
        rows.push((
            "ions",
            format!(
                "{}: {} targets and {} decoys",
                ions.len(),
                ions.targets(),
                ions.decoys()
            ),
        ));
        rows.push((
            "work",
            format!("{shards} shards by {} workers", crew.workers),
        ));
        rows
    }
}

/// Runs `sectile plan annotate`.
pub fn plan(arguments: &PlanAnnotate, report: &Report) -> Result<()> {
    let annotating = &arguments.annotating;
    let cancel = interrupt::listen()?;
    let ready = Ready::new(annotating, cancel, report)?;
    let ions = ready.ions()?;
    let shards = super::shards(annotating, &ions);
    let crew = Crew::new(annotating, &ready, &ions, shards.len(), report)?;
    let total = cost(&ready, &ions, &shards, &crew)?;
    let mut fields = ready.fields(&ions, shards.len(), &crew);
    for (name, value) in [
        ("requests", total.requests),
        ("bytes", total.bytes),
        ("blocks", total.blocks),
        ("refetched", total.refetched),
        ("batches", total.batches),
        ("groups", total.groups),
        ("peak_bytes", total.peak_bytes),
        ("shard_requests", total.shard_requests),
    ] {
        fields[name] = json!(value);
    }
    let (division, sentence) = division(&ready, &ions, annotating)?;
    fields["division"] = division;
    report.event("plan", fields);
    let mut rows = ready.rows(&ions, shards.len(), &crew);
    rows.extend([
        (
            "requests",
            format!(
                "{}, at most {} for a shard, after {} for head and list",
                total.requests, total.shard_requests, ready.tally.requests
            ),
        ),
        (
            "payload",
            format!(
                "{} in {} blocks, {} of them read again",
                size(total.bytes),
                total.blocks,
                total.refetched
            ),
        ),
        (
            "peak",
            format!("{} of {}", size(total.peak_bytes), size(ready.memory)),
        ),
        ("minimum", size(crew.minimum)),
        ("division", sentence),
    ]);
    for (name, what) in rows {
        report.line(&format!("{name:10} {what}"));
    }
    report.done(&ready.tally);
    Ok(())
}

/// Into how many shards the job is to be cut for `--shard`, so that each stays within `--max-requests` and
/// `--max-seconds`, or else within what a Worker may take.
fn division(ready: &Ready, ions: &Rc<Ions>, annotating: &Annotating) -> Result<(Value, String)> {
    interrupt::check()?;
    let usual = Invocation::default();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from a millisecond to 31 years, by the grammar"
    )]
    let milliseconds = |seconds: f64| (seconds * 1000.0) as u64;
    let limits = Invocation {
        requests: annotating.max_requests.unwrap_or(usual.requests),
        cpu_ms: annotating.max_seconds.map_or(usual.cpu_ms, milliseconds),
        ..usual
    };
    let each = format!(
        "{} requests, {} ms of processor time and {} each",
        limits.requests,
        limits.cpu_ms,
        size(limits.memory)
    );
    let images = annotating.images.depicted();
    Ok(match divide(&ready.opened.head, ions, images, &limits) {
        Ok(found) => {
            let sentence = format!(
                "--shard 1/{0} to {0}/{0} stay within {each}: at most {1} requests, about {2} ms of which {3} are for a \
                 beginning",
                found.shards, found.requests, found.cpu_ms, found.begin_ms
            );
            (json!(found), sentence)
        }
        Err(error) => (
            Value::Null,
            format!("no shards stay within {each}: {error}"),
        ),
    })
}

/// What all shards cost.
#[derive(Debug, Default)]
struct Total {
    requests: u64,
    /// Of the shard that makes most.
    shard_requests: u64,
    bytes: u64,
    blocks: u64,
    refetched: u64,
    batches: u64,
    groups: u64,
    /// Of all workers at one time.
    peak_bytes: u64,
}

fn cost(ready: &Ready, ions: &Rc<Ions>, shards: &[Range<u32>], crew: &Crew) -> Result<Total> {
    let mut total = Total::default();
    let mut peaks = Vec::with_capacity(shards.len());
    for shard in shards {
        interrupt::check()?;
        let plan: Plan = annotate::plan(&ready.opened.head, ions, shard.clone(), &crew.wish)
            .map_err(|error: Error| with_taken(error, crew.held + crew.taken, ready.memory))?;
        total.requests += plan.requests;
        total.shard_requests = total.shard_requests.max(plan.requests);
        total.bytes += plan.bytes;
        total.blocks += plan.blocks;
        total.refetched += plan.refetched;
        total.batches += plan.batches;
        total.groups += plan.groups;
        peaks.push(plan.peak_bytes + crew.taken);
    }
    peaks.sort_unstable_by(|a, b| b.cmp(a));
    total.peak_bytes = crew.held + peaks.iter().take(crew.workers).sum::<u64>();
    Ok(total)
}
