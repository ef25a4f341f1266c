//! `sectile serve`, its datasets, when things go wrong: crowds, files that change, servers that misbehave, catalogs.

#![cfg(feature = "cli")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    dead_code,
    unreachable_pub,
    reason = "tests may; the shared modules serve several files"
)]

mod edge_host;
mod program;
mod servers;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use edge_host::{Host, code, json, problem, sky, tags};
use program::serving::Server;
use program::{SlowServer, ask, run, run_well, stack, wait_until};
use serde_json::json;

/// Declares one stack, `far`, of exposures at these addresses.
fn declare(folder: &Path, origin: &str, urls: &[String]) {
    let catalog = json!({
        "sectile": 1,
        "origins": [origin.trim_end_matches('/')],
        "datasets": { "far": { "type": "stack", "exposures": urls } },
    });
    fs::write(folder.join("sectile.json"), catalog.to_string()).unwrap();
}

#[test]
fn a_crowd_gets_no_wrong_byte() {
    let folder = sky();
    let server = Server::start(folder.path(), &["--memory", "16MiB"]);
    let mut core = Host::new(folder.path(), tags(folder.path()));
    let mut routes: Vec<String> = Vec::new();
    for layer in ["median", "rms", "count", "frame-1", "frame-2", "frame-3"] {
        routes.extend(
            ["0/0/0", "1/0/0", "1/1/0", "1/0/1", "1/1/1"]
                .map(|tile| format!("/v1/sky/{layer}/{tile}.png")),
        );
    }
    for mz in 0..15 {
        routes.push(format!("/v1/tissue/mz-{}.5/0/0/0.png", 200 + 40 * mz));
    }
    let right: BTreeMap<&str, Vec<u8>> = routes
        .iter()
        .map(|route| (route.as_str(), core.get(route).body))
        .collect();
    let times = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for n in 0..200 {
            let (server, right, times) = (&server, &right, &times);
            let route = &routes[(n * 7) % routes.len()];
            scope.spawn(move || {
                let started = Instant::now();
                let answer = server.get(route, &[]);
                times.lock().unwrap().push(started.elapsed());
                assert_eq!(answer.status, 200, "{route}: {answer:?}");
                assert!(answer.body == right[route.as_str()], "{route}: other bytes");
            });
        }
    });
    let mut times = times.into_inner().unwrap();
    times.sort();
    println!("200 at once: p50 {:?}, p95 {:?}", times[100], times[190]);
}

#[test]
fn whoever_comes_beyond_the_gate_is_told_to_come_again() {
    let folder = stack(1, 512);
    let origin = SlowServer::start(folder.path(), Duration::ZERO);
    declare(
        folder.path(),
        &origin.url(""),
        &[origin.url("exposure_01.fits")],
    );
    let server = Server::start(folder.path(), &["--queue", "0", "--allow-private-origins"]);
    assert_eq!(server.get("/v1/far/info", &[]).status, 200);
    origin.set_delay(Duration::from_millis(800));
    let statuses = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for n in 0..60 {
            let (server, statuses) = (&server, &statuses);
            scope.spawn(move || {
                let route = format!("/v1/far/median.png?bbox={n},0,{},9", n + 5);
                let answer = server.get(&route, &[]);
                if answer.status == 503 {
                    assert_eq!(code(&answer), "busy");
                    assert!(answer.header("retry-after").parse::<u32>().unwrap() > 0);
                }
                statuses.lock().unwrap().push(answer.status);
            });
        }
    });
    let statuses = statuses.into_inner().unwrap();
    let count = |status| statuses.iter().filter(|other| **other == status).count();
    assert!(count(200) > 0 && count(503) > 0, "{statuses:?}");
    assert_eq!(count(200) + count(503), 60, "{statuses:?}");
    origin.set_delay(Duration::ZERO);
    assert_eq!(
        server.get("/v1/far/median.png?bbox=0,0,9,9", &[]).status,
        200
    );
}

