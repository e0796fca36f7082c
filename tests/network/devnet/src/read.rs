//! Reads chunks with the network's own client: what other clients are compared with.

use ant_core::data::{Client, ClientConfig};
use ant_protocol::compute_address;
use ant_protocol::transport::MultiAddr;
use anyhow::{Context, ensure};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

#[derive(clap::Args)]
pub struct Args {
    /// A node of the network (multiaddress; repeatable)
    #[arg(long, required = true, value_name = "MULTIADDR")]
    bootstrap: Vec<MultiAddr>,

    /// How many chunks are read at the same time
    #[arg(long, default_value_t = 8)]
    at_once: usize,

    /// The addresses of the chunks, in hexadecimal digits
    #[arg(required = true)]
    chunks: Vec<String>,
}

struct Read {
    /// From the start until the first chunk was there.
    first: Duration,
    bytes: usize,
}

pub async fn run(args: Args) -> anyhow::Result<()> {
    let started = Instant::now();
    let config = ClientConfig {
        // If true, the client listens on loopback only.
        allow_loopback: args.bootstrap.iter().all(MultiAddr::is_loopback),
        ipv6: false,
        ..ClientConfig::default()
    };
    let client = Arc::new(Client::connect_multiaddrs(&args.bootstrap, config).await?);
    let connected = started.elapsed();
    let started = Instant::now();
    let addresses = args.chunks.iter().map(|hex| address_of(hex));
    let addresses: Arc<[[u8; 32]]> = addresses.collect::<anyhow::Result<Vec<_>>>()?.into();
    let next = Arc::new(AtomicUsize::new(0));
    let mut readers = JoinSet::new();
    for _ in 0..args.at_once {
        readers.spawn(read(
            client.clone(),
            addresses.clone(),
            next.clone(),
            started,
        ));
    }
    let (mut first, mut bytes) = (Duration::MAX, 0);
    while let Some(read) = readers.join_next().await {
        let read = read??;
        first = first.min(read.first);
        bytes += read.bytes;
    }
    println!(
        "{}",
        json!({
            "connectMs": milliseconds(connected),
            "firstChunkMs": milliseconds(first),
            "milliseconds": milliseconds(started.elapsed()),
            "bytes": bytes,
        })
    );
    Ok(())
}

/// Reads the next chunk until there is none.
async fn read(
    client: Arc<Client>,
    addresses: Arc<[[u8; 32]]>,
    next: Arc<AtomicUsize>,
    started: Instant,
) -> anyhow::Result<Read> {
    let mut read = Read {
        first: Duration::MAX,
        bytes: 0,
    };
    while let Some(address) = addresses.get(next.fetch_add(1, Ordering::Relaxed)) {
        let chunk = client.chunk_get(address).await?;
        let chunk = chunk.with_context(|| format!("no node has {}", hex::encode(address)))?;
        ensure!(compute_address(&chunk.content) == *address, "wrong bytes");
        read.first = read.first.min(started.elapsed());
        read.bytes += chunk.content.len();
    }
    Ok(read)
}

fn address_of(text: &str) -> anyhow::Result<[u8; 32]> {
    let mut address = [0; 32];
    hex::decode_to_slice(text, &mut address).with_context(|| text.to_owned())?;
    Ok(address)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
