//! How the isotopes of one element spread over its atoms.

use crate::ion::formula::Atom;
use crate::ion::isotope::fine::{Short, grow};
use crate::ion::isotope::{Isotopologue, MOST_ISOTOPOLOGUES};

/// No element has more isotopes.
const MOST_ISOTOPES: usize = 10;

/// Smallest probability that is listed, relative to the most probable one.
pub(super) const LEAST_SHARE: f64 = 1e-4;

/// The ways in which isotopes may be put on a number of atoms of one kind.
///
/// The most probable way is the first; the others are moves of atoms from one isotope to another, away from
/// it. As the multinomial distribution is log-concave, every way that is probable enough is reached through
/// ways that are more probable than it, and of the moves that lead to it one is singled out: so each is met
/// once, and none has to be remembered.
pub(super) struct Spread {
    isotopes: usize,
    masses: [f64; MOST_ISOTOPES],
    abundances: [f64; MOST_ISOTOPES],
    most_probable: [u32; MOST_ISOTOPES],
    counts: [u32; MOST_ISOTOPES],
    least: f64,
    listed: usize,
    /// Mass in Da of the most probable way.
    pub(super) mass: f64,
}

impl Spread {
    /// The spread of `count` atoms; ways of a probability below `floor` are dropped too.
    pub(super) fn new(atom: Atom, count: u32, floor: f64) -> Self {
        let mut spread = Self {
            isotopes: 0,
            masses: [0.0; MOST_ISOTOPES],
            abundances: [0.0; MOST_ISOTOPES],
            most_probable: [0; MOST_ISOTOPES],
            counts: [0; MOST_ISOTOPES],
            least: LEAST_SHARE,
            listed: 1,
            mass: 0.0,
        };
        for (place, isotope) in atom.isotopes().iter().take(MOST_ISOTOPES).enumerate() {
            spread.masses[place] = isotope.mass;
            spread.abundances[place] = isotope.abundance;
            spread.isotopes = place + 1;
        }
        let probability = spread.place(count);
        // What is improbable altogether is so in every way: nothing would be left.
        if probability > floor {
            spread.least = spread.least.max(floor / probability);
        }
        spread
    }

    /// Puts the atoms where they are most probable, and gives that probability.
    ///
    /// One by one, each where it gains most: that is the optimum, since an isotope's next atom always gains
    /// less than the one before. The probability is that of the atoms so far, which stays far from 0.
    fn place(&mut self, count: u32) -> f64 {
        let n = self.isotopes;
        let total: f64 = self.abundances[..n].iter().sum();
        let mut probability = 1.0;
        for atoms in 1..=count {
            let (mut most, mut best) = (-1.0, 0);
            for place in 0..n {
                let gain = self.abundances[place] / f64::from(self.counts[place] + 1);
                if gain > most {
                    (most, best) = (gain, place);
                }
            }
            self.counts[best] += 1;
            probability *= f64::from(atoms) * most / total;
        }
        self.most_probable = self.counts;
        let placed = self.masses.iter().zip(self.counts);
        self.mass = placed.map(|(mass, count)| mass * f64::from(count)).sum();
        probability
    }

    /// Appends all ways to `list`, masses relative to the most probable one's, which is the first.
    ///
    /// Ends as soon as there are more than [`MOST_ISOTOPOLOGUES`] of them.
    pub(super) fn list(mut self, list: &mut Vec<Isotopologue>) -> Result<(), Short> {
        let start = list.len();
        let last = self.isotopes.saturating_sub(1);
        let most_probable = Isotopologue {
            mz: 0.0,
            share: 1.0,
        };
        grow(list, 1)?;
        list.push(most_probable);
        self.walk(most_probable, last, last, list)?;
        list[start..]
            .sort_unstable_by(|a, b| b.share.total_cmp(&a.share).then(a.mz.total_cmp(&b.mz)));
        Ok(())
    }

    /// Lists what is one or more moves away from where `counts` is.
    ///
    /// `gains` and `loses` are the first isotopes that have more, or fewer, atoms than in the most probable way:
    /// a move goes to one that is not behind `gains`, from one that is not behind `loses`. Moves between
    /// these two are left out, because who called goes on with them; so this nests no deeper than there
    /// are isotopes on both sides.
    fn walk(
        &mut self,
        here: Isotopologue,
        gains: usize,
        loses: usize,
        list: &mut Vec<Isotopologue>,
    ) -> Result<(), Short> {
        for to in 0..=gains {
            for from in 0..=loses {
                if from != to && (to, from) != (gains, loses) {
                    self.chain(here, to, from, list)?;
                }
            }
        }
        Ok(())
    }

    /// Moves atom after atom from one isotope to another, as long as that is probable enough, lists each of
    /// these ways and what is further away, and moves the atoms back.
    fn chain(
        &mut self,
        mut here: Isotopologue,
        to: usize,
        from: usize,
        list: &mut Vec<Isotopologue>,
    ) -> Result<(), Short> {
        if self.counts[to] < self.most_probable[to] || self.counts[from] > self.most_probable[from]
        {
            return Ok(());
        }
        let before = (self.counts[to], self.counts[from]);
        while self.counts[from] > 0 {
            let ratio = f64::from(self.counts[from]) / f64::from(self.counts[to] + 1);
            here.share *= ratio * (self.abundances[to] / self.abundances[from]);
            if here.share < self.least {
                break;
            }
            here.mz += self.masses[to] - self.masses[from];
            self.counts[to] += 1;
            self.counts[from] -= 1;
            self.listed += 1;
            if self.listed > MOST_ISOTOPOLOGUES {
                return Err(Short::Many);
            }
            grow(list, 1)?;
            list.push(here);
            self.walk(here, to, from, list)?;
        }
        (self.counts[to], self.counts[from]) = before;
        Ok(())
    }
}
