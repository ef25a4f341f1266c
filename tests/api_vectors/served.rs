//! A service over small datasets, and what it says to requests.

use sectile::api::catalog::{Allow, Catalog};
use sectile::api::opened::Opening;
use sectile::api::{Ask, Limits, Reply, Request, ServerFacts, Service};
use serde_json::{Value, json};

/// A catalog whose exposures need no header to be read.
pub(crate) fn catalog() -> Catalog {
    let file = |name: &str| {
        json!({
            "url": name, "size": 20_000_000, "etag": format!("\"{name}\""),
            "image": {"hdu": 0, "bitpix": -32, "width": 600, "height": 400, "data_at": 2880, "unit": "Jy"},
        })
    };
    let stack = |extra: Value| {
        let mut stack =
            json!({"type": "stack", "exposures": [file("1.fits"), file("2.fits"), file("3.fits")]});
        for (name, value) in extra.as_object().unwrap() {
            stack[name] = value.clone();
        }
        stack
    };
    let document = json!({"sectile": 1, "datasets": {
        "m13": stack(json!({"title": "M 13", "jobs": true})),
        "still": stack(json!({})),
        "secret": stack(json!({"token": "s3cret-token", "title": "Hidden"})),
        "broken": {"type": "stack", "exposures": ["../a"]},
        "shy": {"type": "stack", "exposures": ["../a"], "token": "t"},
    }});
    Catalog::parse(document.to_string().as_bytes(), Allow::default()).unwrap()
}

/// A service whose sound datasets are open.
pub(crate) fn service(limits: Limits) -> Service {
    let facts = ServerFacts {
        version: "0.1.0".to_owned(),
        base: String::new(),
        jobs: true,
    };
    let mut service = Service::new(catalog(), limits, facts);
    for name in ["m13", "still", "secret"] {
        let opening = Opening::new(service.catalog().dataset(name).unwrap(), 1 << 20).unwrap();
        service.opened(name, opening.finish().unwrap());
    }
    service
}

fn reply(service: &Service, request: &Request<'_>) -> Reply {
    match service.ask(request) {
        Ask::Reply(reply) => service.finish(request, reply),
        other => panic!("{}: {other:?}", request.target),
    }
}

fn body(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body).unwrap()
}

