//! Quotes for records, and bringing paid records to the nodes that are closest to them.

use super::gather::{Gathered, Reply, Wanted, gather};
use super::node::NetworkNode;
use super::pools;
use super::quotes;
use super::record_read::NoAnswer;
use crate::address::Address;
use crate::clock::unix_seconds;
use crate::limits::POINTER_BYTES;
use crate::paid_uploads::{
    Offer, PaidUpload, Plan, Quote, QuotedPlan, RecordName, RecordPayment, StoreError, Text,
};
use ant_protocol::{
    CLOSE_GROUP_MAJORITY, CLOSE_GROUP_SIZE, ChunkMessageBody, ChunkPutRequest, ChunkPutResponse,
    ChunkQuoteRequestV2, ChunkQuoteResponse, DATA_TYPE_POINTER, Pointer, PointerPutRequest,
    PointerPutResponse, ProtocolError,
};
use bytes::Bytes;
use saorsa_core::DHTNode;
use std::collections::HashSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Nodes store a record only if they are among so many that are closest to it, and take a payment only to a node that
/// is (`ant-node` 0.23).
const STORING_NODES: usize = 20;

/// So many nodes have to store a state of a pointer, or a reader's majority could miss it.
const POINTER_QUORUM: usize = 5;

/// When slow nodes are replaced by others.
pub(super) const HEDGE: Duration = Duration::from_secs(5);

/// How long the other nodes of a close group get once enough of them have the record.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// Why a node does not store a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    Unpaid,
    Outdated,
}

impl NetworkNode {
    /// Collects the quotes of the nodes that are closest to a record.
    pub async fn quote(&self, record: RecordName, size: u32) -> Offer {
        let Ok(nodes) = self.closest_nodes(record.address(), STORING_NODES).await else {
            return Offer::Shortfall;
        };
        let wanted = Wanted {
            best: CLOSE_GROUP_SIZE,
            enough: CLOSE_GROUP_SIZE,
            refusals: usize::MAX,
            hedge: HEDGE,
            grace: GRACE,
        };
        let holders = AtomicUsize::new(0);
        let gathered = gather(nodes, wanted, |node| {
            self.ask_for_quote(node, record, size, &holders)
        });
        let Gathered { mut answers, .. } = gathered.await;
        if holders.into_inner() >= CLOSE_GROUP_MAJORITY {
            return Offer::Stored;
        }
        if answers.len() < CLOSE_GROUP_SIZE {
            return Offer::Shortfall;
        }
        quotes::sort(&mut answers);
        let paid = quotes::paid_quote(&answers).expect("there are quotes");
        Offer::Quoted(Box::new(QuotedPlan {
            quote_hash: quotes::hash(paid, record.quoted()),
            rewards_address: paid.rewards_address.0.0,
            amount: quotes::payment(paid),
            plan: Plan {
                address: Text(record.address()),
                state_id: match record {
                    RecordName::Chunk(_) => None,
                    RecordName::Pointer { state, .. } => Some(Text(state)),
                },
                size,
                quotes: answers,
            },
        }))
    }

    async fn ask_for_quote(
        &self,
        node: DHTNode,
        record: RecordName,
        size: u32,
        holders: &AtomicUsize,
    ) -> Result<Reply<Quote, ()>, NoAnswer> {
        let mut request = ChunkQuoteRequestV2::new(*record.quoted().as_bytes(), size.into());
        if let RecordName::Pointer { .. } = record {
            request.data_type = DATA_TYPE_POINTER;
        }
        let request = ChunkMessageBody::QuoteRequestV2(request);
        let ChunkMessageBody::QuoteResponse(ChunkQuoteResponse::Success {
            quote,
            already_stored,
            commitment,
        }) = self.ask(&node, request).await?
        else {
            return Err(NoAnswer);
        };
        let peer = Address::from(*node.peer_id.as_bytes());
        let checked = tokio::task::spawn_blocking(move || {
            quotes::read_quote(peer, record.quoted(), &quote, commitment.as_deref())
        });
        let quote = checked.await.ok().flatten().ok_or_else(|| {
            tracing::debug!(node = %node.peer_id.short_hex(), "a quote is not valid");
            NoAnswer
        })?;
        if already_stored {
            holders.fetch_add(1, Ordering::Relaxed);
        }
        Ok(Reply::Done(quote))
    }

