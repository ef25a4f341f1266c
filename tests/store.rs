//! The segment store: what is written is read again, whatever the window; damage is noticed.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::float_cmp,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a test says what failed by failing, compares bits, and its numbers are small"
)]

mod store_cases;

use std::path::Path;
use std::process::Command;

use proptest::prelude::*;
use sectile::budget::Budget;
use sectile::error::Error;
use sectile::store::block::Block;
use sectile::store::cache::Blocks;
use sectile::store::head::{Contents, Head, Layout, Real};
use sectile::store::write::{Peaks, Writer};
use sectile::store::{BinTable, PixelTable};
use store_cases::{Case, Peak, block_bytes, feed, open, window};

type Bits = Vec<(u64, u64, u32)>;

/// Bits of the peaks: −0 and 0 differ.
fn bits(peaks: &[Peak]) -> Bits {
    peaks
        .iter()
        .map(|peak| (peak.0.to_bits(), peak.1.to_bits(), peak.2))
        .collect()
}

fn reals() -> impl Strategy<Value = Real> {
    prop_oneof![Just(Real::F32), Just(Real::F64)]
}

/// m/z with many ties, some extremes.
fn mz() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (0_u32..40).prop_map(|n| 500.0 + f64::from(n) / 64.0),
        8 => 100.0..1000.0,
        1 => Just(0.0),
        1 => Just(f64::from(f32::from_bits(1))),
        1 => Just(f64::from(f32::MAX)),
        1 => 1e-3..1e9,
    ]
}

fn intensity() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => (-3.0..12.0).prop_map(f64::exp),
        4 => (1_u32..5000).prop_map(f64::from),
        2 => -1e3..1e3,
        1 => Just(f64::from(f32::from_bits(1))),
        1 => Just(f64::from(-f32::MAX)),
        1 => Just(f64::from(f32::MAX)),
        1 => Just(-0.0),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let len = prop_oneof![0_usize..5, 126_usize..130, 250_usize..520];
    let peaks =
        len.prop_flat_map(|len| prop::collection::vec((mz(), intensity(), 0_u32..700), len..=len));
    (reals(), reals(), peaks).prop_map(|(mz, intensity, peaks)| Case::new(mz, intensity, peaks))
}

/// Peaks that fill more than one block: 5 lines, and m/z that repeat across every border.
fn long(mz: Real) -> Case {
    let peaks = (0..20_000_u32).map(|n| {
        let line = 200.0 + f64::from(n % 5) * 100.0;
        let value = if n % 7 == 0 {
            line
        } else {
            line + f64::from(n) * 1e-3
        };
        (value, f64::from(n % 1000) * 1.5 + 1.0, n % 2500)
    });
    let mut case = Case::new(mz, Real::F32, peaks.collect());
    (case.width, case.height) = (50, 50);
    case
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_is_read_again(case in cases(), batch in 1_usize..300) {
        let file = case.file(batch);
        let (head, reads) = open(&file, usize::MAX, true).unwrap();
        prop_assert_eq!(reads, 1);
        prop_assert_eq!(head.layout, case.layout());
        prop_assert_eq!(&head.meta, &case.meta);
        prop_assert_eq!(&head.mask, &case.mask());
        let all = window(&file, &head, 0.0, f64::INFINITY).unwrap();
        prop_assert_eq!(bits(&all), bits(&case.peaks));
    }

    #[test]
    fn the_file_does_not_depend_on_the_batches(case in cases(), batch in 1_usize..300) {
        prop_assert!(case.file(batch) == case.file(usize::MAX));
    }

    #[test]
    fn a_window_holds_what_a_filter_keeps(case in cases(), a in mz(), b in mz()) {
        let file = case.file(1000);
        let (head, _) = open(&file, usize::MAX, true).unwrap();
        for (lo, hi) in [(a, b), (a, a), (a, a.next_up()), (a.next_down(), a), (a.next_up(), b.next_down())] {
            let kept: Vec<Peak> =
                case.peaks.iter().copied().filter(|peak| lo <= peak.0 && peak.0 <= hi).collect();
            let found = window(&file, &head, lo, hi).unwrap();
            prop_assert_eq!(bits(&found), bits(&kept), "window {} to {}", lo, hi);
        }
    }

    #[test]
    fn a_part_of_a_block_is_that_part_of_it(case in cases(), from in 0_usize..520, len in 0_usize..520) {
        let file = case.file(1000);
        let (head, _) = open(&file, usize::MAX, true).unwrap();
        if case.peaks.is_empty() {
            return Ok(());
        }
        let block = Block::open(&head, 0, block_bytes(&file, &head, 0)).unwrap();
        let range = from.min(block.len())..(from + len).min(block.len());
        let mut seen = Vec::new();
        block.visit(range.clone(), |pixel, intensity| seen.push((0.0, intensity, pixel))).unwrap();
        let mut mz = vec![0.0; range.len()];
        block.decode_mz(range.clone(), &mut mz).unwrap();
        seen.iter_mut().zip(mz).for_each(|(peak, mz)| peak.0 = mz);
        prop_assert_eq!(bits(&seen), bits(&case.peaks[range]));
    }

    #[test]
    fn damage_is_an_error_or_changes_nothing(case in cases(), at in 0.0..1.0, change in 1_u8..=255) {
        let file = case.file(1000);
        let sound = read(&file).unwrap();
        let mut damaged = file.clone();
        let at = (at * file.len() as f64) as usize;
        damaged[at] ^= change;
        match read(&damaged) {
            Ok(same) => prop_assert!(same == sound, "byte {} made other peaks", at),
            Err(error) => prop_assert!(error.to_string().contains("case.sectile"), "{}", error),
        }
    }

    #[test]
    fn an_order_is_that_of_the_values(a in intensity(), b in intensity(), real in reals()) {
        let (a, b) = (real.nearest(a), real.nearest(b));
        prop_assert_eq!(real.order(a).cmp(&real.order(b)), a.total_cmp(&b));
        prop_assert_eq!(real.intensity(real.order(a)).to_bits(), a.to_bits());
    }
}

