//! Lists and associations of exposures, and where their members lie.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use sectile::error::Error;
use sectile::manifest::{Kind, Members, asn, list, read, resolve};

fn assert_format<T: std::fmt::Debug>(result: Result<T, Error>, at: u64, word: &str) {
    let error = result.unwrap_err();
    assert_eq!((error.code(), error.at()), ("format", Some(at)), "{error}");
    assert!(
        error.to_string().contains(word),
        "{word:?} is not in: {error}"
    );
}

#[test]
fn a_list_has_a_name_on_each_line() {
    let text = "\u{feff}# exposures\r\n\r\n  one two.fits \r\nhttps://x.org/a.fits?k=v#2\n\t\n#no\n\"q\".fits";
    let members = list::parse("l.txt", text.as_bytes()).unwrap();
    assert_eq!(
        members.names,
        ["one two.fits", "https://x.org/a.fits?k=v#2", "\"q\".fits"]
    );
    assert!(members.notes.is_empty());
}

#[test]
fn a_name_listed_twice_is_noted() {
    let members = list::parse("l.txt", b"a\nb\na\na\n").unwrap();
    assert_eq!(members.names.len(), 4);
    assert_eq!(members.notes, ["a is listed 3 times, and counts as often"]);
}

#[test]
fn what_is_no_list_is_refused() {
    assert_format(list::parse("l", b""), 0, "names no file");
    assert_format(list::parse("l", b"# nothing\n \r\n"), 0, "names no file");
    assert_format(list::parse("l", b"a.fits\n\xff\xfe"), 7, "UTF-8");
    assert_format(list::parse("l", b"\xff\xfea\0"), 0, "UTF-16");
    assert_format(list::parse("l", b"a\nb\0c"), 3, "no text");
    assert_format(
        list::parse("l", b"SIMPLE  =                    T"),
        0,
        "FITS",
    );
}

const ASSOCIATION: &str = r#"{
  "asn_type": "image3",
  "products": [
    {"name": "jw1_i2d", "members": [
      {"expname": "a_cal.fits", "exptype": "science", "exposerr": null},
      {"expname": "b_cal.fits", "exptype": "SCIENCE", "exposerr": "guide star lost"},
      {"expname": "bg.fits", "exptype": "background"},
      {"expname": "c_cal.fits", "exptype": "science", "exposerr": "null"}
    ]},
    {"name": "second", "members": []}
  ]
}"#;

#[test]
fn an_association_gives_the_science_members_of_its_first_product() {
    let members = asn::parse("x_asn.json", ASSOCIATION.as_bytes()).unwrap();
    assert_eq!(members.names, ["a_cal.fits", "b_cal.fits", "c_cal.fits"]);
    assert_eq!(members.notes.len(), 3, "{:?}", members.notes);
    assert!(members.notes[0].contains("guide star lost"));
    assert!(members.notes[1].contains("bg.fits") && members.notes[1].contains("background"));
    assert!(members.notes[2].contains("2 products") && members.notes[2].contains("jw1_i2d"));
}

#[test]
fn what_is_no_association_is_refused_with_its_place() {
    assert_format(
        asn::parse("x", b"{\n  \"products\": [,]\n}"),
        17,
        "line 2 column 16",
    );
    assert_format(asn::parse("x", b"\xef\xbb\xbf{]"), 4, "line 1");
    assert_format(asn::parse("x", b""), 0, "EOF");
    let wrong = |text: &str, word: &str| assert_format(asn::parse("x", text.as_bytes()), 0, word);
    wrong("[]", "products is no array");
    wrong(r#"{"products": []}"#, "products is empty");
    wrong(r#"{"products": [{}]}"#, "products[0].members is no array");
    wrong(
        r#"{"products": [{"members": []}]}"#,
        "no member of exptype science",
    );
    let member = |member: &str| format!(r#"{{"products": [{{"members": [{member}]}}]}}"#);
    wrong(&member("5"), "products[0].members[0].expname is no text");
    wrong(
        &member(r#"{"expname": "a"}"#),
        "members[0].exptype is no text",
    );
    wrong(
        &member(r#"{"expname": "", "exptype": "science"}"#),
        "members[0].expname",
    );
    wrong(
        &member(r#"{"expname": "a", "exptype": "dark"}"#),
        "no member of exptype science",
    );
    // Nested too deep for any association: an error, not an overflow of the stack.
    assert!(asn::parse("x", "[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn names_lie_beside_their_manifest() {
    for (base, name, wanted) in [
        ("list.txt", "a.fits", "a.fits"),
        ("data/list.txt", "a b.fits", "data/a b.fits"),
        ("/d/list.txt", "../e/a.fits", "/d/../e/a.fits"),
        ("/d/list.txt", "/abs/a.fits", "/abs/a.fits"),
        ("/d/list.txt", "C:\\x\\a.fits", "C:\\x\\a.fits"),
        ("C:\\x\\list.txt", "a.fits", "C:\\x\\a.fits"),
        ("/d/odd\\list.txt", "a.fits", "/d/a.fits"),
        (
            "/d/list.txt",
            "https://h/a b.fits?k=v w",
            "https://h/a%20b.fits?k=v%20w",
        ),
        ("/d/list.txt", "blob:https://h/1-2", "blob:https://h/1-2"),
        ("https://h/d/list.txt", "a.fits", "https://h/d/a.fits"),
        (
            "https://h/d/list.txt?sig=1#f",
            "a.fits?k=v",
            "https://h/d/a.fits?k=v",
        ),
        ("https://h/d/list.txt", "/r/a.fits", "https://h/r/a.fits"),
        ("https://h/d/e/list.txt", "../../a.fits", "https://h/a.fits"),
        ("https://h/list.txt", "../../../a.fits", "https://h/a.fits"),
        ("https://h/list.txt", "./x/./a.fits", "https://h/x/a.fits"),
        ("https://h", "a.fits", "https://h/a.fits"),
        (
            "https://h/d/list.txt",
            "//other/a.fits",
            "https://other/a.fits",
        ),
        ("https://h/d/list.txt", "a b.fits", "https://h/d/a%20b.fits"),
        (
            "https://h/d/list.txt",
            "a%20b.fits",
            "https://h/d/a%20b.fits",
        ),
        (
            "https://h/d/list.txt",
            "100%.fits",
            "https://h/d/100%25.fits",
        ),
        (
            "https://h/d/list.txt",
            "µ#1.fits",
            "https://h/d/%C2%B5%231.fits",
        ),
        (
            "https://h/d/list.txt",
            "http://o/a.fits?x=/../y",
            "http://o/a.fits?x=/../y",
        ),
    ] {
        assert_eq!(resolve(base, name), wanted, "{base} {name}");
    }
}

#[test]
fn a_manifest_is_known_by_its_ending_and_read_resolved() {
    for (name, kind) in [
        ("a.txt", Some(Kind::List)),
        ("A.LST", Some(Kind::List)),
        ("https://h/a_asn.json?token=a.fits", Some(Kind::Association)),
        ("https://h/a.fits?list=b.txt", None),
        ("a.fits", None),
        ("txt", None),
        ("a?.txt", Some(Kind::List)),
    ] {
        assert_eq!(Kind::of(name), kind, "{name}");
    }
    let members = read(Kind::List, "https://h/d/l.txt", b"a b.fits\n").unwrap();
    let wanted = Members {
        names: vec!["https://h/d/a%20b.fits".to_owned()],
        notes: Vec::new(),
    };
    assert_eq!(members, wanted);
}
