//! Threads that annotate shards side by side, each with its share of the budget, and save as they go.

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use sectile::drive;
use sectile::drive::native::{Event, Run, Source, run as drive_job};
use sectile::ion::annotate::{AnnotateJob, Ions, Output, Request, Wish};
use sectile::ion::database::Molecules;
use sectile::job::Tally;
use sectile::results::part::whole::Whole;
use sectile::store::head::Head;

use super::names::Shard;
use super::part::Part;
use super::save::Desk;
use super::seal::seal;
use crate::cli::arguments::Kept;
use crate::cli::failure::{Failure, Result};
use crate::cli::interrupt;
use crate::cli::report::{Report, Step, Unit};

/// Longest time between two saves: what a kill may cost.
const SAVE_EVERY: Duration = Duration::from_secs(2);

/// How often the main thread looks up while nothing is said.
const TICK: Duration = Duration::from_millis(50);

/// What is to be done, the same for all workers.
pub struct Task<'t> {
    pub sources: &'t [Source],
    pub head: &'t Head,
    pub molecules: &'t Molecules,
    pub request: &'t Request,
    pub shards: &'t [Todo],
    /// What is asked of each shard's job.
    pub wish: Wish,
    pub max_seconds: Option<f64>,
    pub images: Kept,
}

/// A shard, and how far it has come.
#[derive(Debug)]
pub struct Todo {
    /// What its part has to be.
    pub whole: Whole,
    pub files: Shard,
    /// The first ion that is not finished.
    pub position: u32,
    /// Whether its part is there.
    pub finished: bool,
}

impl Todo {
    /// Ions of the shard.
    pub fn ions(&self) -> u64 {
        let shard = &self.whole.identity.shard;
        u64::from(shard.end - shard.start)
    }

    fn done(&self) -> u64 {
        u64::from(self.position - self.whole.identity.shard.start)
    }
}

/// What workers have done.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Ions that are finished, those of earlier runs among them.
    pub ions: u64,
    /// Shards that stopped at a limit.
    pub stopped: usize,
    /// Saves made.
    pub saves: u64,
    /// Ions whose isotope pattern has too many isotopologues to be computed.
    pub skipped: u64,
}

/// What a worker says.
enum Word {
    /// So many more ions are finished.
    Ions(u32),
    /// What the worker's shards have cost so far.
    Cost(usize, Tally),
    /// A save was made.
    Saved,
    /// A shard came to its limit.
    Stopped,
    /// So many ions of a shard had no pattern.
    Skipped(u64),
    /// The worker's end.
    Ended(Result<()>),
}

