//! Single decisions, and what a client is told.

use std::collections::BTreeSet;

use sectile::api::file::tag;
use sectile::api::jobs::begin::{Wanting, begin};
use sectile::api::jobs::document::Document;
use sectile::api::jobs::effect::{Answer, Effect};
use sectile::api::jobs::held::Held;
use sectile::api::jobs::keys::Key;
use sectile::api::jobs::message::{Message, Task};
use sectile::api::jobs::progress::{State, progress, wanted};
use sectile::api::jobs::step::{Fault, after, decide};

use super::world::World;

fn message(world: &World, task: Task) -> Message {
    Message {
        dataset: world.document.dataset.clone(),
        job: world.id().clone(),
        task,
    }
}

fn begun() -> Held {
    Held {
        job: true,
        sent: true,
        ..Held::default()
    }
}

#[test]
fn a_message_of_another_dataset_or_shard_is_let_go_with_a_word() {
    let world = World::new(r#"{"type":"median"}"#, 3);
    let other = Message {
        dataset: "private@00000000".to_owned(),
        ..message(&world, Task::Shard(1))
    };
    for message in [other, message(&world, Task::Shard(4))] {
        let effects = decide(&message, Some(&world.document), &begun());
        assert!(
            matches!(&effects[..], [Effect::Log(_), Effect::Ack]),
            "{effects:?}"
        );
    }
}

#[test]
fn a_job_whose_list_was_replaced_is_removed_and_begins_anew() {
    let world = World::new(r#"{"type":"annotation","molecules":"lipids"}"#, 3);
    let of_list = |sha: &str| {
        let old = &world.document;
        let work = format!(r#"{{"list":{{"sha256":"{sha}"}}}}"#);
        Document::new(
            &old.dataset,
            old.asked.clone(),
            &old.program,
            old.estimate,
            &work,
        )
    };
    let (old, new) = (of_list("aa"), of_list("bb"));
    assert_eq!(old.id, new.id);
    assert_ne!(tag(&old, "results.csv"), tag(&new, "results.csv"));
    let done = Held {
        done: true,
        results: vec![("results.csv".to_owned(), 9)],
        ..begun()
    };
    let there = [Effect::Reply(Answer::There)];
    assert_eq!(begin(&old, Some(&old), &done, Wanting::Job), there);
    let effects = begin(&new, Some(&old), &done, Wanting::Job);
    let [Effect::Put { key, .. }, Effect::Delete(keys), Effect::Look] = &effects[..] else {
        panic!("{effects:?}");
    };
    let result = Key::Result("results.csv".to_owned());
    assert_eq!(*key, Key::Cancelled);
    assert_eq!(keys[..2], [Key::Done, Key::Job]);
    assert!(keys.contains(&Key::Sent) && keys.contains(&result));
    let marked = Held {
        cancelled: true,
        ..Held::default()
    };
    let effects = begin(&new, None, &marked, Wanting::Job);
    assert_eq!(
        effects,
        [Effect::Delete(vec![Key::Cancelled]), Effect::Look]
    );
    let effects = begin(&new, None, &Held::default(), Wanting::Job);
    let document = Effect::Put {
        key: Key::Job,
        body: new.to_json(),
        fresh: true,
    };
    assert_eq!(effects[0], document);
    assert_eq!(effects.last(), Some(&Effect::Reply(Answer::Begun)));
}

#[test]
fn pauses_double_up_to_ten_minutes() {
    let world = World::new(r#"{"type":"median"}"#, 3);
    let fault = Fault::new("http", "503");
    let pauses: Vec<Effect> = [1, 2, 3, 20, u32::MAX]
        .map(|attempts| {
            after(&message(&world, Task::Shard(1)), &fault, attempts)
                .pop()
                .unwrap()
        })
        .to_vec();
    let expected = [5, 10, 20, 600, 600].map(Effect::Retry);
    assert_eq!(pauses, expected);
}

#[test]
fn the_state_follows_from_the_keys() {
    let world = World::new(r#"{"type":"median"}"#, 2);
    let mut held = begun();
    let state = |held: &Held| State::of(&world.document, held).name();
    assert_eq!(state(&held), "queued");
    held.retries.insert(Task::Shard(2));
    assert_eq!(state(&held), "running");
    held.parts.insert(1);
    assert_eq!(state(&held), "running");
    held.parts.insert(2);
    assert_eq!(state(&held), "assembling");
    held.failed.insert(Task::Assemble);
    assert_eq!(state(&held), "failed");
    held.done = true;
    assert_eq!(state(&held), "done");
    held.cancelled = true;
    assert_eq!(state(&held), "cancelled");
}

#[test]
fn progress_has_reasons_results_and_the_tally() {
    let world = World::new(r#"{"type":"median"}"#, 3);
    let mut held = begun();
    held.parts = BTreeSet::from([1]);
    held.spent.requests = 13;
    held.spent.bytes = 4096;
    held.failed.insert(Task::Shard(2));
    held.retries.insert(Task::Shard(3));
    let keys = wanted(&held);
    assert_eq!(
        keys,
        [Key::Failed(Task::Shard(2)), Key::Retry(Task::Shard(3))]
    );
    let fault = Fault::new("format", "m13/2.fits: byte 5: no FITS file").to_json(Task::Shard(2));
    let read = [
        (keys[0].clone(), Some(fault.into_bytes())),
        (keys[1].clone(), None),
    ];
    let told = progress(&world.document, &held, "/v1/demo/jobs/x", &read);
    assert_eq!(told["state"], "failed");
    assert_eq!(told["shards"]["done"], 1);
    assert_eq!(told["shards"]["failed"], 1);
    assert_eq!(told["shards"]["retrying"], 1);
    assert_eq!(told["tally"]["requests"], 13);
    assert_eq!(told["failures"][0]["shard"], 2);
    assert!(
        told["failures"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("m13/2.fits")
    );
    assert_eq!(
        told["retries"].as_array().unwrap().len(),
        0,
        "what is gone is not told"
    );
    assert_eq!(told["results"].as_array().unwrap().len(), 0);

    let mut held = begun();
    held.done = true;
    held.results = vec![("median.fits".to_owned(), 5760), ("stray".to_owned(), 1)];
    let told = progress(&world.document, &held, "/v1/demo/jobs/x", &[]);
    assert_eq!(told["state"], "done");
    assert_eq!(told["shards"]["done"], 3);
    assert_eq!(told["results"].as_array().unwrap().len(), 1);
    assert_eq!(told["results"][0]["bytes"], 5760);
    assert_eq!(told["results"][0]["href"], "/v1/demo/jobs/x/median.fits");
    assert_eq!(told["results"][0]["media_type"], "application/fits");
}