pub(crate) fn documents_tell_what_is_served() {
    let service = service(Limits::default());
    let found = body(&reply(&service, &Request::get("/v1")));
    let names: Vec<&str> = found["datasets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["broken", "m13", "still"],
        "neither private ones nor their faults"
    );
    assert!(
        found["datasets"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("..")
    );
    let known = Request {
        authorization: Some("Bearer s3cret-token"),
        ..Request::get("/")
    };
    let found = reply(&service, &known);
    assert_eq!(body(&found)["datasets"][2]["name"], "secret");
    assert_eq!(found.header("cache-control"), Some("private, max-age=60"));
    let info = body(&reply(&service, &Request::get("/v1/m13")));
    let id = service.id("m13").unwrap();
    assert_eq!(
        (info["id"].as_str(), &info["width"], &info["levels"]),
        (Some(id), &json!(600), &json!(3))
    );
    assert_eq!(info["exposures"], json!(["1.fits", "2.fits", "3.fits"]));
    let tilejson = body(&reply(
        &service,
        &Request::get("/v1/m13/frame-02/tilejson.json"),
    ));
    assert_eq!(
        tilejson["tiles"],
        json!([format!("/v1/{id}/frame-2/{{z}}/{{x}}/{{y}}.png")])
    );
    assert_eq!(tilejson["maxzoom"], 2);
}

pub(crate) fn refusals_are_problems() {
    let service = service(Limits::default());
    for (target, status, code) in [
        ("/v1/nothing/info", 404, "dataset"),
        ("/v1/broken/info", 500, "catalog"),
        ("/v1/shy/info", 500, "catalog"),
        ("/v1/m13@00000000/info", 404, "version"),
        ("/v1/m13/mean/0/0/0.png", 404, "layer"),
        ("/v1/m13/frame-4.png", 404, "layer"),
        ("/v1/m13/mz-100.png", 404, "layer"),
        ("/v1/m13/frame-4/tilejson.json", 404, "layer"),
        ("/v1/m13/median.png?bbox=0,0,601,400", 404, "outside"),
        ("/v1/m13/median/point/600,0", 404, "outside"),
        (
            "/v1/m13/median/point/4294967295,99999999999",
            404,
            "outside",
        ),
        ("/v1/m13/spectrum?x=0&y=400", 404, "outside"),
        ("/v1/m13/spectrum", 404, "outside"),
        ("/v1/still/jobs/0123456789abcdef", 404, "job"),
        ("/v1/m13/jobs/0123456789abcdef/job.json", 404, "job"),
        ("/v1/m13/median/0/0/0.png?x=1", 400, "parameter"),
    ] {
        let found = reply(&service, &Request::get(target));
        let problem = body(&found);
        assert_eq!(
            (found.status, problem["code"].as_str()),
            (status, Some(code)),
            "{target}: {problem}"
        );
        assert_eq!(
            found.header("content-type"),
            Some("application/problem+json")
        );
        assert_eq!(
            (problem["status"].as_u64(), problem["type"].as_str()),
            (
                Some(status.into()),
                Some(format!("/problems/{code}").as_str())
            )
        );
        assert_eq!(found.header("cache-control"), Some("no-store"), "{target}");
        assert_eq!(
            found.header("content-length"),
            Some(found.body.len().to_string().as_str())
        );
        assert_eq!(found.header("x-content-type-options"), Some("nosniff"));
    }
    let shy = reply(&service, &Request::get("/v1/shy/info"));
    assert!(
        !body(&shy)["detail"].as_str().unwrap().contains(".."),
        "what is private is not told"
    );
    let put = Request {
        method: "PUT",
        ..Request::get("/v1/m13/info")
    };
    let found = reply(&service, &put);
    assert_eq!(
        (found.status, found.header("allow")),
        (405, Some("GET, HEAD, OPTIONS"))
    );
}

pub(crate) fn tokens_open_private_datasets() {
    let service = service(Limits::default());
    let target = "/v1/secret/info";
    for authorization in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some("Bearer s3cret-toke"),
        Some("Bearer s3cret-tokenn"),
        Some("Bearer S3cret-token"),
        Some("Basic s3cret-token"),
        Some("s3cret-token"),
        Some("Bearer s3cret-token, Bearer x"),
    ] {
        let request = Request {
            authorization,
            origin: Some("https://page.example"),
            ..Request::get(target)
        };
        let found = reply(&service, &request);
        assert_eq!(found.status, 401, "{authorization:?}");
        let challenge = found.header("www-authenticate").unwrap();
        assert_eq!(challenge.contains("invalid_token"), authorization.is_some());
        assert_eq!(
            found.header("access-control-allow-origin"),
            Some("https://page.example")
        );
        assert_eq!(found.header("vary"), Some("Origin, Authorization"));
    }
    for authorization in [
        "Bearer s3cret-token",
        "bearer  s3cret-token",
        " BEARER s3cret-token ",
    ] {
        let request = Request {
            authorization: Some(authorization),
            origin: Some("https://page.example"),
            ..Request::get(target)
        };
        let found = reply(&service, &request);
        assert_eq!(found.status, 200, "{authorization}");
        assert_eq!(found.header("cache-control"), Some("private, max-age=60"));
        assert_eq!(
            found.header("access-control-allow-origin"),
            Some("https://page.example")
        );
    }
    let plain = Request {
        authorization: Some("Bearer s3cret-token"),
        ..Request::get(target)
    };
    assert_eq!(
        reply(&service, &plain).header("access-control-allow-origin"),
        None,
        "nobody asked from another origin"
    );
    // Whoever has no token learns nothing about versions and layers.
    for target in [
        "/v1/secret@00000000/info",
        "/v1/secret/frame-9.png",
        "/v1/secret/median/9/9/9.png",
    ] {
        assert_eq!(
            reply(&service, &Request::get(target)).status,
            401,
            "{target}"
        );
    }
}

