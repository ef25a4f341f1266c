//! Plans and jobs: what is read, how much memory it takes, and that nothing but the pixels decides
//! the result.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a test"
)]

mod stack_cases;

use sectile::budget::parse_size;
use sectile::error::Error;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::job::Job;
use sectile::stack::exposure::{Rules, Stack};
use sectile::stack::job::MedianJob;
use sectile::stack::plan::{BASE, Layout, Plan, Rect, Wish};
use stack_cases::{Feeding, bits, expected, files, image, memory, part_of, plain, run};

const WHOLE: Feeding = Feeding {
    piece: usize::MAX,
    shuffled: false,
};

/// A budget of so many bytes beyond what the program itself takes.
fn tight(files: &stack_cases::Files, wish: &Wish, extra: u64) -> Wish {
    let least = match Plan::new(
        &files.stack,
        &Wish {
            memory: 1,
            ..wish.clone()
        },
    ) {
        Err(Error::Budget { need, .. }) => need,
        other => panic!("{other:?}"),
    };
    Wish {
        memory: least + extra,
        ..wish.clone()
    }
}

#[test]
fn all_in_one_section_when_it_fits() {
    let files = files(5, 40, 30, &[plain()]);
    let out = run(&files, &Wish::default(), WHOLE);
    assert_eq!((out.plan.sections, out.plan.slots), (1, 5));
    assert_eq!((out.requests, out.payload), (5, 5 * 40 * 30 * 4));
    assert_eq!(
        (bits(&out.values), out.count.clone()),
        expected(&files, &out.plan)
    );
    assert_eq!(out.peak, out.plan.peak_bytes);
}

#[test]
fn same_bits_at_any_budget_in_flight_and_order_and_every_byte_once() {
    let files = files(7, 300, 37, &[plain()]);
    let want = {
        let out = run(&files, &Wish::default(), WHOLE);
        assert_eq!(
            (bits(&out.values), out.count.clone()),
            expected(&files, &out.plan)
        );
        bits(&out.values)
    };
    for in_flight in [1, 6, 16] {
        for (extra, piece) in [(0, 1000), (1_000, 1), (20_000, usize::MAX), (100_000, 777)] {
            for shuffled in [false, true] {
                let feeding = Feeding { piece, shuffled };
                let wish = tight(
                    &files,
                    &Wish {
                        in_flight,
                        ..Wish::default()
                    },
                    extra,
                );
                let out = run(&files, &wish, feeding);
                assert_eq!(
                    bits(&out.values),
                    want,
                    "{in_flight} in flight, {extra} more bytes, {feeding:?}"
                );
                assert!(out.peak <= wish.memory && out.peak <= out.plan.peak_bytes);
                assert_eq!(out.requests, out.plan.requests);
                assert_eq!(out.payload, 7 * 300 * 37 * 4);
                assert_eq!(out.plan.payload_bytes, out.payload);
                covers_each_byte_once(&out.read, 7);
            }
        }
    }
}

#[test]
fn slots_grow_no_further_than_is_enough() {
    // A row has 1,200 bytes.
    let six = files(6, 300, 50, &[plain()]);
    for (slot_bytes, rows) in [
        (u64::MAX, 50),
        (60_000, 50),
        (59_999, 25),
        (12_000, 10),
        (8_400, 7),
        (1_199, 1),
        (0, 1),
    ] {
        let wish = Wish {
            slot_bytes,
            ..Wish::default()
        };
        let out = run(&six, &wish, WHOLE);
        assert_eq!(out.plan.rows, rows, "{slot_bytes}");
        assert_eq!(
            (bits(&out.values), out.count.clone()),
            expected(&six, &out.plan)
        );
        assert_eq!(out.payload, 6 * 60_000);
        covers_each_byte_once(&out.read, 6);
        assert!(out.peak <= out.plan.peak_bytes);
    }
    // The least memory is what it was: where only all at once fits, that is done.
    for files in [files(3, 10, 2, &[plain()]), files(2, 600, 3, &[plain()])] {
        let small = Wish {
            slot_bytes: 1,
            ..Wish::default()
        };
        let (small, usual) = (tight(&files, &small, 0), tight(&files, &Wish::default(), 0));
        assert_eq!(small.memory, usual.memory);
        let out = run(&files, &small, WHOLE);
        assert_eq!(
            (bits(&out.values), out.count.clone()),
            expected(&files, &out.plan)
        );
        assert!(out.peak <= small.memory);
    }
}

