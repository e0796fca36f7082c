//! The eviction of chunks: the least recently used chunk goes first.

use crate::address::Address;
use lru::LruCache;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Which chunks may be evicted.
#[derive(Clone, Debug, Default)]
pub struct Eviction {
    /// Whether chunks from upstreams may be evicted.
    pub pulled: bool,
    /// Whether chunks that clients wrote may be evicted, after the chunks from upstreams.
    pub written: bool,
    /// Chunks that are never evicted.
    pub pinned: HashSet<Address>,
}

impl Eviction {
    /// Whether any chunk may be evicted. If not, the store does not track the last use of chunks.
    pub fn is_on(&self) -> bool {
        self.pulled || self.written
    }
}

/// Where a chunk came from. Each class has its own folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A client wrote the chunk.
    Written,
    /// The chunk came from an upstream, which still has it.
    Pulled,
}

/// A chunk that the store contained when it was opened.
pub struct Found {
    pub address: Address,
    pub origin: Origin,
    pub last_use: SystemTime,
}

/// The chunks that may be evicted, in the order of their last use. Each takes about 100 bytes of memory.
pub struct Evictable {
    eviction: Eviction,
    order: Mutex<Order>,
}

struct Order {
    pulled: LruCache<Address, ()>,
    written: LruCache<Address, ()>,
}

impl Evictable {
    /// Starts with the chunks that the store contains.
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

    /// Marks a chunk as just used: it was stored or read.
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

    /// Removes a chunk that is no longer stored.
    pub fn gone(&self, address: Address, origin: Origin) {
        self.lock().of(origin).pop(&address);
    }

    /// Removes and returns the least recently used chunk.
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
