//! Datasets in memory, opened as a host would, and a driver of answers.

#[path = "../dice/mod.rs"]
mod dice;

pub(crate) use dice::Dice;

use std::collections::BTreeMap;

use sectile::api::answer::{Answer, Ticket};
use sectile::api::catalog::{Allow, Catalog, Dataset};
use sectile::api::opened::{Opened, Opening};
use sectile::api::request::Request;
use sectile::api::route::{Routed, route};
use sectile::api::{Limits, Problem, Reply, Route};
use sectile::error::Result;
use sectile::fits::pixel::{Bitpix, Encoding};
use sectile::fits::write::{ImageHeader, padding};
use sectile::job::{Fetch, Job};

/// Files by their names, in the order of the dataset's sources.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    pub(crate) names: Vec<String>,
    pub(crate) bytes: Vec<Vec<u8>>,
}

/// A dataset with its files.
pub(crate) struct Sample {
    pub(crate) dataset: Dataset,
    pub(crate) files: Files,
    pub(crate) opened: Opened,
    /// Requests and bytes that opening it took.
    pub(crate) cost: (u64, u64),
}

pub(crate) const WCS: [&str; 8] = [
    "CTYPE1  = 'RA---TAN'",
    "CTYPE2  = 'DEC--TAN'",
    "CRVAL1  =                150.0",
    "CRVAL2  =                  2.5",
    "CRPIX1  =                 10.5",
    "CRPIX2  =                  7.0",
    "CDELT1  =              -0.0001",
    "CDELT2  =               0.0001",
];

/// A FITS file of one image of these stored pixels.
pub(crate) fn fits(
    encoding: Encoding,
    size: (u32, u32),
    unit: Option<&str>,
    data: &[u8],
) -> Vec<u8> {
    let mut header = ImageHeader::primary(encoding.bitpix, size.0, size.1);
    header.carried = WCS.iter().map(|card| format!("{card:80}")).collect();
    header.unit = unit.map(str::to_owned);
    let mut file = header.to_bytes().unwrap();
    if !encoding.is_plain() {
        let cards = [
            format!("{:80}", format!("BSCALE  = {:>20?}", encoding.bscale)),
            format!("{:80}", format!("BZERO   = {:>20?}", encoding.bzero)),
        ];
        let end = file
            .chunks(80)
            .position(|card| card.starts_with(b"END "))
            .unwrap()
            * 80;
        let rest = file.split_off(end);
        file.extend(cards.concat().into_bytes());
        file.extend(rest);
        file.truncate(file.len() - 160);
        assert_eq!(file.len() % 2880, 0);
    }
    file.extend_from_slice(data);
    file.resize(file.len() + padding(data.len() as u64), 0);
    file
}

/// A stack of exposures of these kinds in turn; NaN here and there, and everywhere in the corner below.
pub(crate) fn stack(count: usize, size: (u32, u32), kinds: &[Encoding]) -> Sample {
    let mut dice = Dice(count as u64 * 7919 + u64::from(size.0) * 31 + u64::from(size.1));
    let mut files = Files::default();
    for index in 0..count {
        let encoding = kinds[index % kinds.len()];
        let mut data = Vec::new();
        for pixel in 0..size.0 * size.1 {
            let raw = dice.next();
            let (x, y) = (pixel % size.0, pixel / size.0);
            let blank = raw.is_multiple_of(11) || (x < 3 && y < 2 && size.0 > 8);
            match encoding.bitpix {
                Bitpix::F32 if blank => data.extend(f32::NAN.to_be_bytes()),
                Bitpix::F32 => data.extend(((raw % 4001) as f32 * 0.25 - 300.0).to_be_bytes()),
                Bitpix::F64 if blank => data.extend(f64::NAN.to_be_bytes()),
                Bitpix::F64 => data.extend(((raw % 4001) as f64 * 0.1 - 200.0).to_be_bytes()),
                _ => data.extend(&raw.to_be_bytes()[..encoding.bitpix.size()]),
            }
        }
        files.names.push(format!("e/{index}.fits"));
        files.bytes.push(fits(encoding, size, Some("DN/s"), &data));
    }
    of_files(files)
}

