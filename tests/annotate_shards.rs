//! Annotation in shards: parts that depend on the shard only, and results that depend on no part being there first.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    dead_code,
    reason = "a test; each file uses a part of the cases"
)]

mod annotate_cases;
mod ion_cases;
mod part_cases;

use std::rc::Rc;

use annotate_cases::whole::{F32, wish};
use annotate_cases::{annotate, formulas, ions, planted, request};
use ion_cases::{WHOLE, head};
use part_cases::{Assembled, assemble, names, part};
use sectile::budget::Budget;
use sectile::error::Error;
use sectile::ion::annotate::{Decoy, Ions, Scored};
use sectile::results::assembly::{Assembly, Turn};
use sectile::results::images::{Easel, Frame, Merge};
use sectile::results::part::images::{self, Scan};
use sectile::results::part::whole::{Depicted, FIXED};
use sectile::results::shards::{Description, Invocation, divide};
use sectile::results::{Provenance, Table};
use sectile::store::head::Head;

const MEMORY: u64 = 64 << 20;

/// A store in memory with half of a list in it.
struct Scene {
    store: Vec<u8>,
    head: Rc<Head>,
    ions: Rc<Ions>,
}

fn scene(more: usize) -> Scene {
    let ions = ions(&formulas(more), &request());
    let sample = planted(11, [24, 18, 1], 120, F32, &ions);
    let store = sample.store();
    Scene {
        head: head(&store),
        store,
        ions,
    }
}

impl Scene {
    fn describe(&self, images: Depicted, shards: u32) -> Description {
        let provenance = Provenance::new(&self.head, "list.csv", Some([7; 32]));
        Description::new(&provenance, &self.ions, images, shards).unwrap()
    }

    fn part(&self, description: &Description, number: u32) -> Vec<u8> {
        part(
            &self.store,
            &self.head,
            &self.ions,
            description,
            number,
            MEMORY,
        )
        .unwrap()
    }

    fn parts(&self, description: &Description) -> Vec<Vec<u8>> {
        let all = 1..=description.shards();
        all.map(|number| self.part(description, number)).collect()
    }

    fn assemble(&self, description: &Description, parts: &[Vec<u8>]) -> Result<Assembled, Error> {
        assemble(description, &self.ions, parts, MEMORY)
    }

    /// Images, table and summary of one job over all ions, without parts.
    fn at_once(&self, images: Depicted) -> [Vec<u8>; 3] {
        let all = 0..self.ions.len();
        let outcome = annotate(
            &self.store,
            &self.head,
            &self.ions,
            all,
            0,
            &wish(MEMORY),
            WHOLE,
        )
        .unwrap();
        let mut table = Table::new(self.ions.clone(), MEMORY);
        for bytes in outcome.found.targets.values() {
            let target = Scored::from_bytes(bytes.as_slice().try_into().unwrap()).unwrap();
            table.take_targets(&[target]).unwrap();
        }
        for (ion, msm) in &outcome.found.decoys {
            let msm = f64::from_bits(*msm);
            table.take_decoys(&[Decoy { ion: *ion, msm }]).unwrap();
        }
        let found = table.finish().unwrap();
        let whole = self.describe(images, 1).whole(1).unwrap();
        let (width, height) = (whole.identity.width, whole.identity.height);
        let mut easel =
            Easel::new(width, height, &self.head.mask, 0, &mut Budget::new(MEMORY)).unwrap();
        let mut file = images::begin(&whole.identity).to_vec();
        for (ion, peaks) in &outcome.found.images {
            for (peak, image) in peaks.iter().enumerate().take(images.peaks()) {
                if let Some((pixels, bits, _)) = image {
                    let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
                    let picture = easel.draw(pixels, &values).unwrap();
                    images::put(*ion, peak, &picture, &mut file).unwrap();
                }
            }
        }
        let mut scan = Scan::new("images", &whole.identity, MEMORY);
        scan.push(&file).unwrap();
        let pictures = scan.finish(file.len() as u64).unwrap();
        let frame = Frame {
            width,
            height,
            store: self.head.digest,
        };
        let mut images_file = Vec::new();
        if images != Depicted::None {
            let merge = Merge::new(frame, found.subjects(), &[pictures], MEMORY).unwrap();
            images_file.extend_from_slice(&merge.head);
            for copy in &merge.copies {
                images_file
                    .extend_from_slice(&file[copy.range.start as usize..copy.range.end as usize]);
            }
        }
        let rows = 0..found.rows().len();
        let provenance = Provenance::new(&self.head, "list.csv", Some([7; 32]));
        let table = found.csv_head().to_owned() + &found.csv_rows(rows.clone());
        let summary = found.json_head(&provenance) + &found.json_rows(rows) + found.json_tail();
        [images_file, table.into_bytes(), summary.into_bytes()]
    }
}