fn covers_each_byte_once(read: &[(u32, u64, u64)], sources: u32) {
    for source in 0..sources {
        let mut ranges: Vec<_> = read
            .iter()
            .filter(|r| r.0 == source)
            .map(|r| (r.1, r.2))
            .collect();
        ranges.sort_unstable();
        for pair in ranges.windows(2) {
            assert_eq!(
                pair[0].1, pair[1].0,
                "a gap or an overlap in exposure {source}"
            );
        }
    }
}

#[test]
fn every_pixel_type_and_mixtures_of_them() {
    let scaled = |bitpix, bscale, bzero, blank| Encoding {
        bitpix,
        bscale,
        bzero,
        blank,
    };
    let kinds = [
        vec![Encoding::plain(Bitpix::U8)],
        vec![scaled(Bitpix::U8, 1.0, -128.0, None)],
        vec![Encoding::plain(Bitpix::I16)],
        vec![scaled(Bitpix::I16, 1.0, 32768.0, None)],
        vec![scaled(Bitpix::I16, 0.25, 3.0, Some(77))],
        vec![Encoding::plain(Bitpix::I32)],
        vec![scaled(Bitpix::I64, 1.0, 9_223_372_036_854_775_808.0, None)],
        vec![Encoding::plain(Bitpix::F64)],
        vec![plain(), scaled(Bitpix::I16, 1.0, 32768.0, None)],
        vec![
            Encoding::plain(Bitpix::F64),
            Encoding::plain(Bitpix::U8),
            plain(),
        ],
    ];
    for kinds in kinds {
        for count in [1, 2, 5, 8] {
            let files = files(count, 70, 9, &kinds);
            for wish in [Wish::default(), tight(&files, &Wish::default(), 300)] {
                let out = run(&files, &wish, WHOLE);
                let (values, count) = expected(&files, &out.plan);
                assert_eq!(
                    (bits(&out.values), out.count.clone()),
                    (values, count),
                    "{kinds:?}"
                );
            }
        }
    }
}

#[test]
fn a_rectangle_reads_only_itself_where_that_is_cheaper() {
    let files = files(3, 400, 50, &[plain()]);
    let rect = Some(Rect {
        x0: 100,
        y0: 7,
        x1: 117,
        y1: 20,
    });
    let near = Wish {
        rect,
        latency: 0.0,
        ..Wish::default()
    };
    let out = run(&files, &near, WHOLE);
    assert_eq!(out.plan.layout, Layout::Rows);
    assert_eq!((out.requests, out.payload), (3 * 13, 3 * 13 * 17 * 4));
    assert_eq!(
        (bits(&out.values), out.count.clone()),
        expected(&files, &out.plan)
    );

    let far = Wish {
        rect,
        latency: 0.05,
        ..Wish::default()
    };
    let out = run(&files, &far, WHOLE);
    assert_eq!(out.plan.layout, Layout::Span);
    assert_eq!((out.requests, out.payload), (3, 3 * (12 * 400 + 17) * 4));
    assert_eq!(
        (bits(&out.values), out.count.clone()),
        expected(&files, &out.plan)
    );
}

#[test]
fn a_preview_is_every_step_th_pixel_of_the_whole() {
    let files = files(4, 333, 41, &[plain()]);
    for step in [2, 7, 64, 500] {
        for latency in [0.0, 0.05] {
            let part = part_of(step, latency);
            let whole = Wish {
                rect: None,
                ..part.clone()
            };
            for wish in [whole, part] {
                for wish in [tight(&files, &wish, 0), tight(&files, &wish, 3000), wish] {
                    let out = run(&files, &wish, WHOLE);
                    let (values, count) = expected(&files, &out.plan);
                    assert_eq!(
                        (bits(&out.values), out.count.clone()),
                        (values, count),
                        "{wish:?}"
                    );
                    assert!(out.peak <= wish.memory, "{wish:?}");
                    assert_eq!(
                        (out.requests, out.payload),
                        (out.plan.requests, out.plan.payload_bytes)
                    );
                }
            }
        }
    }
}

