//! Jobs of the queue: what is asked of one, its name, how far it is, and the parts of its results.
//!
//! A job has no clock: its name follows from what is asked, so that asking twice gives the same job.

mod annotation;
mod file;
mod progress;
mod request;

use super::PROGRAM;
use super::canonical::digest;

pub use annotation::{AnnotationRequest, Kept};
pub use file::{RESULTS, Sending, content_type, send};
pub use progress::{Failure, Progress, ResultFile, State};
pub use request::{JobRequest, MEMORY, MedianRequest};

/// The longest body of a new job in bytes.
pub const MOST_BODY: u64 = 64 << 10;

/// What a host has to do about a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobAsk {
    /// Read the body, at most [`MOST_BODY`], and give it to [`Service::job`](super::Service::job); start what that gives,
    /// unless it is there.
    New {
        /// The dataset.
        dataset: String,
    },
    /// Start this, unless it is there, and answer 202 with its [`Progress`]: the answer that was asked for takes too much,
    /// and is there when the job is done.
    Instead(NewJob),
    /// Say how far a job is.
    Progress(JobAt),
    /// Send a result, or a part of it: see [`send`].
    File {
        /// The job.
        at: JobAt,
        /// The file's name, one of [`RESULTS`].
        file: String,
    },
    /// Mark a job as cancelled, and remove all that is under its prefix.
    Cancel(JobAt),
}

/// A job by its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobAt {
    /// The dataset.
    pub dataset: String,
    /// The dataset's id, `name@version`, as it is now.
    pub id: String,
    /// The job: 16 hexadecimal digits.
    pub job: String,
}

/// A job that is to be started.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    /// Its name and its dataset.
    pub at: JobAt,
    /// What is asked.
    pub request: JobRequest,
    /// The address of its progress.
    pub location: String,
}

impl JobAt {
    /// Where all that belongs to the job lies in the bucket.
    #[must_use]
    pub fn prefix(&self) -> String {
        format!(".sectile/jobs/{}/", self.job)
    }
}

/// The name of a job: the first 16 hexadecimal digits of SHA-256 over the dataset's id, the canonical request and the
/// program's version.
#[must_use]
pub fn job_id(dataset_id: &str, request: &JobRequest) -> String {
    digest(&[dataset_id, &request.canonical(), PROGRAM], 16)
}