#[test]
fn any_number_of_shards_comes_to_what_one_job_does() {
    let scene = scene(150);
    let wanted = scene.at_once(Depicted::All);
    assert!(wanted.iter().all(|file| file.len() > 10_000));
    for shards in [1, 2, 8, 31] {
        let description = scene.describe(Depicted::All, shards);
        let parts = scene.parts(&description);
        let made = scene.assemble(&description, &parts).unwrap();
        assert!(made.files == wanted, "{shards} shards");
        // Each part is read from its first to its last byte: once for its head, and on.
        assert!(
            made.reads <= 3 * parts.len(),
            "{} reads of {shards}",
            made.reads
        );
    }
}

#[test]
fn more_shards_than_ions_are_as_many_as_ions() {
    let scene = scene(0);
    let description = scene.describe(Depicted::First, 99_999);
    assert_eq!(description.shards(), scene.ions.len());
    let parts = scene.parts(&description);
    let made = scene.assemble(&description, &parts).unwrap();
    assert!(made.files == scene.at_once(Depicted::First));
}

#[test]
fn images_may_be_left_out() {
    let scene = scene(60);
    for images in [Depicted::None, Depicted::First] {
        let description = scene.describe(images, 5);
        let made = scene
            .assemble(&description, &scene.parts(&description))
            .unwrap();
        assert!(made.files == scene.at_once(images), "{images:?}");
    }
}

#[test]
fn a_part_depends_on_neither_memory_nor_who_computes_it() {
    let scene = scene(150);
    let description = scene.describe(Depicted::All, 4);
    let wanted = scene.part(&description, 3);
    let least = (1..=MEMORY >> 17).map(|step| step << 17).find(|memory| {
        let made = part(
            &scene.store,
            &scene.head,
            &scene.ions,
            &description,
            3,
            *memory,
        );
        match made {
            Ok(made) => {
                assert!(made == wanted, "in {memory}");
                true
            }
            Err(Error::Budget { .. }) => false,
            Err(other) => panic!("{other}"),
        }
    });
    assert!(least.unwrap() < MEMORY / 8, "{least:?}");
    let again = Description::parse("job.json", description.to_json().as_bytes()).unwrap();
    assert_eq!(again, description);
    assert!(scene.part(&again, 3) == wanted);
}

#[test]
fn the_description_is_checked_before_it_is_believed() {
    let scene = scene(0);
    let description = scene.describe(Depicted::All, 4);
    let text = description.to_json();
    for (from, to) in [
        ("\"shards\": 4", "\"shards\": 0"),
        ("\"shards\": 4", "\"shards\": 4000000"),
        ("\"shards\": 4", "\"shards\": -1"),
        ("\"width\": 24", "\"width\": 0"),
        ("\"version\": 1", "\"version\": 2"),
        ("\"sectile ", "\"sectile 99."),
        ("metaspace-v3", "metaspace-v9"),
        ("\"images\": \"all\"", "\"images\": \"some\""),
        ("\"+H\"", "\"+Xx\""),
        ("\"ppm\": \"3\"", "\"ppm\": \"NaN\""),
        ("\"store\"", "\"stores\""),
        ("\"fingerprint\": \"", "\"fingerprint\": \"0"),
    ] {
        assert!(text.contains(from), "{from} in {text}");
        let read = Description::parse("job.json", text.replacen(from, to, 1).as_bytes());
        let error = read.expect_err(to).to_string();
        assert!(error.starts_with("job.json"), "{error}");
    }
    for end in 0..text.len() - 2 {
        assert!(
            Description::parse("job.json", &text.as_bytes()[..end]).is_err(),
            "{end}"
        );
    }
    // Whole, but not of this list.
    let fewer = ions(&formulas(1), &request());
    assert!(matches!(
        description.ions(fewer.molecules().clone(), MEMORY),
        Err(Error::Mismatch { .. })
    ));
    let same = description
        .ions(scene.ions.molecules().clone(), MEMORY)
        .unwrap();
    assert_eq!(same.fingerprint(), scene.ions.fingerprint());
    for number in [0, 5, u32::MAX] {
        assert!(description.shard(number).is_err());
    }
    let shards: Vec<_> = (1..=4)
        .map(|number| description.shard(number).unwrap())
        .collect();
    assert_eq!(shards, scene.ions.shards(4));
}

