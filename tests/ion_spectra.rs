//! Spectra of pixels and regions, from pairs and from stores; real and synthetic pairs against numbers of the
//! reference programs.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    reason = "a test"
)]
#![allow(dead_code, reason = "other tests use the rest of the cases")]

mod ion_cases;

use ion_cases::{
    Dice, Feeding, Pair, Peak, Sample, WHOLE, bits, drive, head, images, pairs, reader, shared,
};
use sectile::budget::Budget;
use sectile::error::{Error, Result};
use sectile::imzml::Dataset;
use sectile::imzml::dataset::{Array, Compression, Grid, Number, Polarity, Representation};
use sectile::ion::images::Wish;
use sectile::ion::normalise::{Normalise, Norms};
use sectile::ion::region::Region;
use sectile::ion::spectrum::{From, Plan, SpectrumJob};
use sectile::ion::window::Window;
use sectile::raster::stretch;
use sectile::store::head::{Bins, Real};
use sectile::store::{BinTable, PixelTable};

const MIXED: [Real; 2] = [Real::F64, Real::F32];

/// A spectrum that was handed out.
#[derive(Debug, Clone, PartialEq)]
struct Got {
    mz: Vec<f64>,
    intensity: Vec<f64>,
    max: Vec<f32>,
    pixels: u64,
    plan: Plan,
}

fn take(job: Result<SpectrumJob>, source: &[u8], feeding: Feeding) -> Result<Got> {
    let mut job = job?;
    let plan = job.plan().clone();
    let mut got = None;
    let run = drive(&mut job, source, feeding, |spectrum| {
        got = Some(Got {
            mz: spectrum.mz.to_vec(),
            intensity: spectrum.intensity.to_vec(),
            max: spectrum.max.to_vec(),
            pixels: spectrum.pixels,
            plan: plan.clone(),
        });
    })?;
    let got = got.unwrap();
    assert_eq!((plan.requests, plan.bytes), (run.requests, run.bytes));
    assert!(run.peak <= plan.memory, "{} of {plan:?}", run.peak);
    let last = job.last().unwrap();
    assert_eq!((last.mz, last.intensity), (&got.mz[..], &got.intensity[..]));
    Ok(got)
}

/// The peaks of one pixel by looking at all.
fn exact(sample: &Sample, pixel: u32) -> (Vec<f64>, Vec<f64>) {
    let peaks = sample.peaks.iter().filter(|peak| peak.pixel == pixel);
    peaks.map(|peak| (peak.mz, peak.intensity)).unzip()
}

/// Mean, maximum and centre of each bin that has peaks, by looking at all.
fn binned(sample: &Sample, bins: &Bins, slice: u32, inside: impl Fn(u32) -> bool) -> Vec<[f64; 3]> {
    let edges: Vec<f64> = bins.edges().collect();
    let first = slice * sample.area();
    let chosen: Vec<bool> = (0..sample.area())
        .map(|pixel| inside(pixel) && sample.acquired[(first + pixel) as usize])
        .collect();
    let pixels = chosen.iter().filter(|chosen| **chosen).count() as f64;
    let mut table = vec![[0.0, f64::NEG_INFINITY, 0.0]; bins.count as usize];
    for peak in &sample.peaks {
        let here =
            peak.pixel / sample.area() == slice && chosen[(peak.pixel % sample.area()) as usize];
        if here {
            let bin = edges
                .partition_point(|edge| *edge <= peak.mz)
                .clamp(1, table.len())
                - 1;
            table[bin][0] += peak.intensity / pixels;
            table[bin][1] = table[bin][1].max(peak.intensity);
            table[bin][2] += peak.intensity / pixels * peak.mz;
        }
    }
    table.retain(|bin| bin[1] > f64::NEG_INFINITY);
    table
}

fn near(got: f64, want: f64) -> bool {
    (got - want).abs() <= 1e-9 * want.abs().max(1e-9)
}

fn assert_binned(got: &Got, want: &[[f64; 3]], what: &str) {
    assert_eq!(got.mz.len(), want.len(), "{what}");
    assert!(got.mz.is_sorted());
    for (at, [mean, max, moment]) in want.iter().enumerate() {
        assert!(
            near(got.intensity[at], *mean),
            "{what}: {} {mean}",
            got.intensity[at]
        );
        assert_eq!(got.max[at], *max as f32, "{what}");
        if *mean > 0.0 && *max > 0.0 && *mean > max / 1e4 {
            let centre = moment / mean;
            // Negative intensities can throw it out of its bin.
            assert!(
                (got.mz[at] / centre - 1.0).abs() < 1e-3,
                "{what}: {} {centre}",
                got.mz[at]
            );
        }
    }
}

