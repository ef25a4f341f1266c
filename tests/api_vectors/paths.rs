//! Targets, good and bad.

use sectile::api::canonical::canonical;
use sectile::api::route::{Routed, route};
use sectile::api::{Problem, Request};

/// The canonical form of a good target, of a dataset whose version is 01234567.
pub(crate) fn canonical_of(target: &str) -> Result<String, Problem> {
    match route(&Request::get(target))? {
        Routed::To(Some(dataset), route) => {
            Ok(canonical(&format!("{}@01234567", dataset.name), &route))
        }
        Routed::To(None, route) => Ok(canonical("", &route)),
        other => panic!("{target}: {other:?}"),
    }
}

/// What was asked, and the one way to ask it.
const GOOD: [(&str, &str); 40] = [
    ("/", "/v1"),
    ("/v1", "/v1"),
    ("/v1?", "/v1"),
    ("/openapi.json", "/openapi.json"),
    ("/v1/m13", "/v1/m13@01234567/info"),
    ("/v1/m13/info", "/v1/m13@01234567/info"),
    ("/v1/m13@01234567/info", "/v1/m13@01234567/info"),
    ("/%76%31/m13%4001234567/info", "/v1/m13@01234567/info"),
    (
        "/v1/m13/median/0/1/2.png",
        "/v1/m13@01234567/median/0/1/2.png",
    ),
    (
        "/v1/m13/median/00/01/002.png?tile=256&alpha=0",
        "/v1/m13@01234567/median/0/1/2.png",
    ),
    (
        "/v1/m13/median/0/0/0.png?tile=512&alpha=1",
        "/v1/m13@01234567/median/0/0/0.png?alpha=1&tile=512",
    ),
    (
        "/v1/m13/median/0/99999999999/0.png",
        "/v1/m13@01234567/median/0/4294967295/0.png",
    ),
    ("/v1/m13/count.png", "/v1/m13@01234567/count.png"),
    ("/v1/m13/frame-007.fits", "/v1/m13@01234567/frame-7.fits"),
    (
        "/v1/m13/median.fits?bbox=0,01,2,3",
        "/v1/m13@01234567/median.fits?bbox=0,1,2,3",
    ),
    (
        "/v1/m13/median.fits?bbox=0%2c1%2C2,3",
        "/v1/m13@01234567/median.fits?bbox=0,1,2,3",
    ),
    (
        "/v1/m13/median.fits?b%62ox=0,1,2,3",
        "/v1/m13@01234567/median.fits?bbox=0,1,2,3",
    ),
    (
        "/v1/m13/median/point/3,4",
        "/v1/m13@01234567/median/point/3,4",
    ),
    (
        "/v1/m13/median/point/3%2C4",
        "/v1/m13@01234567/median/point/3,4",
    ),
    (
        "/v1/m13/spectrum?y=2&x=1",
        "/v1/m13@01234567/spectrum?x=1&y=2",
    ),
    ("/v1/m13/spectrum", "/v1/m13@01234567/spectrum"),
    (
        "/v1/m13/median/statistics",
        "/v1/m13@01234567/median/statistics",
    ),
    (
        "/v1/m13/median/statistics?bbox=1,1,2,2",
        "/v1/m13@01234567/median/statistics?bbox=1,1,2,2",
    ),
    (
        "/v1/m13/median/tilejson.json",
        "/v1/m13@01234567/median/tilejson.json",
    ),
    ("/v1/t/mz-885.5498.png", "/v1/t@01234567/mz-885.5498.png"),
    ("/v1/t/mz-885.png", "/v1/t@01234567/mz-885.0000.png"),
    (
        "/v1/t/mz-0885.54979999999999999.png",
        "/v1/t@01234567/mz-885.5498.png",
    ),
    (
        "/v1/t/mz-885.5498.png?tol=3ppm&norm=none",
        "/v1/t@01234567/mz-885.5498.png",
    ),
    (
        "/v1/t/mz-885.5498.png?tol=3.00004ppm",
        "/v1/t@01234567/mz-885.5498.png",
    ),
    (
        "/v1/t/mz-885.5498.png?tol=0.0100da&norm=tic",
        "/v1/t@01234567/mz-885.5498.png?norm=tic&tol=0.01da",
    ),
    (
        "/v1/t/C47H83O13P-H/0/0/0.png",
        "/v1/t@01234567/C47H83O13P-H/0/0/0.png",
    ),
    (
        "/v1/t/PO13H83C47-H/0/0/0.png?isotope=0",
        "/v1/t@01234567/C47H83O13P-H/0/0/0.png",
    ),
    (
        "/v1/t/C47H83O13P-H/0/0/0.png?tile=512&isotope=2&norm=rms",
        "/v1/t@01234567/C47H83O13P-H/0/0/0.png?isotope=2&norm=rms&tile=512",
    ),
    (
        "/v1/t/C6H12O6%5BM%5D+.png",
        "/v1/t@01234567/C6H12O6%5BM%5D+.png",
    ),
    ("/v1/t/C6H12O6[M+Na]+.png", "/v1/t@01234567/C6H12O6+Na.png"),
    ("/v1/t/CH3CH2OH+H.png", "/v1/t@01234567/C2H6O+H.png"),
    (
        "/v1/t/[13C]6H12O6+2Na-H.png",
        "/v1/t@01234567/%5B13C%5D6H12O6%5BM+Na2-H%5D+.png",
    ),
    ("/v1/t/C6H12O6\u{2212}H.png", "/v1/t@01234567/C6H12O6-H.png"),
    (
        "/v1/m13/jobs/0123456789abcdef",
        "/v1/m13@01234567/jobs/0123456789abcdef",
    ),
    (
        "/v1/m13/jobs/0123456789abcdef/median.fits",
        "/v1/m13@01234567/jobs/0123456789abcdef/median.fits",
    ),
];

