//! Blocks that are in memory, within a limit of bytes.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::block::Block;
use super::head::Head;
use crate::budget::Budget;
use crate::error::{Error, Result};

/// Bytes of blocks, each checked once; the one that was not used for longest goes first.
#[derive(Debug)]
pub struct Blocks {
    budget: Budget,
    held: BTreeMap<usize, Held>,
    clock: u64,
}

#[derive(Debug)]
struct Held {
    bytes: Rc<Vec<u8>>,
    used: u64,
}

/// What a block costs besides its bytes: the entry in the map.
const OVERHEAD: u64 = 64;

impl Blocks {
    /// Room for `limit` bytes of blocks.
    #[must_use]
    pub fn new(limit: u64) -> Self {
        Self {
            budget: Budget::new(limit),
            held: BTreeMap::new(),
            clock: 0,
        }
    }

    /// Whether block `n` is held.
    #[must_use]
    pub fn contains(&self, n: usize) -> bool {
        self.held.contains_key(&n)
    }

    /// Checks the bytes of block `n` and keeps them, if need be in the place of others.
    ///
    /// # Errors
    /// Those of [`Block::open`]; [`Error::Budget`] if the block alone is more than the limit.
    pub fn insert(&mut self, head: &Head, n: usize, bytes: &[u8]) -> Result<()> {
        Block::open(head, n, bytes)?;
        self.remove(n);
        let need = bytes.len() as u64 + OVERHEAD;
        while self.budget.limit() - self.budget.held() < need && self.evict() {}
        self.budget.reserve(need, "a block of the store")?;
        let mut copy = Vec::new();
        if copy.try_reserve_exact(bytes.len()).is_err() {
            self.budget.release(need);
            return Err(Error::Budget {
                need,
                have: self.budget.limit() - self.budget.held(),
                what: "a block of the store".to_owned(),
            });
        }
        copy.extend_from_slice(bytes);
        self.clock += 1;
        self.held.insert(
            n,
            Held {
                bytes: Rc::new(copy),
                used: self.clock,
            },
        );
        Ok(())
    }

    /// Block `n`, if it is held. It counts as used now.
    ///
    /// # Errors
    /// [`Error::Unexpected`] if it was put in for another store.
    pub fn block<'a>(&'a mut self, head: &'a Head, n: usize) -> Result<Option<Block<'a>>> {
        self.clock += 1;
        let Some(held) = self.held.get_mut(&n) else {
            return Ok(None);
        };
        held.used = self.clock;
        Block::again(head, n, &held.bytes).map(Some)
    }

    /// The bytes of block `n`, if it is held. It counts as used now.
    ///
    /// They stay as they are while somebody has them, even if the block is let go here; whoever keeps them
    /// counts them.
    #[must_use]
    pub fn bytes(&mut self, n: usize) -> Option<Rc<Vec<u8>>> {
        self.clock += 1;
        let held = self.held.get_mut(&n)?;
        held.used = self.clock;
        Some(held.bytes.clone())
    }

    /// Bytes held now.
    #[must_use]
    pub fn held(&self) -> u64 {
        self.budget.held()
    }

    /// Most bytes held at one time.
    #[must_use]
    pub fn peak(&self) -> u64 {
        self.budget.peak()
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.budget.limit()
    }

    /// Lets go of every block.
    pub fn clear(&mut self) {
        self.held.clear();
        self.budget.release(self.budget.held());
    }

    fn remove(&mut self, n: usize) {
        if let Some(held) = self.held.remove(&n) {
            self.budget.release(held.bytes.len() as u64 + OVERHEAD);
        }
    }

    /// Lets go of the block that was not used for longest; `false` if there is none.
    fn evict(&mut self) -> bool {
        let oldest = self
            .held
            .iter()
            .min_by_key(|(_, held)| held.used)
            .map(|(n, _)| *n);
        oldest.inspect(|n| self.remove(*n)).is_some()
    }
}
