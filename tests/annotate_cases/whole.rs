//! Whole lists annotated, with the plan held to what the job does.

use std::rc::Rc;

use sectile::error::Error;
use sectile::ion::annotate::{AnnotateJob, Ions, Wish, plan};
use sectile::store::head::{Head, Real};

use super::{Outcome, annotate, composition, patterns};
use crate::ion_cases::{Feeding, head};

pub(crate) const F32: [Real; 2] = [Real::F32, Real::F32];
pub(crate) const MIXED: [Real; 2] = [Real::F64, Real::F32];
pub(crate) const F64: [Real; 2] = [Real::F64, Real::F64];

pub(crate) fn wish(memory: u64) -> Wish {
    Wish {
        memory,
        ..Wish::default()
    }
}

/// The budget that plan and job need at least.
pub(crate) fn minimum(head: &Rc<Head>, ions: &Rc<Ions>, wish: &Wish) -> u64 {
    let wish = Wish {
        memory: 1,
        ..wish.clone()
    };
    let planned = plan(head, ions, 0..ions.len(), &wish);
    match (
        planned,
        AnnotateJob::new(head.clone(), ions.clone(), 0..ions.len(), 0, &wish),
    ) {
        (Err(Error::Budget { need, have: 1, .. }), Err(Error::Budget { need: same, .. })) => {
            assert_eq!(need, same);
            need
        }
        other => panic!("{other:?}"),
    }
}

/// Annotates a whole list, and holds the plan to it.
pub(crate) fn all(file: &[u8], ions: &Rc<Ions>, wish: &Wish, feeding: Feeding) -> Outcome {
    let head = head(file);
    let planned = plan(&head, ions, 0..ions.len(), wish).unwrap();
    let outcome = annotate(file, &head, ions, 0..ions.len(), 0, wish, feeding).unwrap();
    assert_eq!(
        (outcome.run.requests, outcome.run.bytes),
        (planned.requests, planned.bytes)
    );
    assert!(
        outcome.run.peak <= planned.peak_bytes,
        "{} {planned:?}",
        outcome.run.peak
    );
    assert!(planned.peak_bytes <= wish.memory, "{planned:?}");
    assert_eq!(outcome.told, u64::from(ions.len()));
    assert_eq!(outcome.stopped, None);
    assert_eq!(outcome.positions.last(), Some(&ions.len()));
    assert!(outcome.positions.is_sorted());
    outcome
}

/// The blocks that the windows of all ions touch.
pub(crate) fn wanted(ions: &Ions, head: &Head) -> Vec<usize> {
    let windows = windows(ions);
    let blocks = windows.iter().flat_map(|(lo, hi)| head.blocks_of(*lo, *hi));
    let mut wanted: Vec<usize> = blocks.collect();
    wanted.sort_unstable();
    wanted.dedup();
    wanted
}

/// The windows of all ions, none of whose peaks is below the bound that the order stands on.
pub(crate) fn windows(ions: &Ions) -> Vec<(f64, f64)> {
    let mut patterns = patterns(ions.request());
    let mut windows = Vec::new();
    for position in 0..ions.len() {
        let pattern = patterns.pattern(&composition(ions, position)).unwrap();
        let bound = ions.lowest(position).unwrap();
        assert!(bound <= pattern.mz[0], "{bound} {pattern:?}");
        for mz in &pattern.mz[..usize::from(pattern.peaks)] {
            let half = ions.request().half_width(*mz);
            windows.push((mz - half, mz + half));
        }
    }
    windows
}
