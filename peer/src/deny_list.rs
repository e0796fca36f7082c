//! The deny list: addresses that the operator took down. The peer does not serve, store or look up their records.

use crate::address::Address;
use crate::address_list;
use crate::network::NetworkStatus;
use crate::paid_uploads::RelayedNetwork;
use crate::source::{
    Chunk, ChunkBody, ChunkSource, Lookup, LookupOutcome, PutOutcome, PutPointerOutcome,
    SourceError, SourceFuture, SourceStats,
};
use bytes::Bytes;
use prometheus_client::registry::Registry;
use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

/// How often the files are checked for changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The denied addresses of some files, which may change while the peer runs.
pub struct DenyList {
    files: Vec<PathBuf>,
    denied: RwLock<HashSet<Address>>,
    /// The versions of the files that were read last.
    versions: Mutex<Vec<Option<FileVersion>>>,
}

/// Identifies the content of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileVersion {
    inode: u64,
    length: u64,
    modified: Option<SystemTime>,
}

impl FileVersion {
    /// `None` if there is no such file.
    fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        Some(Self {
            inode: metadata.ino(),
            length: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }
}

impl DenyList {
    /// Reads the files. The error names the file, and the line if one is wrong.
    pub fn load(files: Vec<PathBuf>) -> Result<Self, String> {
        let versions = versions_of(&files);
        let denied = read(&files)?;
        Ok(Self {
            files,
            denied: RwLock::new(denied),
            versions: Mutex::new(versions),
        })
    }

    /// Whether the address is on the list.
    pub fn contains(&self, address: Address) -> bool {
        let denied = self.denied.read().unwrap_or_else(PoisonError::into_inner);
        denied.contains(&address)
    }

    /// Reads the files again. If one cannot be read, the list stays as it is.
    pub fn reload(&self) {
        let versions = versions_of(&self.files);
        let read = read(&self.files);
        *self.versions.lock().unwrap_or_else(PoisonError::into_inner) = versions;
        match read {
            Ok(denied) => {
                tracing::info!(addresses = denied.len(), "deny list loaded");
                *self.denied.write().unwrap_or_else(PoisonError::into_inner) = denied;
            }
            Err(error) => tracing::error!(error, "deny list not loaded; the old one stays in use"),
        }
    }

    /// Reads the files again whenever they change.
    pub async fn reload_forever(self: Arc<Self>) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let list = Arc::clone(&self);
            let checking = tokio::task::spawn_blocking(move || list.reload_if_changed());
            if let Err(error) = checking.await {
                tracing::error!(%error, "deny list not checked");
            }
        }
    }

    fn reload_if_changed(&self) {
        let versions = versions_of(&self.files);
        let has_changed = {
            let known = self.versions.lock().unwrap_or_else(PoisonError::into_inner);
            *known != versions
        };
        if has_changed {
            self.reload();
        }
    }
}

fn versions_of(files: &[PathBuf]) -> Vec<Option<FileVersion>> {
    files.iter().map(|file| FileVersion::of(file)).collect()
}

fn read(files: &[PathBuf]) -> Result<HashSet<Address>, String> {
    let mut denied = HashSet::new();
    for file in files {
        denied.extend(address_list::read(file)?);
    }
    Ok(denied)
}

/// A source without the records of a deny list.
pub struct DenyingSource {
    inner: Arc<dyn ChunkSource>,
    deny_list: Arc<DenyList>,
}

impl DenyingSource {
    /// `inner` gets no requests for denied addresses.
    pub fn new(inner: Arc<dyn ChunkSource>, deny_list: Arc<DenyList>) -> Self {
        Self { inner, deny_list }
    }

