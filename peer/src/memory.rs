//! The memory for chunks, and each client's quota of it.
//!
//! A permit belongs to an allocation, not to a request: it is released when the last bytes of the chunk are dropped.
//! The QUIC library drops bytes when the client has acknowledged them, and hyper when it has written them.

use crate::client::Client;
use crate::limits::{HOSTED_ANSWER_BYTES, Limits, MAX_CHUNK_BYTES, PRESSURE_PERIOD};
use crate::metrics::Transport;
use crate::network_quotas::{NetworkQuotas, QuotaRegistry};
use crate::pool::{Pool, PoolPermit, Quota, acquire_units};
use crate::readers::{Reader, Readers};
use crate::source::{ChunkBody, hold_guard};
use axum::body::Body;
use axum::http::header::CONTENT_LENGTH;
use axum::response::Response;
use http_body_util::BodyExt;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// The memory that one unit stands for, in bytes. Small chunks take less than the memory of a large one.
const UNIT_BYTES: u32 = 64 * 1024;

/// The units for the memory of `chunks` large chunks.
pub fn units_of(chunks: usize) -> usize {
    chunks * units_for(MAX_CHUNK_BYTES) as usize
}

/// The units for this number of bytes.
fn units_for(bytes: u32) -> u32 {
    bytes.div_ceil(UNIT_BYTES).max(1)
}

/// Permits for the chunks of all clients.
pub struct ChunkMemory {
    all: Arc<Pool>,
    readers: Readers,
    /// The number of requests that wait for the memory of all clients.
    waiting: AtomicUsize,
    session_quota: usize,
    networks: QuotaRegistry,
}

/// The permit for one chunk, or for one answer with a hosted file, in memory. It is released on drop.
pub struct MemoryPermit {
    /// The permits of the client's quotas.
    parts: Vec<OwnedSemaphorePermit>,
    total: PoolPermit,
    /// Otherwise a client that disconnects and connects again would get new quotas.
    _network: Option<Arc<NetworkQuotas>>,
}

impl MemoryPermit {
    /// The body keeps the part of the permit that its length needs. From now on, the client decides for how long.
    pub fn attach_to(mut self, body: ChunkBody, client: &Client) -> ChunkBody {
        self.shrink_to(body.length());
        let held = client.reader.hold(body.length() as usize);
        body.holding((self, held))
    }

    /// As [`Self::attach_to`], for the body of an answer. The whole permit stays with it.
    pub fn attach_to_answer(self, response: Response, client: &Client) -> Response {
        // The body itself does not know its length.
        let length = response.headers().get(CONTENT_LENGTH);
        let length = length.and_then(|value| value.to_str().ok()?.parse().ok());
        let held = length
            .unwrap_or(HOSTED_ANSWER_BYTES)
            .min(HOSTED_ANSWER_BYTES);
        let held = client.reader.hold(held as usize);
        let guard = Arc::new((self, held));
        let hold = move |bytes| hold_guard(bytes, &guard);
        response.map(|body| Body::new(body.map_frame(move |frame| frame.map_data(&hold))))
    }

    fn shrink_to(&mut self, length: u32) {
        let units = units_for(length);
        for part in &mut self.parts {
            let excess = part.num_permits().saturating_sub(units as usize);
            drop(part.split(excess));
        }
        self.total.shrink_to(units as usize);
    }
}

impl ChunkMemory {
    /// Creates the permits and quotas of `limits`.
    pub fn new(limits: &Limits) -> Self {
        Self {
            all: Pool::new(units_of(limits.chunks_in_memory)),
            readers: Readers::default(),
            waiting: AtomicUsize::new(0),
            session_quota: limits.chunks_per_session(),
            networks: QuotaRegistry::new(limits),
        }
    }

    /// The client of an HTTP connection. `closing` ends the connection.
    pub fn http_client(&self, ip: IpAddr, closing: CancellationToken) -> Client {
        let reader = self.readers.add_connection(closing);
        self.client(Transport::Http, ip, reader)
    }

    /// The client of a WebTransport session.
    pub fn session_client(&self, ip: IpAddr) -> Client {
        self.client(Transport::WebTransport, ip, self.readers.add_session())
    }

    /// The reader of one request of an HTTP/2 connection, which has many requests at a time. `reset` ends the stream of the
    /// request, and `closing` its connection.
    pub fn request_reader(
        &self,
        reset: CancellationToken,
        closing: CancellationToken,
    ) -> Arc<Reader> {
        self.readers.add_request(reset, closing)
    }

