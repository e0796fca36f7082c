//! Pools of nodes that may be paid for many chunks at once, and the proof of such a payment.

use super::gather::{Gathered, Reply, Wanted, gather};
use super::node::NetworkNode;
use super::quotes;
use super::record_read::NoAnswer;
use super::uploads::{GRACE, HEDGE};
use crate::address::Address;
use crate::paid_uploads::{Base64, BatchProof, EvmHex, POOL_NODES, Quote, StoreError, Text};
use ant_protocol::evm::{Amount, MerklePaymentCandidateNode, MerklePaymentProof, RewardsAddress};
use ant_protocol::{
    ChunkMessageBody, MAX_CHUNK_SIZE, MerkleCandidateQuoteRequestV2, MerkleCandidateQuoteResponse,
    PROOF_TAG_MERKLE, deserialize_merkle_proof, verify_merkle_candidate_signature,
};
use saorsa_core::DHTNode;
use std::collections::HashSet;
use xor_name::XorName;

/// Nodes accept a pool if enough of its nodes are among so many that are closest to its address (`ant-node` 0.23).
const POOL_SEARCH_NODES: usize = 2 * POOL_NODES;

/// So many nodes of a pool have to be close to its address (`ant-node` 0.23).
const CLOSE_POOL_NODES: usize = 9;

/// How far the clocks of nodes may be apart, in seconds.
const CLOCK_TOLERANCE: u64 = 600;

impl NetworkNode {
    /// Collects the prices of the nodes that are closest to the address of a pool.
    pub async fn pool(&self, address: Address, timestamp: u64) -> Option<Vec<Quote>> {
        let nodes = self.closest_nodes(address, POOL_SEARCH_NODES).await.ok()?;
        let wanted = Wanted {
            best: POOL_NODES,
            enough: POOL_NODES,
            refusals: usize::MAX,
            hedge: HEDGE,
            grace: GRACE,
        };
        let gathered = gather(nodes, wanted, |node| {
            self.ask_for_candidate(node, address, timestamp)
        });
        let Gathered { mut answers, .. } = gathered.await;
        answers.sort_by_key(|quote| quote.peer);
        (answers.len() == POOL_NODES).then_some(answers)
    }

    async fn ask_for_candidate(
        &self,
        node: DHTNode,
        address: Address,
        timestamp: u64,
    ) -> Result<Reply<Quote, ()>, NoAnswer> {
        // The price does not depend on the size.
        let size = MAX_CHUNK_SIZE as u64;
        let request = MerkleCandidateQuoteRequestV2::new(*address.as_bytes(), size, timestamp);
        let request = ChunkMessageBody::MerkleCandidateQuoteRequestV2(request);
        let ChunkMessageBody::MerkleCandidateQuoteResponse(MerkleCandidateQuoteResponse::Success {
            candidate_node,
            commitment,
        }) = self.ask(&node, request).await?
        else {
            return Err(NoAnswer);
        };
        let peer = Address::from(*node.peer_id.as_bytes());
        let checked = tokio::task::spawn_blocking(move || {
            read_candidate(peer, timestamp, &candidate_node, commitment.as_deref())
        });
        let quote = checked.await.ok().flatten().ok_or_else(|| {
            tracing::debug!(node = %node.peer_id.short_hex(), "a price for a pool is not valid");
            NoAnswer
        })?;
        Ok(Reply::Done(quote))
    }

    /// Why nodes refuse the payment of a pool. They explain it only in free text.
    pub(super) async fn refused(&self, proof: &BatchProof) -> StoreError {
        let address = pool_address(proof);
        let Ok(nodes) = self.closest_nodes(address, POOL_SEARCH_NODES).await else {
            return StoreError::Shortfall;
        };
        let close: HashSet<_> = nodes.iter().map(|node| *node.peer_id.as_bytes()).collect();
        let pool = proof.pool.nodes.iter();
        let still_close = pool.filter(|quote| close.contains(quote.peer.0.as_bytes()));
        match still_close.count() < CLOSE_POOL_NODES {
            true => StoreError::QuoteExpired,
            false => StoreError::Unpaid,
        }
    }
}

