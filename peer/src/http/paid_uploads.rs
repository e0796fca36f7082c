//! Uploads that were paid for, and their states: `/network/info`, `/network/chunk/…` and `/network/pointer/…`.

use super::chunk::{error_response, read};
use super::error::HttpError;
use super::payer_body::{PayerBody, is_from_payer};
use super::pointer::record_response;
use super::request_timer::RequestTimer;
use crate::client::Client;
use crate::limits::{
    MAX_CHUNK_BYTES, MAX_PLAN_BYTES, MAX_POOLS, MAX_QUOTED_RECORDS, POINTER_BYTES,
};
use crate::paid_uploads::{
    BatchProof, EvmHex, NetworkPointer, PaidUpload, PaymentChain, Plan, ReadError, RecordName,
    RecordPayment, StoreError, Text,
};
use crate::service::Service;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::{Buf, Bytes};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The rules by which a quote becomes a payment, as the network's software numbers them.
const SETTLEMENT_VERSION: u32 = 1;

/// The header with the number of nodes that have a state of a pointer.
const HOLDING_NODES: HeaderName = HeaderName::from_static("antway-holding-nodes");

/// The header with the number of other nodes that answered.
const OTHER_NODES: HeaderName = HeaderName::from_static("antway-other-nodes");

/// The length of the number before the plan in the body of an upload.
const PLAN_LENGTH_BYTES: usize = 4;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct NetworkInfo {
    #[serde(flatten)]
    chain: PaymentChain,
    settlement_version: u32,
    max_quotes: usize,
    max_plan_bytes: u32,
    max_chunk_bytes: u32,
    merkle: bool,
    max_pools: usize,
}

/// The part of an upload before the bytes of the record: a plan and its transaction, or a proof.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct UploadHead {
    plan: Option<Plan>,
    transaction: Option<Text<EvmHex<32>>>,
    merkle: Option<Box<BatchProof>>,
}

impl UploadHead {
    fn payment(self) -> Option<RecordPayment> {
        match (self.plan, self.transaction, self.merkle) {
            (Some(plan), Some(transaction), None) => Some(RecordPayment::Single {
                plan,
                transaction: transaction.0.0,
            }),
            (None, None, Some(proof)) => Some(RecordPayment::Batch(proof)),
            _ => None,
        }
    }
}

/// Answers what clients have to compare with what they know before they pay.
pub async fn info(State(service): State<Arc<Service>>) -> Response {
    RequestTimer::new(&service, "info").set_outcome("ok");
    let info = NetworkInfo {
        chain: service.payment_chain(),
        settlement_version: SETTLEMENT_VERSION,
        max_quotes: MAX_QUOTED_RECORDS,
        max_plan_bytes: MAX_PLAN_BYTES,
        max_chunk_bytes: MAX_CHUNK_BYTES,
        merkle: true,
        max_pools: MAX_POOLS,
    };
    let json = serde_json::to_vec(&info).expect("plain numbers and texts");
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, json).into_response()
}

/// Brings a chunk to the network.
pub async fn put_chunk(
    State(service): State<Arc<Service>>,
    Path(address): Path<String>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let timer = RequestTimer::new(&service, "put_paid_chunk");
    put(service, address, client, request, Kind::Chunk, timer).await
}

/// Answers GET and HEAD with the newest state of a pointer in the network. The store of this peer does not count, so the
/// answer tells whether a paid state has arrived.
pub async fn get_pointer(
    State(service): State<Arc<Service>>,
    Path(address): Path<String>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
) -> Response {
    let mut timer = RequestTimer::new(&service, "network_pointer");
    match read_pointer(&service, &client, &address, &headers).await {
        Ok(NetworkPointer {
            record,
            holders,
            others,
        }) => {
            timer.set_outcome("ok");
            let counts = [(HOLDING_NODES, holders), (OTHER_NODES, others)];
            let counts = counts.map(|(name, count)| (name, count.to_string()));
            (counts, record_response(record)).into_response()
        }
        Err(error) => error_response(error, timer),
    }
}

