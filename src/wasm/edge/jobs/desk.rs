//! Where it is decided about one job, for one request or one message.

use js_sys::{Array, JSON, Uint8Array};
use serde_json::Value;
use wasm_bindgen::prelude::*;

use super::assembly::Assembly;
use super::list::List;
use super::shard::Shard;
use crate::api::job::{JobAsk, JobAt, NewJob};
use crate::api::jobs::ask::{Asked as JobAsked, MedianAsked};
use crate::api::jobs::begin::{Wanting, begin, remove};
use crate::api::jobs::document::Document;
use crate::api::jobs::effect::Effect;
use crate::api::jobs::held::{Held, Spent};
use crate::api::jobs::id::Id;
use crate::api::jobs::keys::{self, Key};
use crate::api::jobs::message::{Message, Task};
use crate::api::jobs::plan;
use crate::api::jobs::progress::{progress, wanted};
use crate::api::jobs::step::{Fault, after, decide, give_up, poison};
use crate::api::jobs::{assembly, shard};
use crate::api::service::Service as Core;
use crate::api::{Problem, Reply, file};
use crate::wasm::edge::asking::{Asking, plain};
use crate::wasm::edge::service::{Asked, Service, refused};
use crate::wasm::{Thrown, bulk, number, offset, thrown};

/// Most bytes of `job.json`.
const MOST_DOCUMENT: u64 = 16 << 20;

/// Why somebody is at the desk.
enum Why {
    New(NewJob, Wanting),
    Progress,
    File(String),
    Cancel,
    Work(Message),
    Dead(Message),
    Poison(String),
}

/// One job, and what is wanted of it.
#[wasm_bindgen]
pub struct Desk {
    why: Why,
    /// Of a client's request.
    at: Option<JobAt>,
    job: Id,
    planned: Option<Document>,
    found: Option<Document>,
    held: Held,
    /// What was read of [`Key::Failed`] and [`Key::Retry`].
    read: Vec<(Key, Option<Vec<u8>>)>,
}

impl Desk {
    fn new(why: Why, at: Option<JobAt>, job: Id) -> Self {
        Self {
            why,
            at,
            job,
            planned: None,
            found: None,
            held: Held::default(),
            read: Vec::new(),
        }
    }

    fn document(&self) -> Result<&Document, Thrown> {
        let missing = || {
            refused(&Problem::new(
                "job",
                format!("there is no job {}", self.job),
            ))
        };
        self.found
            .as_ref()
            .filter(|_| self.held.job)
            .ok_or_else(missing)
    }

    fn message(&self) -> Option<&Message> {
        match &self.why {
            Why::Work(message) | Why::Dead(message) => Some(message),
            _ => None,
        }
    }

    fn effects(&self, effects: &[Effect]) -> Result<JsValue, Thrown> {
        let effects: Vec<Value> = effects.iter().map(|one| one.to_value(&self.job)).collect();
        JSON::parse(&Value::Array(effects).to_string())
    }

    /// The open dataset that the job is over, refused where it is another version by now.
    fn opened<'s>(
        service: &'s Core,
        document: &Document,
    ) -> Result<&'s crate::api::opened::Opened, Thrown> {
        let name = document.name();
        let opened = service.dataset(name);
        let now = service.id(name).unwrap_or_default();
        match opened {
            Some(opened) if now == document.dataset => Ok(opened),
            Some(_) => {
                let detail = format!(
                    "the job was begun with {}, and the dataset is {now} by now; ask for the job anew",
                    document.dataset
                );
                Err(refused(&Problem::new("changed", detail)))
            }
            None => Err(refused(&Problem::busy("the dataset is not open", 1))),
        }
    }
}

#[wasm_bindgen]
impl Service {
    /// A desk for a request of whose kind is `job`. `body` is what came with it.
    ///
    /// # Errors
    /// `body` and `job` for a new job that makes no sense.
    pub fn desk(&self, asked: &Asked, body: &Uint8Array) -> Result<Desk, Thrown> {
        let crate::api::Ask::Job(ask) = &asked.ask else {
            return Err(refused(&Problem::new("internal", "it is about no job")));
        };
        let (why, at) = match ask.clone() {
            JobAsk::New { dataset } => {
                let bytes = bulk::within(body, crate::api::jobs::ask::MOST_BODY as u64)
                    .map_err(|_| refused(&Problem::new("body-size", "the body is too long")))?;
                let new = self.core.job(&dataset, &bytes);
                let new = new.map_err(|problem| refused(&problem))?;
                (Why::New(new.clone(), Wanting::Job), new.at)
            }
            JobAsk::Instead(new) => (Why::New(new.clone(), Wanting::Answer), new.at),
            JobAsk::Progress(at) => (Why::Progress, at),
            JobAsk::File { at, file } => (Why::File(file), at),
            JobAsk::Cancel(at) => (Why::Cancel, at),
        };
        let job = at.job.clone();
        Ok(Desk::new(why, Some(at), job))
    }

