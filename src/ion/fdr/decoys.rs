//! Which decoy adducts each formula has.

use std::collections::BTreeSet;

use crate::error::{Error, Result};
use crate::ion::fdr::estimate::Rule;
use crate::ion::fdr::mersenne::Twister;
use crate::ion::formula::modifier::Modifier;
use crate::ion::scoring::Scoring;

/// The elements that no molecule takes up as an adduct, in METASPACE's order; a decoy adds one of them.
pub const DECOY_ADDUCTS: [&str; 80] = [
    "+He", "+Li", "+Be", "+B", "+C", "+N", "+O", "+F", "+Ne", "+Mg", "+Al", "+Si", "+P", "+S",
    "+Cl", "+Ar", "+Ca", "+Sc", "+Ti", "+V", "+Cr", "+Mn", "+Fe", "+Co", "+Ni", "+Cu", "+Zn",
    "+Ga", "+Ge", "+As", "+Se", "+Br", "+Kr", "+Rb", "+Sr", "+Y", "+Zr", "+Nb", "+Mo", "+Ru",
    "+Rh", "+Pd", "+Ag", "+Cd", "+In", "+Sn", "+Sb", "+Te", "+I", "+Xe", "+Cs", "+Ba", "+La",
    "+Ce", "+Pr", "+Nd", "+Sm", "+Eu", "+Gd", "+Tb", "+Dy", "+Ho", "+Ir", "+Th", "+Pt", "+Os",
    "+Yb", "+Lu", "+Bi", "+Pb", "+Re", "+Tl", "+Tm", "+U", "+W", "+Au", "+Er", "+Hf", "+Hg", "+Ta",
];

/// METASPACE's number of decoys for each target, and the fewest that [`Decoys::doubts`] does not doubt.
pub const USUAL: u8 = 20;

/// The fewest targets that rates are estimated from without a warning.
pub const FEWEST_TARGETS: usize = 20;

/// The most targets: with a neutral loss each they make 56,700 modifiers.
const MOST_TARGETS: usize = 700;

/// The seed of METASPACE's choice.
const SEED: u32 = 42;

/// The decoys of every formula.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoys {
    modifiers: Vec<Modifier>,
    targets: usize,
    per_target: u8,
    formulas: usize,
    rule: Rule,
    /// For each target and adduct of [`DECOY_ADDUCTS`] the modifier that they make.
    made: Vec<u16>,
    /// Adducts of the formulas, `per_target` for each target, or for all of them together.
    chosen: Vec<u8>,
}

impl Decoys {
    /// Chooses decoys for so many formulas as METASPACE does for formulas in this order.
    ///
    /// Adducts that are targets are not decoys, however they are spelled (`+Li`, `[M+Li1]+`). What is left is shuffled for each formula (v3), or for each
    /// formula and target (v1, v2), always from the same order and with one [`Twister`] of seed 42, and the first
    /// `per_target` are taken. A decoy has its target's neutral loss.
    ///
    /// # Cost
    /// [`Decoys::need`]; one shuffle of 80 for each formula (v3), or each formula and target: milliseconds a thousand.
    ///
    /// # Errors
    /// [`Error::Parameter`] without targets, for one that is given twice, for more than 700 of them, and if
    /// `per_target` is 0 or more than there are decoys; [`Error::Budget`] if the allocator has not enough left.
    pub fn choose(
        formulas: usize,
        targets: &[Modifier],
        per_target: u8,
        scoring: Scoring,
    ) -> Result<Self> {
        let candidates = candidates(targets)?;
        if per_target == 0 || usize::from(per_target) > candidates.len() {
            return Err(Error::Parameter {
                name: "decoys",
                what: format!(
                    "{per_target} for each target; give 1 to {}, as many decoy adducts as are no targets",
                    candidates.len()
                ),
            });
        }
        let mut decoys = Self {
            modifiers: targets.to_vec(),
            targets: targets.len(),
            per_target,
            formulas,
            rule: scoring.into(),
            made: vec![0; targets.len() * DECOY_ADDUCTS.len()],
            chosen: Vec::new(),
        };
        decoys.draw(&candidates)?;
        decoys.make(&candidates)?;
        Ok(decoys)
    }