async fn read_pointer(
    service: &Service,
    client: &Client,
    address: &str,
    headers: &HeaderMap,
) -> Result<NetworkPointer, HttpError> {
    if !is_from_payer(service, headers) {
        return Err(HttpError::Forbidden);
    }
    let address = address.parse().map_err(|_| HttpError::BadAddress)?;
    if service.is_denied(address) {
        return Err(HttpError::Denied);
    }
    let permit = service.acquire_network_read(client).await;
    let permit = permit.ok_or(HttpError::Busy)?;
    let read = service.network_pointer(client, address, permit).await;
    // The list may have changed while the nodes were asked.
    if service.is_denied(address) {
        return Err(HttpError::Denied);
    }
    match read {
        Ok(state) => state.ok_or(HttpError::NotFound),
        Err(ReadError::Shortfall) => Err(HttpError::Shortfall),
        Err(ReadError::Disconnected) => Err(HttpError::Disconnected),
    }
}

/// Brings a state of a pointer to the network.
pub async fn put_pointer(
    State(service): State<Arc<Service>>,
    Path(address): Path<String>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let timer = RequestTimer::new(&service, "put_paid_pointer");
    put(service, address, client, request, Kind::Pointer, timer).await
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Chunk,
    Pointer,
}

impl Kind {
    fn max_bytes(self) -> u32 {
        match self {
            Self::Chunk => MAX_CHUNK_BYTES,
            Self::Pointer => POINTER_BYTES as u32,
        }
    }
}

async fn put(
    service: Arc<Service>,
    address: String,
    client: Client,
    request: Request,
    kind: Kind,
    mut timer: RequestTimer,
) -> Response {
    let mut body = PayerBody::of(&service, request);
    let stored = match body.check() {
        Ok(body) => store(&service, &client, &address, body, kind).await,
        Err(error) => Err(error),
    };
    match stored {
        Ok(()) => {
            timer.set_outcome("ok");
            (StatusCode::CREATED, [(CACHE_CONTROL, "no-store")]).into_response()
        }
        Err(error) => {
            body.discard().await;
            error_response(error, timer)
        }
    }
}

async fn store(
    service: &Service,
    client: &Client,
    address: &str,
    body: &mut Body,
    kind: Kind,
) -> Result<(), HttpError> {
    let address = address.parse().map_err(|_| HttpError::BadAddress)?;
    if service.is_denied(address) {
        return Err(HttpError::Denied);
    }
    let _permits = service.acquire_paid(client).await.ok_or(HttpError::Busy)?;
    let max_bytes = PLAN_LENGTH_BYTES as u32 + MAX_PLAN_BYTES + kind.max_bytes();
    let mut bytes = read(service, client, body, max_bytes).await?;
    let payment = split_payment(&mut bytes)?;
    let record = payment.record();
    let is_of_kind = matches!(record, RecordName::Chunk(_)) == (kind == Kind::Chunk);
    if record.address() != address || !is_of_kind {
        return Err(HttpError::BadPlan);
    }
    if bytes.len() as u64 != u64::from(payment.size()) {
        return Err(HttpError::Mismatch);
    }
    let is_of_address = match kind {
        Kind::Chunk => service.hash(bytes.clone()).await.address() == address,
        Kind::Pointer => service.is_valid_pointer(address, bytes.clone()).await,
    };
    match (is_of_address, kind) {
        (true, _) => {}
        (false, Kind::Chunk) => return Err(HttpError::Mismatch),
        (false, Kind::Pointer) => return Err(HttpError::BadPointer),
    }
    let upload = PaidUpload { payment, bytes };
    let stored = service.store_paid(client, upload).await;
    stored.map_err(|error| match error {
        StoreError::BadPlan => HttpError::BadPlan,
        StoreError::Mismatch => HttpError::Mismatch,
        StoreError::Unpaid => HttpError::Unpaid,
        StoreError::QuoteExpired => HttpError::QuoteExpired,
        StoreError::Outdated => HttpError::Outdated,
        StoreError::Shortfall => HttpError::Shortfall,
        StoreError::Disconnected => HttpError::Disconnected,
    })
}

/// Takes the payment from the front of the body: its length in 4 bytes (little-endian), and its JSON.
fn split_payment(body: &mut Bytes) -> Result<RecordPayment, HttpError> {
    let length = body.try_get_u32_le().map_err(|_| HttpError::BadPlan)?;
    if length > MAX_PLAN_BYTES || length as usize > body.len() {
        return Err(HttpError::BadPlan);
    }
    let json = body.split_to(length as usize);
    let head: UploadHead = serde_json::from_slice(&json).map_err(|_| HttpError::BadPlan)?;
    head.payment().ok_or(HttpError::BadPlan)
}