/// Everything in a file that a program can see.
fn read(file: &[u8]) -> sectile::error::Result<(Head, Bits)> {
    let (head, _) = open(file, usize::MAX, true)?;
    let peaks = window(file, &head, 0.0, f64::INFINITY)?;
    Ok((head, bits(&peaks)))
}

#[test]
fn every_byte_of_a_small_store_is_guarded() {
    let peaks = (0..150).map(|n| {
        (
            500.0 + f64::from(n / 3) * 1e-3,
            f64::from(n + 1).sqrt(),
            n % 9,
        )
    });
    let file = Case::new(Real::F64, Real::F32, peaks.collect()).file(10);
    let sound = read(&file).unwrap();
    let mut unnoticed = 0;
    for at in 0..file.len() {
        for change in [1, 0x80, 0xFF] {
            let mut damaged = file.clone();
            damaged[at] ^= change;
            match read(&damaged) {
                Ok(same) => {
                    unnoticed += 1;
                    assert!(same == sound, "byte {at} made another store");
                }
                Err(error) => assert_eq!(
                    error.code() == "unsupported",
                    (8..12).contains(&at),
                    "{error}"
                ),
            }
        }
    }
    // Only the tables of pixels and bins are without a checksum.
    let head = sound.0;
    assert_eq!(
        unnoticed as u64,
        3 * (head.layout.blocks_at - head.layout.pixel_table_at)
    );
}

#[test]
fn damage_that_a_checksum_hides_is_still_no_panic() {
    let file = long(Real::F32).file(5000);
    let (mut head, _) = open(&file, usize::MAX, true).unwrap();
    let mut random = 12_345_u32;
    let mut refused = 0;
    for _ in 0..2000 {
        let mut bytes = block_bytes(&file, &head, 2).to_vec();
        for _ in 0..3 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Mostly the group table, where a byte does most.
            let within = if random & 1 == 0 { bytes.len() } else { 800 };
            bytes[(random >> 8) as usize % within] ^= (random >> 24) as u8;
        }
        head.blocks[2].crc = crc32(&bytes);
        let Ok(block) = Block::open(&head, 2, &bytes) else {
            refused += 1;
            continue;
        };
        let mut last = 0.0;
        let mut mz = vec![0.0; block.len()];
        if block.decode_mz(0..block.len(), &mut mz).is_ok() {
            for value in mz {
                assert!(value >= last);
                last = value;
            }
        }
        let pixels = head.pixels();
        let _ = block.visit(0..block.len(), |pixel, intensity| {
            assert!(pixel < pixels && intensity.is_finite());
        });
        let _ = block.find(300.0, 400.0);
    }
    assert!(refused > 500, "the group table is not checked: {refused}");
}

/// CRC-32, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            (sum >> 1) ^ (0xEDB8_8320 * (sum & 1))
        })
    })
}

