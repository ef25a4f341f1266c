//! A shard computed in memory, and parts assembled in memory.

use std::rc::Rc;

use sectile::error::Result;
use sectile::ion::annotate::Ions;
use sectile::job::Job;
use sectile::results::assembly::{Assembly, File, Names, Turn};
use sectile::results::shards::{Description, ShardJob};
use sectile::store::head::Head;

/// The bytes of a shard's part.
pub(crate) fn part(
    store: &[u8],
    head: &Rc<Head>,
    ions: &Rc<Ions>,
    description: &Description,
    number: u32,
    memory: u64,
) -> Result<Vec<u8>> {
    let mut job = ShardJob::new(head, ions, description, number, memory, 3)?;
    let mut pending = Vec::new();
    while !job.is_done() {
        pending.extend(std::iter::from_fn(|| job.next()));
        if job.ready()?.is_some() || job.is_done() {
            continue;
        }
        pending.extend(std::iter::from_fn(|| job.next()));
        // The last that was asked for comes first.
        let fetch = pending.pop().expect("it waits for something");
        let range = &fetch.reads[0].range;
        let bytes = &store[range.start as usize..range.end as usize];
        job.feed(fetch.slot, 0, 0, bytes.len(), |place| {
            place.copy_from_slice(bytes);
        })?;
        job.complete(fetch.slot)?;
    }
    assert!(job.peak() <= memory, "{} of {memory}", job.peak());
    let part = job.into_part()?;
    let bytes = part.pieces().flatten().copied().collect::<Vec<u8>>();
    let pieces = (0..).map_while(|n| part.piece(n));
    assert!(pieces.eq(part.pieces()));
    assert_eq!(bytes.len() as u64, part.bytes());
    Ok(bytes)
}

/// What an assembly came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Assembled {
    /// Images, table, summary.
    pub(crate) files: [Vec<u8>; 3],
    pub(crate) reads: usize,
    /// The most bytes that were asked for at once.
    pub(crate) widest: u64,
}

pub(crate) fn names() -> Names {
    Names {
        before: "parts/".to_owned(),
        behind: String::new(),
    }
}

/// Assembles parts; `read` has the bytes of a part by its number.
pub(crate) fn assemble(
    description: &Description,
    ions: &Rc<Ions>,
    parts: &[Vec<u8>],
    memory: u64,
) -> Result<Assembled> {
    let mut assembly = Assembly::new(description.clone(), ions, names(), memory)?;
    let mut done = Assembled {
        files: [const { Vec::new() }; 3],
        reads: 0,
        widest: 0,
    };
    let mut sizes = None;
    loop {
        match assembly.turn()? {
            Turn::Need { part, range } => {
                let whole = &parts[part as usize - 1];
                let end = range.end.min(whole.len() as u64);
                let bytes = &whole[range.start as usize..end as usize];
                done.reads += 1;
                done.widest = done.widest.max(range.end - range.start);
                assembly.feed(part, range.start, bytes, Some(whole.len() as u64))?;
            }
            Turn::Put { file, bytes } => {
                assert!(!bytes.is_empty() || file != File::Images);
                done.files[file as usize].extend_from_slice(bytes);
                if sizes.is_none() {
                    sizes = Some(File::ALL.map(|file| assembly.size(file).unwrap()));
                }
            }
            Turn::Done => break,
        }
    }
    assert_eq!(
        sizes.unwrap(),
        done.files.each_ref().map(|file| file.len() as u64)
    );
    assert_eq!(assembly.turn()?, Turn::Done);
    Ok(done)
}
