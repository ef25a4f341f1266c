//! Who may see what: names, tokens, versions, jobs.

use super::{Open, Service};
use crate::api::catalog::Dataset;
use crate::api::problem::Problem;
use crate::api::request::Request;
use crate::api::route::DatasetRef;

impl Service {
    /// The dataset that is asked for, if whoever asks may; `None` if it is not open yet.
    pub(super) fn admitted(
        &self,
        request: &Request<'_>,
        named: &DatasetRef,
    ) -> Result<Option<(&Dataset, &Open)>, Problem> {
        if let Some(faulty) = self
            .catalog
            .faulty
            .iter()
            .find(|one| one.name == named.name)
        {
            let reason = if faulty.private {
                "its declaration is wrong; its owner can see why in the catalog"
            } else {
                &faulty.reason
            };
            return Err(Problem::new(
                "catalog",
                format!("{}: {reason}", faulty.name),
            ));
        }
        let declared = self.catalog.dataset(&named.name).ok_or_else(|| {
            let detail = format!("{:?} is none of those that /v1 lists", named.name);
            Problem::new("dataset", detail)
        })?;
        if let Some(token) = &declared.token {
            let given = request.authorization;
            if !given.is_some_and(|given| token.admits(given)) {
                return Err(refused(&declared.name, given.is_some()));
            }
        }
        let Some(open) = self.open.get(&named.name) else {
            return Ok(None);
        };
        match &named.version {
            Some(version) if open.id != format!("{}@{version}", named.name) => {
                let detail = format!("the version is now {}", open.id);
                Err(Problem::new("version", detail).with("id", open.id.clone()))
            }
            _ => Ok(Some((declared, open))),
        }
    }

    /// Whether a dataset has a token.
    pub(super) fn is_private(&self, dataset: &str) -> bool {
        let declared = self.catalog.dataset(dataset);
        declared.is_some_and(|declared| declared.token.is_some())
            || self
                .catalog
                .faulty
                .iter()
                .any(|one| one.name == dataset && one.private)
    }

    /// Refuses jobs where there are none.
    pub(super) fn with_jobs(&self, declared: &Dataset) -> Result<(), Problem> {
        if declared.jobs && self.facts.jobs {
            return Ok(());
        }
        let why = if declared.jobs {
            "this server has no queue for jobs; run `sectile median` or `sectile annotate`"
        } else {
            "jobs are not offered for this dataset"
        };
        Err(Problem::new("job", format!("{}: {why}", declared.name)))
    }
}

/// 401 (RFC 6750 §3).
fn refused(dataset: &str, given: bool) -> Problem {
    let (detail, challenge) = if given {
        (
            "the token is not that of this dataset",
            "Bearer realm=\"sectile\", error=\"invalid_token\"",
        )
    } else {
        (
            "it is private; send Authorization: Bearer and its token",
            "Bearer realm=\"sectile\"",
        )
    };
    Problem::new("token", format!("{dataset}: {detail}")).with_header("WWW-Authenticate", challenge)
}
