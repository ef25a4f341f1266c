//! The house's floor plan: which room of `src` may know which other.
//!
//! Arrows point one way only, formats do not know each other, the core does no I/O and only the binding
//! names the binding's crates. The sources are read as text, without comments, strings and tests.
#![cfg(not(target_arch = "wasm32"))]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test says what failed by failing"
)]

use std::fs;
use std::path::{Path, PathBuf};

/// Every room of the library and the rooms it may name.
const ROOMS: [(&str, &[&str]); 20] = [
    ("error", &[]),
    ("crc", &[]),
    ("little", &[]),
    ("percent", &[]),
    ("range", &["error"]),
    ("budget", &["error"]),
    ("job", &["error", "range", "budget"]),
    ("fits", FORMAT),
    ("imzml", FORMAT),
    ("store", FORMAT),
    ("manifest", FORMAT),
    ("drive", FORMAT),
    ("stack", REDUCTION),
    ("ion", REDUCTION),
    ("raster", PLANE),
    ("npy", TILE),
    ("png", TILE),
    ("results", RESULT),
    ("api", INTERFACE),
    ("wasm", EVERYTHING),
];
const FORMAT: &[&str] = &[
    "error", "crc", "little", "percent", "range", "budget", "job",
];
const REDUCTION: &[&str] = &[
    "error", "crc", "little", "percent", "range", "budget", "job", "fits", "imzml", "store",
    "manifest",
];
const PLANE: &[&str] = &[
    "error", "crc", "little", "percent", "range", "budget", "job", "fits", "imzml", "store",
    "manifest", "stack", "ion",
];
const TILE: &[&str] = &[
    "error", "crc", "little", "percent", "range", "budget", "job", "fits", "imzml", "store",
    "manifest", "stack", "ion", "raster",
];
const RESULT: &[&str] = &[
    "error", "crc", "little", "percent", "range", "budget", "job", "fits", "imzml", "store",
    "manifest", "stack", "ion", "raster", "npy", "png",
];
const INTERFACE: &[&str] = &[
    "error", "crc", "little", "percent", "range", "budget", "job", "fits", "imzml", "store",
    "manifest", "stack", "ion", "raster", "npy", "png", "results",
];
const EVERYTHING: &[&str] = &[
    "error", "crc", "little", "percent", "range", "budget", "job", "fits", "imzml", "store",
    "manifest", "stack", "ion", "raster", "npy", "png", "results", "drive", "api",
];

/// Rooms of the program, which stands on the whole library.
const PROGRAM: [&str; 2] = ["cli", "main"];

/// What only the binding may name.
const BINDING: [&str; 4] = ["wasm_bindgen", "wasm_bindgen_futures", "js_sys", "web_sys"];

/// Crates and parts of `std` that do I/O, or that do not work without an operating system.
const OUTSIDE: [&str; 8] = [
    "clap",
    "ureq",
    "tokio",
    "axum",
    "tower_http",
    "ctrlc",
    "indicatif",
    "tempfile",
];
const OUTSIDE_STD: [&str; 5] = ["fs", "net", "env", "process", "thread"];

/// The most lines that a file may have.
const MOST_LINES: usize = 600;

#[test]
fn arrows_point_one_way() {
    let mut faults = Vec::new();
    for Source {
        name, room, code, ..
    } in sources()
    {
        if PROGRAM.contains(&room.as_str()) || room == "lib" {
            continue;
        }
        let Some((_, may)) = ROOMS.iter().find(|(known, _)| *known == room) else {
            faults.push(format!(
                "{name}: the room `{room}` is not in the table of tests/layers.rs"
            ));
            continue;
        };
        for named in heads(&code, "crate") {
            if named != room && !may.contains(&named.as_str()) {
                faults.push(format!("{name}: `{room}` must not know `{named}`"));
            }
        }
        for named in heads(&code, "super::super") {
            let elsewhere = ROOMS
                .iter()
                .any(|(other, _)| *other == named && *other != room);
            if elsewhere && !may.contains(&named.as_str()) {
                faults.push(format!("{name}: `{room}` must not know `{named}`"));
            }
        }
    }
    none(&faults);
}

#[test]
fn only_the_binding_names_its_crates() {
    let mut faults = Vec::new();
    for Source {
        name, room, code, ..
    } in sources()
    {
        for word in BINDING {
            if room != "wasm" && has_word(&code, word) {
                faults.push(format!("{name}: names {word}, which belongs into src/wasm"));
            }
        }
    }
    none(&faults);
}