#[test]
fn damaged_parts_are_told_by_name_and_byte() {
    let scene = scene(60);
    let description = scene.describe(Depicted::All, 3);
    let parts = scene.parts(&description);
    let wanted = scene.assemble(&description, &parts).unwrap();
    let whole = parts[1].len();
    let with = |part: Vec<u8>| {
        let mut parts = parts.clone();
        parts[1] = part;
        scene.assemble(&description, &parts)
    };
    // Cut anywhere, or with something behind it.
    let cuts = (0..200).chain((200..whole).step_by(97)).chain([whole - 1]);
    for length in cuts {
        match with(parts[1][..length].to_vec()) {
            Err(Error::Format { file, at, .. }) => {
                assert!(
                    file == "parts/00002" && at <= length as u64,
                    "{file} {at} {length}"
                );
            }
            other => panic!("{length}: {other:?}"),
        }
    }
    let longer = [&parts[1][..], b"x"].concat();
    assert!(matches!(with(longer), Err(Error::Format { .. })));
    // One byte changed anywhere.
    for at in (0..200).chain((200..whole).step_by(89)).chain([whole - 1]) {
        let mut part = parts[1].clone();
        part[at] ^= 0x10;
        match with(part) {
            Err(Error::Format { file, .. } | Error::Mismatch { file, .. }) => {
                assert_eq!(file, "parts/00002", "{at}");
            }
            other => panic!("{at}: {other:?}"),
        }
    }
    assert!(with(parts[1].clone()).unwrap() == wanted);
}

#[test]
fn parts_of_other_shards_and_jobs_are_refused() {
    let scene = scene(60);
    let description = scene.describe(Depicted::All, 3);
    let parts = scene.parts(&description);
    let refuse = |part: Vec<u8>, word: &str| {
        let mut parts = parts.clone();
        parts[0] = part;
        match scene.assemble(&description, &parts) {
            Err(Error::Mismatch { file, what }) => {
                assert!(file == "parts/00001" && what.contains(word), "{what}");
            }
            other => panic!("{word}: {other:?}"),
        }
    };
    refuse(parts[1].clone(), "another shard");
    let finer = scene.describe(Depicted::All, 4);
    refuse(scene.part(&finer, 1), "another shard");
    let first = scene.describe(Depicted::First, 3);
    refuse(scene.part(&first, 1), "isotope peaks");
    // The same number of ions, so that only the fingerprint tells.
    let mut other = request();
    other.ppm = 4.0;
    let others = Scene {
        ions: ions(&formulas(60), &other),
        head: scene.head.clone(),
        store: scene.store.clone(),
    };
    refuse(
        others.part(&others.describe(Depicted::All, 3), 1),
        "other options",
    );
    let sample = planted(12, [24, 18, 1], 120, F32, &scene.ions);
    let store = sample.store();
    let elsewhere = Scene {
        head: head(&store),
        store,
        ions: scene.ions.clone(),
    };
    refuse(
        elsewhere.part(&elsewhere.describe(Depicted::All, 3), 1),
        "another store",
    );
    // And a shard is not computed from another store, or with other ions.
    for (head, ions) in [(&elsewhere.head, &scene.ions), (&scene.head, &others.ions)] {
        let made = part(&scene.store, head, ions, &description, 1, MEMORY);
        assert!(matches!(made, Err(Error::Mismatch { .. })), "{made:?}");
    }
}

