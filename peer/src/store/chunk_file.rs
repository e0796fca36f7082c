//! The file of one chunk.

use crate::limits::MAX_CHUNK_BYTES;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The precision of the last use, which is the file's modification time.
pub const LAST_USE_PRECISION: Duration = Duration::from_secs(3600);

/// The open file of a chunk.
pub struct ChunkFile {
    file: File,
    metadata: fs::Metadata,
}

impl ChunkFile {
    /// Opens the file. `None` if there is no such file.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        Ok(Some(Self { file, metadata }))
    }

    /// The content. If the file is larger than a chunk, only the start.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let most = u64::from(MAX_CHUNK_BYTES) + 1;
        let length = self.metadata.len().min(most);
        let mut bytes = Vec::with_capacity(length as usize);
        (&self.file).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Records the last use in the modification time, so that it survives a restart.
    pub fn record_use(&self, path: &Path) {
        let now = SystemTime::now();
        let last_use = self.metadata.modified().unwrap_or(UNIX_EPOCH);
        let age = now.duration_since(last_use).unwrap_or_default();
        if age >= LAST_USE_PRECISION
            && let Err(error) = self.file.set_modified(now)
        {
            tracing::warn!(path = %path.display(), %error, "last use of a chunk not recorded");
        }
    }
}

/// The content of the file. `None` if there is no such file.
pub fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    ChunkFile::open(path)?.map(|file| file.read()).transpose()
}
