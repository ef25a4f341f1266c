//! Everything that CI runs, step by step, with one summary.

use crate::setup::{self, bindgen, browser, node, numpy, toolchain};
use crate::tally::Tally;
use crate::{Outcome, demo, npm, openapi, place, program, site, size, wasm};
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

/// What a step does, adding the tests that it counts; a step that counts none is one check by itself.
type Run = fn(&mut Tally) -> Outcome;

/// Name, headline and work of every step, cheap and telling ones first.
const STEPS: [(&str, &str, Run); 12] = [
    ("setup", "What the tests need", |_| setup::everything()),
    ("format", "Formatting", |_| format()),
    ("clippy", "Lints", |_| clippy()),
    ("layers", "Layers of the source tree", |_| layers()),
    ("native", "Native tests", native),
    ("docs", "Examples and links of the documentation", docs),
    (
        "openapi",
        "The HTTP interface against its OpenAPI document",
        |_| openapi::own(),
    ),
    ("wasm", "WebAssembly tests in headless Chromium", in_browser),
    ("dist", "The site and the npm package", |_| {
        site::build().and_then(|()| npm::build())
    }),
    ("pages", "The pages in headless Chromium", pages),
    ("demo", "The demo, once", |_| demo::once()),
    ("size", "Sizes", |_| size::measure()),
];

/// How one step ended.
struct Report {
    name: &'static str,
    tally: Tally,
    seconds: f64,
    fault: Option<String>,
}

pub(crate) fn run(words: &[&str]) -> Outcome {
    let chosen: Vec<_> = match words {
        [] => STEPS.iter().collect(),
        ["--list"] => {
            for (name, headline, _) in &STEPS {
                println!("{name:8} {headline}");
            }
            return Ok(());
        }
        ["--only", only] => STEPS.iter().filter(|(name, ..)| name == only).collect(),
        _ => return Err("test takes --list or --only STEP".into()),
    };
    if chosen.is_empty() {
        return Err("there is no such step; `cargo xtask test --list` names them".into());
    }
    let count = chosen.len();
    let mut reports: Vec<Report> = Vec::new();
    for (at, (name, headline, work)) in chosen.into_iter().enumerate() {
        println!("\n=== {}/{count} {name}: {headline}", at + 1);
        reports.push(report(name, *work));
        if reports.iter().any(|report| report.fault.is_some()) {
            break;
        }
    }
    summary(&reports, count)
}

fn report(name: &'static str, work: Run) -> Report {
    let start = Instant::now();
    let mut tally = Tally::default();
    let fault = work(&mut tally).err();
    if fault.is_some() {
        tally.failed = tally.failed.max(1);
    } else if tally == Tally::default() {
        tally.passed = 1;
    }
    Report {
        name,
        tally,
        seconds: start.elapsed().as_secs_f64(),
        fault,
    }
}

fn summary(reports: &[Report], count: usize) -> Outcome {
    println!("\n=== Summary");
    let mut sum = Tally::default();
    for Report {
        name,
        tally,
        seconds,
        fault,
    } in reports
    {
        let verdict = if fault.is_some() { "FAILED" } else { "ok" };
        println!("{name:8} {verdict:6} {seconds:7.1} s   {tally}");
        sum += *tally;
    }
    if reports.len() < count {
        println!("{} more steps were not reached", count - reports.len());
    }
    println!("{sum}");
    match reports.iter().find_map(|report| report.fault.as_deref()) {
        None => Ok(()),
        Some(fault) => Err(fault.to_owned()),
    }
}

fn format() -> Outcome {
    toolchain::components()?;
    program::run(&mut program::cargo(["fmt", "--all", "--check"]))
}

fn clippy() -> Outcome {
    toolchain::components()?;
    toolchain::wasm_target()?;
    let strict = ["--", "-D", "warnings"];
    let mut native = program::cargo(["clippy", "--locked", "--workspace", "--all-targets"]);
    program::run(native.args(strict))?;
    let mut web = program::cargo(["clippy", "--locked", "--lib", "--no-default-features"]);
    web.args(["--features", &wasm::features()]);
    web.args(["--target", "wasm32-unknown-unknown"]);
    if !wasm_tests()?.is_empty() {
        web.args(["--test", "wasm_*"]);
    }
    program::run(web.args(strict))
}

