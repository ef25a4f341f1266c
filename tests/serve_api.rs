//! `sectile serve`, its datasets: every answer is the core's own, over real HTTP, and nothing else gets through.

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

use std::fs;

use edge_host::{Host, code, json, problem, sky, tags};
use program::serving::Server;
use program::{ask, floats, pixels, run_well};

/// Routes of the stack and the tissue that take data, and those that are documents.
const ROUTES: [&str; 26] = [
    "/v1",
    "/v1/sky",
    "/v1/sky/info",
    "/v1/tissue/info",
    "/v1/sky/median/tilejson.json",
    "/v1/tissue/mz-731.6062/tilejson.json",
    "/v1/sky/median/0/0/0.png",
    "/v1/sky/median/1/1/1.png",
    "/v1/sky/count/1/0/1.png?alpha=1",
    "/v1/sky/frame-2/0/0/0.png?tile=512",
    "/v1/sky/frame-02/1/1/0.png",
    "/v1/sky/median.png?bbox=10,20,90,70",
    "/v1/sky/median.fits?bbox=10,20,90,70",
    "/v1/sky/median.fits",
    "/v1/sky/count.fits",
    "/v1/sky/rms.fits",
    "/v1/sky/rms/1/1/0.png",
    "/v1/sky/median/point/17,33",
    "/v1/sky/spectrum?x=17&y=33",
    "/v1/sky/median/statistics?bbox=0,0,64,64",
    "/v1/tissue/mz-731.6062/0/0/0.png",
    "/v1/tissue/mz-731.6062.fits?tol=5ppm&norm=tic",
    "/v1/tissue/mz-731.6062/point/3,4",
    "/v1/tissue/mz-731.6062/statistics",
    "/v1/tissue/spectrum?x=20&y=20",
    "/v1/tissue/spectrum",
];

#[test]
fn every_answer_is_the_cores_own() {
    let folder = sky();
    let server = Server::start(folder.path(), &[]);
    let mut core = Host::new(folder.path(), tags(folder.path()));
    for round in ["computed", "kept"] {
        for route in ROUTES.into_iter().skip(1) {
            let (answer, reply) = (server.get(route, &[]), core.get(route));
            assert_eq!(
                (answer.status, reply.status),
                (200, 200),
                "{route}: {}",
                String::from_utf8_lossy(&answer.body)
            );
            assert!(answer.body == reply.body, "{route}: other bytes, {round}");
            for (name, value) in &reply.headers {
                assert_eq!(
                    answer.header(&name.to_lowercase()),
                    value,
                    "{route} {name} {round}"
                );
            }
            assert_eq!(
                answer.header("content-length"),
                answer.body.len().to_string()
            );
            assert_eq!(answer.header("access-control-allow-origin"), "*");
            assert_eq!(answer.header("cache-control"), "public, max-age=60");
            let timing = answer.header("server-timing");
            if !answer.header("x-upstream-bytes").is_empty() {
                let is_kept = timing.contains("cache;desc=hit");
                assert_eq!(is_kept, round == "kept", "{route}: {timing}");
                let bytes = number(answer.header("x-upstream-bytes"));
                assert!(
                    if is_kept { bytes == 0.0 } else { bytes > 0.0 },
                    "{route}: {bytes}"
                );
            }
        }
    }
    let service = json(&server.get("/v1", &[]));
    let names: Vec<&str> = service["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|dataset| dataset["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["sky", "tissue"]);
    assert!(service.get("note").is_none());
    let document = json(&server.get("/openapi.json", &[]));
    assert_eq!(document["openapi"], "3.1.0");
}

#[test]
fn a_cut_out_has_the_pixels_that_the_program_writes() {
    let folder = sky();
    let path = folder.path();
    run_well(path, &["median", "exposures.txt", "-o", "out.fits"]);
    let server = Server::start(path, &[]);
    let served = server.get("/v1/sky/median.fits", &[]);
    assert_eq!(served.header("content-type"), "image/fits");
    fs::write(path.join("served.fits"), &served.body).unwrap();
    let (whole, served) = (
        pixels(&path.join("out.fits"), 0),
        pixels(&path.join("served.fits"), 0),
    );
    assert!(whole == served && floats(&whole).len() == 320 * 320);
    let part = server.get("/v1/sky/median.fits?bbox=100,200,110,203", &[]);
    fs::write(path.join("part.fits"), &part.body).unwrap();
    let rows = (200..203).flat_map(|y| {
        let start = (y * 320 + 100) * 4;
        whole[start..start + 40].to_vec()
    });
    assert!(rows.collect::<Vec<u8>>() == pixels(&path.join("part.fits"), 0));
}

