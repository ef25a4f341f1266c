//! The benches, as lines of JSON on stdout; what else they say goes to stderr.

use crate::setup::node;
use crate::{Outcome, place, program, site};
use std::process::Command;

/// Runs every bench, or those whose name contains the one word given.
///
/// benches/NAME.rs are cargo benches without libtest's harness; benches/NAME.mjs that know `--bench` run
/// under Node against the built site, the others there are servers and parts of benches.
pub(crate) fn run(words: &[&str]) -> Outcome {
    let wanted = match words {
        [] => "",
        [name] => name,
        _ => return Err("bench takes one name at most".into()),
    };
    let mut native = Vec::new();
    let mut web = Vec::new();
    for path in place::entries(&place::root().join("benches"))? {
        let name = path
            .file_stem()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        match place::extension(&path) {
            _ if !name.contains(wanted) => {}
            "rs" => native.push(name),
            "mjs" if place::read_text(&path)?.contains("--bench") => web.push(path),
            _ => {}
        }
    }
    if native.is_empty() && web.is_empty() {
        return Err(format!(
            "there is no bench named like `{wanted}` in benches/"
        ));
    }
    for name in native {
        lines(&mut program::cargo(["bench", "--locked", "--bench", &name]))?;
    }
    if !web.is_empty() {
        node::packages()?;
        site::build()?;
    }
    for path in web {
        lines(program::command("node").arg(&path).arg("--bench"))?;
    }
    Ok(())
}

/// Runs one bench, hands on its lines of JSON and moves the rest to stderr.
fn lines(command: &mut Command) -> Outcome {
    let mut results: u32 = 0;
    program::lines(command, |line| {
        if line.starts_with('{') {
            println!("{line}");
            results += 1;
        } else {
            eprintln!("{line}");
        }
    })?;
    if results == 0 {
        return Err(format!(
            "`{}` printed no line of JSON",
            program::shown(command)
        ));
    }
    Ok(())
}
