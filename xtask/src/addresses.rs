//! That what is shipped runs anywhere: no host is named and no path starts at a server's root.

use crate::{Outcome, place};
use std::path::Path;

/// Beginnings of addresses that are names and not places to fetch from (a namespace, the first line of
/// a Git LFS pointer), or reserved for examples (RFC 2606).
const HARMLESS: [&str; 5] = [
    "git-lfs",
    "www.w3.org/",
    "example.org",
    "example.com",
    "example.net",
];

/// References that a page under a sub-path would resolve to the wrong place.
const ROOTED: [&str; 12] = [
    "src=\"/",
    "src='/",
    "href=\"/",
    "href='/",
    "from \"/",
    "from '/",
    "import(\"/",
    "import('/",
    "url(/",
    "url(\"/",
    "fetch(\"/",
    "fetch('/",
];

/// Fails, naming file and text, if a file below `folder` names a host or refers to a rooted path.
///
/// Licence texts are left out: they are quoted, not followed.
pub(crate) fn check(folder: &Path) -> Outcome {
    let mut found = Vec::new();
    for file in place::files(folder)? {
        if file
            .file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("LICENSE"))
        {
            continue;
        }
        let text = String::from_utf8_lossy(&place::read(&file)?).into_owned();
        found.extend(
            faults(&text)
                .into_iter()
                .map(|fault| format!("{}: {fault}", place::shown(&file))),
        );
    }
    if found.is_empty() {
        return Ok(());
    }
    Err(format!(
        "these would tie the pages to one host or path:\n  {}",
        found.join("\n  ")
    ))
}

fn faults(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for scheme in ["http://", "https://", "ws://", "wss://"] {
        for (at, _) in text.match_indices(scheme) {
            let rest = &text[at + scheme.len()..];
            let named =
                rest.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[');
            // A scheme inside a longer one is found with that one.
            let inner = text[..at].ends_with(|last: char| last.is_ascii_alphanumeric());
            if named && !inner && !HARMLESS.iter().any(|name| rest.starts_with(name)) {
                found.push(excerpt(text, at));
            }
        }
    }
    // A registry turns up without a scheme, in the paths that panic messages carry.
    found.extend(
        text.match_indices("registry/src/")
            .map(|(at, _)| excerpt(text, at)),
    );
    for start in ROOTED {
        found.extend(text.match_indices(start).map(|(at, _)| excerpt(text, at)));
    }
    found
}

fn excerpt(text: &str, at: usize) -> String {
    text[at..]
        .chars()
        .take(60)
        .take_while(|letter| !letter.is_control())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::faults;

    #[test]
    fn finds_hosts_and_rooted_paths() {
        for text in [
            "fetch('https://cdn.host.net/a.js')",
            "const at = `http://127.0.0.1:8787`",
            "<script src=\"/app/main.js\">",
            "import x from '/core/x.js'",
            "/home/me/.cargo/registry/src/index-1/png/src/lib.rs",
        ] {
            assert_eq!(faults(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn leaves_names_and_relative_paths_alone() {
        for text in [
            "createElementNS('http://www.w3.org/2000/svg', 'svg')",
            "placeholder=\"https://example.org/exposures.txt\"",
            "if (url.startsWith('https://'))",
            "import x from '../core/x.js'; // a/b",
        ] {
            assert!(faults(text).is_empty(), "{text}");
        }
    }
}