/// Writes a sample's spectra as arrays behind a UUID: the index and the bytes of the ibd.
fn pair_of(sample: &Sample, shared_axis: bool) -> Pair {
    let mut ibd = vec![7_u8; 16];
    let mut spectra = Vec::new();
    let plain = |at: usize, len: usize, number: Number| Array {
        at: at as u64,
        bytes: (len as u64 * number.size()) as u32,
        len: len as u32,
        number,
        compression: Compression::None,
    };
    let mut axis: Vec<f64> = sample.peaks.iter().map(|peak| peak.mz).collect();
    axis.dedup();
    if shared_axis {
        ibd.extend(axis.iter().flat_map(|mz| mz.to_le_bytes()));
    }
    for (pixel, _) in (0_u32..)
        .zip(&sample.acquired)
        .filter(|(_, acquired)| **acquired)
    {
        let (mz, intensity) = exact(sample, pixel);
        let at = ibd.len();
        let (mz, at, values) = if shared_axis {
            let mut values = vec![0.0; axis.len()];
            for (mz, intensity) in mz.iter().zip(intensity) {
                values[axis.binary_search_by(|a| a.total_cmp(mz)).unwrap()] += intensity;
            }
            (plain(16, axis.len(), Number::F64), at, values)
        } else {
            ibd.extend(mz.iter().flat_map(|mz| mz.to_le_bytes()));
            (plain(at, mz.len(), Number::F64), ibd.len(), intensity)
        };
        ibd.extend(
            values
                .iter()
                .flat_map(|value| (*value as f32).to_le_bytes()),
        );
        let area = sample.area();
        let (x, y, z) = (
            pixel % sample.width,
            pixel % area / sample.width,
            pixel / area,
        );
        spectra.push(sectile::imzml::dataset::Spectrum::new(
            mz,
            plain(at, values.len(), Number::F32),
            [x as i32 + 3, y as i32 + 2, z as i32 + 1],
            Polarity::Unknown,
            Representation::Centroid,
        ));
    }
    let dataset = Dataset {
        file: "sample.imzML".to_owned(),
        ibd: None,
        spectra,
        grid: Grid {
            x0: 3,
            y0: 2,
            width: sample.width,
            height: sample.height,
            slices: (1..).take(sample.slices as usize).collect(),
        },
        pixel_size: [None; 2],
        polarity: Polarity::Unknown,
        representation: Representation::Centroid,
        mode: None,
        uuid: None,
        checksum: None,
        instrument: None,
        duplicates: 0,
        warnings: Vec::new(),
    };
    Pair { dataset, ibd }
}

fn regions() -> Vec<Region> {
    vec![
        Region::Rect {
            x0: 1,
            y0: 1,
            x1: 5,
            y1: 4,
        },
        Region::Rect {
            x0: 0,
            y0: 0,
            x1: 99,
            y1: 99,
        },
        Region::Polygon(vec![[0.0, 0.0], [6.0, 0.5], [3.0, 6.5]]),
    ]
}

fn inside(region: &Region, sample: &Sample) -> impl Fn(u32) -> bool + use<> {
    let chosen = region
        .on(sample.width, sample.height, &mut Budget::new(1 << 20))
        .unwrap();
    move |pixel| chosen.has(pixel)
}

#[test]
fn pixels_and_regions_agree_between_pair_store_and_scan() {
    for shared_axis in [false, true] {
        let sample = Sample::random(31, [9, 7, 2], 120, MIXED);
        let pair = pair_of(&sample, shared_axis);
        // With a shared axis intensities of equal m/z are one value.
        let sample = pair.sample();
        let file = sample.store();
        let head = head(&file);
        for slice in 0..2 {
            let wish = Wish {
                slice,
                ..Wish::default()
            };
            for pixel in 0..sample.area() {
                let region = Region::Pixel {
                    x: pixel % 9,
                    y: pixel / 9,
                };
                let (mz, intensity) = exact(&sample, slice * sample.area() + pixel);
                let store =
                    take(SpectrumJob::of_store(&head, &region, &wish), &file, WHOLE).unwrap();
                let from = SpectrumJob::of_pair(&pair.dataset, "ibd", &region, None, &wish);
                let from = take(from, &pair.ibd, WHOLE).unwrap();
                for got in [&store, &from] {
                    assert_eq!((&got.mz, &got.intensity), (&mz, &intensity));
                    assert!(got.max.is_empty());
                    let acquired = sample.acquired[(slice * sample.area() + pixel) as usize];
                    assert_eq!(got.pixels, u64::from(acquired));
                }
                let blocks = if store.pixels == 0 {
                    0
                } else {
                    head.file_bytes - head.layout.blocks_at
                };
                assert_eq!((store.plan.from, store.plan.bytes), (From::Store, blocks));
                // Both arrays of a spectrum lie side by side; a shared axis lies near the first ones.
                let most = if shared_axis { 2 } else { 1 };
                assert!(from.plan.requests <= most && from.plan.from == From::Pair);
                assert_eq!(from.plan.requests == 0, from.pixels == 0);
            }
            for region in regions() {
                let want = binned(&sample, &head.layout.bins, slice, inside(&region, &sample));
                let store = SpectrumJob::of_store(&head, &region, &wish);
                assert_binned(&take(store, &file, WHOLE).unwrap(), &want, "store");
                let bins = Some(head.layout.bins);
                let from = SpectrumJob::of_pair(&pair.dataset, "ibd", &region, bins, &wish);
                let from = take(from, &pair.ibd, WHOLE).unwrap();
                assert_binned(&from, &want, "pair");
                assert_eq!(from.plan.passes, 1);
            }
        }
    }
}

