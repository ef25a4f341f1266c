//! Which share of a job a process takes, as `--shard K/N`.

use std::fmt;

use clap::Args;
use sectile::stack::shards::MOST;

/// One of the shards of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which one, from 1 on.
    pub number: u32,
    /// Of how many.
    pub of: u32,
}

impl Shard {
    /// Which one, from 0 on.
    pub fn index(self) -> u32 {
        self.number - 1
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("{text:?} is not a shard; write for instance 3/12, from 1/12 to 12/12");
        let (number, of) = text.split_once('/').ok_or_else(wrong)?;
        let digits = |part: &str| {
            let plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            plain.then(|| part.parse::<u32>().ok()).flatten()
        };
        let (number, of) = (
            digits(number).ok_or_else(wrong)?,
            digits(of).ok_or_else(wrong)?,
        );
        if number == 0 || number > of {
            return Err(wrong());
        }
        if of > MOST {
            return Err(format!(
                "{of} shards are too many; a job is cut into at most {MOST}"
            ));
        }
        Ok(Self { number, of })
    }
}

/// Into how many shards a job is to be cut, and what each of them may cost.
#[derive(Debug, Args)]
pub struct Dividing {
    /// Also tell what each of N shards costs; `auto`: of as few as keep within the limits below.
    #[arg(long, value_name = "N|auto", conflicts_with = "shard")]
    pub shards: Option<Shards>,
    /// For `--shards auto`: requests that a shard may make.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub shard_requests: u64,
    /// For `--shards auto`: milliseconds of processor time that a shard may take.
    #[arg(long, value_name = "MS", default_value_t = 30_000)]
    pub shard_cpu: u64,
    /// For `--shards auto`: bytes of result that a shard may hold.
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    pub shard_result: String,
}

/// A number of shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shards {
    /// So many.
    Count(u32),
    /// As few as the limits allow.
    Auto,
}

impl std::str::FromStr for Shards {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        match text.parse() {
            Ok(count) if (1..=MOST).contains(&count) => Ok(Self::Count(count)),
            _ => Err(format!(
                "{text:?} is neither a number from 1 to {MOST} nor auto"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_counted_from_one() {
        assert_eq!("3/12".parse(), Ok(Shard { number: 3, of: 12 }));
        assert_eq!("012/12".parse::<Shard>().map(Shard::index), Ok(11));
        for wrong in [
            "",
            "3",
            "/",
            "0/3",
            "4/3",
            "3/",
            "/3",
            "-1/3",
            "+1/3",
            "1/0",
            "1/2/3",
            "a/b",
            "1 /2",
            "1/100000",
            "1/99999999999",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong:?}");
        }
        assert_eq!("12".parse(), Ok(Shards::Count(12)));
        assert_eq!("auto".parse(), Ok(Shards::Auto));
        for wrong in ["", "0", "-1", "100000", "Auto"] {
            assert!(wrong.parse::<Shards>().is_err(), "{wrong:?}");
        }
    }
}
