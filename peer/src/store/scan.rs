//! What a store's folders hold when it is opened.

use crate::address::Address;
use std::fs;
use std::io;
use std::path::Path;

/// Calls `visit` with the chunks below `folder`. Files that a store did not name so are left alone.
pub fn for_each_chunk(
    folder: &Path,
    mut visit: impl FnMut(Address, &fs::Metadata),
) -> io::Result<()> {
    for_each_entry(folder, |first| {
        for_each_entry(&first.path(), |second| {
            for_each_entry(&second.path(), |file| {
                let name = file.file_name();
                let name = name.to_string_lossy();
                let address = name
                    .parse()
                    .ok()
                    .filter(|_| first.file_name() == name[..2] && second.file_name() == name[2..4]);
                match address {
                    Some(address) => visit(address, &file.metadata()?),
                    None => tracing::warn!(path = %file.path().display(), "not a chunk; ignored"),
                }
                Ok(())
            })
        })
    })
}

/// Removes the files in `folder`.
pub fn empty(folder: &Path) -> io::Result<()> {
    for_each_entry(folder, |file| fs::remove_file(file.path()))
}

/// Calls `visit` with everything in `folder`; a file in its place has nothing in it.
fn for_each_entry(
    folder: &Path,
    mut visit: impl FnMut(&fs::DirEntry) -> io::Result<()>,
) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        visit(&entry?)?;
    }
    Ok(())
}
