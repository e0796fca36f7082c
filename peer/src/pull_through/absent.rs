//! What no upstream has, for a moment.

use super::Wanted;
use crate::limits::REMEMBERED_ABSENT;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What was asked for in vain, and when that is forgotten.
pub struct Absent {
    lifetime: Duration,
    until: Mutex<LruCache<Wanted, Instant>>,
}

impl Absent {
    /// Each is remembered for `lifetime`.
    pub fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            until: Mutex::new(LruCache::new(REMEMBERED_ABSENT)),
        }
    }

    /// Whether none of those who may be asked had it a moment ago.
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

    /// None of those who may be asked has it.
    pub fn insert(&self, wanted: Wanted) {
        self.lock().put(wanted, Instant::now() + self.lifetime);
    }

    /// Someone has it after all.
    pub fn remove(&self, wanted: Wanted) {
        self.lock().pop(&wanted);
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Wanted, Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
