//! A running peer: its faces, brought up together and down together.

use crate::certificates::Certificates;
use crate::congestion::CongestionControl;
use crate::http::{HttpFace, Web};
use crate::limits::Limits;
use crate::origins::AllowedOrigins;
use crate::protocol;
use crate::service::Service;
use crate::shutdown::Shutdown;
use crate::source::ChunkSource;
use crate::webtransport::WebTransportFace;
use crate::writes::WritePolicy;
use serde::Serialize;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// What a peer needs to know, besides its source.
pub struct PeerConfig {
    /// Where HTTP listens, at least one address. Port 0 takes a free one, after the first address that of the first.
    pub http: Vec<SocketAddr>,
    /// Where WebTransport listens, if it does, all on one port; port 0 as above.
    pub web_transport: Vec<SocketAddr>,
    /// How fast WebTransport sends.
    pub congestion_control: CongestionControl,
    /// The bounds to keep.
    pub limits: Limits,
    /// Which pages may read.
    pub origins: AllowedOrigins,
    /// Who may write.
    pub writes: WritePolicy,
    /// What is hosted besides.
    pub web: Option<Web>,
    /// The URLs of other peers, for clients that want some.
    pub announced_peers: Vec<String>,
}

/// A peer that serves until it is [stopped](Self::stop).
pub struct Peer {
    http: Vec<String>,
    web_transport: Vec<String>,
    service: Arc<Service>,
    certificates: Arc<Certificates>,
    shutdown: Shutdown,
}

/// An address could not be listened on.
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
struct Listening<'a> {
    event: &'static str,
    http: &'a str,
    web_transport: Option<&'a str>,
    all_http: &'a [String],
    all_web_transport: &'a [String],
    certificate_hashes: Vec<String>,
    store: String,
    chunks: u64,
    bytes: u64,
}

impl Peer {
    /// Listens with `certificates`, and serves what `source` has. Must be called in a Tokio runtime.
    pub async fn start(
        config: PeerConfig,
        certificates: Certificates,
        source: Arc<dyn ChunkSource>,
    ) -> Result<Self, ListenError> {
        let failed = |flag, address| {
            move |error| ListenError {
                flag,
                address,
                error,
            }
        };
        let certificates = Arc::new(certificates);
        let mut http = HttpFace::new(&certificates);
        let mut http_addresses = Vec::new();
        for address in config.http {
            let address = with_port_of(address, http_addresses.first());
            let listening = http.listen(address).await;
            http_addresses.push(listening.map_err(failed("--http", address))?);
        }
        let mut web_transport = WebTransportFace::default();
        let mut web_transport_addresses = Vec::new();
        for address in config.web_transport {
            let address = with_port_of(address, web_transport_addresses.first());
            let congestion_control = config.congestion_control;
            let listening =
                web_transport.listen(address, &certificates, congestion_control, &config.limits);
            web_transport_addresses.push(listening.map_err(failed("--webtransport", address))?);
        }
        let service = Arc::new(Service::new(
            source,
            Arc::clone(&certificates),
            config.limits,
            config.origins,
            config.writes,
            web_transport_addresses.first().map(SocketAddr::port),
            config.announced_peers,
        ));
        let shutdown = Shutdown::default();
        let peer = Self {
            http: http_addresses
                .iter()
                .map(|address| format!("{}://{address}", http.scheme()))
                .collect(),
            web_transport: web_transport_addresses
                .iter()
                .map(|address| format!("https://{address}{}", protocol::PATH))
                .collect(),
            service: Arc::clone(&service),
            certificates: Arc::clone(&certificates),
            shutdown: shutdown.clone(),
        };
        tokio::spawn({
            let shutdown = shutdown.clone();
            async move {
                tokio::select! {
                    () = certificates.keep_current() => {}
                    () = shutdown.over() => {}
                }
            }
        });
        shutdown.keep(web_transport.run(Arc::clone(&service), shutdown.clone()));
        shutdown.keep(http.run(service, config.web, shutdown.clone()));
        Ok(peer)
    }

    /// The URL of the HTTP face, at its first address.
    pub fn http(&self) -> &str {
        &self.http[0]
    }

    /// The URL of the WebTransport face, at its first address, if it is on.
    pub fn web_transport(&self) -> Option<&str> {
        self.web_transport.first().map(String::as_str)
    }

    /// The hashes that clients pin now.
    pub fn certificate_hashes(&self) -> Vec<String> {
        self.certificates.told().hashes
    }

    /// Reads an authority's certificate again.
    pub fn reload_certificate(&self) {
        self.certificates.reload();
    }

    /// One line of JSON for whoever started the process.
    pub fn listening(&self, store: &Path) -> String {
        let stats = self.service.stats();
        let listening = Listening {
            event: "listening",
            http: self.http(),
            web_transport: self.web_transport(),
            all_http: &self.http,
            all_web_transport: &self.web_transport,
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

    /// Takes no new work, lets what is under way end for a while, then ends it.
    pub async fn stop(self) {
        self.shutdown.run(self.service.limits.shutdown_grace).await;
    }
}

/// The address, on the port of the `first` one where it leaves that open.
fn with_port_of(mut address: SocketAddr, first: Option<&SocketAddr>) -> SocketAddr {
    if let (0, Some(first)) = (address.port(), first) {
        address.set_port(first.port());
    }
    address
}