    /// A desk for a message of the queue, as JSON; `dead` if it has failed too often.
    #[must_use]
    #[expect(
        clippy::unused_self,
        reason = "JavaScript has every desk from its service"
    )]
    pub fn message(&self, text: &str, dead: bool) -> Desk {
        let read = serde_json::from_str(text).map_err(|fault| fault.to_string());
        match read.and_then(|value| Message::parse(&value)) {
            Ok(message) => {
                let job = message.job.clone();
                let why = if dead {
                    Why::Dead(message)
                } else {
                    Why::Work(message)
                };
                Desk::new(why, None, job)
            }
            Err(why) => {
                let none = Id::new("", &JobAsked::Median(MedianAsked::default()), "");
                Desk::new(Why::Poison(why), None, none)
            }
        }
    }

    /// A desk for the job whose pyramid serves tiles of an open dataset; nothing where there can be none.
    #[wasm_bindgen(js_name = pyramidDesk)]
    #[must_use]
    pub fn pyramid_desk(&self, dataset: &str) -> Option<Desk> {
        let at = self.core.pyramid_job(dataset)?.at;
        let job = at.job.clone();
        Some(Desk::new(Why::Progress, Some(at), job))
    }

    /// Serves tiles from the pyramid of the desk's job, if it is done; tells its key, for a source behind the others.
    ///
    /// # Errors
    /// A document that does not say what it is of.
    #[wasm_bindgen(js_name = servePyramid)]
    pub fn serve_pyramid(&mut self, desk: &Desk) -> Result<Option<String>, Thrown> {
        let (Some(at), Some(document)) = (&desk.at, &desk.found) else {
            return Ok(None);
        };
        let served = self.core.serve_pyramid(&at.dataset, document, &desk.held);
        served.map_err(thrown)
    }

    /// Bytes of linear memory that a job may take: half, so that answers go on meanwhile.
    #[wasm_bindgen(getter, js_name = jobMemory)]
    #[must_use]
    pub fn job_memory(&self) -> f64 {
        number(plan::of_shards(self.core.limits()).memory)
    }
}

