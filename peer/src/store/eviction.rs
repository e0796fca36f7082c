//! Which chunks make room for others: those that were not used for the longest time.

use crate::address::Address;
use lru::LruCache;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// What may be dropped to make room.
#[derive(Clone, Debug, Default)]
pub struct Eviction {
    /// Chunks that came from an upstream.
    pub pulled: bool,
    /// Chunks that clients wrote, after those.
    pub written: bool,
    /// Never these.
    pub pinned: HashSet<Address>,
}

impl Eviction {
    /// Whether anything is ever dropped, so that it matters when a chunk was used.
    pub fn is_on(&self) -> bool {
        self.pulled || self.written
    }
}

/// Where a chunk came from, and hence in which folder it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A client wrote it.
    Written,
    /// It can be had again from an upstream.
    Pulled,
}

/// A chunk that was there when the store was opened.
pub struct Found {
    pub address: Address,
    pub origin: Origin,
    pub last_use: SystemTime,
}

/// The chunks that may be dropped, by their last use. About 100 bytes of memory for each.
pub struct Evictable {
    eviction: Eviction,
    order: Mutex<Order>,
}

struct Order {
    pulled: LruCache<Address, ()>,
    written: LruCache<Address, ()>,
}

impl Evictable {
    /// Begins with the chunks that are there.
    pub fn new(eviction: Eviction, mut found: Vec<Found>) -> Self {
        found.sort_by_key(|found| found.last_use);
        let evictable = Self {
            eviction,
            order: Mutex::new(Order {
                pulled: LruCache::unbounded(),
                written: LruCache::unbounded(),
            }),
        };
        for found in found {
            evictable.used(found.address, found.origin);
        }
        evictable
    }

    /// See [`Eviction::is_on`].
    pub fn is_on(&self) -> bool {
        self.eviction.is_on()
    }

    /// The chunk was stored, or read.
    pub fn used(&self, address: Address, origin: Origin) {
        let is_kept = match origin {
            Origin::Pulled => !self.eviction.pulled,
            Origin::Written => !self.eviction.written,
        };
        if is_kept || self.eviction.pinned.contains(&address) {
            return;
        }
        let mut order = self.lock();
        order.of(origin).put(address, ());
    }

    /// The chunk is not there any more.
    pub fn gone(&self, address: Address, origin: Origin) {
        self.lock().of(origin).pop(&address);
    }

    /// The next one to drop.
    pub fn next(&self) -> Option<(Address, Origin)> {
        let mut order = self.lock();
        if let Some((address, _)) = order.pulled.pop_lru() {
            return Some((address, Origin::Pulled));
        }
        let (address, _) = order.written.pop_lru()?;
        Some((address, Origin::Written))
    }

    fn lock(&self) -> MutexGuard<'_, Order> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Order {
    fn of(&mut self, origin: Origin) -> &mut LruCache<Address, ()> {
        match origin {
            Origin::Pulled => &mut self.pulled,
            Origin::Written => &mut self.written,
        }
    }
}
