//! The state that the requests of a connection share: the client, the host and the routes.

use super::active_body::{ActiveBody, RequestGuards, UnreadBodies};
use super::endpoint::{Admission, Endpoint};
use super::error::HttpError;
use super::head_limiter::HeadLimiter;
use super::metering::is_metered;
use super::stream_reset;
use crate::client::Client;
use crate::connection_slots::{Activity, Slot};
use crate::limits::MAX_HOST_BYTES;
use crate::readers::Reader;
use axum::Router;
use axum::body::Body;
use axum::http::header::{CONNECTION, HOST, ORIGIN, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderValue, Method, Response};
use axum::response::IntoResponse;
use hyper::Request;
use hyper::body::{Body as _, Incoming};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;

/// The part of a connection that its requests share.
pub struct RequestContext {
    endpoint: Arc<Endpoint>,
    router: TowerToHyperService<Router>,
    /// The client, or a trusted proxy.
    hop: IpAddr,
    is_proxy: bool,
    client: Client,
    activity: Arc<Activity>,
    /// The responses that wait for the client.
    pub unread: Arc<UnreadBodies>,
}

impl RequestContext {
    /// `hop` is the client of the connection, or a trusted proxy.
    pub fn new(endpoint: &Arc<Endpoint>, slot: &Slot, hop: IpAddr) -> Self {
        let router = match slot.is_reserved() {
            true => &endpoint.routes.overload,
            false => &endpoint.routes.all,
        };
        let is_proxy = match &endpoint.admission {
            Admission::Clients { proxies, .. } => proxies.contains(hop),
            Admission::Operator(_) => false,
        };
        Self {
            router: TowerToHyperService::new(router.clone()),
            hop,
            is_proxy,
            client: endpoint
                .service
                .memory
                .http_client(hop, slot.activity().closing.clone()),
            activity: Arc::clone(slot.activity()),
            unread: Arc::default(),
            endpoint: Arc::clone(endpoint),
        }
    }

    /// The memory and the progress of an HTTP/1 connection.
    pub fn reader(&self) -> &Arc<Reader> {
        &self.client.reader
    }

    /// Answers a request of an HTTP/1 connection. `head` is the limiter of the connection.
    pub async fn answer_http1(
        self: Arc<Self>,
        mut request: Request<Incoming>,
        head: HeadLimiter,
    ) -> Result<Response<ActiveBody>, Infallible> {
        let guards = self.guards();
        if let Some(permit) = head.complete() {
            request.extensions_mut().insert(permit);
        }
        let reader = Arc::clone(self.reader());
        let response = self.answer(request, guards, reader, false).await?;
        head.begin();
        Ok(response.map(|(body, guards)| self.body(body, guards, None)))
    }

    /// Answers a request of an HTTP/2 connection.
    pub async fn answer_http2(
        self: Arc<Self>,
        mut request: Request<Incoming>,
    ) -> Result<Response<ActiveBody>, Infallible> {
        let guards = self.guards();
        let closing = self.activity.closing.clone();
        let memory = &self.endpoint.service.memory;
        let reader = memory.request_reader(stream_reset::current(), closing);
        // The rest of the peer reads the host from the header, as in HTTP/1.
        let authority = request.uri().authority();
        if let Some(host) = authority.and_then(|host| HeaderValue::from_str(host.as_str()).ok()) {
            // Fails if the head has as many fields as a map can hold.
            if request.headers_mut().try_insert(HOST, host).is_err() {
                let response = HttpError::BadRequest.into_response();
                return Ok(response.map(|body| self.body(body, guards, Some(reader))));
            }
        }
        match HeadLimiter::permit_of(&self.endpoint.long_heads, &request) {
            Ok(None) => {}
            Ok(Some(permit)) => {
                request.extensions_mut().insert(permit);
            }
            // The head is in memory already, so it cannot wait for a permit.
            Err(_no_permit) => {
                let response = HttpError::Busy.into_response();
                return Ok(response.map(|body| self.body(body, guards, Some(reader))));
            }
        }
        let response = self
            .answer(request, guards, Arc::clone(&reader), true)
            .await?;
        Ok(response.map(|(body, guards)| self.body(body, guards, Some(reader))))
    }

