//! The chunks that are read most, in memory. All clients share them.

use super::eviction::ChunkClass;
use crate::address::Address;
use bytes::Bytes;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The memory of an entry, apart from its bytes.
const ENTRY_BYTES: u64 = 256;

/// The smallest part of the cache with a lock of its own. A part must have room for several chunks of 4 MiB.
const MIN_SHARD_BYTES: u64 = 64 << 20;

/// The maximum number of parts.
const MAX_SHARDS: u64 = 16;

/// A cache that holds at most a number of bytes. A scan of many chunks does not displace those that are read often.
pub struct MemoryCache {
    /// `None` if the cache is off.
    chunks: Option<Cache<Address, Arc<HotChunk>, ByLength>>,
    hits: Counter,
    misses: Counter,
    bytes: Gauge,
}

/// A chunk in the cache.
pub struct HotChunk {
    pub bytes: Bytes,
    pub class: ChunkClass,
    /// The last use that is recorded on disk, in seconds since 1970.
    recorded_use: AtomicU64,
}

#[derive(Clone)]
struct ByLength;

impl Weighter<Address, Arc<HotChunk>> for ByLength {
    fn weight(&self, _address: &Address, chunk: &Arc<HotChunk>) -> u64 {
        chunk.bytes.len() as u64 + ENTRY_BYTES
    }
}

impl MemoryCache {
    /// A cache of at most `max_bytes`. 0 turns it off.
    pub fn new(max_bytes: u64) -> Self {
        let chunks = (max_bytes > 0).then(|| {
            let options = OptionsBuilder::new()
                .weight_capacity(max_bytes)
                .estimated_items_capacity((max_bytes >> 20).max(32) as usize)
                .shards((max_bytes / MIN_SHARD_BYTES).clamp(1, MAX_SHARDS) as usize)
                .build()
                .expect("both capacities are set");
            let hashes = DefaultHashBuilder::default();
            Cache::with_options(options, ByLength, hashes, DefaultLifecycle::default())
        });
        Self {
            chunks,
            hits: Counter::default(),
            misses: Counter::default(),
            bytes: Gauge::default(),
        }
    }

    /// Adds the metrics of the cache.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "memory_cache_hits",
            "Reads of stored chunks that the memory cache answered",
            self.hits.clone(),
        );
        registry.register(
            "memory_cache_misses",
            "Reads of stored chunks that the disk answered",
            self.misses.clone(),
        );
        registry.register(
            "memory_cache_bytes",
            "Bytes in the memory cache",
            self.bytes.clone(),
        );
    }

    /// The chunk, if it is in memory.
    pub fn get(&self, address: Address) -> Option<Arc<HotChunk>> {
        let chunk = self.chunks.as_ref()?.get(&address)?;
        self.hits.inc();
        Some(chunk)
    }

    /// Adds a chunk that was read from the disk and verified.
    pub fn insert(&self, address: Address, bytes: Bytes, class: ChunkClass) {
        self.misses.inc();
        if let Some(chunks) = &self.chunks {
            let chunk = HotChunk {
                bytes,
                class,
                recorded_use: AtomicU64::new(now().as_secs()),
            };
            chunks.insert(address, Arc::new(chunk));
            self.update_bytes(chunks);
        }
    }

    /// Removes a chunk that is no longer stored, or that has another class now.
    pub fn remove(&self, address: Address) {
        if let Some(chunks) = &self.chunks {
            chunks.remove(&address);
            self.update_bytes(chunks);
        }
    }

    fn update_bytes(&self, chunks: &Cache<Address, Arc<HotChunk>, ByLength>) {
        self.bytes
            .set(chunks.weight().try_into().unwrap_or(i64::MAX));
    }
}

impl HotChunk {
    /// Whether the last use on disk is older than `precision`. Then the caller has to record it. Only one caller gets
    /// this answer.
    pub fn must_record_use(&self, precision: Duration) -> bool {
        let now = now().as_secs();
        let recorded = self.recorded_use.load(Relaxed);
        let is_old = now.saturating_sub(recorded) >= precision.as_secs();
        is_old
            && self
                .recorded_use
                .compare_exchange(recorded, now, Relaxed, Relaxed)
                .is_ok()
    }
}

fn now() -> Duration {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(cache: &MemoryCache, n: u32, length: usize) -> Address {
        let address = Address::of(&n.to_be_bytes());
        cache.insert(address, vec![0; length].into(), ChunkClass::Written);
        address
    }

    #[test]
    fn holds_at_most_its_bytes() {
        let cache = MemoryCache::new(100_000);
        for n in 0..1000 {
            insert(&cache, n, 1000);
            assert!(cache.bytes.get() <= 100_000);
        }
        assert!(cache.bytes.get() > 50_000);
        let too_large = insert(&cache, 1000, 100_001);
        assert!(cache.get(too_large).is_none());
    }

    #[test]
    fn a_scan_does_not_displace_chunks_that_are_read_often() {
        let cache = MemoryCache::new(100_000);
        let popular: Vec<_> = (0..20).map(|n| insert(&cache, n, 1000)).collect();
        for n in 100..2000 {
            for &address in &popular {
                cache.get(address);
            }
            insert(&cache, n, 1000);
        }
        let left = popular.iter().filter(|&&a| cache.get(a).is_some());
        assert_eq!(left.count(), 20);
    }

    #[test]
    fn is_off_with_0_bytes() {
        let cache = MemoryCache::new(0);
        let address = insert(&cache, 0, 10);
        assert!(cache.get(address).is_none());
    }

    #[test]
    fn asks_one_caller_to_record_the_use() {
        let cache = MemoryCache::new(100_000);
        let address = insert(&cache, 0, 10);
        let chunk = cache.get(address).unwrap();
        let hour = Duration::from_secs(3600);
        assert!(!chunk.must_record_use(hour));
        chunk.recorded_use.fetch_sub(3600, Relaxed);
        assert!(chunk.must_record_use(hour));
        assert!(!chunk.must_record_use(hour));
    }
}
