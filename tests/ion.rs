//! Ion images: every one equals a scan of all peaks, at any budget and in any order of arrival, and reads no more
//! than it must.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::unreadable_literal,
    clippy::float_cmp,
    reason = "a test"
)]
#![allow(dead_code, reason = "other tests use the rest of the cases")]

mod ion_cases;

use ion_cases::{Dice, Feeding, Peak, Sample, WHOLE, bits, head, images, reader};
use sectile::error::Error;
use sectile::ion::image::{Canvas, Peaks, image};
use sectile::ion::images::{Reader, Wish};
use sectile::ion::window::{Tolerance, Window};
use sectile::job::Job;
use sectile::store::head::Real;

const F32: [Real; 2] = [Real::F32, Real::F32];
const MIXED: [Real; 2] = [Real::F64, Real::F32];
const F64: [Real; 2] = [Real::F64, Real::F64];
const CACHE: u64 = 4 << 20;

/// The budget that plan and job need at least.
fn minimum(reader: &Reader, windows: &[Window]) -> u64 {
    let wish = Wish {
        memory: 1,
        ..Wish::default()
    };
    match reader.plan(windows, &wish) {
        Err(Error::Budget { need, have: 1, .. }) => need,
        other => panic!("{other:?}"),
    }
}

/// Windows of every kind: narrow and wide ones, some around the first and last peaks of blocks, on repeated m/z,
/// between peaks, outside of all.
fn windows(sample: &Sample, reader: &Reader) -> Vec<Window> {
    let mut dice = Dice(7);
    let mut windows = Vec::new();
    let mut add = |window: Result<Window, Error>| windows.push(window.unwrap());
    for entry in &reader.head().blocks {
        add(Window::ppm(entry.first, 3.0));
        add(Window::ppm(entry.last, 3.0));
        add(Window::new(entry.first, entry.first));
        add(Window::new(entry.last, entry.last));
        add(Window::dalton(entry.last, 0.3));
    }
    for _ in 0..40 {
        let mz = sample.peaks[dice.below(sample.peaks.len())].mz;
        add(Window::ppm(mz, 0.5 + 100.0 * dice.unit()));
        add(Window::new(mz, mz));
    }
    let (first, last) = (sample.peaks[0].mz, sample.peaks[sample.peaks.len() - 1].mz);
    add(Window::new(-1.0, first.next_down()));
    add(Window::new(last.next_up(), last + 50.0));
    add(Window::new(first, last));
    add(Window::new(-5.0, 1e9));
    add(Window::new(first + 200.0, first + 500.0));
    // Between two neighbours that differ.
    let gap = sample
        .peaks
        .windows(2)
        .find(|two| two[1].mz - two[0].mz > 1e-3);
    if let Some([low, high]) = gap {
        add(Window::new(low.mz.next_up(), high.mz.next_down()));
    }
    windows
}

fn samples() -> Vec<Sample> {
    let mut all = vec![
        Sample::random(1, [9, 7, 1], 600, F32),
        Sample::random(2, [8, 6, 1], 400, MIXED),
        Sample::random(3, [5, 4, 3], 350, F64),
        Sample::random(4, [1, 1, 1], 9000, MIXED),
        Sample::random(5, [1, 40, 1], 5, F32),
    ];
    // A single m/z over more than two blocks: it begins and ends blocks.
    let mut flat = Sample::random(6, [6, 6, 1], 100, MIXED);
    let mut peaks = flat.peaks.clone();
    peaks.extend((0..12_000).map(|at| Peak {
        mz: 500.0,
        intensity: f64::from(at as f32 * 0.1 + 1.0),
        pixel: [0, 7, 35][at as usize % 3],
    }));
    for peak in &mut peaks {
        peak.intensity = Real::F32.nearest(peak.intensity);
    }
    flat = Sample::new([6, 6, 1], flat.acquired, peaks, MIXED);
    all.push(flat);
    all
}

