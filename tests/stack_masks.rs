//! Masks of stacks: what they leave out is as if it were NaN, and it costs one more read.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "a test"
)]

#[path = "stack_cases/masked.rs"]
mod masked;
mod stack_cases;

use masked::{flags, mask};
use proptest::prelude::*;
use sectile::error::Error;
use sectile::fits::Image;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::exposure::{Rules, Stack};
use sectile::stack::mask::{Mask, Meaning};
use sectile::stack::plan::{Layout, Plan, Rect, Wish};
use stack_cases::{
    Feeding, Files, Outcome, bits, expected, files, image, memory, part_of, plain, run,
};

const WHOLE: Feeding = Feeding {
    piece: usize::MAX,
    shuffled: false,
};

/// The smallest budget that works, and so many bytes.
fn tight(files: &Files, wish: &Wish, extra: u64) -> Wish {
    let nothing = Wish {
        memory: 1,
        ..wish.clone()
    };
    match Plan::new(&files.stack, &nothing) {
        Err(Error::Budget { need, .. }) => Wish {
            memory: need + extra,
            ..wish.clone()
        },
        other => panic!("{other:?}"),
    }
}

fn check(files: &Files, out: &Outcome, what: &str) {
    let got = (bits(&out.values), out.count.clone());
    assert_eq!(got, expected(files, &out.plan), "{what}");
    assert!(out.peak <= out.plan.peak_bytes && out.plan.peak_bytes <= out.plan.memory);
    assert_eq!(
        (out.requests, out.payload),
        (out.plan.requests, out.plan.payload_bytes),
        "{what}"
    );
}

#[test]
fn every_kind_of_mask_and_meaning() {
    let integers = [Bitpix::U8, Bitpix::I16, Bitpix::I32, Bitpix::I64];
    let meanings = [
        Meaning::Bits(1),
        Meaning::Bits(0x41),
        Meaning::Bits(0x8000_0000_8080),
        Meaning::Any,
        Meaning::Zero,
    ];
    for meaning in meanings {
        for bitpix in integers {
            for turned in [false, true] {
                let kind = flags(bitpix, turned);
                // 70 pixels a row: whole strips and a rest.
                let files = mask(files(5, 70, 9, &[plain()]), &[Some(kind)], meaning);
                let out = run(&files, &Wish::default(), WHOLE);
                check(&files, &out, &format!("{kind:?} {meaning:?}"));
                assert!(
                    out.count.iter().any(|count| *count < 4),
                    "nothing is left out"
                );
            }
        }
    }
    for bitpix in [Bitpix::F32, Bitpix::F64] {
        let kind = Encoding::plain(bitpix);
        let files = mask(files(5, 70, 9, &[plain()]), &[Some(kind)], Meaning::Zero);
        let out = run(&files, &memory(8 << 20), WHOLE);
        check(&files, &out, &format!("{kind:?}"));
    }
}

#[test]
fn every_kind_of_pixel_under_a_mask_and_stacks_of_any_size() {
    let scaled = |bitpix, bscale, bzero, blank| Encoding {
        bitpix,
        bscale,
        bzero,
        blank,
    };
    let kinds = [
        plain(),
        Encoding::plain(Bitpix::U8),
        scaled(Bitpix::I16, 1.0, 32768.0, None),
        scaled(Bitpix::I16, 0.25, 3.0, Some(77)),
        Encoding::plain(Bitpix::I32),
        scaled(Bitpix::I64, 1.0, 9_223_372_036_854_775_808.0, None),
        Encoding::plain(Bitpix::F64),
    ];
    let dq = [
        Some(flags(Bitpix::I32, true)),
        None,
        Some(flags(Bitpix::U8, false)),
    ];
    for kind in kinds {
        // A network, larger networks, and the search.
        for count in [1, 2, 5, 12, 40, 70] {
            let files = mask(files(count, 70, 5, &[kind, plain()]), &dq, Meaning::Bits(1));
            let out = run(&files, &Wish::default(), WHOLE);
            check(&files, &out, &format!("{count} of {kind:?}"));
        }
    }
}

#[test]
fn same_bits_at_any_budget_in_flight_and_order_and_every_byte_once() {
    let kinds = [
        Some(flags(Bitpix::I16, true)),
        None,
        Some(flags(Bitpix::I32, true)),
    ];
    let files = mask(files(7, 300, 37, &[plain()]), &kinds, Meaning::default());
    let want = expected(&files, &run(&files, &Wish::default(), WHOLE).plan);
    let payload = 300 * 37 * (7 * 4 + 3 * 2 + 2 * 4);
    for in_flight in [1, 6, 16] {
        for (extra, piece) in [(0, 1000), (1_000, 1), (20_000, usize::MAX), (100_000, 777)] {
            for shuffled in [false, true] {
                let wish = Wish {
                    in_flight,
                    ..Wish::default()
                };
                let out = run(
                    &files,
                    &tight(&files, &wish, extra),
                    Feeding { piece, shuffled },
                );
                let what = format!("{in_flight} in flight, {extra} more bytes, {piece}");
                check(&files, &out, &what);
                assert_eq!((bits(&out.values), out.count), want, "{what}");
                assert_eq!(out.payload, payload, "{what}");
                assert_eq!(out.requests, out.plan.sections * 12, "{what}");
            }
        }
    }
}

