//! One node of the network, with the parts that the network's own program gives a node.

use ant_node::config::{
    EvmNetworkConfig, NetworkMode, PaymentConfig, StorageConfig, UpgradeConfig,
};
use ant_node::core::{MultiAddr, NodeIdentity};
use ant_node::payment::{
    EvmVerifierConfig, PaymentVerifier, PaymentVerifierConfig, PriceFloorConfig, QuoteGenerator,
    QuotingMetricsTracker, wire_ml_dsa_signer,
};
use ant_node::pointer::{PointerService, PointerStore};
use ant_node::storage::chunk_store::CHUNKS_DIR_NAME;
use ant_node::{
    AntProtocol, ChunkStore, ChunkStoreConfig, NodeBuilder, NodeConfig, NodeEvent, RunningNode,
    WebRtcDirectConfig,
};
use ant_protocol::chunk::{
    ChunkMessage, ChunkMessageBody, ChunkPutRequest, ChunkPutResponse, PointerPutRequest,
    PointerPutResponse,
};
use ant_protocol::evm::{Network, RewardsAddress};
use ant_protocol::{CLOSE_GROUP_SIZE, Pointer, compute_address};
use anyhow::{Context, bail, ensure};
use serde_json::json;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, stdin};
use tokio::time::{sleep, timeout};

#[derive(clap::Args)]
pub struct Args {
    /// Where the node keeps its records
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,

    /// A folder of `prepare`, whose records the node stores before it starts (repeatable)
    #[arg(long, value_name = "FOLDER")]
    records: Vec<PathBuf>,

    /// The address that the node gives others
    #[arg(long, default_value_t = Ipv4Addr::LOCALHOST)]
    ip: Ipv4Addr,

    /// The UDP port; 0 selects a free one
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// Another node of the network (multiaddress; repeatable)
    #[arg(long, value_name = "MULTIADDR")]
    bootstrap: Vec<MultiAddr>,

    /// Damages the stored chunks, and serves them without looking
    #[arg(long)]
    lies: bool,

    /// The chain on which clients pay: the URL of its RPC endpoint, the token and the vault
    #[arg(long, value_names = ["RPC", "TOKEN", "VAULT"], num_args = 3)]
    chain: Option<Vec<String>>,
}

/// How many payments a node remembers.
const PAYMENTS: usize = 100_000;

const REWARDS: RewardsAddress = RewardsAddress::new([1; 20]);

/// No node of a test lives that long, so none looks for a newer version of its program.
const HOURS_BETWEEN_UPGRADE_CHECKS: u64 = 24 * 365;

/// The file in which a node leaves its address for browsers.
const BROWSER_ADDRESS_FILE: &str = "webrtc-direct.multiaddr";

const START_LIMIT: Duration = Duration::from_secs(60);

pub async fn run(args: Args) -> anyhow::Result<()> {
    fs::create_dir_all(&args.data)?;
    let records = match args.records.is_empty() {
        true => 0,
        false => store_records(&args.data, &args.records).await?,
    };
    if args.lies {
        damage_chunks(&args.data.join(CHUNKS_DIR_NAME))?;
    }
    let port = match args.port {
        0 => free_port(args.ip)?,
        port => port,
    };
    let config = NodeConfig {
        root_dir: args.data.clone(),
        port,
        ipv4_only: true,
        bootstrap: args
            .bootstrap
            .iter()
            .map(|address| {
                address
                    .dialable_socket_addr()
                    .context("a node that cannot be dialled")
            })
            .collect::<anyhow::Result<_>>()?,
        // All nodes have the same address. In development, they listen on loopback only.
        network_mode: match args.ip.is_loopback() {
            true => NetworkMode::Development,
            false => NetworkMode::Testnet,
        },
        upgrade: UpgradeConfig {
            check_interval_hours: HOURS_BETWEEN_UPGRADE_CHECKS,
            ..UpgradeConfig::default()
        },
        payment: PaymentConfig {
            rewards_address: Some(REWARDS.to_string()),
            evm_network: args.chain.map_or_else(EvmNetworkConfig::default, chain),
            ..PaymentConfig::default()
        },
        storage: StorageConfig {
            verify_on_read: !args.lies,
            ..StorageConfig::default()
        },
        webrtc_direct: WebRtcDirectConfig {
            bind: SocketAddr::from((args.ip, 0)),
            ..WebRtcDirectConfig::default()
        },
        ..NodeConfig::default()
    };
    let node = NodeBuilder::new(config).build().await?;
    let started = started(&node);
    let ended = tokio::spawn(run_until_stdin_ends(node));
    timeout(START_LIMIT, started)
        .await
        .context("the node did not start")??;
    let browser = timeout(START_LIMIT, browser_address(&args.data)).await;
    println!(
        "{}",
        json!({
            "event": "listening",
            "address": MultiAddr::quic(SocketAddr::from((args.ip, port))).to_string(),
            "browser": browser.context("the node does not listen for browsers")??,
            "records": records,
        })
    );
    ended.await?
}

fn chain(parts: Vec<String>) -> EvmNetworkConfig {
    let [rpc_url, payment_token_address, payment_vault_address] =
        parts.try_into().expect("the flag has three values");
    EvmNetworkConfig::Custom {
        rpc_url,
        payment_token_address,
        payment_vault_address,
    }
}

