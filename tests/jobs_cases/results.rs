//! Medians as jobs, in memory: the same results in any number of shards, and refusals.

use std::sync::Arc;

use sectile::api::catalog::{Allow, Catalog, Kind};
use sectile::api::jobs::ask::MedianAsked;
use sectile::api::jobs::assembly::{Assembly, Turn};
use sectile::api::jobs::document::Document;
use sectile::api::jobs::keys::Key;
use sectile::api::jobs::plan;
use sectile::api::jobs::shard::Shard;
use sectile::api::limits::Limits;
use sectile::api::opened::Opened;
use sectile::api::version::SourceVersion;
use sectile::error::Error;
use sectile::fits::pixel::Bitpix;
use sectile::fits::walk::Walk;
use sectile::fits::{hdu::Selection, write};
use sectile::job::{Job, Machine, Step};
use sectile::stack::exposure::{Rules, Stack};

const WIDTH: u32 = 37;
const HEIGHT: u32 = 90;
const MEMORY: u64 = 32 << 20;

struct Files {
    bodies: Vec<Vec<u8>>,
    catalog: Catalog,
    opened: Opened,
}

fn files() -> Files {
    let files: Vec<Vec<u8>> = (0..3_u32)
        .map(|n| {
            let pixel = |at: u32| {
                let value = at.wrapping_mul(2_654_435_761).wrapping_add(n * 40_503) % 1000;
                if value < 50 {
                    f32::NAN
                } else {
                    f32::from(u16::try_from(value).unwrap())
                }
            };
            let pixels: Vec<f32> = (0..WIDTH * HEIGHT).map(pixel).collect();
            let mut file = write::ImageHeader::primary(Bitpix::F32, WIDTH, HEIGHT)
                .to_bytes()
                .unwrap();
            write::put_f32(&pixels, &mut file);
            file.resize(file.len() + write::padding(pixels.len() as u64 * 4), 0);
            file
        })
        .collect();
    let mut images = Vec::new();
    for (n, file) in files.iter().enumerate() {
        let total = file.len() as u64;
        let mut walk = Walk::new(&format!("{n}.fits"), Selection::Default, 0);
        loop {
            match walk.step().unwrap() {
                Step::Need(range) => {
                    let end = usize::try_from(range.end.min(total)).unwrap();
                    let start = usize::try_from(range.start).unwrap();
                    walk.feed(range.start, &file[start..end], Some(total))
                        .unwrap();
                }
                Step::Ready(_) => {}
                Step::Done => break,
            }
        }
        images.push(walk.into_image().unwrap());
    }
    let stack = Stack::open(images.clone(), Rules::default()).unwrap();
    let seen = |n: usize| SourceVersion {
        size: Some(files[n].len() as u64),
        etag: Some(format!("\"{n}\"")),
        modified: None,
    };
    let catalog = br#"{"sectile":1,"datasets":{"demo":{"type":"stack","exposures":["a/0.fits","a/1.fits","a/2.fits"],"jobs":true}}}"#;
    let allow = Allow {
        private_origins: false,
    };
    Files {
        catalog: Catalog::parse(catalog, allow).unwrap(),
        opened: Opened::Stack {
            stack: Arc::new(stack),
            images: images.into(),
            pyramid: None,
            sources: (0..3).map(seen).collect(),
        },
        bodies: files,
    }
}

fn planned(
    files: &Files,
    shards: Option<u32>,
    limits: &Limits,
) -> Result<Document, sectile::api::Problem> {
    let asked = MedianAsked { shards };
    let declared = files.catalog.dataset("demo").unwrap();
    let (
        Kind::Stack(entry),
        Opened::Stack {
            stack,
            images,
            sources,
            ..
        },
    ) = (&declared.kind, &files.opened)
    else {
        panic!("a stack");
    };
    let (estimate, work) = plan::median(&asked, entry, (stack, images, sources), limits)?;
    let asked = sectile::api::jobs::ask::Asked::Median(asked);
    let document = Document::new("demo@01234567", asked, "sectile", estimate, &work);
    // As it comes back from the bucket.
    Ok(Document::parse(&document.id, document.to_json().as_bytes()).unwrap())
}