pub(crate) fn caching_depends_on_the_address() {
    let service = service(Limits::default());
    let id = service.id("m13").unwrap().to_owned();
    let versioned = format!("/v1/{id}/info");
    let tilejson = format!("/v1/{id}/median/tilejson.json");
    for (target, control) in [
        ("/v1/m13/info", "public, max-age=60"),
        // A title, lists and jobs are not in the version.
        (versioned.as_str(), "public, max-age=60"),
        (tilejson.as_str(), "public, max-age=60"),
        ("/v1", "public, max-age=60"),
        ("/openapi.json", "public, max-age=60"),
    ] {
        let first = reply(&service, &Request::get(target));
        assert_eq!(
            (first.status, first.header("cache-control")),
            (200, Some(control)),
            "{target}"
        );
        assert_eq!(first.header("access-control-allow-origin"), Some("*"));
        let tag = first.header("etag").unwrap();
        let known = Request {
            if_none_match: Some(tag),
            ..Request::get(target)
        };
        let second = reply(&service, &known);
        assert_eq!(
            (second.status, second.body.len(), second.header("etag")),
            (304, 0, Some(tag)),
            "{target}"
        );
        assert_eq!(second.header("cache-control"), Some(control));
        assert_eq!(second.header("content-length"), None);
        let head = Request {
            method: "HEAD",
            ..Request::get(target)
        };
        let head = reply(&service, &head);
        assert_eq!((head.status, head.body.len()), (200, 0));
        let length = first.body.len().to_string();
        assert_eq!(
            head.header("content-length"),
            Some(length.as_str()),
            "{target}"
        );
        let mut headers = first.headers.clone();
        headers.retain(|(name, _)| *name != "Content-Length");
        for (name, value) in headers {
            assert_eq!(head.header(name), Some(value.as_str()), "{target}: {name}");
        }
    }
    let beside = format!("/v1/{id}/median/9/9/9.png");
    let beside = reply(&service, &Request::get(&beside));
    assert_eq!(
        (beside.status, beside.header("cache-control")),
        (204, Some("public, max-age=31536000, immutable"))
    );
    let options = Request {
        method: "OPTIONS",
        origin: Some("https://page.example"),
        ..Request::get("/v1/m13/jobs")
    };
    let found = reply(&service, &options);
    assert_eq!(
        (found.status, found.body.len(), found.header("allow")),
        (204, 0, Some("POST, OPTIONS"))
    );
    assert_eq!(
        found.header("access-control-allow-methods"),
        Some("POST, OPTIONS")
    );
    assert_eq!(found.header("access-control-allow-origin"), Some("*"));
    assert!(
        found
            .header("access-control-allow-headers")
            .unwrap()
            .contains("Authorization")
    );
}

pub(crate) fn work_is_asked_for_by_its_canonical_form() {
    let service = service(Limits::default());
    let id = service.id("m13").unwrap().to_owned();
    let ticket = |target: &str| match service.ask(&Request::get(target)) {
        Ask::Work(ticket) => ticket,
        other => panic!("{target}: {other:?}"),
    };
    let plain = ticket("/v1/m13/median/2/1/0.png");
    assert_eq!(plain.canonical, format!("/v1/{id}/median/2/1/0.png"));
    assert_eq!(
        ticket(&format!("/v1/{id}/m%65dian/02/1/0.png?alpha=0")),
        plain
    );
    let all = ticket("/v1/m13/median.fits");
    assert_eq!(
        ticket("/v1/m13/median.fits?bbox=0,0,600,400"),
        all,
        "all of it is all of it"
    );
    assert_ne!(
        ticket("/v1/m13/median.fits?bbox=0,0,600,399").etag,
        all.etag
    );
    // What the client has is not planned anew, nor computed.
    let known = Request {
        if_none_match: Some(&plain.etag),
        ..Request::get("/v1/m13/median/2/1/0.png")
    };
    let found = reply(&service, &known);
    assert_eq!(
        (found.status, found.header("etag")),
        (304, Some(plain.etag.as_str()))
    );
    // Beside the image, and beyond the levels.
    for target in [
        "/v1/m13/median/2/3/0.png",
        "/v1/m13/median/2/0/2.png",
        "/v1/m13/median/3/0/0.png",
        "/v1/m13/median/4294967295/0/0.png",
    ] {
        let found = reply(&service, &Request::get(target));
        assert_eq!((found.status, found.body.len()), (204, 0), "{target}");
        assert!(found.header("etag").is_some());
        assert_eq!(found.header("cache-control"), Some("public, max-age=60"));
    }
}

