//! Merges concurrent requests for the same chunk into one upstream request (single flight).
//!
//! A flight continues after its callers stopped waiting. A client that asks again then gets the chunk of a slow
//! upstream.

use super::Wanted;
use crate::source::SourceError;
use bytes::Bytes;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Semaphore, watch};
use tokio::task::AbortHandle;

type Outcome = Result<Option<Bytes>, SourceError>;

/// Sends the result to all callers. The channel closes when the last caller stops waiting.
type Board = watch::Sender<Option<Outcome>>;

/// The running flights. Clones share them.
#[derive(Clone)]
pub struct Flights {
    under_way: Arc<Mutex<HashMap<Wanted, Flight>>>,
    /// Limits the flights without callers. Their chunks do not have a permit from a client's request.
    unattended: Arc<Semaphore>,
}

struct Flight {
    board: Board,
    task: AbortHandle,
}

impl Flights {
    /// `unattended` is the maximum number of flights without callers. Further flights end with their last caller.
    pub fn new(unattended: usize) -> Self {
        Self {
            under_way: Arc::default(),
            unattended: Arc::new(Semaphore::new(unattended)),
        }
    }

    /// Waits for the flight for this key. Starts it with `start` if there is none.
    pub async fn join<F>(&self, wanted: Wanted, start: impl FnOnce() -> F) -> Outcome
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut board = self.board(wanted, start);
        match board.wait_for(Option::is_some).await {
            Ok(outcome) => outcome.clone().expect("waited for"),
            // The flight panicked, or the peer is shutting down.
            Err(_) => Err(SourceError::Failed("the request was aborted".to_owned())),
        }
    }

    fn board<F>(
        &self,
        wanted: Wanted,
        start: impl FnOnce() -> F,
    ) -> watch::Receiver<Option<Outcome>>
    where
        F: Future<Output = Outcome> + Send + 'static,
    {
        let mut under_way = self.lock();
        if let Some(flight) = under_way.get(&wanted) {
            return flight.board.subscribe();
        }
        let (board, outcome) = watch::channel(None);
        let landing = Landing {
            flights: self.clone(),
            wanted,
            board: board.clone(),
        };
        let task = tokio::spawn(fly(landing, start())).abort_handle();
        under_way.insert(wanted, Flight { board, task });
        outcome
    }

    /// Aborts all flights.
    pub fn end(&self) {
        let flights = std::mem::take(&mut *self.lock());
        for flight in flights.into_values() {
            flight.task.abort();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Wanted, Flight>> {
        self.under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

async fn fly(landing: Landing, flight: impl Future<Output = Outcome>) {
    let mut flight = pin!(flight);
    // The permit is held to the end, even if a caller joins again.
    let mut unattended = None;
    let outcome = loop {
        tokio::select! {
            outcome = flight.as_mut() => break outcome,
            () = landing.board.closed(), if unattended.is_none() => {
                let mut under_way = landing.flights.lock();
                // A caller may have joined before the lock was taken.
                if landing.board.receiver_count() > 0 {
                    continue;
                }
                match Arc::clone(&landing.flights.unattended).try_acquire_owned() {
                    Ok(place) => unattended = Some(place),
                    Err(_) => {
                        under_way.remove(&landing.wanted);
                        return;
                    }
                }
            }
        }
    };
    // Remove the flight first: later callers then read the store.
    let board = landing.board.clone();
    drop(landing);
    board.send_replace(Some(outcome));
}

/// Removes a flight from the map when it ends, fails or panics.
struct Landing {
    flights: Flights,
    wanted: Wanted,
    board: Board,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut under_way = self.flights.lock();
        // Another flight may have taken the slot already.
        let is_own = |flight: &Flight| flight.board.same_channel(&self.board);
        if under_way.get(&self.wanted).is_some_and(is_own) {
            under_way.remove(&self.wanted);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::pull_through::Reach;
    use futures_util::FutureExt;
    use std::time::Duration;
    use tokio::sync::oneshot;
    use tokio::time::timeout;

    const SOON: Duration = Duration::from_secs(20);

    fn wanted() -> Wanted {
        Wanted {
            address: Address::of(b"wanted"),
            reach: Reach::All,
        }
    }

    fn found() -> Outcome {
        Ok(Some(Bytes::from_static(b"found")))
    }

    /// Joins a flight, then stops waiting. The sender ends the flight. The receiver fails when the flight is aborted.
    async fn leave(flights: &Flights) -> (oneshot::Sender<()>, oneshot::Receiver<()>) {
        let (end, ends) = oneshot::channel();
        let (alive, broken_off) = oneshot::channel();
        let joining = flights.join(wanted(), || async move {
            let _alive = alive;
            ends.await.expect("it is told");
            found()
        });
        assert!(joining.now_or_never().is_none());
        (end, broken_off)
    }

    #[tokio::test]
    async fn a_flight_continues_without_callers_and_accepts_new_ones() {
        let flights = Flights::new(1);
        let (end, _) = leave(&flights).await;
        // Wait until the flight has noticed that it has no callers.
        while flights.unattended.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let mut again = Box::pin(flights.join(wanted(), || async { panic!("a second flight") }));
        assert!((&mut again).now_or_never().is_none());
        end.send(()).unwrap();
        let outcome = timeout(SOON, again).await.unwrap();
        assert_eq!(outcome.unwrap().unwrap(), "found");
        assert!(flights.lock().is_empty());
        while flights.unattended.available_permits() == 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn flights_over_the_limit_end_with_their_last_caller() {
        let flights = Flights::new(0);
        let (_end, broken_off) = leave(&flights).await;
        assert!(timeout(SOON, broken_off).await.unwrap().is_err());
        assert!(flights.lock().is_empty());
        let outcome = flights.join(wanted(), || async { found() }).await;
        assert_eq!(outcome.unwrap().unwrap(), "found", "a new flight starts");
    }

    #[tokio::test]
    async fn reports_a_panicked_or_aborted_flight_to_its_callers() {
        let flights = Flights::new(1);
        let panicked = flights.join(wanted(), || async { panic!("a panic for the test") });
        assert!(timeout(SOON, panicked).await.unwrap().is_err());
        let mut endless = Box::pin(flights.join(wanted(), std::future::pending));
        assert!((&mut endless).now_or_never().is_none());
        flights.end();
        assert!(timeout(SOON, endless).await.unwrap().is_err());
    }
}
