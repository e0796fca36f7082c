//! A load test: many WebTransport sessions fetch chunks from a running peer at the same time.
//!
//! The peer must have the chunks already. Their addresses come from the command line, or from the peer's store.

use antway_peer::address::Address;
use clap::Parser;
use serde_json::Value;
use socket2::{Domain, Protocol, Socket, Type};
use std::error::Error;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use wtransport::endpoint::endpoint_side::Client;
use wtransport::tls::{Sha256Digest, Sha256DigestFmt};
use wtransport::{ClientConfig, Connection, Endpoint};

/// The number of sockets for all sessions. Each real client has its own socket.
const SOCKETS: usize = 64;

/// The requested size of the socket buffers in bytes. The kernel may grant less.
const SOCKET_BUFFER_BYTES: usize = 4 * 1024 * 1024;

type BoxError = Box<dyn Error + Send + Sync>;

/// Loads a running peer with many WebTransport sessions
#[derive(Parser)]
struct Args {
    /// The peer's line on stdout: `{"event":"listening",…}`
    #[arg(long, value_name = "JSON")]
    listening: String,

    /// The number of concurrent sessions
    #[arg(long, default_value_t = 1000)]
    sessions: u32,

    /// The number of chunks that each session fetches, one after the other
    #[arg(long, default_value_t = 20)]
    chunks: u32,

    /// An address to fetch (repeatable) [default: all in the peer's store]
    #[arg(long)]
    address: Vec<String>,

    /// How long a session may take to open, and a chunk to arrive, in seconds
    #[arg(long, default_value_t = 30)]
    patience: u64,

    /// The id of the peer's process, to measure its memory
    #[arg(long)]
    pid: Option<u32>,
}

#[derive(Default)]
struct Totals {
    requests: AtomicU64,
    failures: AtomicU64,
    bytes: AtomicU64,
    /// The peak memory of the peer, in kB.
    peak_memory: AtomicU64,
}

impl Totals {
    /// Counts a failure, and prints the first one. Returns the number of earlier failures.
    fn record_failure(&self, why: &str) -> u64 {
        let before = self.failures.fetch_add(1, Relaxed);
        if before == 0 {
            println!("first request that failed: {why}");
        }
        before
    }
}

/// Runs in one thread. With several threads, the QUIC library may send the beginning of a frame while the
/// WebTransport library writes the rest. At the other end, the WebTransport library loses its read position when
/// another event happens in between, and reports the rest as an unexpected frame (H3 code 0x105). Then 1 to 3 of
/// 1,000 sessions did not open. Browsers send these frames, their SETTINGS, in one piece.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let args = Args::parse();
    let listening: Value = serde_json::from_str(&args.listening)?;
    let url = listening["webTransport"]
        .as_str()
        .ok_or("WebTransport is off")?;
    let hashes = listening["certificateHashes"]
        .as_array()
        .ok_or("no hashes")?;
    let hashes: Result<Vec<_>, BoxError> = hashes.iter().map(digest).collect();
    let addresses: Arc<[Address]> = match args.address.is_empty() {
        false => {
            let read = args.address.iter().map(|text| text.parse());
            read.collect::<Result<_, _>>()
                .map_err(|_| "not an address")?
        }
        true => {
            stored_addresses(Path::new(listening["store"].as_str().unwrap_or_default()))?.into()
        }
    };
    if addresses.is_empty() {
        return Err("the store is empty".into());
    }
    let hashes = hashes?;
    let config = || -> io::Result<ClientConfig> {
        let config = ClientConfig::builder()
            .with_bind_socket(bind_socket()?)
            .with_server_certificate_hashes(hashes.iter().cloned())
            .keep_alive_interval(Some(Duration::from_secs(5)))
            .build();
        Ok(config)
    };
    let endpoints = (0..SOCKETS).map(|_| Endpoint::client(config()?));
    let endpoints: Vec<_> = endpoints.collect::<Result<_, _>>()?;
    let patience = Duration::from_secs(args.patience);
    let memory_before = resident_memory(args.pid);

    let opening = Instant::now();
    let mut tasks = Vec::new();
    let endpoints: Arc<[Endpoint<Client>]> = endpoints.into();
    for number in 0..args.sessions as usize {
        let (endpoints, url) = (Arc::clone(&endpoints), url.to_owned());
        tasks.push(tokio::spawn(async move {
            let endpoint = &endpoints[number % endpoints.len()];
            Ok::<_, BoxError>(timeout(patience, endpoint.connect(url)).await??)
        }));
        // Handshakes at the same instant would only measure the handshakes.
        sleep(Duration::from_millis(1)).await;
    }
    let mut sessions: Vec<Connection> = Vec::new();
    let mut refused = 0;
    for task in tasks {
        match task.await? {
            Ok(session) => sessions.push(session),
            Err(error) => {
                refused += 1;
                if refused == 1 {
                    println!("first session that did not open: {error}");
                }
            }
        }
    }
    let open = sessions.len();
    println!(
        "{open} sessions open, {refused} not, in {:.1} s",
        opening.elapsed().as_secs_f64()
    );
    if let (Some(before), Some(now)) = (memory_before, resident_memory(args.pid)) {
        println!(
            "memory: {before} kB before, {now} kB with the sessions idle: {:.1} kB each",
            per_session(before, now, open)
        );
    }

    let totals = Arc::new(Totals::default());
    let started = Instant::now();
    let fetchers = sessions
        .iter()
        .cloned()
        .enumerate()
        .map(|(number, session)| {
            let (addresses, totals) = (Arc::clone(&addresses), Arc::clone(&totals));
            tokio::spawn(async move {
                for n in 0..args.chunks as usize {
                    let address = addresses[(number + n) % addresses.len()];
                    totals.requests.fetch_add(1, Relaxed);
                    match timeout(patience, fetch(&session, address)).await {
                        Ok(Ok(bytes)) => totals.bytes.fetch_add(bytes, Relaxed),
                        Ok(Err(error)) => totals.record_failure(&error.to_string()),
                        Err(_) => totals.record_failure("no answer in time"),
                    };
                }
            })
        });
    let fetchers: Vec<_> = fetchers.collect();
    let memory_monitor = tokio::spawn({
        let totals = Arc::clone(&totals);
        async move {
            while let Some(now) = resident_memory(args.pid) {
                totals.peak_memory.fetch_max(now, Relaxed);
                sleep(Duration::from_millis(200)).await;
            }
        }
    });
    for task in fetchers {
        task.await?;
    }
    memory_monitor.abort();
    let seconds = started.elapsed().as_secs_f64();
    let requests = totals.requests.load(Relaxed);
    let bytes = totals.bytes.load(Relaxed);
    println!(
        "{requests} requests in {seconds:.1} s: {:.0} requests/s, {} failures, {:.1} MB/s",
        requests as f64 / seconds,
        totals.failures.load(Relaxed),
        bytes as f64 / 1e6 / seconds
    );
    if let Some(before) = memory_before {
        let peak = totals.peak_memory.load(Relaxed);
        println!(
            "memory: {peak} kB at most under load: {:.1} kB each",
            per_session(before, peak, open)
        );
    }
    Ok(())
}

