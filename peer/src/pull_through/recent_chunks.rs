//! The chunks that arrived from upstreams last.
//!
//! A client's request takes no memory while it waits for a lookup. The chunk stays here until the client has memory for
//! it, or the disk has time for it.

use crate::address::Address;
use crate::source::Chunk;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Recent chunks, up to a total size. The least recently used ones are dropped.
pub struct RecentChunks {
    max_bytes: usize,
    state: Mutex<State>,
}

struct State {
    chunks: LruCache<Address, Entry>,
    bytes: usize,
}

struct Entry {
    chunk: Chunk,
    /// Whether the store did not take the chunk.
    is_rejected: bool,
}

impl RecentChunks {
    /// Stores at most `max_bytes`.
    pub fn new(max_bytes: usize) -> Self {
        Self {
            max_bytes,
            state: Mutex::new(State {
                chunks: LruCache::unbounded(),
                bytes: 0,
            }),
        }
    }

    /// Adds a chunk.
    pub fn insert(&self, chunk: Chunk) {
        let mut state = self.lock();
        state.bytes += chunk.bytes().len();
        let entry = Entry {
            chunk,
            is_rejected: false,
        };
        let address = entry.chunk.address();
        if let Some(replaced) = state.chunks.put(address, entry) {
            state.bytes -= replaced.chunk.bytes().len();
        }
        while state.bytes > self.max_bytes {
            let Some((_, dropped)) = state.chunks.pop_lru() else {
                return;
            };
            state.bytes -= dropped.chunk.bytes().len();
        }
    }

    /// The chunk, if it is still here.
    pub fn get(&self, address: Address) -> Option<Chunk> {
        let mut state = self.lock();
        let entry = state.chunks.get(&address)?;
        Some(entry.chunk.clone())
    }

    /// Drops the chunk.
    pub fn remove(&self, address: Address) {
        let mut state = self.lock();
        if let Some(removed) = state.chunks.pop(&address) {
            state.bytes -= removed.chunk.bytes().len();
        }
    }

    /// Remembers that the store did not take the chunk.
    pub fn reject(&self, address: Address) {
        if let Some(entry) = self.lock().chunks.peek_mut(&address) {
            entry.is_rejected = true;
        }
    }

    /// Whether the store did not take the chunk. It may have room now. Returns `true` once for each rejection.
    pub fn take_rejection(&self, address: Address) -> bool {
        let mut state = self.lock();
        let entry = state.chunks.peek_mut(&address);
        entry.is_some_and(|entry| std::mem::take(&mut entry.is_rejected))
    }

    /// Whether the chunk is still here.
    pub fn contains(&self, address: Address) -> bool {
        self.lock().chunks.contains(&address)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_the_least_recently_used_chunks_over_the_bound() {
        let recent_chunks = RecentChunks::new(100);
        let chunk = |seed: u8, length| Chunk::new(vec![seed; length].into());
        let [a, b, c] = [chunk(1, 40), chunk(2, 40), chunk(3, 40)];
        recent_chunks.insert(a.clone());
        recent_chunks.insert(b.clone());
        recent_chunks.insert(a.clone());
        assert_eq!(recent_chunks.get(a.address()).unwrap().bytes(), a.bytes());
        recent_chunks.insert(c.clone());
        assert!(!recent_chunks.contains(b.address()));
        assert!(recent_chunks.contains(a.address()) && recent_chunks.contains(c.address()));
        recent_chunks.insert(chunk(4, 101));
        assert!(!recent_chunks.contains(a.address()));
        assert_eq!(recent_chunks.lock().bytes, 0);
        recent_chunks.insert(b.clone());
        assert_eq!(recent_chunks.lock().bytes, 40);
        recent_chunks.remove(b.address());
        recent_chunks.remove(b.address());
        assert!(!recent_chunks.contains(b.address()));
        assert_eq!(recent_chunks.lock().bytes, 0);
    }

    #[test]
    fn reports_a_rejection_once() {
        let recent_chunks = RecentChunks::new(100);
        let chunk = Chunk::new(vec![1; 40].into());
        let address = chunk.address();
        recent_chunks.reject(address);
        recent_chunks.insert(chunk);
        assert!(!recent_chunks.take_rejection(address));
        recent_chunks.reject(address);
        assert!(recent_chunks.take_rejection(address));
        assert!(!recent_chunks.take_rejection(address));
    }
}
