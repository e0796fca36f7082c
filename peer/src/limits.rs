//! All limits of the peer.

mod configured;

pub use configured::{Limits, network_share, site_share};

use std::num::NonZeroUsize;
use std::time::Duration;

/// The maximum size of a chunk: 4 MiB. The network sets this limit.
pub const MAX_CHUNK_BYTES: u32 = 4 * 1024 * 1024;

/// The memory that an answer with a hosted file takes: what an HTTP/1 connection holds until the client reads it. So it
/// also limits the files that are open at a time.
pub const HOSTED_ANSWER_BYTES: u32 = 1024 * 1024;

/// The maximum number of addresses in one GET or HAS.
pub const MAX_ADDRESSES_PER_REQUEST: u8 = 64;

/// The minimum length of a write token in bytes. Every website can try tokens at a peer on the user's machine.
pub const MIN_TOKEN_BYTES: usize = 8;

/// The maximum length of a write token in bytes.
pub const MAX_TOKEN_BYTES: usize = 1024;

/// The length of every pointer record in bytes.
pub const POINTER_BYTES: usize = 5303;

/// The maximum number of pointer records in a store that clients may add to: 348 MB.
pub const MAX_STORED_POINTERS: u64 = 65_536;

/// The timeout for connecting to an upstream.
pub const UPSTREAM_CONNECT_TIMEOUT: Duration = Duration::from_secs(3);

/// The maximum number of upstream chunks that are written to the disk at a time.
pub const MAX_CACHE_WRITES: usize = 16;

/// The maximum number of upstream chunks that wait to be written. Their bytes are in memory only as long as they are
/// among the chunks that arrived last. Further chunks are not cached.
pub const MAX_QUEUED_CACHE_WRITES: usize = 1024;

/// The maximum number of nodes of the network that are asked for a chunk at the same time. Each answer takes up to
/// 9 MiB while it is decoded.
pub const MAX_NETWORK_TRANSFERS: usize = 32;

/// The maximum number of records in one request for quotes.
pub const MAX_QUOTED_RECORDS: usize = 64;

/// The maximum length of a request for quotes in bytes.
pub const MAX_QUOTES_REQUEST_BYTES: u32 = 16 * 1024;

/// The maximum number of pools in one request: those of a tree with 256 leaves.
pub const MAX_POOLS: usize = 16;

/// The maximum length of a request for pools in bytes.
pub const MAX_POOLS_REQUEST_BYTES: u32 = 4 * 1024;

/// How many requests a pool counts as. Its prices take about twice the work of the quotes for a record.
pub const REQUESTS_PER_POOL: usize = 2;

/// How far the time of a request for pools may be from the peer's, in seconds. Nodes refuse payments from the future.
pub const POOLS_CLOCK_TOLERANCE_SECONDS: u64 = 600;

/// The number of records of one request for quotes, or of pools, that the peer asks for at the same time.
pub const QUOTED_AT_ONCE: usize = 8;

/// The maximum number of records at a time that the peer collects quotes for, or brings to the network. One client network
/// gets half of them.
pub const MAX_PAID_RECORDS: usize = 32;

/// The maximum number of pointers at a time that the peer reads from the network for requests that are only about the
/// network. One client network gets half of them. A silent network holds each for [`NETWORK_READ_TIMEOUT`], so they are no
/// places of uploads.
pub const MAX_NETWORK_READS: usize = 32;

/// How long collecting the quotes for one record may take.
pub const QUOTE_TIMEOUT: Duration = Duration::from_secs(60);

/// How long reading one record from the network may take.
pub const NETWORK_READ_TIMEOUT: Duration = Duration::from_secs(45);

/// How long bringing one record to the network may take.
pub const PAID_STORE_TIMEOUT: Duration = Duration::from_secs(90);

/// The maximum length of a plan in bytes. One has about 65,000, and a proof that a chunk is in a paid tree about 125,000.
pub const MAX_PLAN_BYTES: u32 = 256 * 1024;

/// The maximum number of records that are on their way to a node of the network at the same time. Each takes up to
/// 9 MiB while it is sent.
#[cfg(feature = "autonomi")]
pub const MAX_NETWORK_UPLOADS: usize = 16;

/// The maximum number of entries of the negative cache.
pub const NEGATIVE_CACHE_ENTRIES: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

/// How long a client can accumulate unused requests and bytes.
pub const RATE_LIMIT_BURST: Duration = Duration::from_secs(5);

