//! Medians in shards: their division, their parts, and what is made of these, against one run.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    dead_code,
    reason = "a test; the shared module serves several files"
)]

mod shard_cases;
mod stack_cases;

use proptest::prelude::*;
use sectile::budget::Budget;
use sectile::error::Error;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::results::stack::part::{HEADER, Identity, Sum, Sums, Writer};
use sectile::results::stack::{Assembly, Description, Piece};
use sectile::stack::plan::{Plan, Rect, Wish};
use sectile::stack::shards::{Limits, MOST, Shards};
use shard_cases::{assembled, described, one_run, parts, sections};
use stack_cases::{Files, files, memory, plain};

const WIDE: Encoding = Encoding {
    bitpix: Bitpix::I32,
    bscale: 0.5,
    bzero: 3.0,
    blank: None,
};

proptest! {
    #[test]
    fn shards_are_all_rows_and_equal_to_within_one(height in 1_u32..5000, count in 1_u32..5000) {
        let count = count.min(height);
        let shards = Shards::new(height, count).unwrap();
        let mut next = 0;
        for shard in 0..count {
            let rows = shards.rows(shard).unwrap();
            prop_assert_eq!(rows.start, next);
            let tall = rows.end - rows.start;
            prop_assert!(tall == height / count || tall == height.div_ceil(count));
            next = rows.end;
        }
        prop_assert_eq!(next, height);
        prop_assert_eq!(shards.rows(count), None);
    }
}

#[test]
fn impossible_divisions_are_refused_and_vast_ones_are_not() {
    for (height, count) in [(10, 0), (10, 11), (0, 1), (u32::MAX, MOST + 1)] {
        let error = Shards::new(height, count).unwrap_err();
        assert!(
            matches!(error, Error::Parameter { name: "shards", .. }),
            "{error}"
        );
    }
    let vast = Shards::new(u32::MAX, MOST).unwrap();
    assert_eq!(vast.rows(MOST - 1).unwrap().end, u32::MAX);
}

/// A part of the image, thinned or not, and budgets small and large.
fn wishes(files: &Files) -> Vec<Wish> {
    let (width, height) = (files.stack.width, files.stack.height);
    let rect = Rect {
        x0: 3,
        y0: 2,
        x1: width - 1,
        y1: height - 3,
    };
    let mut wishes = Vec::new();
    for (rect, step) in [(None, 1), (Some(rect), 1), (Some(rect), 3), (None, 2)] {
        let wish = Wish {
            rect,
            step,
            ..memory(64 << 20)
        };
        let least = Plan::new(&files.stack, &wish).unwrap().minimum_bytes;
        wishes.push(Wish {
            memory: least + 200,
            ..wish.clone()
        });
        wishes.push(wish);
    }
    wishes
}

#[test]
fn parts_of_any_number_of_shards_give_the_bytes_of_one_run() {
    for kinds in [&[plain()][..], &[plain(), WIDE][..]] {
        let files = files(5, 37, 41, kinds);
        for wish in wishes(&files) {
            let height = Plan::new(&files.stack, &wish).unwrap().height();
            let whole = one_run(&files, &wish);
            for count in [1, 2, 7, height] {
                let job = described(&files, &wish, count);
                // Each shard under the other budget.
                let other = Wish {
                    memory: if wish.memory > 32 << 20 {
                        wish.memory - 1
                    } else {
                        32 << 20
                    },
                    in_flight: 3,
                    ..wish.clone()
                };
                let (parts, sums) = parts(&files, &other, &job);
                assert!(
                    assembled(&job, &parts, &sums) == whole,
                    "{count} of {wish:?}"
                );
            }
        }
    }
}

#[test]
fn the_division_does_not_depend_on_the_budget() {
    let files = files(3, 64, 50, &[plain()]);
    let tight = Plan::new(&files.stack, &memory(64 << 20))
        .unwrap()
        .minimum_bytes;
    let shards = Shards::new(50, 6).unwrap();
    for shard in 0..6 {
        let rects = [tight + 64, 64 << 20].map(|bytes| {
            let plan = shards.plan(&files.stack, &memory(bytes), shard).unwrap();
            (plan.rect, plan.height())
        });
        assert_eq!(rects[0], rects[1]);
    }
    assert!(shards.plan(&files.stack, &memory(64 << 20), 6).is_err());
    assert!(
        Shards::new(49, 6)
            .unwrap()
            .plan(&files.stack, &memory(64 << 20), 0)
            .is_err()
    );
}