#[test]
fn rectangles_and_previews_read_their_part_of_the_mask_only() {
    let kinds = [
        Some(flags(Bitpix::I32, true)),
        Some(flags(Bitpix::U8, false)),
    ];
    let files = mask(files(4, 333, 41, &[plain()]), &kinds, Meaning::Any);
    let rect = Rect {
        x0: 100,
        y0: 7,
        x1: 117,
        y1: 20,
    };
    for (step, latency) in [(1, 0.0), (1, 0.05), (3, 0.0), (3, 0.05), (64, 0.0)] {
        let wish = Wish {
            rect: Some(rect),
            ..part_of(step, latency)
        };
        for wish in [tight(&files, &wish, 0), tight(&files, &wish, 3000), wish] {
            check(&files, &run(&files, &wish, WHOLE), &format!("{wish:?}"));
        }
    }
    let near = Wish {
        rect: Some(rect),
        latency: 0.0,
        ..Wish::default()
    };
    let out = run(&files, &near, WHOLE);
    assert_eq!(out.plan.layout, Layout::Rows);
    assert_eq!(out.requests, 13 * (4 + 4));
    assert_eq!(out.payload, 13 * 17 * (4 * 4 + 2 * 4 + 2));
}

#[test]
fn a_stack_without_masks_is_planned_as_ever() {
    let bare = files(4, 50, 20, &[plain()]);
    let masked = mask(files(4, 50, 20, &[plain()]), &[None], Meaning::Any);
    let plan = |files: &Files| Plan::new(&files.stack, &Wish::default()).unwrap();
    assert_eq!(plan(&bare), plan(&masked));
    let one = mask(
        files(4, 50, 20, &[plain()]),
        &[Some(flags(Bitpix::I16, true)), None, None, None],
        Meaning::Any,
    );
    let one = plan(&one);
    assert_eq!((one.masks, one.requests), (1, 5));
    assert_eq!(one.payload_bytes, plan(&bare).payload_bytes + 2000);
    assert_eq!(one.slot_bytes, 50 * 20 * 6);
}

