//! Uploads to the Autonomi network that clients have paid for on a block chain.
//!
//! The peer relays between clients, which cannot reach all nodes, and the nodes. It collects the nodes' quotes, and later
//! brings the record with the proof of payment to the nodes. It has no key, sends no transaction and keeps no state: the
//! client holds the plan with the quotes, so every peer of the network can finish an upload. Clients check all that
//! they sign, and nodes check the payment on the chain themselves. `docs/reference/paid-uploads.md` has the routes.

mod batch;
mod chain;
mod plan;
mod text;

pub use batch::{
    BATCH_LIFETIME_SECONDS, BatchProof, LeafBranch, MAX_TREE_DEPTH, POOL_NODES, PaidPool,
    RequestedPools,
};
pub use chain::PaymentChain;
pub use plan::{Commitment, Plan, Quote, RequestedRecord};
pub use text::{Base64, EvmHex, Text};

use crate::address::Address;
use bytes::Bytes;
use futures_util::future::BoxFuture;

/// The name of a record that a client wants to store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordName {
    /// A chunk.
    Chunk(Address),
    /// A state of a pointer. Each state is paid for separately.
    Pointer {
        /// The address of the pointer, which all of its states have.
        address: Address,
        /// The state, as the network computes it from the record.
        state: Address,
    },
}

impl RecordName {
    /// The address whose closest nodes store the record.
    pub fn address(self) -> Address {
        match self {
            Self::Chunk(address) | Self::Pointer { address, .. } => address,
        }
    }

    /// The name that the nodes sign a price for.
    pub fn quoted(self) -> Address {
        match self {
            Self::Chunk(address) => address,
            Self::Pointer { state, .. } => state,
        }
    }
}

/// The answer to a request for quotes.
#[derive(Debug)]
pub enum Offer {
    /// Most of the closest nodes say that they have the chunk.
    Stored,
    /// The price that the nodes ask for.
    Quoted(Box<QuotedPlan>),
    /// Too few nodes gave a valid quote. They may do so later.
    Shortfall,
}

/// A plan, and the payment that it needs.
#[derive(Debug)]
pub struct QuotedPlan {
    /// The quotes.
    pub plan: Plan,
    /// The hash of the quote that is paid: the Keccak-256 of its signed bytes, its key and its signature.
    pub quote_hash: [u8; 32],
    /// The account that gets the payment.
    pub rewards_address: [u8; 20],
    /// The amount in atto: three times the price of the quote.
    pub amount: u128,
}

/// A record that was paid for.
pub struct PaidUpload {
    /// The payment. The route has checked that it names the record.
    pub payment: RecordPayment,
    /// The chunk, or the pointer record.
    pub bytes: Bytes,
}

/// The payment for one record, or for many chunks.
#[derive(Debug, PartialEq, Eq)]
pub enum RecordPayment {
    /// A quote for this record.
    Single {
        /// The quotes.
        plan: Plan,
        /// The transaction of the payment. Nodes do not need it: they ask the chain for the payment of the quote.
        transaction: [u8; 32],
    },
    /// A tree with this chunk.
    Batch(Box<BatchProof>),
}

impl RecordPayment {
    /// The record that was paid for.
    pub fn record(&self) -> RecordName {
        match self {
            Self::Single { plan, .. } => plan.record(),
            Self::Batch(proof) => RecordName::Chunk(proof.address.0),
        }
    }

    /// The size of the record in bytes.
    pub fn size(&self) -> u32 {
        match self {
            Self::Single { plan, .. } => plan.size,
            Self::Batch(proof) => proof.size,
        }
    }
}

/// Why a record was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// A quote of the plan is not valid.
    BadPlan,
    /// The record is not the one that the plan names.
    Mismatch,
    /// The nodes see no payment.
    Unpaid,
    /// The node of the paid quote is not close to the address any more, so that other nodes refuse the payment. Or too
    /// few nodes of a paid pool are close to its address, or the payment for many chunks is older than seven days.
    QuoteExpired,
    /// The nodes have a newer state of the pointer.
    Outdated,
    /// Too few nodes stored the record. The same request may succeed later.
    Shortfall,
    /// The peer is not connected to the network.
    Disconnected,
}

/// The peer is not connected to the network.
#[derive(Debug, PartialEq, Eq)]
pub struct Disconnected;

/// Why a record was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadError {
    /// Too few nodes answered, or their answers differ. The same request may succeed later.
    Shortfall,
    /// The peer is not connected to the network.
    Disconnected,
}

/// The newest state of a pointer that a node close to its address has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkPointer {
    /// The record.
    pub record: Bytes,
    /// How many of the closest nodes have this state.
    pub holders: usize,
    /// How many others of them answered: they have an older state, or none.
    pub others: usize,
}

/// A network whose nodes the peer asks for its clients.
pub trait RelayedNetwork: Send + Sync + 'static {
    /// Asks the nodes that are closest to the record for their prices. `size` is the number of its bytes.
    fn quote(&self, record: RecordName, size: u32) -> BoxFuture<'_, Result<Offer, Disconnected>>;

    /// Asks the nodes that are closest to the address of a pool for their prices: 16 nodes in their order, or none if
    /// too few nodes gave a valid price. The nodes sign `timestamp`.
    fn pool(
        &self,
        address: Address,
        timestamp: u64,
    ) -> BoxFuture<'_, Result<Option<Vec<Quote>>, Disconnected>>;

    /// Stores a record at the nodes that are closest to it. Storing it twice is no error.
    fn store(&self, upload: PaidUpload) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Reads the newest state of a pointer from the nodes that are closest to it, also if only one of them has it. `None` if
    /// most of them have none, and none of them sent one.
    fn read_pointer(
        &self,
        address: Address,
    ) -> BoxFuture<'_, Result<Option<NetworkPointer>, ReadError>>;
}