    /// Brings a record to the nodes that are closest to it.
    pub async fn store(&self, upload: PaidUpload) -> Result<(), StoreError> {
        let PaidUpload { payment, bytes } = upload;
        let record = payment.record();
        let checking = {
            let bytes = bytes.clone();
            move || Ok((prove(&payment, &bytes)?, payment))
        };
        let checked = tokio::task::spawn_blocking(checking).await;
        let (proof, payment) = checked.unwrap_or(Err(StoreError::BadPlan))?;
        let Ok(nodes) = self.closest_nodes(record.address(), STORING_NODES).await else {
            return Err(StoreError::Shortfall);
        };
        let has_payee = has_payee(&payment, &nodes);
        let enough = match record {
            RecordName::Chunk(_) => CLOSE_GROUP_MAJORITY,
            RecordName::Pointer { .. } => POINTER_QUORUM,
        };
        let wanted = Wanted {
            best: CLOSE_GROUP_SIZE,
            enough,
            refusals: CLOSE_GROUP_MAJORITY,
            hedge: HEDGE,
            grace: GRACE,
        };
        let request = match record {
            RecordName::Chunk(address) => {
                let request = ChunkPutRequest::with_payment(*address.as_bytes(), bytes, proof);
                ChunkMessageBody::PutRequest(request)
            }
            RecordName::Pointer { .. } => {
                ChunkMessageBody::PointerPutRequest(PointerPutRequest::with_payment(bytes, proof))
            }
        };
        let gathered = gather(nodes, wanted, |node| {
            self.ask_to_store(node, request.clone())
        });
        let Gathered { answers, refusals } = gathered.await;
        if answers.len() >= enough {
            return Ok(());
        }
        match (failure(&refusals, has_payee), payment) {
            (StoreError::Unpaid, RecordPayment::Batch(proof)) => Err(self.refused(&proof).await),
            (failure, _) => Err(failure),
        }
    }

    async fn ask_to_store(
        &self,
        node: DHTNode,
        request: ChunkMessageBody,
    ) -> Result<Reply<(), Refusal>, NoAnswer> {
        let _permit = self.uploads.acquire().await.map_err(|_| NoAnswer)?;
        let refusal = match self.ask(&node, request).await? {
            ChunkMessageBody::PutResponse(response) => match response {
                ChunkPutResponse::Success { .. } | ChunkPutResponse::AlreadyExists { .. } => {
                    return Ok(Reply::Done(()));
                }
                ChunkPutResponse::PaymentRequired { message } => (Some(Refusal::Unpaid), message),
                ChunkPutResponse::Error(error) => refusal_of(error),
                _ => return Err(NoAnswer),
            },
            ChunkMessageBody::PointerPutResponse(response) => match response {
                PointerPutResponse::Success { .. } | PointerPutResponse::Unchanged { .. } => {
                    return Ok(Reply::Done(()));
                }
                PointerPutResponse::Stale { .. } => (Some(Refusal::Outdated), String::new()),
                PointerPutResponse::PaymentRequired { message } => (Some(Refusal::Unpaid), message),
                PointerPutResponse::Error(error) => refusal_of(error),
            },
            _ => return Err(NoAnswer),
        };
        let (refusal, reason) = refusal;
        tracing::debug!(node = %node.peer_id.short_hex(), reason, "a node refused a record");
        refusal.map(Reply::Refused).ok_or(NoAnswer)
    }
}

