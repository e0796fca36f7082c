//! Compares all stored chunks with their addresses.

use super::chunk_file::read_file;
use super::eviction::ChunkClass;
use super::layout::Layout;
use super::{CLASSES, scan};
use crate::address::Address;
use crate::parallel;
use std::io;
use std::sync::{Mutex, PoisonError};

/// The result of a check.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// The number of chunks whose bytes match their address.
    pub good: u64,
    /// The total size of these chunks in bytes.
    pub good_bytes: u64,
    /// The chunks whose bytes do not match their address.
    pub damaged: Vec<(Address, ChunkClass)>,
    /// The chunks that could not be read.
    pub unreadable: Vec<Address>,
}

/// Checks all chunks. Changes nothing.
pub fn check(layout: &Layout) -> io::Result<CheckReport> {
    let mut chunks = Vec::new();
    for class in CLASSES {
        scan::for_each_chunk(&layout.chunks(class), |address, _| {
            chunks.push((address, class));
        })?;
    }
    let report = Mutex::new(CheckReport::default());
    parallel::for_each(&chunks, |&(address, class)| {
        let path = layout.chunk(address, class);
        let read = read_file(&path)
            .map(|bytes| bytes.map(|bytes| (bytes.len(), Address::of(&bytes) == address)));
        let mut report = report.lock().unwrap_or_else(PoisonError::into_inner);
        match read {
            Ok(Some((length, true))) => {
                report.good += 1;
                report.good_bytes += length as u64;
            }
            Ok(Some((_, false))) => report.damaged.push((address, class)),
            // A running peer evicted or moved the chunk.
            Ok(None) => {}
            Err(error) => {
                tracing::error!(path = %path.display(), %error, "chunk not readable");
                report.unreadable.push(address);
            }
        }
    });
    let mut report = report.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.damaged.sort_by_key(|&(address, _)| address);
    report.unreadable.sort();
    Ok(report)
}
