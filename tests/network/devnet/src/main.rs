//! A local Autonomi network: real nodes in one process, on loopback, that hold the records they are given.
//!
//! It prints one line of JSON once all is stored, and ends when its stdin does, or with SIGINT. Payments are left
//! out: what is to be stored counts as paid for, and then takes the way of any other record.

use ant_core::data::{
    Pointer, PointerTarget, PointerTargetKind, XorName, compute_address, ml_dsa_65,
};
use ant_node::devnet::{Devnet, DevnetConfig};
use ant_protocol::chunk::{
    ChunkMessage, ChunkMessageBody, ChunkPutRequest, ChunkPutResponse, PointerPutRequest,
    PointerPutResponse,
};
use anyhow::{Context, bail, ensure};
use bytes::Bytes;
use clap::Parser;
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;
use tokio::sync::oneshot;

/// How long the nodes may take to find each other.
const STABILIZATION_TIMEOUT: Duration = Duration::from_secs(120);

/// The nodes' futures are too large for the usual stack.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// Starts a local Autonomi network that holds given records.
#[derive(Parser)]
struct Args {
    /// How many nodes
    #[arg(long, default_value_t = 5)]
    nodes: usize,

    /// Where the nodes keep what they hold
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,

    /// A file to publish with the network's own code (repeatable)
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,

    /// A folder whose files are all chunks to store
    #[arg(long, value_name = "FOLDER")]
    chunks: Option<PathBuf>,

    /// An address that a new pointer is to have as its target (64 hex digits)
    #[arg(long, value_name = "ADDRESS")]
    point_to: Option<String>,
}

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(io::stderr)
        .init();
    let args = Args::parse();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()?
        .block_on(run(args))
}

async fn run(args: Args) -> anyhow::Result<()> {
    let mut network = Devnet::new(DevnetConfig {
        node_count: args.nodes,
        bootstrap_count: 2,
        data_dir: args.data,
        stabilization_timeout: STABILIZATION_TIMEOUT,
        // The handles of nodes, and publishing, are for networks that have it.
        webrtc_direct: true,
        ..DevnetConfig::default()
    })
    .await?;
    network.start().await?;

    let mut files = Vec::new();
    for path in &args.file {
        let bytes = fs::read(path).with_context(|| path.display().to_string())?;
        let name = path.display().to_string();
        let kind = "application/octet-stream".to_owned();
        let published = network
            .publish_public_file(name.clone(), kind, &bytes)
            .await?;
        files.push(json!({ "path": name, "address": published.address }));
    }
    let mut chunks = 0;
    if let Some(folder) = &args.chunks {
        for entry in fs::read_dir(folder)? {
            store_chunk(&network, args.nodes, fs::read(entry?.path())?.into()).await?;
            chunks += 1;
        }
    }
    let pointer = match &args.point_to {
        Some(address) => Some(store_pointer(&network, args.nodes, address).await?),
        None => None,
    };
    let bootstrap = network.bootstrap_addrs();
    let bootstrap: Vec<String> = bootstrap.iter().map(ToString::to_string).collect();
    println!(
        "{}",
        json!({ "event": "ready", "bootstrap": bootstrap, "files": files, "chunks": chunks, "pointer": pointer })
    );

    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = end_of_stdin() => {}
    }
    network.shutdown().await?;
    Ok(())
}

async fn store_chunk(network: &Devnet, nodes: usize, bytes: Bytes) -> anyhow::Result<()> {
    let address = compute_address(&bytes);
    let mut copies = 0;
    for node in 0..nodes {
        let (protocol, _) = network.test_browser_node(node).context("no such node")?;
        protocol.payment_verifier_arc().cache_insert(address);
        let request = ChunkMessageBody::PutRequest(ChunkPutRequest::new(address, bytes.clone()));
        match ask(network, node, request).await? {
            ChunkMessageBody::PutResponse(
                ChunkPutResponse::Success { .. } | ChunkPutResponse::AlreadyExists { .. },
            ) => copies += 1,
            // Not every node is responsible for every address.
            other => tracing::info!("node {node}: {other:?}"),
        }
    }
    ensure!(copies > 0, "no node took chunk {}", hex::encode(address));
    Ok(())
}

/// Stores two states of a new pointer, so that the older one has to lose.
async fn store_pointer(network: &Devnet, nodes: usize, target: &str) -> anyhow::Result<Value> {
    let target: XorName = hex::decode(target)?
        .try_into()
        .map_err(|_| anyhow::anyhow!("{target} is no address"))?;
    let chunk = |address| PointerTarget::new(PointerTargetKind::Chunk, address);
    let (owner, key) = ml_dsa_65().generate_keypair()?;
    let first = Pointer::create(&key, &owner, chunk([0; 32]))?;
    let newest = first.update(&key, chunk(target))?;
    for pointer in [&first, &newest] {
        let mut copies = 0;
        for node in 0..nodes {
            let (protocol, _) = network.test_browser_node(node).context("no such node")?;
            protocol
                .payment_verifier_arc()
                .cache_insert_pointer(pointer.address(), pointer.state_id());
            // A node wants a proof of payment of a plausible length, though it has the payment in its cache.
            let request =
                PointerPutRequest::with_payment(Bytes::from(pointer.to_bytes()), vec![1; 128]);
            match ask(network, node, ChunkMessageBody::PointerPutRequest(request)).await? {
                ChunkMessageBody::PointerPutResponse(PointerPutResponse::Success { .. }) => {
                    copies += 1;
                }
                other => tracing::info!("node {node}: {other:?}"),
            }
        }
        ensure!(copies > 0, "no node took the pointer");
    }
    Ok(json!({
        "address": hex::encode(newest.address()),
        "record": hex::encode(newest.to_bytes()),
    }))
}

/// Has a node handle a request as if it had come over the network.
async fn ask(
    network: &Devnet,
    node: usize,
    body: ChunkMessageBody,
) -> anyhow::Result<ChunkMessageBody> {
    let (protocol, _) = network.test_browser_node(node).context("no such node")?;
    let request = ChunkMessage {
        request_id: node as u64,
        body,
    };
    let answer = protocol.try_handle_request(&request.encode()?).await?;
    let Some(answer) = answer else {
        bail!("node {node} did not answer");
    };
    Ok(ChunkMessage::decode(&answer)?.body)
}

/// Resolves when whoever started this process is gone.
async fn end_of_stdin() {
    let (ended, end) = oneshot::channel();
    thread::spawn(move || {
        // An error ends it as well.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = ended.send(());
    });
    // It fails where the thread ended without a word, which is the end of its input all the same.
    let _ = end.await;
}
