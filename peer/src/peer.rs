//! A running peer: its servers start and stop together.

use crate::advertised_endpoint::AdvertisedEndpoint;
use crate::certificates::Certificates;
use crate::congestion::CongestionControl;
use crate::deny_list::{DenyList, DenyingSource};
use crate::http::{HttpServer, Web};
use crate::limits::Limits;
use crate::origins::AllowedOrigins;
use crate::paid_uploads::PaymentChain;
use crate::protocol;
use crate::proxies::TrustedProxies;
use crate::service::Service;
use crate::shutdown::Shutdown;
use crate::source::ChunkSource;
use crate::webtransport::WebTransportServer;
use crate::write_policy::WritePolicy;
use serde::Serialize;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// The configuration of a peer, apart from its source.
pub struct PeerConfig {
    /// The HTTP listen addresses, at least one. Port 0 selects a free port; for later addresses, it means the port of
    /// the first one.
    pub http: Vec<SocketAddr>,
    /// The listen addresses for metrics and checks. Without any, `/metrics` is public.
    pub metrics_http: Vec<SocketAddr>,
    /// The reverse proxies in front of the peer.
    pub trusted_proxies: TrustedProxies,
    /// The WebTransport listen addresses, all with the same port. Empty if WebTransport is off. Port 0 as for `http`.
    pub web_transport: Vec<SocketAddr>,
    /// Where clients reach WebTransport, if not at the listen addresses.
    pub advertised: Option<AdvertisedEndpoint>,
    /// The congestion control of WebTransport sessions.
    pub congestion_control: CongestionControl,
    /// The limits.
    pub limits: Limits,
    /// The pages that may read.
    pub origins: AllowedOrigins,
    /// The clients that may write.
    pub write_policy: WritePolicy,
    /// The web app to serve.
    pub web: Option<Web>,
    /// The URLs of other peers to announce to clients.
    pub announced_peers: Vec<String>,
    /// The addresses that are not served or stored.
    pub deny_list: Arc<DenyList>,
    /// The chain of the payments, if clients may upload to the source's network.
    pub payment_chain: Option<PaymentChain>,
}

/// A peer that serves until it is [stopped](Self::stop).
pub struct Peer {
    http: Vec<String>,
    metrics_http: Vec<String>,
    web_transport: Vec<String>,
    service: Arc<Service>,
    certificates: Arc<Certificates>,
    deny_list: Arc<DenyList>,
    shutdown: Shutdown,
}

/// The peer could not listen on an address.
#[derive(Debug)]
pub struct ListenError {
    flag: &'static str,
    address: SocketAddr,
    error: io::Error,
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.flag, self.address, self.error)
    }
}

impl std::error::Error for ListenError {}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListeningLine<'a> {
    event: &'static str,
    http: &'a str,
    web_transport: Option<&'a str>,
    all_http: &'a [String],
    all_web_transport: &'a [String],
    metrics_http: &'a [String],
    certificate_hashes: Vec<String>,
    store: String,
    chunks: u64,
    bytes: u64,
}

