//! The routes of the HTTP server.

use super::error::HttpError;
use super::metering::meter;
use super::network_question::answer;
use super::quotes::QuotesRequest;
use super::request_timer::RequestTimer;
use super::web::{self, Web};
use super::{chunk, cors, paid_uploads, pointer};
use crate::client::Client;
use crate::paid_uploads::RequestedPools;
use crate::service::Service;
use crate::shutdown::Shutdown;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state, map_response};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{any, get, post, put};
use axum::{Extension, Router};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;

/// The routes of a listener.
pub struct Routes {
    /// All routes.
    pub all: Router,
    /// The routes for connections that only get a short answer, while the peer is overloaded.
    pub overload: Router,
}

/// The public routes. `web` serves the paths that the peer itself does not use.
pub fn router(
    service: &Arc<Service>,
    web: Option<Web>,
    has_public_metrics: bool,
    shutdown: &Shutdown,
) -> Routes {
    let mut peer_routes = chunk_routes(service).merge(checks(service, shutdown));
    if service.allows_paid_uploads() {
        peer_routes = peer_routes.merge(paid_upload_routes(service));
    }
    if has_public_metrics {
        peer_routes = peer_routes.merge(metrics_route(service, false));
    }
    let peer_routes = metered(service, peer_routes)
        .layer(from_fn_with_state(Arc::clone(service), cors::add_headers));
    let other_routes = match web {
        Some(web) => web_routes(service, web),
        None => Router::new().fallback(async || HttpError::NotFound),
    };
    let other_routes = metered(service, other_routes);
    let all = peer_routes.fallback_service(other_routes.clone());
    let all = all.layer(from_fn_with_state(other_routes, separate_sites));
    Routes {
        all: all.layer(map_response(add_nosniff)),
        overload: Router::new()
            .route("/-/health", get(health))
            .fallback(async || HttpError::Busy)
            .layer(map_response(add_nosniff)),
    }
}

/// The routes of the listener for metrics.
pub fn metrics_router(service: &Arc<Service>, shutdown: &Shutdown) -> Routes {
    let all = metrics_route(service, true)
        .merge(checks(service, shutdown))
        .fallback(async || HttpError::NotFound);
    Routes {
        overload: all.clone(),
        all,
    }
}

/// Below the name of a site there are no routes of the peer: their answers would tell other sites whether the site's
/// worker answers there.
async fn separate_sites(
    State(site_routes): State<Router>,
    request: Request,
    next: Next,
) -> Response {
    if !web::is_of_site(request.headers()) {
        return next.run(request).await;
    }
    let Ok(response) = TowerToHyperService::new(site_routes).call(request).await;
    response
}

/// Chunks come from strangers. Browsers must not guess that one is a page.
async fn add_nosniff(mut response: Response) -> Response {
    let nosniff = HeaderValue::from_static("nosniff");
    response
        .headers_mut()
        .insert(X_CONTENT_TYPE_OPTIONS, nosniff);
    response
}

fn metered(service: &Arc<Service>, router: Router) -> Router {
    router.layer(from_fn_with_state(Arc::clone(service), meter))
}

fn chunk_routes(service: &Arc<Service>) -> Router {
    Router::new()
        .route("/chunk/{*address}", get(chunk::get).put(chunk::put))
        .route("/chunk/", any(HttpError::BadAddress))
        .route("/pointer/{*address}", get(pointer::get).put(pointer::put))
        .route("/-/info", get(info))
        .method_not_allowed_fallback(async || HttpError::Method)
        .with_state(Arc::clone(service))
}

fn paid_upload_routes(service: &Arc<Service>) -> Router {
    Router::new()
        .route("/network/info", get(paid_uploads::info))
        .route("/network/quotes", post(answer::<QuotesRequest>))
        .route("/network/merkle", post(answer::<RequestedPools>))
        .route("/network/chunk/{*address}", put(paid_uploads::put_chunk))
        .route(
            "/network/pointer/{*address}",
            get(paid_uploads::get_pointer).put(paid_uploads::put_pointer),
        )
        .method_not_allowed_fallback(async || HttpError::Method)
        .with_state(Arc::clone(service))
}

/// The checks of load balancers and of operators.
fn checks(service: &Arc<Service>, shutdown: &Shutdown) -> Router {
    Router::new()
        .route("/-/health", get(health))
        .route("/-/ready", get(ready))
        .method_not_allowed_fallback(async || HttpError::Method)
        .with_state((Arc::clone(service), shutdown.clone()))
}

/// `for_operator` includes the busiest client networks.
fn metrics_route(service: &Arc<Service>, for_operator: bool) -> Router {
    Router::new()
        .route("/metrics", get(metrics))
        .method_not_allowed_fallback(async || HttpError::Method)
        .with_state((Arc::clone(service), for_operator))
}

fn web_routes(service: &Arc<Service>, web: Web) -> Router {
    // The installed web app's worker handles shared data. If the worker is missing, this loads the page that installs
    // it again.
    Router::new()
        .route("/-/share", post(async || Redirect::to("/")))
        .fallback(serve_web)
        .with_state((Arc::clone(service), Arc::new(web)))
}

async fn serve_web(
    State((service, web)): State<(Arc<Service>, Arc<Web>)>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let mut timer = RequestTimer::new(&service, "web");
    let response = web::answer(&web, &service, &client, request).await;
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

/// Answers while the process runs.
async fn health() -> Response {
    json(br#"{"status":"ok"}"#.to_vec())
}

/// Answers whether the peer should get requests.
async fn ready(State((service, shutdown)): State<(Arc<Service>, Shutdown)>) -> Response {
    let status = match shutdown.is_stopping() {
        true => "stopping",
        false if !service.has_certificate() => "no_certificate",
        false if !service.store_is_writable().await => "store_not_writable",
        false => return json(br#"{"status":"ready"}"#.to_vec()),
    };
    let mut response = json(format!(r#"{{"status":"{status}"}}"#).into_bytes());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

fn json(text: Vec<u8>) -> Response {
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    (headers, text).into_response()
}

async fn metrics(State((service, for_operator)): State<(Arc<Service>, bool)>) -> Response {
    let text = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let headers = [(CONTENT_TYPE, text), (CACHE_CONTROL, "no-store")];
    (headers, service.metrics_text(for_operator)).into_response()
}
