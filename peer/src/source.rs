//! The sources of a peer's chunks. The folder store is one source; upstreams are others.

use crate::address::Address;
use crate::client::LookupAccount;
use crate::network::NetworkStatus;
use crate::paid_uploads::RelayedNetwork;
use crate::via::Via;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// The size of the pieces in which chunks are sent, in bytes. A cancellation takes effect between two pieces.
const PIECE_BYTES: usize = 64 * 1024;

/// The return type of a source's methods. The trait must be usable as a trait object, so its methods cannot be `async
/// fn`.
pub type SourceFuture<'a, T> = BoxFuture<'a, Result<T, SourceError>>;

/// A place that stores or fetches chunks.
///
/// The transports send what a source returns without verifying it. Clients always verify it.
pub trait ChunkSource: Send + Sync + 'static {
    /// The chunk's bytes, or `None` if this source does not have it. Asks no upstream.
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>>;

    /// Looks the chunk up at the upstreams. After `Found`, `get` has the bytes for a short time at least, so a caller
    /// needs no memory for a chunk while it waits.
    fn look_up(&self, _lookup: Lookup) -> SourceFuture<'_, LookupOutcome> {
        Box::pin(async { Ok(LookupOutcome::NotFound) })
    }

    /// Whether a lookup can take longer than clients wait. It is then worth starting early.
    fn has_slow_lookups(&self) -> bool {
        false
    }

    /// Whether this source itself stores the chunk. May answer without reading the chunk.
    fn has(&self, address: Address) -> SourceFuture<'_, bool>;

    /// Stores the chunk. Once this returns, the chunk survives a crash.
    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome>;

    /// Caches a chunk that another source also has. The chunk may be evicted later.
    fn cache(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.put(chunk)
    }

    /// The pointer record that this source itself stores at this address.
    fn pointer(&self, _address: Address) -> SourceFuture<'_, Option<Bytes>> {
        Box::pin(async { Ok(None) })
    }

    /// Stores a pointer record that its owner signed for this address, if it is newer than the stored one. Once this
    /// returns, the record survives a crash.
    fn put_pointer(
        &self,
        _address: Address,
        _record: Bytes,
    ) -> SourceFuture<'_, PutPointerOutcome> {
        Box::pin(async { Err(SourceError::Failed("stores no pointers".to_owned())) })
    }

    /// The newest of the `stored` pointer record and those of the upstreams.
    fn newest_pointer(
        &self,
        stored: Option<Bytes>,
        _lookup: Lookup,
    ) -> SourceFuture<'_, Option<Bytes>> {
        Box::pin(async { Ok(stored) })
    }

    /// Whether the operator denies the address. The other methods then fail with [`SourceError::Denied`].
    fn is_denied(&self, _address: Address) -> bool {
        false
    }

    /// Checks that the source can store chunks now.
    fn check_writable(&self) -> SourceFuture<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    /// Adds the metrics of this source.
    fn register(&self, _registry: &mut Registry) {}

    /// Totals for `/-/info` and the metrics. Called often, so it must be cheap.
    fn stats(&self) -> SourceStats;

    /// The state of the connection to the Autonomi network, if the source reads from it.
    fn network(&self) -> Option<NetworkStatus> {
        None
    }

    /// The Autonomi network for requests that are only about it, if the source is connected to it.
    fn relayed_network(&self) -> Option<Arc<dyn RelayedNetwork>> {
        None
    }
}

/// A request to the upstreams.
pub struct Lookup {
    /// The address of the chunk or pointer.
    pub address: Address,
    /// The peers that forwarded the request.
    pub via: Via,
    /// The client that pays for the lookup, whether or not it waits for the result.
    pub account: LookupAccount,
}

/// The result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupOutcome {
    /// The chunk is there.
    Found {
        /// Whether the bytes were charged to the account of this lookup when they arrived.
        is_charged: bool,
    },
    /// No upstream has the chunk.
    NotFound,
}

/// Bytes together with the address that was computed from them.
#[derive(Clone, Debug)]
pub struct Chunk {
    address: Address,
    bytes: Bytes,
}

impl Chunk {
    /// Hashes `bytes`. Takes about a millisecond for the largest chunk.
    pub fn new(bytes: Bytes) -> Self {
        Self {
            address: Address::of(&bytes),
            bytes,
        }
    }

    /// The address of [`bytes`](Self::bytes).
    pub fn address(&self) -> Address {
        self.address
    }

    /// The chunk's content.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The number of bytes.
    pub fn length(&self) -> u32 {
        u32::try_from(self.bytes.len()).expect("at most 4 MiB")
    }
}

