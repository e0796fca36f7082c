//! The eviction of chunks: the least recently used chunk goes first, unless it is more popular than the new chunk.

use super::popularity::Popularity;
use crate::address::Address;
use lru::LruCache;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// How many popular chunks a new chunk is compared with before the store refuses it.
const MAX_COMPARISONS: usize = 8;

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

/// The reason for an eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A chunk that must be stored if possible.
    Required,
    /// A chunk from an upstream. It may be refused, because the upstream still has it.
    Optional(Address),
}

/// The next chunk to evict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// This chunk, which is no longer in the queue.
    Chunk(Address, ChunkClass),
    /// No chunk may be evicted.
    None,
    /// The least recently used chunks are more popular than the new chunk.
    MorePopular,
}

/// The chunks that may be evicted, in the order of their last use. Each takes about 100 bytes of memory.
pub struct EvictionQueue {
    policy: EvictionPolicy,
    state: Mutex<State>,
}

struct State {
    pulled: LruCache<Address, ()>,
    written: LruCache<Address, ()>,
    popularity: Popularity,
}

impl EvictionQueue {
    /// Starts with the chunks that the store contains.
    pub fn new(policy: EvictionPolicy, mut found: Vec<ScannedChunk>) -> Self {
        found.sort_by_key(|found| found.last_use);
        let queue = Self {
            policy,
            state: Mutex::new(State {
                pulled: LruCache::unbounded(),
                written: LruCache::unbounded(),
                popularity: Popularity::new(),
            }),
        };
        for found in found {
            queue.touch(found.address, found.class);
        }
        queue
    }

    /// See [`EvictionPolicy::is_enabled`].
    pub fn is_enabled(&self) -> bool {
        self.policy.is_enabled()
    }

    /// Counts a request for a chunk, stored or not.
    pub fn record_request(&self, address: Address) {
        if self.is_enabled() {
            let mut state = self.lock();
            let chunks = state.pulled.len() + state.written.len();
            state.popularity.record_request(address, chunks);
        }
    }

    /// Marks a chunk as just used: it was stored or read.
    pub fn touch(&self, address: Address, class: ChunkClass) {
        let is_protected = match class {
            ChunkClass::Pulled => !self.policy.pulled,
            ChunkClass::Written => !self.policy.written,
        };
        if is_protected || self.policy.pinned.contains(&address) {
            return;
        }
        self.lock().of(class).put(address, ());
    }

    /// Removes a chunk that is no longer stored.
    pub fn remove(&self, address: Address, class: ChunkClass) {
        self.lock().of(class).pop(&address);
    }

    /// Removes and returns the chunk to evict for `incoming`.
    pub fn pop_victim(&self, incoming: Incoming) -> Victim {
        let mut state = self.lock();
        for _ in 0..MAX_COMPARISONS {
            let (victim, class) = match (state.pulled.peek_lru(), state.written.peek_lru()) {
                (Some((&address, _)), _) => (address, ChunkClass::Pulled),
                (None, Some((&address, _))) => (address, ChunkClass::Written),
                (None, None) => return Victim::None,
            };
            if state.is_preferred(incoming, victim) {
                state.of(class).pop(&victim);
                return Victim::Chunk(victim, class);
            }
            // Less popular chunks get to the end of the queue.
            state.of(class).promote(&victim);
        }
        Victim::MorePopular
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of(&mut self, class: ChunkClass) -> &mut LruCache<Address, ()> {
        match class {
            ChunkClass::Pulled => &mut self.pulled,
            ChunkClass::Written => &mut self.written,
        }
    }

    /// Whether `incoming` may replace `stored`. Of two equally popular chunks, the new one is preferred.
    fn is_preferred(&self, incoming: Incoming, stored: Address) -> bool {
        match incoming {
            Incoming::Required => true,
            // The new chunk was requested at least once, whether or not the store saw it.
            Incoming::Optional(new) => self.popularity.of(new).max(1) >= self.popularity.of(stored),
        }
    }
}
