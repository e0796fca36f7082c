//! Atomic and durable file writes. After a crash, a file is either complete or absent.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The permissions of a new file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileAccess {
    /// The permissions that the process's umask allows.
    Default,
    /// Only the owner may read and write the file.
    OwnerOnly,
}

/// Writes `bytes` to `temporary`, then renames it to `path` on the same file system. Returns once the file would
/// survive a power loss. Creates missing folders of `path`.
pub fn write_durably(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    access: FileAccess,
) -> io::Result<()> {
    let written = write_and_rename(temporary, path, bytes, access);
    if written.is_err() {
        // The next start removes the temporary file if this fails.
        let _ = fs::remove_file(temporary);
    }
    written
}

fn write_and_rename(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    access: FileAccess,
) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(match access {
            FileAccess::Default => 0o666,
            FileAccess::OwnerOnly => 0o600,
        })
        .open(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    let folder = path.parent().expect("a file is in a folder");
    create_folders_durably(folder)?;
    fs::rename(temporary, path)?;
    File::open(folder)?.sync_all()
}

/// Whether a write failed because there is no room for it.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
    )
}

/// Moves a file atomically on the same file system. Returns once the move would survive a power loss. Creates missing
/// folders of `to`.
pub fn move_durably(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().expect("a file is in a folder");
    create_folders_durably(folder)?;
    fs::rename(from, to)?;
    File::open(folder)?.sync_all()
}

/// A new folder is an entry of its parent folder, so the parent must be synced, too.
fn create_folders_durably(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let above = folder.parent().ok_or(io::ErrorKind::NotFound)?;
    create_folders_durably(above)?;
    match fs::create_dir(folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => File::open(above)?.sync_all(),
    }
}
