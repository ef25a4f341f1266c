//! Which rows of a plane are whole, when they come in bands and in parts of rows.

use std::ops::Range;

/// How many columns every row still lacks.
#[derive(Debug)]
pub struct Coverage {
    lacking: Vec<u32>,
    /// Whole rows that nobody has asked for yet.
    fresh: Vec<bool>,
}

impl Coverage {
    /// A plane of which nothing is there, but for some rows.
    pub fn new(width: u32, height: u32, finished: &[Range<u32>]) -> Self {
        let mut lacking = vec![width; height as usize];
        for rows in finished {
            lacking[rows.start as usize..rows.end as usize].fill(0);
        }
        Self {
            fresh: vec![false; lacking.len()],
            lacking,
        }
    }

    /// Notes that `columns` more pixels of these rows are there.
    pub fn add(&mut self, rows: Range<u32>, columns: u32) {
        for row in rows.start as usize..rows.end as usize {
            if self.lacking[row] > 0 {
                self.lacking[row] = self.lacking[row].saturating_sub(columns);
                self.fresh[row] = self.lacking[row] == 0;
            }
        }
    }

    /// The rows that have become whole since the last call.
    pub fn take_fresh(&mut self) -> Vec<Range<u32>> {
        let runs = runs(&self.fresh);
        self.fresh.fill(false);
        runs
    }

    /// The rows that are not whole.
    pub fn missing(&self) -> Vec<Range<u32>> {
        let lacks: Vec<bool> = self.lacking.iter().map(|columns| *columns > 0).collect();
        runs(&lacks)
    }
}

fn runs(rows: &[bool]) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    for (row, _) in (0_u32..).zip(rows).filter(|(_, is)| **is) {
        match runs.last_mut() {
            Some(run) if run.end == row => run.end += 1,
            _ => runs.push(row..row + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_whole_when_all_its_parts_are_there() {
        let mut coverage = Coverage::new(10, 6, std::slice::from_ref(&(2..3)));
        assert_eq!(coverage.missing(), [0..2, 3..6]);
        coverage.add(0..2, 6);
        assert!(coverage.take_fresh().is_empty());
        coverage.add(0..2, 4);
        coverage.add(4..6, 10);
        assert_eq!(coverage.take_fresh(), [0..2, 4..6]);
        assert!(coverage.take_fresh().is_empty());
        assert_eq!(coverage.missing(), vec![3..4]);
    }
}
