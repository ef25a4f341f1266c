//! Scores of targets and decoys to rates.

use super::level::LEVELS;
use crate::error::{Error, Result};

/// How rates are estimated from decoys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rule {
    /// METASPACE's first two versions: one ranking for each of a target's decoys, the median of their rates, and of that
    /// only the level (0.05, 0.1, 0.2, 0.5 or 1).
    Rankings,
    /// METASPACE's third version: one ranking with all decoys, the rule of succession, a running minimum from the worst
    /// score. A continuous rate.
    Succession,
}

/// The score of one decoy of one target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decoy {
    /// Which of its formula's decoys it is, counted from 0: its ranking under [`Rule::Rankings`].
    pub ranking: u8,
    /// Its score, above 0. Decoys that score 0 are left out.
    pub score: f64,
}

/// The rate of each score of one target modifier, in the order of `targets`.
///
/// `targets` are scores above 0, of which those that are 0 were left out; `decoys` are those of the same modifier, with
/// `per_target` chosen for each formula. Decoys with the score of a target count as above it, so neither ties nor
/// the order of the input matter. Rates are at most 1.
///
/// * [`Rule::Succession`]: ((decoys ≥ s) + 1) / `per_target` / ((targets ≥ s) + 1), and never more than that of
///   a worse score.
/// * [`Rule::Rankings`]: the median over rankings of (decoys ≥ s) / (targets ≥ s); a level's threshold is the least
///   score whose median is *below* the level, and all scores from there on have that level.
///
/// # Cost
/// Sorting; then n · `per_target` steps. Holds about 16 bytes a score.
///
/// # Errors
/// [`Error::Parameter`] for a score that is not a number, a ranking beyond `per_target`, and no decoys per target.
pub fn estimate(rule: Rule, targets: &[f64], decoys: &[Decoy], per_target: u8) -> Result<Vec<f64>> {
    check(targets, decoys, per_target)?;
    let ladder = Ladder::new(targets);
    let rates = match rule {
        Rule::Succession => {
            let scores: Vec<f64> = decoys.iter().map(|decoy| decoy.score).collect();
            let decoys = ladder.above(&scores);
            let counts = ladder.counts.iter().zip(decoys);
            let rates = counts
                .map(|(targets, decoys)| rate(decoys + 1, f64::from(per_target), targets + 1));
            falling(rates.collect())
        }
        Rule::Rankings => levels(&ladder.medians(decoys, per_target)),
    };
    Ok(targets
        .iter()
        .map(|score| rates[ladder.step(*score)].min(1.0))
        .collect())
}

/// The rate at each score that occurs, best first: METASPACE's `score_to_fdr_map`.
///
/// At score s it is (decoys ≥ s) / `ratio` / (targets ≥ s), where `succession` adds 1 to either count and
/// `monotonic` takes the least rate of this score and all worse ones. It is at most 1, and 1 where no target counts.
///
/// # Errors
/// [`Error::Parameter`] for a score that is not a number and for a ratio that is not above 0.
pub fn score_map(
    targets: &[f64],
    decoys: &[f64],
    ratio: f64,
    succession: bool,
    monotonic: bool,
) -> Result<Vec<(f64, f64)>> {
    if ratio.is_nan() || ratio <= 0.0 {
        return Err(wrong(format!(
            "{ratio} decoys for each target; give more than 0"
        )));
    }
    targets
        .iter()
        .chain(decoys)
        .try_for_each(|score| number(*score))?;
    let ladder = Ladder::new(&[targets, decoys].concat());
    let more = u32::from(succession);
    let counts = ladder.above(targets).into_iter().zip(ladder.above(decoys));
    let mut rates: Vec<f64> = counts
        .map(|(targets, decoys)| rate(decoys + more, ratio, targets + more))
        .collect();
    if monotonic {
        rates = falling(rates);
    }
    Ok(ladder
        .scores
        .into_iter()
        .zip(rates.into_iter().map(|rate| rate.min(1.0)))
        .collect())
}

/// Distinct scores from the best down, and how many are at least as good as each.
struct Ladder {
    scores: Vec<f64>,
    counts: Vec<u32>,
}

