//! What a server's answer means, for the driver in JavaScript.

use wasm_bindgen::prelude::*;

use super::Thrown;
use super::record::{self, Record};
use crate::drive::fault::{Fault, Kind};
use crate::drive::policy::{self, After, Asked, Head, Identity, Patience, Take, Verdict};

/// [`policy::judge`] on plain objects.
///
/// # Errors
/// Members that are not of their kind.
#[wasm_bindgen]
pub fn judge(asked: &JsValue, head: &JsValue, dice: f64, now: f64) -> Result<JsValue, Thrown> {
    let (asked, head) = (read_asked(asked)?, read_head(head)?);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "seconds since 1970"
    )]
    Ok(verdict(policy::judge(&asked, &head, dice, now as u64)))
}

/// [`policy::judge_lost`] on plain objects.
///
/// # Errors
/// Members that are not of their kind.
#[wasm_bindgen]
pub fn judge_lost(asked: &JsValue, why: &str, dice: f64) -> Result<JsValue, Thrown> {
    Ok(verdict(policy::judge_lost(&read_asked(asked)?, why, dice)))
}

/// [`policy::judge_body`] on plain objects.
///
/// # Errors
/// Members that are not of their kind.
#[wasm_bindgen]
pub fn judge_body(
    asked: &JsValue,
    take: &JsValue,
    received: f64,
    ended: bool,
    dice: f64,
) -> Result<JsValue, Thrown> {
    let (asked, take) = (read_asked(asked)?, read_take(take)?);
    let received = super::offset("received", received)?;
    let after = policy::judge_body(&asked, &take, received, ended, dice);
    Ok(match after {
        After::Done { got, total } => deed("done").number("got", got).maybe_number("total", total),
        After::Continue { from } => deed("continue").number("from", from),
        After::Retry { from, wait_ms } => deed("retry")
            .number("from", from)
            .number("wait_ms", wait_ms),
        After::Fail(fault) => fail(&fault),
    }
    .into())
}

fn deed(name: &str) -> Record {
    Record::new().text("do", name)
}

fn verdict(verdict: Verdict) -> JsValue {
    match verdict {
        Verdict::Take(take) => deed("take")
            .number("skip", take.skip)
            .number("take", take.take)
            .maybe_number("body", take.body)
            .flag("whole", take.whole)
            .with("known", &known(&take.known)),
        Verdict::Retry { wait_ms, slow_down } => deed("retry")
            .number("wait_ms", wait_ms)
            .flag("slow_down", slow_down),
        Verdict::Clip { end, total } => {
            deed("clip").number("end", end).maybe_number("total", total)
        }
        Verdict::End { total } => deed("end").maybe_number("total", total),
        Verdict::Fail(fault) => fail(&fault),
    }
    .into()
}

fn fail(fault: &Fault) -> Record {
    let kind = match fault.kind {
        Kind::Status => "status",
        Kind::Encoding => "encoding",
        Kind::Ranges => "ranges",
        Kind::Place => "place",
        Kind::Short => "short",
        Kind::Long => "long",
        Kind::Changed => "changed",
        Kind::Lost => "lost",
    };
    deed("fail")
        .text("kind", kind)
        .maybe_number("status", fault.status.map(u64::from))
        .text("what", &fault.what)
}

fn known(identity: &Identity) -> JsValue {
    Record::new()
        .maybe_text("etag", identity.etag.as_deref())
        .maybe_text("modified", identity.modified.as_deref())
        .maybe_number("total", identity.total)
        .into()
}

fn read_known(value: &JsValue) -> Result<Identity, Thrown> {
    let Some(known) = record::member(value, "known") else {
        return Ok(Identity::default());
    };
    Ok(Identity {
        etag: record::text(&known, "etag")?,
        modified: record::text(&known, "modified")?,
        total: record::count(&known, "total")?,
    })
}

fn read_asked(value: &JsValue) -> Result<Asked, Thrown> {
    Ok(Asked {
        start: record::count(value, "start")?.unwrap_or_default(),
        end: record::count(value, "end")?.unwrap_or_default(),
        known: read_known(value)?,
        tries: record::small(value, "tries")?.unwrap_or_default(),
        after_short: record::flag(value, "after_short"),
        decodes: record::flag(value, "decodes"),
        patience: read_patience(value)?,
    })
}

/// What is not told is as by default.
fn read_patience(value: &JsValue) -> Result<Patience, Thrown> {
    let mut patience = Patience::default();
    if let Some(told) = record::member(value, "patience") {
        patience.tries = record::small(&told, "tries")?.unwrap_or(patience.tries);
        let first = record::count(&told, "first_wait_ms")?;
        patience.first_wait_ms = first.unwrap_or(patience.first_wait_ms);
        let longest = record::count(&told, "longest_wait_ms")?;
        patience.longest_wait_ms = longest.unwrap_or(patience.longest_wait_ms);
    }
    Ok(patience)
}

fn read_head(value: &JsValue) -> Result<Head, Thrown> {
    let field = |name| record::text(value, name);
    let status = record::small(value, "status")?.unwrap_or_default();
    Ok(Head {
        status: u16::try_from(status).unwrap_or_default(),
        content_range: field("content_range")?,
        content_encoding: field("content_encoding")?,
        content_length: field("content_length")?,
        content_type: field("content_type")?,
        etag: field("etag")?,
        last_modified: field("last_modified")?,
        retry_after: field("retry_after")?,
    })
}

fn read_take(value: &JsValue) -> Result<Take, Thrown> {
    Ok(Take {
        skip: record::count(value, "skip")?.unwrap_or_default(),
        take: record::count(value, "take")?.unwrap_or_default(),
        body: record::count(value, "body")?,
        whole: record::flag(value, "whole"),
        known: read_known(value)?,
    })
}
