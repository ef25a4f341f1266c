//! Any order, any duplicate, any host stopped anywhere: the same in the end.

use proptest::prelude::*;
use sectile::api::jobs::effect::Answer;
use sectile::api::jobs::message::Task;

use super::world::{TRIES, Why, World};

const MEDIAN: &str = r#"{"type":"median"}"#;
const ANNOTATION: &str = r#"{"type":"annotation","molecules":"lipids"}"#;

/// One thing that happens; numbers choose among what is there.
#[derive(Debug, Clone)]
enum Happening {
    Turn(usize),
    Deliver(usize),
    Twice(usize),
    Stop(usize),
    Post,
    Delete,
}

fn happening(removes: bool) -> impl Strategy<Value = Happening> {
    let any = 0..1000_usize;
    prop_oneof![
        12 => any.clone().prop_map(Happening::Turn),
        5 => any.clone().prop_map(Happening::Deliver),
        1 => any.clone().prop_map(Happening::Twice),
        1 => any.prop_map(Happening::Stop),
        1 => Just(Happening::Post),
        u32::from(removes) => Just(Happening::Delete),
    ]
}

fn happen(world: &mut World, happening: &Happening) {
    let at_work: Vec<usize> = (0..world.hosts.len())
        .filter(|at| !world.hosts[*at].over)
        .collect();
    let pick = |number: usize, of: usize| (of > 0).then(|| number % of);
    match happening {
        Happening::Turn(number) => {
            if let Some(at) = pick(*number, at_work.len()) {
                world.turn(at_work[at]);
            }
        }
        Happening::Stop(number) => {
            if let Some(at) = pick(*number, at_work.len()) {
                world.stop(at_work[at]);
            }
        }
        Happening::Deliver(number) => {
            if let Some(at) = pick(*number, world.queue.len()) {
                world.deliver(at, false);
            }
        }
        Happening::Twice(number) => {
            if let Some(at) = pick(*number, world.queue.len()) {
                world.deliver(at, true);
            }
        }
        Happening::Post => world.start(Why::Post),
        Happening::Delete => world.start(Why::Delete),
    }
}