#[test]
fn a_tile_is_one_of_the_pyramid_that_the_program_writes() {
    let folder = sky();
    let path = folder.path();
    let arguments = [
        "median",
        "exposures.txt",
        "-o",
        "out.fits",
        "--tiles",
        "tiles",
    ];
    run_well(path, &arguments);
    let server = Server::start(path, &[]);
    for tile in ["0/0/0", "1/0/0", "1/1/0", "1/0/1", "1/1/1"] {
        let served = server.get(&format!("/v1/sky/median/{tile}.png"), &[]);
        assert_eq!(served.status, 200, "{tile}");
        let [bzero, bscale] = ["x-bzero", "x-bscale"].map(|name| number(served.header(name)));
        let written = fs::read(path.join(format!("tiles/{tile}.png"))).unwrap();
        let (codes, theirs) = (codes(&served.body), codes(&written));
        assert_eq!(codes.len(), theirs.len(), "{tile}");
        // Each of the two has a scale of its own, so values are compared within a step of each.
        let scale = texts(&written);
        for (code, other) in codes.iter().zip(&theirs) {
            assert_eq!(*code == 0, *other == 0, "{tile}: no data is no data");
            let value = bzero + bscale * f64::from(*code);
            let same = scale[0] + scale[1] * f64::from(*other);
            let step = bscale.abs() + scale[1].abs();
            assert!(
                *code == 0 || (value - same).abs() <= step,
                "{tile}: {value} {same}"
            );
        }
    }
}

fn number(text: &str) -> f64 {
    text.parse()
        .unwrap_or_else(|_| panic!("a number: {text:?}"))
}

/// The codes of a grey PNG of 16 bits.
fn codes(bytes: &[u8]) -> Vec<u16> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .unwrap();
    let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut buffer).unwrap();
    assert_eq!(info.bit_depth, png::BitDepth::Sixteen);
    let codes = buffer[..info.buffer_size()].as_chunks::<2>().0.iter();
    codes.map(|code| u16::from_be_bytes(*code)).collect()
}

/// BZERO and BSCALE of a PNG.
fn texts(bytes: &[u8]) -> [f64; 2] {
    let reader = png::Decoder::new(std::io::Cursor::new(bytes))
        .read_info()
        .unwrap();
    let texts = &reader.info().uncompressed_latin1_text;
    ["BZERO", "BSCALE"].map(|key| {
        let text = texts.iter().find(|text| text.keyword == key).unwrap();
        number(text.text.trim())
    })
}

#[test]
fn what_a_client_has_is_not_sent_again_and_head_has_no_body() {
    let folder = sky();
    let server = Server::start(folder.path(), &[]);
    for route in ROUTES {
        let whole = server.get(route, &[]);
        let tag = whole.header("etag").to_owned();
        assert!(tag.starts_with('"') && tag.ends_with('"'), "{route}: {tag}");
        let weak = format!("\"other\", W/{tag}");
        for tags in [tag.as_str(), "*", weak.as_str()] {
            let same = server.get(route, &[("If-None-Match", tags)]);
            assert_eq!((same.status, same.body.len()), (304, 0), "{route} {tags}");
            assert_eq!(same.header("etag"), tag);
            assert_eq!(same.header("cache-control"), "public, max-age=60");
        }
        assert_eq!(
            server.get(route, &[("If-None-Match", "\"other\"")]).status,
            200
        );
        let head = ask(server.port, "HEAD", route, &[]);
        assert_eq!((head.status, head.body.len()), (200, 0), "{route}");
        for name in [
            "etag",
            "content-type",
            "content-length",
            "x-bscale",
            "cache-control",
        ] {
            assert_eq!(head.header(name), whole.header(name), "{route} {name}");
        }
        let before = ask(
            server.port,
            "OPTIONS",
            route,
            &[("Origin", "https://a.example")],
        );
        assert_eq!((before.status, before.body.len()), (204, 0), "{route}");
        assert_eq!(before.header("allow"), "GET, HEAD, OPTIONS");
        let other = ask(server.port, "PUT", route, &[]);
        assert_eq!(
            (other.status, other.header("allow")),
            (405, "GET, HEAD, OPTIONS")
        );
        assert_eq!(code(&other), "method");
    }
    let info = json(&server.get("/v1/sky/info", &[]));
    let id = info["id"].as_str().unwrap();
    let named = server.get(&format!("/v1/{id}/median/0/0/0.png"), &[]);
    assert_eq!(
        named.header("cache-control"),
        "public, max-age=31536000, immutable"
    );
    assert_eq!(
        named.header("etag"),
        server.get("/v1/sky/median/0/0/0.png", &[]).header("etag")
    );
    let outdated = server.get("/v1/sky@00000000/median/0/0/0.png", &[]);
    assert_eq!(
        (outdated.status, code(&outdated).as_str()),
        (404, "version")
    );
    assert_eq!(problem(&outdated)["id"], id);
}