impl Peer {
    /// Listens with `certificates`, and serves the chunks of `source`. Call it in a Tokio runtime.
    pub async fn start(
        config: PeerConfig,
        certificates: Certificates,
        source: Arc<dyn ChunkSource>,
    ) -> Result<Self, ListenError> {
        let listen_error = |flag, address| {
            move |error| ListenError {
                flag,
                address,
                error,
            }
        };
        let certificates = Arc::new(certificates);
        let mut http = HttpServer::new(&certificates);
        let mut http_addresses = Vec::new();
        for address in config.http {
            let address = with_default_port(address, http_addresses.first());
            let listening = http.listen(address);
            http_addresses.push(listening.map_err(listen_error("--http", address))?);
        }
        let mut metrics_addresses = Vec::new();
        for address in config.metrics_http {
            let listening = http.listen_for_metrics(address);
            metrics_addresses.push(listening.map_err(listen_error("--metrics-http", address))?);
        }
        let mut web_transport = WebTransportServer::default();
        let mut web_transport_addresses = Vec::new();
        for address in config.web_transport {
            let address = with_default_port(address, web_transport_addresses.first());
            let listening = web_transport.listen(
                address,
                &certificates,
                config.congestion_control,
                config.write_policy.receive_windows(),
                &config.limits,
            );
            web_transport_addresses
                .push(listening.map_err(listen_error("--webtransport", address))?);
        }
        let deny_list = config.deny_list;
        let service = Service::new(
            Arc::new(DenyingSource::new(source, Arc::clone(&deny_list))),
            Arc::clone(&certificates),
            config.limits,
            config.origins,
            config.write_policy,
            web_transport_addresses
                .first()
                .map(|address| config.advertised.unwrap_or_else(|| address.port().into())),
            config.announced_peers,
        );
        let service = Arc::new(match config.payment_chain {
            Some(chain) => service.with_paid_uploads(chain),
            None => service,
        });
        let shutdown = Shutdown::default();
        let peer = Self {
            http: http_addresses
                .iter()
                .map(|address| format!("{}://{address}", http.scheme()))
                .collect(),
            metrics_http: metrics_addresses
                .iter()
                .map(|address| format!("http://{address}"))
                .collect(),
            web_transport: web_transport_addresses
                .iter()
                .map(|address| format!("https://{address}{}", protocol::PATH))
                .collect(),
            service: Arc::clone(&service),
            certificates: Arc::clone(&certificates),
            deny_list: Arc::clone(&deny_list),
            shutdown: shutdown.clone(),
        };
        tokio::spawn({
            let shutdown = shutdown.clone();
            async move {
                tokio::select! {
                    () = certificates.renew_forever() => {}
                    () = deny_list.reload_forever() => {}
                    () = shutdown.terminating() => {}
                }
            }
        });
        shutdown.track_server(web_transport.run(Arc::clone(&service), shutdown.clone()));
        shutdown.track_server(http.run(
            service,
            config.web,
            config.trusted_proxies,
            shutdown.clone(),
        ));
        Ok(peer)
    }

    /// The HTTP URL of the first listen address.
    pub fn http(&self) -> &str {
        &self.http[0]
    }

    /// The URLs of the listeners for metrics.
    pub fn metrics_http(&self) -> &[String] {
        &self.metrics_http
    }

    /// The WebTransport URL of the first listen address, or `None` if WebTransport is off.
    pub fn web_transport(&self) -> Option<&str> {
        self.web_transport.first().map(String::as_str)
    }

    /// The certificate hashes for clients to pin.
    pub fn certificate_hashes(&self) -> Vec<String> {
        self.certificates.info().hashes
    }

    /// Reads a CA-signed certificate and the deny files again.
    pub fn reload(&self) {
        self.certificates.reload();
        self.deny_list.reload();
    }

    /// The `listening` line for stdout: one line of JSON.
    pub fn listening_line(&self, store: &Path) -> String {
        let stats = self.service.stats();
        let listening = ListeningLine {
            event: "listening",
            http: self.http(),
            web_transport: self.web_transport(),
            all_http: &self.http,
            all_web_transport: &self.web_transport,
            metrics_http: &self.metrics_http,
            certificate_hashes: match self.web_transport() {
                Some(_) => self.certificate_hashes(),
                None => Vec::new(),
            },
            store: store.to_string_lossy().into_owned(),
            chunks: stats.chunks,
            bytes: stats.bytes,
        };
        serde_json::to_string(&listening).expect("plain numbers and texts")
    }

    /// Stops the peer. Accepts no new work, gives running work the grace period, then ends it.
    pub async fn stop(self) {
        self.shutdown.run(self.service.limits.shutdown_grace).await;
    }
}

/// The address, with the port of `first` if its own port is 0.
fn with_default_port(mut address: SocketAddr, first: Option<&SocketAddr>) -> SocketAddr {
    if let (0, Some(first)) = (address.port(), first) {
        address.set_port(first.port());
    }
    address
}
