//! One file of a dataset: its name in the bucket or its address, and what is known of it.

use serde::Deserialize;
use serde_json::Value;

use super::entry::members;
use super::url::Origin;
use super::{SourceEntry, image};
use crate::results::stack::headers::without_query;

/// The largest size that every reader of JSON holds exactly.
const LARGEST: u64 = 1 << 53;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    url: String,
    size: Option<u64>,
    etag: Option<String>,
    image: Option<Value>,
}

/// Reads a name, or an object with a name and what is known of the file.
pub(super) fn read(value: &Value, origins: &[Origin]) -> Result<SourceEntry, String> {
    let written = match value {
        Value::String(url) => Written {
            url: url.clone(),
            size: None,
            etag: None,
            image: None,
        },
        Value::Object(_) => members(value)?,
        _ => return Err("it is neither a name nor an object with `url`".to_owned()),
    };
    let remote = written.url.contains("://");
    if remote {
        address(&written.url, origins)?;
    } else {
        key(&written.url)?;
    }
    if written.size.is_some_and(|size| size > LARGEST) {
        return Err("`size` is beyond 2^53".to_owned());
    }
    if let Some(etag) = &written.etag {
        tag(etag)?;
    }
    let image = match &written.image {
        None => None,
        Some(value) => {
            let size = written
                .size
                .ok_or("`image` without `size` cannot be checked")?;
            Some(image::from_json(value, without_query(&written.url), size)?)
        }
    };
    Ok(SourceEntry {
        url: written.url,
        remote,
        size: written.size,
        etag: written.etag,
        image,
    })
}

fn address(url: &str, origins: &[Origin]) -> Result<(), String> {
    // Everybody may read why a dataset is faulty, and a query may hold a signature.
    let shown = without_query(url);
    let (origin, rest) = Origin::split(url).map_err(|why| format!("{shown:?}: {why}"))?;
    if rest.contains('#') {
        return Err(format!("{shown:?}: a file is named without a #"));
    }
    let path = rest.split('?').next().unwrap_or("");
    if !path.starts_with('/') {
        return Err(format!("{shown:?}: the path of a file is missing"));
    }
    if !origins.contains(&origin) {
        return Err(format!(
            "{shown:?}: {origin} is not among the origins of this catalog"
        ));
    }
    Ok(())
}

/// Refuses what does not lead to a plain file below.
pub(super) fn key(key: &str) -> Result<(), String> {
    let refused = |why: &str| Err(format!("{key:?}: {why}"));
    if key.is_empty() || key.len() > 1024 {
        return refused("a key has 1 to 1024 bytes");
    }
    if key.contains(['\\', ':']) || key.chars().any(char::is_control) {
        return refused("a key holds no backslash, colon or control character");
    }
    if key.split('/').any(|part| matches!(part, "" | "." | "..")) {
        return refused("a key has neither empty parts nor . or .. among them");
    }
    Ok(())
}

/// An entity tag as servers send it (RFC 9110 §8.8.3), a weak one too: it tells versions apart all the same.
fn tag(etag: &str) -> Result<(), String> {
    let opaque = etag.strip_prefix("W/").unwrap_or(etag);
    let inner = opaque
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    let legal = |byte: u8| byte == 0x21 || (0x23..=0x7e).contains(&byte) || byte >= 0x80;
    match inner {
        Some(inner) if inner.len() <= 256 && inner.bytes().all(legal) => Ok(()),
        _ => Err(format!(
            "`etag` {etag:?} is no entity tag; it has its quotes"
        )),
    }
}
