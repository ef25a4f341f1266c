//! What is asked of an annotation besides its result, and what it will cost.

use serde::{Deserialize, Serialize};

use crate::budget;

/// What becomes of the images of targets that score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Keep {
    /// They are let go: scores alone.
    None,
    /// They are held until a save hands them out.
    Buffer {
        /// Bytes of images that are held, 12 for each peak in them; `None` for what the budget leaves.
        bytes: Option<u64>,
        /// What happens at the limit.
        policy: Policy,
    },
}

/// When a full buffer of images is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// Before an ion is added that would not fit: the limit is never passed, except by an ion that is larger than
    /// it, which is saved alone. METASPACE's rule.
    #[default]
    FlushBefore,
    /// After an ion was added that passes the limit, which is passed by one ion at most. The rule of
    /// Lithops-METASPACE's images manager.
    FlushAfter,
}

/// What is asked of an annotation besides its result, which does not depend on any of it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Wish {
    /// The memory budget in bytes; molecules, ions and the store's head are a part of it.
    pub memory: u64,
    /// Requests in flight at one time.
    pub in_flight: u32,
    /// What becomes of images.
    pub images: Keep,
    /// Requests after which the job stops, between two batches.
    pub max_requests: Option<u64>,
}

impl Default for Wish {
    fn default() -> Self {
        Self {
            memory: budget::DEFAULT,
            in_flight: 6,
            images: Keep::default(),
            max_requests: None,
        }
    }
}

impl Default for Keep {
    fn default() -> Self {
        Self::Buffer {
            bytes: None,
            policy: Policy::default(),
        }
    }
}

impl Keep {
    /// The policy, where images are kept at all.
    #[must_use]
    pub fn policy(self) -> Option<Policy> {
        match self {
            Self::None => None,
            Self::Buffer { policy, .. } => Some(policy),
        }
    }
}

/// What some ions will cost: all of it is known before a block is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Plan {
    /// Ions.
    pub ions: u64,
    /// Batches of at most [`BATCH`](super::BATCH) ions; a job can be stopped and resumed between two.
    pub batches: u64,
    /// Groups: ions whose blocks are in memory at one time. As many as batches, unless the budget is small.
    pub groups: u64,
    /// Blocks that the ions' windows touch, each counted once.
    pub blocks: u64,
    /// Requests.
    pub requests: u64,
    /// Bytes that are asked for.
    pub bytes: u64,
    /// Blocks that are read again because there was no room to hold them.
    pub refetched: u64,
    /// Most bytes held at one time, if the images fill their buffer.
    pub peak_bytes: u64,
    /// Bytes of images that are held before they are saved.
    pub image_bytes: u64,
    /// The smallest budget that works.
    pub minimum_bytes: u64,
    /// The budget given.
    pub memory: u64,
}