    /// The client that a proxy names in a request of its connection. The proxy reads for it.
    pub fn proxied_client(&self, ip: IpAddr, reader: Arc<Reader>) -> Client {
        self.client(Transport::Http, ip, reader)
    }

    fn client(&self, transport: Transport, ip: IpAddr, reader: Arc<Reader>) -> Client {
        Client {
            transport,
            ip,
            session_memory: Arc::new(Semaphore::new(units_of(self.session_quota))),
            reader,
            network: self.networks.of(ip),
        }
    }

    /// Waits for a permit of each of the client's quotas, and then for one of the total. All clients acquire in this
    /// order, so no deadlock is possible.
    pub async fn acquire(&self, client: &Client, bytes: u32) -> MemoryPermit {
        let units = units_for(bytes);
        let quotas = client.quotas(|network| &network.memory);
        let mut parts = vec![acquire_units(&client.session_memory, units).await];
        for quota in &quotas {
            parts.push(quota.acquire(units).await);
        }
        MemoryPermit {
            parts,
            total: self.acquire_total(units, &quotas).await,
            _network: client.network.clone(),
        }
    }

    /// Waits for a permit of the total. Meanwhile slow clients lose their responses.
    async fn acquire_total(&self, units: u32, quotas: &[&Quota]) -> PoolPermit {
        let _waiting = Waiting::new(&self.waiting);
        let mut acquiring = pin!(self.all.acquire_in_turn(units, quotas));
        loop {
            tokio::select! {
                biased;
                permit = acquiring.as_mut() => break permit,
                () = sleep(PRESSURE_PERIOD) => {
                    self.readers.shed_slowest(Instant::now(), self.waiting.load(Relaxed));
                }
            }
        }
    }
}

