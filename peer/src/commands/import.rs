//! The command `import`: copies chunks from a folder into the store.

use super::print;
use crate::address::Address;
use crate::command_error::CommandError;
use crate::config::StoreArgs;
use crate::limits::MAX_CHUNK_BYTES;
use crate::logging::{self, LogArgs};
use crate::parallel;
use crate::source::{Chunk, PutOutcome};
use crate::store::FolderStore;
use serde::Serialize;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The flags of `import`.
#[derive(Clone, Debug, clap::Args)]
pub struct ImportArgs {
    /// The folder to copy chunks from. Files whose name is their address are chunks; the other files are skipped
    #[arg(value_name = "FOLDER")]
    pub from: PathBuf,

    /// Also store every other file of at most 4 MiB as a chunk
    #[arg(long)]
    pub all_files: bool,

    /// The store.
    #[command(flatten)]
    pub storage: StoreArgs,

    #[command(flatten)]
    pub log: LogArgs,
}

#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct ImportResult {
    event: &'static str,
    stored: u64,
    present: u64,
    skipped: u64,
    refused: u64,
}

/// The result for one file.
enum Imported {
    Stored,
    Present,
    /// The file is not a chunk.
    Skipped,
}

/// Imports all chunks. Fails if one was refused.
pub fn import(args: &ImportArgs) -> Result<(), CommandError> {
    logging::start(args.log);
    let denied = args.storage.denied()?;
    let mut files = Vec::new();
    list_files(&args.from, &mut files).map_err(|error| {
        io::Error::new(error.kind(), format!("{}: {error}", args.from.display()))
    })?;
    let store = args.storage.open(0)?;
    let result = Mutex::new(ImportResult {
        event: "imported",
        ..ImportResult::default()
    });
    parallel::for_each(&files, |file| {
        let imported = import_file(&store, &denied, file, args.all_files);
        let mut result = result.lock().unwrap_or_else(PoisonError::into_inner);
        match imported {
            Ok(Imported::Stored) => result.stored += 1,
            Ok(Imported::Present) => result.present += 1,
            Ok(Imported::Skipped) => result.skipped += 1,
            Err(reason) => {
                result.refused += 1;
                tracing::error!(file = %file.display(), reason, "not imported");
            }
        }
    });
    let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
    print(&result);
    match result.refused {
        0 => Ok(()),
        refused => Err(CommandError::Failed(
            format!("{refused} files were not imported").into(),
        )),
    }
}

/// The files in the folder and its folders. Symbolic links are left out.
fn list_files(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        if kind.is_dir() {
            list_files(&entry.path(), files)?;
        } else if kind.is_file() {
            files.push(entry.path());
        }
    }
    Ok(())
}

fn import_file(
    store: &FolderStore,
    denied: &HashSet<Address>,
    file: &Path,
    all_files: bool,
) -> Result<Imported, String> {
    let name = file.file_name().and_then(|name| name.to_str());
    let named = name.and_then(|name| name.parse::<Address>().ok());
    if named.is_none() && !all_files {
        return Ok(Imported::Skipped);
    }
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|file| {
            file.take(u64::from(MAX_CHUNK_BYTES) + 1)
                .read_to_end(&mut bytes)
        })
        .map_err(|error| error.to_string())?;
    if bytes.len() > MAX_CHUNK_BYTES as usize {
        return Err("the file is larger than a chunk".to_owned());
    }
    let chunk = Chunk::new(bytes.into());
    if named.is_some_and(|named| named != chunk.address()) {
        return Err("the bytes do not match the address".to_owned());
    }
    if denied.contains(&chunk.address()) {
        return Err("the address is on the deny list".to_owned());
    }
    match store.import(&chunk).map_err(|error| error.to_string())? {
        PutOutcome::Stored => Ok(Imported::Stored),
        PutOutcome::AlreadyStored => Ok(Imported::Present),
        PutOutcome::Full => Err("the store is full".to_owned()),
    }
}