#[test]
fn the_core_does_no_io() {
    let mut faults = Vec::new();
    let drivers = native_drivers(&fs::read_to_string(root().join("src/drive/mod.rs")).unwrap());
    for Source {
        name, room, code, ..
    } in sources()
    {
        let driver = drivers
            .iter()
            .any(|module| name.starts_with(&format!("src/drive/{module}")));
        if driver || PROGRAM.contains(&room.as_str()) {
            continue;
        }
        for word in OUTSIDE {
            if has_word(&code, word) {
                faults.push(format!(
                    "{name}: names {word}, which belongs into src/cli or a native driver"
                ));
            }
        }
        for part in heads(&code, "std") {
            if OUTSIDE_STD.contains(&part.as_str()) {
                faults.push(format!("{name}: names std::{part}: the core does no I/O"));
            }
        }
        // They compile for wasm32-unknown-unknown and then trap.
        for clock in ["Instant", "SystemTime"] {
            if has_word(&code, clock) {
                faults.push(format!("{name}: names {clock}: the core has no clock"));
            }
        }
    }
    none(&faults);
}

#[test]
fn nothing_panics_on_purpose() {
    let mut faults = Vec::new();
    for Source { name, code, .. } in sources() {
        for call in [
            ".unwrap()",
            ".expect(",
            "panic!(",
            "todo!(",
            "unimplemented!(",
            "unreachable!(",
        ] {
            if code.contains(call) {
                faults.push(format!(
                    "{name}: `{call}` outside of tests; return a typed error"
                ));
            }
        }
    }
    none(&faults);
}

#[test]
fn files_stay_readable() {
    let mut faults = Vec::new();
    for folder in ["src", "www", "xtask/src"] {
        for path in files(&root().join(folder), &["rs", "js", "mjs", "css", "html"]) {
            let lines = fs::read_to_string(&path).unwrap().lines().count();
            if lines > MOST_LINES {
                faults.push(format!("{}: {lines} lines; split it by idea", shown(&path)));
            }
        }
    }
    none(&faults);
}

#[test]
fn the_reader_of_sources_sees_code_only() {
    let text = r##"
        //! crate::cli in a comment
        use crate::{error::{Error, Result}, fits, raster::plane::Scale as Plane};
        /* crate::ion /* nested */ crate::store */
        fn f<'a>(x: &'a str) -> char { let _ = "crate::wasm \" \\"; let _ = r#"crate::png "quoted" "#; '"' }
        pub(in crate::stack) fn g() -> crate::job::Tally { std::fs::read("crate::budget"); x.unwrap_or(1) }
        use std::{collections::{BTreeMap, env}, net::TcpStream};
        #[cfg(test)]
        mod tests { use crate::drive; fn h() { y.unwrap() } }
        use crate::range as last;
    "##;
    let code = without_tests(&code_of(text));
    assert_eq!(
        heads(&code, "crate"),
        ["error", "fits", "raster", "stack", "job", "range"]
    );
    assert_eq!(heads(&code, "std"), ["fs", "collections", "net"]);
    assert!(!code.contains(".unwrap()") && code.contains("unwrap_or"));
    let drive = "pub mod policy;\n#[cfg(all(feature = \"cli\"))]\nmod file;\n#[cfg(feature = \"cli\")]\npub mod native;";
    assert_eq!(native_drivers(drive), ["file", "native"]);
    assert!(has_word(&code, "TcpStream") && !has_word(&code, "Tcp") && !has_word(&code, "quoted"));
}

/// Modules of `drive` that only the program has: those are the ones that may do I/O.
fn native_drivers(text: &str) -> Vec<String> {
    let gated = text.lines().zip(text.lines().skip(1));
    gated
        .filter(|(gate, _)| gate.starts_with("#[cfg(") && gate.contains("feature = \"cli\""))
        .filter_map(|(_, line)| line.trim_start_matches("pub ").strip_prefix("mod "))
        .map(|module| module.trim_end_matches(';').to_owned())
        .collect()
}

/// One file of `src`, reduced to what the compiler would keep of it in the shipped library.
struct Source {
    /// Path relative to the clone, with forward slashes.
    name: String,
    /// The first folder below `src`, or the file's own name directly in it.
    room: String,
    code: String,
}

