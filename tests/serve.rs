//! `sectile serve`: ranges, conditions, CORS, types, and no way out of the folders.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared module serves several files"
)]

mod program;

use std::fs;

use program::serving::Server;
use program::{ask, run, run_well, stack};

const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'";

/// Data, pages beside it, and a secret outside of both.
fn site() -> (tempfile::TempDir, Server) {
    let folder = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("secret.txt", "secret");
    put("data/digits.fits", "0123456789");
    put("data/empty.bin", "");
    put("data/sub/a b.txt", "text");
    put("data/.hidden", "hidden");
    put("data/page.html", "<script>alert(1)</script>");
    let meta = POLICY.replace("; ", ";\n  ");
    put(
        "pages/index.html",
        &format!(
            "<!doctype html>\n<meta http-equiv=\"Content-Security-Policy\" content=\"{meta}\">\n"
        ),
    );
    for name in [
        "pkg/core.wasm",
        "app/a.js",
        "app/b.mjs",
        "style.css",
        "i.png",
    ] {
        put(&format!("pages/{name}"), "x");
    }
    let server = Server::start(folder.path(), &["data", "--pages", "pages"]);
    (folder, server)
}

#[test]
fn ranges_are_exact() {
    let (_folder, server) = site();
    let path = "/data/digits.fits";
    let whole = server.get(path, &[]);
    assert_eq!(
        (whole.status, whole.body.as_slice()),
        (200, &b"0123456789"[..])
    );
    assert_eq!(whole.header("accept-ranges"), "bytes");
    assert_eq!(whole.header("content-length"), "10");
    assert_eq!(whole.header("content-type"), "application/fits");
    assert_eq!(whole.header("content-encoding"), "");
    for (range, body, content_range) in [
        ("bytes=0-0", "0", "bytes 0-0/10"),
        ("bytes=2-4", "234", "bytes 2-4/10"),
        ("bytes=7-", "789", "bytes 7-9/10"),
        ("bytes=-3", "789", "bytes 7-9/10"),
        ("bytes=5-500", "56789", "bytes 5-9/10"),
    ] {
        let part = server.get(path, &[("Range", range)]);
        assert_eq!(
            (part.status, part.body.as_slice()),
            (206, body.as_bytes()),
            "{range}"
        );
        assert_eq!(part.header("content-range"), content_range);
        assert_eq!(part.header("content-length"), body.len().to_string());
        assert_eq!(part.header("etag"), whole.header("etag"));
    }
    for (path, range, size) in [
        (path, "bytes=10-", "10"),
        (path, "bytes=-0", "10"),
        ("/data/empty.bin", "bytes=0-", "0"),
    ] {
        let outside = server.get(path, &[("Range", range)]);
        assert_eq!(outside.status, 416);
        assert_eq!(outside.header("content-range"), format!("bytes */{size}"));
    }
    assert_eq!(server.get(path, &[("Range", "bytes=0-1,3-4")]).status, 200);
    assert_eq!(server.get("/data/empty.bin", &[]).body, b"");
}

#[test]
fn versions_are_told_apart() {
    let (folder, server) = site();
    let path = "/data/digits.fits";
    let first = server.get(path, &[]);
    let (etag, modified) = (
        first.header("etag").to_owned(),
        first.header("last-modified").to_owned(),
    );
    assert!(etag.starts_with('"') && etag.ends_with('"') && modified.ends_with(" GMT"));
    let same = server.get(path, &[("If-None-Match", &etag)]);
    assert_eq!(
        (same.status, same.body.len(), same.header("etag")),
        (304, 0, etag.as_str())
    );
    assert_eq!(
        server.get(path, &[("If-Modified-Since", &modified)]).status,
        304
    );
    assert_eq!(server.get(path, &[("If-Match", "\"other\"")]).status, 412);
    let ranged = |tag: &str| {
        server
            .get(path, &[("Range", "bytes=1-2"), ("If-Range", tag)])
            .status
    };
    assert_eq!(
        (ranged(&etag), ranged(&modified), ranged("\"other\"")),
        (206, 206, 200)
    );

    fs::write(folder.path().join("data/digits.fits"), "9876543210").unwrap();
    assert_ne!(server.get(path, &[]).header("etag"), etag);
    assert_eq!(ranged(&etag), 200);
    assert_eq!(server.get(path, &[("If-None-Match", &etag)]).status, 200);
}

#[test]
fn other_origins_may_read_ranges() {
    let (_folder, server) = site();
    let part = server.get(
        "/data/digits.fits",
        &[("Range", "bytes=0-1"), ("Origin", "https://example.org")],
    );
    assert_eq!(part.header("access-control-allow-origin"), "*");
    let exposed = part.header("access-control-expose-headers").to_lowercase();
    for name in [
        "content-range",
        "etag",
        "accept-ranges",
        "content-length",
        "last-modified",
    ] {
        assert!(exposed.contains(name), "{name} in {exposed}");
    }
    assert_eq!(
        server
            .get("/data/absent", &[])
            .header("access-control-allow-origin"),
        "*"
    );
    let before = ask(
        server.port,
        "OPTIONS",
        "/data/digits.fits",
        &[
            ("Origin", "https://example.org"),
            ("Access-Control-Request-Method", "GET"),
            ("Access-Control-Request-Headers", "range"),
        ],
    );
    assert_eq!(before.status, 204);
    assert!(
        before
            .header("access-control-allow-headers")
            .to_lowercase()
            .contains("range")
    );
    assert!(
        before
            .header("access-control-allow-methods")
            .contains("GET")
    );
}