/// The maximum number of client networks whose rates are tracked.
pub const MAX_TRACKED_CLIENTS: NonZeroUsize = NonZeroUsize::new(65_536).unwrap();

/// An IPv6 /48 gets this many times the connections and rates of one /64.
pub const SITE_FACTOR: usize = 2;

/// One client network gets at most the sessions and HTTP connections divided by this, unless the operator sets a
/// number.
pub const CONNECTION_SHARE_DIVISOR: usize = 4;

/// The number of extra HTTP connections that get a short answer while all others are busy.
pub const RESERVED_HTTP_CONNECTIONS: usize = 16;

/// The number of files that stay free for chunks, if connections use up the files of the process.
pub const SPARE_FILES: usize = 32;

/// The number of complete TCP connections that wait until the peer accepts them. The kernel drops further ones, and their
/// clients try again after a second. Linux limits it to `net.core.somaxconn`.
pub const HTTP_BACKLOG: u32 = 1024;

/// How long a client may take to send its request on one of those connections.
pub const RESERVED_CONNECTION_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum number of refused HTTP connections that wait until their client has read the refusal.
pub const MAX_LINGERING_REFUSALS: usize = 64;

/// How long such a connection waits.
pub const REFUSAL_LINGER: Duration = Duration::from_secs(1);

/// The maximum length of a PROXY protocol header in bytes, with its extensions.
pub const MAX_PROXY_HEADER_BYTES: usize = 2048;

/// The maximum number of connections to the listener for metrics.
pub const METRICS_CONNECTIONS: usize = 16;

/// The maximum number of concurrent requests on one HTTP/2 connection.
pub const HTTP2_STREAMS: u32 = 64;

/// The maximum number of bytes of one HTTP/2 response that wait for the client.
pub const HTTP2_SEND_BUFFER_BYTES: usize = 64 * 1024;

/// The flow control window of one upload over HTTP/2, in bytes, and of all uploads of a connection.
pub const HTTP2_RECEIVE_WINDOW_BYTES: [u32; 2] = [256 * 1024, 1024 * 1024];

/// The number of requests that an HTTP/2 client may reset before the peer has begun to answer them. Then the
/// connection is closed. A client could otherwise make the peer work without a limit.
pub const HTTP2_RESETS: usize = 20;

/// The number of fields of a request head over HTTP/2. A head with more ends the connection. Browsers send each cookie as
/// a field, see [`MAX_HTTP_HEAD_BYTES`].
pub const MAX_HTTP2_FIELDS: usize = 400;

/// The longest `Host` and `Origin` that the peer reads: a name has at most 253 bytes, and there are a scheme and a port.
pub const MAX_HOST_BYTES: usize = 270;

/// The number of streams that a client may open at once in a WebTransport session. Datagrams count, too.
pub const SESSION_STREAM_BURST: f64 = 4096.0;

/// The number of such streams per second after that.
pub const SESSION_STREAMS_PER_SECOND: f64 = 1000.0;

/// The number of HTTP/2 frames that a client may send at once, although they move almost no bytes. A client that goes on is
/// read slowly.
pub const HTTP2_FRAME_BURST: f64 = 1024.0;

/// The number of such frames per second after that.
pub const HTTP2_FRAMES_PER_SECOND: f64 = 100.0;

/// A frame does not count for these limits if it moves so many bytes of an answer or an upload. The smallest answer has
/// more, and the answer to a ping has 17.
pub const HTTP2_FREE_FRAME_BYTES: f64 = 64.0;

/// How long a result of the check for readiness stays valid.
pub const READINESS_LIFETIME: Duration = Duration::from_secs(5);

/// How long the store may take to answer the check for readiness.
pub const READINESS_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum number of client networks whose requests are counted for the metrics.
pub const MAX_COUNTED_NETWORKS: usize = 256;

/// The number of the busiest client networks in the metrics.
pub const REPORTED_NETWORKS: usize = 10;

/// The period over which the requests of client networks are counted.
pub const NETWORK_COUNT_PERIOD: Duration = Duration::from_secs(60);

/// The maximum number of checks at a time whether the store has a chunk, or a pointer. A stalled disk must not
/// accumulate them.
pub const MAX_STORE_CHECKS: usize = 64;

/// The maximum number of a file's chunks that OPEN looks up at once, if the upstreams are slow.
pub const MAX_LOOKED_UP_CHUNKS: usize = 64;

/// When a client should ask again for a chunk whose lookup continues.
pub const LOOKUP_RETRY_AFTER: Duration = Duration::from_secs(2);

