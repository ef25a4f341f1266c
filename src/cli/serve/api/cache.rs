//! Finished answers, those used last, within a bound of bytes.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// An answer that takes more than this part of the cache is not kept: it would put out all others.
const LARGEST: u64 = 4;

/// What a key and its entry take besides the key's own bytes, about: two maps, two counters.
const ENTRY: u64 = 160;

/// Answers by their canonical form.
#[derive(Debug)]
pub struct Cache<V> {
    limit: u64,
    held: u64,
    clock: u64,
    entries: HashMap<Arc<str>, Entry<V>>,
    /// When each key was used last; the first is the one to go.
    used: BTreeMap<u64, Arc<str>>,
}

#[derive(Debug)]
struct Entry<V> {
    value: V,
    bytes: u64,
    used: u64,
}

impl<V: Clone> Cache<V> {
    /// A cache of at most `limit` bytes; 0 keeps nothing.
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            held: 0,
            clock: 0,
            entries: HashMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// The answer under a key, which then is the one used last.
    pub fn find(&mut self, key: &str) -> Option<V> {
        let entry = self.entries.get_mut(key)?;
        self.clock += 1;
        if let Some(key) = self.used.remove(&entry.used) {
            self.used.insert(self.clock, key);
        }
        entry.used = self.clock;
        Some(entry.value.clone())
    }

    /// Keeps an answer of `bytes` bytes, and lets go of what was not used for longest.
    pub fn keep(&mut self, key: &str, value: V, bytes: u64) {
        let bytes = bytes.saturating_add(key.len() as u64).saturating_add(ENTRY);
        if bytes > self.limit / LARGEST {
            return;
        }
        self.drop_entry(key);
        while self.held + bytes > self.limit {
            let Some((_, oldest)) = self.used.pop_first() else {
                break;
            };
            self.drop_entry(&oldest);
        }
        self.clock += 1;
        let key: Arc<str> = key.into();
        self.used.insert(self.clock, key.clone());
        let used = self.clock;
        self.entries.insert(key, Entry { value, bytes, used });
        self.held += bytes;
    }

    fn drop_entry(&mut self, key: &str) {
        if let Some(entry) = self.entries.remove(key) {
            self.held -= entry.bytes;
            self.used.remove(&entry.used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: u64 = ENTRY + 1;

    #[test]
    fn what_was_not_used_for_longest_goes_first() {
        let mut cache = Cache::new(4 * (ROOM + 10));
        for key in ["a", "b", "c", "d"] {
            cache.keep(key, key.to_owned(), 10);
        }
        assert_eq!(cache.held, cache.limit);
        assert_eq!(cache.find("a").as_deref(), Some("a"));
        cache.keep("e", "e".to_owned(), 10);
        assert_eq!(cache.find("b"), None);
        for key in ["a", "c", "d", "e"] {
            assert_eq!(cache.find(key).as_deref(), Some(key));
        }
        assert_eq!(cache.held, cache.limit);
        assert_eq!(cache.used.len(), cache.entries.len());
    }

    #[test]
    fn an_entry_that_is_kept_again_counts_once() {
        let mut cache = Cache::new(4 * (ROOM + 10));
        cache.keep("a", 1, 5);
        cache.keep("a", 2, 10);
        assert_eq!((cache.find("a"), cache.held), (Some(2), ROOM + 10));
        assert_eq!((cache.entries.len(), cache.used.len()), (1, 1));
    }

    #[test]
    fn what_is_too_large_is_not_kept_and_puts_nothing_out() {
        let mut cache = Cache::new(4 * (ROOM + 10));
        cache.keep("a", 1, 10);
        cache.keep("b", 2, 11);
        cache.keep("c", 3, u64::MAX);
        assert_eq!(
            (cache.find("a"), cache.find("b"), cache.find("c")),
            (Some(1), None, None)
        );
        let mut none = Cache::new(0);
        none.keep("a", 1, 0);
        assert_eq!(none.find("a"), None);
    }
}
