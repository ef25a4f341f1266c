//! What a failure of reading means to whoever asked.

use sectile::api::Problem;
use sectile::api::answer::{Trouble, problem};
use sectile::drive::Error;

/// Why an answer could not be computed.
#[derive(Debug, Clone)]
pub enum Fault {
    /// It can be said to whoever asked.
    Problem(Problem),
    /// A file is another one than when its dataset was opened: open it anew.
    Changed(String),
    /// Nobody waits for it any more.
    GivenUp,
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<sectile::error::Error> for Fault {
    fn from(error: sectile::error::Error) -> Self {
        Self::Problem(error.into())
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Core(error) => Self::Problem(error.into()),
            Error::Changed { file, what } => Self::Changed(format!("{file}: {what}")),
            Error::Interrupted => Self::GivenUp,
            error => Self::Problem(problem(trouble(&error), error.to_string())),
        }
    }
}

/// What kind of trouble a failure of reading is.
fn trouble(error: &Error) -> Trouble {
    match error {
        Error::Http {
            status: Some(status),
            ..
        } => Trouble::of_status(*status).unwrap_or(Trouble::NoRanges),
        Error::Http { status: None, .. } => Trouble::Unreachable,
        _ => Trouble::Missing,
    }
}

impl Fault {
    /// As an answer; a change only after the dataset was opened anew without avail.
    pub fn into_problem(self) -> Problem {
        match self {
            Self::Problem(problem) => problem,
            Self::Changed(what) => Problem::changed(what),
            Self::GivenUp => Problem::busy("it was given up; ask again", 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_keep_their_meaning() {
        let http = Error::Http {
            file: "https://h/a".into(),
            status: Some(302),
            what: "a redirect".into(),
        };
        let changed = Error::Changed {
            file: "a".into(),
            what: "another".into(),
        };
        for (error, status, code) in [
            (http, 502, "upstream"),
            (
                Error::io("a", "read", &std::io::ErrorKind::NotFound.into()),
                502,
                "upstream",
            ),
            (changed, 503, "changed"),
            (Error::Interrupted, 503, "busy"),
        ] {
            let problem = Fault::from(error).into_problem();
            assert_eq!((problem.status, problem.code), (status, code));
            assert!(!problem.detail.is_empty());
        }
    }
}
