//! One request to the upstreams per chunk at a time, however many clients wait for it.

use crate::address::Address;
use crate::source::SourceError;
use crate::via::Via;
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared, WeakShared};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

type Outcome = Result<Option<Bytes>, SourceError>;
type Flight = BoxFuture<'static, Outcome>;

/// Requests that came by the same way share a flight. Two peers that are each other's upstreams would wait for
/// each other if one's request joined a flight of the other that waits for it.
type Key = (Address, Via);

/// The requests under way. Each ends when nobody waits for it any more.
#[derive(Clone, Default)]
pub struct Flights(Arc<Mutex<UnderWay>>);

#[derive(Default)]
struct UnderWay {
    flights: HashMap<Key, (u64, WeakShared<Flight>)>,
    /// The number of the next flight.
    next: u64,
}

impl Flights {
    /// Joins the flight for this chunk, or starts it.
    pub fn join(
        &self,
        address: Address,
        via: &Via,
        start: impl FnOnce() -> Flight,
    ) -> Shared<Flight> {
        let key = (address, via.clone());
        let mut under_way = self.lock();
        if let Some(flight) = under_way
            .flights
            .get(&key)
            .and_then(|(_, weak)| weak.upgrade())
        {
            return flight;
        }
        let number = under_way.next;
        under_way.next += 1;
        let landing = Landing {
            flights: self.clone(),
            key: key.clone(),
            number,
        };
        let flight = start();
        let flight: Flight = Box::pin(async move {
            let _landing = landing;
            flight.await
        });
        let flight = flight.shared();
        let weak = flight.downgrade().expect("a flight that has not begun");
        under_way.flights.insert(key, (number, weak));
        flight
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a flight out when it has ended, or when the last one who waited has gone.
struct Landing {
    flights: Flights,
    key: Key,
    number: u64,
}

impl Drop for Landing {
    fn drop(&mut self) {
        let mut under_way = self.flights.lock();
        // Another one may have been started in its place, after all who waited for this one had gone.
        if let Some((number, _)) = under_way.flights.get(&self.key)
            && *number == self.number
        {
            under_way.flights.remove(&self.key);
        }
    }
}
