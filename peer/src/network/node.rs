//! A client of the Autonomi network. It needs no wallet: what it stores was paid for by others.

use super::connection::NetworkClient;
use super::pointer_read::{PointerRecord, read_pointer};
use super::pointer_survey::survey_pointer;
use super::record_read::{NoAnswer, ReadTimes, Verdict, read_record};
use super::replies::Replies;
use crate::address::Address;
use crate::limits::{MAX_NETWORK_TRANSFERS, MAX_NETWORK_UPLOADS, POINTER_BYTES};
use crate::paid_uploads::NetworkPointer;
use ant_protocol::{
    CHUNK_PROTOCOL_ID, CLOSE_GROUP_MAJORITY, CLOSE_GROUP_SIZE, ChunkGetRequest, ChunkGetResponse,
    ChunkMessage, ChunkMessageBody, MAX_WIRE_MESSAGE_SIZE, Pointer, PointerGetRequest,
    PointerGetResponse,
};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use saorsa_core::{DHTNode, IPDiversityConfig, MultiAddr, NodeConfig, NodeMode, P2PNode};
use std::net::{Ipv6Addr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long joining the network may take.
const JOIN_TIMEOUT: Duration = Duration::from_secs(60);

/// How long leaving the network may take.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one node may take to answer, with connecting to it.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(20);

/// How long a client without nodes may take to reach one.
const PROBE_TIMEOUT: Duration = Duration::from_secs(15);

const READ_TIMES: ReadTimes = ReadTimes {
    hedge: Duration::from_secs(3),
    grace: Duration::from_secs(3),
};

/// A client that is connected to nodes of the network.
pub struct NetworkNode {
    node: Arc<P2PNode>,
    replies: Arc<Replies>,
    delivery: JoinHandle<()>,
    reads: AtomicUsize,
    transfers: Semaphore,
    /// Permits for records on their way to nodes.
    pub(super) uploads: Semaphore,
}

impl NetworkNode {
    /// Connects to some of the bootstrap nodes. Everyone can read the error text.
    pub async fn join(bootstrap: Vec<MultiAddr>) -> Result<Self, String> {
        let config = node_config(bootstrap)?;
        let seeds = config.bootstrap_peers.len();
        let node = Box::pin(P2PNode::new(config)).await.map_err(|error| {
            tracing::warn!(%error, "the network client could not be created");
            "the network client could not be created".to_owned()
        })?;
        let node = Arc::new(node);
        let replies = Arc::<Replies>::default();
        let delivery = tokio::spawn(Arc::clone(&replies).deliver(node.subscribe_events()));
        let joined = Self {
            node,
            replies,
            delivery,
            reads: AtomicUsize::default(),
            transfers: Semaphore::new(MAX_NETWORK_TRANSFERS),
            uploads: Semaphore::new(MAX_NETWORK_UPLOADS),
        };
        match timeout(JOIN_TIMEOUT, Box::pin(joined.node.start())).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the network client could not start"),
            Err(_elapsed) => tracing::debug!("joining the network took too long"),
        }
        // The client starts without nodes too. And it may have nodes if it did not finish in time.
        if joined.node.peer_count().await > 0 {
            return Ok(joined);
        }
        joined.close().await;
        Err(format!("none of the {seeds} bootstrap nodes answered"))
    }

    /// Reads a chunk from the nodes that are closest to its address.
    pub async fn read_chunk(&self, address: Address) -> Verdict<Bytes> {
        let Ok(mut group) = self.closest_nodes(address, CLOSE_GROUP_SIZE).await else {
            return Verdict::Unclear;
        };
        // Many clients read popular chunks. All nodes of the group have them, so all should serve them.
        if !group.is_empty() {
            let first = self.reads.fetch_add(1, Ordering::Relaxed) % group.len();
            group.rotate_left(first);
        }
        read_record(group, CLOSE_GROUP_MAJORITY, READ_TIMES, |node| {
            self.ask_for_chunk(node, address)
        })
        .await
    }

    /// Reads the newest record of a pointer from the nodes that are closest to its address.
    pub async fn read_pointer(&self, address: Address) -> Verdict<Bytes> {
        let Ok(group) = self.closest_nodes(address, CLOSE_GROUP_SIZE).await else {
            return Verdict::Unclear;
        };
        let answers = group.into_iter();
        let answers = answers.map(|node| self.ask_for_pointer(node, address));
        match read_pointer(answers.collect(), CLOSE_GROUP_SIZE).await {
            Verdict::Found(pointer) => Verdict::Found(pointer.to_bytes().into()),
            Verdict::Absent => Verdict::Absent,
            Verdict::Unclear => Verdict::Unclear,
        }
    }

    /// Finds the newest state of a pointer that a node close to its address has, and how many have it.
    pub async fn survey_pointer(&self, address: Address) -> Verdict<NetworkPointer> {
        let Ok(group) = self.closest_nodes(address, CLOSE_GROUP_SIZE).await else {
            return Verdict::Unclear;
        };
        let answers = group.into_iter();
        let answers = answers.map(|node| self.ask_for_pointer(node, address));
        let survey = survey_pointer(answers.collect(), CLOSE_GROUP_SIZE, READ_TIMES.grace);
        match survey.await {
            Verdict::Found((pointer, holders, others)) => Verdict::Found(NetworkPointer {
                record: pointer.to_bytes().into(),
                holders,
                others,
            }),
            Verdict::Absent => Verdict::Absent,
            Verdict::Unclear => Verdict::Unclear,
        }
    }

    /// The `count` nodes that are closest to an address, the closest one first. There may be fewer.
    pub(super) async fn closest_nodes(
        &self,
        address: Address,
        count: usize,
    ) -> Result<Vec<DHTNode>, NoAnswer> {
        // The result may contain this client.
        let lookup = self.node.dht();
        let lookup = lookup.find_closest_nodes(address.as_bytes(), count + 1);
        // The future is large.
        let mut nodes = Box::pin(lookup).await.map_err(|error| {
            tracing::debug!(%address, %error, "the lookup in the network failed");
            NoAnswer
        })?;
        nodes.retain(|node| node.peer_id != *self.node.peer_id());
        nodes.truncate(count);
        Ok(nodes)
    }

    async fn ask_for_chunk(
        &self,
        node: DHTNode,
        address: Address,
    ) -> Result<Option<Bytes>, NoAnswer> {
        let _permit = self.transfers.acquire().await.map_err(|_| NoAnswer)?;
        let request = ChunkGetRequest::new(*address.as_bytes());
        match self
            .ask(&node, ChunkMessageBody::GetRequest(request))
            .await?
        {
            ChunkMessageBody::GetResponse(ChunkGetResponse::Success { content, .. })
                if Address::of(&content) == address =>
            {
                Ok(Some(content.into()))
            }
            ChunkMessageBody::GetResponse(ChunkGetResponse::NotFound { .. }) => Ok(None),
            _ => Err(NoAnswer),
        }
    }

    async fn ask_for_pointer(
        &self,
        node: DHTNode,
        address: Address,
    ) -> Result<Option<Pointer>, NoAnswer> {
        let request = PointerGetRequest::new(*address.as_bytes());
        match self
            .ask(&node, ChunkMessageBody::PointerGetRequest(request))
            .await?
        {
            ChunkMessageBody::PointerGetResponse(PointerGetResponse::Success { record })
                if record.len() == POINTER_BYTES =>
            {
                // Checks the signature.
                let pointer = Pointer::from_bytes(&record).map_err(|_| NoAnswer)?;
                match pointer.address() == *address.as_bytes() {
                    true => Ok(Some(pointer)),
                    false => Err(NoAnswer),
                }
            }
            ChunkMessageBody::PointerGetResponse(PointerGetResponse::NotFound { .. }) => Ok(None),
            _ => Err(NoAnswer),
        }
    }

    /// Sends a request to a node, and waits for its answer.
    pub(super) async fn ask(
        &self,
        node: &DHTNode,
        body: ChunkMessageBody,
    ) -> Result<ChunkMessageBody, NoAnswer> {
        let reply = self.replies.expect(node.peer_id);
        let request_id = reply.id;
        let message = ChunkMessage { request_id, body };
        let message = message.encode().map_err(|_| NoAnswer)?;
        let mut reply = reply;
        let exchange = async {
            let addresses = node.addresses_by_priority();
            let sending =
                self.node
                    .send_message(&node.peer_id, CHUNK_PROTOCOL_ID, message, &addresses);
            // The future is large.
            Box::pin(sending).await.map_err(|error| error.to_string())?;
            let answer = (&mut reply.receiver).await;
            answer.map_err(|_| "the client was closed".to_owned())
        };
        let failure = match timeout(ANSWER_TIMEOUT, exchange).await {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => error,
            Err(_elapsed) => "the node took too long".to_owned(),
        };
        tracing::debug!(node = %node.peer_id.short_hex(), failure, "no answer of a node");
        Err(NoAnswer)
    }
}

