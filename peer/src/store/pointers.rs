//! The pointer records of a store.

use super::chunk_folders::ChunkFolders;
use super::layout::Layout;
use crate::address::Address;
use crate::durable_file::{self, FileAccess, is_full};
use crate::limits::{MAX_STORED_POINTERS, POINTER_BYTES};
use crate::pointer;
use crate::source::PutPointerOutcome;
use bytes::Bytes;
use std::fs::{self, File};
use std::io::{self, Read};
use std::sync::atomic::Ordering::Relaxed;

/// The number of files in the folder of pointers.
pub fn count(layout: &Layout) -> io::Result<u64> {
    match fs::read_dir(layout.pointers()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        entries => Ok(entries?.count() as u64),
    }
}

impl ChunkFolders {
    /// The stored pointer record, if its owner signed it for the address.
    pub fn read_pointer(&self, address: Address) -> io::Result<Option<Bytes>> {
        let file = match File::open(self.layout.pointer(address)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            file => file?,
        };
        let mut record = Vec::new();
        file.take(POINTER_BYTES as u64 + 1)
            .read_to_end(&mut record)?;
        if !pointer::is_valid(&record, address) {
            tracing::warn!(%address, "the file in pointers/ is not a pointer of this address");
            return Ok(None);
        }
        Ok(Some(record.into()))
    }

    /// Stores a valid pointer record, if it is newer than the stored one.
    pub fn write_pointer(&self, address: Address, record: &[u8]) -> io::Result<PutPointerOutcome> {
        let _lock = self.lock_writes(address);
        if let Some(stored) = self.read_pointer(address)? {
            if pointer::is_same_state(&stored, record) {
                return Ok(PutPointerOutcome::AlreadyStored);
            }
            if !pointer::has_larger_counter(record, &stored) {
                return Ok(PutPointerOutcome::Outdated);
            }
        }
        let path = self.layout.pointer(address);
        let is_new = !path.try_exists()?;
        if is_new && !self.reserve_pointer() {
            return Ok(PutPointerOutcome::Full);
        }
        let temporary = self.layout.temporary().join(format!("{address}.pointer"));
        let written = durable_file::write_durably(&temporary, &path, record, FileAccess::Default);
        if written.is_err() && is_new {
            self.pointers.fetch_sub(1, Relaxed);
        }
        match written {
            Err(error) if is_full(&error) => {
                tracing::warn!(%address, %error, "no room to store a pointer");
                Ok(PutPointerOutcome::Full)
            }
            written => written.map(|()| PutPointerOutcome::Stored),
        }
    }

    /// Counts one more pointer. `false` if the store has too many.
    fn reserve_pointer(&self) -> bool {
        let add = |count| (count < MAX_STORED_POINTERS).then_some(count + 1);
        self.pointers.fetch_update(Relaxed, Relaxed, add).is_ok()
    }
}