/// A socket with a buffer for the data of a few sessions. With 8 sockets and the usual buffer of 208 KiB, one packet
/// in twenty was dropped. Some requests lost their last packets repeatedly, with a doubled timeout each time, and
/// took more than half a minute: up to 18 of 20,000.
fn bind_socket() -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    socket.set_recv_buffer_size(SOCKET_BUFFER_BYTES)?;
    socket.bind(&SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)).into())?;
    Ok(socket.into())
}

fn per_session(before: u64, now: u64, sessions: usize) -> f64 {
    now.saturating_sub(before) as f64 / sessions.max(1) as f64
}

/// The resident memory of a process, in kB.
fn resident_memory(pid: Option<u32>) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", pid?)).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

/// Fetches one chunk and verifies it.
async fn fetch(session: &Connection, address: Address) -> Result<u64, BoxError> {
    let (mut send, mut recv) = session.open_bi().await?.await?;
    send.write_all(&[&[1, 1][..], address.as_bytes()].concat())
        .await?;
    send.quic_stream_mut().finish()?;
    let mut answer = Vec::new();
    while let Some(chunk) = recv.quic_stream_mut().read_chunk(usize::MAX, true).await? {
        answer.extend_from_slice(&chunk.bytes);
    }
    let bytes = answer.get(5..).ok_or("no answer")?;
    match answer[0] == 0 && Address::of(bytes) == address {
        true => Ok(bytes.len() as u64),
        false => Err(format!("status {} with {} bytes", answer[0], bytes.len()).into()),
    }
}

/// The addresses of the chunks in a store.
fn stored_addresses(store: &Path) -> Result<Vec<Address>, BoxError> {
    let mut addresses = Vec::new();
    let mut folders: Vec<PathBuf> = vec![store.join("chunks")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(address) = path
                .file_name()
                .and_then(|name| name.to_str()?.parse().ok())
            {
                addresses.push(address);
            }
        }
    }
    Ok(addresses)
}

fn digest(hash: &Value) -> Result<Sha256Digest, BoxError> {
    let hex = hash.as_str().ok_or("not a hash")?;
    let bytes: Vec<&str> = (0..32).map(|i| &hex[2 * i..2 * i + 2]).collect();
    Sha256Digest::from_str_fmt(bytes.join(":"), Sha256DigestFmt::DottedHex).map_err(|_| hex.into())
}
