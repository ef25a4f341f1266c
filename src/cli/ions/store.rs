//! Opening a packed store.

use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use sectile::drive::native::{Source, follow};
use sectile::job::Tally;
use sectile::store::head::Head;
use sectile::store::read::Open;

use crate::cli::arguments::Reading;
use crate::cli::failure::{Failure, Result};
use crate::cli::identity::last_name;
use crate::cli::report::Report;
use sectile::imzml::pair::{is_ibd, is_imzml};

/// A head of so many bytes is read whatever the budget.
const SMALL: u64 = 1 << 20;

/// A store whose head has been read.
#[derive(Debug)]
pub struct Opened {
    pub source: Source,
    pub head: Rc<Head>,
    pub tally: Tally,
}

/// Reads the head of a store.
pub fn open(name: &str, reading: &Reading, cancel: &AtomicBool) -> Result<Opened> {
    if is_imzml(name) || is_ibd(name) {
        let imzml = name
            .strip_suffix(".ibd")
            .map(|stem| format!("{stem}.imzML"));
        let imzml = imzml.as_deref().unwrap_or(name);
        return Err(Failure::input(
            "unsupported",
            format!(
                "{name}: ion images are drawn from a packed store; pack the dataset first: \
                 sectile pack {} -o {}",
                quoted(imzml),
                quoted(&store_name(imzml))
            ),
        ));
    }
    let source = Source::open(name, &reading.options()?)?;
    // Too small a budget is refused by the plan, which knows what would do.
    let memory = reading.memory()?.max(SMALL);
    let mut machine = Open::new(source.name(), memory);
    let mut tally = Tally::default();
    follow(
        &source,
        &mut machine,
        &reading.run(cancel),
        &mut tally,
        |_| {},
    )?;
    let head = machine.into_head()?;
    Ok(Opened {
        source,
        head: Rc::new(head),
        tally,
    })
}

/// The number of the slice that was asked for by its z; `known` are those of `file`.
pub fn slice(file: &str, known: &[i32], asked: Option<i32>, report: &Report) -> Result<u32> {
    let listed = || {
        let names: Vec<String> = known.iter().map(i32::to_string).collect();
        names.join(", ")
    };
    let Some(z) = asked else {
        if let [first, _, ..] = known {
            report.warn(&format!(
                "{file}: has slices at z = {}; this is z = {first}, --slice takes another",
                listed()
            ));
        }
        return Ok(0);
    };
    let at = known.iter().position(|known| *known == z);
    at.and_then(|at| u32::try_from(at).ok()).ok_or_else(|| {
        let what = format!("--slice {z}: {file} has slices at z = {}", listed());
        Failure::input("parameter", what)
    })
}

/// What a dataset's store would be called, in the folder of the caller.
fn store_name(imzml: &str) -> String {
    let last = last_name(imzml);
    let stem = last.rsplit_once('.').map_or(last, |(stem, _)| stem);
    format!("{stem}.sectile")
}

/// A name as it is typed into a shell.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-:+=@%,".contains(c);
    if name.chars().all(plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_can_be_pasted_into_a_shell() {
        assert_eq!(store_name("http://h/a/b c.imzML?x=/y.z"), "b c.sectile");
        assert_eq!(quoted("a/b-c.imzML"), "a/b-c.imzML");
        assert_eq!(quoted("it's µm.imzML"), r"'it'\''s µm.imzML'");
    }
}
