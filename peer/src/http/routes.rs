//! The routes of the HTTP server.

use super::error::HttpError;
use super::request_timer::RequestTimer;
use super::web::{self, Web};
use super::{chunk, cors, pointer};
use crate::service::Service;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post};
use std::sync::Arc;

/// All routes. `web` serves the paths that the peer itself does not use.
pub fn router(service: Arc<Service>, web: Option<Web>) -> Router {
    routes(service, web).layer(map_response(add_nosniff))
}

/// Chunks come from strangers. Browsers must not guess that one is a page.
async fn add_nosniff(mut response: Response) -> Response {
    let nosniff = HeaderValue::from_static("nosniff");
    response
        .headers_mut()
        .insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

fn routes(service: Arc<Service>, web: Option<Web>) -> Router {
    let peer_routes = Router::new()
        .route("/chunk/{*address}", get(chunk::get).put(chunk::put))
        .route("/chunk/", any(HttpError::BadAddress))
        .route("/pointer/{*address}", get(pointer::get))
        .route("/-/info", get(info))
        .route("/-/health", get(health))
        .route("/metrics", get(metrics))
        .method_not_allowed_fallback(async || HttpError::Method)
        .with_state(Arc::clone(&service))
        .layer(from_fn_with_state(Arc::clone(&service), cors::add_headers));
    let Some(web) = web else {
        return peer_routes.fallback(async || HttpError::NotFound);
    };
    let web_routes = Router::new()
        .fallback(serve_web)
        .with_state((service, Arc::new(web)));
    // The installed web app's worker handles shared data. If the worker is missing, this loads the page that installs
    // it again.
    peer_routes
        .route("/-/share", post(async || Redirect::to("/")))
        .fallback_service(web_routes)
}

async fn serve_web(
    State((service, web)): State<(Arc<Service>, Arc<Web>)>,
    request: Request,
) -> Response {
    let mut timer = RequestTimer::new(&service, "web");
    let response = web::answer(&web, request).await;
    timer.set_outcome(match response.status().is_server_error() {
        true => "failed",
        false => "ok",
    });
    response
}

async fn info(State(service): State<Arc<Service>>) -> Response {
    RequestTimer::new(&service, "info").set_outcome("ok");
    json(service.info())
}

async fn health() -> Response {
    json(br#"{"status":"ok"}"#.to_vec())
}

fn json(text: Vec<u8>) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, text).into_response()
}

async fn metrics(State(service): State<Arc<Service>>) -> Response {
    let text = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let headers = [(CONTENT_TYPE, text), (CACHE_CONTROL, "no-store")];
    (headers, service.metrics_text()).into_response()
}
