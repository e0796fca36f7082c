//! The routes of `/chunk/<address>`.

use super::body::ChunkResponseBody;
use super::error::HttpError;
use super::request_timer::RequestTimer;
use crate::address::Address;
use crate::client::Client;
use crate::limits::{MAX_CHUNK_BYTES, MAX_RETRY_AFTER, REFUSAL_LINGER};
use crate::metrics::Transport;
use crate::protocol::Status;
use crate::service::{GetOutcome, Service, Unavailable};
use crate::source::PutOutcome;
use crate::via::{BadVia, VIA_HEADER, Via};
use crate::write_policy::WriteRefusal;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::header::{
    AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, ETAG, EXPECT, HOST, IF_NONE_MATCH, ORIGIN,
    RETRY_AFTER,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt;
use std::sync::Arc;
use tokio::time::timeout;

const TRANSPORT: Transport = Transport::Http;

/// Answers GET and HEAD. HEAD reads the chunk as well, so that its headers are correct. But HEAD asks no upstream:
/// publishers send it before each upload, and an upload must not wait for a lookup in a network.
pub async fn get(
    State(service): State<Arc<Service>>,
    Path(address): Path<String>,
    Extension(client): Extension<Client>,
    method: Method,
    headers: HeaderMap,
) -> Response {
    let mut timer = RequestTimer::new(&service, "get");
    let address: Address = match address.parse() {
        Ok(address) => address,
        Err(_) => return error_response(HttpError::BadAddress, timer),
    };
    // A cache that asks whether its copy is still good must not keep it.
    if service.is_denied(address) {
        return error_response(HttpError::Denied, timer);
    }
    let etag = HeaderValue::from_str(&format!("\"{address}\"")).expect("hex digits");
    if etag_matches(&headers, &etag) {
        timer.set_outcome("not_modified");
        return (StatusCode::NOT_MODIFIED, immutable(etag)).into_response();
    }
    let Ok(via) = via_of(&headers) else {
        return error_response(HttpError::Loop, timer);
    };
    if method == Method::HEAD {
        match service.is_stored(address).await {
            Ok(true) => {}
            Ok(false) => return error_response(HttpError::NotFound, timer),
            Err(unavailable) => return unavailable_response(unavailable, timer),
        }
    }
    match service.get_via(&client, address, via).await {
        GetOutcome::Found(body) => {
            if method == Method::HEAD {
                timer.set_outcome("ok");
            }
            let octets = HeaderValue::from_static("application/octet-stream");
            let transfer_timeout = service.limits.transfer_timeout(body.length());
            let body = Body::new(ChunkResponseBody::new(body, transfer_timeout, timer));
            (immutable(etag), [(CONTENT_TYPE, octets)], body).into_response()
        }
        GetOutcome::Unavailable(unavailable) => unavailable_response(unavailable, timer),
    }
}

/// Answers PUT.
pub async fn put(
    State(service): State<Arc<Service>>,
    Path(address): Path<String>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let mut timer = RequestTimer::new(&service, "put");
    let expects_100 = request.headers().contains_key(EXPECT);
    let (head, mut body) = request.into_parts();
    let stored = match check(&service, &address, &head.headers, &body, MAX_CHUNK_BYTES) {
        Ok(address) => store(&service, &client, address, &mut body).await,
        Err(error) => Err(error),
    };
    match stored {
        Ok((status, etag)) => {
            timer.set_outcome("ok");
            let no_store = HeaderValue::from_static("no-store");
            (status, [(ETAG, etag), (CACHE_CONTROL, no_store)]).into_response()
        }
        Err(error) => {
            if !expects_100 {
                discard(body).await;
            }
            error_response(error, timer)
        }
    }
}

/// Checks a write before its body is read: address, permission and announced length.
pub fn check(
    service: &Service,
    address: &str,
    headers: &HeaderMap,
    body: &Body,
    max_bytes: u32,
) -> Result<Address, HttpError> {
    let address = address.parse().map_err(|_| HttpError::BadAddress)?;
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let token = text(AUTHORIZATION)
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim().as_bytes());
    let host = text(HOST).unwrap_or("");
    service
        .may_write(TRANSPORT, text(ORIGIN), host, token)
        .map_err(|refusal| match refusal {
            WriteRefusal::Token => HttpError::Unauthorized,
            WriteRefusal::Off | WriteRefusal::Origin => HttpError::Forbidden,
        })?;
    if service.is_denied(address) {
        let reason = Status::Denied.name();
        service.metrics.count_refused_write(TRANSPORT, reason);
        return Err(HttpError::Denied);
    }
    if body.size_hint().lower() > u64::from(max_bytes) {
        return Err(too_large(service));
    }
    Ok(address)
}