#[test]
fn wrong_requests_are_told_what_is_wrong() {
    let folder = sky();
    let server = Server::start(folder.path(), &[]);
    for (route, status, kind) in [
        ("/v1/absent/info", 404, "dataset"),
        ("/v1/sky/nothing/0/0/0.png", 404, "layer"),
        ("/v1/sky/mean/0/0/0.png", 404, "layer"),
        ("/v1/sky/frame-4/0/0/0.png", 404, "layer"),
        ("/v1/sky/mz-100.0000/0/0/0.png", 404, "layer"),
        ("/v1/tissue/median/0/0/0.png", 404, "layer"),
        ("/v1/sky/median/x/0/0.png", 400, "parameter"),
        ("/v1/sky/median/0/-1/0.png", 400, "parameter"),
        ("/v1/sky/median/0/0/0.png?tile=100", 400, "parameter"),
        ("/v1/sky/median/0/0/0.png?what=1", 400, "parameter"),
        (
            "/v1/sky/median/0/0/0.png?tile=256&tile=256",
            400,
            "parameter",
        ),
        ("/v1/sky/median.png?bbox=5,5,5,9", 404, "outside"),
        ("/v1/sky/median.png?bbox=1,2,3", 400, "parameter"),
        ("/v1/sky/median/point/320,0", 404, "outside"),
        ("/v1/sky/spectrum", 404, "outside"),
        ("/v1/sky/median/0/0/0.jpg", 404, "route"),
        ("/v1/sky/what", 404, "route"),
        ("/v1/sky/jobs/0123456789abcdef", 404, "job"),
    ] {
        let answer = server.get(route, &[]);
        assert_eq!(
            (answer.status, code(&answer).as_str()),
            (status, kind),
            "{route}"
        );
    }
    for beside in ["2/0/0", "1/2/0", "1/0/2", "31/0/0", "0/1/0"] {
        let answer = server.get(&format!("/v1/sky/median/{beside}.png"), &[]);
        assert_eq!((answer.status, answer.body.len()), (204, 0), "{beside}");
        assert_eq!(answer.header("access-control-allow-origin"), "*");
    }
    let post = ask(
        server.port,
        "POST",
        "/v1/sky/jobs",
        &[("Content-Length", "0")],
    );
    assert_eq!((post.status, code(&post).as_str()), (404, "job"));
}

#[test]
fn paths_lead_nowhere_else() {
    let folder = sky();
    fs::write(folder.path().join("secret.json"), "secret").unwrap();
    let server = Server::start(folder.path(), &[]);
    let long = format!("/v1/sky/{}/0/0/0.png", "a".repeat(1100));
    let query = format!("/v1/sky/median.png?bbox={}", "1".repeat(1100));
    for (target, status) in [
        ("/v1/../secret.json", 400),
        ("/v1/sky/../../secret.json", 400),
        ("/v1/%2e%2e/secret.json", 400),
        ("/v1/sky/%2e%2e/info", 400),
        ("/v1/%2E%2E%2Fsecret.json/info", 400),
        ("/v1/sky%2finfo", 400),
        ("/v1/sky%5cinfo/info", 400),
        ("/v1/sky%00/info", 400),
        ("/v1/sky/%0d%0aX-Evil:%201/0/0/0.png", 400),
        ("/v1/sky/./info", 400),
        ("/v1//sky/info", 400),
        ("/v1/sky/%zz", 400),
        ("/v1/sky/%ff/0/0/0.png", 400),
        (long.as_str(), 414),
        (query.as_str(), 414),
    ] {
        let answer = server.get(target, &[]);
        assert_eq!(
            answer.status,
            status,
            "{target}: {}",
            String::from_utf8_lossy(&answer.body)
        );
        assert!(
            ["path", "uri-length"].contains(&code(&answer).as_str()),
            "{target}"
        );
        assert!(!String::from_utf8_lossy(&answer.body).contains("secret\n"));
    }
    // What is no request at all is refused by the server itself; a target with a host is one of ours (RFC 9112 §3.2.2).
    for raw in ["/v1/\0", "/v1/a b", "\u{1}"] {
        assert_eq!(server.get(raw, &[]).status, 400, "{raw:?}");
    }
    let absolute = server.get("http://other.example/v1/sky/info", &[]);
    assert_eq!(absolute.status, 200);
    assert_eq!(absolute.body, server.get("/v1/sky/info", &[]).body);
    let elsewhere = server.get("http://169.254.169.254/latest/meta-data", &[]);
    assert_eq!(elsewhere.status, 404);
    // The encoded spelling of a plain name is the same name.
    assert_eq!(server.get("/v1/%73ky/info", &[]).status, 200);
}
