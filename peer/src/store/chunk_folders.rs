//! The folders of a store, and the files in them.

use super::chunk_file::{ChunkFile, read_file};
use super::eviction::{ChunkClass, EvictionPolicy, EvictionQueue, ScannedChunk};
use super::scan;
use crate::address::Address;
use crate::durable_file::{self, FileAccess};
use crate::limits::POINTER_BYTES;
use crate::pointer;
use crate::source::{Chunk, PutOutcome, SourceStats};
use bytes::Bytes;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// The folders and files of a store. All methods block.
pub struct ChunkFolders {
    folder: PathBuf,
    max_bytes: u64,
    chunks: AtomicU64,
    bytes: AtomicU64,
    quarantined: AtomicU64,
    evicted: AtomicU64,
    eviction_queue: EvictionQueue,
    /// Serialise changes to the files of one address. The address's last byte selects the lock.
    write_locks: [Mutex<()>; 64],
    /// Locked while the store is open.
    _lock: File,
}

impl ChunkFolders {
    /// See [`FolderStore::open`](super::FolderStore::open).
    pub fn open(folder: &Path, max_bytes: u64, eviction: EvictionPolicy) -> io::Result<Self> {
        for name in ["chunks", "pulled", "quarantine", "temporary"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let lock = File::create(folder.join("lock"))?;
        lock.try_lock().map_err(|error| match error {
            fs::TryLockError::WouldBlock => io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another process has this store open",
            ),
            fs::TryLockError::Error(error) => error,
        })?;
        scan::empty(&folder.join("temporary"))?;
        let (mut chunks, mut bytes, mut found) = (0, 0, Vec::new());
        for class in [ChunkClass::Written, ChunkClass::Pulled] {
            scan::for_each_chunk(&folder.join(folder_of(class)), |address, metadata| {
                chunks += 1;
                bytes += metadata.len();
                if eviction.is_enabled() {
                    found.push(ScannedChunk {
                        address,
                        class,
                        last_use: metadata.modified().unwrap_or(UNIX_EPOCH),
                    });
                }
            })?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            max_bytes,
            chunks: AtomicU64::new(chunks),
            bytes: AtomicU64::new(bytes),
            quarantined: AtomicU64::new(0),
            evicted: AtomicU64::new(0),
            eviction_queue: EvictionQueue::new(eviction, found),
            write_locks: [const { Mutex::new(()) }; 64],
            _lock: lock,
        })
    }

    /// The totals, as of now.
    pub fn stats(&self) -> SourceStats {
        SourceStats {
            chunks: self.chunks.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            quarantined: self.quarantined.load(Relaxed),
            evicted: self.evicted.load(Relaxed),
        }
    }

    pub(super) fn path(&self, address: Address, class: ChunkClass) -> PathBuf {
        let name = address.to_string();
        let mut path = self.folder.join(folder_of(class));
        path.extend([&name[..2], &name[2..4], &name]);
        path
    }

    /// Whether the store has the chunk. Does not read the file.
    pub fn exists(&self, address: Address) -> io::Result<bool> {
        let found = find_in_folders(|class| {
            let exists = self.path(address, class).try_exists()?;
            Ok(exists.then_some(()))
        })?;
        Ok(found.is_some())
    }

    fn lock_writes(&self, address: Address) -> MutexGuard<'_, ()> {
        let lock = usize::from(address.as_bytes()[Address::BYTES - 1]) % self.write_locks.len();
        // The lock protects no data of its own, so a poisoned lock is still usable.
        self.write_locks[lock]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
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
        let path = self.path(address, class);
        let Some(file) = ChunkFile::open(&path)? else {
            return Ok(None);
        };
        let bytes = file.read()?;
        if Address::of(&bytes) == address {
            if self.eviction_queue.is_enabled() {
                self.eviction_queue.touch(address, class);
                file.record_use(&path);
            }
            return Ok(Some(bytes.into()));
        }
        let _lock = self.lock_writes(address);
        // Another thread may have replaced the file with a good one.
        match read_file(&path)? {
            Some(bytes) if Address::of(&bytes) == address => Ok(Some(bytes.into())),
            Some(_) => self.quarantine(address, class).map(|()| None),
            None => Ok(None),
        }
    }

    /// The pointer record in the operator's file, if it belongs to the address.
    pub fn read_pointer(&self, address: Address) -> io::Result<Option<Bytes>> {
        let file = match File::open(self.folder.join("pointers").join(address.to_string())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut record = Vec::new();
        file.take(POINTER_BYTES as u64 + 1)
            .read_to_end(&mut record)?;
        if !pointer::belongs_to(&record, address) {
            tracing::warn!(%address, "the file in pointers/ is not a pointer of this address");
            return Ok(None);
        }
        Ok(Some(record.into()))
    }

    /// Stores the chunk. Replaces a damaged file.
    pub fn write(&self, chunk: &Chunk, class: ChunkClass) -> io::Result<PutOutcome> {
        // `write_new` checks again. Reserving room takes the locks of other chunks, so it must run without this
        // chunk's lock.
        if let Some(outcome) = self.resolve_existing(chunk, class)? {
            return Ok(outcome);
        }
        let length = chunk.bytes().len() as u64;
        if !self.reserve(length) {
            return Ok(PutOutcome::Full);
        }
        let outcome = match self.write_new(chunk, class) {
            Err(error) if is_full(&error) && self.evict_one()? => self.write_new(chunk, class),
            outcome => outcome,
        };
        if !matches!(outcome, Ok(PutOutcome::Stored)) {
            self.release(length);
        }
        match outcome {
            Err(error) if is_full(&error) => {
                tracing::warn!(address = %chunk.address(), %error, "no room to store a chunk");
                Ok(PutOutcome::Full)
            }
            outcome => outcome,
        }
    }

    fn write_new(&self, chunk: &Chunk, class: ChunkClass) -> io::Result<PutOutcome> {
        let address = chunk.address();
        let _lock = self.lock_writes(address);
        let path = self.path(address, class);
        if path.try_exists()? {
            return Ok(PutOutcome::AlreadyStored);
        }
        let temporary = self.folder.join("temporary").join(address.to_string());
        durable_file::write_durably(&temporary, &path, chunk.bytes(), FileAccess::Default)?;
        self.chunks.fetch_add(1, Relaxed);
        self.eviction_queue.touch(address, class);
        Ok(PutOutcome::Stored)
    }

    /// Handles a chunk that is stored already. A chunk that a client writes moves to `chunks/`, so that it counts as
    /// written.
    fn resolve_existing(&self, chunk: &Chunk, class: ChunkClass) -> io::Result<Option<PutOutcome>> {
        let address = chunk.address();
        let _lock = self.lock_writes(address);
        for stored_class in [ChunkClass::Written, ChunkClass::Pulled] {
            let path = self.path(address, stored_class);
            match read_file(&path)? {
                None => continue,
                Some(bytes) if bytes == *chunk.bytes() => {}
                Some(_) => {
                    self.quarantine(address, stored_class)?;
                    continue;
                }
            }
            if (stored_class, class) == (ChunkClass::Pulled, ChunkClass::Written) {
                durable_file::move_durably(&path, &self.path(address, class))?;
                self.eviction_queue.remove(address, stored_class);
                self.eviction_queue.touch(address, class);
            }
            return Ok(Some(PutOutcome::AlreadyStored));
        }
        Ok(None)
    }

    /// Reserves `length` bytes. Evicts chunks if necessary. `false` if there is not enough room.
    fn reserve(&self, length: u64) -> bool {
        if length > self.max_bytes {
            return false;
        }
        let fits = |bytes: u64| bytes.checked_add(length).filter(|&n| n <= self.max_bytes);
        while self.bytes.fetch_update(Relaxed, Relaxed, fits).is_err() {
            match self.evict_one() {
                Ok(true) => {}
                Ok(false) => return false,
                Err(error) => {
                    tracing::error!(%error, "chunk not evicted");
                    return false;
                }
            }
        }
        true
    }

    fn release(&self, length: u64) {
        // The totals are approximate if other programs changed the files. They must not wrap.
        let subtract = |bytes: u64| Some(bytes.saturating_sub(length));
        let _ = self.bytes.fetch_update(Relaxed, Relaxed, subtract);
    }

    /// Evicts the least recently used chunk. `false` if no chunk may be evicted.
    fn evict_one(&self) -> io::Result<bool> {
        let Some((address, class)) = self.eviction_queue.pop_oldest() else {
            return Ok(false);
        };
        let _lock = self.lock_writes(address);
        let path = self.path(address, class);
        let length = match fs::metadata(&path) {
            Ok(metadata) => metadata.len(),
            // Another thread moved or quarantined the chunk.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            Err(error) => return Err(error),
        };
        fs::remove_file(&path)?;
        self.chunks.fetch_sub(1, Relaxed);
        self.release(length);
        self.evicted.fetch_add(1, Relaxed);
        tracing::debug!(%address, "chunk evicted");
        Ok(true)
    }

    /// Moves a damaged file to `quarantine/`. The caller holds the lock of this address.
    fn quarantine(&self, address: Address, class: ChunkClass) -> io::Result<()> {
        let path = self.path(address, class);
        let length = fs::metadata(&path)?.len();
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = time.map_or(0, |time| time.as_millis());
        let to = self
            .folder
            .join("quarantine")
            .join(format!("{address}.{millis}"));
        fs::rename(&path, &to)?;
        self.eviction_queue.remove(address, class);
        self.chunks.fetch_sub(1, Relaxed);
        self.release(length);
        self.quarantined.fetch_add(1, Relaxed);
        tracing::error!(%address, moved_to = %to.display(), "stored chunk is damaged");
        Ok(())
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

fn folder_of(class: ChunkClass) -> &'static str {
    match class {
        ChunkClass::Written => "chunks",
        ChunkClass::Pulled => "pulled",
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}