#[test]
fn every_image_equals_a_scan_of_all_peaks() {
    for sample in samples() {
        let file = sample.store();
        let reader = reader(&file, CACHE);
        let windows = windows(&sample, &reader);
        for slice in 0..sample.slices {
            let wish = Wish {
                slice,
                ..Wish::default()
            };
            let run = images(&reader, &file, &windows, &wish, WHOLE).unwrap();
            for (drawn, window) in run.images.iter().zip(&windows) {
                let (values, hits) = sample.scan(*window, slice);
                assert_eq!((&drawn.bits, drawn.hits), (&values, hits), "{window:?}");
                let largest = values.iter().map(|bits| f32::from_bits(*bits));
                assert_eq!(drawn.max, largest.fold(0.0, f32::max));
            }
        }
    }
}

#[test]
fn one_image_is_one_request_for_its_blocks_and_none_without_a_block() {
    let sample = Sample::random(11, [20, 20, 1], 250, MIXED);
    let file = sample.store();
    let head = head(&file);
    assert!(head.blocks.len() > 10);
    for window in windows(&sample, &reader(&file, 0)) {
        // Without a cache every image pays for itself.
        let reader = reader(&file, 0);
        let blocks = head.blocks_of(window.lo, window.hi);
        let bytes: u64 = blocks
            .clone()
            .map(|n| u64::from(head.blocks[n].bytes))
            .sum();
        for _ in 0..2 {
            let run = images(&reader, &file, &[window], &Wish::default(), WHOLE).unwrap();
            assert_eq!(
                (run.requests, run.bytes),
                (u64::from(!blocks.is_empty()), bytes)
            );
            assert_eq!(
                (run.images[0].requests, run.images[0].bytes),
                (run.requests, run.bytes)
            );
        }
    }
}

