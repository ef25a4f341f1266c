//! One computation for all who ask for the same at the same time, ended when nobody waits any more.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{Notify, watch};

/// Set when nobody waits for a computation any more.
#[derive(Debug, Default)]
pub struct Cancel {
    flag: AtomicBool,
    bell: Notify,
}

impl Cancel {
    /// What threads look at.
    pub fn flag(&self) -> &AtomicBool {
        &self.flag
    }

    /// Ends when it is set.
    pub async fn set(&self) {
        let rung = self.bell.notified();
        if self.flag.load(Ordering::SeqCst) {
            return;
        }
        rung.await;
    }

    /// Something that sets it when it is dropped.
    pub fn on_drop(self: Arc<Self>) -> GiveUp {
        GiveUp(self)
    }

    fn give_up(&self) {
        self.flag.store(true, Ordering::SeqCst);
        self.bell.notify_waiters();
    }
}

/// Sets a [`Cancel`] when it is dropped.
#[derive(Debug)]
pub struct GiveUp(Arc<Cancel>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.give_up();
    }
}

/// What is being computed, by key.
#[derive(Debug)]
pub struct Flights<V> {
    open: Mutex<HashMap<String, Flight<V>>>,
}

#[derive(Debug)]
struct Flight<V> {
    waiting: usize,
    cancel: Arc<Cancel>,
    done: Arc<watch::Sender<Option<V>>>,
}

/// A place among those who wait. Dropping the last one gives the computation up.
#[derive(Debug)]
pub struct Seat<V> {
    flights: Arc<Flights<V>>,
    key: String,
    cancel: Arc<Cancel>,
    outcome: watch::Receiver<Option<V>>,
}

/// The duty to compute.
#[derive(Debug)]
pub struct Duty<V> {
    flights: Arc<Flights<V>>,
    key: String,
    /// When to stop.
    pub cancel: Arc<Cancel>,
    done: Arc<watch::Sender<Option<V>>>,
}

impl<V> Flights<V> {
    /// None yet.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            open: Mutex::new(HashMap::new()),
        })
    }

    /// Waits with the others for what `key` stands for; whoever is first also gets the duty to compute it.
    pub fn join(self: &Arc<Self>, key: &str) -> (Seat<V>, Option<Duty<V>>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let is_first = !open.contains_key(key);
        let flight = open.entry(key.to_owned()).or_insert_with(|| Flight {
            waiting: 0,
            cancel: Arc::default(),
            done: Arc::new(watch::channel(None).0),
        });
        flight.waiting += 1;
        let seat = Seat {
            flights: self.clone(),
            key: key.to_owned(),
            cancel: flight.cancel.clone(),
            outcome: flight.done.subscribe(),
        };
        let duty = is_first.then(|| Duty {
            flights: self.clone(),
            key: key.to_owned(),
            cancel: flight.cancel.clone(),
            done: flight.done.clone(),
        });
        (seat, duty)
    }

    /// Takes a flight off, if it is still this one: another of the same key may have begun.
    fn remove(&self, key: &str, cancel: &Arc<Cancel>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open
            .get(key)
            .is_some_and(|flight| Arc::ptr_eq(&flight.cancel, cancel))
        {
            open.remove(key);
        }
    }

    fn leave(&self, key: &str, cancel: &Arc<Cancel>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(flight) = open.get_mut(key) else {
            return;
        };
        if !Arc::ptr_eq(&flight.cancel, cancel) {
            return;
        }
        flight.waiting -= 1;
        if flight.waiting == 0 {
            cancel.give_up();
            // Whoever comes now begins anew, for this one may stop at any moment.
            open.remove(key);
        }
    }
}

impl<V: Clone> Seat<V> {
    /// Waits for the outcome; `None` if whoever had the duty is gone without one.
    pub async fn outcome(mut self) -> Option<V> {
        let value = self.outcome.wait_for(Option::is_some).await.ok()?;
        value.clone()
    }
}

impl<V> Drop for Seat<V> {
    fn drop(&mut self) {
        self.flights.leave(&self.key, &self.cancel);
    }
}

impl<V> Duty<V> {
    /// Hands the outcome to all who wait.
    pub fn done(self, value: V) {
        self.done.send_replace(Some(value));
    }
}

impl<V> Drop for Duty<V> {
    fn drop(&mut self) {
        self.flights.remove(&self.key, &self.cancel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(future)
    }

    #[test]
    fn all_who_wait_get_the_one_outcome() {
        block(async {
            let flights = Flights::new();
            let (one, duty) = flights.join("a");
            let (two, none) = flights.join("a");
            let (_other, also) = flights.join("b");
            assert!(none.is_none() && also.is_some());
            duty.expect("the first has the duty").done(7);
            assert_eq!(
                (one.outcome().await, two.outcome().await),
                (Some(7), Some(7))
            );
            assert!(
                flights.join("a").1.is_some(),
                "what is done is no flight any more"
            );
        });
    }

    #[test]
    fn the_last_to_leave_ends_the_work_and_the_next_begins_anew() {
        block(async {
            let flights = Flights::<u8>::new();
            let (one, duty) = flights.join("a");
            let (two, _) = flights.join("a");
            let duty = duty.expect("the first has the duty");
            drop(one);
            assert!(!duty.cancel.flag().load(Ordering::SeqCst));
            drop(two);
            assert!(duty.cancel.flag().load(Ordering::SeqCst));
            duty.cancel.set().await;
            let (three, anew) = flights.join("a");
            drop(duty);
            let (_four, none) = flights.join("a");
            assert!(none.is_none(), "the old one's end does not end the new one");
            anew.expect("a new duty").done(1);
            assert_eq!(three.outcome().await, Some(1));
        });
    }

    #[test]
    fn nobody_waits_for_ever_when_the_work_is_gone() {
        block(async {
            let flights = Flights::<u8>::new();
            let (seat, duty) = flights.join("a");
            drop(duty);
            assert_eq!(seat.outcome().await, None);
        });
    }
}