/// The stack of these files.
pub(crate) fn of_files(files: Files) -> Sample {
    let names: Vec<String> = files.names.iter().map(|name| format!("{name:?}")).collect();
    let entry = format!(r#"{{"type":"stack","exposures":[{}]}}"#, names.join(","));
    open(&entry, files)
}

/// Opens a dataset that is declared as `entry`.
pub(crate) fn open(entry: &str, files: Files) -> Sample {
    let dataset = declared(entry);
    let (opened, cost) = opened(&dataset, &files, usize::MAX).unwrap();
    Sample {
        dataset,
        files,
        opened,
        cost,
    }
}

/// The dataset of a declaration.
pub(crate) fn declared(entry: &str) -> Dataset {
    let text = format!(r#"{{"sectile":1,"datasets":{{"d":{entry}}}}}"#);
    let catalog = Catalog::parse(text.as_bytes(), Allow::default()).unwrap();
    assert_eq!(catalog.faulty, []);
    catalog.datasets[0].clone()
}

/// Opens a dataset; each answer brings at most `most` bytes.
pub(crate) fn opened(
    dataset: &Dataset,
    files: &Files,
    most: usize,
) -> Result<(Opened, (u64, u64))> {
    let mut opening = Opening::new(dataset, 16 << 20)?;
    let mut cost = (0, 0);
    // Turn by turn, so that walks are interleaved.
    while !opening.is_done() {
        let pending: Vec<u32> = opening.pending().collect();
        for source in pending {
            let Some(range) = opening.need(source)? else {
                continue;
            };
            let file = &files.bytes[source as usize];
            let total = file.len() as u64;
            let end = range.end.min(total) as usize;
            let bytes = &file[range.start.min(total) as usize..end];
            let bytes = &bytes[..bytes.len().min(most)];
            opening.feed(source, range.start, bytes, Some(total))?;
            opening.identify(source, Some(&format!("\"{source}\"")), None)?;
            cost = (cost.0 + 1, cost.1 + bytes.len() as u64);
        }
    }
    Ok((opening.finish()?, cost))
}

/// How a driver behaves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Feeding {
    pub(crate) piece: usize,
    /// Whether fetches arrive in another order, and whole buffers are lent.
    pub(crate) shuffled: bool,
}

pub(crate) const WHOLE: Feeding = Feeding {
    piece: usize::MAX,
    shuffled: false,
};

/// A reply and what it took.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) reply: Reply,
    pub(crate) ticket: Ticket,
    pub(crate) requests: u64,
    pub(crate) bytes: u64,
    pub(crate) peak: u64,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.reply.header(name).unwrap_or("")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.reply.body).unwrap()
    }
}

/// The route of an address.
pub(crate) fn routed(target: &str) -> Route {
    match route(&Request::get(target)).unwrap() {
        Routed::To(_, route) => route,
        other => panic!("{other:?}"),
    }
}

impl Sample {
    pub(crate) fn ticket(&self, target: &str, limits: &Limits) -> Result<Option<Ticket>, Problem> {
        let route = routed(&format!("/v1/d/{target}"));
        Ticket::plan("d@00000000", &route, &self.opened, limits)
    }

    /// The answer within the usual limits.
    pub(crate) fn get(&self, target: &str) -> Got {
        self.get_within(target, &Limits::default(), WHOLE)
    }

    /// The answer within these limits, in exactly the memory that it is planned for.
    pub(crate) fn get_within(&self, target: &str, limits: &Limits, feeding: Feeding) -> Got {
        let ticket = self.ticket(target, limits).unwrap().unwrap();
        limits.check(&ticket.cost).unwrap();
        let mut answer = ticket.start(&self.opened, limits.memory).unwrap();
        let (requests, bytes) = drive(&mut answer, &self.files, feeding).unwrap();
        assert_eq!((requests, bytes), answer.asked());
        let peak = answer.peak();
        let reply = answer.into_reply().unwrap();
        assert_eq!(reply.status, 200);
        Got {
            reply,
            ticket,
            requests,
            bytes,
            peak,
        }
    }
}

/// Runs an answer to its end; requests and bytes.
pub(crate) fn drive(answer: &mut Answer, files: &Files, feeding: Feeding) -> Result<(u64, u64)> {
    let mut dice = Dice(17);
    let mut pending: Vec<Fetch> = Vec::new();
    let (mut requests, mut bytes, mut items) = (0, 0, 0);
    let mut seen: BTreeMap<(u32, u64), u64> = BTreeMap::new();
    loop {
        if answer.ready()?.is_some() {
            items += 1;
            continue;
        }
        if answer.is_done() {
            break;
        }
        pending.extend(std::iter::from_fn(|| answer.next()));
        assert!(!pending.is_empty(), "not done, but asks for nothing");
        let at = if feeding.shuffled {
            dice.below(pending.len())
        } else {
            0
        };
        let fetch = pending.remove(at);
        let source = answer.sources()[fetch.source as usize] as usize;
        let file = &files.bytes[source];
        let buffer = feeding.shuffled.then(|| answer.lend(&fetch));
        let mut whole = buffer.unwrap_or_default();
        for (index, read) in fetch.reads.iter().enumerate() {
            assert_eq!((read.source, read.slot), (fetch.source, fetch.slot));
            let old = seen.insert((fetch.source, read.range.start), read.range.end);
            assert_eq!(old, None, "a byte is asked for twice");
            let end = (read.range.end as usize).min(file.len());
            let body = &file[(read.range.start as usize).min(end)..end];
            requests += 1;
            bytes += read.len();
            if feeding.shuffled {
                whole[read.at..read.at + body.len()].copy_from_slice(body);
                continue;
            }
            for (piece, from) in body
                .chunks(feeding.piece)
                .zip((0_u64..).step_by(feeding.piece.min(1 << 40)))
            {
                answer.feed(fetch.slot, index, from, piece.len(), |place| {
                    place.copy_from_slice(piece);
                })?;
            }
        }
        if feeding.shuffled {
            answer.filled(&fetch, whole)?;
        } else {
            answer.complete(fetch.slot)?;
        }
    }
    assert_eq!((items, pending.len()), (1, 0));
    Ok((requests, bytes))
}
