//! The service: what is asked, and what has to be done about it.

use js_sys::{Array, Uint8Array};
use wasm_bindgen::prelude::*;

use super::answer::Answer;
use super::asking::{Asking, plain};
use super::opening::Opening;
use super::refusal::problem;
use crate::api::answer::Ticket;
use crate::api::catalog::{Allow, Catalog, LARGEST};
use crate::api::opened::{Opened, saved};
use crate::api::service::{Ask, ServerFacts, Service as Core};
use crate::api::{Limits, Problem, Reply};
use crate::wasm::{Thrown, bulk, number, record};

/// All that is served.
#[wasm_bindgen]
pub struct Service {
    pub(in crate::wasm) core: Core,
    /// Open datasets in the order in which they were opened.
    order: Vec<String>,
}

#[wasm_bindgen]
impl Service {
    /// Serves a catalog. Of the settings, `requests`, `cpu_ms`, `memory`, `bytes` and `answer_bytes` are limits; `base`
    /// is what addresses begin with; `jobs` says whether there is a queue, `private_origins` whether files may be fetched
    /// from this network.
    ///
    /// # Errors
    /// `catalog` for a document that cannot be read.
    #[wasm_bindgen(constructor)]
    pub fn new(catalog: &Uint8Array, settings: &JsValue) -> Result<Service, Thrown> {
        let bytes = bulk::within(catalog, LARGEST as u64)?;
        let allow = Allow {
            private_origins: record::flag(settings, "private_origins"),
        };
        let catalog = Catalog::parse(&bytes, allow)
            .map_err(|error| refused(&Problem::new("catalog", error.to_string())))?;
        let facts = ServerFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            base: record::text(settings, "base")?.unwrap_or_default(),
            jobs: record::flag(settings, "jobs"),
        };
        Ok(Self {
            core: Core::new(catalog, limits(settings)?, facts),
            order: Vec::new(),
        })
    }

    /// Decides about a request.
    #[must_use]
    pub fn ask(&self, asking: &Array) -> Asked {
        let asking = Asking::new(asking);
        let mut ask = self.core.ask(&asking.request());
        let mut opened = None;
        if let Ask::Reply(reply) = ask {
            ask = Ask::Reply(self.core.finish(&asking.request(), reply));
        } else if let Ask::Work(ticket) = &ask {
            opened = self.core.dataset(name(&ticket.dataset)).cloned();
        }
        Asked { ask, opened }
    }

    /// Headers of a computed answer that depend on who asks: for one of this status with a body of this length.
    #[must_use]
    pub fn outer(&self, asking: &Array, status: u16, length: f64) -> JsValue {
        let asking = Asking::new(asking);
        let reply = Reply::empty(status).with("Content-Length", length.to_string());
        plain(&self.core.finish(&asking.request(), reply))
    }

    /// What an error is to whoever asked: `{code, message, status}`.
    ///
    /// # Errors
    /// Members that are not of their kind.
    pub fn refusal(&self, asking: &Array, error: &JsValue) -> Result<JsValue, Thrown> {
        let asking = Asking::new(asking);
        let reply = problem(error)?.reply();
        Ok(plain(&self.core.finish(&asking.request(), reply)))
    }

    /// Begins to open a dataset, in at most `memory` bytes.
    ///
    /// # Errors
    /// `budget`; a dataset that is not declared.
    pub fn opening(&self, dataset: &str, memory: f64) -> Result<Opening, Thrown> {
        let memory = crate::wasm::offset("memory", memory)?;
        let declared = self.core.catalog().dataset(dataset);
        let declared = declared.ok_or_else(|| {
            refused(&Problem::busy(
                "the catalog was changed just now; ask again",
                1,
            ))
        })?;
        Opening::new(declared, memory)
    }

    /// Takes what was opened; of what was opened before, the oldest is let go until all takes at most `memory` bytes.
    /// Tells the names of those that are open no more.
    ///
    /// # Errors
    /// Sources that were not read; exposures that do not belong together.
    pub fn opened(&mut self, opening: &mut Opening, memory: f64) -> Result<Vec<String>, Thrown> {
        let memory = crate::wasm::offset("memory", memory)?;
        let opened = opening.finish()?;
        let dataset = opening.dataset.name.clone();
        self.core.opened(&dataset, opened);
        self.order.retain(|other| *other != dataset);
        self.order.push(dataset);
        let mut gone = Vec::new();
        while self.order.len() > 1 && self.core.bytes() > memory {
            let oldest = self.order.remove(0);
            self.core.forget(&oldest);
            gone.push(oldest);
        }
        Ok(gone)
    }

    /// Forgets an open dataset; tells what its saved opening is called.
    pub fn forget(&mut self, dataset: &str) -> Option<String> {
        self.core.forget(dataset);
        self.order.retain(|other| other != dataset);
        self.core.catalog().dataset(dataset).map(saved::key)
    }
}

