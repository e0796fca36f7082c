//! The command `check`: compares all stored chunks with their addresses.

use super::print;
use crate::command_error::CommandError;
use crate::logging::{self, LogArgs};
use crate::store::{FolderStore, StoreConfig};
use serde::Serialize;
use std::io;
use std::path::PathBuf;

/// The flags of `check`.
#[derive(Clone, Debug, clap::Args)]
pub struct CheckArgs {
    /// The folder that stores the chunks
    #[arg(long, env = "ANTWAY_PEER_STORE", value_name = "FOLDER")]
    pub store: PathBuf,

    /// Change nothing; then the peer may run during the check
    #[arg(long)]
    pub report_only: bool,

    #[command(flatten)]
    pub log: LogArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CheckResult {
    event: &'static str,
    good: u64,
    good_bytes: u64,
    damaged: Vec<String>,
    unreadable: Vec<String>,
    quarantined: u64,
}

/// Checks all chunks, and quarantines damaged ones. Fails if a chunk is damaged or unreadable.
pub fn check(args: &CheckArgs) -> Result<(), CommandError> {
    logging::start(args.log);
    let in_store = |error: io::Error| {
        let folder = args.store.display();
        io::Error::new(error.kind(), format!("--store {folder}: {error}"))
    };
    // Opening a store creates it.
    if !args.store.is_dir() {
        return Err(in_store(io::ErrorKind::NotFound.into()).into());
    }
    let (report, quarantined) = match args.report_only {
        true => (FolderStore::check_only(&args.store).map_err(in_store)?, 0),
        false => {
            let store = FolderStore::open(&args.store, StoreConfig::default()).map_err(in_store)?;
            let report = store.check().map_err(in_store)?;
            (report, store.quarantined())
        }
    };
    let result = CheckResult {
        event: "checked",
        good: report.good,
        good_bytes: report.good_bytes,
        damaged: report.damaged.iter().map(|(a, _)| a.to_string()).collect(),
        unreadable: report.unreadable.iter().map(ToString::to_string).collect(),
        quarantined,
    };
    print(&result);
    let bad = result.damaged.len() + result.unreadable.len();
    match bad {
        0 => Ok(()),
        _ => Err(CommandError::Failed(
            format!("{bad} chunks are damaged").into(),
        )),
    }
}
