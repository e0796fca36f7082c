//! Looks pointers up at the upstreams.
//!
//! One request of a client can become a request to each upstream. So concurrent requests for a pointer share one lookup,
//! and its result is used for a short time.

use super::PullThroughConfig;
use super::fetch_key::{FetchKey, UpstreamScope};
use super::guarded_upstream::{GuardedUpstream, UpstreamError, UpstreamResponse};
use super::single_flight::SingleFlight;
use super::upstream_set::{UpstreamSet, combine_errors};
use crate::address::Address;
use crate::limits::{LOOKUP_RETRY_AFTER, REMEMBERED_POINTERS};
use crate::pointer;
use crate::source::{Lookup, SourceError};
use crate::via::Via;
use bytes::Bytes;
use futures_util::future::join_all;
use lru::LruCache;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::time::{timeout, timeout_at};

/// The lookups of pointers, with the records that they found. Clones share them.
#[derive(Clone)]
pub struct PointerLookups {
    upstreams: Arc<UpstreamSet>,
    lifetime: Duration,
    flights: SingleFlight<Option<Bytes>>,
    remembered: Arc<Mutex<Remembered>>,
}

/// The results of lookups. Requests for absent pointers do not take the place of records: those protect against older ones.
struct Remembered {
    records: LruCache<FetchKey, SeenRecord>,
    /// The pointers that no upstream had, and until when that is believed.
    absent: LruCache<FetchKey, Instant>,
}

/// The newest record that was ever seen.
struct SeenRecord {
    record: Bytes,
    fresh_until: Instant,
}

impl PointerLookups {
    /// No lookups yet.
    pub fn new(upstreams: Arc<UpstreamSet>, config: PullThroughConfig) -> Self {
        Self {
            upstreams,
            lifetime: config.pointer_lifetime,
            flights: SingleFlight::new(config.abandoned_lookups),
            remembered: Arc::new(Mutex::new(Remembered {
                records: LruCache::new(REMEMBERED_POINTERS),
                absent: LruCache::new(REMEMBERED_POINTERS),
            })),
        }
    }

    /// Aborts all lookups.
    pub fn abort_all(&self) {
        self.flights.abort_all();
    }

    /// The newest of the `stored` record and those of all upstreams in scope. If no upstream answers, the newest known
    /// record.
    pub async fn newest(
        &self,
        stored: Option<Bytes>,
        lookup: Lookup,
    ) -> Result<Option<Bytes>, SourceError> {
        if self.upstreams.is_loop(&lookup.via) {
            return Ok(stored);
        }
        let key = FetchKey {
            address: lookup.address,
            scope: UpstreamScope::of(&lookup.via),
        };
        let found = match self.recent_result(key) {
            Some(record) => Ok(record),
            None => self.look_up(key, lookup).await,
        };
        match found {
            Ok(record) => Ok(pointer::newest(stored, Vec::from_iter(record))),
            Err(error) => {
                let known = self
                    .lock()
                    .records
                    .peek(&key)
                    .map(|seen| seen.record.clone());
                let newest = pointer::newest(stored, Vec::from_iter(known));
                newest.map(Some).ok_or(error)
            }
        }
    }

    fn recent_result(&self, key: FetchKey) -> Option<Option<Bytes>> {
        let now = Instant::now();
        let mut remembered = self.lock();
        if let Some(seen) = remembered.records.get(&key) {
            return (now < seen.fresh_until).then(|| Some(seen.record.clone()));
        }
        let is_absent = remembered
            .absent
            .get(&key)
            .is_some_and(|until| now < *until);
        is_absent.then_some(None)
    }

    async fn look_up(&self, key: FetchKey, lookup: Lookup) -> Result<Option<Bytes>, SourceError> {
        let deadline = self.upstreams.client_deadline(key.scope);
        let flight = match self.flights.join(key) {
            Some(flight) => flight,
            None => {
                let account = lookup.account;
                let permit = self.upstreams.acquire_lookup(key.scope, &account, deadline);
                let permit = permit.await?;
                // Another lookup may have ended meanwhile.
                if let Some(record) = self.recent_result(key) {
                    return Ok(record);
                }
                let start = || {
                    let lookups = self.clone();
                    async move {
                        let outcome = lookups.fetch(key).await;
                        drop(permit);
                        outcome
                    }
                };
                self.flights.join_or_start(key, start)
            }
        };
        let waited = timeout_at(deadline, flight.outcome()).await;
        waited.unwrap_or(Err(SourceError::Later(LOOKUP_RETRY_AFTER)))
    }

    /// Asks all upstreams in scope.
    async fn fetch(&self, key: FetchKey) -> Result<Option<Bytes>, SourceError> {
        let address = key.address;
        let via = self.upstreams.via();
        let requests = self.upstreams.in_scope(key.scope);
        let requests = requests.map(|upstream| self.request(upstream, address, &via));
        let mut records = Vec::new();
        let mut reported_error = None;
        for response in join_all(requests).await {
            match response {
                Ok(record) => records.extend(record),
                Err(error) => reported_error = Some(combine_errors(reported_error, error)),
            }
        }
        let mut remembered = self.lock();
        let known = remembered.records.pop(&key).map(|seen| seen.record);
        let is_answered = !records.is_empty() || reported_error.is_none();
        let record = pointer::newest(known, records);
        let fresh_until = match is_answered {
            true => Instant::now() + self.lifetime,
            false => Instant::now(),
        };
        if let Some(record) = record.clone() {
            remembered.records.put(
                key,
                SeenRecord {
                    record,
                    fresh_until,
                },
            );
        } else if is_answered {
            remembered.absent.put(key, fresh_until);
        }
        match (record, reported_error) {
            (None, Some(error)) => Err(error),
            (record, _) => Ok(record),
        }
    }

    /// The valid record of one upstream.
    async fn request(
        &self,
        upstream: &GuardedUpstream,
        address: Address,
        via: &Via,
    ) -> Result<Option<Bytes>, SourceError> {
        let limit = self.upstreams.timeout_of(upstream);
        let request = async {
            let requesting = timeout(limit, upstream.inner.pointer(address, via));
            let record = requesting.await.map_err(|_| UpstreamError::Timeout)??;
            Ok(match record {
                None => UpstreamResponse::NotFound,
                Some(record) => match verify(record, address).await {
                    Some(record) => UpstreamResponse::Valid(record),
                    None => UpstreamResponse::Invalid,
                },
            })
        };
        match upstream.request(request).await {
            Ok(UpstreamResponse::Valid(record)) => Ok(Some(record)),
            Ok(UpstreamResponse::NotFound) => Ok(None),
            Ok(UpstreamResponse::Invalid) => {
                let upstream = upstream.inner.name();
                tracing::warn!(%address, upstream, "upstream sent an invalid pointer");
                Ok(None)
            }
            Err(UpstreamError::Source(error)) => Err(error),
            Err(UpstreamError::Timeout) if upstream.inner.has_slow_lookups() => {
                Err(SourceError::Later(LOOKUP_RETRY_AFTER))
            }
            Err(UpstreamError::Timeout) => Err(SourceError::Busy),
            Err(UpstreamError::CircuitOpen) => Err(SourceError::Unreachable(
                "its circuit breaker is open".to_owned(),
            )),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Remembered> {
        self.remembered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the record if its owner signed it for this address. Takes a fraction of a millisecond.
async fn verify(record: Bytes, address: Address) -> Option<Bytes> {
    let verifying = tokio::task::spawn_blocking(move || {
        let is_valid = pointer::is_valid(&record, address);
        is_valid.then_some(record)
    });
    verifying.await.expect("verifying does not panic")
}
