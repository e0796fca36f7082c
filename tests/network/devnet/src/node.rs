//! One node of the network, with the parts that the network's own program gives a node.

use ant_node::core::{IPDiversityConfig, MultiAddr, NodeIdentity, P2PEvent, P2PNode};
use ant_node::payment::{
    EvmVerifierConfig, PaymentVerifier, PaymentVerifierConfig, PriceFloorConfig, QuoteGenerator,
    QuotingMetricsTracker, wire_ml_dsa_signer,
};
use ant_node::pointer::{PointerService, PointerStore};
use ant_node::{AntProtocol, ChunkStore, ChunkStoreConfig};
use ant_protocol::chunk::{
    ChunkMessage, ChunkMessageBody, ChunkPutRequest, ChunkPutResponse, PointerPutRequest,
    PointerPutResponse,
};
use ant_protocol::evm::{Network, RewardsAddress};
use ant_protocol::{
    CHUNK_PROTOCOL_ID, CLOSE_GROUP_SIZE, MAX_WIRE_MESSAGE_SIZE, Pointer, compute_address,
};
use anyhow::{Context, bail, ensure};
use saorsa_core::NodeConfig;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

#[derive(clap::Args)]
pub struct Args {
    /// Where the node keeps its records
    #[arg(long, value_name = "FOLDER")]
    data: PathBuf,

    /// The UDP port on loopback; 0 selects a free one
    #[arg(long, default_value_t = 0)]
    port: u16,

    /// Another node of the network (multiaddress; repeatable)
    #[arg(long, value_name = "MULTIADDR")]
    bootstrap: Vec<MultiAddr>,
}

/// How many payments a node remembers.
const PAYMENTS: usize = 100_000;

const REWARDS: RewardsAddress = RewardsAddress::new([1; 20]);

pub async fn run(args: Args) -> anyhow::Result<()> {
    fs::create_dir_all(&args.data)?;
    let identity = NodeIdentity::generate()?;
    let protocol = Arc::new(protocol(&args.data, &identity).await?);
    let mut config = NodeConfig::builder()
        .port(args.port)
        .local(true)
        .ipv6(false)
        .max_message_size(MAX_WIRE_MESSAGE_SIZE)
        .build()?;
    config.node_identity = Some(Arc::new(identity));
    config.bootstrap_peers = args.bootstrap;
    // All nodes have the same address.
    config.diversity_config = Some(IPDiversityConfig::permissive());
    let node = Arc::new(P2PNode::new(config).await?);
    let requests = tokio::spawn(answer(Arc::clone(&node), Arc::clone(&protocol)));
    node.start().await?;
    protocol.attach_p2p_node(Arc::clone(&node));
    let addresses = node.listen_addrs().await;
    let address = addresses.first().context("the node does not listen")?;
    println!(
        "{}",
        json!({ "event": "listening", "address": address.to_string() })
    );
    let mut folders = BufReader::new(stdin()).lines();
    while let Some(folder) = folders.next_line().await? {
        let records = store_all(&protocol, Path::new(&folder)).await?;
        println!("{}", json!({ "event": "stored", "records": records }));
    }
    requests.abort();
    node.shutdown().await?;
    Ok(())
}

async fn protocol(folder: &Path, identity: &NodeIdentity) -> anyhow::Result<AntProtocol> {
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
    wire_ml_dsa_signer(&mut quotes, identity)?;
    let pointers = PointerService::new(PointerStore::new(store.root_dir()).await?)
        .with_chunk_store(Arc::clone(&store))
        .with_payments(Arc::clone(&payments));
    Ok(AntProtocol::new(store, payments, Arc::new(quotes)).with_pointer_service(pointers))
}

/// Answers the requests of clients.
async fn answer(node: Arc<P2PNode>, protocol: Arc<AntProtocol>) {
    let mut events = node.subscribe_events();
    while let Ok(event) = events.recv().await {
        let P2PEvent::Message {
            topic,
            source: Some(client),
            data,
            ..
        } = event
        else {
            continue;
        };
        if topic != CHUNK_PROTOCOL_ID {
            continue;
        }
        let (node, protocol) = (Arc::clone(&node), Arc::clone(&protocol));
        tokio::spawn(async move {
            match protocol.try_handle_request(&data).await {
                Ok(Some(answer)) => {
                    let sent = node.send_message(&client, CHUNK_PROTOCOL_ID, answer, &[]);
                    if let Err(error) = sent.await {
                        tracing::warn!(%error, "answer not sent");
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "request failed"),
            }
        });
    }
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