impl NetworkClient for NetworkNode {
    fn count_peers(&self) -> BoxFuture<'_, usize> {
        async {
            let peers = self.node.peer_count().await;
            if peers > 0 {
                return peers;
            }
            // Nodes close idle connections. A lookup connects again to the nodes that this client knows. The count shows
            // whether it did.
            let own_address = Address::from(*self.node.peer_id().as_bytes());
            let _ = timeout(
                PROBE_TIMEOUT,
                self.closest_nodes(own_address, CLOSE_GROUP_SIZE),
            )
            .await;
            self.node.peer_count().await
        }
        .boxed()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        async {
            self.delivery.abort();
            match timeout(LEAVE_TIMEOUT, Box::pin(self.node.stop())).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::debug!(%error, "the network client did not stop"),
                Err(_elapsed) => tracing::debug!("stopping the network client took too long"),
            }
        }
        .boxed()
    }
}

impl Drop for NetworkNode {
    fn drop(&mut self) {
        self.delivery.abort();
    }
}

impl PointerRecord for Pointer {
    fn is_same_state(&self, other: &Self) -> bool {
        self.state_id() == other.state_id()
    }

    fn replaces(&self, other: &Self) -> bool {
        Pointer::replaces(self, other)
    }

    fn is_final(&self) -> bool {
        self.is_terminal()
    }
}