    /// Calls `request` unless the address is denied. The list may change while the request runs, so the answer is
    /// checked, too.
    fn unless_denied<'a, T: Send + 'a>(
        &'a self,
        address: Address,
        request: impl FnOnce(&'a dyn ChunkSource) -> SourceFuture<'a, T>,
    ) -> SourceFuture<'a, T> {
        if self.is_denied(address) {
            return Box::pin(async { Err(SourceError::Denied) });
        }
        let answering = request(&*self.inner);
        Box::pin(async move {
            let answer = answering.await;
            match self.is_denied(address) {
                true => Err(SourceError::Denied),
                false => answer,
            }
        })
    }
}

impl ChunkSource for DenyingSource {
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>> {
        self.unless_denied(address, |inner| inner.get(address))
    }

    fn look_up(&self, lookup: Lookup) -> SourceFuture<'_, LookupOutcome> {
        self.unless_denied(lookup.address, |inner| inner.look_up(lookup))
    }

    fn has_slow_lookups(&self) -> bool {
        self.inner.has_slow_lookups()
    }

    fn has(&self, address: Address) -> SourceFuture<'_, bool> {
        self.unless_denied(address, |inner| inner.has(address))
    }

    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.unless_denied(chunk.address(), |inner| inner.put(chunk))
    }

    fn cache(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.unless_denied(chunk.address(), |inner| inner.cache(chunk))
    }

    fn pointer(&self, address: Address) -> SourceFuture<'_, Option<Bytes>> {
        self.unless_denied(address, |inner| inner.pointer(address))
    }

    fn put_pointer(&self, address: Address, record: Bytes) -> SourceFuture<'_, PutPointerOutcome> {
        self.unless_denied(address, |inner| inner.put_pointer(address, record))
    }

    fn newest_pointer(
        &self,
        stored: Option<Bytes>,
        lookup: Lookup,
    ) -> SourceFuture<'_, Option<Bytes>> {
        self.unless_denied(lookup.address, |inner| inner.newest_pointer(stored, lookup))
    }

    fn is_denied(&self, address: Address) -> bool {
        self.deny_list.contains(address) || self.inner.is_denied(address)
    }

    fn network(&self) -> Option<NetworkStatus> {
        self.inner.network()
    }

    fn relayed_network(&self) -> Option<Arc<dyn RelayedNetwork>> {
        self.inner.relayed_network()
    }

    fn check_writable(&self) -> SourceFuture<'_, ()> {
        self.inner.check_writable()
    }

    fn register(&self, registry: &mut Registry) {
        self.inner.register(registry);
    }

    fn stats(&self) -> SourceStats {
        self.inner.stats()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn addresses() -> [Address; 2] {
        [b"1", b"2"].map(|content| Address::of(content))
    }

    #[test]
    fn reads_the_files_again_after_a_change() {
        let folder = TempDir::new().unwrap();
        let files = ["a", "b"].map(|name| folder.path().join(name));
        let [one, two] = addresses();
        fs::write(&files[0], one.to_string()).unwrap();
        fs::write(&files[1], "").unwrap();
        let list = DenyList::load(files.to_vec()).unwrap();
        assert!(list.contains(one) && !list.contains(two));
        fs::write(&files[1], two.to_string()).unwrap();
        list.reload_if_changed();
        assert!(list.contains(one) && list.contains(two));
        fs::write(&files[0], "# none").unwrap();
        list.reload_if_changed();
        assert!(!list.contains(one) && list.contains(two));
    }

    #[test]
    fn an_unreadable_file_leaves_the_list_as_it_is() {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join("deny");
        assert!(DenyList::load(vec![file.clone()]).is_err());
        let [one, two] = addresses();
        fs::write(&file, one.to_string()).unwrap();
        let list = DenyList::load(vec![file.clone()]).unwrap();
        fs::write(&file, format!("{two}\nnonsense")).unwrap();
        list.reload_if_changed();
        assert!(list.contains(one) && !list.contains(two));
        fs::remove_file(&file).unwrap();
        list.reload_if_changed();
        assert!(list.contains(one));
        fs::write(&file, two.to_string()).unwrap();
        list.reload_if_changed();
        assert!(!list.contains(one) && list.contains(two));
    }
}