#[test]
fn the_same_answer_is_computed_once_and_not_for_nobody() {
    let folder = stack(12, 64);
    let origin = SlowServer::start(folder.path(), Duration::ZERO);
    let urls: Vec<String> = (1..=12)
        .map(|n| origin.url(&format!("exposure_{n:02}.fits")))
        .collect();
    declare(folder.path(), &origin.url(""), &urls);
    let server = Server::start(folder.path(), &["--allow-private-origins"]);
    assert_eq!(server.get("/v1/far/info", &[]).status, 200);
    origin.set_delay(Duration::from_millis(300));
    let before = origin.requests();
    std::thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(|| {
                let answer = server.get("/v1/far/median/0/0/0.png", &[]);
                assert_eq!(
                    (answer.status, answer.header("x-upstream-requests")),
                    (200, "12")
                );
            });
        }
    });
    assert_eq!(
        origin.requests() - before,
        12,
        "one request an exposure for all of them"
    );

    // Six are on their way when the client goes; the other six are never sent.
    let before = origin.requests();
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    stream
        .write_all(b"GET /v1/far/count.png?bbox=1,1,9,9 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        .unwrap();
    wait_until("the first requests are sent", || origin.requests() > before);
    drop(stream);
    std::thread::sleep(Duration::from_millis(900));
    assert!(
        origin.requests() - before <= 6,
        "{}",
        origin.requests() - before
    );
}

#[test]
fn who_waits_too_long_is_told_so() {
    let folder = stack(1, 64);
    let origin = SlowServer::start(folder.path(), Duration::from_secs(4));
    declare(
        folder.path(),
        &origin.url(""),
        &[origin.url("exposure_01.fits")],
    );
    let server = Server::start(
        folder.path(),
        &["--deadline", "1", "--allow-private-origins"],
    );
    let started = Instant::now();
    let answer = server.get("/v1/far/info", &[]);
    assert_eq!((answer.status, code(&answer).as_str()), (503, "busy"));
    assert!(started.elapsed() < Duration::from_secs(3));
    assert!(!answer.header("retry-after").is_empty());
}

#[test]
fn files_may_change_while_the_server_runs() {
    let folder = sky();
    let path = folder.path();
    let server = Server::start(path, &[]);
    let id = |server: &Server| {
        let info = json(&server.get("/v1/sky/info", &[]));
        info["id"].as_str().unwrap().to_owned()
    };
    let (first, old) = (id(&server), server.get("/v1/sky/median/0/0/0.png", &[]));
    let other = stack(4, 320);
    // In another order, so that the median is another one only if the bytes are read anew.
    let exposure = path.join("exposure_01.fits");
    let (bytes, truth) = (
        fs::read(&exposure).unwrap(),
        fs::read(other.path().join("exposure_04.fits")).unwrap(),
    );
    fs::write(path.join("new.part"), &truth).unwrap();
    fs::rename(path.join("new.part"), &exposure).unwrap();
    // An answer that was not computed yet is right at once, whatever was open before.
    let mut core = Host::new(path, tags(path));
    let route = "/v1/sky/median.fits?bbox=3,4,200,201";
    let answer = server.get(route, &[]);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.body == core.get(route).body);
    wait_until("the new version is told", || id(&server) != first);
    let new = server.get("/v1/sky/median/0/0/0.png", &[]);
    assert!(new.body == core.get("/v1/sky/median/0/0/0.png").body && new.body != old.body);
    let outdated = server.get(&format!("/v1/{first}/median/0/0/0.png"), &[]);
    assert_eq!(
        (outdated.status, code(&outdated).as_str()),
        (404, "version")
    );

    fs::write(&exposure, &truth[..truth.len() / 2]).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let cut = server.get("/v1/sky/median.png?bbox=0,0,320,320", &[]);
    assert!([500, 502].contains(&cut.status), "{cut:?}");
    let detail = problem(&cut)["detail"].as_str().unwrap().to_owned();
    assert!(detail.contains("exposure_01.fits"), "{detail}");
    assert!(
        !detail.contains(path.to_str().unwrap()),
        "no paths of the machine: {detail}"
    );

    fs::remove_file(&exposure).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let gone = server.get("/v1/sky/median/0/0/0.png", &[]);
    assert_eq!((gone.status, code(&gone).as_str()), (502, "upstream"));
    assert_eq!(server.get("/v1/tissue/info", &[]).status, 200);

    fs::write(&exposure, &bytes).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    let back = server.get("/v1/sky/median/0/0/0.png", &[]);
    assert_eq!(back.status, 200);
    assert!(codes_equal(&back.body, &old.body), "the pixels of before");
}

/// Whether two PNGs differ in nothing but what names the version.
fn codes_equal(one: &[u8], other: &[u8]) -> bool {
    let pixels = |bytes: &[u8]| {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes.to_vec()))
            .read_info()
            .unwrap();
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut buffer).unwrap();
        buffer
    };
    pixels(one) == pixels(other)
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_not_followed() {
    let outside = stack(1, 64);
    let folder = tempfile::tempdir().unwrap();
    let target = outside.path().join("exposure_01.fits");
    std::os::unix::fs::symlink(target, folder.path().join("out.fits")).unwrap();
    let catalog = json!({ "sectile": 1, "datasets": { "out": { "type": "stack", "exposures": ["out.fits"] } } });
    fs::write(folder.path().join("sectile.json"), catalog.to_string()).unwrap();
    let server = Server::start(folder.path(), &[]);
    let answer = server.get("/v1/out/median.fits", &[]);
    assert_eq!((answer.status, code(&answer).as_str()), (502, "upstream"));
}