#[test]
fn a_pair_alone_chooses_the_bins_a_store_of_the_region_would_have() {
    let sample = Sample::random(32, [9, 7, 1], 120, MIXED);
    let pair = pair_of(&sample, false);
    let region = Region::Rect {
        x0: 0,
        y0: 0,
        x1: 9,
        y1: 7,
    };
    let head = head(&sample.store());
    let alone = SpectrumJob::of_pair(&pair.dataset, "ibd", &region, None, &Wish::default());
    let alone = take(alone, &pair.ibd, WHOLE).unwrap();
    let bins = Some(head.layout.bins);
    let with = SpectrumJob::of_pair(&pair.dataset, "ibd", &region, bins, &Wish::default());
    let with = take(with, &pair.ibd, WHOLE).unwrap();
    assert_eq!(
        (&alone.mz, &alone.intensity, &alone.max),
        (&with.mz, &with.intensity, &with.max)
    );
    assert_eq!(
        (alone.plan.passes, alone.plan.bytes),
        (2, 2 * with.plan.bytes)
    );
    assert_eq!(
        (with.plan.requests, with.plan.bytes),
        (1, pair.ibd.len() as u64 - 16)
    );
}

#[test]
fn the_spectrum_of_everything_is_the_stores_own() {
    let sample = Sample::random(33, [9, 7, 1], 300, MIXED);
    let file = sample.store();
    let head = head(&file);
    let place = head.layout.bins.range();
    let bytes = &file[place.start as usize..place.end as usize];
    let table = BinTable::parse(&head, bytes, &mut Budget::new(1 << 24)).unwrap();
    let region = &regions()[1];
    let got = SpectrumJob::of_store(&head, region, &Wish::default());
    let got = take(got, &file, WHOLE).unwrap();
    let mut count = 0;
    for (at, (mz, mean, max)) in table.filled(&head.layout.bins).enumerate() {
        assert!((got.intensity[at] as f32 - mean).abs() <= mean.abs() * 1e-6);
        assert_eq!(got.max[at], max);
        assert!((got.mz[at] - mz).abs() < 1e-9 * mz);
        count += 1;
    }
    assert_eq!(got.mz.len(), count);
}

#[test]
fn spectra_do_not_depend_on_budget_or_arrival_and_stay_within() {
    let sample = Sample::random(34, [12, 12, 1], 300, MIXED);
    let pair = pair_of(&sample, false);
    let file = sample.store();
    let head = head(&file);
    let pixel = Region::Pixel { x: 2, y: 2 };
    for region in [regions().remove(0), pixel] {
        let bins = head.layout.bins;
        for from in [From::Store, From::Pair] {
            let job = |memory| {
                let wish = Wish {
                    memory,
                    ..Wish::default()
                };
                match from {
                    From::Store => SpectrumJob::of_store(&head, &region, &wish),
                    From::Pair => {
                        SpectrumJob::of_pair(&pair.dataset, "ibd", &region, Some(bins), &wish)
                    }
                }
            };
            let source = if from == From::Store {
                &file
            } else {
                &pair.ibd
            };
            let least = match job(1) {
                Err(Error::Budget { need, have: 1, .. }) => need,
                other => panic!("{other:?}"),
            };
            assert!(matches!(job(least - 1), Err(Error::Budget { need, .. }) if need == least));
            let want = take(job(256 << 20), source, WHOLE).unwrap();
            for memory in [least, least + 50_000, least + 400_000, 16 << 20, 64 << 20] {
                for (piece, shuffled) in [(usize::MAX, true), (999, true)] {
                    let got = take(job(memory), source, Feeding { piece, shuffled }).unwrap();
                    assert_eq!(
                        (&got.mz, &got.intensity, &got.max),
                        (&want.mz, &want.intensity, &want.max)
                    );
                    assert_eq!(got.plan.minimum_bytes, least);
                }
            }
        }
    }
}

#[test]
fn bytewise_spectra_are_the_same() {
    let sample = Sample::random(35, [4, 4, 1], 50, MIXED);
    let pair = pair_of(&sample, true);
    let region = Region::Pixel { x: 1, y: 3 };
    let job = || SpectrumJob::of_pair(&pair.dataset, "ibd", &region, None, &Wish::default());
    let want = take(job(), &pair.ibd, WHOLE).unwrap();
    let feeding = Feeding {
        piece: 1,
        shuffled: true,
    };
    assert_eq!(take(job(), &pair.ibd, feeding).unwrap(), want);
    assert!(!want.mz.is_empty());
}

