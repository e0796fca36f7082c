//! Where a peer's chunks come from. The folder store is one source; upstreams are others.

use crate::address::Address;
use crate::via::Via;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use prometheus_client::registry::Registry;
use std::fmt;

/// Found bytes are handed on in pieces of this size, so that a cancel takes effect between them.
const PIECE_BYTES: usize = 64 * 1024;

/// What a source's methods return: they are async, and the trait is used as an object.
pub type SourceFuture<'a, T> = BoxFuture<'a, Result<T, SourceError>>;

/// A place that holds, or can fetch, chunks.
///
/// The faces pass on what a source gives without checking it again: the client does, always.
pub trait ChunkSource: Send + Sync + 'static {
    /// The chunk's bytes, or `None` where this source does not have it.
    fn get(&self, address: Address) -> SourceFuture<'_, Option<ChunkBody>>;

    /// The same for a request that has come by other peers. Sources that ask peers tell them.
    fn get_via(&self, address: Address, _via: Via) -> SourceFuture<'_, Option<ChunkBody>> {
        self.get(address)
    }

    /// Whether this source itself holds the chunk, as far as can be told without reading it.
    fn has(&self, address: Address) -> SourceFuture<'_, bool>;

    /// Keeps the chunk. Once this returns, the chunk survives a crash.
    fn put(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome>;

    /// Keeps a chunk that can be had again elsewhere, so it may be dropped when others need the room.
    fn cache(&self, chunk: Chunk) -> SourceFuture<'_, PutOutcome> {
        self.put(chunk)
    }

    /// The newest pointer record that is known to be at this address.
    fn pointer(&self, _address: Address, _via: Via) -> SourceFuture<'_, Option<Bytes>> {
        Box::pin(async { Ok(None) })
    }

    /// Adds what this source counts to the metrics.
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

/// A found chunk's bytes, in pieces, with their total length known beforehand.
pub struct ChunkBody {
    length: u32,
    pieces: BoxStream<'static, Result<Bytes, SourceError>>,
}

impl ChunkBody {
    /// A body that is in memory already. `bytes` are at most 4 GiB, as the protocol's lengths are.
    pub fn whole(bytes: Bytes) -> Self {
        let length = u32::try_from(bytes.len()).expect("a chunk is far smaller than 4 GiB");
        let pieces = stream::unfold(bytes, |mut rest| async move {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            (!piece.is_empty()).then_some((Ok(piece), rest))
        });
        Self::stream(length, pieces.boxed())
    }

    /// A body that arrives piece by piece. If it fails midway, the answer is broken off.
    pub fn stream(length: u32, pieces: BoxStream<'static, Result<Bytes, SourceError>>) -> Self {
        Self { length, pieces }
    }

    /// How many bytes the pieces have together.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// The pieces, to be sent in order.
    pub fn into_pieces(self) -> BoxStream<'static, Result<Bytes, SourceError>> {
        self.pieces
    }
}

/// What became of a chunk that was to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PutOutcome {
    /// It was new.
    Stored,
    /// The source had it.
    AlreadyThere,
    /// There is no room for it.
    Full,
}

/// What a source holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SourceStats {
    /// How many chunks.
    pub chunks: u64,
    /// How many bytes they have together.
    pub bytes: u64,
    /// How many damaged chunks were taken out of service since the start.
    pub quarantined: u64,
    /// How many were dropped to make room since the start.
    pub evicted: u64,
}

/// Why a source could not answer.
#[derive(Clone, Debug)]
pub enum SourceError {
    /// Too much to do. Another try later may work.
    Busy,
    /// Something broke. The text is for the log, never for the client.
    Failed(String),
    /// It is not there, or no longer. The text is for the log.
    Unreachable(String),
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy => f.write_str("the source is busy"),
            Self::Failed(why) => write!(f, "the source failed: {why}"),
            Self::Unreachable(why) => write!(f, "the source could not be reached: {why}"),
        }
    }
}

impl std::error::Error for SourceError {}
