//! Counts every request for the rate limits of its client, whatever it asks for.

use super::chunk::discard;
use super::error::HttpError;
use super::request_timer::RequestTimer;
use crate::access::TooManyRequests;
use crate::client::Client;
use crate::service::Service;
use axum::extract::{Request, State};
use axum::http::Method;
use axum::http::header::EXPECT;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

/// The paths that answer whatever the load.
const UNMETERED: [&str; 2] = ["/-/health", "/-/ready"];

/// Whether the limits of clients apply to the request.
pub fn is_metered<B>(request: &axum::http::Request<B>) -> bool {
    !UNMETERED.contains(&request.uri().path())
}

/// Refuses a request over the client's rate, or over its number of requests at a time.
pub async fn meter(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    if !is_metered(&request) || is_admitted(&service, &request) {
        return next.run(request).await;
    }
    let mut timer = RequestTimer::new(&service, op_of(&request));
    timer.set_outcome(HttpError::Rate.name());
    if !request.headers().contains_key(EXPECT) {
        discard(request.into_body()).await;
    }
    HttpError::Rate.into_response()
}

/// Counts the request. `false` if the client exceeds its rate, or has too many requests.
pub fn is_admitted(service: &Service, request: &Request) -> bool {
    let client = request.extensions().get::<Client>();
    let is_within_rate = service.admits(client.expect("the connection adds the client"));
    is_within_rate && request.extensions().get::<TooManyRequests>().is_none()
}

/// The operation, for the metrics.
fn op_of(request: &Request) -> &'static str {
    let path = request.uri().path();
    let is_below = |prefix| path.starts_with(prefix);
    match path {
        _ if is_below("/chunk/") && request.method() == Method::PUT => "put",
        _ if is_below("/chunk/") => "get",
        _ if is_below("/pointer/") && request.method() == Method::PUT => "put_pointer",
        _ if is_below("/pointer/") => "pointer",
        "/network/quotes" => "quotes",
        "/network/merkle" => "pools",
        _ if is_below("/network/chunk/") => "put_paid_chunk",
        _ if is_below("/network/pointer/") && request.method() == Method::PUT => "put_paid_pointer",
        _ if is_below("/network/pointer/") => "network_pointer",
        "/-/info" | "/network/info" => "info",
        "/metrics" => "metrics",
        _ => "web",
    }
}