#[test]
fn servers_that_misbehave_never_make_a_wrong_pixel() {
    let folder = stack(1, 64);
    let path = folder.path();
    let origin = servers::Server::start(path);
    let near = json!({ "sectile": 1, "datasets": { "far": { "type": "stack", "exposures": ["exposure_01.fits"] } } });
    fs::write(path.join("sectile.json"), near.to_string()).unwrap();
    let right = Host::new(path, tags(path))
        .get("/v1/far/median/0/0/0.png")
        .body;
    let server = Server::start(path, &["--allow-private-origins", "--deadline", "20"]);
    for (mode, status, kind) in [
        ("ok", 200, ""),
        ("norange", 200, ""),
        ("gzip", 200, ""),
        ("slow", 200, ""),
        ("503-then-ok", 200, ""),
        ("truncate-once", 200, ""),
        ("gzip-slice", 502, "upstream"),
        ("truncate", 502, "upstream"),
        ("wrong-content-range", 502, "upstream"),
        ("wrong-body", 502, "upstream"),
        ("multipart", 502, "upstream"),
        ("500", 502, "upstream"),
        ("403", 502, "upstream"),
        ("redirect", 502, "upstream"),
        ("redirect-absolute", 502, "upstream"),
        ("redirect-away", 502, "upstream"),
        ("redirect-file", 502, "upstream"),
        ("503-always", 503, "busy"),
    ] {
        let url = format!("{}{mode}/exposure_01.fits", origin.base);
        declare(path, &origin.base, &[url]);
        // Longer than files are left unlooked at.
        std::thread::sleep(Duration::from_millis(250));
        let answer = server.get("/v1/far/median/0/0/0.png", &[]);
        assert_eq!(
            answer.status,
            status,
            "{mode}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        if status == 200 {
            assert!(codes_equal(&answer.body, &right), "{mode}: other pixels");
        } else {
            assert_eq!(code(&answer), kind, "{mode}");
        }
    }
}

#[test]
fn a_file_that_changes_on_its_server_is_never_mixed_with_what_it_was() {
    let folder = stack(1, 64);
    let path = folder.path();
    let origin = servers::Server::start(path);
    for mode in ["etag-change", "date-change", "size-change"] {
        let url = format!("{}{mode}/exposure_01.fits", origin.base);
        declare(path, &origin.base, &[url]);
        let server = Server::start(path, &["--allow-private-origins"]);
        let mut statuses = Vec::new();
        for n in 0..6 {
            let answer = server.get(&format!("/v1/far/median.png?bbox={n},0,{},9", n + 9), &[]);
            statuses.push(answer.status);
        }
        // Until it changes all is well; then it is opened anew, which the changed bytes of the first do not allow.
        assert_eq!(statuses[0], 200, "{mode} {statuses:?}");
        if mode == "etag-change" {
            assert!([500, 503].contains(&statuses[5]), "{mode} {statuses:?}");
        } else {
            assert_eq!(statuses[5], 200, "{mode} {statuses:?}");
        }
    }
}

#[test]
fn only_allowed_origins_are_asked() {
    let folder = stack(1, 64);
    let origin = SlowServer::start(folder.path(), Duration::ZERO);
    let url = origin.url("exposure_01.fits");
    declare(folder.path(), &origin.url(""), std::slice::from_ref(&url));
    let server = Server::start(folder.path(), &[]);
    let refused = server.get("/v1/far/info", &[]);
    assert_eq!((refused.status, code(&refused).as_str()), (500, "catalog"));
    assert!(
        problem(&refused)["detail"]
            .as_str()
            .unwrap()
            .contains("private")
    );
    declare(folder.path(), "https://archive.example.org", &[url]);
    std::thread::sleep(Duration::from_millis(250));
    let unlisted = server.get("/v1/far/info", &[]);
    assert_eq!(
        (unlisted.status, code(&unlisted).as_str()),
        (500, "catalog")
    );
    let listed = json(&server.get("/v1", &[]));
    assert_eq!(listed["datasets"][0]["faulty"], true, "{listed}");
    for query in ["url", "source", "src"] {
        let target = format!("/v1/far/info?{query}={}", origin.url("exposure_01.fits"));
        assert!([400, 500].contains(&server.get(&target, &[]).status));
    }
    assert_eq!(origin.requests(), 0, "nobody was asked");
}

