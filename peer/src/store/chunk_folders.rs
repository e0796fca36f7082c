//! The folders of a store, and the files in them.

use super::chunk_file::{ChunkFile, LAST_USE_PRECISION, read_file};
use super::eviction::{ChunkClass, EvictionQueue, ScannedChunk};
use super::layout::Layout;
use super::lock::StoreLock;
use super::memory_cache::{HotChunk, MemoryCache};
use super::removals::Removals;
use super::{CLASSES, StoreConfig, pointers, scan};
use crate::address::Address;
use crate::source::SourceStats;
use bytes::Bytes;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The folders and files of a store. All methods block, except where they say otherwise.
pub struct ChunkFolders {
    pub(super) layout: Layout,
    pub(super) max_bytes: u64,
    pub(super) chunks: AtomicU64,
    pub(super) bytes: AtomicU64,
    /// The files in the folder of pointers.
    pub(super) pointers: AtomicU64,
    quarantined: AtomicU64,
    pub(super) evicted: AtomicU64,
    /// The chunks of upstreams that were not stored, because more popular chunks take the room.
    pub(super) refused: Counter,
    pub(super) eviction_queue: EvictionQueue,
    pub(super) memory_cache: MemoryCache,
    pub(super) removals: Removals,
    /// Serialise changes to the files of one address. The address's last byte selects the lock.
    write_locks: [Mutex<()>; 64],
    _lock: StoreLock,
}

impl ChunkFolders {
    /// See [`FolderStore::open`](super::FolderStore::open).
    pub fn open(folder: &Path, config: StoreConfig) -> io::Result<Self> {
        let layout = Layout::new(folder);
        for folder in CLASSES.map(|class| layout.chunks(class)) {
            fs::create_dir_all(folder)?;
        }
        fs::create_dir_all(layout.quarantine())?;
        fs::create_dir_all(layout.temporary())?;
        let lock = StoreLock::take(&layout.lock())?;
        scan::empty(&layout.temporary())?;
        let (mut chunks, mut bytes, mut found) = (0, 0, Vec::new());
        for class in CLASSES {
            scan::for_each_chunk(&layout.chunks(class), |address, metadata| {
                chunks += 1;
                bytes += metadata.len();
                if config.eviction.is_enabled() {
                    found.push(ScannedChunk {
                        address,
                        class,
                        length: u32::try_from(metadata.len()).unwrap_or(u32::MAX),
                        last_use: metadata.modified().unwrap_or(UNIX_EPOCH),
                    });
                }
            })?;
        }
        Ok(Self {
            max_bytes: config.limit.bytes(folder, bytes)?,
            pointers: AtomicU64::new(pointers::count(&layout)?),
            layout,
            chunks: AtomicU64::new(chunks),
            bytes: AtomicU64::new(bytes),
            quarantined: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            refused: Counter::default(),
            eviction_queue: EvictionQueue::new(config.eviction, found),
            memory_cache: MemoryCache::new(config.memory_cache_bytes),
            removals: Removals::default(),
            write_locks: [const { Mutex::new(()) }; 64],
            _lock: lock,
        })
    }

    /// The totals, as of now. Does not block.
    pub fn stats(&self) -> SourceStats {
        SourceStats {
            chunks: self.chunks.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            quarantined: self.quarantined.load(Relaxed),
            evicted: self.evicted.load(Relaxed),
        }
    }

    /// Adds the metrics of the store.
    pub fn register(&self, registry: &mut Registry) {
        let limit = i64::try_from(self.max_bytes).unwrap_or(i64::MAX);
        registry.register(
            "store_limit_bytes",
            "The maximum of the stored bytes",
            ConstGauge::new(limit),
        );
        registry.register(
            "refused_chunks",
            "Chunks of upstreams not stored since the start, because more popular chunks take the room",
            self.refused.clone(),
        );
        self.memory_cache.register(registry);
    }

    /// Writes a small file to the disk, and removes it.
    pub fn check_writable(&self) -> io::Result<()> {
        let path = self.layout.temporary().join("check");
        let mut file = File::create(&path)?;
        file.write_all(b"check")?;
        file.sync_data()?;
        fs::remove_file(path)
    }

    /// Whether the store has the chunk. Does not read the file.
    pub fn exists(&self, address: Address) -> io::Result<bool> {
        let found = find_in_folders(|class| {
            let exists = self.layout.chunk(address, class).try_exists()?;
            Ok(exists.then_some(()))
        })?;
        Ok(found.is_some())
    }

    pub(super) fn lock_writes(&self, address: Address) -> MutexGuard<'_, ()> {
        let lock = usize::from(address.as_bytes()[Address::BYTES - 1]) % self.write_locks.len();
        // The lock protects no data of its own, so a poisoned lock is still usable.
        self.write_locks[lock]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a request for the chunk. Returns the chunk if it is in memory. Does not block.
    pub fn request(&self, address: Address) -> Option<Arc<HotChunk>> {
        self.eviction_queue.record_request(address);
        let chunk = self.memory_cache.get(address)?;
        self.eviction_queue.record_use(address, chunk.class);
        Some(chunk)
    }

