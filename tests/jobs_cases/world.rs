//! A bucket, a queue and hosts that may be stopped anywhere.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use sectile::api::jobs::ask::Asked;
use sectile::api::jobs::begin::{Wanting, begin, remove};
use sectile::api::jobs::document::{Document, Estimate};
use sectile::api::jobs::effect::{Answer, Effect};
use sectile::api::jobs::held::{Held, Spent};
use sectile::api::jobs::id::Id;
use sectile::api::jobs::keys::Key;
use sectile::api::jobs::message::{Message, Task};
use sectile::api::jobs::step::{Fault, after, decide, give_up};

/// Times that a message is delivered before it goes to the dead letters.
pub(super) const TRIES: u32 = 3;

/// Why a host is at work.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Why {
    Message(Message, u32),
    Dead(Message),
    Post,
    Delete,
}

/// A host at work: what it still has to do of what was decided.
#[derive(Debug, Clone)]
pub(super) struct Host {
    pub(super) why: Why,
    todo: VecDeque<Effect>,
    /// What a running piece of work has still to write, each with what it has to read first.
    writes: VecDeque<(Key, String)>,
    pub(super) answer: Option<Answer>,
    pub(super) over: bool,
}

/// What goes wrong with the work of a shard.
#[derive(Debug, Clone, Default)]
pub(super) struct Weather {
    /// Tasks that never succeed: bad input.
    pub(super) bad: BTreeSet<Task>,
    /// Tasks of which so many tries more fail in passing.
    pub(super) passing: BTreeMap<Task, u32>,
}

#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) document: Document,
    pub(super) bucket: BTreeMap<String, String>,
    /// Messages that wait, with their number of deliveries so far.
    pub(super) queue: Vec<(Message, u32)>,
    pub(super) dead: Vec<Message>,
    pub(super) hosts: Vec<Host>,
    pub(super) weather: Weather,
    pub(super) computed: u32,
}

impl World {
    pub(super) fn new(asked: &str, shards: u32) -> Self {
        let asked = Asked::parse(asked.as_bytes()).unwrap();
        let estimate = Estimate {
            shards,
            ..Estimate::default()
        };
        Self {
            document: Document::new("demo@01234567", asked, "0.1.0", estimate, "{}"),
            bucket: BTreeMap::new(),
            queue: Vec::new(),
            dead: Vec::new(),
            hosts: Vec::new(),
            weather: Weather::default(),
            computed: 0,
        }
    }

    pub(super) fn id(&self) -> &Id {
        &self.document.id
    }

    pub(super) fn start(&mut self, why: Why) {
        self.hosts.push(Host {
            why,
            todo: VecDeque::from([Effect::Look]),
            writes: VecDeque::new(),
            answer: None,
            over: false,
        });
    }

    /// Names of the keys that are there, without the prefix.
    pub(super) fn names(&self) -> Vec<String> {
        let prefix = sectile::api::jobs::keys::prefix(self.id());
        let names = self.bucket.keys();
        names
            .map(|key| key.strip_prefix(&prefix).unwrap().to_owned())
            .collect()
    }

    pub(super) fn listing(&self) -> Held {
        let mut held = Held::default();
        for (key, body) in &self.bucket {
            let spent = Spent {
                requests: 2,
                bytes: body.len() as u64,
            };
            held.take(self.id(), key, body.len() as u64, spent);
        }
        held
    }

    fn put(&mut self, key: &Key, body: &str, fresh: bool) {
        let key = key.of(self.id());
        if !(fresh && self.bucket.contains_key(&key)) {
            self.bucket.insert(key, body.to_owned());
        }
    }

    fn decided(&self, why: &Why) -> Vec<Effect> {
        let held = self.listing();
        let text = self.bucket.get(&Key::Job.of(self.id()));
        let found = text.map(|text| Document::parse(self.id(), text.as_bytes()).unwrap());
        match why {
            Why::Message(message, _) => decide(message, found.as_ref(), &held),
            Why::Dead(message) => {
                let last = self.bucket.get(&Key::Retry(message.task).of(self.id()));
                give_up(message, found.as_ref(), &held, last.map(String::as_bytes))
            }
            Why::Post => begin(&self.document, found.as_ref(), &held, Wanting::Job),
            Why::Delete => remove(&held),
        }
    }

