//! The maximum size of a store.

use std::io;
use std::path::Path;

/// How many bytes of chunks a store holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreLimit {
    /// This number of bytes.
    Bytes(u64),
    /// Half of the space that is free when the store is opened. The space of the store's chunks counts as free, so the
    /// limit is the same after a restart.
    HalfOfFreeSpace,
}

impl StoreLimit {
    /// The number of bytes for a store in `folder` that holds `stored` bytes now.
    pub fn bytes(self, folder: &Path, stored: u64) -> io::Result<u64> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::HalfOfFreeSpace => Ok(free_bytes(folder)?.saturating_add(stored) / 2),
        }
    }
}

/// The bytes that this process may write to the file system of `folder`.
fn free_bytes(folder: &Path) -> io::Result<u64> {
    let statistics = rustix::fs::statvfs(folder)?;
    Ok(statistics.f_bavail.saturating_mul(statistics.f_frsize))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::TempDir;

    #[test]
    fn the_share_of_the_free_space_counts_the_chunks_as_free() {
        let folder = TempDir::new().unwrap();
        let limit = |stored| {
            StoreLimit::HalfOfFreeSpace
                .bytes(folder.path(), stored)
                .unwrap()
        };
        let free = free_bytes(folder.path()).unwrap();
        assert!(free > 0);
        // Other programs write to the same disk.
        let tolerance = 1 << 30;
        assert!(limit(0).abs_diff(free / 2) < tolerance);
        assert!(limit(1 << 50).abs_diff((free + (1 << 50)) / 2) < tolerance);
        assert_eq!(limit(u64::MAX), u64::MAX / 2);
        let missing = folder.path().join("missing");
        assert!(!fs::exists(&missing).unwrap());
        assert!(StoreLimit::HalfOfFreeSpace.bytes(&missing, 0).is_err());
        assert_eq!(StoreLimit::Bytes(7).bytes(&missing, 9).unwrap(), 7);
    }
}
