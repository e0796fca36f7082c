//! What no upstream has, for a moment.

use crate::address::Address;
use crate::limits::REMEMBERED_ABSENT;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Addresses, and when they are forgotten.
pub struct Absent {
    lifetime: Duration,
    until: Mutex<LruCache<Address, Instant>>,
}

impl Absent {
    /// Each is remembered for `lifetime`.
    pub fn new(lifetime: Duration) -> Self {
        Self {
            lifetime,
            until: Mutex::new(LruCache::new(REMEMBERED_ABSENT)),
        }
    }

    /// Whether nobody had it a moment ago.
    pub fn contains(&self, address: Address) -> bool {
        let mut until = self.lock();
        match until.peek(&address) {
            Some(end) if Instant::now() < *end => true,
            Some(_) => {
                until.pop(&address);
                false
            }
            None => false,
        }
    }

    /// Nobody has it.
    pub fn insert(&self, address: Address) {
        self.lock().put(address, Instant::now() + self.lifetime);
    }

    /// Someone has it after all.
    pub fn remove(&self, address: Address) {
        self.lock().pop(&address);
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<Address, Instant>> {
        self.until.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