#[test]
fn several_spectra_at_a_pixel_are_one_and_zeros_are_none() {
    // B16's kind: two spectra at the second pixel, and an m/z that both have.
    let spectra: [(u32, &[f64], &[f32]); 3] = [
        (0, &[100.0, 200.0], &[1.0, 0.0]),
        (1, &[150.0, 300.0], &[20.0, -3.0]),
        (1, &[120.0, 150.0], &[7.0, 1000.0]),
    ];
    let mut pair = pair_of(&Sample::random(36, [2, 1, 1], 2, MIXED), false);
    (pair.ibd, pair.dataset.spectra) = (vec![0; 16], Vec::new());
    let mut peaks = Vec::new();
    for (pixel, mz, intensity) in spectra {
        let at = pair.ibd.len() as u64;
        pair.ibd.extend(mz.iter().flat_map(|mz| mz.to_le_bytes()));
        pair.ibd
            .extend(intensity.iter().flat_map(|value| value.to_le_bytes()));
        let array = |at, number: Number| Array {
            at,
            bytes: 2 * number.size() as u32,
            len: 2,
            number,
            compression: Compression::None,
        };
        pair.dataset
            .spectra
            .push(sectile::imzml::dataset::Spectrum::new(
                array(at, Number::F64),
                array(at + 16, Number::F32),
                [pixel as i32 + 3, 2, 1],
                Polarity::Unknown,
                Representation::Centroid,
            ));
        let both = mz.iter().zip(intensity);
        peaks.extend(both.map(|(mz, value)| Peak {
            mz: *mz,
            intensity: f64::from(*value),
            pixel,
        }));
    }
    let file = Sample::new([2, 1, 1], vec![true; 2], peaks, MIXED).store();
    let region = |x| Region::Pixel { x, y: 0 };
    let wish = Wish::default();
    for (x, mz, intensity) in [
        (0, vec![100.0], vec![1.0]),
        (
            1,
            vec![120.0, 150.0, 150.0, 300.0],
            vec![7.0, 20.0, 1000.0, -3.0],
        ),
    ] {
        let job = SpectrumJob::of_pair(&pair.dataset, "ibd", &region(x), None, &wish);
        let from = take(job, &pair.ibd, WHOLE).unwrap();
        let store = take(
            SpectrumJob::of_store(&head(&file), &region(x), &wish),
            &file,
            WHOLE,
        )
        .unwrap();
        assert_eq!((&from.mz, &from.intensity), (&mz, &intensity));
        assert_eq!((&store.mz, &store.intensity), (&mz, &intensity));
    }
    let window = [Window::dalton(150.0, 1.0).unwrap()];
    let run = images(&reader(&file, 0), &file, &window, &wish, WHOLE).unwrap();
    assert_eq!(run.images[0].bits, bits(&[0.0, 1020.0]));
}

#[test]
fn a_pixel_that_is_too_large_names_the_budget_that_does() {
    for (peaks, in_flight) in [
        (1, 1),
        (1024, 6),
        (1025, 1),
        (3000, 6),
        (20_000, 2),
        (70_000, 6),
    ] {
        let peak = |n: u32| Peak {
            mz: 100.0 + f64::from(n) / 1000.0,
            intensity: f64::from(n % 7 + 1),
            pixel: u32::from(n >= peaks),
        };
        let peaks_of_both = (0..peaks + 30_000).map(peak).collect();
        let file = Sample::new([2, 1, 1], vec![true; 2], peaks_of_both, MIXED).store();
        let head = head(&file);
        let at = |memory| {
            let wish = Wish {
                memory,
                in_flight,
                ..Wish::default()
            };
            let job = SpectrumJob::of_store(&head, &Region::Pixel { x: 0, y: 0 }, &wish);
            take(job, &file, WHOLE)
        };
        let named = |got: Result<Got>| match got {
            Err(Error::Budget { need, .. }) => need,
            other => panic!("{other:?}"),
        };
        // The first refusal comes before anything is read and cannot know the peaks; the second does.
        let minimum = named(at(0));
        let got = match at(minimum) {
            Ok(got) if peaks <= 1024 => got,
            other => {
                let need = named(other);
                // The list is twice as long at most, and blocks get as much again.
                let most = minimum + 4 * 36 * u64::from(peaks);
                assert!(need > minimum && need <= most, "{minimum} {need} {most}");
                at(need).unwrap()
            }
        };
        assert_eq!(got.mz.len(), peaks as usize);
    }
}