pub(crate) fn what_takes_too_much_is_refused_or_becomes_a_job() {
    let tight = Limits {
        requests: 2,
        ..Limits::default()
    };
    let service = service(tight);
    let found = reply(&service, &Request::get("/v1/still/median/2/0/0.png"));
    let problem = body(&found);
    assert_eq!(
        (found.status, problem["code"].as_str()),
        (413, Some("budget"))
    );
    assert_eq!(problem["limits"]["requests"], 2);
    assert!(
        problem["plan"]["requests"].as_u64().unwrap() >= 3,
        "{problem}"
    );
    assert!(problem["detail"].as_str().unwrap().contains("requests"));
    let Ask::Job(sectile::api::job::JobAsk::Instead(job)) =
        service.ask(&Request::get("/v1/m13/median/2/0/0.png"))
    else {
        panic!("a job in place of a tile");
    };
    assert_eq!(Some(&job), service.pyramid_job("m13").as_ref());
    assert_eq!(job.at.location, format!("/v1/m13/jobs/{}", job.at.job));
    let with = service.with_pyramid("m13").unwrap();
    let sectile::api::catalog::Kind::Stack(stack) = &with.kind else {
        panic!("a stack");
    };
    let key = format!(".sectile/jobs/{}/pyramid.fits", job.at.job);
    assert_eq!(stack.pyramid.as_ref().map(|file| &file.url), Some(&key));
    assert_eq!(service.with_pyramid("still"), None, "jobs are not offered");
    // A pyramid holds no cut-outs, no single exposures and no larger tiles.
    for target in [
        "/v1/m13/median.png",
        "/v1/m13/median/1/0/0.png?tile=512",
        "/v1/m13/median/statistics",
    ] {
        assert_eq!(
            reply(&service, &Request::get(target)).status,
            413,
            "{target}"
        );
    }
    assert!(matches!(
        service.ask(&Request::get("/v1/m13/frame-1/2/0/0.png")),
        Ask::Work(_)
    ));
}

pub(crate) fn jobs_are_named_by_what_they_are() {
    use sectile::api::job::JobAsk;
    let service = service(Limits::default());
    let post = Request {
        method: "POST",
        content_type: Some("application/json; charset=utf-8"),
        ..Request::get("/v1/m13/jobs")
    };
    assert_eq!(
        service.ask(&post),
        Ask::Job(JobAsk::New {
            dataset: "m13".to_owned()
        })
    );
    let text = Request {
        content_type: Some("text/plain"),
        ..post
    };
    assert_eq!(reply(&service, &text).status, 415);
    let other = Request {
        target: "/v1/still/jobs",
        ..post
    };
    assert_eq!(reply(&service, &other).status, 404, "jobs are not offered");
    let one = service.job("m13", br#"{"type":"median"}"#).unwrap();
    assert_eq!(
        one,
        service.job("m13", br#" { "type" : "median" } "#).unwrap()
    );
    assert_eq!(Some(&one), service.pyramid_job("m13").as_ref());
    for (body, status) in [
        (&b""[..], 400),
        (b"[]", 400),
        (b"{}", 400),
        (br#"{"type":"mean"}"#, 400),
        (br#"{"type":"median","colour":1}"#, 400),
        (br#"{"type":"median","shards":0}"#, 400),
        (br#"{"type":"annotation"}"#, 400),
        (br#"{"type":"annotation","molecules":"core"}"#, 404),
        (b"\xff", 400),
    ] {
        let problem = service.job("m13", body).unwrap_err();
        assert_eq!(problem.status, status, "{problem}");
    }
    let target = format!("{}/median.fits", one.at.location);
    let Ask::Job(JobAsk::File { at, file }) = service.ask(&Request::get(&target)) else {
        panic!("a result");
    };
    assert_eq!((at, file.as_str()), (one.at.clone(), "median.fits"));
    let delete = Request {
        method: "DELETE",
        ..Request::get(&one.at.location)
    };
    assert_eq!(
        service.ask(&delete),
        Ask::Job(JobAsk::Cancel(one.at.clone()))
    );
    assert_eq!(
        service.ask(&Request::get(&one.at.location)),
        Ask::Job(JobAsk::Progress(one.at))
    );
}

pub(crate) fn datasets_are_opened_first_and_forgotten_when_they_change() {
    let mut service = service(Limits::default());
    service.forget("m13");
    for target in [
        "/v1/m13",
        "/v1/m13/median/0/0/0.png",
        "/v1/m13@00000000/info",
        "/v1/m13/jobs/0123456789abcdef",
    ] {
        assert_eq!(
            service.ask(&Request::get(target)),
            Ask::Open {
                dataset: "m13".to_owned()
            },
            "{target}"
        );
    }
    assert_eq!(service.id("m13"), None);
    let bytes = service.bytes();
    service.forget("still");
    assert!(bytes > service.bytes());
    service.forget("nothing");
    // Nobody opens what he may not see.
    service.forget("secret");
    assert_eq!(reply(&service, &Request::get("/v1/secret")).status, 401);
}
