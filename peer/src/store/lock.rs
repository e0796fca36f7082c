//! The lock of an open store.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Excludes other processes from a store while it is open.
pub struct StoreLock(File);

impl StoreLock {
    /// # Errors
    /// `ResourceBusy` if another process has the lock.
    pub fn take(path: &Path) -> io::Result<Self> {
        let file = File::create(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self(file)),
            Err(TryLockError::WouldBlock) => Err(io::Error::new(
                io::ErrorKind::ResourceBusy,
                "another process has this store open",
            )),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

impl Drop for StoreLock {
    /// Closing the file is not enough: a child process that another thread has just forked has the file open too until
    /// it runs its program, and the lock ends with the last of them.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock of the store could not be given back");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn ends_though_a_child_process_has_the_file_open() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("lock");
        let lock = StoreLock::take(&path).unwrap();
        let of_child = lock.0.try_clone().unwrap();
        let refused = StoreLock::take(&path).err().map(|error| error.kind());
        assert_eq!(refused, Some(io::ErrorKind::ResourceBusy));
        drop(lock);
        assert!(StoreLock::take(&path).is_ok());
        drop(of_child);
    }
}