fn node_config(mut bootstrap: Vec<MultiAddr>) -> Result<NodeConfig, String> {
    // Nodes of a test network are all on this machine. Other nodes refuse clients that listen on loopback.
    let is_local = bootstrap.iter().all(MultiAddr::is_loopback);
    let has_ipv6 = !is_local && has_ipv6_route();
    if !is_local && !has_ipv6 {
        bootstrap.retain(MultiAddr::is_ipv4);
    }
    if bootstrap.is_empty() {
        return Err(
            "all bootstrap nodes have IPv6 addresses, but this machine has no IPv6".to_owned(),
        );
    }
    let config = NodeConfig::builder()
        .mode(NodeMode::Client)
        .local(is_local)
        .ipv6(has_ipv6)
        .max_message_size(MAX_WIRE_MESSAGE_SIZE);
    let mut config = config.build().map_err(|error| error.to_string())?;
    config.bootstrap_peers = bootstrap;
    // A reader stores nothing, so many nodes with similar addresses do no harm.
    config.diversity_config = Some(IPDiversityConfig::permissive());
    Ok(config)
}

/// Whether this machine can send to the IPv6 internet. No packet is sent.
fn has_ipv6_route() -> bool {
    /// An address for documentation. It is routed like every other address of the internet.
    const SOMEWHERE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
    UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))
        .and_then(|socket| socket.connect((SOMEWHERE, 10_000)))
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(addresses: &[&str]) -> Vec<MultiAddr> {
        let addresses = addresses.iter();
        addresses.map(|address| address.parse().unwrap()).collect()
    }

    #[test]
    fn listens_on_loopback_only_in_a_test_network() {
        let local = parse(&["/ip4/127.0.0.1/udp/1/quic", "/ip4/127.0.0.1/udp/2/quic"]);
        let config = node_config(local).unwrap();
        assert!(config.local && config.allow_loopback && !config.ipv6);
        let mixed = parse(&["/ip4/127.0.0.1/udp/1/quic", "/ip4/192.0.2.1/udp/2/quic"]);
        let config = node_config(mixed).unwrap();
        assert!(!config.local && !config.allow_loopback);
    }

    #[test]
    fn a_machine_without_ipv6_uses_the_other_nodes() {
        let nodes = ["/ip6/2001:db8::1/udp/1/quic", "/ip4/192.0.2.1/udp/2/quic"];
        let config = node_config(parse(&nodes)).unwrap();
        assert_eq!(config.ipv6, has_ipv6_route());
        let expected = if has_ipv6_route() {
            &nodes[..]
        } else {
            &nodes[1..]
        };
        assert_eq!(config.bootstrap_peers, parse(expected));
        assert_eq!(node_config(parse(&nodes[..1])).is_ok(), has_ipv6_route());
    }
}
