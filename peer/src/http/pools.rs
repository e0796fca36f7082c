//! `POST /network/merkle`: the nodes that may be paid for many chunks at once.

use super::body::ChunkResponseBody;
use super::chunk::{discard, error_response, read};
use super::error::HttpError;
use super::paid_uploads::check_origin;
use super::request_timer::RequestTimer;
use crate::address::Address;
use crate::client::Client;
use crate::limits::{
    MAX_POOLS, MAX_POOLS_REQUEST_BYTES, POOLS_CLOCK_TOLERANCE_SECONDS, QUOTED_AT_ONCE,
    REQUESTS_PER_POOL,
};
use crate::paid_uploads::{Disconnected, Quote, RequestedPools, Text};
use crate::service::Service;
use crate::source::ChunkBody;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, EXPECT};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde::Serialize;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

#[derive(Serialize)]
struct PoolsResponse {
    pools: Vec<Pool>,
}

#[derive(Serialize)]
struct Pool {
    address: Text<Address>,
    #[serde(flatten)]
    status: PoolStatus,
}

#[derive(Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum PoolStatus {
    Quoted { nodes: Vec<Quote> },
    Unavailable { code: HttpError },
}

/// Answers the nodes of each pool, in the order of the pools. Each pool counts as two requests.
pub async fn pools(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let timer = RequestTimer::new(&service, "pools");
    let expects_100 = request.headers().contains_key(EXPECT);
    let checked = check_origin(&service, request.headers());
    let mut body = request.into_body();
    let requested = match checked {
        Ok(()) => requested_pools(&service, &client, &mut body).await,
        Err(error) => Err(error),
    };
    let asked = match requested {
        Ok(requested) => ask_all(&service, &client, requested).await,
        Err(error) => {
            if !expects_100 {
                discard(body).await;
            }
            Err(error)
        }
    };
    let body = match asked {
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

async fn requested_pools(
    service: &Service,
    client: &Client,
    body: &mut Body,
) -> Result<RequestedPools, HttpError> {
    let json = read(service, client, body, MAX_POOLS_REQUEST_BYTES).await?;
    let request: RequestedPools = serde_json::from_slice(&json).map_err(|_| HttpError::BadPools)?;
    let mut addresses = HashSet::new();
    let are_different = request.pools.iter().all(|pool| addresses.insert(pool.0));
    if !(1..=MAX_POOLS).contains(&request.pools.len()) || !are_different {
        return Err(HttpError::BadPools);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |time| time.as_secs());
    if now.abs_diff(request.timestamp) > POOLS_CLOCK_TOLERANCE_SECONDS {
        return Err(HttpError::BadTime);
    }
    // The request itself counted once.
    let more = request.pools.len() * REQUESTS_PER_POOL - 1;
    match (0..more).all(|_| service.admits(client)) {
        true => Ok(request),
        false => Err(HttpError::Rate),
    }
}

/// The JSON of the answer. It has megabytes, so it takes the memory of a chunk.
async fn ask_all(
    service: &Service,
    client: &Client,
    RequestedPools { timestamp, pools }: RequestedPools,
) -> Result<ChunkBody, HttpError> {
    let (_place, permit) = service.acquire_paid(client).await.ok_or(HttpError::Busy)?;
    let asking = stream::iter(pools).map(|address| async move {
        let nodes = service.pool(client, address.0, timestamp).await?;
        let status = match nodes {
            Some(nodes) => PoolStatus::Quoted { nodes },
            None => PoolStatus::Unavailable {
                code: HttpError::Shortfall,
            },
        };
        Ok(Pool { address, status })
    });
    let pools = asking.buffered(QUOTED_AT_ONCE).try_collect();
    let pools = pools
        .await
        .map_err(|Disconnected| HttpError::Disconnected)?;
    let json = serde_json::to_vec(&PoolsResponse { pools }).expect("plain numbers and texts");
    let body = ChunkBody::from_bytes(json.into());
    service.record_bytes(client, body.length());
    Ok(body.holding(permit))
}