/// What was asked, and status and code of the refusal.
const BAD: [(&str, u16, &str); 73] = [
    ("", 400, "path"),
    ("v1", 400, "path"),
    ("*", 400, "path"),
    ("http://host/v1", 400, "path"),
    ("//", 400, "path"),
    ("/v1/", 400, "path"),
    ("/v1//info", 400, "path"),
    ("/v1/./info", 400, "path"),
    ("/v1/../info", 400, "path"),
    ("/v1/%2e%2E/info", 400, "path"),
    ("/v1/.%2e/secret", 400, "path"),
    ("/v1/m13/..%2f..%2fsecret", 400, "path"),
    ("/v1/m13%2Finfo", 400, "path"),
    ("/v1/m13%5cinfo", 400, "path"),
    ("/v1/m13\\info", 400, "path"),
    ("/v1/m13/%00", 400, "path"),
    ("/v1/m13/a%0d%0aX:1", 400, "path"),
    ("/v1/m13/\u{7f}", 400, "path"),
    ("/v1/m13/%", 400, "path"),
    ("/v1/m13/%4", 400, "path"),
    ("/v1/m13/%zz", 400, "path"),
    ("/v1/m13/%+1", 400, "path"),
    ("/v1/m13/%ff", 400, "path"),
    ("/v1/m13/%c0%af", 400, "path"),
    ("/v1/m13/info#top", 400, "path"),
    // Encoded twice is decoded once, and then is no name.
    ("/v1/%252e%252e/info", 404, "dataset"),
    ("/v1/M13/info", 404, "dataset"),
    ("/v1/.m13/info", 404, "dataset"),
    ("/v1/m13@/info", 404, "dataset"),
    ("/v1/m13@0123/info", 404, "dataset"),
    ("/v1/m13@0123456X/info", 404, "dataset"),
    ("/v1/m13@01234567@01234567/info", 404, "dataset"),
    ("/v2/m13/info", 404, "route"),
    ("/V1/m13/info", 404, "route"),
    ("/v1/m13/Info", 404, "route"),
    ("/v1/m13/median", 404, "route"),
    ("/v1/m13/median.gif", 404, "route"),
    ("/v1/m13/median.PNG", 404, "route"),
    ("/v1/m13/median/0/0/0.jpg", 404, "route"),
    ("/v1/m13/median/0/0/0", 404, "route"),
    ("/v1/m13/median/0/0/0/0.png", 404, "route"),
    ("/v1/m13/jobs/0123456789abcdef/parts/00001", 404, "route"),
    ("/v1/m13/jobs/0123456789ABCDEF", 404, "job"),
    ("/v1/m13/jobs/0123", 404, "job"),
    ("/v1/m13/median/-1/0/0.png", 400, "parameter"),
    ("/v1/m13/median/+1/0/0.png", 400, "parameter"),
    ("/v1/m13/median/0/0.5/0.png", 400, "parameter"),
    ("/v1/m13/median/0/0/.png", 400, "parameter"),
    ("/v1/m13/median/0/0/0x1.png", 400, "parameter"),
    ("/v1/m13/median/0/0/\u{661}.png", 400, "parameter"),
    ("/v1/m13/median/0/0/0.png?tile=300", 400, "parameter"),
    ("/v1/m13/median/0/0/0.png?tile=", 400, "parameter"),
    ("/v1/m13/median/0/0/0.png?tile", 400, "parameter"),
    ("/v1/m13/median/0/0/0.png?alpha=true", 400, "parameter"),
    (
        "/v1/m13/median/0/0/0.png?tile=256&tile=256",
        400,
        "parameter",
    ),
    (
        "/v1/m13/median/0/0/0.png?tile=256&t%69le=512",
        400,
        "parameter",
    ),
    (
        "/v1/m13/median/0/0/0.png?url=https://elsewhere.example/a.fits",
        400,
        "parameter",
    ),
    ("/v1/m13/median/0/0/0.png?bbox=0,0,1,1", 400, "parameter"),
    ("/v1/m13/median/0/0/0.png?=1", 400, "parameter"),
    ("/v1/m13/median/0/0/0.png?tile=256&", 400, "parameter"),
    ("/v1/m13/median/0/0/0.png?tile=%zz", 400, "parameter"),
    ("/v1/m13/median.png?bbox=0,0,1", 400, "parameter"),
    ("/v1/m13/median.png?bbox=0,0,1,1,1", 400, "parameter"),
    ("/v1/m13/median.png?bbox=0,0,-1,1", 400, "parameter"),
    ("/v1/m13/median.png?bbox=0,0,+1,1", 400, "parameter"),
    ("/v1/m13/median.png?bbox=", 400, "parameter"),
    ("/v1/m13/median.png?bbox=3,0,3,1", 404, "outside"),
    ("/v1/m13/median.png?bbox=0,2,3,1", 404, "outside"),
    ("/v1/m13/median/point/3", 400, "parameter"),
    ("/v1/m13/median/point/3,4,5", 400, "parameter"),
    ("/v1/m13/spectrum?x=a&y=1", 400, "parameter"),
    ("/v1/m13/spectrum?x=1", 404, "outside"),
    ("/v1/m13/info?f=json", 400, "parameter"),
];

