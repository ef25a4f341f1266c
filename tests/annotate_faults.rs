//! Annotation from servers that misbehave: the same results, or an error that names the address.

#![cfg(all(feature = "cli", unix))]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared modules serve several files"
)]

mod annotations;
mod program;
mod servers;

use annotations::{finished, scene};
use program::{run, run_well, text};
use servers::Server;

fn words(owned: &[String]) -> Vec<&str> {
    owned.iter().map(String::as_str).collect()
}

#[test]
fn faults_that_pass_change_nothing_and_others_are_named() {
    let scene = scene();
    let list = scene.small_list();
    let server = Server::start(scene.folder.path());
    let out = tempfile::tempdir().unwrap();
    let annotate = |store: &str, list: &str, out: &str| {
        [
            "annotate",
            store,
            "--molecules",
            list,
            "--decoys",
            "3",
            "-o",
            out,
        ]
        .map(str::to_owned)
    };
    let local = annotate(text(&scene.store), text(&list), "local");
    run_well(out.path(), &words(&local));
    let whole = finished(&out.path().join("local"));
    for mode in [
        "ok",
        "norange",
        "bare",
        "bare-416",
        "gzip",
        "weak-etag",
        "redirect",
        "503-then-ok",
        "429",
        "truncate-once",
        "reset",
    ] {
        server.reset();
        let remote = annotate(
            &server.url(mode, "tissue.sectile"),
            &server.url(mode, "small.csv"),
            mode,
        );
        run_well(out.path(), &words(&remote));
        assert!(finished(&out.path().join(mode)) == whole, "{mode}");
    }
    for (store, molecules) in [
        ("403", "ok"),
        ("ok", "403"),
        ("size-change", "ok"),
        ("etag-change", "ok"),
        ("html-200", "ok"),
    ] {
        server.reset();
        let remote = annotate(
            &server.url(store, "tissue.sectile"),
            &server.url(molecules, "small.csv"),
            "bad",
        );
        let ran = run(out.path(), &words(&remote));
        assert!([Some(1), Some(3)].contains(&ran.code), "{store}: {ran:?}");
        let wrong = if store == "ok" { molecules } else { store };
        assert!(ran.stderr.contains(&format!("/{wrong}/")), "{ran:?}");
        assert!(!out.path().join("bad/results.csv").exists(), "{store}");
        // What is saved goes on from anywhere that has the same store.
        run_well(
            out.path(),
            &words(&annotate(text(&scene.store), text(&list), "bad")),
        );
        assert!(finished(&out.path().join("bad")) == whole, "{store}");
        std::fs::remove_dir_all(out.path().join("bad")).unwrap();
    }
}
