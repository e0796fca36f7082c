//! Counts removed files, so that a read notices a removal that happened meanwhile.

use crate::address::Address;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

/// The number of removals, for groups of addresses. A reader takes no lock: a write holds its lock until the disk has
/// the chunk.
pub struct Removals([AtomicU64; 64]);

impl Default for Removals {
    fn default() -> Self {
        Self([const { AtomicU64::new(0) }; 64])
    }
}

impl Removals {
    /// The number of removals so far, of this address and of others in its group.
    pub fn count(&self, address: Address) -> u64 {
        self.of(address).load(SeqCst)
    }

    /// Counts a removal. Call it after the file is gone, and before the caches forget the chunk.
    pub fn record(&self, address: Address) {
        self.of(address).fetch_add(1, SeqCst);
    }

    fn of(&self, address: Address) -> &AtomicU64 {
        &self.0[usize::from(address.as_bytes()[Address::BYTES - 1]) % self.0.len()]
    }
}
