//! The isotopologues of a composition, before an instrument blurs them.

use std::collections::BTreeMap;

use crate::ion::formula::{Atom, Composition};
use crate::ion::isotope::spread::{LEAST_SHARE, Spread};
use crate::ion::isotope::{Isotopologue, MOST_ISOTOPOLOGUES};

/// Lists and isotopologues in them that are kept before all are dropped: more than the formulas of
/// a database of lipids need.
const KEPT_LISTS: usize = 4096;
const KEPT: usize = 16_384;

/// The most isotopologues in any buffer: those kept, and the longest list to join them.
const MOST_HELD: usize = KEPT + MOST_ISOTOPOLOGUES;

/// Lists of single elements, which few atoms of few elements share; and the product of some.
#[derive(Debug, Clone, Default)]
pub(super) struct Fine {
    floor: f64,
    lists: BTreeMap<(Atom, u32), List>,
    /// All lists, one after the other.
    kept: Vec<Isotopologue>,
    product: Vec<Isotopologue>,
}

/// The isotopologues of so many atoms of one kind.
#[derive(Debug, Clone, Copy)]
struct List {
    start: usize,
    end: usize,
    /// Of the most probable one, in Da.
    mass: f64,
    /// Of the lightest one relative to it, not positive.
    lightest: f64,
}

/// Why there is no list.
pub(super) enum Short {
    /// There are more than [`MOST_ISOTOPOLOGUES`].
    Many,
    /// The allocator has not enough left for so many bytes.
    Memory(usize),
}

impl Fine {
    /// Bytes that it holds at most.
    pub(super) const BYTES: usize = {
        let isotopologues = 2 * MOST_HELD;
        // A node of a tree is half full at least.
        let lists = KEPT_LISTS * 2 * size_of::<((Atom, u32), List)>();
        isotopologues * size_of::<Isotopologue>() + lists
    };

    /// Nothing yet; ways to spread isotopes over one element's atoms are dropped below the probability `floor`.
    pub(super) fn new(floor: f64) -> Self {
        Self {
            floor,
            ..Self::default()
        }
    }

    /// The isotopologues of a composition that are at least 1e-4 as probable as the most probable one, by mass;
    /// `shift` is added to all masses. The mass of the most probable one comes with them.
    pub(super) fn of(
        &mut self,
        composition: &Composition,
        shift: f64,
    ) -> Result<(&[Isotopologue], f64), Short> {
        self.product.clear();
        self.product.push(Isotopologue {
            mz: 0.0,
            share: 1.0,
        });
        let mut mass = 0.0;
        for (atom, count) in composition.atoms() {
            let list = self.list(*atom, *count)?;
            mass += list.mass;
            // Each further way of this element joins all that came before it.
            let before = self.product.len();
            for way in &self.kept[list.start + 1..list.end] {
                let room = MOST_ISOTOPOLOGUES.saturating_sub(self.product.len());
                if room < before && !fits(&self.product[..before], way.share, room) {
                    return Err(Short::Many);
                }
                grow(&mut self.product, before.min(room))?;
                for at in 0..before {
                    let other = self.product[at];
                    let share = other.share * way.share;
                    if share >= LEAST_SHARE {
                        self.product.push(Isotopologue {
                            mz: other.mz + way.mz,
                            share,
                        });
                    }
                }
            }
        }
        mass += shift;
        for isotopologue in &mut self.product {
            isotopologue.mz += mass;
        }
        // Of equal masses either may come first: their sum is the same.
        self.product
            .sort_unstable_by(|a, b| a.mz.total_cmp(&b.mz).then(b.share.total_cmp(&a.share)));
        Ok((&self.product, mass))
    }

    /// A mass that no isotopologue of a composition is below.
    pub(super) fn lightest(&mut self, composition: &Composition) -> f64 {
        let mut mass = 0.0;
        for (atom, count) in composition.atoms() {
            mass += if let Ok(list) = self.list(*atom, *count) {
                list.mass + list.lightest
            } else {
                let masses = atom.isotopes().iter().map(|isotope| isotope.mass);
                masses.fold(f64::INFINITY, f64::min) * f64::from(*count)
            };
        }
        mass
    }

    /// The list of `count` atoms of a kind; it is there until the next one is asked for.
    fn list(&mut self, atom: Atom, count: u32) -> Result<List, Short> {
        if let Some(list) = self.lists.get(&(atom, count)) {
            return Ok(*list);
        }
        if self.kept.len() > KEPT || self.lists.len() >= KEPT_LISTS {
            self.lists.clear();
            self.kept.clear();
            self.kept.shrink_to(KEPT);
        }
        let start = self.kept.len();
        let spread = Spread::new(atom, count, self.floor);
        let mass = spread.mass;
        if let Err(short) = spread.list(&mut self.kept) {
            self.kept.truncate(start);
            return Err(short);
        }
        let masses = self.kept[start..].iter().map(|way| way.mz);
        let list = List {
            start,
            end: self.kept.len(),
            mass,
            lightest: masses.fold(0.0, f64::min),
        };
        self.lists.insert((atom, count), list);
        Ok(list)
    }
}

/// Whether no more than `room` of these remain at a share of `share`.
fn fits(list: &[Isotopologue], share: f64, room: usize) -> bool {
    let remaining = list.iter().filter(|one| one.share * share >= LEAST_SHARE);
    remaining.count() <= room
}

/// Makes room for `more`, by doubling, but never for more than are ever held.
pub(super) fn grow(list: &mut Vec<Isotopologue>, more: usize) -> Result<(), Short> {
    let need = list.len() + more;
    if need <= list.capacity() {
        return Ok(());
    }
    let want = (2 * list.capacity()).clamp(64, MOST_HELD).max(need);
    list.try_reserve_exact(want - list.len())
        .map_err(|_| Short::Memory(want * size_of::<Isotopologue>()))
}
