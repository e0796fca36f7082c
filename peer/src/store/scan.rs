//! Scans the folders of a store.

use crate::address::Address;
use std::fs;
use std::io;
use std::path::Path;

/// Calls `visit` for each chunk below `folder`. Ignores files whose names do not match the layout.
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
                    Some(address) => match file.metadata() {
                        Ok(metadata) => visit(address, &metadata),
                        // A running peer evicted the chunk during the scan.
                        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                        Err(error) => return Err(error),
                    },
                    None => tracing::warn!(path = %file.path().display(), "not a chunk; ignored"),
                }
                Ok(())
            })
        })
    })
}

/// Removes the files in `folder`. Returns their number.
pub fn empty(folder: &Path) -> io::Result<u64> {
    let mut removed = 0;
    for_each_entry(folder, |file| {
        fs::remove_file(file.path())?;
        removed += 1;
        Ok(())
    })?;
    Ok(removed)
}

/// Calls `visit` for each entry of `folder`. A file in place of the folder counts as empty.
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
