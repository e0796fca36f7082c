//! The HTTP face: chunks at `/chunk/…`, the peer's own endpoints at `/-/…`, and the hosted PWA.

mod body;
mod chunk;
mod connection;
mod cors;
mod error;
mod measure;
mod pointer;
mod routes;
mod web;

pub use web::{Web, WebFolder};

use crate::certificates::Certificates;
use crate::service::Service;
use crate::shutdown::Shutdown;
use axum::Router;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// The face, listening.
pub struct HttpFace {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
}

impl HttpFace {
    /// Listens on the TCP `address`; with TLS if an authority signed the certificate.
    pub async fn bind(address: SocketAddr, certificates: &Certificates) -> io::Result<Self> {
        let tls = certificates.is_from_authority().then(|| {
            let config = certificates.resolver().tls(&[b"http/1.1"]);
            TlsAcceptor::from(Arc::new(config))
        });
        Ok(Self {
            listener: TcpListener::bind(address).await?,
            tls,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        match self.tls {
            None => "http",
            Some(_) => "https",
        }
    }

    /// Serves until the shutdown begins; connections go on until it is over.
    pub async fn run(self, service: Arc<Service>, web: Option<Web>, shutdown: Shutdown) {
        let router: Router = routes::router(Arc::clone(&service), web);
        let places = Arc::new(Semaphore::new(service.limits.http_connections));
        loop {
            let accepting = async {
                let place = Arc::clone(&places).acquire_owned().await;
                let place = place.expect("the semaphore is never closed");
                (place, self.listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                accepted = accepting => accepted,
                () = shutdown.begun() => return,
            };
            match accepted {
                Ok((stream, remote)) => {
                    let serving = connection::serve(
                        stream,
                        service.memory.connection(remote.ip()),
                        self.tls.clone(),
                        router.clone(),
                        Arc::clone(&service),
                        shutdown.clone(),
                    );
                    shutdown.track(async move {
                        if let Err(error) = serving.await {
                            tracing::debug!(%remote, %error, "connection ended");
                        }
                        drop(place);
                    });
                }
                Err(error) => {
                    // Such as too many open files: it passes when others close theirs.
                    tracing::warn!(%error, "no connection accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }
}