fn sources() -> Vec<Source> {
    let found: Vec<Source> = files(&root().join("src"), &["rs"])
        .into_iter()
        .map(|path| {
            let name = shown(&path);
            let inside = name.trim_start_matches("src/").trim_end_matches(".rs");
            let room = inside.split('/').next().unwrap_or(inside).to_owned();
            let code = without_tests(&code_of(&fs::read_to_string(&path).unwrap()));
            Source { name, room, code }
        })
        .collect();
    assert!(
        found.iter().any(|source| source.room == "job"),
        "src was not found or not read"
    );
    found
}

fn root() -> PathBuf {
    // What cargo says now: clones that share a build folder share this program too.
    std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from)
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .to_string_lossy()
        .replace('\\', "/")
}

fn files(folder: &Path, ends: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else {
        return found;
    };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, ends));
        } else if path
            .extension()
            .is_some_and(|end| ends.iter().any(|wanted| end == *wanted))
        {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n  {}\n", faults.join("\n  "));
}

/// The text with comments, strings and characters blanked.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let skipped = comment(rest).or_else(|| literal(rest, &code));
        code.push(if skipped.is_some() { ' ' } else { first });
        rest = &rest[skipped.unwrap_or(first.len_utf8())..];
    }
    code
}

/// Length of the comment that `text` starts with.
fn comment(text: &str) -> Option<usize> {
    if text.starts_with("//") {
        return Some(text.find('\n').unwrap_or(text.len()));
    }
    if !text.starts_with("/*") {
        return None;
    }
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    Some(at)
}

/// Length of the string or character that `text` starts with; `before` tells a prefix from a name's end.
fn literal(text: &str, before: &str) -> Option<usize> {
    if let Some(raw) = text.strip_prefix('r') {
        let hashes = raw.len() - raw.trim_start_matches('#').len();
        let in_name =
            before.ends_with(|last: char| last.is_alphanumeric() && last != 'b' || last == '_');
        if raw[hashes..].starts_with('"') && !in_name {
            let close = format!("\"{}", "#".repeat(hashes));
            let start = 1 + hashes + 1;
            return text[start..]
                .find(&close)
                .map(|end| start + end + close.len());
        }
    }
    if text.starts_with('"') {
        return Some(quoted(text, '"'));
    }
    // A character, not a lifetime: closed after one character or one escape.
    let inner = text.strip_prefix('\'')?;
    let mut letters = inner.chars();
    let first = letters.next()?;
    (first == '\\' || letters.next() == Some('\'')).then(|| quoted(text, '\''))
}

fn quoted(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        if !escaped && letter == quote {
            return at + letter.len_utf8();
        }
        escaped = !escaped && letter == '\\';
    }
    text.len()
}

/// The code without items that only tests have.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find(MARK) {
        kept.push_str(&rest[..at]);
        rest = &rest[at + MARK.len()..];
        let mut depth = 0;
        let end = rest.find(|letter| {
            match letter {
                '{' => depth += 1,
                '}' => depth -= 1,
                _ => {}
            }
            depth == 0 && matches!(letter, '}' | ';')
        });
        rest = end.map_or("", |end| &rest[end + 1..]);
    }
    kept + rest
}

/// First segments of the paths that start at `origin`, groups opened.
fn heads(code: &str, origin: &str) -> Vec<String> {
    let start = format!("{origin}::");
    let mut found: Vec<String> = Vec::new();
    for (at, _) in code.match_indices(&start) {
        if code[..at].ends_with(|last: char| last.is_alphanumeric() || last == '_' || last == ':') {
            continue;
        }
        let rest = &code[at + start.len()..];
        let names = match rest.strip_prefix('{') {
            Some(group) => members(group),
            None => vec![word(rest)],
        };
        for name in names {
            if !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

/// First words of the members of a group, up to the brace that closes it.
fn members(group: &str) -> Vec<String> {
    let mut found = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (at, letter) in group.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                found.push(word(&group[from..at]));
                from = at + 1;
            }
            _ => {}
        }
        if letter == '}' && from == at + 1 {
            break;
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

fn word(text: &str) -> String {
    text.trim_start()
        .chars()
        .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
        .collect()
}

fn has_word(code: &str, word: &str) -> bool {
    let joins = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.match_indices(word)
        .any(|(at, _)| !code[..at].ends_with(joins) && !code[at + word.len()..].starts_with(joins))
}
