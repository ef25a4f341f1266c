//! Counting tests by the closing lines of cargo's and Node's test runners.

use std::fmt;
use std::ops::AddAssign;

/// How many tests of a run passed, failed and were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
    pub(crate) skipped: u64,
}

impl Tally {
    /// Adds what one line of output says, if it is a closing line.
    pub(crate) fn read(&mut self, line: &str) {
        // cargo: "test result: ok. 3 passed; 0 failed; 1 ignored; ..."
        if let Some((_, counts)) = line.split_once("test result: ") {
            for part in counts.split(['.', ';']) {
                let mut words = part.split_whitespace();
                let count = words.next().and_then(|digits| digits.parse().ok());
                if let (Some(count), Some(what)) = (count, words.next()) {
                    self.add(what, count);
                }
            }
            return;
        }
        // node, reporters spec and tap: "ℹ pass 3", "# fail 0"
        let Some(rest) = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# ")) else {
            return;
        };
        if let Some((what, count)) = rest.trim_end().split_once(' ')
            && let Ok(count) = count.parse()
        {
            self.add(what, count);
        }
    }

    fn add(&mut self, what: &str, count: u64) {
        match what {
            "passed" | "pass" => self.passed += count,
            "failed" | "fail" | "cancelled" => self.failed += count,
            "ignored" | "skipped" | "todo" => self.skipped += count,
            _ => {}
        }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// `N passed, N failed`, and `, N skipped` if any were.
impl fmt::Display for Tally {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} passed, {} failed", self.passed, self.failed)?;
        if self.skipped > 0 {
            write!(out, ", {} skipped", self.skipped)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Tally;

    fn after(lines: &[&str]) -> Tally {
        let mut tally = Tally::default();
        for line in lines {
            tally.read(line);
        }
        tally
    }

    #[test]
    fn reads_cargos_closing_line() {
        let tally = after(&[
            "running 5 tests",
            "test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 7 filtered out; finished in 0.02s",
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.02s",
        ]);
        assert_eq!(
            tally,
            Tally {
                passed: 5,
                failed: 1,
                skipped: 1
            }
        );
        assert_eq!(tally.to_string(), "5 passed, 1 failed, 1 skipped");
    }

    #[test]
    fn reads_nodes_closing_lines() {
        let tally = after(&[
            "ℹ tests 7",
            "ℹ pass 4",
            "ℹ fail 1",
            "ℹ cancelled 1",
            "ℹ skipped 1",
        ]);
        assert_eq!(
            tally,
            Tally {
                passed: 4,
                failed: 2,
                skipped: 1
            }
        );
        assert_eq!(
            after(&["# pass 2", "# pass me the salt", "pass 9"]).passed,
            2
        );
    }
}
