//! A negative cache: remembers for a short time which chunks no upstream has, and which lookups timed out.

use super::fetch_key::FetchKey;
use crate::limits::NEGATIVE_CACHE_ENTRIES;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Cached results without a chunk, with the time when each expires.
pub struct NegativeCache {
    lifetime: Duration,
    entries: Mutex<LruCache<FetchKey, (Absence, Instant)>>,
}

/// Why there is no chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// No upstream in scope has it.
    NotFound,
    /// A slow lookup timed out. Another one so soon would hardly find more.
    TimedOut,
}

impl NegativeCache {
    /// Each entry expires after `lifetime`.
    pub fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            entries: Mutex::new(LruCache::new(NEGATIVE_CACHE_ENTRIES)),
        }
    }

    /// The result of a recent request with this key, and how long it remains valid.
    pub fn get(&self, key: FetchKey) -> Option<(Absence, Duration)> {
        let mut entries = self.lock();
        let (absence, expiry) = *entries.peek(&key)?;
        let remaining = expiry.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            entries.pop(&key);
            return None;
        }
        Some((absence, remaining))
    }

    /// Caches a result.
    pub fn insert(&self, key: FetchKey, absence: Absence) {
        let expiry = Instant::now() + self.lifetime;
        self.lock().put(key, (absence, expiry));
    }

    /// Removes an entry, because the chunk exists now.
    pub fn remove(&self, key: FetchKey) {
        self.lock().pop(&key);
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<FetchKey, (Absence, Instant)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
