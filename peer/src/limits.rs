//! Every bound the peer keeps, in one place.

use crate::asker::Rates;
use std::num::NonZeroUsize;
use std::time::Duration;

/// The largest chunk of the network: 4 MiB.
pub const MAX_CHUNK_BYTES: u32 = 4 * 1024 * 1024;

/// The most addresses in one GET or HAS.
pub const MAX_ADDRESSES_PER_REQUEST: u8 = 64;

/// The longest write token.
pub const MAX_TOKEN_BYTES: usize = 1024;

/// The length of every pointer record.
pub const POINTER_BYTES: usize = 5303;

/// How long a connection to an upstream may take.
pub const UPSTREAM_CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// Chunks from upstreams that wait for the disk, at a time. Further ones wait before they are served.
pub const STORING_CHUNKS: usize = 16;

/// Of how many chunks it is remembered that no upstream has them.
pub const REMEMBERED_ABSENT: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

/// For how long a client may save up what it did not ask for.
pub const BURST: Duration = Duration::from_secs(5);

/// Of how many client addresses it is known what they asked for lately.
pub const REMEMBERED_CLIENTS: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

/// One session gets at most this part of the memory for chunks …
const SHARE_OF_SESSION: usize = 4;

/// … and all sessions and connections of one client address this. They may be those of many people behind one router.
const SHARE_OF_NETWORK: usize = 2;

/// So much more is for chunks that are fetched while nobody waits for them.
const SHARE_OF_UNATTENDED: usize = 4;

/// How many answers of one request are fetched ahead of the one being sent.
pub const PREFETCHED_ANSWERS: usize = 3;

/// To so many that grows while the answers are small: each may have to come from an upstream, far away.
pub const PREFETCHED_SMALL_ANSWERS: usize = 15;

/// What is small there.
pub const SMALL_ANSWER_BYTES: u32 = 64 * 1024;

/// The longest data map that an OPEN reads, as a record or opened: some 50,000 chunks, or 200 GB of file.
pub const MAX_DATA_MAP_BYTES: u32 = MAX_CHUNK_BYTES;

/// A data map up to this size, of a file of up to 3 GB, costs about as much as the stream it is read for.
pub const SMALL_DATA_MAP_BYTES: u32 = 64 * 1024;

/// The most chunks of the file that an OPEN sends: some 4 GB. Their addresses cost half as much as a small data map.
pub const MAX_OPENED_CHUNKS: usize = 1024;

/// How many larger ones OPENs may hold at a time.
pub const LARGE_DATA_MAPS: usize = 16;

/// A chunk that is sent or taken slower than this, on average, is given up: it holds room in memory.
pub const MIN_BYTES_PER_SECOND: u32 = 16 * 1024;

/// Data of one session that waits for the client's acknowledgement. It bounds memory, and the speed
/// on long paths: 4 MiB over 100 ms is 40 MB/s.
pub const SEND_WINDOW_BYTES: u64 = 4 * 1024 * 1024;

/// Bytes of one upload that may be under way before the peer has read them.
pub const STREAM_RECEIVE_WINDOW_BYTES: u32 = 2 * 1024 * 1024;

/// The same over all streams of a session.
pub const SESSION_RECEIVE_WINDOW_BYTES: u32 = 8 * 1024 * 1024;

/// How long a finished answer may take to reach the client before its stream is reset.
pub const DELIVERY_TIMEOUT: Duration = Duration::from_secs(120);

/// The longest HTTP request head. Pages of one site can set some 180 cookies of 4 kB for the host and its other names,
/// and a request that carries them must not fail: that would be a way to cut a user off from the host.
pub const MAX_HTTP_HEAD_BYTES: usize = 1024 * 1024;

/// Every connection has room for a head of this length; a longer one waits for one of …
pub const USUAL_HTTP_HEAD_BYTES: usize = 32 * 1024;

/// … so many places.
pub const LONG_HTTP_HEADS: usize = 64;

/// The most bytes that are read from a connection at a time, which bounds its buffer between requests.
pub const HTTP_READ_BYTES: usize = 64 * 1024;

/// The bounds an operator can set.
#[derive(Clone, Debug)]
pub struct Limits {
    /// WebTransport sessions at a time. More are refused.
    pub sessions: usize,
    /// Requests under way in one session. A client that wants more waits.
    pub streams_per_session: u32,
    /// HTTP connections at a time. More wait to be accepted.
    pub http_connections: usize,
    /// Chunks in memory at a time, over both faces. A request that waits too long for one is told `busy`.
    pub chunks_in_memory: usize,
    /// What one client address may ask for.
    pub rates: Rates,
    /// How long a connection without a request is kept, and how long a client may take no bytes of an answer.
    pub idle_timeout: Duration,
    /// How long a request may take to arrive, and a source to answer it.
    pub request_timeout: Duration,
    /// How long answers under way may go on after a signal to stop.
    pub shutdown_grace: Duration,
}

impl Limits {
    /// Chunks in memory at a time for one session.
    pub fn chunks_of_session(&self) -> usize {
        (self.chunks_in_memory / SHARE_OF_SESSION).max(1)
    }

    /// The same for one client address.
    pub fn chunks_of_network(&self) -> usize {
        (self.chunks_in_memory / SHARE_OF_NETWORK).max(1)
    }

    /// Chunks beyond those, that are fetched while nobody waits for them.
    pub fn chunks_unattended(&self) -> usize {
        (self.chunks_in_memory / SHARE_OF_UNATTENDED).max(1)
    }

    /// How long a chunk of `length` bytes may be on its way, in or out.
    pub fn transfer_timeout(&self, length: u32) -> Duration {
        self.request_timeout + Duration::from_secs(u64::from(length / MIN_BYTES_PER_SECOND))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            sessions: 256,
            streams_per_session: 256,
            http_connections: 1024,
            chunks_in_memory: 128,
            rates: Rates::default(),
            idle_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(20),
            shutdown_grace: Duration::from_secs(5),
        }
    }
}
