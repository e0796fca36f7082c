//! The CORS headers, and related headers for pages of other origins.

use super::error::HttpError;
use super::metering::is_admitted;
use crate::service::Service;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, HOST,
    ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;

const PRIVATE_NETWORK: HeaderName = HeaderName::from_static("access-control-allow-private-network");
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");
const TIMING_ALLOW_ORIGIN: HeaderName = HeaderName::from_static("timing-allow-origin");

/// Answers preflights, and adds the headers to all other responses.
pub async fn add_headers(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let access = CorsAccess::of(&request, &service);
    let is_preflight = request.method() == Method::OPTIONS
        && request
            .headers()
            .contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    // Handlers refuse writes, and read what the client is sending.
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let mut response = if access.is_refused && is_read {
        HttpError::Page.into_response()
    } else if is_preflight && !is_admitted(&service, &request) {
        HttpError::Rate.into_response()
    } else if is_preflight {
        let mut response = StatusCode::NO_CONTENT.into_response();
        access.add_to_preflight(response.headers_mut());
        response
    } else {
        next.run(request).await
    };
    access.add_to(response.headers_mut());
    response
}

/// The rights of the requesting page.
struct CorsAccess {
    /// The value of `CorsAccess-Control-Allow-Origin`, if the page may read responses.
    allowed: Option<HeaderValue>,
    /// Whether the page gets no answer at all: a response that it cannot read tells it something, too.
    is_refused: bool,
    methods: &'static str,
    /// The headers that pages may read.
    exposed: &'static str,
    /// Whether caches must store responses separately for each origin.
    depends_on_origin: bool,
}

impl CorsAccess {
    fn of(request: &Request, service: &Service) -> Self {
        let headers = request.headers();
        let text = |name| {
            headers
                .get(name)
                .and_then(|value: &HeaderValue| value.to_str().ok())
        };
        let origin = text(ORIGIN);
        let host = text(HOST).unwrap_or("");
        let may_write = service.origin_may_write(origin, host);
        let may_read = may_write || service.origins.may_read(origin, host);
        // Frames and windows send none. Pages of sites have the same site as the gateway.
        let is_foreign =
            origin.is_none() && matches!(text(FETCH_SITE), Some("cross-site" | "same-site"));
        let is_refused = service.origins.is_loopback() && (!may_read || is_foreign);
        let allowed = if service.origins.allows_all() {
            Some(HeaderValue::from_static("*"))
        } else if may_read {
            headers.get(ORIGIN).cloned()
        } else {
            None
        };
        // The user pays for such an upload, and this peer stores nothing. So no permission to write is needed.
        let is_paid_upload = request.uri().path().starts_with("/network/");
        Self {
            exposed: match is_paid_upload {
                true => "Antway-Holding-Nodes, Antway-Other-Nodes, Retry-After",
                false => "ETag, Content-Length, Retry-After",
            },
            methods: match (is_paid_upload, may_write) {
                (true, _) => "GET, HEAD, POST, PUT",
                (false, true) => "GET, HEAD, PUT",
                (false, false) => "GET, HEAD",
            },
            allowed,
            is_refused,
            depends_on_origin: !service.origins.allows_all(),
        }
    }

    fn add_to_preflight(&self, headers: &mut HeaderMap) {
        headers.extend(
            [
                (ACCESS_CONTROL_ALLOW_METHODS, self.methods),
                (
                    ACCESS_CONTROL_ALLOW_HEADERS,
                    "Authorization, Content-Type, If-None-Match",
                ),
                (ACCESS_CONTROL_MAX_AGE, "7200"),
                (PRIVATE_NETWORK, "true"),
            ]
            .map(|(name, value)| (name, HeaderValue::from_static(value))),
        );
    }

    fn add_to(self, headers: &mut HeaderMap) {
        if self.depends_on_origin {
            headers.append(VARY, HeaderValue::from_static("Origin"));
        }
        if self.is_refused {
            return;
        }
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
        if let Some(origin) = self.allowed {
            headers.insert(TIMING_ALLOW_ORIGIN, origin.clone());
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
            let exposed = HeaderValue::from_static(self.exposed);
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
        }
    }
}