#[test]
fn an_assembly_takes_only_what_it_asked_for_and_ends_with_its_error() {
    let scene = scene(0);
    let description = scene.describe(Depicted::All, 2);
    let parts = scene.parts(&description);
    let new = || Assembly::new(description.clone(), &scene.ions, names(), MEMORY).unwrap();
    let mut assembly = new();
    let Turn::Need { part: 1, range } = assembly.turn().unwrap() else {
        panic!("the first part's head comes first");
    };
    for (part, at, bytes) in [
        (2, 0, 10),
        (1, 1, 10),
        (0, 0, 1),
        (1, 0, range.end as usize + 1),
    ] {
        let fed = assembly.feed(part, at, &vec![0; bytes], None);
        assert!(matches!(fed, Err(Error::Unexpected { .. })), "{fed:?}");
    }
    assembly.feed(1, 0, &parts[0][..FIXED - 1], None).unwrap();
    let error = assembly.turn().unwrap_err();
    assert_eq!(assembly.turn().unwrap_err(), error);
    assert!(assembly.feed(1, 0, &[], None).is_err());
    assert!(assembly.found().is_none());
}

#[test]
fn an_assembly_stays_within_its_budget_or_says_what_it_needs() {
    let scene = scene(150);
    let description = scene.describe(Depicted::All, 8);
    let parts = scene.parts(&description);
    let wanted = scene.assemble(&description, &parts).unwrap();
    let (mut refused, mut done) = (0, 0);
    let mut most = 0;
    for step in 0..60 {
        match assemble(&description, &scene.ions, &parts, step << 14) {
            Ok(made) => {
                assert!(made.files == wanted.files, "{step}");
                assert!(
                    made.widest <= (step << 14).max(64 << 10),
                    "{step}: {}",
                    made.widest
                );
                most = most.max(made.reads);
                done += 1;
            }
            Err(Error::Budget { .. }) => refused += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(refused > 5 && done > 5, "{refused} {done}");
    // Where there is no room to read each part ahead, an ion's images are one read.
    assert!(most > wanted.reads * 4, "{most} {}", wanted.reads);
}

#[test]
fn a_division_stays_within_the_limits_and_every_shard_of_it_fits() {
    let scene = scene(150);
    let generous = Invocation::default();
    let one = divide(&scene.head, &scene.ions, Depicted::All, &generous).unwrap();
    assert_eq!(one.shards, 1, "{one:?}");
    for limits in [
        Invocation {
            requests: 9,
            ..generous
        },
        Invocation {
            cpu_ms: 60,
            ..generous
        },
        Invocation {
            memory: 8 << 20,
            ..generous
        },
    ] {
        let found = divide(&scene.head, &scene.ions, Depicted::All, &limits).unwrap();
        assert!(found.shards > 1, "{limits:?} {found:?}");
        assert!(
            found.requests <= limits.requests && found.cpu_ms <= limits.cpu_ms,
            "{found:?}"
        );
        assert!(found.memory <= limits.memory, "{limits:?} {found:?}");
        let again = divide(&scene.head, &scene.ions, Depicted::All, &limits).unwrap();
        assert_eq!(again, found);
        let description = scene.describe(Depicted::All, found.shards);
        for number in [1, found.shards.div_ceil(2), found.shards] {
            let made = part(
                &scene.store,
                &scene.head,
                &scene.ions,
                &description,
                number,
                limits.memory,
            );
            assert!(made.unwrap() == scene.part(&description, number));
        }
    }
    // Room for the scores of all ions in one shard leaves too little for the job.
    let whole = divide(&scene.head, &scene.ions, Depicted::None, &generous).unwrap();
    let records = Invocation {
        memory: whole.memory - 1,
        ..generous
    };
    let found = divide(&scene.head, &scene.ions, Depicted::None, &records).unwrap();
    assert!(
        found.shards > 1 && found.memory <= records.memory,
        "{found:?}"
    );
    for limits in [
        Invocation {
            requests: 0,
            ..generous
        },
        Invocation {
            cpu_ms: 0,
            ..generous
        },
    ] {
        let found = divide(&scene.head, &scene.ions, Depicted::All, &limits);
        assert!(
            matches!(found, Err(Error::Parameter { .. })),
            "{limits:?} {found:?}"
        );
    }
    let small = Invocation {
        memory: 100_000,
        ..generous
    };
    assert!(matches!(
        divide(&scene.head, &scene.ions, Depicted::All, &small),
        Err(Error::Budget { .. })
    ));
}
