//! The paths of a store's files.

use super::eviction::ChunkClass;
use crate::address::Address;
use std::path::{Path, PathBuf};

/// A store's folder.
#[derive(Clone, Debug)]
pub struct Layout {
    folder: PathBuf,
}

impl Layout {
    /// The store in this folder.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
        }
    }

    /// The folder of all chunks of a class.
    pub fn chunks(&self, class: ChunkClass) -> PathBuf {
        self.folder.join(match class {
            ChunkClass::Written => "chunks",
            ChunkClass::Pulled => "pulled",
        })
    }

    /// The file of a chunk.
    pub fn chunk(&self, address: Address, class: ChunkClass) -> PathBuf {
        let name = address.to_string();
        let mut path = self.chunks(class);
        path.extend([&name[..2], &name[2..4], &name]);
        path
    }

    /// The folder of pointer records.
    pub fn pointers(&self) -> PathBuf {
        self.folder.join("pointers")
    }

    /// The file of a pointer record.
    pub fn pointer(&self, address: Address) -> PathBuf {
        self.pointers().join(address.to_string())
    }

    /// The folder of damaged files.
    pub fn quarantine(&self) -> PathBuf {
        self.folder.join("quarantine")
    }

    /// The folder of files that are being written.
    pub fn temporary(&self) -> PathBuf {
        self.folder.join("temporary")
    }

    /// The file that the running peer locks.
    pub fn lock(&self) -> PathBuf {
        self.folder.join("lock")
    }
}
