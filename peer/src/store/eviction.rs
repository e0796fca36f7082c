//! The eviction of chunks: the least recently used chunk goes first.

use crate::address::Address;
use lru::LruCache;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// Which chunks may be evicted.
#[derive(Clone, Debug, Default)]
pub struct EvictionPolicy {
    /// Whether chunks from upstreams may be evicted.
    pub pulled: bool,
    /// Whether chunks that clients wrote may be evicted, after the chunks from upstreams.
    pub written: bool,
    /// Chunks that are never evicted.
    pub pinned: HashSet<Address>,
}

impl EvictionPolicy {
    /// Whether any chunk may be evicted. If not, the store does not track the last use of chunks.
    pub fn is_enabled(&self) -> bool {
        self.pulled || self.written
    }
}

/// Where a chunk came from. Each class has its own folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChunkClass {
    /// A client wrote the chunk.
    Written,
    /// The chunk came from an upstream, which still has it.
    Pulled,
}

/// A chunk that the store contained when it was opened.
pub struct ScannedChunk {
    pub address: Address,
    pub class: ChunkClass,
    pub last_use: SystemTime,
}

/// The chunks that may be evicted, in the order of their last use. Each takes about 100 bytes of memory.
pub struct EvictionQueue {
    eviction: EvictionPolicy,
    lists: Mutex<LruLists>,
}

struct LruLists {
    pulled: LruCache<Address, ()>,
    written: LruCache<Address, ()>,
}

impl EvictionQueue {
    /// Starts with the chunks that the store contains.
    pub fn new(eviction: EvictionPolicy, mut found: Vec<ScannedChunk>) -> Self {
        found.sort_by_key(|found| found.last_use);
        let eviction_queue = Self {
            eviction,
            lists: Mutex::new(LruLists {
                pulled: LruCache::unbounded(),
                written: LruCache::unbounded(),
            }),
        };
        for found in found {
            eviction_queue.touch(found.address, found.class);
        }
        eviction_queue
    }

    /// See [`EvictionPolicy::is_enabled`].
    pub fn is_enabled(&self) -> bool {
        self.eviction.is_enabled()
    }

    /// Marks a chunk as just used: it was stored or read.
    pub fn touch(&self, address: Address, class: ChunkClass) {
        let is_protected = match class {
            ChunkClass::Pulled => !self.eviction.pulled,
            ChunkClass::Written => !self.eviction.written,
        };
        if is_protected || self.eviction.pinned.contains(&address) {
            return;
        }
        let mut lists = self.lock();
        lists.of(class).put(address, ());
    }

    /// Removes a chunk that is no longer stored.
    pub fn remove(&self, address: Address, class: ChunkClass) {
        self.lock().of(class).pop(&address);
    }

    /// Removes and returns the least recently used chunk.
    pub fn pop_oldest(&self) -> Option<(Address, ChunkClass)> {
        let mut lists = self.lock();
        if let Some((address, _)) = lists.pulled.pop_lru() {
            return Some((address, ChunkClass::Pulled));
        }
        let (address, _) = lists.written.pop_lru()?;
        Some((address, ChunkClass::Written))
    }

    fn lock(&self) -> MutexGuard<'_, LruLists> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LruLists {
    fn of(&mut self, class: ChunkClass) -> &mut LruCache<Address, ()> {
        match class {
            ChunkClass::Pulled => &mut self.pulled,
            ChunkClass::Written => &mut self.written,
        }
    }
}
