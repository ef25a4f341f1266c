//! Annotation at the ends of what may be asked: images of one row, sums beyond f32, very heavy ions and very wide
//! windows, as many decoys as there are, and adducts without end.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::panic,
    reason = "a test"
)]
#![allow(dead_code, reason = "other tests use the rest of the cases")]

mod annotate_cases;
mod ion_cases;

use annotate_cases::whole::{F32, F64, MIXED, all, minimum, wish};
use annotate_cases::{
    composition, formulas, ions, modifiers, molecules, oracle, patterns, planted, request,
};
use ion_cases::{Peak, Sample, WHOLE, head};
use sectile::budget::Budget;
use sectile::ion::annotate::buffer::HIT;
use sectile::ion::annotate::{BATCH, ImageBuffer, Ions, Keep, Kept, Policy, Request, Wish, plan};
use sectile::ion::isotope::{Analyzer, Instrument};
use sectile::ion::scoring::Scoring;
use sectile::results::images::Easel;
use sectile::results::{Provenance, Table};

#[test]
fn images_of_any_shape_are_scored() {
    let ions = ions(&formulas(4), &request());
    for size in [[1, 1, 1], [1, 300, 1], [300, 1, 1], [70_000, 1, 1]] {
        let per_pixel = if size[0] > 1000 { 1 } else { 40 };
        let sample = planted(21, size, per_pixel, F32, &ions);
        let expected = oracle(&sample, &ions);
        let outcome = all(&sample.store(), &ions, &wish(64 << 20), WHOLE);
        assert_eq!(outcome.found, expected, "{size:?}");
        // Of one pixel no image has a shape.
        assert_eq!(expected.targets.is_empty(), size == [1, 1, 1], "{size:?}");
    }
}

/// Intensities may be f64, and a pixel may have several: what is more than f32 holds counts as its largest number,
/// also in what is stored and drawn.
#[test]
fn sums_beyond_f32_count_as_its_largest_number() {
    let ions = ions(&["C6H12O6".to_owned()], &request());
    let position = (0..ions.len())
        .find(|at| ions.is_target(ions.ion(*at).unwrap()))
        .unwrap();
    let pattern = patterns(ions.request())
        .pattern(&composition(&ions, position))
        .unwrap();
    let mut peaks = Vec::new();
    for pixel in [9, 10, 11, 17, 18, 19, 25, 26, 27] {
        for (mz, theory) in pattern.mz.iter().zip(pattern.intensity) {
            let scale = if pixel == 18 { 1e38 } else { 1e36 };
            peaks.push(Peak {
                mz: *mz,
                intensity: scale * theory,
                pixel,
            });
        }
    }
    let sample = Sample::new([8, 8, 1], vec![true; 64], peaks, F64);
    let file = sample.store();
    let outcome = all(&file, &ions, &wish(64 << 20), WHOLE);
    let scored = outcome.found.scored(position).unwrap();
    let largest = f64::from(f32::MAX);
    assert_eq!(scored.metrics.max[0].to_bits(), largest.to_bits());
    let numbers = scored.metrics.total.iter().chain(&scored.metrics.max);
    assert!(numbers.copied().all(f64::is_finite), "{scored:?}");
    let head = head(&file);
    let mut easel = Easel::new(8, 8, &head.mask, 0, &mut Budget::new(1 << 20)).unwrap();
    for (pixels, bits, _) in outcome.found.images[&position].iter().flatten() {
        let values: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits)).collect();
        let picture = easel.draw(pixels, &values).unwrap();
        assert!(picture.max.is_finite());
    }
    let mut table = Table::new(ions, 1 << 20);
    table.take_targets(&[scored]).unwrap();
    let found = table.finish().unwrap();
    let json = found.json_head(&Provenance::new(&head, "list", None)) + &found.json_rows(0..1);
    assert!(!json.contains(r#""max":null"#) && json.contains(r#""max":3.4028234663852886e38"#));
}

/// The half width of [`Scoring::V2`] grows faster than the m/z itself.
#[test]
fn windows_wider_than_their_mz_find_what_a_scan_finds() {
    let texts = ["C3H7NO2", "C2000H3000", "C90000H90000", "Sn2"].map(str::to_owned);
    let request = Request {
        instrument: Instrument::new(Analyzer::Fticr, 1e9).unwrap(),
        scoring: Scoring::V2,
        ppm: 1000.0,
        ..request()
    };
    let ions = ions(&texts, &request);
    let sample = planted(23, [9, 8, 1], 300, MIXED, &ions);
    let expected = oracle(&sample, &ions);
    let file = sample.store();
    let head = head(&file);
    let least = minimum(&head, &ions, &Wish::default());
    for memory in [least, 64 << 20] {
        let outcome = all(&file, &ions, &wish(memory), WHOLE);
        assert_eq!(outcome.found, expected, "{memory}");
    }
    assert!(!expected.targets.is_empty());
}

#[test]
fn images_without_a_positive_value_score_nothing() {
    let ions = ions(&formulas(0), &request());
    let mut sample = planted(24, [9, 8, 1], 300, MIXED, &ions);
    assert!(!oracle(&sample, &ions).targets.is_empty());
    for peak in &mut sample.peaks {
        peak.intensity = -peak.intensity.abs();
    }
    let outcome = all(&sample.store(), &ions, &wish(64 << 20), WHOLE);
    assert!(outcome.found.targets.is_empty() && outcome.found.decoys.is_empty());
}

#[test]
fn there_may_be_as_many_decoys_as_adducts_are_left() {
    let list = molecules(&formulas(3));
    let with = |texts: &[&str], decoys| Request {
        targets: modifiers(texts),
        decoys,
        ..request()
    };
    for (texts, left) in [
        (vec!["+H"], 80),
        (vec!["+Li", "+H", "+Cl"], 78),
        // The same ions by other names.
        (vec!["+Li1", "[M+Cl]+", "-H2O+K"], 78),
    ] {
        let ions = Ions::new(list.clone(), with(&texts, left), 1 << 30).unwrap();
        let modifiers = ions.decoys_chosen().modifiers();
        let carbon = list.formulas[0].composition.clone();
        let made: Vec<_> = modifiers.iter().map(|one| one.apply(&carbon)).collect();
        for (at, decoy) in made.iter().enumerate().skip(texts.len()) {
            assert!(!made[..texts.len()].contains(decoy), "{}", modifiers[at]);
        }
        let refused = Ions::new(list.clone(), with(&texts, left + 1), 1 << 30).err();
        let said = refused.map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains(&format!("give 1 to {left}")), "{said}");
    }
}