    /// Records the use of a chunk in memory.
    pub fn record_use(&self, address: Address, class: ChunkClass) {
        let path = self.layout.chunk(address, class);
        match ChunkFile::open(&path) {
            Ok(Some(file)) => file.record_use(&path),
            Ok(None) => {}
            Err(error) => tracing::warn!(%address, %error, "last use of a chunk not recorded"),
        }
    }

    /// Whether the caller has to record the use of a chunk in memory.
    pub fn must_record_use(&self, chunk: &HotChunk) -> bool {
        self.eviction_queue.is_enabled() && chunk.must_record_use(LAST_USE_PRECISION)
    }

    /// The chunk's bytes, after verification. Quarantines a damaged file.
    pub fn read(&self, address: Address) -> io::Result<Option<Bytes>> {
        find_in_folders(|class| self.read_from(address, class))
    }

    pub(super) fn read_from(
        &self,
        address: Address,
        class: ChunkClass,
    ) -> io::Result<Option<Bytes>> {
        let removals = self.removals.count(address);
        let path = self.layout.chunk(address, class);
        let Some(file) = ChunkFile::open(&path)? else {
            return Ok(None);
        };
        let bytes = file.read()?;
        if Address::of(&bytes) != address {
            return self.quarantine_if_damaged(address, class);
        }
        if self.eviction_queue.is_enabled() {
            self.eviction_queue.record_use(address, class);
            file.record_use(&path);
        }
        let bytes = Bytes::from(bytes);
        self.add_to_memory_cache(address, class, &bytes, removals)?;
        Ok(Some(bytes))
    }

    /// Adds a chunk that was read to the memory cache. `removals` was counted before the read. If the chunk was removed
    /// since then, the cache must not have it.
    pub(super) fn add_to_memory_cache(
        &self,
        address: Address,
        class: ChunkClass,
        bytes: &Bytes,
        removals: u64,
    ) -> io::Result<()> {
        self.memory_cache.insert(address, bytes.clone(), class);
        if self.removals.count(address) == removals {
            return Ok(());
        }
        let _lock = self.lock_writes(address);
        if !self.layout.chunk(address, class).try_exists()? {
            self.memory_cache.remove(address);
        }
        Ok(())
    }

    /// Reads the file again, and quarantines it if it is still damaged. Returns the bytes of a good file, with which
    /// another thread has replaced it.
    pub fn quarantine_if_damaged(
        &self,
        address: Address,
        class: ChunkClass,
    ) -> io::Result<Option<Bytes>> {
        let _lock = self.lock_writes(address);
        match read_file(&self.layout.chunk(address, class))? {
            Some(bytes) if Address::of(&bytes) == address => Ok(Some(bytes.into())),
            Some(_) => self.quarantine(address, class).map(|()| None),
            None => Ok(None),
        }
    }

    /// Removes the chunk's file. `false` if there is no such file.
    pub fn remove(&self, address: Address, class: ChunkClass) -> io::Result<bool> {
        let _lock = self.lock_writes(address);
        let path = self.layout.chunk(address, class);
        let length = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            // Another thread moved or quarantined the chunk.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        fs::remove_file(&path)?;
        self.forget(address, class, length);
        Ok(true)
    }

    /// Moves a damaged file to `quarantine/`. The caller holds the lock of this address.
    pub(super) fn quarantine(&self, address: Address, class: ChunkClass) -> io::Result<()> {
        let path = self.layout.chunk(address, class);
        let length = fs::metadata(&path)?.len();
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = time.map_or(0, |time| time.as_millis());
        let name = format!("{address}.{millis}");
        let to = self.layout.quarantine().join(name);
        fs::rename(&path, &to)?;
        self.forget(address, class, length);
        self.quarantined.fetch_add(1, Relaxed);
        tracing::error!(%address, moved_to = %to.display(), "stored chunk is damaged");
        Ok(())
    }

    /// Updates the totals and the caches after a chunk's file was removed.
    fn forget(&self, address: Address, class: ChunkClass, length: u64) {
        self.removals.record(address);
        self.memory_cache.remove(address);
        self.eviction_queue.remove(address, class);
        // As in `release`.
        let subtract = |chunks: u64| Some(chunks.saturating_sub(1));
        let _ = self.chunks.fetch_update(Relaxed, Relaxed, subtract);
        self.release(length);
    }
}

/// Looks in `chunks/`, then in `pulled/`, then in `chunks/` again. The last step finds a chunk that moved from
/// `pulled/` to `chunks/` during the search.
pub(super) fn find_in_folders<T>(
    mut look_in: impl FnMut(ChunkClass) -> io::Result<Option<T>>,
) -> io::Result<Option<T>> {
    for class in [ChunkClass::Written, ChunkClass::Pulled, ChunkClass::Written] {
        if let Some(found) = look_in(class)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