fn layers() -> Outcome {
    program::run(&mut program::cargo([
        "test", "--locked", "--quiet", "--test", "layers",
    ]))
}

fn native(tally: &mut Tally) -> Outcome {
    let kinds = ["--workspace", "--lib", "--bins", "--tests"];
    let mut test = program::cargo(["test", "--locked"]);
    test.args(kinds);
    // Without numpy some tests are skipped, not failed: a person may have no right to install it.
    match numpy::ensure() {
        Ok(python) => {
            test.env("SECTILE_PYTHON", python);
        }
        Err(reason) => {
            println!("skipped: reading a store with numpy; {reason}");
            tally.skipped += 1;
        }
    }
    count(tally, &mut test)
}

fn docs(tally: &mut Tally) -> Outcome {
    count(tally, &mut program::cargo(["test", "--locked", "--doc"]))?;
    let mut pages = program::cargo(["doc", "--locked", "--workspace", "--no-deps"]);
    program::run(pages.env("RUSTDOCFLAGS", "-D warnings"))
}

fn in_browser(tally: &mut Tally) -> Outcome {
    toolchain::wasm_target()?;
    let bindgen = bindgen::ensure()?;
    let browser = browser::ensure()?;
    if wasm_tests()?.is_empty() {
        nothing(tally, "tests/wasm_*.rs");
        return Ok(());
    }
    let mut test = program::cargo(["test", "--locked", "--no-default-features"]);
    test.args(["--features", &wasm::features()]);
    test.args(["--target", "wasm32-unknown-unknown", "--test", "wasm_*"]);
    test.env(
        "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER",
        bindgen.test_runner,
    );
    test.env("CHROMEDRIVER", browser.driver);
    // The runner's 20 seconds are for machines with nothing else to do.
    test.env("WASM_BINDGEN_TEST_TIMEOUT", "300");
    // The runner kills its browsers, which then leave their profiles behind: 100 MB a run.
    let profiles = std::env::temp_dir().join(format!("sectile-{}", std::process::id()));
    place::empty(&profiles)?;
    test.env("TMPDIR", &profiles);
    let counted = count(tally, &mut test);
    place::remove(&profiles)?;
    counted
}

fn pages(tally: &mut Tally) -> Outcome {
    node::packages()?;
    let browser = browser::ensure()?;
    let tests: Vec<PathBuf> = place::entries(&place::root().join("tests/web"))?
        .into_iter()
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    if tests.is_empty() {
        nothing(tally, "tests/web/*.test.mjs");
        return Ok(());
    }
    let sectile = demo::build_program()?;
    // Two files at a time: what misbehaving servers are for waits more than it computes. More browsers would only
    // slow each other down.
    let mut node = program::command("node");
    node.args(["--test", "--test-concurrency=2", "--test-reporter=spec"])
        .args(tests);
    node.env("CHROMIUM", browser.chromium)
        .env("SECTILE", sectile)
        .env("SECTILE_SITE", place::site());
    count(tally, &mut node)
}

/// The tests that run in a browser; cargo refuses a pattern that names none.
fn wasm_tests() -> Outcome<Vec<PathBuf>> {
    let mut tests = place::entries(&place::root().join("tests"))?;
    tests.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("wasm_") && name.ends_with(".rs")
    });
    Ok(tests)
}

fn nothing(tally: &mut Tally, pattern: &str) {
    println!("skipped: there is no {pattern}");
    tally.skipped += 1;
}

/// Runs a test runner, passing its output on and counting its tests.
fn count(tally: &mut Tally, command: &mut Command) -> Outcome {
    let before = tally.failed;
    program::lines(command, |line| {
        println!("{line}");
        tally.read(line);
    })?;
    if tally.failed > before {
        return Err(format!("`{}` counts failures", program::shown(command)));
    }
    Ok(())
}
