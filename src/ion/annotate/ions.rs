//! All ions of a molecule list, in the order in which they are annotated.

use std::ops::Range;
use std::rc::Rc;

use sha2::{Digest as _, Sha256};

use super::request::Request;
use crate::budget::Budget;
use crate::error::{Error, Result};
use crate::ion::database::Molecules;
use crate::ion::fdr::Decoys;
use crate::ion::isotope::Patterns;

/// An ion: a formula with a modifier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ion {
    /// Index of the formula in [`Molecules::formulas`].
    pub formula: u32,
    /// Index of the modifier in [`Decoys::modifiers`]: targets first.
    pub modifier: u16,
}

/// An ion in the order.
#[derive(Debug, Clone, Copy, Default)]
struct Entry {
    /// A lower bound of its first isotope peak's m/z.
    lowest: f64,
    formula: u32,
    modifier: u16,
}

/// All ions that a molecule list and a request have, each once: targets and decoys.
///
/// They are in the order of a lower bound of their first isotope peak's m/z, ties by formula and modifier; the
/// place in this order is what names an ion. Ions that cannot be (more atoms would be taken from the formula than it
/// has) are left out.
///
/// # Memory
/// 16 bytes an ion besides the molecules.
#[derive(Debug)]
pub struct Ions {
    molecules: Rc<Molecules>,
    request: Request,
    decoys: Decoys,
    entries: Vec<Entry>,
    targets: u32,
    impossible: u64,
    fingerprint: [u8; 32],
    bytes: u64,
}

impl Ions {
    /// Chooses decoys and puts all ions in order, in at most `memory` bytes.
    ///
    /// # Cost
    /// About a microsecond an ion.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a request that makes no sense: no adduct, one given twice or of another charge than the
    /// ions, a charge other than 1 and -1, a tolerance that is none, too many decoys; [`Error::Budget`].
    pub fn new(molecules: Rc<Molecules>, request: Request, memory: u64) -> Result<Self> {
        request.check()?;
        let mut budget = Budget::new(memory);
        let formulas = molecules.formulas.len();
        let (targets, per_target) = (&request.targets, request.decoys);
        let chosen = Decoys::need(formulas, targets.len(), per_target, request.scoring);
        budget.reserve(
            molecules.bytes().saturating_add(chosen),
            "the molecules and the choice of decoys",
        )?;
        let decoys = Decoys::choose(formulas, targets, per_target, request.scoring)?;
        budget.reserve(
            decoys.held_bytes().saturating_sub(chosen),
            "the adducts of decoys",
        )?;
        let mut draft = Draft {
            patterns: request.patterns()?,
            entries: Vec::new(),
            impossible: 0,
            chosen: Vec::new(),
        };
        let per_formula = request.targets.len() * (1 + usize::from(request.decoys));
        let most = formulas.saturating_mul(per_formula);
        let bytes = (most as u64).saturating_mul(size_of::<Entry>() as u64);
        budget.reserve(bytes, "the ions")?;
        draft.reserve(most)?;
        for formula in 0..formulas {
            draft.add(&molecules, &decoys, formula);
        }
        let Draft {
            mut entries,
            impossible,
            ..
        } = draft;
        entries.sort_unstable_by(|a, b| {
            (a.lowest.total_cmp(&b.lowest))
                .then_with(|| (a.formula, a.modifier).cmp(&(b.formula, b.modifier)))
        });
        entries.shrink_to_fit();
        let is_target = |entry: &&Entry| usize::from(entry.modifier) < request.targets.len();
        let targets = entries.iter().filter(is_target).count();
        let bytes =
            molecules.bytes() + decoys.held_bytes() + size_of_val(entries.as_slice()) as u64;
        Ok(Self {
            fingerprint: fingerprint(&molecules, &request, &entries),
            targets: u32::try_from(targets).unwrap_or(u32::MAX),
            molecules,
            request,
            decoys,
            entries,
            impossible,
            bytes,
        })
    }
}

