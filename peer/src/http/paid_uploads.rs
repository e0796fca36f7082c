//! The routes of `/network/…`: quotes of the network's nodes, and uploads that were paid for.

use super::body::ChunkResponseBody;
use super::chunk::{discard, error_response, read};
use super::error::HttpError;
use super::request_timer::RequestTimer;
use crate::address::Address;
use crate::client::Client;
use crate::limits::{
    MAX_CHUNK_BYTES, MAX_PLAN_BYTES, MAX_POOLS, MAX_QUOTED_RECORDS, MAX_QUOTES_REQUEST_BYTES,
    POINTER_BYTES, QUOTED_AT_ONCE,
};
use crate::paid_uploads::{
    BatchProof, Disconnected, EvmHex, Offer, PaidUpload, PaymentChain, Plan, RecordName,
    RecordPayment, RequestedRecord, StoreError, Text,
};
use crate::service::Service;
use crate::source::ChunkBody;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, EXPECT, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::{Buf, Bytes};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;

/// The rules by which a quote becomes a payment, as the network's software numbers them.
const SETTLEMENT_VERSION: u32 = 1;

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuotesRequest {
    records: Vec<RequestedRecord>,
}

#[derive(Serialize)]
struct QuotesResponse {
    records: Vec<QuotedRecord>,
}

#[derive(Serialize)]
struct QuotedRecord {
    address: Text<Address>,
    #[serde(flatten)]
    status: QuoteStatus,
}

#[derive(Serialize)]
#[serde(
    tag = "status",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
enum QuoteStatus {
    Stored,
    Quoted {
        plan: Plan,
        quote_hash: Text<EvmHex<32>>,
        rewards_address: Text<EvmHex<20>>,
        amount: Text<u128>,
    },
    Unavailable {
        code: HttpError,
    },
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

/// Answers the quotes for each of the records, in their order. Each record counts as a request.
pub async fn quotes(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let timer = RequestTimer::new(&service, "quotes");
    let expects_100 = request.headers().contains_key(EXPECT);
    let checked = check_origin(&service, request.headers());
    let mut body = request.into_body();
    let requested = match checked {
        Ok(()) => requested_records(&service, &client, &mut body).await,
        Err(error) => Err(error),
    };
    let quoted = match requested {
        Ok(records) => quote_all(&service, &client, records).await,
        Err(error) => {
            if !expects_100 {
                discard(body).await;
            }
            Err(error)
        }
    };
    let body = match quoted {
        Ok(body) => body,
        Err(error) => return error_response(error, timer),
    };
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    let transfer_timeout = service.limits.transfer_timeout(body.length());
    let body = Body::new(ChunkResponseBody::new(body, transfer_timeout, timer));
    (headers, body).into_response()
}

/// Refuses pages that may not read. Browsers let them send some requests, and only keep the answers from them.
pub(super) fn check_origin(service: &Service, headers: &HeaderMap) -> Result<(), HttpError> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    match service.origin_may_pay(text(ORIGIN), text(HOST).unwrap_or("")) {
        true => Ok(()),
        false => Err(HttpError::Forbidden),
    }
}

async fn requested_records(
    service: &Service,
    client: &Client,
    body: &mut Body,
) -> Result<Vec<(RecordName, u32)>, HttpError> {
    let json = read(service, client, body, MAX_QUOTES_REQUEST_BYTES).await?;
    let request: QuotesRequest =
        serde_json::from_slice(&json).map_err(|_| HttpError::BadRecords)?;
    let records = request.records.iter().map(RequestedRecord::parts);
    let records: Vec<_> = records
        .collect::<Option<_>>()
        .ok_or(HttpError::BadRecords)?;
    let mut names = HashSet::new();
    let are_different = records.iter().all(|(name, _)| names.insert(name.quoted()));
    if !(1..=MAX_QUOTED_RECORDS).contains(&records.len()) || !are_different {
        return Err(HttpError::BadRecords);
    }
    if records
        .iter()
        .any(|(name, _)| service.is_denied(name.address()))
    {
        return Err(HttpError::Denied);
    }
    // The request itself counted for the first record.
    match records.iter().skip(1).all(|_| service.admits(client)) {
        true => Ok(records),
        false => Err(HttpError::Rate),
    }
}

/// The JSON of the answer. It has megabytes, so it takes the memory of a chunk.
async fn quote_all(
    service: &Service,
    client: &Client,
    records: Vec<(RecordName, u32)>,
) -> Result<ChunkBody, HttpError> {
    let (_place, permit) = service.acquire_paid(client).await.ok_or(HttpError::Busy)?;
    let quoting = stream::iter(records).map(|(name, size)| async move {
        let offer = service.quote(client, name, size).await?;
        Ok(QuotedRecord {
            address: Text(name.address()),
            status: QuoteStatus::from(offer),
        })
    });
    let records = quoting.buffered(QUOTED_AT_ONCE).try_collect();
    let records = records
        .await
        .map_err(|Disconnected| HttpError::Disconnected)?;
    let json = serde_json::to_vec(&QuotesResponse { records }).expect("plain numbers and texts");
    let body = ChunkBody::from_bytes(json.into());
    service.record_bytes(client, body.length());
    Ok(body.holding(permit))
}

impl From<Offer> for QuoteStatus {
    fn from(offer: Offer) -> Self {
        match offer {
            Offer::Stored => Self::Stored,
            Offer::Shortfall => Self::Unavailable {
                code: HttpError::Shortfall,
            },
            Offer::Quoted(quoted) => Self::Quoted {
                plan: quoted.plan,
                quote_hash: Text(EvmHex(quoted.quote_hash)),
                rewards_address: Text(EvmHex(quoted.rewards_address)),
                amount: Text(quoted.amount),
            },
        }
    }
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
    let expects_100 = request.headers().contains_key(EXPECT);
    let checked = check_origin(&service, request.headers());
    let mut body = request.into_body();
    let stored = match checked {
        Ok(()) => store(&service, &client, &address, &mut body, kind).await,
        Err(error) => Err(error),
    };
    match stored {
        Ok(()) => {
            timer.set_outcome("ok");
            (StatusCode::CREATED, [(CACHE_CONTROL, "no-store")]).into_response()
        }
        Err(error) => {
            if !expects_100 {
                discard(body).await;
            }
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