#[test]
fn private_datasets_want_their_token() {
    let folder = sky();
    let path = folder.path();
    fs::write(path.join("token.txt"), "s3cret-Token~1\nmore\n").unwrap();
    let stack = [
        "catalog",
        "--stack",
        "sky=exposure_*.fits",
        "--token-file",
        "token.txt",
    ];
    run_well(path, &stack);
    let server = Server::start(path, &[]);
    let route = "/v1/sky/median/0/0/0.png";
    let names = |headers: &[(&str, &str)]| {
        let service = json(&server.get("/v1", headers));
        service["datasets"].as_array().unwrap().len()
    };
    let right = [
        ("Authorization", "Bearer s3cret-Token~1"),
        ("Origin", "https://a.example"),
    ];
    assert_eq!((names(&[]), names(&right)), (1, 2));
    let none = server.get(route, &[]);
    assert_eq!((none.status, code(&none).as_str()), (401, "token"));
    assert!(none.header("www-authenticate").starts_with("Bearer"));
    for wrong in [
        "Bearer s3cret-Token~2",
        "Bearer",
        "Basic s3cret-Token~1",
        "Bearer s3cret-Token~1x",
        "",
    ] {
        let answer = server.get(route, &[("Authorization", wrong), ("If-None-Match", "*")]);
        assert_eq!(answer.status, 401, "{wrong:?}");
    }
    let answer = server.get(route, &right);
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("cache-control"), "private, max-age=60");
    assert_eq!(answer.header("vary"), "Origin, Authorization");
    assert_eq!(
        answer.header("access-control-allow-origin"),
        "https://a.example"
    );
    // Kept for one, asked for by another.
    assert_eq!(server.get(route, &[]).status, 401);
    assert_eq!(ask(server.port, "HEAD", route, &[]).status, 401);
    let text = fs::read_to_string(path.join("sectile.json")).unwrap();
    assert!(!text.contains("more"), "{text}");
    let data = server.get("/data/sectile.json", &[]);
    assert_eq!(data.status, 403, "the catalog holds the tokens");
    assert_eq!(server.get("/data/exposure_01.fits", &[]).status, 200);
    let closed = Server::start(path, &["--no-data"]);
    assert_eq!(closed.get("/data/exposure_01.fits", &[]).status, 404);
    assert_eq!(closed.get(route, &right).status, 200);
}

#[test]
fn the_catalog_is_read_anew_and_a_faulty_one_is_told() {
    let folder = stack(2, 64);
    let path = folder.path();
    let server = Server::start(path, &[]);
    let none = json(&server.get("/v1", &[]));
    assert_eq!(none["datasets"], json!([]));
    assert!(none["note"].as_str().unwrap().contains("sectile catalog"));
    assert_eq!(server.get("/v1/sky/info", &[]).status, 404);
    run_well(path, &["catalog", "--stack", "sky=exposure_*.fits"]);
    wait_until("it is read", || {
        server.get("/v1/sky/info", &[]).status == 200
    });
    fs::write(path.join("sectile.json"), "{\"sectile\": 1,").unwrap();
    wait_until("it is faulty", || {
        server.get("/v1/sky/info", &[]).status == 500
    });
    let faulty = server.get("/v1", &[]);
    assert_eq!((faulty.status, code(&faulty).as_str()), (500, "catalog"));
    assert_eq!(server.get("/openapi.json", &[]).status, 200);
    assert_eq!(server.get("/data/exposures.txt", &[]).status, 200);
    let two = json!({ "sectile": 1, "datasets": {
        "good": { "type": "stack", "exposures": ["exposure_01.fits"] },
        "bad": { "type": "stack", "exposures": ["../exposure_01.fits"] },
    } });
    fs::write(path.join("sectile.json"), two.to_string()).unwrap();
    wait_until("it is well again", || {
        server.get("/v1/good/info", &[]).status == 200
    });
    let bad = server.get("/v1/bad/info", &[]);
    assert_eq!((bad.status, code(&bad).as_str()), (500, "catalog"));
    fs::remove_file(path.join("sectile.json")).unwrap();
    wait_until("it is gone", || {
        server.get("/v1/good/info", &[]).status == 404
    });
}

#[test]
fn what_serve_is_given_is_checked() {
    let folder = stack(1, 64);
    for arguments in [
        ["serve", "--memory", "much"],
        ["serve", "--cache", "-1"],
        ["serve", "--deadline", "0"],
        ["serve", "--queue", "x"],
    ] {
        let ran = run(folder.path(), &arguments);
        assert!([Some(2), Some(3)].contains(&ran.code), "{ran:?}");
    }
}