impl Ladder {
    fn new(scores: &[f64]) -> Self {
        let mut distinct = descending(scores);
        distinct.dedup();
        let mut ladder = Self {
            scores: distinct,
            counts: Vec::new(),
        };
        ladder.counts = ladder.above(scores);
        ladder
    }

    /// How many of `others` are at least as good as each score.
    fn above(&self, others: &[f64]) -> Vec<u32> {
        let others = descending(others);
        let mut count = 0_usize;
        let mut counts = Vec::with_capacity(self.scores.len());
        for score in &self.scores {
            let more = others[count..].iter().take_while(|other| *other >= score);
            count += more.count();
            counts.push(u32::try_from(count).unwrap_or(u32::MAX));
        }
        counts
    }

    /// Where a score of the ladder stands.
    fn step(&self, score: f64) -> usize {
        let before = self.scores.partition_point(|other| *other > score);
        before.min(self.scores.len().saturating_sub(1))
    }

    /// For each score its median rate over all rankings.
    fn medians(&self, decoys: &[Decoy], per_target: u8) -> Vec<(f64, f64)> {
        let mut decoys = decoys.to_vec();
        decoys.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut rest = decoys.iter().peekable();
        let mut above = vec![0_u32; usize::from(per_target)];
        let mut sorted = above.clone();
        let steps = self.scores.iter().zip(&self.counts);
        steps
            .map(|(&score, &targets)| {
                while let Some(decoy) = rest.next_if(|decoy| decoy.score >= score) {
                    above[usize::from(decoy.ranking)] += 1;
                }
                sorted.copy_from_slice(&above);
                sorted.sort_unstable();
                let middle = |at: usize| f64::from(sorted[at]) / f64::from(targets);
                let (low, high) = (middle((sorted.len() - 1) / 2), middle(sorted.len() / 2));
                // The two middle ones are the same one for an odd number.
                let median = low.midpoint(high);
                (score, median)
            })
            .collect()
    }
}

fn descending(scores: &[f64]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    sorted
}

/// Decoys over targets, in the order of operations that gives METASPACE's own bits; 1 without targets.
fn rate(decoys: u32, ratio: f64, targets: u32) -> f64 {
    if targets == 0 {
        return 1.0;
    }
    f64::from(decoys) / ratio / f64::from(targets)
}

/// Each rate lowered to the least of those behind it.
fn falling(mut rates: Vec<f64>) -> Vec<f64> {
    let mut least = f64::INFINITY;
    for rate in rates.iter_mut().rev() {
        least = least.min(*rate);
        *rate = least;
    }
    rates
}

/// The level of each score, best first.
fn levels(medians: &[(f64, f64)]) -> Vec<f64> {
    // Scores fall, so the last one below a level is the least.
    let ends = LEVELS.map(|level| medians.iter().rposition(|(_, rate)| *rate < level));
    let level_of = |step: usize| {
        ends.iter()
            .position(|end| end.is_some_and(|end| step <= end))
    };
    (0..medians.len())
        .map(|step| level_of(step).map_or(1.0, |at| LEVELS[at]))
        .collect()
}

fn check(targets: &[f64], decoys: &[Decoy], per_target: u8) -> Result<()> {
    if per_target == 0 {
        return Err(wrong(
            "0 decoys for each target; give at least 1".to_owned(),
        ));
    }
    targets.iter().try_for_each(|score| number(*score))?;
    for decoy in decoys {
        number(decoy.score)?;
        if decoy.ranking >= per_target {
            let ranking = decoy.ranking;
            return Err(wrong(format!(
                "decoy {ranking} of a formula, where each has {per_target}, counted from 0"
            )));
        }
    }
    Ok(())
}

fn number(score: f64) -> Result<()> {
    if score.is_nan() {
        return Err(wrong(
            "a score is not a number, so it has no rank".to_owned(),
        ));
    }
    Ok(())
}

fn wrong(what: String) -> Error {
    Error::Parameter {
        name: "decoys",
        what,
    }
}
