//! A negative cache: remembers for a short time which chunks no upstream has.

use super::Wanted;
use crate::limits::REMEMBERED_ABSENT;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Cached "not found" results, with the time when each expires.
pub struct Absent {
    lifetime: Duration,
    until: Mutex<LruCache<Wanted, Instant>>,
}

impl Absent {
    /// Each entry expires after `lifetime`.
    pub fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            until: Mutex::new(LruCache::new(REMEMBERED_ABSENT)),
        }
    }

    /// Whether a recent request with this key found nothing.
    pub fn contains(&self, wanted: Wanted) -> bool {
        let mut until = self.lock();
        match until.peek(&wanted) {
            Some(end) if Instant::now() < *end => true,
            Some(_) => {
                until.pop(&wanted);
                false
            }
            None => false,
        }
    }

    /// Caches that no upstream in scope has the chunk.
    pub fn insert(&self, wanted: Wanted) {
        self.lock().put(wanted, Instant::now() + self.lifetime);
    }

    /// Removes an entry, because the chunk exists now.
    pub fn remove(&self, wanted: Wanted) {
        self.lock().pop(&wanted);
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Wanted, Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