async fn store(
    service: &Service,
    client: &Client,
    address: Address,
    body: &mut Body,
) -> Result<(StatusCode, HeaderValue), HttpError> {
    let permit = service.acquire_chunk(client).await.ok_or(HttpError::Busy)?;
    let bytes = read(service, client, body, MAX_CHUNK_BYTES).await?;
    let chunk = service.hash(bytes).await;
    if chunk.address() != address {
        service.metrics.count_refused_write(TRANSPORT, "mismatch");
        return Err(HttpError::Mismatch);
    }
    let etag = HeaderValue::from_str(&format!("\"{address}\"")).expect("hex digits");
    match service.put(TRANSPORT, chunk, permit).await {
        Ok(PutOutcome::AlreadyStored) => Ok((StatusCode::OK, etag)),
        Ok(_) => Ok((StatusCode::CREATED, etag)),
        Err(unavailable) => Err(error_from_status(unavailable.status)),
    }
}

/// Reads the body of a write, of at most `max_bytes`.
pub async fn read(
    service: &Service,
    client: &Client,
    body: &mut Body,
    max_bytes: u32,
) -> Result<Bytes, HttpError> {
    let expected = body.size_hint().upper().unwrap_or(max_bytes.into());
    let expected = u32::try_from(expected).unwrap_or(max_bytes);
    // The client decides how long the memory for its bytes is in use.
    let _held = client.reader.hold(expected as usize);
    let reading = async {
        let mut bytes = BytesMut::new();
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| HttpError::BadRequest)?;
            let Ok(data) = frame.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > max_bytes as usize {
                return Err(too_large(service));
            }
            client.reader.record_progress(data.len() as u64);
            bytes.extend_from_slice(&data);
        }
        Ok(bytes.freeze())
    };
    let read = timeout(service.limits.transfer_timeout(expected), reading).await;
    read.unwrap_or(Err(HttpError::Timeout))
}

/// Reads the rest of a refused upload, up to a chunk's size. If the server closes a connection while the client is
/// sending, the client gets a reset and may never read the error.
pub async fn discard(mut body: Body) {
    let mut remaining = MAX_CHUNK_BYTES as usize;
    let reading = async {
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match remaining.checked_sub(length) {
                Some(rest) => remaining = rest,
                None => return,
            }
        }
    };
    // The refusal is sent whether or not the whole body was read. A client that sends nothing must not occupy its
    // connection for longer: others may need it.
    let _ = timeout(REFUSAL_LINGER, reading).await;
}

fn too_large(service: &Service) -> HttpError {
    service
        .metrics
        .count_refused_write(TRANSPORT, Status::TooLarge.name());
    HttpError::TooLarge
}

/// The peers that forwarded the request.
pub fn via_of(headers: &HeaderMap) -> Result<Via, BadVia> {
    match headers.get(VIA_HEADER) {
        None => Ok(Via::default()),
        Some(value) => value.to_str().map_err(|_| BadVia)?.parse(),
    }
}

pub fn error_response(error: HttpError, mut timer: RequestTimer) -> Response {
    timer.set_outcome(error.name());
    error.into_response()
}

/// The error response, with the time after which the client should ask again.
pub fn unavailable_response(unavailable: Unavailable, timer: RequestTimer) -> Response {
    let mut response = error_response(error_from_status(unavailable.status), timer);
    if let Some(after) = unavailable.retry_after {
        let seconds = after.min(MAX_RETRY_AFTER).as_secs_f64().ceil() as u64;
        let headers = response.headers_mut();
        headers.insert(RETRY_AFTER, HeaderValue::from(seconds.max(1)));
    }
    response
}

pub fn error_from_status(status: Status) -> HttpError {
    match status {
        Status::NotFound => HttpError::NotFound,
        Status::Busy => HttpError::Busy,
        Status::Full => HttpError::Full,
        Status::TooLarge => HttpError::TooLarge,
        Status::Refused => HttpError::Forbidden,
        Status::Denied => HttpError::Denied,
        Status::Ok | Status::Failed => HttpError::Failed,
    }
}

fn immutable(etag: HeaderValue) -> [(HeaderName, HeaderValue); 2] {
    let forever = HeaderValue::from_static("public, max-age=31536000, immutable");
    [(ETAG, etag), (CACHE_CONTROL, forever)]
}

/// Whether the client already has the bytes. Chunks never change, so a weak tag is as good as a strong one.
pub fn etag_matches(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    headers.get_all(IF_NONE_MATCH).iter().any(|value| {
        value.as_bytes().split(|byte| *byte == b',').any(|tag| {
            let tag = tag.trim_ascii();
            tag.strip_prefix(b"W/").unwrap_or(tag) == etag.as_bytes()
        })
    })
}
