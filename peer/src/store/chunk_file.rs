//! The file of one chunk.

use crate::limits::MAX_CHUNK_BYTES;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The time of a file says when its chunk was last used, to about this much.
const USE_PRECISION: Duration = Duration::from_secs(3600);

/// The file of a chunk, open.
pub struct ChunkFile {
    file: File,
    metadata: fs::Metadata,
}

impl ChunkFile {
    /// `None` where there is no such file.
    pub fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata()?;
        Ok(Some(Self { file, metadata }))
    }

    /// Its bytes. Of a file that is too long to be a chunk, only the start.
    pub fn read(&self) -> io::Result<Vec<u8>> {
        let most = u64::from(MAX_CHUNK_BYTES) + 1;
        let length = self.metadata.len().min(most);
        let mut bytes = Vec::with_capacity(length as usize);
        (&self.file).take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Notes that the chunk was used, so that the next process knows.
    pub fn set_used(&self, path: &Path) {
        let now = SystemTime::now();
        let last_use = self.metadata.modified().unwrap_or(UNIX_EPOCH);
        let age = now.duration_since(last_use).unwrap_or_default();
        if age >= USE_PRECISION
            && let Err(error) = self.file.set_modified(now)
        {
            tracing::warn!(path = %path.display(), %error, "the last use of a chunk is not noted");
        }
    }
}

/// The file's bytes, or `None` where there is no file.
pub fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    ChunkFile::open(path)?.map(|file| file.read()).transpose()
}