fn finished(asked: &str) -> Vec<String> {
    let mut names = vec!["done.json", "job.json", "sent"];
    names.extend(if asked == MEDIAN {
        ["median.fits", "pyramid.fits"].as_slice()
    } else {
        ["annotations.json", "images.sectile-images", "results.csv"].as_slice()
    });
    let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
    names.sort();
    names
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Hosts that are stopped put messages back, and too many tries make dead letters: asking once more mends that.
    #[test]
    fn every_course_ends_in_the_same_keys(
        happenings in proptest::collection::vec(happening(false), 0..250),
        shards in 1..7_u32,
        median in any::<bool>(),
    ) {
        let asked = if median { MEDIAN } else { ANNOTATION };
        let mut world = World::new(asked, shards);
        world.start(Why::Post);
        for happening in &happenings {
            happen(&mut world, happening);
        }
        world.calm();
        let failed = world.names().iter().any(|name| name.starts_with("failed/"));
        if failed || !world.names().contains(&"done.json".to_owned()) {
            // The one who asked was stopped, or work was given up: asking again mends it.
            world.ask(&Why::Post);
        }
        let mut names = world.names();
        if !names.contains(&"sent".to_owned()) {
            // Who asked was stopped just before this; it is of no use any more.
            names.push("sent".to_owned());
        }
        prop_assert_eq!(names, finished(asked));
        prop_assert_eq!(world.ask(&Why::Post), Answer::There);
    }

    /// Removed in the middle of anything, nothing is left behind once all have noticed.
    #[test]
    fn what_is_removed_stays_removed(
        happenings in proptest::collection::vec(happening(true), 0..250),
        shards in 1..5_u32,
        median in any::<bool>(),
    ) {
        let mut world = World::new(if median { MEDIAN } else { ANNOTATION }, shards);
        world.start(Why::Post);
        for happening in &happenings {
            happen(&mut world, happening);
        }
        // Whoever asks for the job anew later makes it anew: not here.
        world.hosts.retain(|host| host.why != Why::Post);
        // Others are in the middle of their work while all is removed, and only then go on.
        world.start(Why::Delete);
        let last = world.hosts.len() - 1;
        let deleter = world.hosts.remove(last);
        world.hosts.insert(0, deleter);
        world.calm();
        world.hosts.clear();
        prop_assert_eq!(world.names(), Vec::<String>::new());
        prop_assert_eq!(world.ask(&Why::Delete), Answer::Unknown);
        prop_assert_eq!(world.ask(&Why::Post), Answer::Begun);
        prop_assert_eq!(world.names().len(), if median { 5 } else { 6 });
    }

    /// Bad input and servers that do not answer: what can be finished is, and the rest says why not.
    #[test]
    fn what_cannot_be_done_is_given_up_with_its_reason(
        happenings in proptest::collection::vec(happening(false), 0..150),
        bad in 1..5_u32,
        silent in 1..5_u32,
    ) {
        let mut world = World::new(ANNOTATION, 4);
        world.weather.bad.insert(Task::Shard(bad));
        for shard in 1..=4 {
            world.weather.passing.insert(Task::Shard(shard), if shard == silent { 1000 } else { 1 });
        }
        world.start(Why::Post);
        for happening in happenings.iter().filter(|happening| !matches!(happening, Happening::Post | Happening::Stop(_))) {
            happen(&mut world, happening);
        }
        world.calm();
        let failed = [bad, silent].map(|shard| format!("failed/{shard:05}.json"));
        let mut expected: Vec<String> = (1..=4)
            .filter(|shard| ![bad, silent].contains(shard))
            .map(|shard| format!("parts/{shard:05}"))
            .chain(["job.json".to_owned(), "sent".to_owned()])
            .chain(failed.clone())
            .collect();
        expected.sort();
        expected.dedup();
        prop_assert_eq!(world.names(), expected);
        let key = |name: &str| format!("{}{name}", sectile::api::jobs::keys::prefix(world.id()));
        prop_assert!(world.bucket[&key(&failed[0])].contains("no FITS file"));
        if bad != silent {
            prop_assert!(world.bucket[&key(&failed[1])].contains("given up after several tries"));
            prop_assert!(world.bucket[&key(&failed[1])].contains("does not answer"));
        }
        // The weather clears, and whoever asks again gets the results.
        world.weather = super::world::Weather::default();
        prop_assert_eq!(world.ask(&Why::Post), Answer::Begun);
        prop_assert_eq!(world.names(), finished(ANNOTATION));
    }
}

#[test]
fn an_undisturbed_job_computes_each_shard_once() {
    let mut world = World::new(MEDIAN, 12);
    assert_eq!(world.ask(&Why::Post), Answer::Begun);
    assert_eq!(world.names(), finished(MEDIAN));
    assert_eq!(world.computed, 13, "12 shards and the assembly");
}

#[test]
fn a_failure_in_passing_is_tried_again() {
    let mut world = World::new(MEDIAN, 3);
    world.weather.passing.insert(Task::Shard(2), TRIES - 1);
    world.weather.passing.insert(Task::Assemble, TRIES - 1);
    world.ask(&Why::Post);
    assert_eq!(world.names(), finished(MEDIAN));
}

#[test]
fn an_assembly_that_fails_is_made_anew_from_its_parts_on() {
    let mut world = World::new(MEDIAN, 3);
    world.weather.bad.insert(Task::Assemble);
    world.ask(&Why::Post);
    let names = world.names();
    assert!(
        names.contains(&"failed/assembly.json".to_owned()),
        "{names:?}"
    );
    assert!(names.contains(&"parts/00003".to_owned()), "{names:?}");
    world.weather.bad.clear();
    let before = world.computed;
    assert_eq!(world.ask(&Why::Post), Answer::Begun);
    assert_eq!(world.names(), finished(MEDIAN));
    assert_eq!(world.computed - before, 4);
}
