//! Plans and jobs in a browser's dedicated worker: the same stacks as natively, the same bits.
#![cfg(target_arch = "wasm32")]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    missing_docs,
    reason = "a test"
)]

#[path = "stack_cases/masked.rs"]
mod masked;
#[path = "stack_cases/scatter.rs"]
mod scatter;
mod stack_cases;

use masked::{flags, mask};
use scatter::naive_rms;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::stack::mask::Meaning;
use sectile::stack::plan::Wish;
use sectile::stack::rms::Rms;
use stack_cases::{
    Feeding, bits, expected, expected_of, files, memory, part_of, plain, run, run_of,
};
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_dedicated_worker);

#[wasm_bindgen_test]
fn same_bits_at_any_budget_and_order() {
    let files = files(7, 3000, 37, &[plain()]);
    for mebibytes in [4, 16, 64] {
        for (piece, shuffled) in [(usize::MAX, false), (1000, true), (1, true)] {
            let wish = memory(mebibytes << 20);
            let out = run(&files, &wish, Feeding { piece, shuffled });
            assert_eq!(
                (bits(&out.values), out.count.clone()),
                expected(&files, &out.plan)
            );
            assert!(out.peak <= wish.memory);
            assert_eq!(out.payload, 7 * 3000 * 37 * 4);
            assert_eq!(out.requests, out.plan.requests);
            assert!(
                out.read
                    .iter()
                    .all(|(source, start, end)| *source < 7 && start < end)
            );
        }
    }
}

#[wasm_bindgen_test]
fn every_pixel_type() {
    let scaled = |bitpix, bscale, bzero, blank| Encoding {
        bitpix,
        bscale,
        bzero,
        blank,
    };
    for kind in [
        scaled(Bitpix::U8, 1.0, -128.0, None),
        scaled(Bitpix::I16, 1.0, 32768.0, None),
        scaled(Bitpix::I16, 0.25, 3.0, Some(77)),
        Encoding::plain(Bitpix::I32),
        scaled(Bitpix::I64, 1.0, 9_223_372_036_854_775_808.0, None),
        Encoding::plain(Bitpix::F64),
    ] {
        let files = files(5, 70, 9, &[kind, plain()]);
        let out = run(
            &files,
            &Wish::default(),
            Feeding {
                piece: 13,
                shuffled: true,
            },
        );
        assert_eq!(
            (bits(&out.values), out.count.clone()),
            expected(&files, &out.plan),
            "{kind:?}"
        );
    }
}

#[wasm_bindgen_test]
fn the_scatter_too() {
    let scaled = Encoding {
        bscale: 0.1,
        bzero: 3.0,
        blank: Some(77),
        ..Encoding::plain(Bitpix::I16)
    };
    for kind in [plain(), scaled, Encoding::plain(Bitpix::F64)] {
        let files = files(9, 701, 37, &[kind, plain()]);
        for (mebibytes, piece) in [(4, 1000), (64, usize::MAX)] {
            let feeding = Feeding {
                piece,
                shuffled: true,
            };
            let out = run_of::<Rms>(&files, &memory(mebibytes << 20), feeding);
            let wanted = expected_of(&files, &out.plan, naive_rms);
            assert_eq!((bits(&out.values), out.count), wanted, "{kind:?}");
        }
    }
}

#[wasm_bindgen_test]
fn rectangles_and_previews() {
    let files = files(4, 333, 41, &[plain()]);
    for (step, latency) in [(1, 0.0), (1, 0.05), (7, 0.0), (64, 0.05)] {
        let wish = part_of(step, latency);
        let out = run(
            &files,
            &wish,
            Feeding {
                piece: usize::MAX,
                shuffled: true,
            },
        );
        assert_eq!(
            (bits(&out.values), out.count.clone()),
            expected(&files, &out.plan),
            "{wish:?}"
        );
    }
}

#[wasm_bindgen_test]
fn every_kind_of_mask() {
    let integers = [Bitpix::U8, Bitpix::I16, Bitpix::I32, Bitpix::I64];
    for meaning in [Meaning::Bits(0x41), Meaning::Any, Meaning::Zero] {
        for bitpix in integers {
            for turned in [false, true] {
                let kinds = [Some(flags(bitpix, turned)), None];
                let pixels = [plain(), Encoding::plain(Bitpix::I16)];
                let files = mask(files(7, 150, 9, &pixels), &kinds, meaning);
                let feeding = Feeding {
                    piece: 13,
                    shuffled: true,
                };
                let out = run(&files, &memory(4 << 20), feeding);
                assert_eq!(
                    (bits(&out.values), out.count.clone()),
                    expected(&files, &out.plan),
                    "{bitpix:?} {turned} {meaning:?}"
                );
            }
        }
    }
    for bitpix in [Bitpix::F32, Bitpix::F64] {
        let kinds = [Some(Encoding::plain(bitpix))];
        let files = mask(files(70, 150, 3, &[plain()]), &kinds, Meaning::Zero);
        let feeding = Feeding {
            piece: usize::MAX,
            shuffled: false,
        };
        let out = run(&files, &memory(4 << 20), feeding);
        let got = (bits(&out.values), out.count.clone());
        assert_eq!(got, expected(&files, &out.plan), "{bitpix:?}");
    }
}
