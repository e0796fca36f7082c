//! Quotes of nodes: their checks, and their form on the wire.

use crate::address::Address;
use crate::paid_uploads::{Base64, Commitment, EvmHex, Plan, Quote, Text};
use ant_protocol::evm::{
    Amount, EncodedPeerId, PaymentQuote, ProofOfPayment, RewardsAddress, TxHash,
};
use ant_protocol::payment::commitment::MAX_COMMITMENT_SIDECAR_BYTES;
use ant_protocol::payment::{
    MAX_COMMITMENT_KEY_COUNT, StorageCommitment, calculate_price, commitment_hash,
    verify_commitment_signature,
};
use ant_protocol::{PaymentProof, serialize_single_node_proof, verify_quote_signature};
use std::time::{Duration, SystemTime};
use xor_name::XorName;

/// The factor between the price of the paid quote and the payment.
const PAYMENT_FACTOR: u128 = 3;

/// Reads what a node sent. `None` unless it is a valid quote of `node` for `content`, with the commitment that the price
/// is derived from.
pub fn read_quote(
    node: Address,
    content: Address,
    quote: &[u8],
    commitment: Option<&[u8]>,
) -> Option<Quote> {
    let wire: PaymentQuote = rmp_serde::from_slice(quote).ok()?;
    if wire.content.0 != *content.as_bytes() {
        return None;
    }
    let commitment = read_commitment(wire.commitment_pin, commitment)?;
    let quote = Quote {
        peer: Text(node),
        timestamp: wire
            .timestamp
            .duration_since(SystemTime::UNIX_EPOCH)
            .ok()?
            .as_secs(),
        price: Text(wire.price.try_into().ok()?),
        rewards_address: Text(EvmHex(wire.rewards_address.into_array())),
        public_key: Text(Base64(wire.pub_key)),
        signature: Text(Base64(wire.signature)),
        committed_key_count: wire.committed_key_count,
        commitment_pin: wire.commitment_pin.map(|pin| Text(pin.into())),
        commitment,
    };
    is_valid(&quote, content).then_some(quote)
}

/// The commitment that came with a quote. The outer `None` if it is missing.
pub(super) fn read_commitment(
    pin: Option<[u8; 32]>,
    commitment: Option<&[u8]>,
) -> Option<Option<Commitment>> {
    match (pin, commitment) {
        (None, _) => Some(None),
        (Some(_), Some(blob)) if blob.len() <= MAX_COMMITMENT_SIDECAR_BYTES => {
            let commitment: StorageCommitment = rmp_serde::from_slice(blob).ok()?;
            Some(Some(Commitment {
                root: Text(commitment.root.into()),
                key_count: commitment.key_count,
                signature: Text(Base64(commitment.signature)),
            }))
        }
        (Some(_), _) => None,
    }
}

/// Checks a quote as nodes and clients do: its node, signature and price, and the commitment.
pub fn is_valid(quote: &Quote, content: Address) -> bool {
    has_valid_price(quote)
        && has_commitment(quote)
        && verify_quote_signature(&to_wire(quote, content))
}

/// Whether the price follows from the number of records, and the key is the one of the node.
pub(super) fn has_valid_price(quote: &Quote) -> bool {
    let count = quote.committed_key_count;
    let has_binding = match quote.commitment_pin {
        None => count == 0,
        Some(_) => (1..=MAX_COMMITMENT_KEY_COUNT).contains(&count),
    };
    has_binding
        && Address::of(&quote.public_key.0.0) == quote.peer.0
        && Amount::from(quote.price.0) == calculate_price(count as usize)
}

/// Whether the node has signed a commitment to the number of records that its price is derived from.
pub(super) fn has_commitment(quote: &Quote) -> bool {
    match quote.commitment_pin {
        None => quote.commitment.is_none(),
        Some(pin) => sidecar(quote).is_some_and(|commitment| {
            commitment.key_count == quote.committed_key_count
                && commitment_hash(&commitment) == Some(*pin.0.as_bytes())
                && verify_commitment_signature(&commitment)
        }),
    }
}

/// The quote that is paid. All nodes find the same one. `quotes` must be in the order of a plan.
pub fn paid_quote(quotes: &[Quote]) -> Option<&Quote> {
    quotes.get(quotes.len() / 2)
}

/// Brings quotes into the order of a plan.
pub fn sort(quotes: &mut [Quote]) {
    quotes.sort_by_key(|quote| (quote.price, quote.peer));
}

/// The hash by which the chain knows the payment of a quote.
pub fn hash(quote: &Quote, content: Address) -> [u8; 32] {
    to_wire(quote, content).hash().0
}

/// The payment for a quote, in atto.
pub fn payment(quote: &Quote) -> u128 {
    quote.price.0.saturating_mul(PAYMENT_FACTOR)
}

/// The proof of payment, as nodes read it.
pub fn proof(plan: &Plan, transaction: [u8; 32]) -> Option<Vec<u8>> {
    let content = plan.record().quoted();
    let quotes = plan.quotes.iter();
    let peer_quotes = quotes.map(|quote| {
        let node = EncodedPeerId::new(*quote.peer.0.as_bytes());
        (node, to_wire(quote, content))
    });
    let sidecars = plan.quotes.iter().filter_map(sidecar);
    let sidecars = sidecars.map(|commitment| rmp_serde::to_vec(&commitment));
    serialize_single_node_proof(&PaymentProof {
        proof_of_payment: ProofOfPayment {
            peer_quotes: peer_quotes.collect(),
        },
        tx_hashes: vec![TxHash::from(transaction)],
        commitment_sidecars: sidecars.collect::<Result<_, _>>().ok()?,
    })
    .ok()
}

fn to_wire(quote: &Quote, content: Address) -> PaymentQuote {
    PaymentQuote {
        content: XorName(*content.as_bytes()),
        timestamp: SystemTime::UNIX_EPOCH + Duration::from_secs(quote.timestamp.min(MAX_SECONDS)),
        price: Amount::from(quote.price.0),
        rewards_address: RewardsAddress::from(quote.rewards_address.0.0),
        pub_key: quote.public_key.0.0.clone(),
        signature: quote.signature.0.0.clone(),
        committed_key_count: quote.committed_key_count,
        commitment_pin: quote.commitment_pin.map(|pin| *pin.0.as_bytes()),
    }
}

/// The latest time of a quote: the year 9999. Later times may not exist on this machine.
const MAX_SECONDS: u64 = 253_402_300_799;

fn sidecar(quote: &Quote) -> Option<StorageCommitment> {
    quote
        .commitment
        .as_ref()
        .map(|commitment| StorageCommitment {
            root: *commitment.root.0.as_bytes(),
            key_count: commitment.key_count,
            sender_peer_id: *quote.peer.0.as_bytes(),
            sender_public_key: quote.public_key.0.0.clone(),
            signature: commitment.signature.0.0.clone(),
        })
}
