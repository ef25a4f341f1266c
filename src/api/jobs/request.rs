//! What is asked of a job: a JSON body, checked, in its one canonical form.

use serde::Deserialize;
use serde_json::{Value, json};

use super::annotation::AnnotationRequest;
use crate::api::problem::Problem;

/// The least and the most memory that a shard may be given: 8 MiB and 1 TiB.
pub const MEMORY: [u64; 2] = [8 << 20, 1 << 40];

/// What is asked of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobRequest {
    /// The median of a stack, and its pyramid.
    Median(MedianRequest),
    /// Annotations of a dataset of ions.
    Annotation(AnnotationRequest),
}

/// The median of a stack.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MedianRequest {
    #[serde(rename = "type", default)]
    _kind: String,
    /// Bytes of memory a shard; as the host has it, unless given.
    #[serde(default)]
    pub memory: Option<u64>,
}

impl MedianRequest {
    /// With so much memory a shard; as the host has it, if `None`.
    #[must_use]
    pub fn new(memory: Option<u64>) -> Self {
        Self {
            _kind: String::new(),
            memory,
        }
    }
}

impl JobRequest {
    /// Reads a body: `{"type": "median"}`, `{"type": "annotation", "molecules": "core"}`.
    ///
    /// # Errors
    /// `body-size` (413) beyond [`MOST_BODY`](super::MOST_BODY); `body` (400) for what is no such JSON, naming the member.
    pub fn parse(body: &[u8]) -> Result<Self, Problem> {
        if body.len() as u64 > super::MOST_BODY {
            let detail = format!(
                "the body has {} bytes; at most {} are read",
                body.len(),
                super::MOST_BODY
            );
            return Err(Problem::new("body-size", detail));
        }
        let value: Value =
            serde_json::from_slice(body).map_err(|error| wrong(&error.to_string()))?;
        let request = match value.get("type").and_then(Value::as_str) {
            Some("median") => {
                let read = MedianRequest::deserialize(value);
                let mut request = read.map_err(|error| wrong(&error.to_string()))?;
                request._kind.clear();
                Self::Median(request)
            }
            Some("annotation") => Self::Annotation(AnnotationRequest::from_json(value)?),
            Some(other) => {
                return Err(wrong(&format!(
                    "`type` {other:?} is neither median nor annotation"
                )));
            }
            None => {
                return Err(wrong(
                    "`type` is missing; write {\"type\": \"median\"} or {\"type\": \"annotation\", …}",
                ));
            }
        };
        if let Some(memory) = request.memory()
            && !(MEMORY[0]..=MEMORY[1]).contains(&memory)
        {
            return Err(wrong(&format!(
                "`memory` {memory} is not from {} to {} bytes",
                MEMORY[0], MEMORY[1]
            )));
        }
        Ok(request)
    }

    /// Its kind, as `type` names it.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Median(_) => "median",
            Self::Annotation(_) => "annotation",
        }
    }

    /// Bytes of memory a shard, where they are given.
    #[must_use]
    pub fn memory(&self) -> Option<u64> {
        match self {
            Self::Median(median) => median.memory,
            Self::Annotation(annotation) => annotation.memory,
        }
    }

    /// With every member that decides the result, the usual values written out.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Median(median) => {
                let mut value = json!({"type": "median"});
                if let Some(memory) = median.memory {
                    value["memory"] = json!(memory);
                }
                value
            }
            Self::Annotation(annotation) => annotation.to_json(),
        }
    }

    /// The canonical text: members in the order of their names, no blanks.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.to_json().to_string()
    }
}

pub(super) fn wrong(why: &str) -> Problem {
    Problem::new("body", why)
}
