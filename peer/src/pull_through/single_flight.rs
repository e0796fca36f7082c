//! Merges concurrent lookups of the same record into one (single flight).
//!
//! A flight continues after its callers stopped waiting. A client that asks again then gets the record of a slow
//! upstream.

use super::fetch_key::FetchKey;
use crate::source::SourceError;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

type Outcome<T> = Result<T, SourceError>;

/// Sends the result to all callers. The channel closes when the last caller stops waiting.
type OutcomeSender<T> = watch::Sender<Option<Outcome<T>>>;

/// The running flights. Clones share them. A result stays in memory until the slowest caller takes it, so results are
/// small.
#[derive(Clone)]
pub struct SingleFlight<T> {
    running: Arc<Mutex<HashMap<FetchKey, Flight<T>>>>,
    /// Limits the flights without callers.
    abandoned_permits: Arc<Semaphore>,
}

struct Flight<T> {
    sender: OutcomeSender<T>,
    task: AbortHandle,
}

/// A caller's place on a flight. The caller leaves the flight when it is dropped.
pub struct Passenger<T>(watch::Receiver<Option<Outcome<T>>>);

impl<T: Clone> Passenger<T> {
    /// Waits for the result.
    pub async fn outcome(mut self) -> Outcome<T> {
        match self.0.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().expect("waited for"),
            // The flight panicked, or the peer is shutting down.
            Err(_) => Err(SourceError::Failed("the request was aborted".to_owned())),
        }
    }
}

impl<T: Clone + Send + Sync + 'static> SingleFlight<T> {
    /// `max_abandoned` is the maximum number of flights without callers. Further flights end with their last caller.
    pub fn new(max_abandoned: usize) -> Self {
        Self {
            running: Arc::default(),
            abandoned_permits: Arc::new(Semaphore::new(max_abandoned)),
        }
    }

    /// Joins the flight for this key, if there is one.
    pub fn join(&self, key: FetchKey) -> Option<Passenger<T>> {
        let running = self.lock();
        let flight = running.get(&key)?;
        Some(Passenger(flight.sender.subscribe()))
    }

    /// Joins the flight for this key. Starts it with `start` if there is none.
    pub fn join_or_start<F>(&self, key: FetchKey, start: impl FnOnce() -> F) -> Passenger<T>
    where
        F: Future<Output = Outcome<T>> + Send + 'static,
    {
        let mut running = self.lock();
        if let Some(flight) = running.get(&key) {
            return Passenger(flight.sender.subscribe());
        }
        let (sender, outcome) = watch::channel(None);
        let guard = FlightGuard {
            flights: self.clone(),
            key,
            sender: sender.clone(),
        };
        let task = tokio::spawn(run_flight(guard, start())).abort_handle();
        running.insert(key, Flight { sender, task });
        Passenger(outcome)
    }

    /// Aborts all flights.
    pub fn abort_all(&self) {
        let flights = std::mem::take(&mut *self.lock());
        for flight in flights.into_values() {
            flight.task.abort();
        }
    }
}

impl<T> SingleFlight<T> {
    fn lock(&self) -> MutexGuard<'_, HashMap<FetchKey, Flight<T>>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn run_flight<T>(guard: FlightGuard<T>, flight: impl Future<Output = Outcome<T>>) {
    let mut flight = pin!(flight);
    // The permit is held to the end, even if a caller joins again.
    let mut abandoned_permit = None;
    let outcome = loop {
        tokio::select! {
            outcome = flight.as_mut() => break outcome,
            () = guard.sender.closed(), if abandoned_permit.is_none() => {
                let mut running = guard.flights.lock();
                // A caller may have joined before the lock was taken.
                if guard.sender.receiver_count() > 0 {
                    continue;
                }
                match Arc::clone(&guard.flights.abandoned_permits).try_acquire_owned() {
                    Ok(permit) => abandoned_permit = Some(permit),
                    Err(_) => {
                        running.remove(&guard.key);
                        return;
                    }
                }
            }
        }
    };
    // Remove the flight first: later callers then use the result.
    let sender = guard.sender.clone();
    drop(guard);
    sender.send_replace(Some(outcome));
}

/// Removes a flight from the map when it ends, fails or panics.
struct FlightGuard<T> {
    flights: SingleFlight<T>,
    key: FetchKey,
    sender: OutcomeSender<T>,
}

impl<T> Drop for FlightGuard<T> {
    fn drop(&mut self) {
        let mut running = self.flights.lock();
        // Another flight may have taken the slot already.
        let is_own = |flight: &Flight<T>| flight.sender.same_channel(&self.sender);
        if running.get(&self.key).is_some_and(is_own) {
            running.remove(&self.key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::pull_through::fetch_key::UpstreamScope;
    use futures_util::FutureExt;
    use std::time::Duration;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    const TEST_TIMEOUT: Duration = Duration::from_secs(20);

    fn key() -> FetchKey {
        FetchKey {
            address: Address::of(b"key"),
            scope: UpstreamScope::All,
        }
    }

    /// Joins a flight, then stops waiting. The sender ends the flight. The receiver fails when the flight is aborted.
    fn join_and_leave(
        flights: &SingleFlight<&'static str>,
    ) -> (oneshot::Sender<()>, oneshot::Receiver<()>) {
        let (finish, finished) = oneshot::channel();
        let (alive, aborted) = oneshot::channel();
        drop(flights.join_or_start(key(), || async move {
            let _alive = alive;
            finished.await.expect("the test sends");
            Ok("found")
        }));
        (finish, aborted)
    }

    #[tokio::test]
    async fn a_flight_continues_without_callers_and_accepts_new_ones() {
        let flights = SingleFlight::new(1);
        let (finish, _) = join_and_leave(&flights);
        // Wait until the flight has noticed that it has no callers.
        while flights.abandoned_permits.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let again = flights.join_or_start(key(), || async { panic!("a second flight") });
        let mut outcome = Box::pin(again.outcome());
        assert!((&mut outcome).now_or_never().is_none());
        finish.send(()).unwrap();
        let outcome = timeout(TEST_TIMEOUT, outcome).await.unwrap();
        assert_eq!(outcome.unwrap(), "found");
        assert!(flights.join(key()).is_none());
        while flights.abandoned_permits.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn flights_over_the_limit_end_with_their_last_caller() {
        let flights = SingleFlight::new(0);
        let (_finish, aborted) = join_and_leave(&flights);
        assert!(timeout(TEST_TIMEOUT, aborted).await.unwrap().is_err());
        assert!(flights.join(key()).is_none());
        let next = flights.join_or_start(key(), || async { Ok("a new flight") });
        assert_eq!(next.outcome().await.unwrap(), "a new flight");
    }

    #[tokio::test]
    async fn reports_a_panicked_or_aborted_flight_to_its_callers() {
        let flights = SingleFlight::<()>::new(1);
        let panicked = flights.join_or_start(key(), || async { panic!("a panic for the test") });
        let outcome = timeout(TEST_TIMEOUT, panicked.outcome()).await.unwrap();
        assert!(outcome.is_err());
        let endless = flights.join_or_start(key(), std::future::pending);
        flights.abort_all();
        let outcome = timeout(TEST_TIMEOUT, endless.outcome()).await.unwrap();
        assert!(outcome.is_err());
    }
}