/// Runs all shards that are not finished in so many threads.
///
/// Costs are added to `tally`; its peak becomes `held` and the sum of the workers' peaks.
pub fn run(
    task: &Task<'_>,
    workers: usize,
    held: u64,
    tally: &mut Tally,
    report: &mut Report,
) -> Result<Outcome> {
    let todo: Vec<usize> = (0..task.shards.len())
        .filter(|at| !task.shards[*at].finished)
        .collect();
    let (next, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (sender, words) = mpsc::channel();
    std::thread::scope(|scope| {
        for number in 0..workers {
            let sender = sender.clone();
            let worker = Worker {
                task,
                number,
                // Nobody listens any more once all has failed.
                say: move |word| drop(sender.send(word)),
                stop: &stop,
                tally: Tally::default(),
            };
            let (todo, next) = (&todo, &next);
            scope.spawn(move || worker.labour(todo, next));
        }
        drop(sender);
        let mut ledger = Ledger::new(task, workers, held, *tally);
        let ended = ledger.listen(&words, &stop, report);
        *tally = ledger.total();
        ended.map(|()| ledger.outcome)
    })
}

/// Runs all shards that are not finished in this thread, with ions that are at hand.
///
/// Costs are counted as in [`run`].
pub fn run_alone(
    task: &Task<'_>,
    head: &Rc<Head>,
    ions: &Rc<Ions>,
    cancel: &AtomicBool,
    tally: &mut Tally,
    report: &mut Report,
) -> Result<Outcome> {
    let mut ledger = Ledger::new(task, 1, 0, *tally);
    let mut worker = Worker {
        task,
        number: 0,
        say: |word| {
            ledger.hear(&word);
            ledger.show(report);
        },
        stop: cancel,
        tally: Tally::default(),
    };
    let mut desk = Desk::new(head, task.request.slice, task.images == Kept::First)?;
    let mut todo = task.shards.iter().filter(|shard| !shard.finished);
    let ended = todo.try_for_each(|shard| worker.shard(shard, head, ions, &mut desk));
    *tally = ledger.total();
    interrupt::check()?;
    ended.map(|()| ledger.outcome)
}

/// What all workers have said.
struct Ledger {
    outcome: Outcome,
    /// Ions that earlier runs have finished.
    early: u64,
    all: u64,
    before: Tally,
    held: u64,
    costs: Vec<Tally>,
}

impl Ledger {
    fn new(task: &Task<'_>, workers: usize, held: u64, before: Tally) -> Self {
        let done = task.shards.iter().map(Todo::done).sum();
        let all = task.shards.iter().map(Todo::ions);
        Self {
            outcome: Outcome {
                ions: done,
                ..Outcome::default()
            },
            early: done,
            all: all.sum(),
            before,
            held,
            costs: vec![Tally::default(); workers],
        }
    }

    /// What all has cost so far.
    fn total(&self) -> Tally {
        let mut total = self.before;
        let mut peak = self.held;
        for cost in &self.costs {
            total.requests += cost.requests;
            total.retries += cost.retries;
            total.bytes_fetched += cost.bytes_fetched;
            total.bytes_payload += cost.bytes_payload;
            peak += cost.peak_bytes;
        }
        total.peak_bytes = total.peak_bytes.max(peak);
        total
    }

    /// Listens until the last worker has ended; the first failure stops the others.
    fn listen(
        &mut self,
        words: &Receiver<Word>,
        stop: &AtomicBool,
        report: &mut Report,
    ) -> Result<()> {
        let mut failed = None;
        let mut ended = 0;
        loop {
            match words.recv_timeout(TICK) {
                Ok(Word::Ended(result)) => {
                    ended += 1;
                    if let Err(failure) = result {
                        stop.store(true, Ordering::SeqCst);
                        failed.get_or_insert(failure);
                    }
                }
                Ok(word) => self.hear(&word),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if interrupt::is_asked() {
                stop.store(true, Ordering::SeqCst);
            }
            self.show(report);
        }
        match failed {
            Some(failure) => Err(failure),
            None if ended < self.costs.len() => Err(Failure::failed("a thread ended early")),
            None => interrupt::check(),
        }
    }
}

impl Ledger {
    /// Takes what is said, but for a worker's end.
    fn hear(&mut self, word: &Word) {
        match word {
            Word::Ions(ions) => self.outcome.ions += u64::from(*ions),
            Word::Cost(worker, cost) => self.costs[*worker] = *cost,
            Word::Saved => self.outcome.saves += 1,
            Word::Stopped => self.outcome.stopped += 1,
            Word::Skipped(ions) => self.outcome.skipped += *ions,
            Word::Ended(_) => {}
        }
    }

    fn show(&self, report: &mut Report) {
        let step = Step {
            phase: "ions",
            unit: Unit::Ions,
            // Those of this run, so that the time left is told by its pace.
            done: self.outcome.ions.min(self.all) - self.early,
            total: self.all - self.early,
        };
        report.step(&step, &self.total());
    }
}

/// One thread's work.
struct Worker<'w, S> {
    task: &'w Task<'w>,
    number: usize,
    /// Takes what it says.
    say: S,
    stop: &'w AtomicBool,
    tally: Tally,
}

impl<S: FnMut(Word)> Worker<'_, S> {
    /// Takes one shard after the other, until none is left.
    fn labour(mut self, todo: &[usize], next: &AtomicUsize) {
        let ended = self.shards(todo, next);
        (self.say)(Word::Cost(self.number, self.tally));
        (self.say)(Word::Ended(ended));
    }

    fn shards(&mut self, todo: &[usize], next: &AtomicUsize) -> Result<()> {
        let take = || todo.get(next.fetch_add(1, Ordering::SeqCst)).copied();
        let Some(mut shard) = take() else {
            return Ok(());
        };
        let task = self.task;
        let head = Rc::new(task.head.clone());
        let molecules = Rc::new(task.molecules.clone());
        let ions = Rc::new(Ions::new(
            molecules,
            task.request.clone(),
            task.wish.memory,
        )?);
        let only_first = task.images == Kept::First;
        let mut desk = Desk::new(&head, task.request.slice, only_first)?;
        loop {
            self.shard(&task.shards[shard], &head, &ions, &mut desk)?;
            match take() {
                Some(another) => shard = another,
                None => return Ok(()),
            }
        }
    }

    fn shard(
        &mut self,
        todo: &Todo,
        head: &Rc<Head>,
        ions: &Rc<Ions>,
        desk: &mut Desk,
    ) -> Result<()> {
        let identity = &todo.whole.identity;
        let keeps = self.task.images != Kept::None;
        let mut part = Part::open(&todo.files, identity, keeps)?;
        let wish = &self.task.wish;
        let mut job = AnnotateJob::new(
            head.clone(),
            ions.clone(),
            identity.shard.clone(),
            part.position(),
            wish,
        )?;
        let run = Run {
            in_flight: usize::try_from(wish.in_flight).unwrap_or(1),
            cancel: self.stop,
        };
        let (began, mut saved) = (Instant::now(), Instant::now());
        let mut refused = None;
        let mut tally = self.tally;
        let on = |event: Event<'_, AnnotateJob>| {
            match event {
                Event::Item(Output::Progress { ions }) => (self.say)(Word::Ions(ions)),
                Event::Item(Output::Save(save)) => {
                    desk.put(&save, &mut part).map_err(|failure| {
                        refused = Some(failure);
                        drive::Error::Interrupted
                    })?;
                    (self.say)(Word::Saved);
                    saved = Instant::now();
                }
                Event::Progress(cost, job) => {
                    (self.say)(Word::Cost(self.number, *cost));
                    if saved.elapsed() >= SAVE_EVERY {
                        job.save_soon();
                    }
                    let late = |most: f64| began.elapsed().as_secs_f64() >= most;
                    if self.task.max_seconds.is_some_and(late) {
                        job.stop_soon();
                    }
                }
            }
            Ok(())
        };
        let ran = drive_job(&mut job, self.task.sources, &run, &mut tally, on);
        self.tally = tally;
        (self.say)(Word::Cost(self.number, self.tally));
        if let Some(failure) = refused {
            return Err(failure);
        }
        ran?;
        (self.say)(Word::Skipped(job.skipped()));
        if job.stopped().is_some() {
            (self.say)(Word::Stopped);
            return Ok(());
        }
        // What the job held is room for all that the shard has saved.
        drop((job, part));
        let memory = wish.memory.saturating_sub(ions.bytes() + head.held_bytes());
        seal(todo, ions, memory)
    }
}