impl Ions {
    /// Ions.
    #[must_use]
    pub fn len(&self) -> u32 {
        // Their number was limited when they were collected.
        u32::try_from(self.entries.len()).unwrap_or(u32::MAX)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Ions that are targets.
    #[must_use]
    pub fn targets(&self) -> u32 {
        self.targets
    }

    /// Ions that are decoys.
    #[must_use]
    pub fn decoys(&self) -> u32 {
        self.len() - self.targets
    }

    /// Formulas with modifiers that were left out, because more atoms would be taken than there are.
    #[must_use]
    pub fn impossible(&self) -> u64 {
        self.impossible
    }

    /// The ion at a place of the order.
    #[must_use]
    pub fn ion(&self, position: u32) -> Option<Ion> {
        let entry = self.entries.get(position as usize)?;
        Some(Ion {
            formula: entry.formula,
            modifier: entry.modifier,
        })
    }

    /// Whether an ion is a target.
    #[must_use]
    pub fn is_target(&self, ion: Ion) -> bool {
        usize::from(ion.modifier) < self.request.targets.len()
    }

    /// No isotope peak of the ion at this place, nor of any later one, has a smaller m/z.
    #[must_use]
    pub fn lowest(&self, position: u32) -> Option<f64> {
        Some(self.entries.get(position as usize)?.lowest)
    }

    /// Cuts the order into `count` shards of about as many ions each; fewer, if there are fewer ions.
    #[must_use]
    pub fn shards(&self, count: u32) -> Vec<Range<u32>> {
        let len = u64::from(self.len());
        let count = u64::from(count).min(len);
        let at = |n: u64| u32::try_from(len * n / count.max(1)).unwrap_or(u32::MAX);
        (0..count).map(|n| at(n)..at(n + 1)).collect()
    }

    /// What was asked.
    #[must_use]
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The molecules.
    #[must_use]
    pub fn molecules(&self) -> &Rc<Molecules> {
        &self.molecules
    }

    /// The decoys of each formula.
    #[must_use]
    pub fn decoys_chosen(&self) -> &Decoys {
        &self.decoys
    }

    /// SHA-256 of everything but the store that decides a result, molecules and request, and of the order of the ions.
    #[must_use]
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    /// What a user should know before the ions are annotated.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = self.molecules.warnings.clone();
        warnings.extend(self.decoys.doubts());
        if self.impossible > 0 {
            warnings.push(format!(
                "{} ions cannot be, because more atoms would be taken from the formula than it has; they are left out",
                self.impossible
            ));
        }
        warnings
    }

    /// Bytes of memory that ions, decoys and molecules hold.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
}

/// The ions that were found so far.
struct Draft {
    patterns: Patterns,
    entries: Vec<Entry>,
    impossible: u64,
    /// The modifiers of the formula at hand.
    chosen: Vec<u16>,
}

impl Draft {
    fn reserve(&mut self, most: usize) -> Result<()> {
        let fits = u32::try_from(most).is_ok() && self.entries.try_reserve_exact(most).is_ok();
        fits.then_some(()).ok_or_else(|| Error::Budget {
            need: (most as u64).saturating_mul(size_of::<Entry>() as u64),
            have: 0,
            what: "the ions".to_owned(),
        })
    }

    /// Adds the ions of one formula.
    fn add(&mut self, molecules: &Molecules, decoys: &Decoys, formula: usize) {
        let composition = &molecules.formulas[formula].composition;
        decoys.modifiers_of(formula, &mut self.chosen);
        for index in &self.chosen {
            let modifier = decoys.modifiers().get(usize::from(*index));
            match modifier.and_then(|modifier| modifier.apply(composition)) {
                Some(ion) => self.entries.push(Entry {
                    lowest: self.patterns.lowest(&ion),
                    // Fits: their number times that of adducts does.
                    formula: u32::try_from(formula).unwrap_or(u32::MAX),
                    modifier: *index,
                }),
                None => self.impossible += 1,
            }
        }
    }
}

fn fingerprint(molecules: &Molecules, request: &Request, entries: &[Entry]) -> [u8; 32] {
    let mut sha = Sha256::new();
    sha.update("sectile annotation 1\n");
    request.digest(&mut sha);
    for (index, formula) in molecules.formulas.iter().enumerate() {
        field(&mut sha, &formula.text);
        for molecule in molecules.of(index) {
            for text in [&molecule.id, &molecule.name] {
                field(&mut sha, text.as_deref().unwrap_or_default());
            }
        }
        sha.update("\n");
    }
    // Ions are named by their places: those of a program that orders them otherwise are none of these.
    for entry in entries {
        let mut ion = [0; 6];
        ion[..4].copy_from_slice(&entry.formula.to_le_bytes());
        ion[4..].copy_from_slice(&entry.modifier.to_le_bytes());
        sha.update(ion);
    }
    sha.finalize().into()
}

/// Takes a text with its length, so that no two lists of texts look alike.
fn field(sha: &mut Sha256, text: &str) {
    sha.update((text.len() as u64).to_le_bytes());
    sha.update(text);
}