    fn guards(&self) -> RequestGuards {
        RequestGuards {
            active: self.activity.begin_request(),
            slot: None,
        }
    }

    /// `reader` reads the response. `is_multiplexed` tells HTTP/2 from HTTP/1.
    async fn answer(
        &self,
        mut request: Request<Incoming>,
        mut guards: RequestGuards,
        reader: Arc<Reader>,
        is_multiplexed: bool,
    ) -> Result<Response<(Body, RequestGuards)>, Infallible> {
        let client = self.client_of(&request, reader);
        let is_refused = has_long_name(request.headers())
            || !is_multiplexed && (is_ambiguous(request.headers()) || has_unread_body(&request));
        if is_refused {
            // It counts for the client's rate, as every request.
            self.endpoint.service.admits(&client);
            // The body is not read. The next request would begin after it.
            let mut response = HttpError::BadRequest.into_response();
            if !is_multiplexed {
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert(CONNECTION, close);
            }
            return Ok(response.map(|body| (body, guards)));
        }
        let has_many_requests = client.ip != self.hop || is_multiplexed && !self.is_proxy;
        if has_many_requests && is_metered(&request) {
            match self.endpoint.service.access.begin_request(client.ip) {
                Ok(slot) => guards.slot = slot,
                Err(refusal) => {
                    request.extensions_mut().insert(refusal);
                }
            }
        }
        request.extensions_mut().insert(client);
        let response = self.router.call(request).await?;
        Ok(response.map(|body| (body, guards)))
    }

    /// `multiplexed` is the reader of an HTTP/2 request.
    fn body(
        &self,
        body: Body,
        guards: RequestGuards,
        multiplexed: Option<Arc<Reader>>,
    ) -> ActiveBody {
        ActiveBody::new(
            body,
            guards,
            Arc::clone(&self.unread),
            Arc::clone(&self.activity),
            multiplexed,
        )
    }

    /// The client of a request. A proxy may send the requests of many clients on one connection.
    fn client_of(&self, request: &Request<Incoming>, reader: Arc<Reader>) -> Client {
        if let Admission::Clients { proxies, .. } = &self.endpoint.admission {
            let ip = proxies.client_of(self.hop, request.headers());
            if ip != self.hop {
                return self.endpoint.service.memory.proxied_client(ip, reader);
            }
        }
        Client {
            reader,
            ..self.client.clone()
        }
    }
}

/// Whether the request has a longer `Host` or `Origin` than names can be. Answers repeat them, and would be longer than the
/// request.
fn has_long_name(headers: &HeaderMap) -> bool {
    let values = [HOST, ORIGIN].map(|name| headers.get(name));
    values
        .into_iter()
        .flatten()
        .any(|value| value.len() > MAX_HOST_BYTES)
}

/// Whether a server before this peer may understand the request in another way: which host it is for, or which coding its
/// body has. The HTTP library refuses other codings of HTTP/1 than lists that end with `chunked`.
fn is_ambiguous(headers: &HeaderMap) -> bool {
    let has_other_coding = headers
        .get_all(TRANSFER_ENCODING)
        .iter()
        .any(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"chunked"));
    let is_repeated = |name| headers.get_all(name).iter().nth(1).is_some();
    has_other_coding || is_repeated(HOST) || is_repeated(TRANSFER_ENCODING)
}

/// Whether the request has a body that no handler takes. While the client reads no answers, the HTTP library reads further
/// requests once it has skipped such a body, and their answers would fill the memory.
fn has_unread_body(request: &Request<Incoming>) -> bool {
    let may_have_body = matches!(*request.method(), Method::PUT | Method::POST);
    !(may_have_body && is_metered(request) || request.body().is_end_stream())
}