#[test]
fn a_budget_too_small_is_refused_with_the_smallest_that_works() {
    let files = files(40, 2048, 4, &[plain()]);
    let Err(Error::Budget {
        need, have: 1000, ..
    }) = Plan::new(&files.stack, &memory(1000))
    else {
        panic!("1000 bytes cannot do");
    };
    assert!(Plan::new(&files.stack, &memory(need - 1)).is_err());
    let plan = Plan::new(&files.stack, &memory(need)).unwrap();
    assert_eq!(plan.minimum_bytes, need);
    assert!(
        plan.warnings.iter().any(|w| w.contains("within 10 %")),
        "{:?}",
        plan.warnings
    );
    let out = run(&files, &memory(need), WHOLE);
    assert!(out.peak <= need);
}

#[test]
fn small_requests_are_warned_of_and_the_budget_named_avoids_them() {
    let image = image("big", 2048, 2048, plain(), 2880);
    let stack = Stack::open(vec![image; 40], Rules::default()).unwrap();
    let plan = Plan::new(&stack, &memory(3 << 20)).unwrap();
    let warning = plan
        .warnings
        .iter()
        .find(|w| w.contains("latency"))
        .unwrap();
    let named = warning
        .split("--memory ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    let better = Plan::new(&stack, &memory(parse_size(named).unwrap())).unwrap();
    assert!(better.slot_bytes >= 64 << 10);
    assert!(better.warnings.is_empty(), "{:?}", better.warnings);
}

#[test]
fn pinned_plan_of_forty_exposures() {
    let image = image("big", 2048, 2048, plain(), 2880);
    let stack = Stack::open(vec![image; 40], Rules::default()).unwrap();
    for mebibytes in [8_u64, 16, 64, 256] {
        let plan = Plan::new(&stack, &memory(mebibytes << 20)).unwrap();
        assert!(plan.peak_bytes <= mebibytes << 20);
        assert_eq!(plan.payload_bytes, 40 * 2048 * 2048 * 4, "every byte once");
        assert_eq!(plan.requests, 40 * plan.sections);
        assert_eq!(plan.slots, 45);
    }
    let sections = |mebibytes: u64| {
        Plan::new(&stack, &memory(mebibytes << 20))
            .unwrap()
            .sections
    };
    assert_eq!([sections(16), sections(64), sections(256)], [52, 12, 3]);
}

#[test]
fn eight_hundred_frames_in_128_mebibytes() {
    let image = image("frame", 2048, 2048, plain(), 2880);
    let stack = Stack::open(vec![image; 800], Rules::default()).unwrap();
    let plan = Plan::new(&stack, &memory(128 << 20)).unwrap();
    assert!(plan.rows >= 12, "{}", plan.rows);
    assert!(plan.peak_bytes <= 128 << 20);
}

#[test]
fn absurd_axes_are_refused_before_anything_is_allocated() {
    let image = image(
        "huge",
        2_000_000_000,
        2_000_000_000,
        Encoding::plain(Bitpix::F64),
        2880,
    );
    let stack = Stack::open(vec![image; 3], Rules::default()).unwrap();
    let plan = Plan::new(&stack, &memory(64 << 20)).unwrap();
    assert!(plan.peak_bytes <= 64 << 20);
    assert!(matches!(
        Plan::new(&stack, &memory(BASE)),
        Err(Error::Budget { .. })
    ));
}

#[test]
fn shards_cover_all_sections_in_order() {
    let image = image("big", 2048, 2048, plain(), 2880);
    let stack = Stack::open(vec![image; 40], Rules::default()).unwrap();
    let plan = Plan::new(&stack, &memory(16 << 20)).unwrap();
    let shards: Vec<_> = plan.shards_of(200).collect();
    assert_eq!(plan.shards, 1);
    assert!(
        shards
            .iter()
            .all(|s| (s.end - s.start) * 40 <= 200 && s.end > s.start)
    );
    assert_eq!(shards.first().unwrap().start, 0);
    assert_eq!(shards.last().unwrap().end, plan.sections);
    assert!(shards.windows(2).all(|pair| pair[0].end == pair[1].start));
}

#[test]
fn exposures_that_differ_are_named_with_both_values() {
    let a = image("a.fits", 10, 10, plain(), 2880);
    let b = image("b.fits", 11, 10, plain(), 2880);
    let error = Stack::open(vec![a.clone(), b], Rules::default())
        .unwrap_err()
        .to_string();
    for word in ["b.fits", "11×10", "10×10", "a.fits"] {
        assert!(error.contains(word), "{error}");
    }
    let mut c = image("c.fits", 10, 10, plain(), 2880);
    c.unit = Some("DN/s".to_owned());
    let mut d = a.clone();
    d.unit = Some("MJy/sr".to_owned());
    let error = Stack::open(vec![d.clone(), c.clone()], Rules::default())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("DN/s") && error.contains("MJy/sr"),
        "{error}"
    );
    let rules = Rules {
        ignore_units: true,
        ..Rules::default()
    };
    assert_eq!(
        Stack::open(vec![d, c.clone()], rules)
            .unwrap()
            .warnings
            .len(),
        1
    );
    let stack = Stack::open(vec![a, c], Rules::default()).unwrap();
    assert_eq!(
        (stack.warnings.len(), stack.unit.as_deref()),
        (1, Some("DN/s"))
    );
    assert!(Stack::open(Vec::new(), Rules::default()).is_err());
}