pub(crate) fn good_targets_have_one_canonical_form() {
    for (target, wanted) in GOOD {
        let found = canonical_of(target).unwrap_or_else(|problem| panic!("{target}: {problem}"));
        assert_eq!(found, wanted, "{target}");
        let again = canonical_of(&found).unwrap();
        assert_eq!(again, wanted, "{target}: the canonical form is its own");
    }
}

pub(crate) fn bad_targets_are_refused() {
    for (target, status, code) in BAD {
        let problem = route(&Request::get(target)).expect_err(target);
        assert_eq!(
            (problem.status, problem.code),
            (status, code),
            "{target}: {problem}"
        );
        assert!(problem.detail.len() > 8, "{target}: {problem}");
    }
}

pub(crate) fn long_targets_are_refused() {
    let path = |len: usize| format!("/v1/{}", "a".repeat(len - 4));
    assert_eq!(
        route(&Request::get(&path(1024))).unwrap_err().code,
        "dataset"
    );
    assert_eq!(route(&Request::get(&path(1025))).unwrap_err().status, 414);
    let query = |len: usize| format!("/v1?{}", "a".repeat(len));
    assert_eq!(route(&Request::get(&query(1024))).unwrap_err().status, 400);
    assert_eq!(route(&Request::get(&query(1025))).unwrap_err().status, 414);
}

pub(crate) fn methods_are_those_of_the_address() {
    let asked = |method, target| {
        route(&Request {
            method,
            target,
            ..Request::default()
        })
    };
    let one = "/v1/m13/jobs/0123456789abcdef";
    for (target, allow) in [
        ("/v1", "GET, HEAD, OPTIONS"),
        ("/v1/m13/info", "GET, HEAD, OPTIONS"),
        ("/v1/m13/median/0/0/0.png", "GET, HEAD, OPTIONS"),
        ("/v1/m13/jobs", "POST, OPTIONS"),
        (one, "GET, HEAD, DELETE, OPTIONS"),
    ] {
        assert_eq!(
            asked("OPTIONS", target),
            Ok(Routed::Options(allow)),
            "{target}"
        );
        for method in [
            "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "TRACE", "get", "",
        ] {
            let refused = asked(method, target).is_err_and(|problem| problem.code == "method");
            let allowed = allow.split(", ").any(|known| known == method);
            assert_eq!(refused, !allowed, "{method} {target}");
        }
        let problem = asked("PATCH", target).unwrap_err();
        assert_eq!(problem.reply().header("allow"), Some(allow));
    }
    assert!(matches!(asked("DELETE", one), Ok(Routed::Cancel(_, id)) if id.len() == 16));
    // What is nothing has no methods, but answers whoever asks which.
    assert_eq!(asked("PUT", "/nothing").unwrap_err().status, 404);
    assert_eq!(
        asked("OPTIONS", "/nothing"),
        Ok(Routed::Options("GET, HEAD, OPTIONS"))
    );
    assert_eq!(
        asked("OPTIONS", "*"),
        Ok(Routed::Options("GET, HEAD, OPTIONS"))
    );
}
