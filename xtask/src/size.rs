//! Bytes that a visitor's browser fetches, and the limit on the core.

use crate::{Outcome, place, program, site};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::PathBuf;

/// The most the core may weigh as a server sends it: 150 KB, gzip at its best level.
const MOST_GZIP: usize = 150_000;

/// Builds the site and measures it.
pub(crate) fn run() -> Outcome {
    site::build()?;
    measure()
}

/// Prints one line of JSON for the core, the scripts and the rest of the pages.
///
/// # Errors
/// If the core's gzip size is over the limit.
pub(crate) fn measure() -> Outcome {
    let files = place::files(&place::site())?;
    let of = |ends: &[&str]| -> Vec<PathBuf> {
        files
            .iter()
            .filter(|file| ends.contains(&place::extension(file)))
            .cloned()
            .collect()
    };
    let core = Weight::of(&of(&["wasm"]))?;
    println!("{}", core.line("wasm", Some(MOST_GZIP)));
    println!("{}", Weight::of(&of(&["js", "mjs"]))?.line("js", None));
    println!(
        "{}",
        Weight::of(&of(&["html", "css", "svg", "png", "ico"]))?.line("pages", None)
    );
    if core.files == 0 {
        return Err("there is no wasm in the site: run `cargo xtask dist`".into());
    }
    if core.gzip > MOST_GZIP {
        return Err(format!(
            "the wasm is {} bytes gzip; at most {MOST_GZIP} are allowed",
            core.gzip
        ));
    }
    Ok(())
}

/// What some files weigh, each compressed by itself as a server would.
struct Weight {
    files: usize,
    raw: usize,
    gzip: usize,
    brotli: Option<usize>,
}

impl Weight {
    fn of(files: &[PathBuf]) -> Outcome<Self> {
        let mut weight = Self {
            files: files.len(),
            raw: 0,
            gzip: 0,
            brotli: brotli(files),
        };
        for file in files {
            let bytes = place::read(file)?;
            weight.raw += bytes.len();
            weight.gzip += gzip(&bytes)?;
        }
        Ok(weight)
    }

    fn line(&self, what: &str, most: Option<usize>) -> String {
        let Self {
            files,
            raw,
            gzip,
            brotli,
        } = self;
        let optional = |name, value: Option<usize>| {
            value.map_or(String::new(), |value| format!(r#","{name}":{value}"#))
        };
        let (brotli, most) = (optional("brotli", *brotli), optional("most_gzip", most));
        format!(
            r#"{{"event":"size","what":"{what}","files":{files},"raw":{raw},"gzip":{gzip}{brotli}{most}}}"#
        )
    }
}

fn gzip(bytes: &[u8]) -> Outcome<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder
        .write_all(bytes)
        .and_then(|()| encoder.finish())
        .map(|packed| packed.len())
        .map_err(|error| format!("cannot compress: {error}"))
}

/// By Node, which carries the codec; nothing where there is no Node.
fn brotli(files: &[PathBuf]) -> Option<usize> {
    let script = "const {readFileSync} = require('fs'), {brotliCompressSync} = require('zlib'); \
                  console.log(process.argv.slice(1)\
                  .reduce((sum, file) => sum + brotliCompressSync(readFileSync(file)).length, 0))";
    let mut node = program::command("node");
    node.args(["-e", script, "--"]).args(files);
    program::output(&mut node).ok()?.trim().parse().ok()
}
