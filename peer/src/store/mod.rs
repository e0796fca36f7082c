//! The default source: a folder with one file per chunk. `docs/OPERATING.md` describes the layout.
//!
//! ```text
//! <store>/chunks/<aa>/<bb>/<address>   aa, bb: the address's first two bytes
//! <store>/pulled/<aa>/<bb>/<address>   the same for chunks that came from an upstream
//! <store>/pointers/<address>           pointer records that an operator put there
//! <store>/quarantine/                  files whose bytes did not match their address
//! <store>/temporary/                   files being written; emptied at start
//! <store>/lock                         held by the running peer
//! ```

mod chunk_file;
mod eviction;
mod scan;

pub use eviction::Eviction;

use crate::address::Address;
use crate::durable_file::{self, FileAccess};
use crate::limits::POINTER_BYTES;
use crate::pointer;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError, SourceFuture, SourceStats,
};
use crate::via::Via;
use bytes::Bytes;
use chunk_file::{ChunkFile, read_file};
use eviction::{Evictable, Found, Origin};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A store in its own folder. Clones share it.
#[derive(Clone)]
pub struct FolderStore {
    inner: Arc<Inner>,
}

struct Inner {
    folder: PathBuf,
    max_bytes: u64,
    chunks: AtomicU64,
    bytes: AtomicU64,
    quarantined: AtomicU64,
    evicted: AtomicU64,
    evictable: Evictable,
    /// Serialise changes to the files of one address. The address's last byte selects the lock.
    changes: [Mutex<()>; 64],
    /// Locked while the store is open.
    _lock: File,
}

impl FolderStore {
    /// Opens the store in `folder`, and counts its chunks. Creates the folder if it does not exist.
    ///
    /// The store holds at most `max_bytes` of chunks. To make room, it evicts the chunks that `eviction` allows.
    /// Fails with `ResourceBusy` if another process has the store open.
    pub fn open(folder: &Path, max_bytes: u64, eviction: Eviction) -> io::Result<Self> {
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
        for origin in [Origin::Written, Origin::Pulled] {
            scan::for_each_chunk(&folder.join(folder_of(origin)), |address, metadata| {
                chunks += 1;
                bytes += metadata.len();
                if eviction.is_on() {
                    found.push(Found {
                        address,
                        origin,
                        last_use: metadata.modified().unwrap_or(UNIX_EPOCH),
                    });
                }
            })?;
        }
        Ok(Self {
            inner: Arc::new(Inner {
                folder: folder.to_owned(),
                max_bytes,
                chunks: AtomicU64::new(chunks),
                bytes: AtomicU64::new(bytes),
                quarantined: AtomicU64::new(0),
                evicted: AtomicU64::new(0),
                evictable: Evictable::new(eviction, found),
                changes: [const { Mutex::new(()) }; 64],
                _lock: lock,
            }),
        })
    }
}

/// Looks in `chunks/`, then in `pulled/`, then in `chunks/` again. The last step finds a chunk that moved from
/// `pulled/` to `chunks/` during the search.
fn look<T>(mut at: impl FnMut(Origin) -> io::Result<Option<T>>) -> io::Result<Option<T>> {
    for origin in [Origin::Written, Origin::Pulled, Origin::Written] {
        if let Some(found) = at(origin)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn folder_of(origin: Origin) -> &'static str {
    match origin {
        Origin::Written => "chunks",
        Origin::Pulled => "pulled",
    }
}

impl ChunkSource for FolderStore {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        let inner = Arc::clone(&self.inner);
        in_background(move || {
            let bytes = inner.read(address)?;
            Ok(bytes.map(ChunkBody::from_bytes))
        })
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        let inner = Arc::clone(&self.inner);
        in_background(move || inner.find(address))
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        let inner = Arc::clone(&self.inner);
        in_background(move || inner.write(&chunk, Origin::Written))
    }

    fn cache(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        let inner = Arc::clone(&self.inner);
        in_background(move || inner.write(&chunk, Origin::Pulled))
    }

    fn pointer(&self, address: Address, _via: Via) -> SourceFuture<'_, Option<Bytes>> {
        let inner = Arc::clone(&self.inner);
        in_background(move || inner.read_pointer(address))
    }

    fn stats(&self) -> SourceStats {
        SourceStats {
            chunks: self.inner.chunks.load(Relaxed),
            bytes: self.inner.bytes.load(Relaxed),
            quarantined: self.inner.quarantined.load(Relaxed),
            evicted: self.inner.evicted.load(Relaxed),
        }
    }
}

/// Runs file work on a thread that may block.
fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> SourceFuture<'static, T> {
    Box::pin(async move {
        let result = tokio::task::spawn_blocking(work).await;
        result
            .unwrap_or_else(|panicked| Err(io::Error::other(panicked)))
            .map_err(|error| SourceError::Failed(error.to_string()))
    })
}

