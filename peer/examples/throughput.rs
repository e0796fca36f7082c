//! Measures how fast a peer sends chunks over WebTransport to one client on the same machine.
//!
//! It starts its own peer, so that only the machine affects the result.

use antway_peer::address::Address;
use antway_peer::config::ServeArgs;
use antway_peer::limits::MAX_CHUNK_BYTES;
use antway_peer::peer::Peer;
use antway_peer::source::{Chunk, ChunkSource};
use clap::Parser;
use std::error::Error;
use std::sync::Arc;
use std::time::Instant;
use wtransport::tls::{Sha256Digest, Sha256DigestFmt};
use wtransport::{ClientConfig, Connection, Endpoint};

/// Measures how fast a peer sends chunks over WebTransport to one client on the same machine
#[derive(Parser)]
struct Args {
    /// The number of chunks to fetch, of 4 MiB each
    #[arg(long, default_value_t = 256)]
    chunks: u32,

    /// The number of concurrent requests
    #[arg(long, default_value_t = 4)]
    streams: u32,

    #[command(flatten)]
    serve: ServeArgs,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let store = args.serve.open_store()?;
    let mut addresses = Vec::new();
    for n in 0..16_u8 {
        let chunk = Chunk::new(vec![n; MAX_CHUNK_BYTES as usize].into());
        addresses.push(chunk.address());
        store.put(chunk).await?;
    }
    let certificates = args.serve.certificates()?;
    let peer = Peer::start(args.serve.peer_config()?, certificates, Arc::new(store)).await?;
    let hashes: Result<Vec<_>, _> = peer
        .certificate_hashes()
        .iter()
        .map(|hash| hex_digest(hash))
        .collect();
    let client = ClientConfig::builder()
        .with_bind_default()
        .with_server_certificate_hashes(hashes?)
        .build();
    let url = peer.web_transport().ok_or("WebTransport is off")?;
    let connection = Endpoint::client(client)?.connect(url).await?;

    let started = Instant::now();
    let fetchers = (0..args.streams).map(|first| {
        let numbers = (first..args.chunks).step_by(args.streams as usize);
        let wanted: Vec<Address> = numbers
            .map(|n| addresses[n as usize % addresses.len()])
            .collect();
        let connection = connection.clone();
        tokio::spawn(async move {
            let mut bytes = 0;
            for address in wanted {
                bytes += fetch(&connection, address)
                    .await
                    .expect("a complete response");
            }
            bytes
        })
    });
    let mut bytes = 0;
    for fetcher in fetchers.collect::<Vec<_>>() {
        bytes += fetcher.await?;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!(
        "{bytes} bytes in {seconds:.2} s: {:.0} MB/s",
        bytes as f64 / 1e6 / seconds
    );
    peer.stop().await;
    Ok(())
}

async fn fetch(
    connection: &Connection,
    address: Address,
) -> Result<usize, Box<dyn Error + Send + Sync>> {
    let (mut send, mut recv) = connection.open_bi().await?.await?;
    send.write_all(&[&[1, 1][..], address.as_bytes()].concat())
        .await?;
    send.quic_stream_mut().finish()?;
    let mut bytes = 0;
    while let Some(chunk) = recv.quic_stream_mut().read_chunk(usize::MAX, true).await? {
        bytes += chunk.bytes.len();
    }
    Ok(bytes)
}

fn hex_digest(hex: &str) -> Result<Sha256Digest, Box<dyn Error>> {
    let bytes: Vec<&str> = (0..32).map(|i| &hex[2 * i..2 * i + 2]).collect();
    let dotted = bytes.join(":");
    Sha256Digest::from_str_fmt(&dotted, Sha256DigestFmt::DottedHex).map_err(|_| hex.into())
}
