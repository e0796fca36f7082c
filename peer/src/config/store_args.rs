//! The flags of the commands that open a store.

use super::InvalidSetting;
use crate::address::Address;
use crate::address_list;
use crate::command_error::CommandError;
use crate::store::{EvictionPolicy, FolderStore, StoreConfig, StoreLimit};
use crate::units::parse_bytes;
use clap::ValueEnum;
use std::collections::HashSet;
use std::io;
use std::path::PathBuf;

/// The flags of the commands that open a store.
#[derive(Clone, Debug, clap::Args)]
pub struct StoreArgs {
    /// The folder that stores the chunks; created if it does not exist
    #[arg(long, env = "ANTWAY_PEER_STORE", value_name = "FOLDER")]
    pub store: PathBuf,

    /// The maximum total size of stored chunks (such as 10GiB), `half` of the space that is free at the start, or
    /// `none`
    #[arg(
        long,
        env = "ANTWAY_PEER_MAX_STORE_BYTES",
        value_name = "SIZE",
        default_value = "half",
        value_parser = parse_limit
    )]
    pub max_store_bytes: StoreLimit,

    /// The chunks to evict to make room for others, the least recently used first
    #[arg(
        long,
        env = "ANTWAY_PEER_EVICT",
        value_name = "CHUNKS",
        default_value = "pulled"
    )]
    pub evict: Evict,

    /// A file of addresses, one per line, whose chunks are never evicted (repeatable, or with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_PIN_FILE",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub pin_file: Vec<PathBuf>,

    /// A file of addresses, one per line, that are not served or stored (repeatable, or with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_DENY_FILE",
        value_name = "FILE",
        value_delimiter = ','
    )]
    pub deny_file: Vec<PathBuf>,
}

/// The value of `--evict`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Evict {
    /// No chunk. A full store refuses new chunks.
    None,
    /// Chunks that came from upstreams.
    Pulled,
    /// Chunks that came from upstreams, and then chunks that clients wrote.
    All,
}

fn parse_limit(text: &str) -> Result<StoreLimit, String> {
    match text {
        "half" => Ok(StoreLimit::HalfOfFreeSpace),
        "none" => Ok(StoreLimit::Bytes(u64::MAX)),
        size => parse_bytes(size)
            .map(StoreLimit::Bytes)
            .map_err(|error| format!("{error}, nor `half` or `none`")),
    }
}

impl StoreArgs {
    /// Opens the store. Fails if it is in use, or if a pin file cannot be read.
    pub fn open(&self, memory_cache_bytes: u64) -> Result<FolderStore, CommandError> {
        let config = StoreConfig {
            limit: self.max_store_bytes,
            eviction: self.eviction()?,
            memory_cache_bytes,
        };
        let store = FolderStore::open(&self.store, config).map_err(|error| {
            let folder = self.store.display();
            io::Error::new(error.kind(), format!("--store {folder}: {error}"))
        })?;
        Ok(store)
    }

    fn eviction(&self) -> Result<EvictionPolicy, InvalidSetting> {
        Ok(EvictionPolicy {
            pulled: self.evict != Evict::None,
            written: self.evict == Evict::All,
            pinned: read_lists("--pin-file", &self.pin_file)?,
        })
    }

    /// The addresses of the deny files.
    pub fn denied(&self) -> Result<HashSet<Address>, InvalidSetting> {
        read_lists("--deny-file", &self.deny_file)
    }
}

fn read_lists(flag: &'static str, files: &[PathBuf]) -> Result<HashSet<Address>, InvalidSetting> {
    let mut addresses = HashSet::new();
    for file in files {
        let list = address_list::read(file);
        addresses.extend(list.map_err(|error| InvalidSetting::new(flag, error))?);
    }
    Ok(addresses)
}