/// What has to be done about one request.
#[wasm_bindgen]
pub struct Asked {
    pub(in crate::wasm) ask: Ask,
    /// The dataset of a ticket as it was then: it may be forgotten meanwhile.
    opened: Option<Opened>,
}

#[wasm_bindgen]
impl Asked {
    /// `reply`, `open`, `work` or `job`.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn kind(&self) -> String {
        match self.ask {
            Ask::Reply(_) => "reply",
            Ask::Open { .. } => "open",
            Ask::Work(_) => "work",
            Ask::Job(_) => "job",
        }
        .to_owned()
    }

    /// The dataset's name, where there is something to be done with one.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn dataset(&self) -> Option<String> {
        match &self.ask {
            Ask::Open { dataset } => Some(dataset.clone()),
            Ask::Work(ticket) => Some(name(&ticket.dataset).to_owned()),
            _ => None,
        }
    }

    /// The answer, ready to be sent.
    ///
    /// # Errors
    /// If it is not there at once.
    pub fn reply(&self) -> Result<JsValue, Thrown> {
        match &self.ask {
            Ask::Reply(reply) => Ok(plain(reply)),
            _ => Err(refused(&Problem::new("internal", "there is no answer yet"))),
        }
    }

    /// The key of the answer in a cache: its canonical address, and its tag, in which the program's version is.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn canonical(&self) -> Option<String> {
        let ticket = self.ticket()?;
        Some(format!("{}#{}", ticket.canonical, ticket.etag))
    }

    /// The entity tag's digits.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn tag(&self) -> Option<String> {
        Some(self.ticket()?.etag.trim_matches('"').to_owned())
    }

    /// Bytes of linear memory that the answer takes at most.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn peak(&self) -> Option<f64> {
        Some(number(self.ticket()?.cost.peak_bytes))
    }

    /// Bytes of the answer's body, at most.
    #[wasm_bindgen(getter, js_name = answerBytes)]
    #[must_use]
    pub fn answer_bytes(&self) -> Option<f64> {
        Some(number(self.ticket()?.cost.answer_bytes))
    }

    /// Begins to compute.
    ///
    /// # Errors
    /// `budget` where there is no memory; if the dataset is another one.
    pub fn start(&self) -> Result<Answer, Thrown> {
        match (self.ticket(), &self.opened) {
            (Some(ticket), Some(opened)) => {
                let started = ticket.start(opened, ticket.cost.peak_bytes);
                Ok(Answer::new(started.map_err(|problem| refused(&problem))?))
            }
            _ => Err(refused(&Problem::new("internal", "there is no ticket"))),
        }
    }

    fn ticket(&self) -> Option<&Ticket> {
        match &self.ask {
            Ask::Work(ticket) => Some(ticket),
            _ => None,
        }
    }
}

/// A problem as JavaScript catches it.
pub(in crate::wasm) fn refused(problem: &Problem) -> Thrown {
    record::Record::new()
        .text("code", problem.code)
        .text("message", &problem.detail)
        .into()
}

/// The name of `name@version`.
fn name(id: &str) -> &str {
    id.split('@').next().unwrap_or(id)
}

/// Limits where they are given, the usual ones elsewhere.
fn limits(settings: &JsValue) -> Result<Limits, Thrown> {
    let usual = Limits::default();
    Ok(Limits {
        requests: record::count(settings, "requests")?.unwrap_or(usual.requests),
        cpu_ms: record::count(settings, "cpu_ms")?.unwrap_or(usual.cpu_ms),
        memory: record::count(settings, "memory")?.unwrap_or(usual.memory),
        bytes: record::count(settings, "bytes")?.unwrap_or(usual.bytes),
        answer_bytes: record::count(settings, "answer_bytes")?.unwrap_or(usual.answer_bytes),
    })
}
