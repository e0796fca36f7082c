//! The eviction of chunks: the least recently used chunk goes first, unless it is more popular than the new chunk.

use super::popularity::Popularity;
use crate::address::Address;
use lru::LruCache;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// How many popular chunks a new chunk is compared with before the store refuses it. They then count as just used.
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
    pub length: u32,
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

/// A chunk that is to be evicted: its address, its class, and its length in bytes.
pub type Victim = (Address, ChunkClass, u32);

/// The chunks to evict for a new chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Victims {
    /// These chunks, which are no longer in the queue.
    Chunks(Vec<Victim>),
    /// The chunks that may be evicted are too small together.
    TooFew,
    /// The least recently used chunks are more popular than the new chunk.
    MorePopular,
}

/// The chunks that may be evicted, in the order of their last use. Each takes about 100 bytes of memory.
pub struct EvictionQueue {
    policy: EvictionPolicy,
    state: Mutex<State>,
}

struct State {
    /// The lengths of the chunks in bytes.
    pulled: LruCache<Address, u32>,
    written: LruCache<Address, u32>,
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
            queue.add(found.address, found.class, found.length);
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

    /// Adds a chunk of `length` bytes that was stored just now.
    pub fn add(&self, address: Address, class: ChunkClass, length: u32) {
        let is_protected = match class {
            ChunkClass::Pulled => !self.policy.pulled,
            ChunkClass::Written => !self.policy.written,
        };
        if is_protected || self.policy.pinned.contains(&address) {
            return;
        }
        self.lock().of(class).put(address, length);
    }

    /// Marks a chunk as just used. Does nothing if the chunk may not be evicted, or is no longer stored.
    pub fn record_use(&self, address: Address, class: ChunkClass) {
        self.lock().of(class).promote(&address);
    }

    /// Removes a chunk that is no longer stored.
    pub fn remove(&self, address: Address, class: ChunkClass) {
        self.lock().of(class).pop(&address);
    }

    /// Removes and returns chunks of at least `length` bytes, to evict them for `incoming`. If they may not all be
    /// evicted, the queue keeps them all.
    pub fn pop_victims(&self, incoming: Incoming, length: u64) -> Victims {
        let mut state = self.lock();
        let state = &mut *state;
        let pulled = state.pulled.iter().rev();
        let written = state.written.iter().rev();
        let candidates = pulled
            .map(|(&address, &length)| (address, ChunkClass::Pulled, length))
            .chain(written.map(|(&address, &length)| (address, ChunkClass::Written, length)));
        let (mut victims, mut more_popular, mut missing) = (Vec::new(), Vec::new(), length);
        for (address, class, length) in candidates {
            if missing == 0 || more_popular.len() == MAX_COMPARISONS {
                break;
            }
            if state.is_preferred(incoming, address) {
                victims.push((address, class, length));
                missing = missing.saturating_sub(length.into());
            } else {
                more_popular.push((address, class));
            }
        }
        let has_popular = !more_popular.is_empty();
        for (address, class) in more_popular {
            // Less popular chunks get to the end of the queue.
            state.of(class).promote(&address);
        }
        if missing > 0 {
            return match has_popular {
                true => Victims::MorePopular,
                false => Victims::TooFew,
            };
        }
        for &(address, class, _) in &victims {
            state.of(class).pop(&address);
        }
        Victims::Chunks(victims)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn of(&mut self, class: ChunkClass) -> &mut LruCache<Address, u32> {
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
