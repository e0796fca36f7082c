//! Merges concurrent requests for the same chunk into one upstream request (single flight).
//!
//! A flight continues after its callers stopped waiting. A client that asks again then gets the chunk of a slow
//! upstream.

use super::fetch_key::FetchKey;
use crate::source::SourceError;
use bytes::Bytes;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

type Outcome = Result<Option<Bytes>, SourceError>;

/// Sends the result to all callers. The channel closes when the last caller stops waiting.
type OutcomeSender = watch::Sender<Option<Outcome>>;

/// The running flights. Clones share them.
#[derive(Clone)]
pub struct SingleFlight {
    running: Arc<Mutex<HashMap<FetchKey, Flight>>>,
    /// Limits the flights without callers. Their chunks do not have a permit from a client's request.
    orphan_permits: Arc<Semaphore>,
}

struct Flight {
    sender: OutcomeSender,
    task: AbortHandle,
}

impl SingleFlight {
    /// `max_orphans` is the maximum number of flights without callers. Further flights end with their last caller.
    pub fn new(max_orphans: usize) -> Self {
        Self {
            running: Arc::default(),
            orphan_permits: Arc::new(Semaphore::new(max_orphans)),
        }
    }

    /// Waits for the flight for this key. Starts it with `start` if there is none.
    pub async fn join<F>(&self, key: FetchKey, start: impl FnOnce() -> F) -> Outcome
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut outcome = self.subscribe(key, start);
        match outcome.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().expect("waited for"),
            // The flight panicked, or the peer is shutting down.
            Err(_) => Err(SourceError::Failed("the request was aborted".to_owned())),
        }
    }

    fn subscribe<F>(
        &self,
        key: FetchKey,
        start: impl FnOnce() -> F,
    ) -> watch::Receiver<Option<Outcome>>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut running = self.lock();
        if let Some(flight) = running.get(&key) {
            return flight.sender.subscribe();
        }
        let (sender, outcome) = watch::channel(None);
        let guard = FlightGuard {
            flights: self.clone(),
            key,
            sender: sender.clone(),
        };
        let task = tokio::spawn(run_flight(guard, start())).abort_handle();
        running.insert(key, Flight { sender, task });
        outcome
    }

    /// Aborts all flights.
    pub fn abort_all(&self) {
        let flights = std::mem::take(&mut *self.lock());
        for flight in flights.into_values() {
            flight.task.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<FetchKey, Flight>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn run_flight(guard: FlightGuard, flight: impl Future<Output = Outcome>) {
    let mut flight = pin!(flight);
    // The permit is held to the end, even if a caller joins again.
    let mut orphan_permit = None;
    let outcome = loop {
        tokio::select! {
            outcome = flight.as_mut() => break outcome,
            () = guard.sender.closed(), if orphan_permit.is_none() => {
                let mut running = guard.flights.lock();
                // A caller may have joined before the lock was taken.
                if guard.sender.receiver_count() > 0 {
                    continue;
                }
                match Arc::clone(&guard.flights.orphan_permits).try_acquire_owned() {
                    Ok(permit) => orphan_permit = Some(permit),
                    Err(_) => {
                        running.remove(&guard.key);
                        return;
                    }
                }
            }
        }
    };
    // Remove the flight first: later callers then read the store.
    let sender = guard.sender.clone();
    drop(guard);
    sender.send_replace(Some(outcome));
}

/// Removes a flight from the map when it ends, fails or panics.
struct FlightGuard {
    flights: SingleFlight,
    key: FetchKey,
    sender: OutcomeSender,
}

impl Drop for FlightGuard {
    fn drop(&mut self) {
        let mut running = self.flights.lock();
        // Another flight may have taken the slot already.
        let is_own = |flight: &Flight| flight.sender.same_channel(&self.sender);
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

    fn found() -> Outcome {
        Ok(Some(Bytes::from_static(b"found")))
    }

    /// Joins a flight, then stops waiting. The sender ends the flight. The receiver fails when the flight is aborted.
    async fn join_and_leave(
        flights: &SingleFlight,
    ) -> (oneshot::Sender<()>, oneshot::Receiver<()>) {
        let (finish, finished) = oneshot::channel();
        let (alive, aborted) = oneshot::channel();
        let joining = flights.join(key(), || async move {
            let _alive = alive;
            finished.await.expect("the test sends");
            found()
        });
        assert!(joining.now_or_never().is_none());
        (finish, aborted)
    }

    #[tokio::test]
    async fn a_flight_continues_without_callers_and_accepts_new_ones() {
        let flights = SingleFlight::new(1);
        let (finish, _) = join_and_leave(&flights).await;
        // Wait until the flight has noticed that it has no callers.
        while flights.orphan_permits.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let mut again = Box::pin(flights.join(key(), || async { panic!("a second flight") }));
        assert!((&mut again).now_or_never().is_none());
        finish.send(()).unwrap();
        let outcome = timeout(TEST_TIMEOUT, again).await.unwrap();
        assert_eq!(outcome.unwrap().unwrap(), "found");
        assert!(flights.lock().is_empty());
        while flights.orphan_permits.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn flights_over_the_limit_end_with_their_last_caller() {
        let flights = SingleFlight::new(0);
        let (_finish, aborted) = join_and_leave(&flights).await;
        assert!(timeout(TEST_TIMEOUT, aborted).await.unwrap().is_err());
        assert!(flights.lock().is_empty());
        let outcome = flights.join(key(), || async { found() }).await;
        assert_eq!(outcome.unwrap().unwrap(), "found", "a new flight starts");
    }

    #[tokio::test]
    async fn reports_a_panicked_or_aborted_flight_to_its_callers() {
        let flights = SingleFlight::new(1);
        let panicked = flights.join(key(), || async { panic!("a panic for the test") });
        assert!(timeout(TEST_TIMEOUT, panicked).await.unwrap().is_err());
        let mut endless = Box::pin(flights.join(key(), std::future::pending));
        assert!((&mut endless).now_or_never().is_none());
        flights.abort_all();
        assert!(timeout(TEST_TIMEOUT, endless).await.unwrap().is_err());
    }
}
