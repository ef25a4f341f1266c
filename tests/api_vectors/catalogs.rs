//! Catalogs, good and bad, and the origins that they may name.

use sectile::api::catalog::{Allow, Catalog, Kind, Origin};
use sectile::fits::hdu::Selection;

const PRIVATE: Allow = Allow {
    private_origins: true,
};

fn parse(text: &str) -> sectile::error::Result<Catalog> {
    Catalog::parse(text.as_bytes(), Allow::default())
}

/// A catalog with an origin and one dataset `d`.
fn with(entry: &str) -> Catalog {
    let text = format!(
        r#"{{"sectile":1,"origins":["https://archive.example.org"],"datasets":{{"d":{entry},"other":{{"type":"stack","exposures":["o.fits"]}}}}}}"#
    );
    parse(&text).unwrap_or_else(|error| panic!("{entry}: {error}"))
}

/// Exposure or store, and what is wrong with it.
const BAD_SOURCES: [(&str, &str); 41] = [
    (r#""""#, "1 to 1024 bytes"),
    (r#""/etc/passwd""#, "empty parts"),
    (r#""../secret""#, ".."),
    (r#""a/../../secret""#, ".."),
    (r#""a/./b""#, ". or .."),
    (r#""a//b""#, "empty parts"),
    (r#""a/""#, "empty parts"),
    (r#""a\\b""#, "backslash"),
    (r#""C:/a""#, "colon"),
    (r#""file:///etc/passwd""#, "https://"),
    (r#""ftp://archive.example.org/a""#, "https://"),
    (r#""HTTPS://archive.example.org/a""#, "https://"),
    (r#""data:text/plain,a""#, "colon"),
    (r#""a\u0000b""#, "control"),
    (r#""a\nb""#, "control"),
    (r#""https://archive.example.org""#, "path"),
    (r#""https://archive.example.org?a""#, "path"),
    (r#""https://archive.example.org/a#b""#, "#"),
    (r#""https://archive.example.org/a b""#, "blanks"),
    (
        r#""https://archive.example.org\\@evil.example/a""#,
        "backslashes",
    ),
    (r#""https://evil.example/a""#, "not among the origins"),
    (r#""http://archive.example.org/a""#, "not among the origins"),
    (
        r#""https://archive.example.org:8443/a""#,
        "not among the origins",
    ),
    (
        r#""https://archive.example.org.evil.example/a""#,
        "not among the origins",
    ),
    (
        r#""https://archive.example.org@evil.example/a""#,
        "user name",
    ),
    (r#""https://user:pw@archive.example.org/a""#, "user name"),
    (r#""https://ARCHIVE.example.org./a""#, "plain host"),
    (r#""https://archive.example.org:0/a""#, "port"),
    (r#""https://archive.example.org:99999/a""#, "port"),
    (r#""https://archive.example.org:/a""#, "port"),
    (r#""https:///a""#, "plain host"),
    (r#"{"size":1}"#, "missing field `url`"),
    (r#"{"url":"a.fits","urls":"b"}"#, "unknown field `urls`"),
    (r#"{"url":"a.fits","size":-1}"#, "`size`"),
    (r#"{"url":"a.fits","size":1.5}"#, "`size`"),
    (r#"{"url":"a.fits","size":9007199254740993}"#, "2^53"),
    (r#"{"url":"a.fits","etag":"abc"}"#, "entity tag"),
    (r#"{"url":"a.fits","etag":"\"a\r\nX: y\""}"#, "entity tag"),
    (r#"{"url":"a.fits","image":{}}"#, "without `size`"),
    ("7", "neither a name nor an object"),
    ("null", "neither a name nor an object"),
];

/// A dataset, and what is wrong with it.
const BAD_DATASETS: [(&str, &str); 35] = [
    ("7", "`type` is missing"),
    ("{}", "`type` is missing"),
    (r#"{"type":"cube"}"#, "neither stack nor ions"),
    (r#"{"type":"stack"}"#, "missing field `exposures`"),
    (r#"{"type":"stack","exposures":[]}"#, "1 to 4096"),
    (r#"{"type":"stack","exposures":"a.fits"}"#, "`exposures`"),
    (
        r#"{"type":"stack","exposures":["a.fits"],"exposure":1}"#,
        "unknown field `exposure`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"store":"a"}"#,
        "unknown field `store`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"plane":-1}"#,
        "`plane`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"jobs":"yes"}"#,
        "`jobs`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"jobs":true,"jobs":true}"#,
        "jobs is there twice",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits",{"url":"b","url":"c"}]}"#,
        "url is there twice",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"hdu":""}"#,
        "`hdu`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"hdu":-1}"#,
        "`hdu`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"hdu":[1]}"#,
        "`hdu`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"mask":{"bits":1}}"#,
        "missing field `hdu`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"mask":{"hdu":"DQ","bits":0}}"#,
        "above 0",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"mask":{"hdu":"DQ","bits":1,"x":1}}"#,
        "unknown field `x`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"mask":["DQ",1]}"#,
        "`mask`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"pyramid":"../p.fits"}"#,
        "`pyramid`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"pyramid":{"url":"p","size":9,"image":{}}}"#,
        "`pyramid`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"token":""}"#,
        "`token`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"token":"a b"}"#,
        "`token`",
    ),
    (
        r#"{"type":"stack","exposures":["a.fits"],"title":"a\u0007"}"#,
        "`title`",
    ),
    (r#"{"type":"ions"}"#, "missing field `store`"),
    (
        r#"{"type":"ions","store":"a","exposures":[]}"#,
        "unknown field `exposures`",
    ),
    (
        r#"{"type":"ions","store":"a","analyzer":"quadrupole"}"#,
        "`analyzer`",
    ),
    (
        r#"{"type":"ions","store":"a","resolving_power":0}"#,
        "`resolving_power`",
    ),
    (
        r#"{"type":"ions","store":"a","resolving_power":1e99}"#,
        "`resolving_power`",
    ),
    (
        r#"{"type":"ions","store":"a","molecules":["a.csv"]}"#,
        "`molecules`",
    ),
    (
        r#"{"type":"ions","store":"a","molecules":{"A":"a.csv"}}"#,
        "name of a list",
    ),
    (
        r#"{"type":"ions","store":"a","molecules":{"core":"a.csv"}}"#,
        "built in",
    ),
    (
        r#"{"type":"ions","store":"a","molecules":{"l":"../a.csv"}}"#,
        "`l`",
    ),
    (r#"{"type":"ions","store":["a"]}"#, "`store`"),
    (
        r#"{"type":"ions","store":{"url":"a","size":9,"image":{}}}"#,
        "`store`",
    ),
];

pub(crate) fn good_catalogs_are_read() {
    let catalog = with(
        r#"{"type":"stack","title":"M 13","exposures":["m13/1.fits",{"url":"https://archive.example.org/2.fits?sig=a%20b","size":2943360,"etag":"\"abc\""}],
            "hdu":"SCI","plane":2,"mask":{"hdu":"DQ","bits":4294967295},"ignore_wcs":true,"token":"abc.DEF-1==","jobs":true,"pyramid":"m13/pyramid.fits"}"#,
    );
    assert_eq!(catalog.faulty, []);
    let dataset = catalog.dataset("d").unwrap();
    assert!(dataset.jobs && dataset.token.is_some());
    assert!(
        !format!("{catalog:?}").contains("DEF"),
        "a token is never shown"
    );
    let Kind::Stack(stack) = &dataset.kind else {
        panic!("a stack");
    };
    assert_eq!(
        (stack.plane, stack.ignore_wcs, stack.ignore_units),
        (2, true, false)
    );
    assert_eq!(stack.hdu, Selection::Name("SCI".into(), None));
    let [first, second] = &stack.exposures[..] else {
        panic!("two exposures");
    };
    assert!(!first.remote && second.remote);
    assert_eq!((first.size, second.size), (None, Some(2_943_360)));
    assert_eq!(
        stack.pyramid.as_ref().map(|file| file.url.as_str()),
        Some("m13/pyramid.fits")
    );
    let catalog = with(
        r#"{"type":"ions","store":"t.sectile","analyzer":"Q Exactive","resolving_power":140000,"molecules":{"lipids":"l.csv"}}"#,
    );
    let Some(Kind::Ions(ions)) = catalog.dataset("d").map(|one| &one.kind) else {
        panic!("ions");
    };
    assert_eq!(
        (ions.molecules.len(), ions.resolving_power),
        (1, Some(140_000.0))
    );
    assert_eq!(
        parse(r#"{"sectile":1,"datasets":{}}"#).unwrap(),
        Catalog::default()
    );
}

pub(crate) fn faulty_datasets_keep_the_others() {
    for (source, why) in BAD_SOURCES {
        for entry in [
            format!(r#"{{"type":"stack","exposures":["a.fits",{source}]}}"#),
            format!(r#"{{"type":"ions","store":{source}}}"#),
        ] {
            told(&entry, why);
        }
    }
    for (entry, why) in BAD_DATASETS {
        told(entry, why);
    }
}

fn told(entry: &str, why: &str) {
    let catalog = with(entry);
    assert!(
        catalog.dataset("other").is_some() && catalog.dataset("d").is_none(),
        "{entry}"
    );
    let [faulty] = &catalog.faulty[..] else {
        panic!("{entry} is faulty");
    };
    assert!(
        faulty.name == "d" && faulty.reason.contains(why),
        "{entry}: {}",
        faulty.reason
    );
    assert_eq!(faulty.private, entry.contains("token"), "{entry}");
}

pub(crate) fn bad_documents_are_refused() {
    for (text, at, why) in [
        ("", 0, "no JSON object"),
        ("[]", 0, "no JSON object"),
        (" [1,[],{}]", 0, "no JSON object"),
        ("{", 0, "EOF"),
        (
            "{\n\"sectile\": 1,\n\"datasets\": {]\n}",
            29,
            "key must be a string",
        ),
        (r#"{"datasets":{}}"#, 14, "missing field `sectile`"),
        (r#"{"sectile":1}"#, 12, "missing field `datasets`"),
        (r#"{"sectile":2,"datasets":{}}"#, 0, "version 2"),
        (
            r#"{"sectile":1,"datasets":{},"dataset":{}}"#,
            35,
            "unknown field `dataset`",
        ),
        (
            r#"{"sectile":1,"sectile":1,"datasets":{}}"#,
            21,
            "duplicate field",
        ),
        (
            r#"{"sectile":1,"datasets":{"A":{}}}"#,
            0,
            "name of a dataset",
        ),
        (
            r#"{"sectile":1,"datasets":{"a/b":{}}}"#,
            0,
            "name of a dataset",
        ),
        (
            r#"{"sectile":1,"datasets":{"":{}}}"#,
            0,
            "name of a dataset",
        ),
        (
            r#"{"sectile":1,"datasets":{"a":{},"a":{}}}"#,
            0,
            "datasets.a is there twice",
        ),
        (
            r#"{"sectile":1,"origins":["ftp://a.example"],"datasets":{}}"#,
            0,
            "https://",
        ),
        (
            r#"{"sectile":1,"origins":["http://127.0.0.1"],"datasets":{}}"#,
            0,
            "loopback",
        ),
        (r#"{"sectile":1,"datasets":{}} x"#, 28, "trailing"),
        ("\u{feff}{}", 0, "no JSON object"),
    ] {
        let error = parse(text).expect_err(text);
        assert!(error.to_string().contains(why), "{text}: {error}");
        assert_eq!(error.at(), Some(at), "{text}: {error}");
    }
    let deep = format!(
        r#"{{"sectile":1,"datasets":{{"a":{}{}}}}}"#,
        "[".repeat(500),
        "]".repeat(500)
    );
    assert!(parse(&deep).is_err(), "nested too deep");
    assert!(
        Catalog::parse(&vec![b' '; (4 << 20) + 1], Allow::default()).is_err(),
        "too long"
    );
    assert!(
        Catalog::parse(b"\xff\xfe", Allow::default()).is_err(),
        "no UTF-8"
    );
}

pub(crate) fn private_hosts_are_refused() {
    for host in [
        "localhost",
        "LOCALHOST",
        "a.localhost",
        "printer.local",
        "db.internal",
        "127.0.0.1",
        "127.255.255.254",
        "0.0.0.0",
        "0.1.2.3",
        "10.0.0.1",
        "100.64.0.1",
        "100.127.255.255",
        "169.254.169.254",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "192.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.7",
        "203.0.113.9",
        "224.0.0.1",
        "239.1.2.3",
        "240.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[fc00::1]",
        "[fd12:3456::1]",
        "[fe80::1]",
        "[febf::1]",
        "[fec0::1]",
        "[ff02::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::ffff:10.1.2.3]",
        "[::ffff:169.254.169.254]",
        "[::127.0.0.1]",
        "[::ffff:0:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b::10.0.0.1]",
        "[64:ff9b:1::8.8.8.8]",
        "[2002:7f00:1::]",
        "[2002:a00:1::]",
        "[2001::1]",
        "[2001:db8::1]",
        "[100::1]",
    ] {
        let origin = format!("http://{host}:8080");
        let why = Origin::parse(&origin, Allow::default()).expect_err(host);
        assert!(why.contains("private"), "{host}: {why}");
        let allowed = Origin::parse(&origin, PRIVATE).unwrap_or_else(|why| panic!("{host}: {why}"));
        assert!(allowed.is_private(), "{host}");
    }
    for host in [
        "8.8.8.8",
        "100.63.0.1",
        "100.128.0.1",
        "172.15.0.1",
        "172.32.0.1",
        "192.167.0.1",
        "192.169.0.1",
        "193.0.0.1",
        "198.17.0.1",
        "223.255.255.255",
        "archive.example.org",
        "localhost.example.org",
        "a-b.example",
        "a_b.example",
        "xn--bcher-kva.example",
        "1.example",
        "0x7f.example",
        "[2606:4700::1111]",
        "[::ffff:8.8.8.8]",
        "[64:ff9b::8.8.8.8]",
        "[2002:808:808::]",
    ] {
        let origin = Origin::parse(&format!("https://{host}"), Allow::default());
        let origin = origin.unwrap_or_else(|why| panic!("{host}: {why}"));
        assert!(!origin.is_private());
    }
}

/// All that a browser would make an address of, and what could hide one.
pub(crate) fn hidden_addresses_are_refused_even_where_private_ones_are_allowed() {
    for host in [
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f.0.0.1",
        "0x7f000001",
        "0X7F.1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.01",
        "127.0.0.1.",
        "00.0.0.0",
        "256.1.1.1",
        "1.2.3.4.5",
        "1.2.3",
        "example.0x7f",
        "example.1",
        "a.0x",
        "%31%32%37.0.0.1",
        "127.0.0.1%00",
        "\u{ff11}27.0.0.1",
        "loc\u{e4}l",
        "a..b",
        ".a",
        "a.",
        "-a.example",
        "a b",
        "[::1",
        "::1",
        "[::1]x",
        "[::1%25eth0]",
        "[127.0.0.1]",
        "[]",
        "",
    ] {
        for scheme in ["http", "https"] {
            let found = Origin::parse(&format!("{scheme}://{host}"), PRIVATE);
            assert!(found.is_err(), "{host}: {found:?}");
        }
    }
    for text in [
        "",
        "https:",
        "https://",
        "https:/a.example",
        "//a.example",
        "javascript://a.example",
        "https://a.example/",
        "https://a.example/x",
        "https://a.example?x",
        "https://a@b.example",
        "https://*.example",
    ] {
        assert!(Origin::parse(text, PRIVATE).is_err(), "{text}");
    }
    let origin = |text| Origin::parse(text, PRIVATE).unwrap();
    assert_eq!(origin("https://A.example:443"), origin("https://a.example"));
    assert_eq!(origin("http://[0:0::1]:80"), origin("http://[::1]"));
    assert_ne!(origin("http://a.example:443"), origin("https://a.example"));
    assert_eq!(
        origin("https://A.example:8443").to_string(),
        "https://a.example:8443"
    );
}

pub(crate) fn declared_images_are_checked() {
    let image = r#""hdu":1,"name":"SCI","bitpix":-32,"width":4,"height":3,"data_at":5760"#;
    let entry = |image: &str, size: u64| {
        format!(
            r#"{{"type":"stack","exposures":[{{"url":"a.fits","size":{size},"image":{{{image}}}}}]}}"#
        )
    };
    let catalog = with(&entry(image, 5760 + 48));
    let Some(Kind::Stack(stack)) = catalog.dataset("d").map(|one| &one.kind) else {
        panic!("{:?}", catalog.faulty);
    };
    let read = stack.exposures[0].image.as_ref().unwrap();
    assert_eq!(
        (read.width, read.height, read.data_at, read.planes),
        (4, 3, 5760, 1)
    );
    let written = sectile::api::catalog::image_to_json(read).to_string();
    let again = with(&entry(written.trim_matches(['{', '}']), 5760 + 48));
    assert_eq!(
        again.dataset("d"),
        catalog.dataset("d"),
        "what is written is read as the same"
    );
    for (bad, size, why) in [
        (image.to_owned(), 5760 + 47, "do not lie in the file"),
        (
            image.replace("5760", "2879"),
            9999,
            "do not lie in the file",
        ),
        (
            image.replace("5760", "18446744073709551615"),
            9999,
            "do not lie in the file",
        ),
        (
            image.replace("\"width\":4", "\"width\":4294967295"),
            9999,
            "do not lie in the file",
        ),
        (image.replace("\"width\":4", "\"width\":0"), 9999, "0"),
        (image.replace("-32", "-16"), 9999, "`bitpix`"),
        (format!("{image},\"plane\":1"), 9999, "`plane`"),
        (format!("{image},\"blank\":1"), 9999, "`blank`"),
        (format!("{image},\"cards\":[\"SHORT\"]"), 9999, "`cards`"),
        (
            format!("{image},\"cards\":[\"{}\"]", "\u{e9}".repeat(40)),
            9999,
            "`cards`",
        ),
        (
            format!("{image},\"colour\":1"),
            9999,
            "unknown field `colour`",
        ),
    ] {
        told(&entry(&bad, size), why);
    }
}
