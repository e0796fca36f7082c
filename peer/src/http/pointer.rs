//! The routes of `/pointer/<address>`.

use super::chunk::{error_response, unavailable_response, via_of};
use super::error::HttpError;
use super::request_timer::RequestTimer;
use crate::client::Client;
use crate::service::Service;
use axum::Extension;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
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
            let headers = [
                (CONTENT_TYPE, "application/octet-stream"),
                (CACHE_CONTROL, "no-store"),
            ];
            (headers, record).into_response()
        }
        Err(unavailable) => unavailable_response(unavailable, timer),
    }
}