#[test]
fn as_few_shards_as_keep_within_the_limits() {
    let files = files(12, 200, 300, &[plain()]);
    let least = Plan::new(&files.stack, &memory(64 << 20))
        .unwrap()
        .minimum_bytes;
    let roomy = Limits::default();
    assert_eq!(
        Shards::within(&files.stack, &memory(64 << 20), &roomy)
            .unwrap()
            .count(),
        1
    );
    for (wish, limits) in [
        (
            memory(least + 4000),
            Limits {
                requests: 60,
                ..roomy
            },
        ),
        (memory(64 << 20), Limits { cpu_ms: 5, ..roomy }),
        (
            memory(64 << 20),
            Limits {
                part_bytes: 30_000,
                ..roomy
            },
        ),
        (
            memory(least + 4000),
            Limits {
                requests: 100,
                cpu_ms: 40,
                part_bytes: 100_000,
            },
        ),
    ] {
        let shards = Shards::within(&files.stack, &wish, &limits).unwrap();
        let keeps = |shards: Shards| {
            (0..shards.count()).all(|shard| {
                let cost = shards.cost(&files.stack, &wish, shard).unwrap();
                cost.requests <= limits.requests
                    && cost.cpu_ms <= limits.cpu_ms
                    && cost.part_bytes <= limits.part_bytes
            })
        };
        assert!(
            shards.count() > 1 && keeps(shards),
            "{limits:?}: {shards:?}"
        );
        // Not many more than would do: each of them opens all exposures.
        let fewer = Shards::new(300, shards.count() * 3 / 4).unwrap();
        assert!(!keeps(fewer), "{limits:?}: {shards:?}");
    }
    let none = Limits {
        requests: 23,
        ..roomy
    };
    let error = Shards::within(&files.stack, &memory(64 << 20), &none).unwrap_err();
    assert!(error.to_string().contains("24 requests"), "{error}");
}

#[test]
fn a_part_is_opened_only_as_what_it_is() {
    let files = files(3, 16, 12, &[plain()]);
    let wish = memory(64 << 20);
    let job = described(&files, &wish, 3);
    let identity = job.parts().unwrap().remove(1);
    let bytes = parts(&files, &wish, &job).0.remove(1);
    let size = bytes.len() as u64;
    assert_eq!(size, identity.total());
    let sums = identity.open("p", &bytes[..HEADER], size).unwrap();
    assert_eq!(identity.header(sums), bytes[..HEADER]);
    for at in 0..HEADER {
        for bit in 0..8 {
            let mut damaged = bytes[..HEADER].to_vec();
            damaged[at] ^= 1 << bit;
            let error = identity.open("p", &damaged, size).unwrap_err();
            assert!(
                error.to_string().contains("shard 2/3 again"),
                "byte {at}: {error}"
            );
        }
    }
    for len in 0..HEADER {
        let error = identity.open("p", &bytes[..len], size).unwrap_err();
        assert_eq!(error.at(), Some(len as u64));
    }
    for wrong in [size - 1, size + 1, 0] {
        let error = identity.open("p", &bytes[..HEADER], wrong).unwrap_err();
        assert!(matches!(error, Error::Format { .. }), "{error}");
    }
    // One that was never finished: the header that its layout has.
    let layout = identity.layout();
    let [(0, begun), _] = layout.headers() else {
        panic!("the header lies at 0")
    };
    let error = identity.open("p", begun, size).unwrap_err();
    assert!(error.to_string().contains("never finished"), "{error}");
    let other = |change: &dyn Fn(&mut Identity)| {
        let mut other = identity.clone();
        change(&mut other);
        let error = other.open("p", &bytes[..HEADER], size).unwrap_err();
        assert!(matches!(error, Error::Mismatch { .. }), "{error}");
        error.to_string()
    };
    assert!(other(&|other| other.job[31] ^= 1).contains("another job"));
    assert!(other(&|other| other.shard = 0).contains("another shard"));
    assert!(other(&|other| other.of = 4).contains("another shard"));
    assert!(other(&|other| other.wide = true).contains("another shard"));
}

#[test]
fn a_part_in_memory_takes_its_own_sections_once() {
    let files = files(3, 16, 12, &[plain()]);
    let wish = memory(64 << 20);
    let job = described(&files, &wish, 3);
    let part = |shard: usize| job.parts().unwrap().remove(shard);
    let writer = |shard: usize| {
        let rows = part(shard).rows;
        Writer::new(part(shard), (0, rows.start, 1), &mut Budget::new(1 << 20)).unwrap()
    };
    let mut wrong = writer(1);
    sections(&files, &wish, &job, 2, |section| {
        assert!(
            wrong
                .put(section)
                .unwrap_err()
                .to_string()
                .contains("not of shard 2/3")
        );
    });
    sections(&files, &wish, &job, 0, |section| {
        assert!(wrong.put(section).is_err());
    });
    let error = wrong.finish().unwrap_err();
    assert!(error.to_string().contains("0 pixels"), "{error}");
    let error = Writer::new(part(0), (0, 0, 1), &mut Budget::new(100)).unwrap_err();
    assert!(matches!(error, Error::Budget { .. }));
}