#[test]
fn windows_across_blocks_are_whole() {
    for mz in [Real::F32, Real::F64] {
        let case = long(mz);
        let file = case.file(777);
        let (head, _) = open(&file, usize::MAX, true).unwrap();
        assert_eq!(head.blocks.len(), if mz == Real::F32 { 3 } else { 5 });
        let borders: Vec<f64> = head
            .blocks
            .iter()
            .flat_map(|block| [block.first, block.last])
            .collect();
        let groups = case.peaks.iter().step_by(128).map(|peak| peak.0);
        let mut straddling = 0;
        for border in borders.into_iter().chain(groups) {
            for (lo, hi) in [
                (border, border),
                (border - 0.01, border + 0.01),
                (border, border + 1e-9),
                (border.next_down(), border),
                (border.next_up(), border + 50.0),
                (border - 150.0, border),
            ] {
                let kept: Vec<Peak> = case
                    .peaks
                    .iter()
                    .copied()
                    .filter(|peak| lo <= peak.0 && peak.0 <= hi)
                    .collect();
                let blocks = head.blocks_of(lo, hi);
                straddling += usize::from(blocks.len() > 1);
                assert_eq!(
                    bits(&window(&file, &head, lo, hi).unwrap()),
                    bits(&kept),
                    "{lo} to {hi}"
                );
            }
        }
        assert!(straddling > 10, "no window straddles blocks");
        for (lo, hi) in [
            (0.0, 199.9),
            (1e6, 2e6),
            (250.5, 250.4),
            (f64::NAN, 300.0),
            (300.0, f64::NAN),
        ] {
            assert_eq!(window(&file, &head, lo, hi).unwrap(), [], "{lo} to {hi}");
        }
        assert_eq!(
            head.blocks_of(1e6, 2e6).len() + head.blocks_of(0.0, 1.0).len(),
            0
        );
        assert_eq!(
            window(&file, &head, -5.0, f64::INFINITY).unwrap().len(),
            20_000
        );
    }
}

#[test]
fn a_head_takes_one_read_or_two_and_any_parts() {
    let case = long(Real::F64);
    let file = case.file(777);
    let (head, reads) = open(&file, usize::MAX, false).unwrap();
    assert_eq!(reads, 1);
    let (parts, _) = open(&file, 7, true).unwrap();
    assert_eq!(head, parts);
    // A long head: the mask of 2 million pixels.
    let mut large = Case::new(Real::F32, Real::F32, vec![(500.0, 1.0, 3)]);
    (large.width, large.height) = (1500, 1500);
    let file = large.file(1);
    for total in [true, false] {
        let (head, reads) = open(&file, usize::MAX, total).unwrap();
        assert_eq!((reads, head.pixels()), (2, 2_250_000));
    }
    let mut small = sectile::store::read::Open::new("case.sectile", 100_000);
    let refusal = drive(&mut small, &file).unwrap_err();
    assert_eq!(refusal.code(), "budget", "{refusal}");
}

fn drive(open: &mut sectile::store::read::Open, file: &[u8]) -> sectile::error::Result<()> {
    use sectile::job::{Machine as _, Step};
    while let Step::Need(range) = open.step()? {
        let end = (range.end as usize).min(file.len());
        open.feed(
            range.start,
            &file[range.start as usize..end],
            Some(file.len() as u64),
        )?;
    }
    Ok(())
}

#[test]
fn what_is_no_store_is_refused_by_name() {
    let file = long(Real::F32).file(777);
    let at = |file: &[u8], total| match open(file, usize::MAX, total).unwrap_err() {
        Error::Format { at, what, .. } => (at, what),
        other => panic!("{other}"),
    };
    assert_eq!(at(b"", true).0, 0);
    assert!(at(&[b'S'; 500], true).1.contains("no segment store"));
    assert!(at(&file[..100], true).1.contains("within the 160 bytes"));
    assert!(at(&file[..file.len() - 1], true).1.contains("cut short"));
    assert!(at(&file[..5000], false).1.contains("cut short") || at(&file[..5000], false).0 == 5000);
    let mut later = file.clone();
    later[8] = 2;
    let error = open(&later, usize::MAX, true).unwrap_err();
    assert_eq!(
        (error.code(), error.to_string().contains("version 2")),
        ("unsupported", true)
    );
}