#[test]
fn adducts_without_end_are_refused_at_once() {
    let texts: Vec<String> = (1..=20_000).map(|n| format!("+H{n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let request = Request {
        targets: modifiers(&texts),
        ..request()
    };
    let refused = Ions::new(molecules(&formulas(0)), request, 1 << 30).err();
    let said = refused.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        said.contains("adducts: more than 700 of them; give fewer"),
        "{said}"
    );
}

#[test]
fn a_list_of_one_formula_is_annotated_and_doubted() {
    let ions = ions(&["C6H12O6".to_owned()], &request());
    let sample = planted(26, [9, 8, 1], 300, MIXED, &ions);
    let none = Wish {
        images: Keep::None,
        ..wish(64 << 20)
    };
    let outcome = all(&sample.store(), &ions, &none, WHOLE);
    assert_eq!(outcome.found.targets, oracle(&sample, &ions).targets);
    let doubts = ions.warnings();
    assert!(doubts.iter().any(|doubt| doubt.contains("too few")));
}

/// What is held may come up to the limit, by either rule; one peak more is too much.
#[test]
fn a_limit_is_passed_by_more_than_it_alone() {
    let ion = |ion| Kept {
        ion,
        peaks: [const { None }; 4],
    };
    for policy in [Policy::FlushBefore, Policy::FlushAfter] {
        let mut buffer = ImageBuffer::new(10 * HIT, policy);
        buffer.add(ion(0), 6);
        assert!(buffer.fits(4) && buffer.fits(5) == (policy == Policy::FlushAfter));
        buffer.add(ion(1), 4);
        assert_eq!((buffer.bytes(), buffer.full()), (10 * HIT, false));
        assert!(buffer.fits(0) && buffer.fits(1) == (policy == Policy::FlushAfter));
        buffer.add(ion(2), 1);
        assert!(buffer.full() && !buffer.fits(0));
    }
}