    /// Bytes that [`choose`](Self::choose) allocates besides the modifiers: for each formula one a decoy, for each target
    /// (v1, v2) or for all of them together (v3); and 160 for each target.
    #[must_use]
    pub fn need(formulas: usize, targets: usize, per_target: u8, scoring: Scoring) -> u64 {
        let draws = match Rule::from(scoring) {
            Rule::Rankings => targets as u64,
            Rule::Succession => 1,
        };
        let chosen = (formulas as u64).saturating_mul(draws * u64::from(per_target));
        let made = targets as u64 * (DECOY_ADDUCTS.len() * size_of::<u16>()) as u64;
        chosen.saturating_add(made)
    }

    fn draw(&mut self, candidates: &[u8]) -> Result<()> {
        let draws = match self.rule {
            Rule::Rankings => self.targets,
            Rule::Succession => 1,
        };
        let taken = usize::from(self.per_target);
        let need = (self.formulas as u64).saturating_mul((draws * taken) as u64);
        let len = usize::try_from(need).unwrap_or(usize::MAX);
        self.chosen
            .try_reserve_exact(len)
            .map_err(|_| Error::Budget {
                need,
                have: 0,
                what: "the choice of decoys".to_owned(),
            })?;
        let mut twister = Twister::new(SEED);
        let mut shuffled = candidates.to_vec();
        for _ in 0..self.formulas * draws {
            shuffled.copy_from_slice(candidates);
            twister.shuffle(&mut shuffled);
            self.chosen.extend_from_slice(&shuffled[..taken]);
        }
        Ok(())
    }

    /// Makes the modifiers that were chosen for any formula, each once.
    fn make(&mut self, candidates: &[u8]) -> Result<()> {
        let mut drawn = [false; DECOY_ADDUCTS.len()];
        for adduct in &self.chosen {
            drawn[usize::from(*adduct)] = true;
        }
        let losses: Vec<Modifier> = self.modifiers.iter().map(Modifier::loss).collect();
        let shown: Vec<String> = losses.iter().map(Modifier::to_string).collect();
        for (target, loss) in losses.iter().enumerate() {
            let row = target * DECOY_ADDUCTS.len();
            let mut before = shown[..target].iter();
            if let Some(same) = before.position(|other| *other == shown[target]) {
                let from = same * DECOY_ADDUCTS.len();
                self.made.copy_within(from..from + DECOY_ADDUCTS.len(), row);
                continue;
            }
            for &adduct in candidates
                .iter()
                .filter(|adduct| drawn[usize::from(**adduct)])
            {
                let decoy = join(loss, adduct)?;
                self.made[row + usize::from(adduct)] = index(self.modifiers.len())?;
                self.modifiers.push(decoy);
            }
        }
        Ok(())
    }

    /// All modifiers: the targets in their order, then the decoys.
    #[must_use]
    pub fn modifiers(&self) -> &[Modifier] {
        &self.modifiers
    }

    /// How many of [`modifiers`](Self::modifiers) are targets.
    #[must_use]
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// How many formulas have decoys.
    #[must_use]
    pub fn formulas(&self) -> usize {
        self.formulas
    }

    /// Decoys for each formula and target.
    #[must_use]
    pub fn per_target(&self) -> u8 {
        self.per_target
    }

