//! Who may compute now: as many as the memory and the processors hold, in the order in which they came.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Memory is counted in pieces of this many bytes.
const PIECE: u64 = 4096;

/// The gate before all computing.
#[derive(Debug)]
pub struct Gate {
    memory: Arc<Semaphore>,
    places: Arc<Semaphore>,
    pieces: u32,
    waiting: AtomicUsize,
    longest: usize,
}

/// Leave to compute; dropping it lets the next one in.
#[derive(Debug)]
pub struct Pass {
    _memory: OwnedSemaphorePermit,
    _place: OwnedSemaphorePermit,
}

/// Why there is no pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// More are waiting than the queue holds.
    Full,
    /// It takes more memory than there is.
    TooLarge,
}

impl Gate {
    /// A gate for `memory` bytes and `places` computations at one time, with a queue of `longest`.
    pub fn new(memory: u64, places: usize, longest: usize) -> Self {
        // Four gigabytes of pieces are sixteen terabytes.
        let pieces = u32::try_from(memory / PIECE).unwrap_or(u32::MAX);
        let most = usize::try_from(pieces).unwrap_or(Semaphore::MAX_PERMITS);
        Self {
            memory: Arc::new(Semaphore::new(most.min(Semaphore::MAX_PERMITS))),
            places: Arc::new(Semaphore::new(places.clamp(1, Semaphore::MAX_PERMITS))),
            pieces,
            waiting: AtomicUsize::new(0),
            longest,
        }
    }

    /// Waits for room for `bytes` bytes and for a place.
    ///
    /// Who waits for much memory is not overtaken, so nobody waits for ever.
    pub async fn enter(&self, bytes: u64) -> Result<Pass, Refused> {
        let pieces = u32::try_from(bytes.div_ceil(PIECE)).unwrap_or(u32::MAX);
        if pieces > self.pieces {
            return Err(Refused::TooLarge);
        }
        if let Some(pass) = self.at_once(pieces) {
            return Ok(pass);
        }
        let _waiting = Waiting::begin(self)?;
        // The semaphores are never closed.
        let memory = self.memory.clone().acquire_many_owned(pieces).await;
        let place = self.places.clone().acquire_owned().await;
        match (memory, place) {
            (Ok(memory), Ok(place)) => Ok(Pass {
                _memory: memory,
                _place: place,
            }),
            _ => Err(Refused::Full),
        }
    }

    fn at_once(&self, pieces: u32) -> Option<Pass> {
        let memory = self.memory.clone().try_acquire_many_owned(pieces).ok()?;
        let place = self.places.clone().try_acquire_owned().ok()?;
        Some(Pass {
            _memory: memory,
            _place: place,
        })
    }
}

/// One in the queue, for as long as it lives.
struct Waiting<'g>(&'g Gate);

impl<'g> Waiting<'g> {
    fn begin(gate: &'g Gate) -> Result<Self, Refused> {
        let before = gate.waiting.fetch_add(1, Ordering::SeqCst);
        let waiting = Self(gate);
        if before >= gate.longest {
            return Err(Refused::Full);
        }
        Ok(waiting)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn block<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        runtime.expect("a runtime").block_on(future)
    }

    async fn waits(gate: &Gate, bytes: u64) -> bool {
        let soon = Duration::from_millis(20);
        tokio::time::timeout(soon, gate.enter(bytes)).await.is_err()
    }

    #[test]
    fn memory_is_never_given_twice() {
        block(async {
            let gate = Gate::new(8 * PIECE, 100, 10);
            let one = gate.enter(5 * PIECE - 1).await.expect("room");
            assert!(waits(&gate, 4 * PIECE).await);
            let two = gate.enter(3 * PIECE).await.expect("room");
            assert!(waits(&gate, 1).await);
            drop((one, two));
            assert!(gate.enter(8 * PIECE).await.is_ok());
            assert_eq!(
                gate.enter(8 * PIECE + 1).await.err(),
                Some(Refused::TooLarge)
            );
            assert_eq!(gate.enter(u64::MAX).await.err(), Some(Refused::TooLarge));
            assert_eq!(gate.waiting.load(Ordering::SeqCst), 0);
        });
    }

    #[test]
    fn who_comes_to_a_full_queue_is_sent_away() {
        block(async {
            let gate = Arc::new(Gate::new(100 * PIECE, 1, 2));
            let first = gate.enter(PIECE).await.expect("a place");
            let spawn = || {
                let gate = gate.clone();
                tokio::spawn(async move { gate.enter(PIECE).await.map(drop) })
            };
            let queued = [spawn(), spawn()];
            while gate.waiting.load(Ordering::SeqCst) < 2 {
                tokio::task::yield_now().await;
            }
            assert_eq!(gate.enter(PIECE).await.err(), Some(Refused::Full));
            drop(first);
            for one in queued {
                assert_eq!(one.await.expect("no panic"), Ok(()));
            }
            assert!(gate.enter(PIECE).await.is_ok());
        });
    }
}
