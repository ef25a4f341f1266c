//! What is written and read: requests, messages, keys, documents.

use sectile::api::jobs::ask::Asked;
use sectile::api::jobs::document::{Document, Estimate};
use sectile::api::jobs::id::Id;
use sectile::api::jobs::keys::Key;
use sectile::api::jobs::message::{Message, Task};
use serde_json::{Value, json};

fn asked(text: &str) -> Asked {
    Asked::parse(text.as_bytes()).unwrap()
}

#[test]
fn spelling_makes_no_other_job_and_meaning_does() {
    let id = |text: &str| Id::new("demo@01234567", &asked(text), "0.1.0");
    let plain = id(r#"{"type":"annotation","molecules":"lipids"}"#);
    for same in [
        r#" { "molecules" : "lipids", "type":"annotation" } "#,
        r#"{"type":"annotation","molecules":"lipids","ppm":3,"decoys":20,"scoring":"metaspace-v3","images":"all"}"#,
        r#"{"type":"annotation","molecules":"lipids","adducts":[],"hotspot":false}"#,
    ] {
        assert_eq!(id(same), plain, "{same}");
    }
    for other in [
        r#"{"type":"annotation","molecules":"other"}"#,
        r#"{"type":"annotation","molecules":"lipids","ppm":3.5}"#,
        r#"{"type":"annotation","molecules":"lipids","images":"none"}"#,
        r#"{"type":"annotation","molecules":"lipids","shards":8}"#,
        r#"{"type":"median"}"#,
    ] {
        assert_ne!(id(other), plain, "{other}");
    }
    assert_ne!(
        Id::new("demo@76543210", &asked(r#"{"type":"median"}"#), "0.1.0"),
        id(r#"{"type":"median"}"#)
    );
    assert_ne!(
        Id::new("demo@01234567", &asked(r#"{"type":"median"}"#), "0.2.0"),
        id(r#"{"type":"median"}"#)
    );
    assert_eq!(Id::parse(plain.as_str()), Some(plain));
    for none in [
        "",
        "0123",
        "0123456789ABCDEF",
        "0123456789abcdefg",
        "../3456789abcdef",
    ] {
        assert_eq!(Id::parse(none), None, "{none}");
    }
}

#[test]
fn requests_that_make_no_sense_name_what() {
    for (text, word) in [
        ("", "EOF"),
        ("[]", "invalid type"),
        ("{}", "type"),
        (r#"{"type":"mean"}"#, "median"),
        (r#"{"type":"median","rect":[0,0,1,1]}"#, "rect"),
        (r#"{"type":"median","shards":0}"#, "0 shards"),
        (r#"{"type":"median","shards":10001}"#, "10001 shards"),
        (r#"{"type":"annotation"}"#, "molecules"),
        (
            r#"{"type":"annotation","molecules":"a","decoys":0}"#,
            "0 decoys",
        ),
        (
            r#"{"type":"annotation","molecules":"a","adducts":["H+H"]}"#,
            "H+H",
        ),
        (
            r#"{"type":"annotation","molecules":"a","scoring":"mine"}"#,
            "mine",
        ),
        (
            r#"{"type":"annotation","molecules":"a","images":"some"}"#,
            "some",
        ),
        (
            r#"{"type":"annotation","molecules":"a","url":"http://localhost/"}"#,
            "url",
        ),
    ] {
        let error = Asked::parse(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(word), "{text}: {error}");
    }
    let long = format!(r#"{{"type":"median","x":"{}"}}"#, "x".repeat(20_000));
    assert!(
        Asked::parse(long.as_bytes())
            .unwrap_err()
            .to_string()
            .contains("16384")
    );
}

#[test]
fn messages_come_back_and_others_are_poison() {
    let job = Id::parse("0123456789abcdef").unwrap();
    for task in [Task::Shard(1), Task::Shard(10_000), Task::Assemble] {
        let message = Message {
            dataset: "demo@01234567".to_owned(),
            job: job.clone(),
            task,
        };
        assert_eq!(Message::parse(&message.to_value()).unwrap(), message);
    }
    let good = json!({"v": 1, "dataset": "demo@01234567", "job": "0123456789abcdef", "shard": 3});
    let with = |name: &str, value: Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    assert!(Message::parse(&good).is_ok());
    for (poison, word) in [
        (Value::Null, "no JSON object"),
        (json!("hello"), "no JSON object"),
        (json!({}), "no version"),
        (with("v", json!(2)), "version"),
        (with("v", json!("1")), "version"),
        (with("shard", json!(0)), "no shard"),
        (with("shard", json!(1.5)), "no shard"),
        (with("shard", json!(10_001)), "no shard"),
        (with("assemble", json!(true)), "neither"),
        (with("job", json!("../../secret")), "no id"),
        (with("dataset", json!(7)), "dataset"),
        (with("url", json!("x")), "url"),
    ] {
        let why = Message::parse(&poison).unwrap_err();
        assert!(why.contains(word), "{poison}: {why}");
    }
}

#[test]
fn keys_come_back_and_strangers_are_none() {
    for key in [
        Key::Job,
        Key::Sent,
        Key::Cancelled,
        Key::Done,
        Key::Part(1),
        Key::Part(10_000),
        Key::Retry(Task::Shard(3)),
        Key::Retry(Task::Assemble),
        Key::Failed(Task::Shard(3)),
        Key::Failed(Task::Assemble),
        Key::Result("median.fits".to_owned()),
    ] {
        assert_eq!(Key::parse(&key.name()), Some(key));
    }
    for name in [
        "",
        "parts/1",
        "parts/00000",
        "parts/+0001",
        "parts/00001.png",
        "parts/",
        "failed/1.json",
        "a/b",
    ] {
        assert_eq!(Key::parse(name), None, "{name}");
    }
    let job = Id::parse("0123456789abcdef").unwrap();
    assert_eq!(
        Key::Part(12).of(&job),
        ".sectile/jobs/0123456789abcdef/parts/00012"
    );
}

#[test]
fn a_stated_charge_is_kept_however_the_modifier_is_spelled() {
    let canonical = |adduct: &str| {
        let text =
            format!(r#"{{"type":"annotation","molecules":"lipids","adducts":["{adduct}"]}}"#);
        asked(&text).canonical()
    };
    for (given, kept) in [
        ("[M+K-H]+", "[M+K-H]+"),
        ("[M+K-H]1+", "[M+K-H]+"),
        ("[M-H2O+H]+", "[M-H2O+H]+"),
        ("[M]-", "[M]-"),
        ("+K-H", "+K-H"),
    ] {
        let text = canonical(given);
        assert!(text.contains(&format!("[\"{kept}\"]")), "{given}: {text}");
        assert_eq!(canonical(kept), text);
    }
}

#[test]
fn documents_come_back_and_damaged_ones_are_refused() {
    let estimate = Estimate {
        shards: 12,
        requests: 156,
        ..Estimate::default()
    };
    let document = Document::new(
        "demo@01234567",
        asked(r#"{"type":"annotation","molecules":"lipids","adducts":["+H","+Na"]}"#),
        "0.1.0",
        estimate,
        "{\"shards\":12}\n",
    );
    let text = document.to_json();
    assert_eq!(
        Document::parse(&document.id, text.as_bytes()).unwrap(),
        document
    );
    assert_eq!(document.name(), "demo");
    let other = Id::parse("0123456789abcdef").unwrap();
    assert!(Document::parse(&other, text.as_bytes()).is_err());
    for damage in [
        text.replace("\"shards\":12", "\"shards\":0"),
        text.replace("lipids", "steroids"),
        text.replace("\"sectile\":1", "\"sectile\":2"),
        text.replace("demo@", "private@"),
        text[..text.len() / 2].to_owned(),
    ] {
        let error = Document::parse(&document.id, damage.as_bytes()).unwrap_err();
        assert!(error.to_string().contains("job.json"), "{error}");
    }
}
