//! The sources of a peer's chunks. The folder store is one source; upstreams are others.

use crate::address::Address;
use crate::via::Via;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use prometheus_client::registry::Registry;
use std::fmt;

/// The size of the pieces in which chunks are sent, in bytes. A cancellation takes effect between two pieces.
const PIECE_BYTES: usize = 64 * 1024;

/// The return type of a source's methods. The trait must be usable as a trait object, so its methods cannot be `async
/// fn`.
pub type SourceFuture<'a, T> = BoxFuture<'a, Result<T, SourceError>>;

/// A place that stores or fetches chunks.
///
/// The transports send what a source returns without verifying it. Clients always verify it.
pub trait ChunkSource: Send + Sync + 'static {
    /// The chunk's bytes, or `None` if this source does not have it.
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>>;

    /// Like `get`, for a request that other peers forwarded. Sources that ask peers pass `via` on.
    fn get_via(&self, address: Address, _via: Via) -> SourceFuture<'_, Option<ChunkBody>> {
        self.get(address)
    }

    /// Whether this source itself stores the chunk. May answer without reading the chunk.
    fn has(&self, address: Address) -> SourceFuture<'_, bool>;

    /// Stores the chunk. Once this returns, the chunk survives a crash.
    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome>;

    /// Caches a chunk that another source also has. The chunk may be evicted later.
    fn cache(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.put(chunk)
    }

    /// The newest known pointer record at this address.
    fn pointer(&self, _address: Address, _via: Via) -> SourceFuture<'_, Option<Bytes>> {
        Box::pin(async { Ok(None) })
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

    /// The total length of the pieces in bytes.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The pieces, in order.
    pub fn into_pieces(self) -> BoxStream<'static, Result<Bytes, SourceError>> {
        self.pieces
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
            Self::Denied => f.write_str("the operator denies the address"),
            Self::Failed(why) => write!(f, "the source failed: {why}"),
            Self::Unreachable(why) => write!(f, "the source could not be reached: {why}"),
        }
    }
}

impl std::error::Error for SourceError {}