#[test]
fn a_block_of_other_bytes_is_refused() {
    let file = long(Real::F32).file(777);
    let (head, _) = open(&file, usize::MAX, true).unwrap();
    let bytes = block_bytes(&file, &head, 1);
    assert_eq!(
        Block::open(&head, 0, bytes).unwrap_err().code(),
        "unexpected"
    );
    assert_eq!(
        Block::open(&head, 1, &bytes[1..]).unwrap_err().code(),
        "unexpected"
    );
    assert_eq!(
        Block::open(&head, 9, bytes).unwrap_err().code(),
        "unexpected"
    );
    let mut damaged = bytes.to_vec();
    damaged[2000] ^= 4;
    let error = Block::open(&head, 1, &damaged).unwrap_err();
    assert_eq!(error.at(), Some(head.blocks[1].at), "{error}");
}

#[test]
fn a_pixel_outside_of_the_image_is_refused() {
    let case = long(Real::F32);
    let file = case.file(777);
    let (mut head, _) = open(&file, usize::MAX, true).unwrap();
    head.layout.pixels = 2000;
    let bytes = block_bytes(&file, &head, 0);
    let block = Block::open(&head, 0, bytes).unwrap();
    let mut worst = 0;
    let error = block
        .visit(0..block.len(), |pixel, _| worst = worst.max(pixel))
        .unwrap_err();
    assert!(
        worst < 2000 && error.to_string().contains("of an image of 2000 pixels"),
        "{error}"
    );
    assert!(error.at().is_some_and(|at| at > head.blocks[0].at));
}

#[test]
fn a_writer_that_was_saved_goes_on_to_the_same_file() {
    let case = long(Real::F64);
    let whole = case.file(5000);
    for cut in [0, 1, 127, 4096, 4097, 12_345, 20_000] {
        let mut budget = Budget::new(64 << 20);
        let mut file = vec![0; case.layout().blocks_at as usize];
        let mut writer = Writer::new(case.layout(), &mut budget).unwrap();
        feed(&mut writer, &case.peaks[..cut], &mut file);
        let mut state = vec![7; 3];
        writer.save(&mut state);
        drop(writer);
        let layout = case.layout();
        let mut writer = Writer::restore("state", layout, &state[3..], &mut budget).unwrap();
        assert_eq!(writer.peaks(), cut as u64);
        feed(&mut writer, &case.peaks[cut..], &mut file);
        case.end(&mut writer, &mut file);
        assert!(file == whole, "cut at {cut}");
        state[40] ^= 1;
        let error = Writer::restore("state", layout, &state[3..], &mut budget).unwrap_err();
        assert_eq!(error.code(), "format");
        assert!(Writer::restore("state", layout, &state[3..50], &mut budget).is_err());
    }
}

#[test]
fn a_writer_refuses_what_cannot_be_stored() {
    let layout = long(Real::F32).layout();
    let refuse = |rows: &[Peak]| {
        let mut writer = Writer::new(layout, &mut Budget::new(1 << 24)).unwrap();
        let mz: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let intensity: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let pixel: Vec<u32> = rows.iter().map(|row| row.2).collect();
        let peaks = Peaks {
            mz: &mz,
            intensity: &intensity,
            pixel: &pixel,
        };
        writer.feed(peaks).map(|_| ()).unwrap_err().to_string()
    };
    let first = (200.0, 1.0, 0);
    for wrong in [
        (199.0, 1.0, 0),
        (200.1, 1.0, 0),
        (f64::NAN, 1.0, 0),
        (f64::INFINITY, 1.0, 0),
        (300.0, f64::NAN, 0),
        (300.0, f64::INFINITY, 0),
        (300.0, 0.1, 0),
        (300.0, 1.0, 2500),
        (1e6, 1.0, 0),
    ] {
        let text = refuse(&[first, wrong]);
        assert!(text.contains("peak 1 "), "{text}");
    }
    assert!(refuse(&[(250.0, 1.0, 0)]).contains("peak 0 "));
    assert!(refuse(&[(-0.0, 1.0, 0)]).contains("peak 0 "));
    let mut writer = Writer::new(layout, &mut Budget::new(1 << 24)).unwrap();
    let case = long(Real::F32);
    let error = writer
        .finish(&case.mask(), &case.meta, &mut Budget::new(1 << 24))
        .unwrap_err();
    assert!(error.to_string().contains("0 of 20000 peaks"), "{error}");
    let need = Writer::bytes(&layout);
    assert!(Writer::new(layout, &mut Budget::new(need - 1)).is_err());
    assert!(Writer::new(layout, &mut Budget::new(need)).is_ok());
}