/// The latest time that a client is told to ask again.
pub const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// The maximum number of remembered pointer records.
pub const REMEMBERED_POINTERS: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// The maximum number of chunks of one request that are fetched ahead of the one being sent.
pub const PREFETCHED_ANSWERS: usize = 3;

/// The maximum number of prefetched chunks while the chunks are small. Each may have to come from a distant upstream.
pub const PREFETCHED_SMALL_ANSWERS: usize = 15;

/// The maximum size of a chunk that counts as small for prefetching.
pub const SMALL_ANSWER_BYTES: u32 = 64 * 1024;

/// The maximum size of a data map that OPEN reads, as a record or decrypted. This is about 50,000 chunks, or a file
/// of 200 GB.
pub const MAX_DATA_MAP_BYTES: u32 = MAX_CHUNK_BYTES;

/// The maximum size of a data map that needs no permit. It describes a file of up to 3 GB, and takes about as much
/// memory as its stream.
pub const SMALL_DATA_MAP_BYTES: u32 = 64 * 1024;

/// The bytes at the end of a file that come first if a client asks for that. An archive probably has its index there.
pub const INDEX_TAIL_BYTES: u64 = 64 * 1024;

/// The maximum number of a file's chunks that OPEN sends: about 4 GB. Their addresses take half the memory of a small
/// data map.
pub const MAX_OPENED_CHUNKS: usize = 1024;

/// The maximum number of larger data maps in memory.
pub const LARGE_DATA_MAPS: usize = 16;

/// The minimum average transfer rate of a chunk. Slower transfers are aborted, because they hold memory.
pub const MIN_BYTES_PER_SECOND: u32 = 16 * 1024;

/// If requests wait so long for memory, and clients need longer than [`MAX_DRAIN_TIME`] for what they hold, the slowest
/// clients lose their responses.
pub const PRESSURE_PERIOD: Duration = Duration::from_secs(1);

/// How long a client may read less than a second's share of [`MIN_BYTES_PER_SECOND`] while a response waits for it. Then
/// another client may take its place.
pub const STALL_TIMEOUT: Duration = Duration::from_secs(5);

/// How long after a request the rest of its response counts as use of the connection.
pub const FLUSH_TIMEOUT: Duration = Duration::from_secs(30);

/// Over this time, the memory that a network holds is averaged, and the work for it outside of this peer. The more it is,
/// the more of it the network leaves to others.
pub const POOL_USE_PERIOD: Duration = Duration::from_secs(10);

/// A client is not slow if it reads the chunks that it holds in memory within this time.
pub const MAX_DRAIN_TIME: Duration = Duration::from_secs(10);

/// The maximum amount of unacknowledged data per session, in bytes. It limits memory, and the speed on long paths: 4
/// MiB per 100 ms is 40 MB/s.
pub const SEND_WINDOW_BYTES: u64 = 4 * 1024 * 1024;

/// The flow control windows of a peer that accepts uploads.
pub const UPLOAD_WINDOWS: ReceiveWindows = ReceiveWindows {
    stream_bytes: 2 * 1024 * 1024,
    session_bytes: 8 * 1024 * 1024,
};

/// The flow control windows of a read-only peer. The longest request without an upload has about 2 KiB.
pub const READ_ONLY_WINDOWS: ReceiveWindows = ReceiveWindows {
    stream_bytes: 16 * 1024,
    session_bytes: 64 * 1024,
};

/// How much a client may send before the peer has read it.
#[derive(Clone, Copy, Debug)]
pub struct ReceiveWindows {
    /// The window of one request, in bytes.
    pub stream_bytes: u32,
    /// The window of all requests of a session, in bytes.
    pub session_bytes: u32,
}

/// How long a complete response may take to reach the client before its stream is reset.
pub const DELIVERY_TIMEOUT: Duration = Duration::from_secs(120);

/// The maximum length of an HTTP request head in bytes. The pages of one site can set about 180 cookies of 4 kB for
/// the host and its other names. Requests with all these cookies must succeed; otherwise a site could lock a user out
/// of the host.
pub const MAX_HTTP_HEAD_BYTES: usize = 1024 * 1024;

/// Every connection has memory for a head of this length in bytes. A longer head needs a permit.
pub const SHORT_HTTP_HEAD_BYTES: usize = 32 * 1024;

/// The number of permits for long heads.
pub const MAX_LONG_HTTP_HEADS: usize = 64;

/// The maximum number of bytes in one read from a connection. It bounds the connection's buffer between requests.
pub const HTTP_READ_BYTES: usize = 64 * 1024;