impl Inner {
    fn path(&self, address: Address, origin: Origin) -> PathBuf {
        let name = address.to_string();
        let mut path = self.folder.join(folder_of(origin));
        path.extend([&name[..2], &name[2..4], &name]);
        path
    }

    fn find(&self, address: Address) -> io::Result<bool> {
        let found = look(|origin| {
            let exists = self.path(address, origin).try_exists()?;
            Ok(exists.then_some(()))
        })?;
        Ok(found.is_some())
    }

    fn lock_changes(&self, address: Address) -> MutexGuard<'_, ()> {
        let lock = usize::from(address.as_bytes()[Address::BYTES - 1]) % self.changes.len();
        // The lock protects no data of its own, so a poisoned lock is still usable.
        self.changes[lock]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The chunk's bytes, after verification. Quarantines a damaged file.
    fn read(&self, address: Address) -> io::Result<Option<Bytes>> {
        look(|origin| self.read_from(address, origin))
    }

    fn read_from(&self, address: Address, origin: Origin) -> io::Result<Option<Bytes>> {
        let path = self.path(address, origin);
        let Some(file) = ChunkFile::open(&path)? else {
            return Ok(None);
        };
        let bytes = file.read()?;
        if Address::of(&bytes) == address {
            if self.evictable.is_on() {
                self.evictable.used(address, origin);
                file.set_used(&path);
            }
            return Ok(Some(bytes.into()));
        }
        let _changing = self.lock_changes(address);
        // Another thread may have replaced the file with a good one.
        match read_file(&path)? {
            Some(bytes) if Address::of(&bytes) == address => Ok(Some(bytes.into())),
            Some(_) => self.quarantine(address, origin).map(|()| None),
            None => Ok(None),
        }
    }

    /// The pointer record in the operator's file, if it belongs to the address.
    fn read_pointer(&self, address: Address) -> io::Result<Option<Bytes>> {
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
    fn write(&self, chunk: &Chunk, origin: Origin) -> io::Result<PutOutcome> {
        // `write_new` checks again. Reserving room takes the locks of other chunks, so it must run without this
        // chunk's lock.
        if let Some(outcome) = self.keep_existing(chunk, origin)? {
            return Ok(outcome);
        }
        let length = chunk.bytes().len() as u64;
        if !self.reserve(length) {
            return Ok(PutOutcome::Full);
        }
        let outcome = match self.write_new(chunk, origin) {
            Err(error) if is_full(&error) && self.evict_one()? => self.write_new(chunk, origin),
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

    fn write_new(&self, chunk: &Chunk, origin: Origin) -> io::Result<PutOutcome> {
        let address = chunk.address();
        let _changing = self.lock_changes(address);
        let path = self.path(address, origin);
        if path.try_exists()? {
            return Ok(PutOutcome::AlreadyStored);
        }
        let temporary = self.folder.join("temporary").join(address.to_string());
        durable_file::write_durably(&temporary, &path, chunk.bytes(), FileAccess::Default)?;
        self.chunks.fetch_add(1, Relaxed);
        self.evictable.used(address, origin);
        Ok(PutOutcome::Stored)
    }

    /// Handles a chunk that is stored already. A chunk that a client writes moves to `chunks/`, so that it counts as
    /// written.
    fn keep_existing(&self, chunk: &Chunk, origin: Origin) -> io::Result<Option<PutOutcome>> {
        let address = chunk.address();
        let _changing = self.lock_changes(address);
        for place in [Origin::Written, Origin::Pulled] {
            let path = self.path(address, place);
            match read_file(&path)? {
                None => continue,
                Some(bytes) if bytes == *chunk.bytes() => {}
                Some(_) => {
                    self.quarantine(address, place)?;
                    continue;
                }
            }
            if (place, origin) == (Origin::Pulled, Origin::Written) {
                durable_file::move_durably(&path, &self.path(address, origin))?;
                self.evictable.gone(address, place);
                self.evictable.used(address, origin);
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
        let Some((address, origin)) = self.evictable.next() else {
            return Ok(false);
        };
        let _changing = self.lock_changes(address);
        let path = self.path(address, origin);
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
    fn quarantine(&self, address: Address, origin: Origin) -> io::Result<()> {
        let path = self.path(address, origin);
        let length = fs::metadata(&path)?.len();
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = time.map_or(0, |time| time.as_millis());
        let to = self
            .folder
            .join("quarantine")
            .join(format!("{address}.{millis}"));
        fs::rename(&path, &to)?;
        self.evictable.gone(address, origin);
        self.chunks.fetch_sub(1, Relaxed);
        self.release(length);
        self.quarantined.fetch_add(1, Relaxed);
        tracing::error!(%address, moved_to = %to.display(), "stored chunk is damaged");
        Ok(())
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

#[cfg(test)]
mod tests;
