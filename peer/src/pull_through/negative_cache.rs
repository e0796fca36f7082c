//! A negative cache: remembers for a short time which chunks no upstream has.

use super::fetch_key::FetchKey;
use crate::limits::NEGATIVE_CACHE_ENTRIES;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Cached "not found" results, with the time when each expires.
pub struct NegativeCache {
    lifetime: Duration,
    expiries: Mutex<LruCache<FetchKey, Instant>>,
}

impl NegativeCache {
    /// Each entry expires after `lifetime`.
    pub fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            expiries: Mutex::new(LruCache::new(NEGATIVE_CACHE_ENTRIES)),
        }
    }

    /// Whether a recent request with this key found nothing.
    pub fn contains(&self, key: FetchKey) -> bool {
        let mut expiries = self.lock();
        match expiries.peek(&key) {
            Some(expiry) if Instant::now() < *expiry => true,
            Some(_) => {
                expiries.pop(&key);
                false
            }
            None => false,
        }
    }

    /// Caches that no upstream in scope has the chunk.
    pub fn insert(&self, key: FetchKey) {
        self.lock().put(key, Instant::now() + self.lifetime);
    }

    /// Removes an entry, because the chunk exists now.
    pub fn remove(&self, key: FetchKey) {
        self.lock().pop(&key);
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<FetchKey, Instant>> {
        self.expiries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