/// Reads what a node sent. `None` unless it is a valid price of `node` at `timestamp`.
fn read_candidate(
    node: Address,
    timestamp: u64,
    candidate: &[u8],
    commitment: Option<&[u8]>,
) -> Option<Quote> {
    let wire: MerklePaymentCandidateNode = rmp_serde::from_slice(candidate).ok()?;
    let commitment = quotes::read_commitment(wire.commitment_pin, commitment)?;
    let quote = Quote {
        peer: Text(node),
        timestamp: wire.merkle_payment_timestamp,
        price: Text(wire.price.try_into().ok()?),
        rewards_address: Text(EvmHex(wire.reward_address.into_array())),
        public_key: Text(Base64(wire.pub_key)),
        signature: Text(Base64(wire.signature)),
        committed_key_count: wire.committed_key_count,
        commitment_pin: wire.commitment_pin.map(|pin| Text(pin.into())),
        commitment,
    };
    let is_valid = is_valid(&quote, timestamp) && quotes::has_commitment(&quote);
    is_valid.then_some(quote)
}

/// Checks a price as nodes do when a chunk comes with it. They ask its node for the commitment.
fn is_valid(quote: &Quote, timestamp: u64) -> bool {
    quote.timestamp == timestamp
        && quotes::has_valid_price(quote)
        && verify_merkle_candidate_signature(&to_wire(quote))
}

/// Checks a proof as nodes do, apart from the chain. Returns it as nodes read it. `now` is in seconds since 1970.
pub fn prove(proof: &BatchProof, now: u64) -> Result<Vec<u8>, StoreError> {
    if !proof.has_valid_form() || proof.timestamp > now.saturating_add(CLOCK_TOLERANCE) {
        return Err(StoreError::BadPlan);
    }
    if proof.is_expired(now) {
        return Err(StoreError::QuoteExpired);
    }
    let mut nodes = HashSet::new();
    let mut quotes = proof.pool.nodes.iter();
    let has_valid_nodes =
        quotes.all(|quote| nodes.insert(quote.peer.0) && is_valid(quote, proof.timestamp));
    let bytes = to_bytes(proof).ok_or(StoreError::BadPlan)?;
    let wire = deserialize_merkle_proof(&bytes).map_err(|_| StoreError::BadPlan)?;
    match has_valid_nodes && has_valid_branches(&wire) {
        true => Ok(bytes),
        false => Err(StoreError::BadPlan),
    }
}

fn has_valid_branches(proof: &MerklePaymentProof) -> bool {
    proof.data_proof.verify() && proof.winner_pool.midpoint_proof.branch.verify()
}

/// The proof as nodes read it: its tag, and its MessagePack. The network's types for branches have no constructors, so
/// these tuples have the same fields in the same order.
fn to_bytes(proof: &BatchProof) -> Option<Vec<u8>> {
    let hashes = |siblings: &[Text<Address>]| -> Vec<[u8; 32]> {
        let siblings = siblings.iter();
        siblings.map(|sibling| *sibling.0.as_bytes()).collect()
    };
    let name = |hash: Text<Address>| XorName(*hash.0.as_bytes());
    let leaf_branch = (
        hashes(&proof.leaf.siblings),
        proof.leaf.index,
        1_usize << proof.leaf.siblings.len(),
        name(proof.address),
        name(proof.root),
        Some(*proof.leaf.salt.0.as_bytes()),
    );
    let pool_branch = (
        hashes(&proof.pool.siblings),
        proof.pool.index,
        1_usize << proof.pool.siblings.len(),
        name(proof.pool.midpoint),
        name(proof.root),
        None::<[u8; 32]>,
    );
    let nodes: Vec<_> = proof.pool.nodes.iter().map(to_wire).collect();
    let nodes: [MerklePaymentCandidateNode; POOL_NODES] = nodes.try_into().ok()?;
    let pool = ((pool_branch, proof.timestamp), nodes);
    let no_commitments: [Vec<u8>; 0] = [];
    let wire = (name(proof.address), leaf_branch, pool, no_commitments);
    let mut bytes = vec![PROOF_TAG_MERKLE];
    rmp_serde::encode::write(&mut bytes, &wire).ok()?;
    Some(bytes)
}