    /// Lets one host do one thing.
    pub(super) fn turn(&mut self, at: usize) {
        let mut host = self.hosts.remove(at);
        if let Some((key, body)) = host.writes.pop_front() {
            // An assembly reads parts as it goes; one that is gone ends it.
            let reads_parts = matches!(key, Key::Result(_));
            if reads_parts && !self.listing().is_whole(&self.document) {
                host.writes.clear();
            } else {
                self.put(&key, &body, matches!(key, Key::Part(_)));
            }
        } else {
            let effect = host.todo.pop_front().unwrap();
            self.act(effect, &mut host);
        }
        if !host.over {
            self.hosts.insert(at, host);
        } else if host.answer.is_some() {
            self.hosts.push(host);
        }
    }

    fn act(&mut self, effect: Effect, host: &mut Host) {
        match effect {
            Effect::Put { key, body, fresh } => self.put(&key, &body, fresh),
            Effect::Delete(keys) => {
                for key in keys {
                    let key = key.of(self.id());
                    self.bucket.remove(&key);
                }
            }
            Effect::Send(messages) => {
                self.queue
                    .extend(messages.into_iter().map(|message| (message, 0)));
            }
            Effect::Compute(shard) => self.work(Task::Shard(shard), host),
            Effect::Assemble => self.work(Task::Assemble, host),
            Effect::Look => host.todo = self.decided(&host.why).into(),
            Effect::Ack => host.over = true,
            Effect::Retry(_) => {
                self.back(&host.why);
                host.over = true;
            }
            Effect::Log(_) => {}
            Effect::Reply(answer) => {
                host.answer = Some(answer);
                host.over = true;
            }
        }
    }

    fn work(&mut self, task: Task, host: &mut Host) {
        let Why::Message(message, tries) = &host.why else {
            panic!("only messages are worked on");
        };
        self.computed += 1;
        let fault = if self.weather.bad.contains(&task) {
            Some(Fault::new("format", "m13/1.fits: byte 5: no FITS file"))
        } else {
            let left = self.weather.passing.entry(task).or_default();
            let fails = *left > 0;
            *left = left.saturating_sub(1);
            fails.then(|| Fault::new("network", "the archive does not answer"))
        };
        if let Some(fault) = fault {
            host.todo = after(message, &fault, *tries).into();
            return;
        }
        match task {
            Task::Shard(shard) => {
                let body = format!("rows of shard {shard}");
                host.writes.push_back((Key::Part(shard), body));
            }
            Task::Assemble => {
                for name in self.document.asked.results() {
                    let key = Key::Result((*name).to_owned());
                    host.writes.push_back((key, format!("all of {name}")));
                }
                host.writes.push_back((Key::Done, "{}".to_owned()));
            }
        }
    }

    /// Puts a message back after a failure; after some it is a dead letter.
    fn back(&mut self, why: &Why) {
        match why {
            Why::Message(message, tries) if *tries >= TRIES => self.dead.push(message.clone()),
            Why::Message(message, tries) => self.queue.push((message.clone(), *tries)),
            Why::Dead(message) => self.dead.push(message.clone()),
            Why::Post | Why::Delete => {}
        }
    }

    /// Stops a host in the middle of what it does; the queue delivers its message again.
    pub(super) fn stop(&mut self, at: usize) {
        let host = self.hosts.remove(at);
        self.back(&host.why);
    }

    /// Delivers a message; `twice` leaves it in the queue as well.
    pub(super) fn deliver(&mut self, at: usize, twice: bool) {
        let (message, tries) = self.queue[at].clone();
        if !twice {
            self.queue.remove(at);
        }
        self.start(Why::Message(message, tries + 1));
    }

    /// Lets everything run out, one thing after another.
    pub(super) fn calm(&mut self) {
        for _ in 0..100_000 {
            let at_work = self.hosts.iter().position(|host| !host.over);
            if let Some(at) = at_work {
                self.turn(at);
            } else if !self.queue.is_empty() {
                self.deliver(0, false);
            } else if let Some(message) = self.dead.pop() {
                self.start(Why::Dead(message));
            } else {
                return;
            }
        }
        panic!("it never ends: {:?}", self.names());
    }

    /// Asks for the job and lets everything run out; the answer.
    pub(super) fn ask(&mut self, why: &Why) -> Answer {
        self.start(why.clone());
        self.calm();
        let host = self
            .hosts
            .iter()
            .rposition(|host| host.why == *why)
            .unwrap();
        let answer = self.hosts[host].answer.unwrap();
        self.hosts.clear();
        answer
    }
}