#[test]
fn contradictory_contents_have_no_layout() {
    let sound = long(Real::F32).layout().contents;
    let refused = |contents: Contents| Layout::new("x", contents).unwrap_err().code();
    assert_eq!(refused(Contents { width: 0, ..sound }), "parameter");
    assert_eq!(
        refused(Contents {
            first_mz: 900.0,
            last_mz: 100.0,
            ..sound
        }),
        "parameter"
    );
    assert_eq!(
        refused(Contents {
            last_mz: f64::NAN,
            ..sound
        }),
        "parameter"
    );
    assert_eq!(
        refused(Contents {
            meta_bytes: 7,
            ..sound
        }),
        "parameter"
    );
    assert_eq!(refused(Contents { peaks: 0, ..sound }), "parameter");
    assert_eq!(
        refused(Contents {
            width: u32::MAX,
            height: u32::MAX,
            ..sound
        }),
        "unsupported"
    );
    assert_eq!(
        refused(Contents {
            width: u32::MAX,
            height: u32::MAX,
            slices: u32::MAX,
            ..sound
        }),
        "unsupported"
    );
    assert_eq!(
        refused(Contents {
            peaks: u64::MAX,
            ..sound
        }),
        "unsupported"
    );
}

#[test]
fn tables_hold_sums_of_the_peaks() {
    let case = long(Real::F64);
    let file = case.file(777);
    let (head, _) = open(&file, usize::MAX, true).unwrap();
    let part = |range: std::ops::Range<u64>| &file[range.start as usize..range.end as usize];
    let mut budget = Budget::new(1 << 24);
    let pixels = PixelTable::parse(&head, part(head.layout.pixel_table()), &mut budget).unwrap();
    for pixel in 0..2500_u32 {
        let own = case.peaks.iter().filter(|peak| peak.2 == pixel);
        let values: Vec<f64> = own.map(|peak| peak.1).collect();
        let squares: f64 = values.iter().map(|value| value * value).sum();
        assert_eq!(
            pixels.tic[pixel as usize],
            values.iter().sum::<f64>() as f32
        );
        assert_eq!(
            pixels.rms[pixel as usize],
            (squares / values.len() as f64).sqrt() as f32
        );
    }
    let bins = head.layout.bins;
    assert_eq!((bins.origin, bins.ppm, bins.at % 8), (200.0, 10.0, 0));
    let table = BinTable::parse(&head, part(bins.range()), &mut budget).unwrap();
    let edges: Vec<f64> = bins.edges().collect();
    assert!(*edges.last().unwrap() > head.layout.contents.last_mz);
    let mut seen = 0;
    for (bin, pair) in edges.windows(2).enumerate() {
        let [from, to] = [0, 1].map(|edge| case.peaks.partition_point(|peak| peak.0 < pair[edge]));
        let own = &case.peaks[from..to];
        seen += own.len();
        let total: f64 = own.iter().map(|peak| peak.1).sum();
        let centre = own.iter().map(|peak| peak.1 * peak.0).sum::<f64>() / total;
        assert_eq!(table.mean[bin], (total / 2500.0) as f32);
        assert_eq!(
            table.max[bin],
            own.iter().map(|peak| peak.1).fold(0.0, f64::max) as f32
        );
        if !own.is_empty() {
            let place = (centre - pair[0]) / (pair[1] - pair[0]);
            assert!((place - f64::from(table.centre[bin])).abs() < 1e-3);
        }
    }
    assert_eq!(seen, 20_000);
    let filled: Vec<(f64, f32, f32)> = table.filled(&bins).collect();
    assert!(filled.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let total: f64 = filled.iter().map(|bin| f64::from(bin.1) * 2500.0).sum();
    let all: f64 = case.peaks.iter().map(|peak| peak.1).sum();
    assert!((total / all - 1.0).abs() < 1e-6);
    assert_eq!(
        PixelTable::parse(&head, &[0; 8], &mut budget)
            .unwrap_err()
            .code(),
        "unexpected"
    );
    let nan = vec![0xFF; part(bins.range()).len()];
    assert_eq!(
        BinTable::parse(&head, &nan, &mut budget)
            .unwrap_err()
            .code(),
        "format"
    );
}

#[test]
fn a_long_text_is_cut_at_warnings() {
    let mut case = long(Real::F32);
    let layout = case.layout();
    case.meta.warnings = (0..500)
        .map(|n| format!("warning\nnumber {n} of many"))
        .collect();
    let mut budget = Budget::new(64 << 20);
    let mut file = vec![0; layout.blocks_at as usize];
    let mut writer = Writer::new(layout, &mut budget).unwrap();
    feed(&mut writer, &case.peaks, &mut file);
    let tables = writer
        .finish(&case.mask(), &case.meta, &mut budget)
        .unwrap();
    let head = Head::parse("x", &tables.head).unwrap();
    let warnings = &head.meta.warnings;
    assert_eq!(warnings[0], "warning number 0 of many");
    let left = 500 - (warnings.len() - 1);
    assert_eq!(
        warnings.last().unwrap(),
        &format!("{left} more warnings were left out")
    );
    assert!(left > 300 && head.meta.slices == [1]);
}

#[test]
fn the_cache_stays_within_its_limit() {
    let file = long(Real::F64).file(777);
    let (head, _) = open(&file, usize::MAX, true).unwrap();
    let bytes = |n| block_bytes(&file, &head, n);
    let two = (bytes(0).len() + bytes(1).len() + bytes(2).len() / 2) as u64;
    let mut blocks = Blocks::new(two);
    blocks.insert(&head, 0, bytes(0)).unwrap();
    blocks.insert(&head, 1, bytes(1)).unwrap();
    assert_eq!(blocks.block(&head, 0).unwrap().unwrap().len(), 4096);
    blocks.insert(&head, 2, bytes(2)).unwrap();
    // Block 1 was not used for longest.
    assert!(blocks.contains(0) && !blocks.contains(1) && blocks.contains(2));
    blocks.insert(&head, 2, bytes(2)).unwrap();
    assert!(blocks.contains(0) && blocks.peak() <= two && blocks.limit() == two);
    assert!(blocks.block(&head, 1).unwrap().is_none());
    let mut damaged = bytes(1).to_vec();
    damaged[99] ^= 1;
    assert_eq!(
        blocks.insert(&head, 1, &damaged).unwrap_err().code(),
        "format"
    );
    assert!(!blocks.contains(1));
    blocks.clear();
    assert_eq!(blocks.held(), 0);
    assert_eq!(
        Blocks::new(100)
            .insert(&head, 0, bytes(0))
            .unwrap_err()
            .code(),
        "budget"
    );
}

#[test]
fn a_reader_of_sixty_lines_sees_the_same() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/read_store.py");
    assert!(std::fs::read_to_string(&script).unwrap().lines().count() <= 60);
    let python = std::env::var("SECTILE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let numpy = Command::new(&python).args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|answer| answer.status.success()) {
        println!("skipped: {python} has no numpy; name one that has in SECTILE_PYTHON");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let extremes = [-0.0, f64::MAX, -f64::MAX, f64::from_bits(1), 1.0 / 3.0];
    let odd = (0..300_u32).map(|n| (f64::from(n / 100).sqrt(), extremes[n as usize % 5], n % 5));
    let cases = [
        long(Real::F32),
        long(Real::F64),
        Case::new(Real::F64, Real::F64, odd.collect()),
        Case::new(Real::F32, Real::F32, Vec::new()),
    ];
    for case in cases {
        let [store, out] = ["case.sectile", "out"].map(|name| folder.path().join(name));
        let file = case.file(777);
        std::fs::write(&store, &file).unwrap();
        let run = Command::new(&python)
            .arg(&script)
            .arg(&store)
            .arg(&out)
            .output()
            .unwrap();
        assert!(
            run.status.success(),
            "{}",
            String::from_utf8_lossy(&run.stderr)
        );
        let bytes = |ending| std::fs::read(out.with_extension(ending)).unwrap();
        let expected = |value: &dyn Fn(&Peak) -> Vec<u8>| -> Vec<u8> {
            case.peaks.iter().flat_map(value).collect()
        };
        assert!(bytes("mz") == expected(&|peak| peak.0.to_le_bytes().to_vec()));
        assert!(bytes("intensity") == expected(&|peak| peak.1.to_le_bytes().to_vec()));
        assert!(bytes("pixel") == expected(&|peak| peak.2.to_le_bytes().to_vec()));
        let mask = case.mask();
        let acquired: Vec<u8> = (0..mask.pixels())
            .map(|pixel| mask.acquired(pixel).into())
            .collect();
        assert!(bytes("mask") == acquired);
        let layout = case.layout();
        let tic = layout.pixel_table_at as usize..;
        assert!(bytes("tic") == file[tic][..4 * layout.pixels as usize]);
    }
}
