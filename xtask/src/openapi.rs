//! The running interface, held to its own `OpenAPI` document by schemathesis.

use crate::setup::schemathesis;
use crate::{Outcome, demo, place, program};
use program::Background;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

/// Cases of each operation and kind; with this many a run takes about a minute.
const CASES: &str = "60";

/// The same cases in every run, so that a failure can be looked at again.
const SEED: &str = "1";

/// Tests the server at an address, or without one `sectile serve` on a small stack and tissue.
pub(crate) fn run(words: &[&str]) -> Outcome {
    match words {
        [] => own(),
        [address] if address.starts_with("http") => check(address.trim_end_matches('/')),
        _ => Err("openapi takes no word, or the address of a running server".into()),
    }
}

/// Tests `sectile serve`.
pub(crate) fn own() -> Outcome {
    let sectile = demo::build_program()?;
    let folder = place::root().join("target/openapi");
    place::empty(&folder)?;
    data(&sectile, &folder)?;
    let port = free_port()?;
    let mut serve = program::command(&sectile);
    serve.arg("serve").arg(&folder);
    serve.args(["--port", &port.to_string()]);
    let mut server = Background::start(&mut serve)?;
    ready(&mut server, port)?;
    let checked = check(&format!("http://127.0.0.1:{port}"));
    if let Some(status) = server.ended() {
        return Err(format!(
            "`sectile serve` ended while it was tested ({status})"
        ));
    }
    checked
}

/// A dataset of each kind.
fn data(sectile: &Path, folder: &Path) -> Outcome {
    let run = |words: &[&str]| {
        let mut command = program::command(sectile);
        program::run(command.current_dir(folder).args(words))
    };
    run(&["demo-data", ".", "--exposures", "3", "--size", "96"])?;
    run(&["pack", "tissue.imzML", "-o", "tissue.sectile"])?;
    run(&[
        "catalog",
        ".",
        "--stack",
        "sky=exposure_*.fits",
        "--ions",
        "tissue=tissue.sectile",
    ])
}

/// All checks, fixed cases, and the answers' headers and bodies against the document.
pub(crate) fn check(address: &str) -> Outcome {
    let schemathesis = schemathesis::ensure()?;
    // It writes where it runs.
    let folder = place::root().join("target/openapi/run");
    place::empty(&folder)?;
    let mut run = program::command(schemathesis);
    run.current_dir(&folder);
    run.arg("--config-file");
    run.arg(place::root().join("tests/openapi/schemathesis.toml"));
    run.arg("run").arg(format!("{address}/openapi.json"));
    run.args(["--checks", "all", "--seed", SEED]);
    // One at a time: Python 3.11 loses count of how deep its parser is when threads share it.
    run.args(["--max-examples", CASES, "--workers", "1"]);
    run.args(["--request-timeout", "30"]);
    program::run(&mut run)
}

fn free_port() -> Outcome<u16> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no port is free: {error}"))
}

fn ready(server: &mut Background, port: u16) -> Outcome {
    for _ in 0..200 {
        if let Some(status) = server.ended() {
            return Err(format!("`sectile serve` ended at once ({status})"));
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(());
        }
        sleep(Duration::from_millis(50));
    }
    Err(format!("`sectile serve` does not answer on port {port}"))
}
