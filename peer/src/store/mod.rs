//! The default source: a folder with one file per chunk.
//!
//! ```text
//! <store>/chunks/<aa>/<bb>/<address>   aa, bb: the address's first two bytes
//! <store>/quarantine/                  files whose bytes did not match their address
//! <store>/temporary/                   files being written; emptied at start
//! <store>/lock                         held by the running peer
//! ```

mod scan;

use crate::address::Address;
use crate::durable::{self, Readers};
use crate::limits::MAX_CHUNK_BYTES;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, PutOutcome, SourceError, SourceFuture, SourceStats,
};
use bytes::Bytes;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// A store in a folder of its own. Clones share it.
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
    /// Changes to files of one address are made one at a time; addresses share these locks by their last byte.
    changes: [Mutex<()>; 64],
    /// Locked as long as this is open.
    _lock: File,
}

impl FolderStore {
    /// Opens the store in `folder`, which is made if it does not exist, and counts what it holds.
    ///
    /// At most `max_bytes` of chunks are kept. Fails where another process has the store open.
    pub fn open(folder: &Path, max_bytes: u64) -> io::Result<Self> {
        for name in ["chunks", "quarantine", "temporary"] {
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
        let totals = scan::count(&folder.join("chunks"))?;
        Ok(Self {
            inner: Arc::new(Inner {
                folder: folder.to_owned(),
                max_bytes,
                chunks: AtomicU64::new(totals.chunks),
                bytes: AtomicU64::new(totals.bytes),
                quarantined: AtomicU64::new(0),
                changes: [const { Mutex::new(()) }; 64],
                _lock: lock,
            }),
        })
    }
}

impl ChunkSource for FolderStore {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        let inner = Arc::clone(&self.inner);
        in_background(move || {
            let bytes = inner.read(address)?;
            Ok(bytes.map(ChunkBody::whole))
        })
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        let inner = Arc::clone(&self.inner);
        in_background(move || inner.path(address).try_exists())
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        let inner = Arc::clone(&self.inner);
        in_background(move || inner.write(&chunk))
    }

    fn stats(&self) -> SourceStats {
        SourceStats {
            chunks: self.inner.chunks.load(Relaxed),
            bytes: self.inner.bytes.load(Relaxed),
            quarantined: self.inner.quarantined.load(Relaxed),
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
    fn path(&self, address: Address) -> PathBuf {
        let name = address.to_string();
        let mut path = self.folder.join("chunks");
        path.extend([&name[..2], &name[2..4], &name]);
        path
    }

    fn lock_changes(&self, address: Address) -> MutexGuard<'_, ()> {
        let lock = usize::from(address.as_bytes()[Address::BYTES - 1]) % self.changes.len();
        // The lock guards no data of its own, so a panic while it was held left nothing half done.
        self.changes[lock]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The chunk's bytes, checked. A damaged file is taken out of service.
    fn read(&self, address: Address) -> io::Result<Option<Bytes>> {
        let path = self.path(address);
        match read_file(&path)? {
            None => Ok(None),
            Some(bytes) if Address::of(&bytes) == address => Ok(Some(bytes.into())),
            Some(_) => {
                let _changing = self.lock_changes(address);
                // It may have been replaced by a good one in the meantime.
                match read_file(&path)? {
                    Some(bytes) if Address::of(&bytes) == address => Ok(Some(bytes.into())),
                    Some(_) => self.quarantine(address, &path).map(|()| None),
                    None => Ok(None),
                }
            }
        }
    }

    /// Keeps the chunk, over a damaged file if there is one.
    fn write(&self, chunk: &Chunk) -> io::Result<PutOutcome> {
        let address = chunk.address();
        let path = self.path(address);
        let _changing = self.lock_changes(address);
        if let Some(bytes) = read_file(&path)? {
            if bytes == *chunk.bytes() {
                return Ok(PutOutcome::AlreadyThere);
            }
            self.quarantine(address, &path)?;
        }
        let length = chunk.bytes().len() as u64;
        if !self.reserve(length) {
            return Ok(PutOutcome::Full);
        }
        let temporary = self.folder.join("temporary").join(address.to_string());
        let written = durable::write_durably(&temporary, &path, chunk.bytes(), Readers::Usual);
        if let Err(error) = written {
            self.bytes.fetch_sub(length, Relaxed);
            return match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    tracing::warn!(%address, %error, "no room to store a chunk");
                    Ok(PutOutcome::Full)
                }
                _ => Err(error),
            };
        }
        self.chunks.fetch_add(1, Relaxed);
        Ok(PutOutcome::Stored)
    }

    fn reserve(&self, length: u64) -> bool {
        let fits = |bytes: u64| bytes.checked_add(length).filter(|&n| n <= self.max_bytes);
        self.bytes.fetch_update(Relaxed, Relaxed, fits).is_ok()
    }

    /// Moves a damaged file away. The caller holds the lock on changes of this address.
    fn quarantine(&self, address: Address, path: &Path) -> io::Result<()> {
        let length = fs::metadata(path)?.len();
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let millis = time.map_or(0, |time| time.as_millis());
        let to = self
            .folder
            .join("quarantine")
            .join(format!("{address}.{millis}"));
        fs::rename(path, &to)?;
        self.chunks.fetch_sub(1, Relaxed);
        // A file that changed its length was counted with another one, so this total is only close
        // until the next start; it must not wrap.
        let subtract = |bytes: u64| Some(bytes.saturating_sub(length));
        let _ = self.bytes.fetch_update(Relaxed, Relaxed, subtract);
        self.quarantined.fetch_add(1, Relaxed);
        tracing::error!(%address, moved_to = %to.display(), "a stored chunk is damaged");
        Ok(())
    }
}

/// The file's bytes, or `None` where there is no file. Of one that is too long to be a chunk, only the start.
fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let most = u64::from(MAX_CHUNK_BYTES) + 1;
    let length = file.metadata()?.len().min(most);
    let mut bytes = Vec::with_capacity(length as usize);
    file.take(most).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests;