/// Peaks count, as METASPACE counts them, not pixels: several may lie in one.
#[test]
fn every_peak_of_an_image_counts_for_the_buffer() {
    let request = Request {
        ppm: 300.0,
        ..request()
    };
    let ions = ions(&formulas(0), &request);
    let sample = planted(27, [7, 6, 1], 600, MIXED, &ions);
    let outcome = all(&sample.store(), &ions, &wish(64 << 20), WHOLE);
    let (mut peaks, mut pixels) = (0, 0);
    for (position, images) in &outcome.found.images {
        let scored = outcome.found.scored(*position).unwrap();
        for mz in scored.mz.into_iter().filter(|mz| *mz > 0.0) {
            let half = request.half_width(mz);
            let inside = |peak: &&Peak| mz - half <= peak.mz && peak.mz <= mz + half;
            peaks += sample.peaks.iter().filter(inside).count() as u64;
        }
        let of_one = images
            .iter()
            .flatten()
            .map(|(pixels, ..)| pixels.len() as u64);
        pixels += of_one.sum::<u64>();
    }
    let counted: u64 = outcome.flushes.iter().map(|(_, bytes)| bytes).sum();
    assert_eq!(counted, HIT * peaks);
    assert!(peaks > pixels + 100, "{peaks} {pixels}");
}

/// More batches than may be under way lie between two ions that need one block: it is held, not read again.
#[test]
fn a_block_is_held_over_batches_that_do_not_need_it() {
    let elements = [
        "C", "N", "O", "P", "S", "F", "Cl", "Br", "I", "Si", "B", "Se", "K", "Na", "Li", "Mg",
        "Al", "Ca", "Fe", "Co", "Ni", "Cu", "Zn", "As", "Ag",
    ];
    let pair = |one: &str| format!("+{one}-{one}");
    let mut texts: Vec<String> = vec!["+H".to_owned()];
    for one in elements {
        texts.extend(elements.map(|other| format!("{}{}+H", pair(one), pair(other))));
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let request = Request {
        targets: modifiers(&texts),
        decoys: 1,
        ..request()
    };
    // The first one's second peak lies by the last one's first; all between have theirs elsewhere.
    let list = [
        "C15H24O6",
        "C19H24O3",
        "C20H28O2",
        "C21H32O",
        "C22H36",
        "C18H24N2O2",
        "C19H28N2O",
        "C20H32N2",
        "C18H36O3",
        "C17H32O4",
        "C16H28O5",
        "C17H36N2O2",
        "C18H40N2O",
        "C14H23NO6",
    ];
    let ions = ions(&list.map(str::to_owned), &request);
    let targets = (0..ions.len()).filter(|at| ions.is_target(ions.ion(*at).unwrap()));
    let windows: Vec<[f64; 4]> = {
        let mut patterns = patterns(&request);
        targets
            .map(|at| patterns.pattern(&composition(&ions, at)).unwrap().mz)
            .collect()
    };
    let (first, last) = (windows[0], windows[windows.len() - 1]);
    assert!((last[0] - first[1]).abs() < 0.01, "{first:?} {last:?}");
    let mut masses: Vec<f64> = windows.iter().flatten().copied().collect();
    masses.sort_by(f64::total_cmp);
    masses.dedup_by(|a, b| *a - *b < 1e-6);
    let inside = |mz: f64| masses.iter().any(|at| (mz - at).abs() < 0.002);
    let mut peaks = Vec::new();
    for n in 0..400_000 {
        let mz = 301.0 + 2.0 * f64::from(n) / 400_000.0;
        if !inside(mz) || n % 40 == 0 {
            peaks.push(Peak {
                mz,
                intensity: 1.0,
                pixel: n % 4,
            });
        }
    }
    let file = Sample::new([2, 2, 1], vec![true; 4], peaks, MIXED).store();
    let head = head(&file);
    let shared = head.blocks_of(last[0], last[0]);
    assert_eq!(shared, head.blocks_of(first[1], first[1]));
    let between = windows
        .iter()
        .filter(|mz| first[0] < mz[0] && mz[0] < last[0]);
    let others = between.filter(|mz| mz.iter().all(|mz| head.blocks_of(*mz, *mz) != shared));
    assert!(others.count() > 5 * BATCH as usize, "{}", ions.len());
    let planned = plan(&head, &ions, 0..ions.len(), &wish(256 << 20)).unwrap();
    assert_eq!(planned.refetched, 0, "{planned:?}");
}