/// Counts a waiting request until this is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::LookupAccount;
    use futures_util::FutureExt;
    use tokio::task::unconstrained;

    fn memory() -> ChunkMemory {
        ChunkMemory::new(&Limits {
            chunks_in_memory: 8,
            sessions: 2,
            http_connections: 2,
            ..Limits::default()
        })
    }

    fn http_client(memory: &ChunkMemory, address: &str) -> Client {
        memory.http_client(ip(address), CancellationToken::new())
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn try_acquire(memory: &ChunkMemory, client: &Client) -> Option<MemoryPermit> {
        // Tokio would make a task that acquires many permits wait for other tasks.
        unconstrained(memory.acquire(client, MAX_CHUNK_BYTES)).now_or_never()
    }

    #[tokio::test]
    async fn one_address_gets_at_most_half_of_the_memory() {
        let memory = memory();
        for (address, neighbour, other) in [
            ("203.0.113.1", "::ffff:203.0.113.1", "203.0.113.2"),
            ("2001:db8::1", "2001:db8::2", "2001:db8:1::1"),
        ] {
            let connection = || try_acquire(&memory, &http_client(&memory, address));
            let mut held: Vec<_> = (0..8).map_while(|_| connection()).collect();
            assert_eq!(held.len(), 4);
            for client in [
                http_client(&memory, neighbour),
                memory.session_client(ip(neighbour)),
            ] {
                assert!(try_acquire(&memory, &client).is_none());
            }
            let other = || try_acquire(&memory, &http_client(&memory, other));
            let others: Vec<_> = (0..8).map_while(|_| other()).collect();
            assert_eq!(others.len(), 3, "the rest is for networks that hold less");
            held.pop();
            assert!(connection().is_some());
        }
    }

    #[tokio::test]
    async fn a_site_with_many_networks_leaves_memory_for_others() {
        let memory = memory();
        let acquire = |address: &str| try_acquire(&memory, &http_client(&memory, address));
        let site = ["2001:db8::1", "2001:db8:0:1::1", "2001:db8:0:2::1"];
        let held: Vec<_> = (0..9).map_while(|n| acquire(site[n / 3])).collect();
        assert_eq!(held.len(), 6);
        assert!(acquire("2001:db8:1::1").is_some());
    }

    #[tokio::test]
    async fn a_network_with_many_waiting_requests_does_not_delay_another() {
        let memory = memory();
        // Each request comes by a connection of its own.
        let client = |last: usize| http_client(&memory, &format!("203.0.113.{last}"));
        let mut held: Vec<_> = (0..8)
            .map(|n| try_acquire(&memory, &client(10 + n)).unwrap())
            .collect();
        let greedy = [(); 4].map(|()| client(3));
        let modest = client(4);
        let mut waiting: Vec<_> = greedy
            .iter()
            .map(|client| Box::pin(memory.acquire(client, MAX_CHUNK_BYTES)))
            .collect();
        let mut last = Box::pin(memory.acquire(&modest, MAX_CHUNK_BYTES));
        for request in &mut waiting {
            assert!(request.as_mut().now_or_never().is_none());
        }
        assert!(last.as_mut().now_or_never().is_none());
        assert_eq!(memory.waiting.load(Relaxed), 5);
        // The first request of the greedy network was before, the others were too.
        held.truncate(6);
        let first = waiting[0].as_mut().now_or_never();
        let second = last.as_mut().now_or_never();
        assert!(first.is_some() && second.is_some());
        assert!(waiting[1].as_mut().now_or_never().is_none());
        drop(waiting);
        assert_eq!(memory.waiting.load(Relaxed), 0);
    }

    #[tokio::test]
    async fn one_address_gets_at_most_half_of_the_lookups() {
        let memory = ChunkMemory::new(&Limits {
            lookups: 4,
            ..Limits::default()
        });
        let all = Pool::new(4);
        let usage = Arc::default();
        let look_up = |address| {
            // Each lookup has a connection of its own, which is closed at once.
            let client = http_client(&memory, address);
            let account = LookupAccount::new(&client, &usage, None);
            unconstrained(account.acquire_lookup(&all)).now_or_never()
        };
        let greedy: Vec<_> = (0..4).map_while(|_| look_up("203.0.113.1")).collect();
        assert_eq!(greedy.len(), 2);
        let others: Vec<_> = (0..4).map_while(|_| look_up("127.0.0.1")).collect();
        assert_eq!(others.len(), 2);
        drop(greedy);
        assert!(look_up("203.0.113.1").is_some());
    }

    #[tokio::test]
    async fn one_address_gets_at_most_half_of_the_paid_uploads() {
        // Half of a quarter of the chunks.
        let memory = memory();
        let usage = Arc::default();
        let client = http_client(&memory, "203.0.113.1");
        let account = LookupAccount::new(&client, &usage, None);
        let acquired = |all: usize, quota: fn(&NetworkQuotas) -> &Quota| {
            let all = Pool::new(all);
            let permits = (0..64).map_while(|_| account.acquire(quota, &all).now_or_never());
            permits.collect::<Vec<_>>().len()
        };
        assert_eq!(acquired(2, |network| &network.paid_requests), 1);
        assert_eq!(acquired(32, |network| &network.paid_records), 16);
    }

    #[tokio::test]
    async fn a_session_leaves_memory_for_others_of_its_address() {
        let memory = memory();
        for address in ["203.0.113.1", "127.0.0.1"] {
            let greedy = memory.session_client(ip(address));
            let held: Vec<_> = (0..8)
                .map_while(|_| try_acquire(&memory, &greedy))
                .collect();
            assert_eq!(held.len(), 2);
            assert!(try_acquire(&memory, &memory.session_client(ip(address))).is_some());
        }
    }

    #[tokio::test]
    async fn a_small_chunk_takes_a_small_part_of_the_memory() {
        let memory = memory();
        let client = memory.session_client(ip("203.0.113.1"));
        let mut held = Vec::new();
        // The session's quota is the memory of two large chunks. One chunk of unknown length always needs room.
        for _ in 0..=units_for(MAX_CHUNK_BYTES) {
            let mut permit = try_acquire(&memory, &client).unwrap();
            permit.shrink_to(1);
            held.push(permit);
        }
        assert!(try_acquire(&memory, &client).is_none());
        held.truncate(1);
        let mut large = try_acquire(&memory, &client).unwrap();
        large.shrink_to(MAX_CHUNK_BYTES);
        assert!(try_acquire(&memory, &client).is_none());
        large.shrink_to(0);
        assert!(try_acquire(&memory, &client).is_some());
    }

    #[tokio::test]
    async fn a_proxy_on_loopback_may_use_all_memory() {
        let memory = memory();
        for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            let connection = || try_acquire(&memory, &http_client(&memory, address));
            let held: Vec<_> = (0..9).map_while(|_| connection()).collect();
            assert_eq!(held.len(), 8);
        }
    }
}