/// Whether the node of a paid quote is among the nodes. A pool has no single one.
fn has_payee(payment: &RecordPayment, nodes: &[DHTNode]) -> bool {
    match payment {
        RecordPayment::Single { plan, .. } => {
            let payee = quotes::paid_quote(&plan.quotes).expect("the plan was checked");
            nodes
                .iter()
                .any(|node| node.peer_id.as_bytes() == payee.peer.0.as_bytes())
        }
        RecordPayment::Batch(_) => true,
    }
}

/// Why too few nodes stored a record. `has_payee`: the node of the paid quote is among those that were asked.
fn failure(refusals: &[Refusal], has_payee: bool) -> StoreError {
    let count = |wanted| {
        let matching = refusals.iter().filter(|&&refusal| refusal == wanted);
        matching.count()
    };
    if count(Refusal::Outdated) > CLOSE_GROUP_SIZE - POINTER_QUORUM {
        StoreError::Outdated
    } else if count(Refusal::Unpaid) < CLOSE_GROUP_MAJORITY {
        StoreError::Shortfall
    } else if has_payee {
        StoreError::Unpaid
    } else {
        StoreError::QuoteExpired
    }
}

/// Nodes explain a refused payment only in free text, so only the kind of the error counts.
fn refusal_of(error: ProtocolError) -> (Option<Refusal>, String) {
    let refusal = matches!(error, ProtocolError::PaymentFailed(_)).then_some(Refusal::Unpaid);
    (refusal, error.to_string())
}

/// Checks a payment as nodes do, apart from the chain. Returns the proof that nodes read.
fn prove(payment: &RecordPayment, bytes: &Bytes) -> Result<Vec<u8>, StoreError> {
    match payment {
        RecordPayment::Single { plan, transaction } => {
            check(plan, bytes)?;
            quotes::proof(plan, *transaction).ok_or(StoreError::BadPlan)
        }
        RecordPayment::Batch(proof) => pools::prove(proof, unix_seconds()),
    }
}

/// Whether the quotes are valid, and the record is the one that they are for.
fn check(plan: &Plan, bytes: &Bytes) -> Result<(), StoreError> {
    let record = plan.record();
    let mut nodes = HashSet::new();
    let mut quotes = plan.quotes.iter();
    let has_valid_quotes = (1..=CLOSE_GROUP_SIZE).contains(&plan.quotes.len())
        && plan
            .quotes
            .is_sorted_by_key(|quote| (quote.price, quote.peer))
        && quotes.all(|quote| {
            nodes.insert(*quote.peer.0.as_bytes()) && quotes::is_valid(quote, record.quoted())
        });
    if !has_valid_quotes {
        return Err(StoreError::BadPlan);
    }
    match record {
        RecordName::Chunk(_) => Ok(()),
        RecordName::Pointer { state, .. } => {
            let pointer = Pointer::from_bytes(bytes).map_err(|_| StoreError::Mismatch)?;
            let is_state = bytes.len() == POINTER_BYTES && pointer.state_id() == *state.as_bytes();
            is_state.then_some(()).ok_or(StoreError::Mismatch)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Refusal::{Outdated, Unpaid};

    #[test]
    fn the_owner_signs_again_only_if_the_state_can_reach_no_quorum() {
        assert_eq!(failure(&[Outdated; 4], true), StoreError::Outdated);
        assert_eq!(failure(&[Outdated; 3], true), StoreError::Outdated);
        // Up to two nodes may lie, and five of seven still store the state.
        for lies in [&[Outdated][..], &[Outdated, Unpaid, Outdated]] {
            assert_eq!(failure(lies, true), StoreError::Shortfall);
        }
    }

    #[test]
    fn a_refused_payment_is_not_there_or_not_for_a_close_node() {
        assert_eq!(failure(&[Unpaid; 4], true), StoreError::Unpaid);
        assert_eq!(failure(&[Unpaid; 4], false), StoreError::QuoteExpired);
        assert_eq!(failure(&[Unpaid; 3], false), StoreError::Shortfall);
        assert_eq!(failure(&[], true), StoreError::Shortfall);
    }
}