#[test]
fn isotopes_share_reads_and_the_cache_saves_them() {
    let sample = Sample::random(12, [20, 20, 1], 250, MIXED);
    let file = sample.store();
    let reader = reader(&file, CACHE);
    let isotopes: Vec<Window> = (0..4)
        .map(|k| Window::ppm(500.25 + 1.003_35 * f64::from(k), 3.0).unwrap())
        .collect();
    let wish = Wish::default();
    let plan = reader.plan(&isotopes, &wish).unwrap();
    // A block spans some 35 Da here: all four lie in one or two neighbours.
    assert!(plan.requests == 1 && plan.blocks <= 2, "{plan:?}");
    let run = images(&reader, &file, &isotopes, &wish, WHOLE).unwrap();
    assert_eq!(run.requests, 1);
    let again = images(&reader, &file, &isotopes, &wish, WHOLE).unwrap();
    assert_eq!((again.requests, again.bytes), (0, 0));
    assert!(
        again
            .images
            .iter()
            .all(|image| image.requests == 0 && image.bytes == 0)
    );
    let values = |run: &ion_cases::Run| {
        run.images
            .iter()
            .map(|i| i.bits.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(values(&run), values(&again));
    // Far apart they are four requests, whatever the order they are given in.
    let apart: Vec<Window> = [900.0, 150.0, 650.0, 300.0]
        .map(|mz| Window::ppm(mz, 3.0).unwrap())
        .into();
    let reader = Reader::new(head(&file), CACHE);
    let run = images(&reader, &file, &apart, &wish, WHOLE).unwrap();
    assert_eq!(run.requests, 4);
    assert!(run.reads.is_sorted_by_key(|read| read.start));
    let needed: u64 = apart
        .iter()
        .flat_map(|window| reader.head().blocks_of(window.lo, window.hi))
        .map(|n| u64::from(reader.head().blocks[n].bytes))
        .sum();
    assert_eq!(run.bytes, needed);
}

#[test]
fn what_is_at_hand_in_the_middle_does_not_cut_a_request_in_two() {
    let sample = Sample::random(13, [20, 20, 1], 250, MIXED);
    let file = sample.store();
    let reader = reader(&file, CACHE);
    let blocks = &reader.head().blocks.clone();
    let middle = Window::new(blocks[4].first.next_up(), blocks[4].last.next_down()).unwrap();
    let around = Window::new(blocks[3].first.next_up(), blocks[5].last.next_down()).unwrap();
    let wish = Wish::default();
    assert_eq!(
        images(&reader, &file, &[middle], &wish, WHOLE)
            .unwrap()
            .requests,
        1
    );
    let run = images(&reader, &file, &[around], &wish, WHOLE).unwrap();
    let bytes: u64 = (3..6).map(|n| u64::from(blocks[n].bytes)).sum();
    assert_eq!((run.requests, run.bytes), (1, bytes));
    assert_eq!(run.images[0].bits, sample.scan(around, 0).0);
    // What is at hand at an end is left out.
    let beyond = Window::new(blocks[5].first.next_up(), blocks[6].last.next_down()).unwrap();
    let run = images(&reader, &file, &[beyond], &wish, WHOLE).unwrap();
    assert_eq!((run.requests, run.bytes), (1, u64::from(blocks[6].bytes)));
    assert_eq!(run.images[0].bits, sample.scan(beyond, 0).0);
}

#[test]
fn unwanted_blocks_are_read_only_on_request() {
    let sample = Sample::random(14, [20, 20, 1], 250, MIXED);
    let file = sample.store();
    let blocks = head(&file).blocks.clone();
    let inside =
        |n: usize| Window::new(blocks[n].first.next_up(), blocks[n].last.next_down()).unwrap();
    let windows = [inside(2), inside(4), inside(8)];
    let run = |gap| {
        let wish = Wish {
            gap,
            ..Wish::default()
        };
        let run = images(&reader(&file, 0), &file, &windows, &wish, WHOLE).unwrap();
        for (drawn, window) in run.images.iter().zip(&windows) {
            assert_eq!(drawn.bits, sample.scan(*window, 0).0);
        }
        (run.requests, run.bytes)
    };
    let bytes =
        |n: std::ops::RangeInclusive<usize>| n.map(|n| u64::from(blocks[n].bytes)).sum::<u64>();
    assert_eq!(run(0), (3, bytes(2..=2) + bytes(4..=4) + bytes(8..=8)));
    assert_eq!(
        run(u64::from(blocks[3].bytes)),
        (2, bytes(2..=4) + bytes(8..=8))
    );
    assert_eq!(run(1 << 20), (1, bytes(2..=8)));
}

#[test]
fn same_bits_at_any_budget_and_in_any_order_of_arrival() {
    let sample = Sample::random(15, [20, 20, 1], 300, MIXED);
    let file = sample.store();
    let head = head(&file);
    let windows = windows(&sample, &reader(&file, 0));
    let want: Vec<_> = windows
        .iter()
        .map(|window| sample.scan(*window, 0))
        .collect();
    let least = minimum(&reader(&file, 0), &windows);
    let largest = head
        .blocks
        .iter()
        .map(|entry| u64::from(entry.bytes))
        .max()
        .unwrap();
    let mut streamed = 0;
    for memory in [
        least,
        least + largest,
        least + 3 * largest,
        least + 9 * largest,
        16 << 20,
        64 << 20,
        256 << 20,
    ] {
        for (in_flight, piece, shuffled) in
            [(6, usize::MAX, true), (6, 1000, false), (6, 4096, true)]
        {
            let wish = Wish {
                memory,
                in_flight,
                ..Wish::default()
            };
            let feeding = Feeding { piece, shuffled };
            let reader = reader(&file, 0);
            streamed += reader.plan(&windows, &wish).unwrap().streamed;
            let run = images(&reader, &file, &windows, &wish, feeding).unwrap();
            for (drawn, want) in run.images.iter().zip(&want) {
                assert_eq!((&drawn.bits, drawn.hits), (&want.0, want.1));
            }
            if memory == 256 << 20 {
                let all: u64 = head.blocks.iter().map(|entry| u64::from(entry.bytes)).sum();
                assert_eq!((run.requests, run.bytes), (1, all), "all blocks, once");
            }
        }
        let short = Wish {
            memory: least - 1,
            ..Wish::default()
        };
        match reader(&file, 0).images(&windows, &short) {
            Err(Error::Budget { need, have, .. }) => assert_eq!((need, have), (least, least - 1)),
            other => panic!("{other:?}"),
        }
    }
    assert!(
        streamed > 0,
        "some windows must have been larger than the memory"
    );
}

#[test]
fn every_byte_may_come_alone() {
    let sample = Sample::random(16, [5, 5, 1], 200, F32);
    let file = sample.store();
    let windows = [
        Window::ppm(300.0, 500.0).unwrap(),
        Window::ppm(700.0, 500.0).unwrap(),
    ];
    let feeding = Feeding {
        piece: 1,
        shuffled: true,
    };
    let run = images(
        &reader(&file, 0),
        &file,
        &windows,
        &Wish::default(),
        feeding,
    )
    .unwrap();
    for (drawn, window) in run.images.iter().zip(&windows) {
        assert_eq!(
            (&drawn.bits, drawn.hits),
            (&sample.scan(*window, 0).0, sample.scan(*window, 0).1)
        );
    }
}

#[test]
fn whole_buffers_and_pieces_that_start_over_are_taken() {
    let sample = Sample::random(17, [5, 5, 1], 200, F32);
    let file = sample.store();
    let window = Window::ppm(300.0, 500.0).unwrap();
    let reader = reader(&file, 0);
    let mut job = reader.images(&[window], &Wish::default()).unwrap();
    let fetch = job.next().unwrap();
    let range = fetch.reads[0].range.clone();
    let body = &file[range.start as usize..range.end as usize];
    let mut buffer = job.lend(&fetch);
    assert_eq!(buffer.len(), body.len());
    buffer.copy_from_slice(body);
    assert!(matches!(
        job.filled(&fetch, buffer[1..].to_vec()),
        Err(Error::Unexpected { .. })
    ));
    job.filled(&fetch, buffer).unwrap();
    assert_eq!(
        bits(job.ready().unwrap().unwrap().values),
        sample.scan(window, 0).0
    );
    assert!(job.is_done());

    let mut job = reader.images(&[window], &Wish::default()).unwrap();
    let slot = job.next().unwrap().slot;
    let part =
        |place: &mut [u8], from: usize| place.copy_from_slice(&body[from..from + place.len()]);
    job.feed(slot, 0, 0, 50, |place| part(place, 0)).unwrap();
    job.feed(slot, 0, 20, 30, |place| part(place, 20)).unwrap();
    // A gap, more than there is, another read, another slot, and too little in all.
    for (slot, read, offset, len) in [
        (slot, 0, 51, 1),
        (slot, 0, 50, body.len()),
        (slot, 1, 0, 1),
        (7, 0, 0, 1),
    ] {
        assert!(
            job.feed(slot, read, offset, len, |_| panic!("not wanted"))
                .is_err()
        );
    }
    assert!(matches!(
        job.complete(slot),
        Err(Error::Unexpected { got: 50, .. })
    ));
    assert!(job.ready().unwrap().is_none());
    job.feed(slot, 0, 50, body.len() - 50, |place| part(place, 50))
        .unwrap();
    job.complete(slot).unwrap();
    assert!(job.complete(slot).is_err());
    assert_eq!(
        bits(job.ready().unwrap().unwrap().values),
        sample.scan(window, 0).0
    );
}

#[test]
fn a_damaged_block_is_an_error_that_names_it() {
    let sample = Sample::random(18, [12, 12, 1], 200, MIXED);
    let mut file = sample.store();
    let head = head(&file);
    let entry = head.blocks[3];
    let window = Window::new(entry.first.next_up(), entry.last.next_down()).unwrap();
    file[entry.at as usize + 1234] ^= 4;
    let reader = reader(&file, CACHE);
    for _ in 0..2 {
        match images(&reader, &file, &[window], &Wish::default(), WHOLE) {
            Err(Error::Format { file, at, what }) => {
                assert_eq!((file.as_str(), at), ("sample.sectile", entry.at));
                assert!(what.contains("CRC"), "{what}");
            }
            other => panic!("{other:?}"),
        }
    }
    // Its neighbours are in order, and the canvas that was given back is blank.
    let entry = head.blocks[5];
    let window = Window::new(entry.first.next_up(), entry.last.next_down()).unwrap();
    let run = images(&reader, &file, &[window], &Wish::default(), WHOLE).unwrap();
    assert_eq!(run.images[0].bits, sample.scan(window, 0).0);
}

#[test]
fn slices_are_images_of_their_own() {
    let sample = Sample::random(3, [5, 4, 3], 350, F64);
    let file = sample.store();
    let reader = reader(&file, CACHE);
    let window = Window::new(200.0, 400.0).unwrap();
    let mut seen = Vec::new();
    for slice in [0, 2, 1, 1, 0] {
        let wish = Wish {
            slice,
            ..Wish::default()
        };
        let run = images(&reader, &file, &[window], &wish, WHOLE).unwrap();
        assert_eq!(run.images[0].bits, sample.scan(window, slice).0);
        seen.push(run.images[0].bits.clone());
    }
    assert!(seen[0] != seen[1] && seen[1] != seen[2] && seen[2] == seen[3] && seen[0] == seen[4]);
    let wish = Wish {
        slice: 3,
        ..Wish::default()
    };
    assert!(matches!(
        reader.images(&[window], &wish),
        Err(Error::Parameter { name: "slice", .. })
    ));
    let wish = Wish {
        in_flight: 0,
        ..Wish::default()
    };
    assert!(matches!(
        reader.images(&[window], &wish),
        Err(Error::Parameter { .. })
    ));
}

#[test]
fn jobs_of_one_reader_do_not_disturb_each_other() {
    let sample = Sample::random(19, [12, 12, 1], 200, MIXED);
    let file = sample.store();
    let reader = reader(&file, CACHE);
    let both = [
        Window::ppm(300.0, 300.0).unwrap(),
        Window::ppm(302.0, 9000.0).unwrap(),
    ];
    let mut first = reader.images(&both[..1], &Wish::default()).unwrap();
    let fetch = first.next().unwrap();
    let run = images(&reader, &file, &both[1..], &Wish::default(), WHOLE).unwrap();
    assert_eq!(run.images[0].bits, sample.scan(both[1], 0).0);
    let range = fetch.reads[0].range.clone();
    let mut buffer = first.lend(&fetch);
    buffer.copy_from_slice(&file[range.start as usize..range.end as usize]);
    first.filled(&fetch, buffer).unwrap();
    assert_eq!(
        bits(first.ready().unwrap().unwrap().values),
        sample.scan(both[0], 0).0
    );
}

#[test]
fn a_cache_too_small_for_a_block_holds_none() {
    let sample = Sample::random(20, [12, 12, 1], 200, MIXED);
    let file = sample.store();
    let window = Window::ppm(300.0, 300.0).unwrap();
    let reader = reader(&file, 1000);
    for _ in 0..2 {
        let run = images(&reader, &file, &[window], &Wish::default(), WHOLE).unwrap();
        assert_eq!(
            (run.requests, &run.images[0].bits),
            (1, &sample.scan(window, 0).0)
        );
    }
}

#[test]
fn any_sequence_of_calls_is_answered_whatever_the_cache_has() {
    let sample = Sample::random(22, [20, 20, 1], 300, MIXED);
    let file = sample.store();
    let mut dice = Dice(41);
    for cache in [0, 150_000, 600_000, 8 << 20] {
        let reader = reader(&file, cache);
        let (mut fetched, mut streamed) = (0, 0);
        for _ in 0..60 {
            let windows: Vec<Window> = (0..=dice.below(6))
                .map(|_| {
                    let lo = 90.0 + 900.0 * dice.unit();
                    let width = [0.01, 5.0, 60.0, 400.0][dice.below(4)] * dice.unit();
                    Window::new(lo, lo + width).unwrap()
                })
                .collect();
            let wish = Wish {
                memory: minimum(&reader, &windows) + [0, 60_000, 400_000, 4 << 20][dice.below(4)],
                gap: [0, 100_000][dice.below(2)],
                in_flight: 1 + dice.below(6) as u32,
                ..Wish::default()
            };
            let feeding = Feeding {
                piece: usize::MAX,
                shuffled: true,
            };
            streamed += reader.plan(&windows, &wish).unwrap().streamed;
            let run = images(&reader, &file, &windows, &wish, feeding).unwrap();
            for (drawn, window) in run.images.iter().zip(&windows) {
                let (values, hits) = sample.scan(*window, 0);
                assert_eq!((&drawn.bits, drawn.hits), (&values, hits), "{window:?}");
            }
            fetched += run.bytes;
        }
        assert!(fetched > 0 && streamed > 0);
    }
}

#[test]
fn no_windows_and_no_peaks_are_no_images_and_empty_ones() {
    let empty = Sample::new(
        [3, 2, 1],
        vec![true, true, true, false, true, true],
        Vec::new(),
        F32,
    );
    let file = empty.store();
    let reader = reader(&file, CACHE);
    let job = reader.images(&[], &Wish::default()).unwrap();
    assert!(job.is_done());
    let window = Window::ppm(300.0, 300.0).unwrap();
    let run = images(&reader, &file, &[window, window], &Wish::default(), WHOLE).unwrap();
    assert_eq!(run.requests, 0);
    for image in run.images {
        assert_eq!(image.bits, bits(&[0.0, 0.0, 0.0, f32::NAN, 0.0, 0.0]));
        assert_eq!((image.hits, image.max), (0, 0.0));
    }
}

#[test]
fn windows_are_closed_relative_to_the_asked_mz_and_in_f64() {
    // F01: half width 3 ppm of the m/z that is asked for; the outer two of five peaks stay outside.
    for (mz, peaks) in [
        (
            100.0,
            [99.999_697, 99.999_703, 100.0, 100.000_297, 100.000_303],
        ),
        (
            500.0,
            [499.998_485, 499.998_515, 500.0, 500.001_485, 500.001_515],
        ),
        (
            1500.0,
            [1499.995455, 1499.995545, 1500.0, 1500.004455, 1500.004545],
        ),
    ] {
        let window = Window::ppm(mz, 3.0).unwrap();
        let values = image(&peaks, &[1.0, 2.0, 4.0, 8.0, 16.0], &[0; 5], window, 1).unwrap();
        assert_eq!(values, [14.0]);
    }
    // F37.
    for (theory, ppm, peak, inside) in [
        (1000.0, 5.0, 1000.00499, true),
        (1000.0, 5.0, 1000.00501, false),
        (1000.0, 5.0, 999.99501, true),
        (1000.0, 5.0, 999.99499, false),
        (1500.0, 0.1, 1500.00014, true),
        (1500.0, 0.1, 1500.00016, false),
    ] {
        assert_eq!(
            Window::ppm(theory, ppm).unwrap().contains(peak),
            inside,
            "{peak}"
        );
    }
    // Either border is inside, a float further is not.
    let window = Window::dalton(150.0, 0.5).unwrap();
    assert!(window.contains(149.5) && window.contains(150.5) && !window.contains(f64::NAN));
    assert!(!window.contains(149.5_f64.next_down()) && !window.contains(150.5_f64.next_up()));
    assert_eq!(
        Tolerance::Ppm(3.0).around(500.0).unwrap(),
        Window::ppm(500.0, 3.0).unwrap()
    );
    assert_eq!(Tolerance::Dalton(0.5).around(150.0).unwrap(), window);
    for (mz, tolerance) in [
        (0.0, 1.0),
        (-5.0, 1.0),
        (f64::NAN, 1.0),
        (5.0, 0.0),
        (5.0, f64::INFINITY),
        (5.0, -1.0),
    ] {
        assert!(matches!(
            Window::ppm(mz, tolerance),
            Err(Error::Parameter { .. })
        ));
        assert!(matches!(
            Window::dalton(mz, tolerance),
            Err(Error::Parameter { .. })
        ));
    }
    assert!(
        Window::new(3.0, 2.0).is_err()
            && Window::new(f64::NAN, 2.0).is_err()
            && Window::new(-2.0, -1.0).is_err()
    );
    let open = Window { lo: 5.0, hi: 4.0 };
    assert!(image(&[1.0], &[1.0], &[0], open, 1).is_err());
}

#[test]
fn a_peak_stored_as_f32_is_compared_after_widening() {
    // The nearest f32 of 300.1 lies above it: outside of a window that ends there.
    let mz = f64::from(300.1_f32);
    assert!(mz > 300.1);
    let sample = Sample::new(
        [1, 1, 1],
        vec![true],
        vec![
            Peak {
                mz,
                intensity: 8.0,
                pixel: 0,
            },
            Peak {
                mz: 300.0,
                intensity: 1.0,
                pixel: 0,
            },
        ],
        F32,
    );
    let file = sample.store();
    let reader = reader(&file, 0);
    let windows = [
        Window::new(299.0, 300.1).unwrap(),
        Window::new(300.0, mz).unwrap(),
    ];
    let run = images(&reader, &file, &windows, &Wish::default(), WHOLE).unwrap();
    assert_eq!(run.images[0].bits, bits(&[1.0]));
    assert_eq!(run.images[1].bits, bits(&[9.0]));
}

#[test]
fn no_peak_in_the_window_is_no_peak_and_not_the_nearest() {
    // F02: one spectrum of two peaks, one of none.
    let peaks = vec![
        Peak {
            mz: 150.0,
            intensity: 5.0,
            pixel: 0,
        },
        Peak {
            mz: 151.0,
            intensity: 6.0,
            pixel: 0,
        },
    ];
    let sample = Sample::new([2, 1, 1], vec![true, true], peaks, MIXED);
    let file = sample.store();
    let reader = reader(&file, CACHE);
    let windows = [70.0, 2000.0, 150.0, 150.5].map(|mz| Window::ppm(mz, 3.0).unwrap());
    let run = images(&reader, &file, &windows, &Wish::default(), WHOLE).unwrap();
    let got: Vec<_> = run.images.iter().map(|image| image.bits.clone()).collect();
    let none = bits(&[0.0, 0.0]);
    assert_eq!(got, [none.clone(), none.clone(), bits(&[5.0, 0.0]), none]);
    // The window between two peaks of one block reads it; those outside of all peaks read nothing.
    let cost: Vec<_> = run.images.iter().map(|image| image.requests).collect();
    assert_eq!(cost, [0, 0, 1, 1]);
}

#[test]
fn peaks_in_memory_are_drawn_as_stored_ones() {
    let sample = Sample::random(21, [9, 7, 1], 100, MIXED);
    let mz: Vec<f64> = sample.peaks.iter().map(|peak| peak.mz).collect();
    let intensity: Vec<f32> = sample
        .peaks
        .iter()
        .map(|peak| peak.intensity as f32)
        .collect();
    let pixel: Vec<u32> = sample.peaks.iter().map(|peak| peak.pixel).collect();
    let peaks = Peaks::new(&mz, &intensity, &pixel).unwrap();
    let mut canvas = Canvas::new(63, &mut sectile::budget::Budget::new(1 << 20)).unwrap();
    canvas.lay(0, |pixel| sample.acquired[pixel as usize]);
    for window in windows(&sample, &reader(&sample.store(), 0)) {
        let (want, hits) = sample.scan(window, 0);
        assert_eq!(peaks.draw(window, &mut canvas).unwrap().hits, hits);
        assert_eq!(bits(canvas.values()), want);
        let plain = image(&mz, &intensity, &pixel, window, 63).unwrap();
        let acquired = plain
            .iter()
            .zip(&sample.acquired)
            .filter(|(_, acquired)| **acquired);
        let known = canvas.values().iter().filter(|value| !value.is_nan());
        assert!(acquired.map(|(value, _)| value).eq(known));
    }
    assert!(matches!(
        Peaks::new(&mz[1..], &intensity, &pixel),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        Peaks::new(&[2.0, 1.0], &[1.0; 2], &[0; 2]),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        Peaks::new(&[f64::NAN], &[1.0], &[0]),
        Err(Error::Parameter { .. })
    ));
    let all = Window::new(0.0, 10.0).unwrap();
    assert!(matches!(
        image(&[1.0], &[1.0], &[3], all, 3),
        Err(Error::Parameter { .. })
    ));
    // A peak where nothing was acquired is a contradiction, and leaves no trace.
    canvas.lay(0, |pixel| pixel != 1);
    let stray = Peaks::new(&[1.0, 2.0], &[1.0; 2], &[0, 1]).unwrap();
    assert!(stray.draw(all, &mut canvas).is_err());
    canvas.clear();
    assert!(
        canvas
            .values()
            .iter()
            .enumerate()
            .all(|(at, value)| value.is_nan() == (at == 1))
    );
    // Sums are f64: in f32 the small ones would vanish.
    let many = vec![1.0_f32; 1000];
    let mut large = vec![16_777_216.0_f32];
    large.extend(&many);
    let sum = image(&vec![5.0; 1001], &large, &vec![0; 1001], all, 1).unwrap();
    assert_eq!(sum, [16_778_216.0]);
}
