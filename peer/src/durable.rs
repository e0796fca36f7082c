//! Writing a file so that it is there whole, or not at all, whatever happens meanwhile.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Who may read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whoever the process's umask lets.
    Usual,
    /// Its owner only.
    Owner,
}

/// Writes `bytes` to `path` by way of `temporary`, which is on the same file system, and returns once
/// they would survive a loss of power. Missing folders of `path` are made.
pub fn write_durably(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    readers: Readers,
) -> io::Result<()> {
    let written = write_and_rename(temporary, path, bytes, readers);
    if written.is_err() {
        // Nothing more can be done about it here; what stays is removed at the next start.
        let _ = fs::remove_file(temporary);
    }
    written
}

fn write_and_rename(
    temporary: &Path,
    path: &Path,
    bytes: &[u8],
    readers: Readers,
) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(match readers {
            Readers::Usual => 0o666,
            Readers::Owner => 0o600,
        })
        .open(temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    let folder = path.parent().expect("a file is in a folder");
    create_folders_durably(folder)?;
    fs::rename(temporary, path)?;
    File::open(folder)?.sync_all()
}

/// Moves a file on the same file system so that it is in the one place or in the other, and returns once that
/// would survive a loss of power. Missing folders of `to` are made.
pub fn move_durably(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().expect("a file is in a folder");
    create_folders_durably(folder)?;
    fs::rename(from, to)?;
    File::open(folder)?.sync_all()
}

/// A new folder is an entry in the one above, which has to be synced too.
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
