//! Accepts connections and starts their tasks.

use super::connection;
use super::error::HttpError;
use super::refusal;
use super::routes::Routes;
use crate::connection_slots::{ConnectionSlots, Refusal, Slot};
use crate::limits::{MAX_LINGERING_REFUSALS, MAX_LONG_HTTP_HEADS};
use crate::metrics::Transport;
use crate::open_files;
use crate::proxies::TrustedProxies;
use crate::service::Service;
use crate::shutdown::Shutdown;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::sleep;
use tokio_rustls::TlsAcceptor;

/// Routes, and the rules for their connections. Several listeners may share it.
pub struct Endpoint {
    /// The routes.
    pub routes: Routes,
    /// The rules for connections.
    pub admission: Admission,
    /// The chunks and limits.
    pub service: Arc<Service>,
    /// The permits for long request heads.
    pub long_heads: Arc<Semaphore>,
    /// Ends the connections.
    pub shutdown: Shutdown,
    refusals: Arc<Semaphore>,
}

/// The rules for connections.
pub enum Admission {
    /// Clients, within the limits of their networks.
    Clients {
        /// TLS, if the peer has a certificate for it.
        tls: Option<TlsAcceptor>,
        /// The proxies that report their clients' addresses.
        proxies: TrustedProxies,
    },
    /// The operator's tools, within these slots.
    Operator(Arc<ConnectionSlots>),
}

impl Endpoint {
    /// No connection is open yet.
    pub fn new(
        routes: Routes,
        admission: Admission,
        service: Arc<Service>,
        shutdown: Shutdown,
    ) -> Arc<Self> {
        Arc::new(Self {
            routes,
            admission,
            service,
            long_heads: Arc::new(Semaphore::new(MAX_LONG_HTTP_HEADS)),
            shutdown,
            refusals: Arc::new(Semaphore::new(MAX_LINGERING_REFUSALS)),
        })
    }

    /// Accepts the connections of this listener forever. Never waits for a slot, so that the peer answers every client.
    pub async fn accept(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, remote)) => self.start(stream, remote.ip().to_canonical()),
                Err(error) if open_files::are_exhausted(&error) => {
                    let connections = self.service.access.lower_http_connections();
                    tracing::warn!(%error, connections, "lowered the number of HTTP connections");
                    // The closed connections end in their own tasks.
                    sleep(Duration::from_millis(20)).await;
                }
                Err(error) => tracing::warn!(%error, "accepting a connection failed"),
            }
        }
    }

    fn start(self: &Arc<Self>, stream: TcpStream, remote: IpAddr) {
        let slot = match self.slot(remote) {
            Ok(slot) => slot,
            Err(refusal) => return self.refuse(stream, remote, refusal),
        };
        let endpoint = Arc::clone(self);
        let serving = async move {
            if let Err(error) = connection::serve(stream, remote, slot, endpoint).await {
                tracing::debug!(%remote, %error, "connection ended");
            }
        };
        match self.admission {
            Admission::Clients { .. } => self.shutdown.track(serving),
            Admission::Operator(_) => self.shutdown.track_until_terminating(serving),
        }
    }

    /// Resolves when connections must take no new requests. The operator can ask until the end.
    pub async fn stopping(&self) {
        match self.admission {
            Admission::Clients { .. } => self.shutdown.stopping().await,
            Admission::Operator(_) => self.shutdown.terminating().await,
        }
    }

    fn slot(&self, remote: IpAddr) -> Result<Slot, Refusal> {
        match &self.admission {
            Admission::Clients { proxies, .. } => {
                let access = &self.service.access;
                access.accept_http(remote, proxies.contains(remote))
            }
            Admission::Operator(slots) => slots.take(None),
        }
    }

    /// Tells the client that the peer does not serve this connection, and closes it.
    pub fn refuse(&self, stream: TcpStream, client: IpAddr, refusal: Refusal) {
        let metrics = &self.service.metrics;
        metrics.count_refused_connection(Transport::Http, refusal.name());
        tracing::debug!(%client, reason = refusal.name(), "connection refused");
        // A handshake would cost more than the connection.
        let has_tls = matches!(&self.admission, Admission::Clients { tls: Some(_), .. });
        let permit = Arc::clone(&self.refusals).try_acquire_owned();
        let (Ok(permit), false) = (permit, has_tls) else {
            return;
        };
        let error = match refusal {
            Refusal::Network | Refusal::Rate => HttpError::Rate,
            Refusal::TotalRate | Refusal::Full => HttpError::Busy,
        };
        self.shutdown.track(async move {
            refusal::send(stream, error).await;
            drop(permit);
        });
    }
}
