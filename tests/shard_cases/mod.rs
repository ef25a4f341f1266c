//! Medians of stacks in memory, in one run and in shards.

use sectile::budget::Budget;
use sectile::job::Job;
use sectile::results::stack::part::{HEADER, Identity, Sums, Writer};
use sectile::results::stack::{Assembly, Description, Input, Made, Piece};
use sectile::stack::job::{MedianJob, Reduced};
use sectile::stack::plan::{Plan, Wish};

use super::stack_cases::Files;

/// The job of a stack, cut into so many shards.
pub(crate) fn described(files: &Files, wish: &Wish, shards: u32) -> Description {
    let plan = Plan::new(&files.stack, wish).unwrap();
    let exposures = &files.stack.exposures;
    let names: Vec<String> = exposures.iter().map(|one| one.name.clone()).collect();
    let made = Made {
        stack: &files.stack,
        wish,
        plan: &plan,
        names: &names,
        hdu: 0,
        planes: 1,
        plane: 0,
    };
    let input = exposures.iter().zip(&files.bytes);
    let input = input
        .map(|(one, bytes)| Input::new(one, &one.name, Some(bytes.len() as u64), Some("\"1\"")));
    Description::new(&made, input.collect(), shards).unwrap()
}

/// Runs a job over files in memory.
pub(crate) fn drive(files: &Files, mut job: MedianJob, mut take: impl FnMut(&Reduced<'_>)) {
    loop {
        while let Some(section) = job.ready().unwrap() {
            take(&section);
        }
        if job.is_done() {
            return;
        }
        let fetch = job.next().unwrap();
        let file = &files.bytes[fetch.source as usize];
        let mut buffer = job.lend(&fetch);
        for read in &fetch.reads {
            let body = &file[read.range.start as usize..read.range.end as usize];
            buffer[read.at..read.at + body.len()].copy_from_slice(body);
        }
        job.filled(&fetch, buffer).unwrap();
    }
}

/// The sections of one shard.
pub(crate) fn sections(
    files: &Files,
    wish: &Wish,
    job: &Description,
    shard: u32,
    take: impl FnMut(&Reduced<'_>),
) {
    let division = job.division().unwrap();
    drive(
        files,
        division.job(&files.stack, wish, shard).unwrap(),
        take,
    );
}

/// The parts of all shards, and their sums.
pub(crate) fn parts(files: &Files, wish: &Wish, job: &Description) -> (Vec<Vec<u8>>, Vec<Sums>) {
    let mut all = (Vec::new(), Vec::new());
    for identity in job.parts().unwrap() {
        let plan = job
            .division()
            .unwrap()
            .plan(&files.stack, wish, identity.shard)
            .unwrap();
        let origin = (plan.rect.x0, plan.rect.y0, plan.step);
        let mut budget = Budget::new(identity.total());
        let mut writer = Writer::new(identity.clone(), origin, &mut budget).unwrap();
        sections(files, wish, job, identity.shard, |section| {
            writer.put(section).unwrap();
        });
        let bytes = writer.finish().unwrap();
        all.1.push(opened(&identity, &bytes));
        all.0.push(bytes);
    }
    all
}

pub(crate) fn opened(identity: &Identity, bytes: &[u8]) -> Sums {
    identity
        .open("part", &bytes[..HEADER], bytes.len() as u64)
        .unwrap()
}

/// The FITS file of the parts.
pub(crate) fn assembled(job: &Description, parts: &[Vec<u8>], sums: &[Sums]) -> Vec<u8> {
    let mut file = Vec::new();
    for piece in Assembly::new(job, sums).unwrap().pieces {
        match piece {
            Piece::Bytes(bytes) => file.extend(bytes),
            Piece::Copy { part, range, .. } => {
                let range = range.start as usize..range.end as usize;
                file.extend(&parts[part as usize][range]);
            }
        }
    }
    file
}

/// The FITS file of one run, written to its places by the layout alone.
pub(crate) fn one_run(files: &Files, wish: &Wish) -> Vec<u8> {
    let layout = described(files, wish, 1).layout();
    let mut file = vec![0; layout.total() as usize];
    for (at, head) in layout.headers() {
        file[at as usize..][..head.len()].copy_from_slice(head);
    }
    let plan = Plan::new(&files.stack, wish).unwrap();
    let rect = plan.rect;
    drive(
        files,
        MedianJob::new(&files.stack, plan).unwrap(),
        |section| {
            use sectile::stack::job::Values;
            for row in 0..section.rows {
                for column in 0..section.width {
                    let from = (row * section.width + column) as usize;
                    let x = (section.x0 - rect.x0) / section.step + column;
                    let y = (section.y0 - rect.y0) / section.step + row;
                    let mut put = |at: u64, bytes: &[u8]| {
                        file[at as usize..][..bytes.len()].copy_from_slice(bytes);
                    };
                    match section.values {
                        Values::F32(values) => {
                            put(layout.value_at(x, y), &values[from].to_be_bytes());
                        }
                        Values::F64(values) => {
                            put(layout.value_at(x, y), &values[from].to_be_bytes());
                        }
                    }
                    put(layout.count_at(x, y), &section.count[from].to_be_bytes());
                }
            }
        },
    );
    file
}