#[test]
fn head_tells_what_get_would_send() {
    let (_folder, server) = site();
    let head = ask(server.port, "HEAD", "/data/digits.fits", &[]);
    assert_eq!(
        (head.status, head.body.len(), head.header("content-length")),
        (200, 0, "10")
    );
    let part = ask(
        server.port,
        "HEAD",
        "/data/digits.fits",
        &[("Range", "bytes=2-4")],
    );
    assert_eq!(
        (part.status, part.body.len(), part.header("content-length")),
        (206, 0, "3")
    );
    let post = ask(server.port, "POST", "/data/digits.fits", &[]);
    assert_eq!(
        (post.status, post.header("allow")),
        (405, "GET, HEAD, OPTIONS")
    );
}

#[test]
fn nothing_outside_of_the_folders_is_served() {
    let (folder, server) = site();
    for path in [
        "/../secret.txt",
        "/data/../secret.txt",
        "/data/../../secret.txt",
        "/data/%2e%2e/secret.txt",
        "/data/..%2fsecret.txt",
        "/data/%2e%2e%2fsecret.txt",
        "/data/..%5csecret.txt",
        "/data//etc/passwd",
        "//etc/passwd",
        "/data/%2fetc%2fpasswd",
        "/data/.hidden",
        "/data/%00",
        "/data/sub/../../secret.txt",
    ] {
        let answer = server.get(path, &[]);
        assert_eq!(
            answer.status,
            400,
            "{path}: {}",
            String::from_utf8_lossy(&answer.body)
        );
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("../secret.txt", folder.path().join("data/out")).unwrap();
        std::os::unix::fs::symlink("digits.fits", folder.path().join("data/in.fits")).unwrap();
        assert_eq!(server.get("/data/out", &[]).status, 403);
        assert_eq!(server.get("/data/in.fits", &[]).body, b"0123456789");
    }
    drop(folder);
}

#[test]
fn pages_come_with_their_types_and_their_own_policy() {
    let (_folder, server) = site();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/index.html", "text/html; charset=utf-8"),
        ("/pkg/core.wasm", "application/wasm"),
        ("/app/a.js", "text/javascript; charset=utf-8"),
        ("/app/b.mjs", "text/javascript; charset=utf-8"),
        ("/style.css", "text/css; charset=utf-8"),
        ("/i.png", "image/png"),
    ] {
        let page = server.get(path, &[]);
        assert_eq!(
            (page.status, page.header("content-type")),
            (200, kind),
            "{path}"
        );
        assert_eq!(page.header("content-security-policy"), POLICY, "{path}");
        assert_eq!(page.header("x-content-type-options"), "nosniff");
    }
    let data = server.get("/data/page.html", &[]);
    assert!(
        data.header("content-security-policy").contains("sandbox"),
        "data is no page of ours"
    );
    assert_eq!(server.get("/absent", &[]).status, 404);
}

#[test]
fn folders_list_what_they_hold() {
    let (_folder, server) = site();
    let list = server.get("/data/?list", &[]);
    assert_eq!(list.header("content-type"), "application/json");
    let list: serde_json::Value = serde_json::from_slice(&list.body).unwrap();
    let names: Vec<&str> = list
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["digits.fits", "empty.bin", "page.html", "sub"]);
    assert_eq!(
        (&list[0]["bytes"], &list[3]["folder"]),
        (&10.into(), &true.into())
    );
    assert_eq!(server.get("/data/sub/", &[]).body, b"a b.txt\n");
    assert_eq!(server.get("/data/sub/a%20b.txt", &[]).body, b"text");
    let moved = server.get("/data/sub", &[]);
    assert_eq!((moved.status, moved.header("location")), (308, "sub/"));
}

#[test]
fn the_program_reads_what_it_serves() {
    let folder = stack(3, 64);
    let server = Server::start(folder.path(), &[]);
    run_well(
        folder.path(),
        &["median", "exposures.txt", "-o", "files.npy"],
    );
    let list = format!("http://127.0.0.1:{}/data/exposures.txt", server.port);
    let done = run_well(
        folder.path(),
        &["median", &list, "-o", "served.npy", "--json"],
    )
    .event("done");
    assert!(
        fs::read(folder.path().join("files.npy")).unwrap()
            == fs::read(folder.path().join("served.npy")).unwrap()
    );
    assert_eq!(
        (&done["requests"], &done["retries"]),
        (&7.into(), &0.into()),
        "the list, and two an exposure"
    );
    assert_eq!(
        server.get("/", &[]).status,
        404,
        "without pages only data is served"
    );
}

#[test]
fn a_port_in_use_is_said() {
    let folder = stack(1, 64);
    let server = Server::start(folder.path(), &[]);
    let ran = run(
        folder.path(),
        &["serve", "--port", &server.port.to_string(), "--json"],
    );
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let message = ran.event("error")["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains("in use") && message.contains("--port"),
        "{message}"
    );
    assert_eq!(run(folder.path(), &["serve", "absent"]).code, Some(3));
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_cleanly() {
    let folder = stack(1, 64);
    for name in ["INT", "TERM"] {
        let mut server = Server::start(folder.path(), &[]);
        program::signal(&server.child, name);
        assert_eq!(server.child.wait().unwrap().code(), Some(0), "{name}");
    }
}