fn part(files: &Files, document: &Document, number: u32) -> Vec<u8> {
    let mut shard = Shard::new(document, &files.opened, None, number, MEMORY).unwrap();
    assert_eq!(shard.sources(), [0, 1, 2]);
    while !shard.is_done() {
        while let Some(fetch) = shard.next() {
            for (read, range) in fetch
                .reads
                .iter()
                .map(|read| read.range.clone())
                .enumerate()
            {
                let body = &files.bodies[fetch.source as usize];
                let body = &body
                    [usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
                shard
                    .feed(fetch.slot, read, 0, body.len(), |place| {
                        place.copy_from_slice(body);
                    })
                    .unwrap();
            }
            shard.complete(fetch.slot).unwrap();
        }
        while shard.ready().unwrap().is_some() {}
    }
    let part = shard.into_part().unwrap();
    let bytes: Vec<u8> = (0..)
        .map_while(|piece| part.piece(piece))
        .flatten()
        .copied()
        .collect();
    assert_eq!(bytes.len() as u64, part.bytes());
    bytes
}

fn assembled(document: &Document, parts: &[Vec<u8>]) -> Result<[Vec<u8>; 2], Error> {
    let mut assembly = Assembly::new(document, None, MEMORY)?;
    let mut results = [const { Vec::new() }; 2];
    loop {
        match assembly.turn()? {
            Turn::Need { part, range } => {
                let whole = &parts[part as usize - 1];
                let total = whole.len() as u64;
                let (start, end) = (range.start.min(total), range.end.min(total));
                let bytes = &whole[usize::try_from(start).unwrap()..usize::try_from(end).unwrap()];
                assembly.feed(part, range.start, bytes, total)?;
            }
            Turn::Put { file, bytes } => {
                let at = document
                    .asked
                    .results()
                    .iter()
                    .position(|name| *name == file);
                results[at.unwrap()].extend_from_slice(bytes);
            }
            Turn::Done => return Ok(results),
        }
    }
}

#[test]
fn any_number_of_shards_gives_the_same_files() {
    let files = files();
    let result = |shards: u32| {
        let document = planned(&files, Some(shards), &Limits::default()).unwrap();
        assert_eq!(document.shards, shards);
        let parts: Vec<Vec<u8>> = (1..=shards)
            .map(|number| part(&files, &document, number))
            .collect();
        assembled(&document, &parts).unwrap()
    };
    let [median, pyramid] = result(1);
    let text = String::from_utf8_lossy(&median[..2880 * 2]).into_owned();
    assert!(
        text.contains("HISTORY a/2.fits"),
        "sources are named as the catalog has them"
    );
    assert_eq!((median.len() % 2880, pyramid.len() % 2880), (0, 0));
    for shards in [2, 7, HEIGHT] {
        assert_eq!(
            result(shards),
            [median.clone(), pyramid.clone()],
            "{shards}"
        );
    }
}

#[test]
fn limits_decide_how_many_shards_there_are_and_whether_any_do() {
    let files = files();
    let limits = |limits: Limits| planned(&files, None, &limits);
    let usual = Limits::default();
    assert_eq!(limits(usual).unwrap().shards, 1);
    let slow = limits(Limits { cpu_ms: 1, ..usual }).unwrap_err();
    assert_eq!((slow.status, slow.code), (413, "budget"));
    assert!(slow.detail.contains("processor time"), "{}", slow.detail);
    let none = limits(Limits {
        requests: 14,
        ..usual
    })
    .unwrap_err();
    assert_eq!((none.status, none.code), (413, "budget"));
    assert!(none.extra.contains_key("limits"));
    let memory = limits(Limits {
        memory: 1 << 20,
        ..usual
    })
    .unwrap_err();
    assert_eq!(memory.status, 413);
}

#[test]
fn damaged_cut_and_strange_parts_are_named() {
    let files = files();
    let document = planned(&files, Some(3), &Limits::default()).unwrap();
    let parts: Vec<Vec<u8>> = (1..=3)
        .map(|number| part(&files, &document, number))
        .collect();
    let name = Key::Part(2).of(&document.id);
    let last = parts[1].len() - 1;
    for at in [0, 9, 70, 200, last] {
        let mut damaged = parts.clone();
        damaged[1][at] ^= 4;
        let error = assembled(&document, &damaged).unwrap_err().to_string();
        assert!(error.contains(&name), "{at}: {error}");
    }
    let mut cut = parts.clone();
    cut[1].truncate(last);
    assert!(
        assembled(&document, &cut)
            .unwrap_err()
            .to_string()
            .contains(&name)
    );
    let mut swapped = parts;
    swapped.swap(0, 1);
    assert!(
        assembled(&document, &swapped)
            .unwrap_err()
            .to_string()
            .contains("another shard")
    );
}
