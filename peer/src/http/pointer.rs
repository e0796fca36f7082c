//! The routes of `/pointer/<address>`.

use super::chunk::{error_of, refuse, via_of};
use super::error::HttpError;
use super::measure::Measured;
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
    let mut measured = Measured::new(&service, "pointer");
    let Ok(address) = address.parse() else {
        return refuse(HttpError::BadAddress, measured);
    };
    let Ok(via) = via_of(&headers) else {
        return refuse(HttpError::Loop, measured);
    };
    if !service.admits(&client) {
        return refuse(HttpError::Rate, measured);
    }
    match service.pointer(address, via).await {
        Ok(record) => {
            measured.set("ok");
            let headers = [
                (CONTENT_TYPE, "application/octet-stream"),
                (CACHE_CONTROL, "no-store"),
            ];
            (headers, record).into_response()
        }
        Err(status) => refuse(error_of(status), measured),
    }
}