#[wasm_bindgen]
impl Desk {
    /// What the keys of the job begin with; nothing for a message that is none.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn prefix(&self) -> Option<String> {
        (!matches!(self.why, Why::Poison(_))).then(|| keys::prefix(&self.job))
    }

    /// What is wanted: `new`, `answer` (a job in place of an answer), `progress`, `file`, `cancel` or `work`.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn kind(&self) -> String {
        match self.why {
            Why::New(_, Wanting::Job) => "new",
            Why::New(_, Wanting::Answer) => "answer",
            Why::Progress => "progress",
            Why::File(_) => "file",
            Why::Cancel => "cancel",
            Why::Work(_) | Why::Dead(_) | Why::Poison(_) => "work",
        }
        .to_owned()
    }

    /// The dataset's name.
    #[wasm_bindgen(getter)]
    #[must_use]
    pub fn dataset(&self) -> Option<String> {
        let at = self.at.as_ref().map(|at| at.dataset.as_str());
        let message = self.message().map(|message| message.dataset.as_str());
        let name = at.or(message)?.split('@').next()?;
        Some(name.to_owned())
    }

    /// The list that has to be read first, if there is one: for a plan, or for work.
    ///
    /// # Errors
    /// A list that is not declared any more.
    pub fn list(&self, service: &Service) -> Result<Option<List>, Thrown> {
        let memory = plan::of_shards(service.core.limits()).memory;
        let (dataset, asked) = if let Why::New(new, _) = &self.why {
            (new.at.dataset.as_str(), &new.asked)
        } else {
            let document = self.document()?;
            (document.name(), &document.asked)
        };
        List::of(&service.core, dataset, asked, memory)
    }

    /// Plans a new job; tells the answer where no number of shards makes it possible.
    ///
    /// # Errors
    /// What is wrong with the list.
    pub fn plan(
        &mut self,
        service: &Service,
        asking: &Array,
        list: Option<List>,
    ) -> Result<Option<JsValue>, Thrown> {
        let Why::New(new, _) = &self.why else {
            return Ok(None);
        };
        let mut list = list;
        let list = list.as_mut().map(List::core).transpose()?;
        match plan::plan(&service.core, new, list) {
            Ok(planned) => {
                self.planned = Some(planned);
                Ok(None)
            }
            Err(problem) => {
                let asking = Asking::new(asking);
                let reply = service.core.finish(&asking.request(), problem.reply());
                Ok(Some(plain(&reply)))
            }
        }
    }

    /// Forgets what was listed.
    pub fn clear(&mut self) {
        self.held = Held::default();
        self.found = None;
        self.read.clear();
    }

    /// Takes one object of the listing.
    ///
    /// # Errors
    /// Numbers that are none.
    pub fn take(&mut self, key: &str, size: f64, requests: f64, bytes: f64) -> Result<(), Thrown> {
        let spent = Spent {
            requests: offset("requests", requests)?,
            bytes: offset("bytes", bytes)?,
        };
        self.held.take(&self.job, key, offset("size", size)?, spent);
        Ok(())
    }

    /// Objects that have to be read, and given to [`give`](Self::give), before it can be decided.
    #[must_use]
    pub fn wants(&self) -> Vec<String> {
        let document = self.held.job.then_some(Key::Job);
        let told = match &self.why {
            Why::Progress | Why::New(..) => wanted(&self.held),
            Why::Dead(message) if self.held.retries.contains(&message.task) => {
                vec![Key::Retry(message.task)]
            }
            _ => Vec::new(),
        };
        let all = document.into_iter().chain(told);
        all.map(|key| key.of(&self.job)).collect()
    }

    /// Takes what was read of an object; nothing where it was gone.
    ///
    /// # Errors
    /// A document that is none.
    pub fn give(&mut self, key: &str, bytes: Option<Uint8Array>) -> Result<(), Thrown> {
        let bytes = bytes
            .map(|bytes| bulk::within(&bytes, MOST_DOCUMENT))
            .transpose()?;
        let name = key.strip_prefix(&keys::prefix(&self.job)).unwrap_or(key);
        match (Key::parse(name), bytes) {
            (Some(Key::Job), Some(bytes)) => {
                let parsed = Document::parse(&self.job, &bytes);
                self.found = match (parsed, &self.at) {
                    (Ok(document), Some(at)) => {
                        at.owns(&document).map_err(|problem| refused(&problem))?;
                        Some(document)
                    }
                    (Ok(document), None) => Some(document),
                    // Nobody can do anything else with it than remove it.
                    (Err(_), Some(at)) if matches!(self.why, Why::Cancel) => {
                        at.may_clear(&bytes).map_err(|problem| refused(&problem))?;
                        None
                    }
                    (Err(error), _) => return Err(thrown(error)),
                };
            }
            (Some(Key::Job), None) => self.held.job = false,
            (Some(key), bytes) => self.read.push((key, bytes)),
            (None, _) => {}
        }
        Ok(())
    }

    /// What is to be done now, by what was listed and given: a list of effects, which ends in `look`, `ack`, `retry` or
    /// `reply`.
    ///
    /// # Errors
    /// A new job that was not planned.
    pub fn decide(&self) -> Result<JsValue, Thrown> {
        let found = self.found.as_ref();
        let effects = match &self.why {
            Why::New(_, wanting) => {
                let planned = self.planned.as_ref();
                let none = || refused(&Problem::new("internal", "the job was not planned"));
                begin(planned.ok_or_else(none)?, found, &self.held, *wanting)
            }
            // Its document was found to be this dataset's, or to be nobody's, when it was given.
            Why::Cancel => remove(&self.held),
            Why::Work(message) => decide(message, found, &self.held),
            Why::Dead(message) => {
                let last = self.read.first().and_then(|(_, bytes)| bytes.as_deref());
                give_up(message, found, &self.held, last)
            }
            Why::Poison(why) => poison(why),
            Why::Progress | Why::File(_) => Vec::new(),
        };
        self.effects(&effects)
    }

    /// What is to be done after work has failed: the error's code and words, and the number of tries so far.
    ///
    /// # Errors
    /// None.
    pub fn failed(&self, code: &str, reason: &str, attempts: u32) -> Result<JsValue, Thrown> {
        let fault = Fault::new(code, reason);
        let effects = self
            .message()
            .map(|message| after(message, &fault, attempts));
        self.effects(&effects.unwrap_or_else(|| vec![Effect::Ack]))
    }

    /// Begins the shard of the message.
    ///
    /// # Errors
    /// A dataset or a list that is not the job's any more; `budget`.
    pub fn shard(&self, service: &Service, list: Option<List>) -> Result<Shard, Thrown> {
        let document = self.document()?;
        let opened = Self::opened(&service.core, document)?;
        let mut list = list;
        let list = list.as_mut().map(List::core).transpose()?;
        let number = match self.message().map(|message| message.task) {
            Some(Task::Shard(number)) => number,
            _ => 0,
        };
        let memory = plan::of_shards(service.core.limits()).memory;
        let shard = shard::Shard::new(document, opened, list, number, memory);
        Ok(Shard::new(shard.map_err(thrown)?))
    }

    /// Begins to put the parts together.
    ///
    /// # Errors
    /// A list that is not the job's any more; `budget`.
    pub fn assembly(&self, service: &Service, list: Option<List>) -> Result<Assembly, Thrown> {
        let mut list = list;
        let list = list.as_mut().map(List::core).transpose()?;
        let memory = plan::of_shards(service.core.limits()).memory;
        let assembly = assembly::Assembly::new(self.document()?, list, memory);
        Ok(Assembly::new(assembly.map_err(thrown)?, memory))
    }

    /// The key of a part.
    #[must_use]
    pub fn part(&self, number: u32) -> String {
        Key::Part(number).of(&self.job)
    }

    /// The answer to a client, `{status, headers, body}`, by what was listed and given: the progress with this status, or
    /// nothing for 204.
    ///
    /// # Errors
    /// `job` where there is none.
    pub fn reply(&self, service: &Service, asking: &Array, status: u16) -> Result<JsValue, Thrown> {
        let asking = Asking::new(asking);
        let at = self.at.as_ref();
        let location = at.map_or("", |at| at.location.as_str());
        let reply = if status == 204 {
            Reply::empty(204)
        } else if status == 404 {
            Problem::new("job", format!("there is no job {}", self.job)).reply()
        } else {
            let told = progress(self.document()?, &self.held, location, &self.read);
            // What was asked for in place of an answer is not that answer, even if it was there already.
            let status = match self.why {
                Why::New(_, Wanting::Answer) => 202,
                _ => status,
            };
            let reply = Reply::json(status, &told).with("Location", location);
            if status == 202 {
                reply.with("Retry-After", "5")
            } else {
                reply
            }
        };
        Ok(plain(&service.core.finish(&asking.request(), reply)))
    }

    /// What to send of a result: `{status, headers, body, key, start, end}`, the last three where bytes of an object are the
    /// body.
    ///
    /// # Errors
    /// `job` where there is none; `busy-job` where it is not done.
    pub fn file(&self, service: &Service, asking: &Array) -> Result<JsValue, Thrown> {
        let asking = Asking::new(asking);
        let document = self.document()?;
        let (Why::File(name), Some(at)) = (&self.why, &self.at) else {
            return Err(refused(&Problem::new("internal", "no file is wanted")));
        };
        if !self.held.done {
            let detail = format!("the job is not done; {} tells how far it is", at.location);
            return Err(refused(&Problem::new("busy-job", detail)));
        }
        let found = self.held.results.iter().find(|(there, _)| there == name);
        let Some((_, size)) = found else {
            let detail = format!("the job has no {name}");
            return Err(refused(&Problem::new("job", detail)));
        };
        let request = asking.request();
        match file::send(&request, name, *size, &file::tag(document, name)) {
            file::Sending::Reply(reply) => Ok(plain(&service.core.finish(&request, reply))),
            file::Sending::Bytes { head, start, end } => {
                let sent = plain(&service.core.finish(&request, head));
                let key = Key::Result(name.clone()).of(&self.job);
                for (member, value) in [
                    ("key", JsValue::from_str(&key)),
                    ("start", JsValue::from_f64(number(start))),
                    ("end", JsValue::from_f64(number(end))),
                ] {
                    let _set = js_sys::Reflect::set(&sent, &JsValue::from_str(member), &value);
                }
                Ok(sent)
            }
        }
    }
}
