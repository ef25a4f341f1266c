//! The service document: what is served, and where.

use serde_json::{Value, json};

use super::Service;
use crate::api::catalog::{Dataset, Kind};
use crate::api::reply::Reply;
use crate::api::request::Request;

impl Service {
    /// The service document; private datasets are in it for those who have their token.
    pub(super) fn document(&self, request: &Request<'_>) -> Reply {
        let given = request.authorization;
        let mut private = false;
        let mut datasets: Vec<(&str, Value)> = Vec::new();
        for dataset in &self.catalog.datasets {
            if let Some(token) = &dataset.token {
                if !given.is_some_and(|given| token.admits(given)) {
                    continue;
                }
                private = true;
            }
            datasets.push((&dataset.name, self.listed(dataset)));
        }
        let faulty = self.catalog.faulty.iter().filter(|one| !one.private);
        datasets.extend(faulty.map(|one| {
            let value = json!({"name": one.name, "faulty": true, "reason": one.reason});
            (one.name.as_str(), value)
        }));
        datasets.sort_by_key(|(name, _)| *name);
        let datasets: Vec<Value> = datasets.into_iter().map(|(_, value)| value).collect();
        let base = &self.facts.base;
        let mut document = json!({
            "name": "sectile",
            "version": self.facts.version,
            "jobs": self.facts.jobs,
            "limits": self.limits,
            "datasets": datasets,
            "links": {
                "self": format!("{base}/v1"),
                "openapi": format!("{base}/openapi.json"),
            },
        });
        if let Some(note) = &self.note {
            document["note"] = json!(note);
        }
        let mut reply = Reply::json(200, &document);
        if self.catalog.datasets.iter().any(|one| one.token.is_some()) {
            reply.set("Vary", "Authorization");
        }
        if private {
            reply.set("Cache-Control", "private, max-age=60");
        }
        reply
    }

    fn listed(&self, dataset: &Dataset) -> Value {
        let mut value = json!({
            "name": dataset.name,
            "type": match dataset.kind {
                Kind::Stack(_) => "stack",
                Kind::Ions(_) => "ions",
            },
            "faulty": false,
            "jobs": dataset.jobs && self.facts.jobs,
            "info": format!("{}/v1/{}/info", self.facts.base, dataset.name),
        });
        if let Some(title) = &dataset.title {
            value["title"] = json!(title);
        }
        if let Some(open) = self.open.get(&dataset.name) {
            value["id"] = json!(open.id);
        }
        value
    }
}
