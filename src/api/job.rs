//! What a host has to do about a job, once the request was read.

use super::PROGRAM;
use super::catalog::{BUILT_IN, Dataset, Kind};
use super::jobs::ask::Asked;
use super::jobs::document::Document;
use super::jobs::id::Id;
use super::problem::Problem;

/// What a host has to do about a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobAsk {
    /// Read the body, at most [`MOST_BODY`](super::jobs::ask::MOST_BODY), and give it to
    /// [`Service::job`](super::Service::job); begin what that gives, unless it is there: 202 with its progress if it was
    /// begun, else 200.
    New {
        /// The dataset.
        dataset: String,
    },
    /// Begin this, unless it is there, and answer 202 with its progress: what was asked for takes too much, and can be had
    /// when the job is done.
    Instead(NewJob),
    /// Say how far a job is.
    Progress(JobAt),
    /// Send a result, or a part of it: see [`send`](super::file::send).
    File {
        /// The job.
        at: JobAt,
        /// The file's name, one of [`RESULTS`](super::file::RESULTS).
        file: String,
    },
    /// Cancel a job, and remove all that is under its prefix: 204.
    Cancel(JobAt),
}

/// A job by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobAt {
    /// The dataset's name.
    pub dataset: String,
    /// The dataset's id, `name@version`, as it is now.
    pub id: String,
    /// The job.
    pub job: Id,
    /// The address of the job.
    pub location: String,
}

/// A job that is to be begun.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Its name and its dataset.
    pub at: JobAt,
    /// What is asked.
    pub asked: Asked,
}

impl NewJob {
    /// The job over the open dataset `id` (`name@version`), whose addresses begin with `base`.
    #[must_use]
    pub fn new(base: &str, dataset: &str, id: &str, asked: Asked) -> Self {
        let job = Id::new(id, &asked, PROGRAM);
        Self {
            at: JobAt::new(base, dataset, id, job),
            asked,
        }
    }
}

impl JobAt {
    /// Refuses a job of another dataset: whoever may see this one must not see that one's results by this address.
    ///
    /// A host calls it with the job's document before it tells, sends or removes anything of the job.
    ///
    /// # Errors
    /// `job` (404), as if it were not there.
    pub fn owns(&self, document: &Document) -> Result<(), Problem> {
        if document.name() == self.dataset && document.id == self.job {
            return Ok(());
        }
        Err(self.unknown())
    }

    /// Refuses to remove a job whose document cannot be read, where that still says that it is another dataset's.
    ///
    /// # Errors
    /// `job` (404), as if it were not there.
    pub fn may_clear(&self, damaged: &[u8]) -> Result<(), Problem> {
        let read: serde_json::Value = serde_json::from_slice(damaged).unwrap_or_default();
        match read.get("dataset").and_then(serde_json::Value::as_str) {
            Some(id) if id.split('@').next() != Some(&self.dataset) => Err(self.unknown()),
            _ => Ok(()),
        }
    }

    fn unknown(&self) -> Problem {
        Problem::new("job", format!("{} has no job {}", self.dataset, self.job))
    }

    pub(super) fn new(base: &str, dataset: &str, id: &str, job: Id) -> Self {
        Self {
            location: format!("{base}/v1/{dataset}/jobs/{job}"),
            dataset: dataset.to_owned(),
            id: id.to_owned(),
            job,
        }
    }
}

/// Reads a body, and refuses a job that this dataset cannot have.
///
/// # Errors
/// `body` (400) for what is no job; `job` (404) for a job of another kind of dataset, and for a list that is not there.
pub(super) fn read(dataset: &Dataset, body: &[u8]) -> Result<Asked, Problem> {
    let asked = Asked::parse(body).map_err(|error| Problem::new("body", error.to_string()))?;
    let refused = |why: String| Err(Problem::new("job", format!("{}: {why}", dataset.name)));
    match (&asked, &dataset.kind) {
        (Asked::Median(_), Kind::Stack(_)) => Ok(asked),
        (Asked::Annotation(annotation), Kind::Ions(ions)) => {
            let list = &annotation.molecules;
            if list == BUILT_IN || ions.molecules.iter().any(|(name, _)| name == list) {
                return Ok(asked);
            }
            let names = ions.molecules.iter().map(|(name, _)| name.as_str());
            let names: Vec<&str> = names.chain([BUILT_IN]).collect();
            refused(format!(
                "there is no list {list:?}; there are {}",
                names.join(", ")
            ))
        }
        (asked, Kind::Stack(_)) => {
            refused(format!("a stack has no {}; ask for a median", asked.kind()))
        }
        (asked, Kind::Ions(_)) => refused(format!(
            "a dataset of ions has no {}; ask for an annotation",
            asked.kind()
        )),
    }
}
