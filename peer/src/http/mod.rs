//! The HTTP server: chunks at `/chunk/…`, uploads to the network at `/network/…`, the peer's own endpoints at `/-/…`, and
//! the hosted web app.

mod active_body;
mod body;
mod chunk;
mod connection;
mod cors;
mod endpoint;
mod error;
mod head_limiter;
mod hpack_fields;
mod http2_frames;
mod http2_heads;
mod lingering;
mod metered_stream;
mod metering;
mod network_question;
mod paid_uploads;
mod payer_body;
mod pointer;
mod pools;
mod quotes;
mod refusal;
mod request_context;
mod request_timer;
mod response_bytes;
mod routes;
mod stream_reset;
mod web;

pub use web::{Web, WebFolder};

use crate::certificates::Certificates;
use crate::connection_slots::{ConnectionSlots, SlotLimits};
use crate::limits::{HTTP_BACKLOG, METRICS_CONNECTIONS};
use crate::proxies::TrustedProxies;
use crate::service::Service;
use crate::shutdown::Shutdown;
use endpoint::{Admission, Endpoint};
use futures_util::future::{join, join_all};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};
use tokio_rustls::TlsAcceptor;

/// The name of HTTP/2 in the TLS handshake.
const HTTP2_ALPN: &[u8] = b"h2";

/// The listening sockets of the HTTP server.
pub struct HttpServer {
    listeners: Vec<TcpListener>,
    metrics_listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
}

impl HttpServer {
    /// Does not listen yet. Uses TLS if the certificate is an authority's.
    pub fn new(certificates: &Certificates) -> Self {
        let tls = certificates.https_protocols().map(|more| {
            let protocols = [&[HTTP2_ALPN, b"http/1.1"], more].concat();
            let config = certificates.resolver().tls(&protocols);
            TlsAcceptor::from(Arc::new(config))
        });
        Self {
            listeners: Vec::new(),
            metrics_listeners: Vec::new(),
            tls,
        }
    }

    /// Also listens on this TCP address. Returns the bound address, whose port is known even if `address` has port 0.
    pub fn listen(&mut self, address: SocketAddr) -> io::Result<SocketAddr> {
        listen(&mut self.listeners, address)
    }

    /// Also listens on this TCP address, for metrics and checks only. Then `/metrics` is not public.
    pub fn listen_for_metrics(&mut self, address: SocketAddr) -> io::Result<SocketAddr> {
        listen(&mut self.metrics_listeners, address)
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        match self.tls {
            None => "http",
            Some(_) => "https",
        }
    }

    /// Accepts connections until the shutdown begins. Open connections continue until it is over. The listeners for
    /// metrics accept connections until it is over, too.
    pub async fn run(
        self,
        service: Arc<Service>,
        web: Option<Web>,
        proxies: TrustedProxies,
        shutdown: Shutdown,
    ) {
        let has_public_metrics = self.metrics_listeners.is_empty();
        let public = Endpoint::new(
            routes::router(&service, web, has_public_metrics, &shutdown),
            Admission::Clients {
                tls: self.tls,
                proxies,
            },
            Arc::clone(&service),
            shutdown.clone(),
        );
        let metrics = Endpoint::new(
            routes::metrics_router(&service, &shutdown),
            Admission::Operator(ConnectionSlots::new(SlotLimits {
                total: METRICS_CONNECTIONS,
                per_network: METRICS_CONNECTIONS,
                per_site: METRICS_CONNECTIONS,
                reserved: 0,
            })),
            service,
            shutdown.clone(),
        );
        let accept = |listeners: Vec<TcpListener>, endpoint: &Arc<Endpoint>| {
            let accepting = listeners
                .into_iter()
                .map(|listener| Arc::clone(endpoint).accept(listener));
            join_all(accepting)
        };
        let accepting_clients = async {
            tokio::select! {
                _ = accept(self.listeners, &public) => {}
                () = shutdown.stopping() => {}
            }
        };
        let accepting_operators = async {
            tokio::select! {
                _ = accept(self.metrics_listeners, &metrics), if !has_public_metrics => {}
                () = shutdown.terminating() => {}
            }
        };
        join(accepting_clients, accepting_operators).await;
    }
}

fn listen(listeners: &mut Vec<TcpListener>, address: SocketAddr) -> io::Result<SocketAddr> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A new process can listen while connections of the previous one end.
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(HTTP_BACKLOG)?;
    let address = listener.local_addr()?;
    listeners.push(listener);
    Ok(address)
}
