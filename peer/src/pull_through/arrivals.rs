//! The chunks that arrived from upstreams last.
//!
//! A client's request takes no memory while it waits for a lookup. The chunk stays here until the client has memory for
//! it, or the disk has time for it.

use crate::address::Address;
use crate::source::Chunk;
use lru::LruCache;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Recent chunks, up to a total size. The least recently used ones are dropped.
pub struct Arrivals {
    max_bytes: usize,
    state: Mutex<State>,
}

struct State {
    chunks: LruCache<Address, Arrival>,
    bytes: usize,
}

struct Arrival {
    chunk: Chunk,
    /// Whether the store did not take the chunk.
    is_rejected: bool,
}

impl Arrivals {
    /// Keeps at most `max_bytes`.
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
        let arrival = Arrival {
            chunk,
            is_rejected: false,
        };
        let address = arrival.chunk.address();
        if let Some(replaced) = state.chunks.put(address, arrival) {
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
        let arrival = state.chunks.get(&address)?;
        Some(arrival.chunk.clone())
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
        if let Some(arrival) = self.lock().chunks.peek_mut(&address) {
            arrival.is_rejected = true;
        }
    }

    /// Whether the store did not take the chunk. It may have room now. Returns `true` once for each rejection.
    pub fn take_rejection(&self, address: Address) -> bool {
        let mut state = self.lock();
        let arrival = state.chunks.peek_mut(&address);
        arrival.is_some_and(|arrival| std::mem::take(&mut arrival.is_rejected))
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
        let arrivals = Arrivals::new(100);
        let chunk = |seed: u8, length| Chunk::new(vec![seed; length].into());
        let [a, b, c] = [chunk(1, 40), chunk(2, 40), chunk(3, 40)];
        arrivals.insert(a.clone());
        arrivals.insert(b.clone());
        arrivals.insert(a.clone());
        assert_eq!(arrivals.get(a.address()).unwrap().bytes(), a.bytes());
        arrivals.insert(c.clone());
        assert!(!arrivals.contains(b.address()));
        assert!(arrivals.contains(a.address()) && arrivals.contains(c.address()));
        arrivals.insert(chunk(4, 101));
        assert!(!arrivals.contains(a.address()));
        assert_eq!(arrivals.lock().bytes, 0);
        arrivals.insert(b.clone());
        assert_eq!(arrivals.lock().bytes, 40);
        arrivals.remove(b.address());
        arrivals.remove(b.address());
        assert!(!arrivals.contains(b.address()));
        assert_eq!(arrivals.lock().bytes, 0);
    }

    #[test]
    fn reports_a_rejection_once() {
        let arrivals = Arrivals::new(100);
        let chunk = Chunk::new(vec![1; 40].into());
        let address = chunk.address();
        arrivals.reject(address);
        arrivals.insert(chunk);
        assert!(!arrivals.take_rejection(address));
        arrivals.reject(address);
        assert!(arrivals.take_rejection(address));
        assert!(!arrivals.take_rejection(address));
    }
}