fn to_wire(quote: &Quote) -> MerklePaymentCandidateNode {
    MerklePaymentCandidateNode {
        pub_key: quote.public_key.0.0.clone(),
        price: Amount::from(quote.price.0),
        reward_address: RewardsAddress::from(quote.rewards_address.0.0),
        merkle_payment_timestamp: quote.timestamp,
        signature: quote.signature.0.0.clone(),
        committed_key_count: quote.committed_key_count,
        commitment_pin: quote.commitment_pin.map(|pin| *pin.0.as_bytes()),
    }
}

/// The address whose closest nodes make the pool.
fn pool_address(proof: &BatchProof) -> Address {
    let time = proof.timestamp.to_le_bytes();
    let parts = [
        &proof.pool.midpoint.0.as_bytes()[..],
        proof.root.0.as_bytes(),
        &time,
    ];
    XorName::from_content_parts(&parts).0.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paid_uploads::{LeafBranch, PaidPool};
    use ant_protocol::evm::{MerklePaymentCandidatePool, MerkleTree, MidpointProof};
    use ant_protocol::payment::calculate_price;
    use ant_protocol::serialize_merkle_proof;
    use fips204::ml_dsa_65;
    use fips204::traits::{KeyGen, SerDes, Signer};

    const TIME: u64 = 1_795_000_000;

    /// A branch of the network's own tree: its hashes, place, leaves, start, root and salt.
    type Branch = (
        Vec<[u8; 32]>,
        usize,
        usize,
        XorName,
        XorName,
        Option<[u8; 32]>,
    );

    fn parts<T: serde::Serialize>(branch: &T) -> Branch {
        rmp_serde::from_slice(&rmp_serde::to_vec(branch).unwrap()).unwrap()
    }

    fn node(seed: u8) -> MerklePaymentCandidateNode {
        let (public, key) = ml_dsa_65::KG::keygen_from_seed(&[seed; 32]);
        let price = calculate_price(0);
        let account = RewardsAddress::from([seed; 20]);
        let signed = MerklePaymentCandidateNode::bytes_to_sign(&price, &account, TIME, 0, &None);
        MerklePaymentCandidateNode {
            pub_key: public.into_bytes().to_vec(),
            price,
            reward_address: account,
            merkle_payment_timestamp: TIME,
            signature: key
                .try_sign_with_seed(&[0; 32], &signed, b"")
                .unwrap()
                .to_vec(),
            committed_key_count: 0,
            commitment_pin: None,
        }
    }

    /// A proof of the network's own code for one of some chunks, and the same proof as clients send it.
    fn proofs(chunks: u8, chunk: u8, pool: usize) -> (MerklePaymentProof, BatchProof) {
        let names: Vec<_> = (0..chunks).map(|i| XorName([i; 32])).collect();
        let tree = MerkleTree::from_xornames(names.clone()).unwrap();
        let name = names[usize::from(chunk)];
        let data_proof = tree.generate_address_proof(chunk.into(), name).unwrap();
        let midpoint_proof: MidpointProof = tree.reward_candidates(TIME).unwrap()[pool].clone();
        let nodes: Vec<_> = (1..=16).map(node).collect();
        let winner_pool = MerklePaymentCandidatePool {
            midpoint_proof,
            candidate_nodes: nodes.clone().try_into().unwrap(),
        };
        let hash = |name: [u8; 32]| Text(Address::from(name));
        let hashes = |siblings: Vec<[u8; 32]>| siblings.into_iter().map(hash).collect();
        let (leaf_siblings, leaf, _, _, root, salt) = parts(&data_proof);
        let (siblings, index, _, midpoint, _, _) = parts(&winner_pool.midpoint_proof.branch);
        let quotes = nodes.into_iter().map(|node| {
            let wire = rmp_serde::to_vec(&node).unwrap();
            read_candidate(Address::of(&node.pub_key), TIME, &wire, None).unwrap()
        });
        let proof = BatchProof {
            address: hash(name.0),
            size: 1,
            timestamp: TIME,
            root: hash(root.0),
            leaf: LeafBranch {
                index: leaf,
                salt: hash(salt.unwrap()),
                siblings: hashes(leaf_siblings),
            },
            pool: PaidPool {
                index,
                midpoint: hash(midpoint.0),
                siblings: hashes(siblings),
                nodes: quotes.collect(),
            },
        };
        (
            MerklePaymentProof::new(name, data_proof, winner_pool),
            proof,
        )
    }

    #[test]
    fn nodes_get_the_proof_of_the_networks_own_code() {
        for (chunks, chunk, pool) in [(2, 1, 1), (5, 4, 3), (64, 63, 7), (65, 0, 15), (255, 7, 0)] {
            let (network, proof) = proofs(chunks, chunk, pool);
            let address = network.winner_pool.midpoint_proof.address();
            assert_eq!(pool_address(&proof), Address::from(address.0));
            let expected = serialize_merkle_proof(&network).unwrap();
            assert!(to_bytes(&proof).unwrap() == expected, "{chunks}");
            assert!(prove(&proof, TIME).unwrap() == expected, "{chunks}");
        }
    }

    /// Clients make trees themselves, with hashes of their own.
    #[test]
    fn nodes_accept_the_proofs_of_clients() {
        let fixture = include_str!("../../../tests/fixtures/payments/batch.json");
        let fixture: serde_json::Value = serde_json::from_str(fixture).unwrap();
        let proof: BatchProof = serde_json::from_value(fixture["proof"].clone()).unwrap();
        let bytes = prove(&proof, proof.timestamp).unwrap();
        let pool = deserialize_merkle_proof(&bytes).unwrap().winner_pool;
        assert_eq!(
            Address::from(pool.hash()).to_string(),
            fixture["poolHash"].as_str().unwrap()
        );
        assert_eq!(
            Address::from(pool.midpoint_proof.address().0).to_string(),
            fixture["poolAddress"].as_str().unwrap()
        );
    }

    #[test]
    fn refuses_proofs_that_nodes_would_refuse() {
        let (_, proof) = proofs(5, 4, 3);
        let week = 7 * 24 * 60 * 60;
        assert!(prove(&proof, TIME - 600).is_ok());
        assert_eq!(prove(&proof, TIME - 601), Err(StoreError::BadPlan));
        assert!(prove(&proof, TIME + week).is_ok());
        assert_eq!(
            prove(&proof, TIME + week + 1),
            Err(StoreError::QuoteExpired)
        );
        let other = Text(Address::from([9; 32]));
        let changes: [fn(&mut BatchProof, Text<Address>); 9] = [
            |proof, other| proof.address = other,
            |proof, other| proof.root = other,
            |proof, other| proof.leaf.salt = other,
            |proof, other| proof.leaf.siblings[1] = other,
            |proof, other| proof.pool.midpoint = other,
            |proof, _| proof.pool.index ^= 1,
            |proof, _| proof.timestamp -= 1,
            |proof, _| proof.pool.nodes[0].price.0 += 1,
            |proof, _| proof.pool.nodes[0] = proof.pool.nodes[1].clone(),
        ];
        for (i, change) in changes.into_iter().enumerate() {
            let mut changed = proof.clone();
            change(&mut changed, other);
            assert_eq!(prove(&changed, TIME), Err(StoreError::BadPlan), "{i}");
        }
    }
}
