//! The routes of `/pointer/<address>`.

use super::chunk::{
    check, discard, error_from_status, error_response, read, unavailable_response, via_of,
};
use super::error::HttpError;
use super::request_timer::RequestTimer;
use crate::address::Address;
use crate::client::Client;
use crate::limits::POINTER_BYTES;
use crate::metrics::Transport;
use crate::service::Service;
use crate::source::PutPointerOutcome;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, EXPECT};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use std::sync::Arc;

/// Answers GET and HEAD. A pointer can change, so caches must not store it.
pub async fn get(
    State(service): State<Arc<Service>>,
    Path(address): Path<String>,
    Extension(client): Extension<Client>,
    headers: HeaderMap,
) -> Response {
    let mut timer = RequestTimer::new(&service, "pointer");
    let Ok(address) = address.parse() else {
        return error_response(HttpError::BadAddress, timer);
    };
    let Ok(via) = via_of(&headers) else {
        return error_response(HttpError::Loop, timer);
    };
    match service.pointer(&client, address, via).await {
        Ok(record) => {
            timer.set_outcome("ok");
            record_response(record)
        }
        Err(unavailable) => unavailable_response(unavailable, timer),
    }
}

/// The answer with a pointer record.
pub fn record_response(record: Bytes) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/octet-stream"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, record).into_response()
}

/// Answers PUT. The owner's signature is checked before anything is stored, and only a larger counter replaces a record.
pub async fn put(
    State(service): State<Arc<Service>>,
    Path(address): Path<String>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let mut timer = RequestTimer::new(&service, "put_pointer");
    let expects_100 = request.headers().contains_key(EXPECT);
    let (head, mut body) = request.into_parts();
    let max_bytes = POINTER_BYTES as u32;
    let stored = match check(&service, &address, &head.headers, &body, max_bytes) {
        Ok(address) => store(&service, &client, address, &mut body).await,
        Err(error) => Err(error),
    };
    match stored {
        Ok(status) => {
            timer.set_outcome("ok");
            (status, [(CACHE_CONTROL, "no-store")]).into_response()
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
    address: Address,
    body: &mut Body,
) -> Result<StatusCode, HttpError> {
    let permit = service.acquire_chunk(client).await.ok_or(HttpError::Busy)?;
    let record = read(service, client, body, POINTER_BYTES as u32).await?;
    let refuse = |error: HttpError| {
        let metrics = &service.metrics;
        metrics.count_refused_write(Transport::Http, error.name());
        Err(error)
    };
    if !service.is_valid_pointer(address, record.clone()).await {
        return refuse(HttpError::BadPointer);
    }
    let storing = service.put_pointer(Transport::Http, address, record, permit);
    match storing.await {
        Ok(PutPointerOutcome::AlreadyStored) => Ok(StatusCode::OK),
        Ok(PutPointerOutcome::Outdated) => refuse(HttpError::Outdated),
        Ok(_) => Ok(StatusCode::CREATED),
        Err(unavailable) => Err(error_from_status(unavailable.status)),
    }
}