/// The bytes of a chunk, in pieces. Their total length is known in advance.
pub struct ChunkBody {
    length: u32,
    pieces: BoxStream<'static, Result<Bytes, SourceError>>,
}

impl ChunkBody {
    /// A body that is in memory already. `bytes` must be shorter than 4 GiB, because the protocol's lengths are
    /// 32-bit.
    pub fn from_bytes(bytes: Bytes) -> Self {
        let length = u32::try_from(bytes.len()).expect("a chunk is far smaller than 4 GiB");
        let pieces = stream::unfold(bytes, |mut rest| async move {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            (!piece.is_empty()).then_some((Ok(piece), rest))
        });
        Self::stream(length, pieces.boxed())
    }

    /// A body that arrives piece by piece. If a piece fails, the response is aborted.
    pub fn stream(length: u32, pieces: BoxStream<'static, Result<Bytes, SourceError>>) -> Self {
        Self { length, pieces }
    }

    /// Keeps `guard` until the body and all of its pieces are dropped, wherever they are then.
    pub fn holding(self, guard: impl Send + Sync + 'static) -> Self {
        let guard = Arc::new(guard);
        let hold = move |bytes| hold_guard(bytes, &guard);
        let pieces = self.pieces.map(move |piece| piece.map(&hold));
        Self::stream(self.length, pieces.boxed())
    }

    /// The total length of the pieces in bytes.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The pieces, in order.
    pub fn into_pieces(self) -> BoxStream<'static, Result<Bytes, SourceError>> {
        self.pieces
    }
}

/// The bytes, which keep the guard alive.
pub fn hold_guard(bytes: Bytes, guard: &Arc<impl Send + Sync + 'static>) -> Bytes {
    let guard = Arc::clone(guard);
    Bytes::from_owner(Held {
        bytes,
        _guard: guard,
    })
}

/// Bytes that keep a guard alive.
struct Held<G> {
    bytes: Bytes,
    _guard: Arc<G>,
}

impl<G> AsRef<[u8]> for Held<G> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// The result of storing a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// The chunk was new.
    Stored,
    /// The source already had the chunk.
    AlreadyStored,
    /// There is no room for the chunk.
    Full,
}

/// The result of storing a pointer record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutPointerOutcome {
    /// The record is stored.
    Stored,
    /// The source already had a record of the same state.
    AlreadyStored,
    /// The source has a record with a larger counter, or with the same counter and another target.
    Outdated,
    /// There is no room for another pointer.
    Full,
}

/// The totals of a source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceStats {
    /// The number of stored chunks.
    pub chunks: u64,
    /// The total size of the chunks in bytes.
    pub bytes: u64,
    /// The number of damaged chunks that were quarantined since the start.
    pub quarantined: u64,
    /// The number of chunks that were evicted since the start.
    pub evicted: u64,
}

/// Why a source could not answer.
#[derive(Clone, Debug)]
pub enum SourceError {
    /// The source is overloaded. A later request may succeed.
    Busy,
    /// The lookup takes longer than the client waits. Another request after this time may find the chunk.
    Later(Duration),
    /// The operator denies the address.
    Denied,
    /// An internal failure. The text is for the log, never for the client.
    Failed(String),
    /// The source is unreachable. The text is for the log.
    Unreachable(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the source is busy"),
            Self::Later(_) => f.write_str("the lookup takes long"),
            Self::Denied => f.write_str("the operator denies the address"),
            Self::Failed(why) => write!(f, "the source failed: {why}"),
            Self::Unreachable(why) => write!(f, "the source could not be reached: {why}"),
        }
    }
}

impl std::error::Error for SourceError {}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    #[test]
    fn a_body_releases_its_guard_with_the_last_piece() {
        let guard = Arc::new(());
        let body = ChunkBody::from_bytes(vec![7; 2 * PIECE_BYTES].into());
        let mut pieces = body.holding(Arc::clone(&guard)).into_pieces();
        let mut next = || pieces.next().now_or_never().unwrap();
        let first = next().unwrap().unwrap();
        let last = next().unwrap().unwrap();
        assert!(next().is_none());
        drop((pieces, first));
        assert_eq!(Arc::strong_count(&guard), 2);
        let tail = last.slice(PIECE_BYTES - 1..);
        drop(last);
        assert_eq!((&tail[..], Arc::strong_count(&guard)), (&[7][..], 2));
        drop(tail);
        assert_eq!(Arc::strong_count(&guard), 1);
    }
}