#[test]
fn damage_is_noticed_where_it_is() {
    let files = files(3, 16, 12, &[plain()]);
    let wish = memory(64 << 20);
    let job = described(&files, &wish, 2);
    let (parts, sums) = parts(&files, &wish, &job);
    let assembly = Assembly::new(&job, &sums).unwrap();
    let copies = assembly
        .pieces
        .iter()
        .filter(|piece| matches!(piece, Piece::Copy { .. }));
    let mut seen = 0;
    for piece in copies {
        let Piece::Copy { part, range, .. } = piece else {
            continue;
        };
        let mut bytes = parts[*part as usize][range.start as usize..range.end as usize].to_vec();
        let sum = |bytes: &[u8]| {
            let mut sum = Sum::default();
            // In pieces of any size.
            bytes.chunks(7).for_each(|bytes| sum.update(bytes));
            sum
        };
        piece.check(sum(&bytes), "p").unwrap();
        bytes[5] ^= 16;
        let error = piece.check(sum(&bytes), "p").unwrap_err();
        assert_eq!(error.at(), Some(range.start));
        seen += 1;
    }
    assert_eq!(seen, 4);
    assert!(Assembly::new(&job, &sums[..1]).is_err());
    let total: u64 = assembly.pieces.iter().map(Piece::len).sum();
    assert_eq!(total, assembly.total);
}

#[test]
fn a_description_comes_back_and_nothing_else_is_taken_for_one() {
    let files = files(3, 16, 12, &[plain()]);
    let job = described(&files, &memory(64 << 20), 3);
    let text = job.to_text().unwrap();
    let read = Description::parse("job.json", text.as_bytes()).unwrap();
    assert_eq!(read, job);
    assert_eq!(read.digest().unwrap(), job.digest().unwrap());
    assert_eq!(read.layout(), job.layout());
    for (from, to) in [
        ("\"shards\":3", "\"shards\":0"),
        ("\"shards\":3", "\"shards\":13"),
        ("\"width\":16", "\"width\":17"),
        ("\"height\":12", "\"height\":4294967295"),
        ("\"wide\":false", "\"wide\":true"),
        ("\"step\":1", "\"step\":0"),
        ("\"rect\":[0,", "\"rect\":[99,"),
        ("\"job\":\"median\"", "\"job\":\"annotate\""),
        ("\"sectile\":\"", "\"sectile\":\"9"),
        ("\"head\":\"SIMPLE", "\"head\":\"SIMPL"),
        (
            "NAXIS1  =                   16",
            "NAXIS1  =                   15",
        ),
        ("\"shards\":3", "\"shards\":3,\"more\":1"),
        ("\"inputs\"", "\"outputs\""),
        ("{", "["),
    ] {
        let wrong = text.replacen(from, to, 1);
        assert_ne!(wrong, text, "{from}");
        let error = Description::parse("job.json", wrong.as_bytes()).unwrap_err();
        assert!(
            error.to_string().starts_with("job.json: "),
            "{from}: {error}"
        );
    }
    // Of one mind with itself, and beyond what offsets count.
    let side = u32::MAX;
    let vast = text
        .replace(
            "\"width\":16,\"height\":12",
            &format!("\"width\":{side},\"height\":{side}"),
        )
        .replace("[0,0,16,12]", &format!("[0,0,{side},{side}]"))
        .replace(
            "NAXIS1  =                   16",
            "NAXIS1  =           4294967295",
        )
        .replace(
            "NAXIS2  =                   12",
            "NAXIS2  =           4294967295",
        );
    let error = Description::parse("job.json", vast.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("offsets count"), "{error}");
    for len in 0..text.len() - 1 {
        assert!(Description::parse("job.json", &text.as_bytes()[..len]).is_err());
    }
}

#[test]
fn what_differs_between_two_jobs_is_said() {
    let files = files(3, 16, 12, &[plain()]);
    let job = described(&files, &memory(64 << 20), 3);
    let differs = |change: &dyn Fn(&mut Description)| {
        let mut other = job.clone();
        change(&mut other);
        assert_ne!(other.digest().unwrap(), job.digest().unwrap());
        job.difference(&other).unwrap()
    };
    assert_eq!(job.difference(&job.clone()), None);
    assert_eq!(differs(&|other| other.shards = 4), "number of shards");
    assert_eq!(
        differs(&|other| other.inputs[1].version = Some("2".into())),
        "version of exposure 1"
    );
    assert_eq!(
        differs(&|other| other.inputs[2].name = "x".into()),
        "exposure number 3"
    );
    assert_eq!(
        differs(&|other| drop(other.inputs.pop())),
        "number of exposures"
    );
    assert_eq!(differs(&|other| other.unit = Some("Jy".into())), "headers");
}

/// Sums of nothing, for jobs whose parts are not read.
#[test]
fn zeros_of_a_header_are_never_sums() {
    let files = files(2, 4, 4, &[plain()]);
    let identity = described(&files, &memory(64 << 20), 1)
        .parts()
        .unwrap()
        .remove(0);
    let header = identity.header(Sums {
        values: 0,
        counts: 0,
    });
    identity.open("p", &header, identity.total()).unwrap();
}
