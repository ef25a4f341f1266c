//! Single cards, and headers of them.

use sectile::fits::card::{Card, Value};
use sectile::fits::header::Header;

fn card(text: &str) -> Card {
    Card::parse(format!("{text:80}").as_bytes().first_chunk().unwrap(), 0)
}

fn value(text: &str) -> Value {
    card(&format!("KEY     = {text}")).value.unwrap()
}

fn parse(cards: &[&str]) -> Header {
    Header::parse(&crate::source::cards(cards))
}

#[test]
fn values_have_their_types() {
    for (text, wanted) in [
        ("                   T / yes", Value::Logical(true)),
        ("F", Value::Logical(false)),
        ("t", Value::Malformed("t".into())),
        ("TRUE", Value::Malformed("TRUE".into())),
        ("-32768/comment", Value::Integer(-32768)),
        ("+7", Value::Integer(7)),
        ("007", Value::Integer(7)),
        ("1.", Value::Real(1.0)),
        (".5", Value::Real(0.5)),
        ("-1.5D+03 / D", Value::Real(-1500.0)),
        ("1d2", Value::Real(100.0)),
        (
            "9223372036854775808",
            Value::Real(9_223_372_036_854_775_808.0),
        ),
        ("1E400", Value::Malformed("1E400".into())),
        ("NaN", Value::Malformed("NaN".into())),
        ("inf", Value::Malformed("inf".into())),
        ("12 34", Value::Malformed("12 34".into())),
        ("(1, -2.5)", Value::Complex(1.0, -2.5)),
        ("", Value::Undefined),
        ("    / only a comment", Value::Undefined),
        ("''", Value::Text(String::new())),
        ("'O''Brien  ' / it's", Value::Text("O'Brien".into())),
        ("'  lead'", Value::Text("  lead".into())),
        ("'a / b'", Value::Text("a / b".into())),
        ("'not closed", Value::Text("not closed".into())),
        ("''''", Value::Text("'".into())),
    ] {
        assert_eq!(value(text), wanted, "{text}");
    }
}

#[test]
fn comments_follow_the_slash() {
    assert_eq!(card("KEY     = 1 / a / b").comment, "a / b");
    assert_eq!(card("KEY     = 'x/y' / c").comment, "c");
    assert_eq!(card("KEY     = 'x'").comment, "");
}

#[test]
fn cards_without_the_value_indicator_are_commentary() {
    for text in [
        "COMMENT = 5",
        "HISTORY   made",
        "        = 1",
        "KEY      5",
        "KEY     =5",
    ] {
        assert_eq!(card(text).value, None, "{text}");
    }
    assert_eq!(card("HISTORY   made").comment, "  made");
}

#[test]
fn hierarch_keywords_are_words() {
    let header = parse(&[
        "HIERARCH ESO DET  CHIP1 ID = 'CCD 44' / name",
        "HIERARCH nothing",
    ]);
    assert_eq!(header.text("ESO DET CHIP1 ID"), Some("CCD 44"));
    assert_eq!(header.text("hierarch eso det chip1 id"), Some("CCD 44"));
    assert_eq!(header.cards().count(), 2);
}

#[test]
fn long_strings_are_continued_only_after_an_ampersand() {
    let header = parse(&[
        "A       = 'one &' / first",
        "CONTINUE  'two&' / second",
        "CONTINUE  '' / third",
        "B       = 'no ampersand'",
        "CONTINUE  'orphan'",
        "C       = 'last&'",
        "D       = 'x&'",
        "COMMENT between",
        "CONTINUE  'y'",
    ]);
    assert_eq!(header.text("A"), Some("one two"));
    assert_eq!(header.card("A").unwrap().comment, "first second third");
    assert_eq!(header.text("B"), Some("no ampersand"));
    assert_eq!(header.text("C"), Some("last&"));
    assert_eq!(header.text("D"), Some("x&"));
}

#[test]
fn the_first_of_equal_keywords_counts_and_types_are_kept_apart() {
    let header = parse(&[
        "X       = 1",
        "X       = 2",
        "lower   = 'v'",
        "R       = 2.0",
        "END",
        "Y = 3",
    ]);
    assert_eq!(header.int("X"), Some(1));
    assert_eq!(header.text("LOWER"), Some("v"));
    assert_eq!(header.int("R"), Some(2));
    assert_eq!(header.float("X"), Some(1.0));
    assert_eq!((header.text("X"), header.logical("X")), (None, None));
    assert_eq!(header.get("Y"), None);
    assert_eq!(header.card("R").unwrap().line, 3);
}
