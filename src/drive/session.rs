//! One stretch of fetching: what its threads share, and how one part is fetched.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::error::Error;
use super::pace::Pace;
use crate::job::Tally;

/// What a read brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Got {
    /// Bytes filled in; fewer than asked for only where the source ends.
    pub(super) bytes: usize,
    /// The source's size, where it is known.
    pub(super) total: Option<u64>,
}

/// What all requests of one run share.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) agent: ureq::Agent,
    pub(super) halt: Halt,
    pub(super) meter: Meter,
    pub(super) pace: Pace,
}

impl Session {
    pub(super) fn new(agent: ureq::Agent, in_flight: usize) -> Self {
        Self {
            agent,
            halt: Halt::default(),
            meter: Meter::default(),
            pace: Pace::new(in_flight),
        }
    }

    /// Stops everything: sleeps end, reads in progress fail at once, no request starts any more.
    pub(super) fn stop(&self) {
        self.halt.stop();
        self.agent.clone().shutdown();
    }
}

/// A flag that ends sleeps.
#[derive(Debug, Default)]
pub(super) struct Halt {
    flag: AtomicBool,
    door: Mutex<()>,
    bell: Condvar,
}

impl Halt {
    fn stop(&self) {
        let _door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        self.flag.store(true, Ordering::SeqCst);
        self.bell.notify_all();
    }

    /// An error if everything is to stop.
    pub(super) fn check(&self) -> Result<(), Error> {
        if self.flag.load(Ordering::SeqCst) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    /// Sleeps, unless everything is to stop.
    pub(super) fn sleep(&self, ms: u64) -> Result<(), Error> {
        let until = Instant::now() + Duration::from_millis(ms);
        let mut door = self.door.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            self.check()?;
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            door = self
                .bell
                .wait_timeout(door, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
}

/// Counts that threads add to.
#[derive(Debug, Default)]
pub(super) struct Meter {
    requests: AtomicU64,
    retries: AtomicU64,
    fetched: AtomicU64,
}

impl Meter {
    pub(super) fn request(&self) {
        self.requests.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn retry(&self) {
        self.retries.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn fetched(&self, bytes: usize) {
        self.fetched.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Moves the counts to a tally; what is counted later comes with the next call.
    pub(super) fn settle(&self, tally: &mut Tally) {
        tally.requests += self.requests.swap(0, Ordering::Relaxed);
        tally.retries += self.retries.swap(0, Ordering::Relaxed);
        tally.bytes_fetched += self.fetched.swap(0, Ordering::Relaxed);
    }
}

/// A random number in 0..1: enough to spread waits.
pub(super) fn dice() -> f64 {
    let number = RandomState::new().build_hasher().finish() >> 32;
    #[expect(clippy::cast_precision_loss, reason = "32 bits are exact in f64")]
    let number = number as f64;
    number / f64::from(u32::MAX)
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}
