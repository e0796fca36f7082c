//! How often chunks were requested lately. The store admits a chunk of an upstream only if the chunks that it would
//! evict are not more popular (TinyLFU).

use crate::address::Address;
use cmsketch::CMSketchU8;
use std::hash::{BuildHasher, RandomState};

/// The number of counters in each row of the sketch.
const COUNTERS: usize = 1 << 18;

/// The probability that one of the rows has no collision gives 4 rows.
const CONFIDENCE: f64 = 0.93;

/// The counts are halved after this number of requests per stored chunk. So a chunk that was popular long ago loses
/// its rank.
const REQUESTS_PER_CHUNK: usize = 10;

/// The smallest number of chunks that the halving assumes. A small store keeps its counts for a while, too.
const MIN_CHUNKS: usize = 1024;

/// Approximate numbers of requests per address, stored or not, in 1 MiB of memory.
pub struct Popularity {
    sketch: CMSketchU8,
    /// The requests since the counts were halved.
    requests: usize,
    /// A random key. Without it, a client could look for addresses that share the counters of a popular chunk.
    hasher: RandomState,
}

impl Popularity {
    /// Starts with zero for every address.
    pub fn new() -> Self {
        Self {
            sketch: CMSketchU8::new(2.0 / COUNTERS as f64, CONFIDENCE),
            requests: 0,
            hasher: RandomState::new(),
        }
    }

    /// Counts a request, in a store of `chunks` chunks.
    pub fn record_request(&mut self, address: Address, chunks: usize) {
        self.sketch.inc(self.hasher.hash_one(address));
        self.requests += 1;
        if self.requests >= REQUESTS_PER_CHUNK * chunks.clamp(MIN_CHUNKS, COUNTERS) {
            self.sketch.halve();
            self.requests /= 2;
        }
    }

    /// The number of requests, lately. Never too low, and sometimes too high.
    pub fn of(&self, address: Address) -> u8 {
        self.sketch.estimate(self.hasher.hash_one(address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(n: u32) -> Address {
        Address::of(&n.to_be_bytes())
    }

    #[test]
    fn counts_the_requests_of_each_address() {
        let mut popularity = Popularity::new();
        assert_eq!(popularity.sketch.depth(), 4);
        for (n, times) in [(1, 3), (2, 1), (3, 300)] {
            for _ in 0..times {
                popularity.record_request(address(n), 0);
            }
        }
        let counts = [0, 1, 2, 3].map(|n| popularity.of(address(n)));
        assert_eq!(counts, [0, 3, 1, u8::MAX]);
    }

    #[test]
    fn old_requests_lose_their_weight() {
        let mut popularity = Popularity::new();
        for _ in 0..100 {
            popularity.record_request(address(0), 0);
        }
        let others = REQUESTS_PER_CHUNK * MIN_CHUNKS * 2;
        for n in 1..=others as u32 {
            popularity.record_request(address(n), 0);
        }
        assert!(popularity.of(address(0)) < 50);
    }
}
