//! Which versions of its inputs a result was made of.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use sectile::drive::native::Source;
pub use sectile::results::stack::headers::{last_name, without_query};
use serde_json::{Value, json};

use crate::cli::failure::{Failure, Result};

/// What tells this version of an input from another.
pub fn identity(source: &Source) -> Value {
    let identity = source.identity();
    // A signed link has another query every day; with an ETag it is known for the same file, and
    // without its query it is no secret in the journal.
    let name = match identity.etag {
        Some(_) => without_query(source.name()),
        None => source.name(),
    };
    let mut fields = json!({
        "name": name,
        "etag": identity.etag,
        "modified": identity.modified,
        "bytes": identity.total,
    });
    if identity.etag.is_none() && identity.modified.is_none() {
        // A server that does not tell versions apart: its file may be another one the next time,
        // so that no later run may go on from this one.
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        fields["seen"] = json!(now.as_nanos().to_string());
    }
    fields
}

/// An output that is one of its own inputs would be gone before it is read again.
pub fn refuse_input_as_output<'s>(
    output: &Path,
    sources: impl IntoIterator<Item = &'s Source>,
) -> Result<()> {
    let Ok(output) = output.canonicalize() else {
        return Ok(());
    };
    let mut sources = sources.into_iter();
    let clash = sources.find(|source| {
        Path::new(source.name())
            .canonicalize()
            .is_ok_and(|path| path == output)
    });
    match clash {
        Some(source) => Err(Failure::usage(format!(
            "{}: is an input and the output at once; write to another name",
            source.name()
        ))),
        None => Ok(()),
    }
}