/// Returns when the node listens.
fn started(node: &RunningNode) -> impl Future<Output = anyhow::Result<()>> + use<> {
    let mut events = node.subscribe_events();
    async move {
        while !matches!(events.recv().await?, NodeEvent::Started) {}
        Ok(())
    }
}

async fn run_until_stdin_ends(mut node: RunningNode) -> anyhow::Result<()> {
    let (mut stdin, mut byte) = (stdin(), [0]);
    tokio::select! {
        result = node.run() => Ok(result?),
        _ = stdin.read(&mut byte) => Ok(()),
    }
}

/// The address that the node leaves in its folder once it listens for browsers.
async fn browser_address(folder: &Path) -> anyhow::Result<String> {
    loop {
        match fs::read_to_string(folder.join(BROWSER_ADDRESS_FILE)) {
            Ok(address) if !address.trim().is_empty() => return Ok(address.trim().to_owned()),
            _ => sleep(Duration::from_millis(20)).await,
        }
    }
}

/// A UDP port that nothing uses.
fn free_port(ip: Ipv4Addr) -> anyhow::Result<u16> {
    let socket = UdpSocket::bind((ip, 0))?;
    Ok(socket.local_addr()?.port())
}

/// Stores the records of folders, as a node of this folder would. Returns their number.
async fn store_records(data: &Path, folders: &[PathBuf]) -> anyhow::Result<usize> {
    let protocol = protocol(data).await?;
    let mut records = 0;
    for folder in folders {
        records += store_all(&protocol, folder).await?;
    }
    Ok(records)
}

/// Handles requests as the node does. It counts every record as paid for.
async fn protocol(folder: &Path) -> anyhow::Result<AntProtocol> {
    let store = ChunkStore::new(ChunkStoreConfig {
        root_dir: folder.to_path_buf(),
        ..ChunkStoreConfig::default()
    });
    let store = Arc::new(store.await?);
    let payments = Arc::new(PaymentVerifier::new(PaymentVerifierConfig {
        evm: EvmVerifierConfig {
            network: Network::ArbitrumOne,
        },
        cache_capacity: PAYMENTS,
        close_group_size: CLOSE_GROUP_SIZE,
        local_rewards_address: REWARDS,
        price_floor: PriceFloorConfig::default(),
    }));
    let mut quotes = QuoteGenerator::new(REWARDS, QuotingMetricsTracker::new(0));
    wire_ml_dsa_signer(&mut quotes, &NodeIdentity::generate()?)?;
    let pointers = PointerService::new(PointerStore::new(store.root_dir()).await?)
        .with_chunk_store(Arc::clone(&store))
        .with_payments(Arc::clone(&payments));
    Ok(AntProtocol::new(store, payments, Arc::new(quotes)).with_pointer_service(pointers))
}

/// Stores the records of a folder that `prepare` made.
async fn store_all(protocol: &AntProtocol, folder: &Path) -> anyhow::Result<usize> {
    let mut records = 0;
    for path in files_of(&folder.join("chunks"))? {
        let bytes = fs::read(path)?;
        let address = compute_address(&bytes);
        protocol.payment_verifier_arc().cache_insert(address);
        let request = ChunkMessageBody::PutRequest(ChunkPutRequest::new(address, bytes.into()));
        match ask(protocol, request).await? {
            ChunkMessageBody::PutResponse(
                ChunkPutResponse::Success { .. } | ChunkPutResponse::AlreadyExists { .. },
            ) => records += 1,
            other => bail!("the node refused a chunk: {other:?}"),
        }
    }
    for path in files_of(&folder.join("pointers"))? {
        let bytes = fs::read(path)?;
        let pointer = Pointer::from_bytes(&bytes)?;
        protocol
            .payment_verifier_arc()
            .cache_insert_pointer(pointer.address(), pointer.state_id());
        // A node wants a proof of payment of a plausible length, though it remembers the payment.
        let request = PointerPutRequest::with_payment(bytes.into(), vec![1; 128]);
        match ask(protocol, ChunkMessageBody::PointerPutRequest(request)).await? {
            ChunkMessageBody::PointerPutResponse(PointerPutResponse::Success { .. }) => {
                records += 1
            }
            other => bail!("the node refused a pointer: {other:?}"),
        }
    }
    ensure!(records > 0, "no records in {}", folder.display());
    Ok(records)
}

/// Changes the first byte of each chunk. The node keeps chunks in files, which have their addresses as names.
fn damage_chunks(folder: &Path) -> anyhow::Result<()> {
    for path in files_of(folder)? {
        if path.is_dir() {
            damage_chunks(&path)?;
        } else if path.file_name().is_some_and(|name| name.len() == 64) {
            let mut bytes = fs::read(&path)?;
            bytes[0] ^= 1;
            fs::write(&path, bytes)?;
        }
    }
    Ok(())
}

/// The files of a folder, sorted by name.
fn files_of(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    let mut files = entries
        .map(|entry| Ok(entry?.path()))
        .collect::<anyhow::Result<Vec<_>>>()?;
    files.sort();
    Ok(files)
}

/// Lets the node handle a request as if a client had sent it.
async fn ask(protocol: &AntProtocol, body: ChunkMessageBody) -> anyhow::Result<ChunkMessageBody> {
    let request = ChunkMessage {
        request_id: 0,
        body,
    };
    let answer = protocol.try_handle_request(&request.encode()?).await?;
    let answer = answer.context("the node did not answer")?;
    Ok(ChunkMessage::decode(&answer)?.body)
}
