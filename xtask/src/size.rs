//! Bytes that a visitor's browser fetches, and the limits on the core's modules.

use crate::{Outcome, edge, place, program, site, wasm};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::PathBuf;

/// Builds the site and the Worker, and measures both.
pub(crate) fn run() -> Outcome {
    site::build()?;
    edge::build()?;
    measure()
}

/// Prints one line of JSON for each module of the core, for the scripts and the rest of the pages.
///
/// # Errors
/// If a module's gzip size is over its limit, or the site holds other wasm.
pub(crate) fn measure() -> Outcome {
    let files = place::files(&place::site())?;
    let of = |ends: &[&str]| -> Vec<PathBuf> {
        files
            .iter()
            .filter(|file| ends.contains(&place::extension(file)))
            .cloned()
            .collect()
    };
    let modules = wasm::MODULES.map(|module| place::site().join(module.wasm()));
    if let Some(odd) = of(&["wasm"]).iter().find(|file| !modules.contains(file)) {
        return Err(format!("{} is no module that we know", place::shown(odd)));
    }
    let mut over = Vec::new();
    for (module, file) in wasm::MODULES.iter().zip(modules) {
        if !file.is_file() {
            return Err(format!(
                "there is no {}: run `cargo xtask dist`",
                place::shown(&file)
            ));
        }
        let weight = Weight::of(&[file])?;
        println!("{}", weight.line("wasm", Some(module)));
        if weight.gzip > module.most_gzip {
            over.push(format!(
                "{}.wasm is {} bytes gzip; at most {} are allowed",
                module.name, weight.gzip, module.most_gzip
            ));
        }
    }
    println!("{}", Weight::of(&of(&["js", "mjs"]))?.line("js", None));
    println!(
        "{}",
        Weight::of(&of(&["html", "css", "svg", "png", "ico"]))?.line("pages", None)
    );
    if over.is_empty() {
        Ok(())
    } else {
        Err(over.join("; "))
    }
}

/// What some files weigh, each compressed by itself as a server would.
pub(crate) struct Weight {
    files: usize,
    raw: usize,
    pub(crate) gzip: usize,
    brotli: Option<usize>,
}

impl Weight {
    pub(crate) fn of(files: &[PathBuf]) -> Outcome<Self> {
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

    fn line(&self, what: &str, module: Option<&wasm::Module>) -> String {
        let name = module.map_or(String::new(), |module| {
            format!(r#","module":"{}""#, module.name)
        });
        self.described(what, &name, module.map(|module| module.most_gzip))
    }

    /// The line of something that has a limit.
    pub(crate) fn limited(&self, what: &str, most_gzip: usize) -> String {
        self.described(what, "", Some(most_gzip))
    }

    fn described(&self, what: &str, name: &str, most_gzip: Option<usize>) -> String {
        let Self {
            files,
            raw,
            gzip,
            brotli,
        } = self;
        let optional = |name, value: Option<usize>| {
            value.map_or(String::new(), |value| format!(r#","{name}":{value}"#))
        };
        let brotli = optional("brotli", *brotli);
        let most = optional("most_gzip", most_gzip);
        format!(
            r#"{{"event":"size","what":"{what}"{name},"files":{files},"raw":{raw},"gzip":{gzip}{brotli}{most}}}"#
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
