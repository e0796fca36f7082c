//! The command `gc`: evicts chunks down to the store's limit, and removes what nothing needs.

use super::print;
use crate::command_error::CommandError;
use crate::config::StoreArgs;
use crate::logging::{self, LogArgs};
use crate::source::ChunkSource;
use serde::Serialize;

/// The flags of `gc`.
#[derive(Clone, Debug, clap::Args)]
pub struct GcArgs {
    /// The store.
    #[command(flatten)]
    pub storage: StoreArgs,

    /// Also delete the damaged chunks in quarantine
    #[arg(long)]
    pub empty_quarantine: bool,

    #[command(flatten)]
    pub log: LogArgs,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GcResult {
    event: &'static str,
    evicted: u64,
    denied: u64,
    empty_folders: u64,
    quarantined: u64,
    chunks: u64,
    bytes: u64,
    max_bytes: u64,
}

/// Cleans up the store. Fails if the chunks that may not be evicted exceed the limit.
pub fn gc(args: &GcArgs) -> Result<(), CommandError> {
    logging::start(args.log);
    let denied = args.storage.denied()?;
    // Opening the store removes the files that a crash left half-written.
    let store = args.storage.open(0)?;
    let denied = store.remove(&denied)?;
    store.evict_to_limit()?;
    let leftovers = store.remove_leftovers(args.empty_quarantine)?;
    let stats = store.stats();
    let max_bytes = store.max_bytes();
    print(&GcResult {
        event: "collected",
        evicted: stats.evicted,
        denied,
        empty_folders: leftovers.empty_folders,
        quarantined: leftovers.quarantined,
        chunks: stats.chunks,
        bytes: stats.bytes,
        max_bytes,
    });
    match stats.bytes <= max_bytes {
        true => Ok(()),
        false => Err(CommandError::Failed(
            "the chunks that may not be evicted exceed --max-store-bytes".into(),
        )),
    }
}