#[test]
fn bytes_that_were_not_asked_for_are_refused() {
    let files = files(2, 16, 4, &[plain()]);
    let plan = Plan::new(&files.stack, &Wish::default()).unwrap();
    let mut job = MedianJob::new(&files.stack, plan).unwrap();
    let fetch = job.next().unwrap();
    let fill = |place: &mut [u8]| place.fill(0);
    assert!(job.feed(9, 0, 0, 4, fill).is_err(), "no such slot");
    assert!(job.feed(fetch.slot, 1, 0, 4, fill).is_err(), "no such read");
    assert!(job.feed(fetch.slot, 0, 8, 4, fill).is_err(), "a gap");
    assert!(job.feed(fetch.slot, 0, 0, 257, fill).is_err(), "too long");
    job.feed(fetch.slot, 0, 0, 100, fill).unwrap();
    let error = job.complete(fetch.slot).unwrap_err();
    assert!(
        matches!(
            error,
            Error::Unexpected {
                asked: 256,
                got: 100,
                ..
            }
        ),
        "{error}"
    );
    job.feed(fetch.slot, 0, 50, 206, fill).unwrap();
    job.complete(fetch.slot).unwrap();
    assert!(
        job.feed(fetch.slot, 0, 0, 4, fill).is_err(),
        "no longer lent"
    );
    assert!(job.ready().unwrap().is_none());
    let fetch = job.next().unwrap();
    let lent = job.lend(&fetch);
    assert!(job.filled(&fetch, lent[1..].to_vec()).is_err());
    job.filled(&fetch, lent).unwrap();
    assert!(job.ready().unwrap().is_some());
    assert!(job.is_done());
}

#[test]
fn an_image_that_does_not_agree_leaves_the_stack_as_it_was() {
    let with = |name: &str, unit: Option<&str>| {
        let mut image = image(name, 10, 10, plain(), 2880);
        image.unit = unit.map(str::to_owned);
        image
    };
    let rules = Rules::default();
    let mut stack = Stack::begin(with("a.fits", None), rules).unwrap();
    assert_eq!(
        stack.add(with("b.fits", Some("DN")), rules).unwrap().len(),
        1
    );
    // The unit is the stack's from here on, though the first image has none.
    let before = stack.clone();
    let error = stack
        .add(with("c.fits", Some("MJy/sr")), rules)
        .unwrap_err();
    assert!(error.to_string().contains("MJy/sr"), "{error}");
    assert_eq!(stack, before);
    stack.add(with("d.fits", Some("DN")), rules).unwrap();
    let again = [
        with("a.fits", None),
        with("b.fits", Some("DN")),
        with("d.fits", Some("DN")),
    ];
    assert_eq!(Stack::open(again.to_vec(), rules).unwrap(), stack);
}
