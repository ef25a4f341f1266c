//! How many requests may be in flight while a server complains.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Slots filled without a complaint after which one request more is tried.
const EASE: usize = 32;

/// How many requests may be in flight: halved when a server says that it is overloaded, and raised
/// by one after a while without complaints.
#[derive(Debug)]
pub(super) struct Pace {
    ceiling: usize,
    now: Mutex<Speed>,
}

#[derive(Debug)]
struct Speed {
    limit: usize,
    clean: usize,
    lowered: Option<Instant>,
}

impl Pace {
    pub(super) fn new(in_flight: usize) -> Self {
        let ceiling = in_flight.max(1);
        Self {
            ceiling,
            now: Mutex::new(Speed {
                limit: ceiling,
                clean: 0,
                lowered: None,
            }),
        }
    }

    /// Halves the limit, unless the request that met the complaint was `sent` before the last time.
    pub(super) fn slow_down(&self, sent: Instant) {
        let mut speed = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        if speed.lowered.is_none_or(|lowered| sent >= lowered) {
            speed.limit = (speed.limit / 2).max(1);
            speed.lowered = Some(Instant::now());
        }
        speed.clean = 0;
    }

    pub(super) fn ease(&self) {
        let mut speed = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        speed.clean += 1;
        if speed.clean >= EASE && speed.limit < self.ceiling {
            speed.limit += 1;
            speed.clean = 0;
        }
    }

    pub(super) fn limit(&self) -> usize {
        let speed = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        speed.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_halve_and_quiet_raises() {
        let pace = Pace::new(6);
        let early = Instant::now();
        pace.slow_down(Instant::now());
        assert_eq!(pace.limit(), 3);
        // Sent before the limit was lowered: the same complaint.
        pace.slow_down(early);
        assert_eq!(pace.limit(), 3);
        for limit in [1, 1] {
            pace.slow_down(Instant::now());
            assert_eq!(pace.limit(), limit);
        }
        for _ in 0..EASE {
            pace.ease();
        }
        assert_eq!(pace.limit(), 2);
        for _ in 0..10 * EASE {
            pace.ease();
        }
        assert_eq!(pace.limit(), 6);
        assert_eq!(Pace::new(0).limit(), 1);
    }
}
