//! The pages on demo data, in one command.

use crate::setup::{browser, node};
use crate::{Outcome, place, program, site};
use program::Background;
use std::ffi::OsStr;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

/// The stack page: where it finds its stack, and that it is to start by itself.
const STACK: &str = "#src=data/exposures.txt&run=1";

/// The ion page: its store, and the m/z of a sphingomyelin, a phosphatidylcholine, acetylcarnitine and
/// adenosine, of which the first three are red, green and blue.
const IONS: &str = "ions.html#src=data/tissue.sectile\
    &mz=731.60615,788.61638,204.12303,268.10403&rgb=0,1,2";

/// The same store on the same page, searched for common metabolites and lipids.
const ANNOTATIONS: &str = "ions.html#src=data/tissue.sectile&side=annotations&run=1";

const PORT: u16 = 8787;

/// How the demo is shown.
pub(crate) struct Options {
    once: bool,
    /// None: 8787 for a person, any free one with `--once`.
    port: Option<u16>,
}

impl Options {
    pub(crate) fn parse(words: &[&str]) -> Outcome<Self> {
        let mut options = Self {
            once: false,
            port: None,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--once" => options.once = true,
                "--port" => {
                    let digits = words.next().ok_or("--port needs a number")?;
                    options.port =
                        Some(digits.parse().map_err(|_| format!("{digits} is no port"))?);
                }
                other => {
                    return Err(format!(
                        "demo does not know `{other}`; see `cargo xtask help`"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// Builds everything, then shows it.
pub(crate) fn run(options: &Options) -> Outcome {
    site::build()?;
    show(options)
}

/// One visit by headless Chromium to the site as built.
pub(crate) fn once() -> Outcome {
    show(&Options {
        once: true,
        port: None,
    })
}

fn show(options: &Options) -> Outcome {
    let sectile = build_program()?;
    write(&sectile)?;
    let port = free_port(options)?;
    let mut server = serve(&sectile, port)?;
    let pages = [STACK, IONS, ANNOTATIONS].map(|page| format!("http://127.0.0.1:{port}/{page}"));
    if options.once {
        return visit(&pages);
    }
    let [stack, ions, annotations] = &pages;
    println!("\n  The demo stack and its median:   {stack}");
    println!("  The demo tissue and its ions:    {ions}");
    println!("  The same, annotated:             {annotations}\n  Ctrl-C ends it.\n");
    open(stack);
    server.wait()
}

/// Writes the demo's exposures, imaging dataset and store; tells their folder.
pub(crate) fn write(sectile: &Path) -> Outcome<PathBuf> {
    let folder = place::demo();
    program::run(program::command(sectile).arg("demo-data").arg(&folder))?;
    pack(sectile, &folder)?;
    Ok(folder)
}

/// Packs the demo's imaging dataset into the store that the ion page opens.
fn pack(sectile: &Path, folder: &Path) -> Outcome {
    let mut pack = program::command(sectile);
    pack.arg("pack").arg(folder.join("tissue.imzML"));
    pack.arg("-o").arg(folder.join("tissue.sectile"));
    program::run(&mut pack)
}

/// The command line program, in the profile of the tests: optimised enough to serve and to write the
/// demo stack in a moment, and nothing is compiled twice on a machine that also runs the tests.
pub(crate) fn build_program() -> Outcome<PathBuf> {
    program::run(&mut program::cargo([
        "build", "--locked", "--bin", "sectile",
    ]))?;
    let name = format!("sectile{}", std::env::consts::EXE_SUFFIX);
    Ok(place::cargo_target().join("debug").join(name))
}

fn serve(sectile: &Path, port: u16) -> Outcome<Background> {
    let mut serve = program::command(sectile);
    serve
        .arg("serve")
        .arg(place::demo())
        .arg("--pages")
        .arg(place::site());
    serve.args(["--port", &port.to_string()]);
    let mut server = Background::start(&mut serve)?;
    for _ in 0..200 {
        if let Some(status) = server.ended() {
            return Err(format!("`sectile serve` ended at once ({status})"));
        }
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            return Ok(server);
        }
        sleep(Duration::from_millis(50));
    }
    Err(format!(
        "`sectile serve` did not answer on port {port} within 10 seconds"
    ))
}

fn free_port(options: &Options) -> Outcome<u16> {
    let wanted = options.port.unwrap_or(if options.once { 0 } else { PORT });
    TcpListener::bind(("127.0.0.1", wanted))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("port {wanted} cannot be used ({error}); choose one with --port"))
}

fn visit([stack, ions, annotations]: &[String; 3]) -> Outcome {
    node::packages()?;
    let browser = browser::ensure()?;
    let mut script = program::command("node");
    script
        .arg("tests/web/demo.mjs")
        .args(["--stack", stack, "--ions", ions])
        .args(["--annotations", annotations]);
    script.args([OsStr::new("--chromium"), browser.chromium.as_os_str()]);
    script.arg("--out").arg(place::demo());
    // Its lines are the results; why it failed is on stderr already.
    script.stderr(Stdio::inherit());
    eprintln!("$ {}", program::shown(&script));
    print!("{}", program::output(&mut script)?);
    Ok(())
}

/// Opens a person's browser where there is a desktop; the printed address does elsewhere.
fn open(address: &str) {
    if program::unattended() {
        return;
    }
    let desktop = ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some());
    let opener = match std::env::consts::OS {
        "macos" => Some("open"),
        "windows" => Some("explorer"),
        _ if desktop => Some("xdg-open"),
        _ => None,
    };
    if let Some(program) = opener.and_then(program::find) {
        // Whether it works shows on the screen; the address is printed anyway.
        let _ = program::command(program).arg(address).spawn();
    }
}