#[test]
fn bad_spectra_are_named() {
    let sample = Sample::random(37, [4, 4, 1], 50, MIXED);
    let pair = pair_of(&sample, false);
    let region = Region::Pixel { x: 1, y: 0 };
    let job =
        |dataset: &Dataset| SpectrumJob::of_pair(dataset, "a.ibd", &region, None, &Wish::default());
    let index = (pair.dataset.spectra.iter())
        .position(|spectrum| (spectrum.x, spectrum.y) == (4, 2))
        .unwrap();
    let spectrum = pair.dataset.spectra[index];
    for (at, value) in [(spectrum.mz().at, f64::NAN), (spectrum.mz().at, -1.0)] {
        let mut ibd = pair.ibd.clone();
        ibd[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
        match take(job(&pair.dataset), &ibd, WHOLE) {
            Err(Error::Format {
                file,
                at: byte,
                what,
            }) => {
                assert_eq!((file.as_str(), byte), ("a.ibd", at));
                assert!(what.contains(&format!("spectrum {index}")), "{what}");
            }
            other => panic!("{other:?}"),
        }
    }
    let mut dataset = pair.dataset.clone();
    let short = Array {
        len: spectrum.intensity().len - 1,
        bytes: spectrum.intensity().bytes - 4,
        ..spectrum.intensity()
    };
    dataset.spectra[index] = sectile::imzml::dataset::Spectrum::new(
        spectrum.mz(),
        short,
        [spectrum.x, spectrum.y, spectrum.z],
        Polarity::Unknown,
        Representation::Centroid,
    );
    match job(&dataset) {
        Err(Error::Format { what, .. }) => {
            assert!(what.contains(&format!("spectrum {index}")), "{what}");
        }
        other => panic!("{other:?}"),
    }
    // A damaged block of a store.
    let mut file = sample.store();
    let head = head(&file);
    file[head.blocks[0].at as usize + 99] ^= 1;
    let got = take(
        SpectrumJob::of_store(&head, &region, &Wish::default()),
        &file,
        WHOLE,
    );
    assert!(matches!(got, Err(Error::Format { .. })));
}

#[test]
fn bad_spectra_are_left_out_of_regions() {
    let sample = Sample::random(38, [4, 3, 1], 400, MIXED);
    for shared in [false, true] {
        let Pair {
            mut dataset,
            mut ibd,
        } = pair_of(&sample, shared);
        let [one, other, last] = [1, 4, dataset.spectra.len() - 1];
        let place = |array: Array| array.at as usize..array.at as usize + 4;
        ibd[place(dataset.spectra[one].intensity())].copy_from_slice(&f32::NAN.to_le_bytes());
        let spectrum = dataset.spectra[other];
        let short = Array {
            len: spectrum.intensity().len - 1,
            bytes: spectrum.intensity().bytes - 4,
            ..spectrum.intensity()
        };
        dataset.spectra[other] = sectile::imzml::dataset::Spectrum::new(
            spectrum.mz(),
            short,
            [spectrum.x, spectrum.y, spectrum.z],
            Polarity::Unknown,
            Representation::Centroid,
        );
        // The last one lies beyond the end of the ibd.
        ibd.truncate(ibd.len() - 1);
        assert!(dataset.settle("a.ibd", ibd.len() as u64, &[7; 16]).is_err());
        let region = Region::Rect {
            x0: 0,
            y0: 0,
            x1: 4,
            y1: 3,
        };
        let wish = Wish {
            skip_bad: true,
            ..Wish::default()
        };
        let mut good = dataset.clone();
        good.spectra = (0..)
            .zip(&dataset.spectra)
            .filter(|(at, _)| ![one, other, last].contains(at))
            .map(|(_, spectrum)| *spectrum)
            .collect();
        for bins in [None, Some(head(&sample.store()).layout.bins)] {
            let read = |dataset: &Dataset, wish: &Wish| {
                let mut job = SpectrumJob::of_pair(dataset, "a.ibd", &region, bins, wish)?;
                drive(&mut job, &ibd, WHOLE, |_| ())?;
                let found = job.last().unwrap();
                Ok::<_, Error>((
                    (
                        found.mz.to_vec(),
                        found.intensity.to_vec(),
                        found.max.to_vec(),
                        found.pixels,
                    ),
                    (found.bad, found.first_bad),
                ))
            };
            let (found, bad) = read(&dataset, &wish).unwrap();
            assert_eq!(bad, (3, Some(one as u32)));
            assert!(found.0.len() > 20);
            assert_eq!(found, read(&good, &Wish::default()).unwrap().0);
            assert!(read(&dataset, &Wish::default()).is_err());
        }
        // One m/z array that is bad is every spectrum's.
        if shared {
            ibd[16..24].copy_from_slice(&f64::NAN.to_le_bytes());
            let mut job = SpectrumJob::of_pair(&dataset, "a.ibd", &region, None, &wish).unwrap();
            drive(&mut job, &ibd, WHOLE, |_| ()).unwrap();
            let found = job.last().unwrap();
            assert_eq!(
                (found.bad, found.pixels, found.mz.len()),
                (dataset.spectra.len() as u64, 0, 0)
            );
        }
    }
}

#[test]
fn regions_follow_pixel_centres() {
    let on = |region: &Region, width, height| {
        let chosen = region.on(width, height, &mut Budget::new(1 << 20))?;
        let pixels: Vec<u32> = chosen.pixels().collect();
        assert_eq!(chosen.count(), pixels.len() as u64);
        assert!(pixels.iter().all(|pixel| chosen.has(*pixel)));
        Ok::<_, Error>(pixels)
    };
    let polygon = |corners: &[[f64; 2]]| Region::Polygon(corners.to_vec());
    let square = polygon(&[[1.0, 1.0], [3.0, 1.0], [3.0, 3.0], [1.0, 3.0]]);
    let rect = Region::Rect {
        x0: 1,
        y0: 1,
        x1: 3,
        y1: 3,
    };
    assert_eq!(on(&square, 4, 4).unwrap(), [5, 6, 9, 10]);
    assert_eq!(on(&square, 4, 4).unwrap(), on(&rect, 4, 4).unwrap());
    assert_eq!(on(&Region::Pixel { x: 3, y: 2 }, 4, 4).unwrap(), [11]);
    // Even-odd: a bow tie has nothing in the middle row's middle, and what is crossed twice is outside.
    let twice = [
        [0.0, 0.0],
        [4.0, 0.0],
        [4.0, 4.0],
        [0.0, 4.0],
        [0.0, 0.0],
        [3.0, 1.0],
        [3.0, 3.0],
        [1.0, 3.0],
        [1.0, 1.0],
        [3.0, 1.0],
    ];
    let ring = on(&polygon(&twice), 4, 4).unwrap();
    assert!(!ring.contains(&5) && !ring.contains(&10) && ring.contains(&0) && ring.contains(&15));
    // Two triangles that share an edge share no pixel and lose none, even where centres lie on it.
    let (a, b, c, d) = ([0.0, 0.0], [6.0, 0.0], [6.0, 6.0], [0.0, 6.0]);
    let mut both = on(&polygon(&[a, b, c]), 6, 6).unwrap();
    both.extend(on(&polygon(&[c, d, a]), 6, 6).unwrap());
    both.sort_unstable();
    assert_eq!(both, (0..36).collect::<Vec<_>>());
    // Any polygon against the definition, pixel by pixel.
    let mut dice = Dice(5);
    for _ in 0..200 {
        let corners: Vec<[f64; 2]> = (0..3 + dice.below(6))
            .map(|_| [dice.unit() * 14.0 - 2.0, dice.unit() * 12.0 - 2.0])
            .collect();
        let odd = |pixel: u32| {
            let (x, y) = (f64::from(pixel % 10) + 0.5, f64::from(pixel / 10) + 0.5);
            let edges = corners.iter().zip(corners.iter().cycle().skip(1));
            let crossed = edges.filter(|([x1, y1], [x2, y2])| {
                (y1 <= &y) != (y2 <= &y) && x1 + (y - y1) / (y2 - y1) * (x2 - x1) <= x
            });
            crossed.count() % 2 == 1
        };
        let want: Vec<u32> = (0..80).filter(|pixel| odd(*pixel)).collect();
        match on(&polygon(&corners), 10, 8) {
            Ok(got) => assert_eq!(got, want, "{corners:?}"),
            Err(error) => assert!(want.is_empty(), "{error}"),
        }
    }
    for region in [
        Region::Pixel { x: 4, y: 0 },
        Region::Rect {
            x0: 2,
            y0: 0,
            x1: 2,
            y1: 4,
        },
        Region::Rect {
            x0: 9,
            y0: 9,
            x1: 12,
            y1: 12,
        },
        polygon(&[a, b]),
        polygon(&[a, b, [f64::NAN, 1.0]]),
        polygon(&[[10.0, 10.0], [11.0, 10.0], [11.0, 11.0]]),
    ] {
        assert!(
            matches!(
                on(&region, 4, 4),
                Err(Error::Parameter { name: "region", .. })
            ),
            "{region:?}"
        );
    }
}

#[test]
fn normalising_divides_by_the_pixels_total() {
    let nan = f32::NAN;
    let norms = Norms::new(vec![0.0, 2.0, 4.0, 6.0, nan, 0.0]).unwrap();
    assert_eq!(norms.mean(), 4.0);
    let mut values = [5.0, 1.0, 8.0, 0.0];
    assert_eq!(norms.apply(0, &mut values).unwrap(), 8.0);
    assert_eq!(values, [0.0, 2.0, 8.0, 0.0]);
    let mut values = [3.0, nan, 9.0];
    assert_eq!(norms.apply(3, &mut values).unwrap(), 2.0);
    assert_eq!(bits(&values), bits(&[2.0, nan, 0.0]));
    assert!(norms.apply(4, &mut [0.0; 3]).is_err());
    assert!(Norms::new(vec![1.0, -1.0]).is_err() && Norms::new(vec![f32::INFINITY]).is_err());
    let nothing = Norms::new(vec![0.0; 2]).unwrap();
    assert_eq!(
        (nothing.mean(), nothing.apply(0, &mut [1.0, 2.0]).unwrap()),
        (0.0, 0.0)
    );
    for kind in Normalise::ALL {
        assert_eq!(kind.to_string().parse::<Normalise>().unwrap(), kind);
    }
    assert!("TIC".parse::<Normalise>().is_err());

    // Of a store: by what its peaks add up to.
    let sample = Sample::random(38, [5, 4, 2], 60, MIXED);
    let file = sample.store();
    let head = head(&file);
    let place = head.layout.pixel_table();
    let bytes = &file[place.start as usize..place.end as usize];
    let table = PixelTable::parse(&head, bytes, &mut Budget::new(1 << 20)).unwrap();
    assert!(Norms::of(table.clone(), Normalise::None).unwrap().is_none());
    let window = Window::new(0.0, 2000.0).unwrap();
    let wish = Wish {
        slice: 1,
        ..Wish::default()
    };
    let run = images(&reader(&file, 0), &file, &[window], &wish, WHOLE).unwrap();
    let mut values: Vec<f32> = run.images[0]
        .bits
        .iter()
        .map(|bits| f32::from_bits(*bits))
        .collect();
    let tic = Norms::of(table, Normalise::Tic).unwrap().unwrap();
    tic.apply(20, &mut values).unwrap();
    // All peaks over all peaks: every acquired pixel becomes the mean.
    for value in values.iter().filter(|value| !value.is_nan()) {
        assert!((f64::from(*value) / tic.mean() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn statistics_and_display_limits_are_over_acquired_pixels() {
    // F40: 8 of 12 acquired.
    let nan = f32::NAN;
    let rows = [1.0, 2.0, nan, nan, 3.0, 4.0, nan, nan, 5.0, 6.0, 7.0, 8.0];
    let quantile = stretch::percentile(&rows, 99.0).unwrap().unwrap();
    assert!((quantile - 7.93).abs() < 1e-9);
    assert!((stretch::hotspot(&rows).unwrap() - 7.93).abs() < 1e-9);
    // F16: zeros are left out, and one pixel ten thousand times brighter does not decide.
    let mut values: Vec<f32> = (1..100_u8).map(f32::from).collect();
    values.push(1e6);
    values.extend([0.0; 50]);
    values.extend([nan; 20]);
    let limit = stretch::hotspot(&values).unwrap();
    assert!((limit - 10_098.010_000_005_115).abs() < 1e-6);
    let code = |value: f64| (65535.0 * value.min(limit) / limit).round();
    assert_eq!((code(1.0), code(1e6)), (6.0, 65535.0));
    assert_eq!(stretch::hotspot(&[0.0_f32, nan]), None);
}

#[test]
fn images_and_spectra_of_every_real_pair_equal_scans() {
    let Some(shared) = shared() else {
        println!("skipped: no folder of real files (SECTILE_SHARED)");
        return;
    };
    let mut paths = pairs(&shared.join("data/imzml"));
    assert_eq!(paths.len(), 27);
    paths.extend(pairs(&shared.join("golden/imaging-ms/e2e")));
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let pair = Pair::open(&path);
        let sample = pair.sample();
        let file = sample.store();
        let reader = reader(&file, 1 << 20);
        let mut dice = Dice(17);
        let mut windows: Vec<Window> = (0..30)
            .map(|_| {
                let mz = sample.peaks[dice.below(sample.peaks.len())].mz;
                Window::ppm(mz, 3.0 + 300.0 * dice.unit()).unwrap()
            })
            .collect();
        windows.extend([
            Window::new(0.0, 1e6).unwrap(),
            Window::ppm(1e-3, 1.0).unwrap(),
        ]);
        let run = images(&reader, &file, &windows, &Wish::default(), WHOLE).unwrap();
        for (drawn, window) in run.images.iter().zip(&windows) {
            let (values, hits) = sample.scan(*window, 0);
            assert_eq!(
                (&drawn.bits, drawn.hits),
                (&values, hits),
                "{name} {window:?}"
            );
        }
        let grid = &pair.dataset.grid;
        let head = head(&file);
        for spectrum in pair.dataset.spectra.iter().step_by(7) {
            let pixel = grid.pixel(spectrum);
            let region = Region::Pixel {
                x: pixel % grid.width,
                y: pixel / grid.width,
            };
            let (mz, intensity) = exact(&sample, pixel);
            let from = SpectrumJob::of_pair(&pair.dataset, "ibd", &region, None, &Wish::default());
            let from = take(from, &pair.ibd, WHOLE).unwrap();
            let store = SpectrumJob::of_store(&head, &region, &Wish::default());
            let store = take(store, &file, WHOLE).unwrap();
            assert_eq!((&from.mz, &from.intensity), (&mz, &intensity), "{name}");
            assert_eq!((&store.mz, &store.intensity), (&mz, &intensity), "{name}");
        }
        let everywhere = Region::Rect {
            x0: 0,
            y0: 0,
            x1: u32::MAX,
            y1: u32::MAX,
        };
        let want = binned(&sample, &head.layout.bins, 0, |_| true);
        let bins = Some(head.layout.bins);
        let from = SpectrumJob::of_pair(&pair.dataset, "ibd", &everywhere, bins, &Wish::default());
        assert_binned(&take(from, &pair.ibd, WHOLE).unwrap(), &want, &name);
        let store = SpectrumJob::of_store(&head, &everywhere, &Wish::default());
        assert_binned(&take(store, &file, WHOLE).unwrap(), &want, &name);
    }
}

#[test]
fn images_of_the_faults_of_the_field() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/imzml");
    let nan = f32::NAN;
    let plain = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
    let cases: [(&str, u32, &[f32]); 9] = [
        ("B01_processed_f64_f32", 3, &plain),
        ("B02_continuous", 3, &plain),
        (
            "B03_zero_based",
            3,
            &[10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0],
        ),
        ("B05_no_pixel_size_no_max", 3, &plain),
        ("B07_zlib", 3, &plain),
        // Acquired without a peak is 0, never acquired is no data.
        (
            "B14_empty_and_missing",
            3,
            &[10.0, 0.0, 30.0, 40.0, nan, 60.0],
        ),
        ("B15_unsorted_mz", 3, &[10.0, 20.0, 77.0, 40.0, 50.0, 60.0]),
        // Our rule for two spectra at one position: the sum, with a warning.
        (
            "B16_duplicate_coordinates",
            3,
            &[10.0, 1020.0, 30.0, 40.0, 50.0, 60.0],
        ),
        (
            "B28_l_shape",
            4,
            &[
                10.0, 20.0, nan, nan, 50.0, 60.0, nan, nan, 90.0, 100.0, 110.0, 120.0,
            ],
        ),
    ];
    for (name, width, want) in cases {
        let pair = Pair::open(&folder.join(name).with_extension("imzML"));
        assert_eq!(pair.dataset.duplicates, u64::from(name.starts_with("B16")));
        let sample = pair.sample();
        let file = sample.store();
        let window = [Window::new(199.99, 200.01).unwrap()];
        let run = images(&reader(&file, 0), &file, &window, &Wish::default(), WHOLE).unwrap();
        assert_eq!(
            (sample.width, &run.images[0].bits),
            (width, &bits(want)),
            "{name}"
        );
    }
}

#[test]
fn images_of_both_modes_of_one_dataset_agree() {
    let Some(shared) = shared() else {
        println!("skipped: no folder of real files (SECTILE_SHARED)");
        return;
    };
    let folder = shared.join("data/imzml/pyimzml");
    let [continuous, processed] = ["Example_Continuous", "Example_Processed"].map(|name| {
        let sample = Pair::open(&folder.join(name).with_extension("imzML")).sample();
        (sample.store(), sample)
    });
    assert_eq!(continuous.1.peaks, processed.1.peaks);
    let strip = |file: &[u8]| file[head(file).layout.head_bytes as usize..].to_vec();
    assert_eq!(strip(&continuous.0), strip(&processed.0));
}

#[test]
fn images_equal_those_of_the_reference_programs() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/imaging-ms");
    let golden = std::fs::read(folder.join("e2e.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_slice(&golden).unwrap();
    let numbers = |value: &serde_json::Value| -> Vec<f64> {
        let numbers = value.as_array().unwrap().iter();
        numbers.map(|number| number.as_f64().unwrap()).collect()
    };
    // m/z (f64), intensity (f32) and pixel (u32) of each peak, in the order of the spectra.
    let bytes = std::fs::read(folder.join("peaks.bin")).unwrap();
    let peaks: Vec<Peak> = (bytes.as_chunks::<16>().0.iter())
        .map(|[a, b, c, d, e, f, g, h, i, j, k, l, pixel @ ..]| Peak {
            mz: f64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]),
            intensity: f32::from_le_bytes([*i, *j, *k, *l]).into(),
            pixel: u32::from_le_bytes(*pixel),
        })
        .collect();
    assert_eq!(peaks.len() as u64, golden["n_peaks"].as_u64().unwrap());
    let mut acquired = vec![false; 154];
    for peak in &peaks {
        acquired[peak.pixel as usize] = true;
    }
    let sample = Sample::new([14, 11, 1], acquired, peaks, MIXED);
    assert_eq!(sample.spectra, golden["n_spectra"].as_u64().unwrap());
    let file = sample.store();
    let reader = reader(&file, 1 << 20);

    // METASPACE's sparse images: four windows of 3 ppm a formula, in one call.
    let mut compared = 0;
    for formula in golden["formula_results"].as_array().unwrap() {
        let index = formula["formula_i"].as_f64().unwrap();
        let centroids = golden["centroids"].as_array().unwrap().iter().map(numbers);
        let peaks: Vec<Vec<f64>> = centroids
            .filter(|row| row[0] == index && row[2] > 0.0)
            .collect();
        let windows: Vec<Window> = peaks
            .iter()
            .map(|row| Window::ppm(row[2], 3.0).unwrap())
            .collect();
        let run = images(&reader, &file, &windows, &Wish::default(), WHOLE).unwrap();
        assert!(run.requests <= 4);
        for (drawn, peak) in run.images.iter().zip(&peaks) {
            let want = &formula["images"][peak[1] as usize];
            let mut sums = vec![0.0; 154];
            let mut hits = 0;
            if !want.is_null() {
                let (row, col, value) = (
                    numbers(&want["row"]),
                    numbers(&want["col"]),
                    numbers(&want["val"]),
                );
                hits = row.len() as u64;
                for ((row, col), value) in row.iter().zip(&col).zip(&value) {
                    sums[*row as usize * 14 + *col as usize] += value;
                }
            }
            let acquired = |pixel: usize| sample.acquired[pixel];
            let want = (sums.iter().enumerate()).map(|(pixel, sum)| {
                if acquired(pixel) {
                    *sum as f32
                } else {
                    f32::NAN
                }
            });
            assert_eq!(
                drawn.bits,
                bits(&want.collect::<Vec<_>>()),
                "{formula} {peak:?}"
            );
            assert_eq!(drawn.hits, hits);
            compared += 1;
        }
    }
    assert_eq!(compared, 48);

    // pyimzML's getionimage: a tolerance in Da, summed over the image. It takes a spectrum's first peak where no
    // more than that one lies below the window's end, even if it is outside of the window: its own fault, which
    // is added here.
    let mut faults = 0;
    for asked in golden["getionimage"].as_array().unwrap() {
        let [mz, tolerance, sum] = ["mz", "tol", "sum"].map(|name| asked[name].as_f64().unwrap());
        let window = Window::dalton(mz, tolerance).unwrap();
        let run = images(&reader, &file, &[window], &Wish::default(), WHOLE).unwrap();
        let mut wrongly = 0.0;
        for pixel in (0..154).filter(|pixel| sample.acquired[*pixel as usize]) {
            let (mz, intensity) = exact(&sample, pixel);
            if mz.partition_point(|mz| *mz <= window.hi) <= 1 && !window.contains(mz[0]) {
                wrongly += intensity[0];
                faults += 1;
            }
        }
        let sum = sum - wrongly;
        let values = run.images[0]
            .bits
            .iter()
            .map(|bits| f64::from(f32::from_bits(*bits)));
        let total: f64 = values.filter(|value| !value.is_nan()).sum();
        assert!(
            (total - sum).abs() <= 1e-6 * sum.max(1.0),
            "{mz}: {total} {sum}"
        );
    }
    assert!(faults > 0);
}