#[test]
fn shards_count_the_reads_of_masks() {
    let files = mask(
        files(10, 256, 64, &[plain()]),
        &[Some(flags(Bitpix::I32, true))],
        Meaning::Any,
    );
    let plan = Plan::new(&files.stack, &tight(&files, &Wish::default(), 0)).unwrap();
    for shard in plan.shards_of(60) {
        assert!((shard.end - shard.start) * 20 <= 60);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_mixture(
        count in 1_usize..20,
        (width, height) in (1_u32..150, 1_u32..12),
        kinds in prop::collection::vec(prop::option::of((0..6_usize, any::<bool>())), 1..4),
        meaning in prop_oneof![any::<u64>().prop_map(Meaning::Bits), Just(Meaning::Any), Just(Meaning::Zero)],
        extra in 0_u64..5000,
        step in 1_u32..4,
        piece in 1_usize..200,
    ) {
        let all = [Bitpix::U8, Bitpix::I16, Bitpix::I32, Bitpix::I64, Bitpix::F32, Bitpix::F64];
        // Weights have one meaning, and a bit must be one that the narrowest mask can have.
        let (meaning, kinds_of) = match meaning {
            Meaning::Zero => (meaning, 6),
            Meaning::Bits(bits) => (Meaning::Bits(bits | 4), 4),
            Meaning::Any => (meaning, 4),
        };
        let kinds: Vec<_> = kinds.into_iter().map(|kind| kind.map(|(kind, turned)| {
            let bitpix = all[kind % kinds_of];
            flags(bitpix, turned && !matches!(bitpix, Bitpix::F32 | Bitpix::F64))
        })).collect();
        let files = mask(files(count, width, height, &[plain(), Encoding::plain(Bitpix::I16)]), &kinds, meaning);
        let wish = Wish { step, ..Wish::default() };
        let wish = tight(&files, &wish, extra);
        let out = run(&files, &wish, Feeding { piece, shuffled: true });
        check(&files, &out, "any mixture");
    }
}

/// An image whose mask is of this kind and shape.
fn with_mask(kind: Encoding, width: u32, height: u32, planes: u64) -> Image {
    let mut of_mask = image("c.fits", width, height, kind, 5760);
    (of_mask.hdu, of_mask.name, of_mask.planes) = (3, Some("DQ".to_owned()), planes);
    let mut of_exposure = image("c.fits", 10, 8, plain(), 2880);
    of_exposure.mask = Some(Box::new(of_mask));
    of_exposure
}

#[test]
fn masks_that_cannot_be_are_refused_with_file_and_hdu() {
    let dq = flags(Bitpix::I16, true);
    let scaled = Encoding { bscale: 2.0, ..dq };
    let shifted = Encoding { bzero: 1.0, ..dq };
    let float = Encoding::plain(Bitpix::F32);
    let scaled_weight = Encoding {
        bscale: 2.0,
        ..float
    };
    let cases = [
        (with_mask(dq, 10, 9, 1), Meaning::Any, "mismatch", "10×9"),
        (
            with_mask(dq, 10, 8, 3),
            Meaning::Any,
            "mismatch",
            "3 planes",
        ),
        (
            with_mask(float, 10, 8, 1),
            Meaning::Any,
            "unsupported",
            "BITPIX = -32",
        ),
        (
            with_mask(float, 10, 8, 1),
            Meaning::Bits(1),
            "unsupported",
            "whole numbers",
        ),
        (
            with_mask(scaled, 10, 8, 1),
            Meaning::Any,
            "unsupported",
            "BSCALE = 2.0",
        ),
        (
            with_mask(shifted, 10, 8, 1),
            Meaning::Any,
            "unsupported",
            "BZERO = 1.0",
        ),
        (
            with_mask(scaled_weight, 10, 8, 1),
            Meaning::Zero,
            "unsupported",
            "scaled",
        ),
        (
            with_mask(dq, 10, 8, 1),
            Meaning::Bits(1 << 16),
            "parameter",
            "16 bits a pixel",
        ),
    ];
    for (wrong, mask, code, says) in cases {
        let rules = Rules {
            mask,
            ..Rules::default()
        };
        let good = image("a.fits", 10, 8, plain(), 2880);
        let error = Stack::open(vec![good.clone(), good, wrong.clone()], rules).unwrap_err();
        assert_eq!(error.code(), code, "{error}");
        for word in [says, "c.fits", "HDU 3 (DQ,1)"] {
            assert!(error.to_string().contains(word), "{error}");
        }
        assert_eq!(Stack::begin(wrong, rules).unwrap_err(), error);
    }
}

#[test]
fn a_mask_that_is_refused_leaves_the_stack_as_it_was() {
    let rules = Rules::default();
    let mut stack = Stack::begin(image("a.fits", 10, 8, plain(), 2880), rules).unwrap();
    let before = stack.clone();
    let wrong = with_mask(flags(Bitpix::I16, true), 9, 8, 1);
    assert!(stack.add(wrong, rules).is_err());
    assert_eq!(stack, before);
    stack
        .add(with_mask(flags(Bitpix::I16, true), 10, 8, 1), rules)
        .unwrap();
    assert_eq!((stack.masks(), stack.pixel_bytes()), (1, 6));
}

#[test]
fn a_blank_of_a_mask_is_a_flag_like_any_other() {
    let blank = Encoding {
        blank: Some(4),
        ..flags(Bitpix::I16, true)
    };
    let with = Mask::of(&with_mask(blank, 10, 8, 1), Meaning::Any).unwrap();
    let without = Mask::of(&with_mask(flags(Bitpix::I16, true), 10, 8, 1), Meaning::Any).unwrap();
    assert_eq!(with, without);
}

#[test]
fn meanings_are_read_and_shown() {
    let good = [
        ("1", Meaning::Bits(1)),
        (" 0x11 ", Meaning::Bits(17)),
        ("1+16 + 4", Meaning::Bits(21)),
        ("1+1", Meaning::Bits(1)),
        ("18446744073709551615", Meaning::Bits(u64::MAX)),
        ("0XFF", Meaning::Bits(255)),
        ("Any", Meaning::Any),
        ("zero", Meaning::Zero),
    ];
    for (text, meaning) in good {
        assert_eq!(text.parse::<Meaning>(), Ok(meaning), "{text:?}");
        assert_eq!(meaning.to_string().parse::<Meaning>(), Ok(meaning));
    }
    for text in [
        "",
        "0",
        "0x",
        "-1",
        "+1",
        "1+",
        "1++2",
        "0x+1",
        "1.0",
        "all",
        "18446744073709551616",
        "~1",
    ] {
        let error = text.parse::<Meaning>().unwrap_err();
        assert!(
            error.to_string().contains("--mask-bits"),
            "{text:?}: {error}"
        );
    }
    assert_eq!(Meaning::default(), Meaning::Bits(1));
    for (json, meaning) in [
        ("17", Some(Meaning::Bits(17))),
        ("\"0x11\"", Some(Meaning::Bits(17))),
        ("\"any\"", Some(Meaning::Any)),
        ("\"zero\"", Some(Meaning::Zero)),
        ("0", None),
        ("-1", None),
        ("1.5", None),
        ("\"\"", None),
        ("null", None),
        ("[1]", None),
    ] {
        let read = serde_json::from_str::<Meaning>(json);
        assert_eq!(read.ok(), meaning, "{json}");
        if let Some(meaning) = meaning {
            let written = serde_json::to_string(&meaning).unwrap();
            assert_eq!(serde_json::from_str::<Meaning>(&written).unwrap(), meaning);
        }
    }
}