    /// How rates are estimated from them.
    #[must_use]
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// The decoys of a formula and target, as indices of [`modifiers`](Self::modifiers) in the order of their
    /// rankings; none if there is no such formula or target.
    #[must_use]
    pub fn of(&self, formula: usize, target: usize) -> impl ExactSizeIterator<Item = u16> + '_ {
        let taken = usize::from(self.per_target);
        let from = match self.rule {
            Rule::Rankings => (formula * self.targets + target) * taken,
            Rule::Succession => formula * taken,
        };
        let there = formula < self.formulas && target < self.targets;
        let chosen = if there {
            &self.chosen[from..from + taken]
        } else {
            &[]
        };
        let row = target * DECOY_ADDUCTS.len();
        chosen
            .iter()
            .map(move |adduct| self.made[row + usize::from(*adduct)])
    }

    /// Replaces what is in `into` by all modifiers of a formula, each once and ascending: the targets, then the decoys
    /// of any of them.
    pub fn modifiers_of(&self, formula: usize, into: &mut Vec<u16>) {
        into.clear();
        if formula >= self.formulas {
            return;
        }
        into.extend((0..self.targets).filter_map(|target| u16::try_from(target).ok()));
        for target in 0..self.targets {
            into.extend(self.of(formula, target));
        }
        into.sort_unstable();
        into.dedup();
    }

    /// Why rates will be rough whatever is found, a sentence each: fewer than 20 decoys, a list of fewer than 20
    /// formulas.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut doubts = Vec::new();
        if self.per_target < USUAL {
            doubts.push(format!(
                "{} decoys for each ion, fewer than {USUAL}: rates of false discovery are rough",
                self.per_target
            ));
        }
        if self.formulas < FEWEST_TARGETS {
            doubts.push(format!(
                "{} formula{}, fewer than {FEWEST_TARGETS}: too few to estimate rates of false discovery from",
                self.formulas,
                if self.formulas == 1 { "" } else { "s" }
            ));
        }
        doubts
    }

    /// Bytes of memory that it holds.
    #[must_use]
    pub fn held_bytes(&self) -> u64 {
        let modifiers = self.modifiers.iter().map(Modifier::bytes);
        (self.chosen.capacity() + 2 * self.made.capacity()) as u64 + modifiers.sum::<u64>()
    }
}

impl From<Scoring> for Rule {
    fn from(scoring: Scoring) -> Self {
        match scoring {
            Scoring::V1 | Scoring::V2 => Self::Rankings,
            Scoring::V3 => Self::Succession,
        }
    }
}

/// The decoy adducts that are no targets, as indices of [`DECOY_ADDUCTS`].
fn candidates(targets: &[Modifier]) -> Result<Vec<u8>> {
    let wrong = |what: String| Error::Parameter {
        name: "adducts",
        what,
    };
    if targets.is_empty() {
        return Err(wrong(
            "none is given; give for instance +H,+Na,+K".to_owned(),
        ));
    }
    if targets.len() > MOST_TARGETS {
        return Err(too_many());
    }
    let shown: Vec<String> = targets.iter().map(Modifier::to_string).collect();
    for (n, target) in shown.iter().enumerate() {
        if shown[..n].contains(target) {
            return Err(wrong(format!("{target:?} is given twice; give each once")));
        }
    }
    // By their parts, as METASPACE compares texts: `-H+C+H` is not `+C`.
    let asked: BTreeSet<Vec<_>> = targets.iter().map(|one| one.parts().collect()).collect();
    let mut candidates: Vec<u8> = (0..80).collect();
    for target in targets {
        let loss = target.loss();
        for at in (0..candidates.len()).rev() {
            let decoy = join(&loss, candidates[at])?;
            if asked.contains(&decoy.parts().collect::<Vec<_>>()) {
                candidates.remove(at);
            }
        }
    }
    Ok(candidates)
}

/// A neutral loss with a decoy adduct.
fn join(loss: &Modifier, adduct: u8) -> Result<Modifier> {
    let name = DECOY_ADDUCTS[usize::from(adduct)];
    let adduct = Modifier::parse(name).map_err(|fault| Error::Parameter {
        name: "decoys",
        what: format!("{name}: {fault}"),
    })?;
    Ok(Modifier::join(loss, &adduct))
}

fn index(at: usize) -> Result<u16> {
    u16::try_from(at).map_err(|_| too_many())
}

fn too_many() -> Error {
    Error::Parameter {
        name: "adducts",
        what: format!("more than {MOST_TARGETS} of them; give fewer"),
    }
}
