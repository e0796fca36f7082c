//! The HTTP server: chunks at `/chunk/…`, the peer's own endpoints at `/-/…`, and the hosted web app.

mod body;
mod chunk;
mod connection;
mod cors;
mod error;
mod head_limiter;
mod metered_stream;
mod pointer;
mod request_timer;
mod routes;
mod web;

pub use web::{Web, WebFolder};

use crate::certificates::Certificates;
use crate::limits::MAX_LONG_HTTP_HEADS;
use crate::service::Service;
use crate::shutdown::Shutdown;
use axum::Router;
use head_limiter::HeadLimiter;
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_rustls::TlsAcceptor;

/// The listening sockets of the HTTP server.
pub struct HttpServer {
    listeners: Vec<TcpListener>,
    tls: Option<TlsAcceptor>,
}

impl HttpServer {
    /// Does not listen yet. Uses TLS if a CA signed the certificate.
    pub fn new(certificates: &Certificates) -> Self {
        let tls = certificates.is_ca_signed().then(|| {
            let config = certificates.resolver().tls(&[b"http/1.1"]);
            TlsAcceptor::from(Arc::new(config))
        });
        Self {
            listeners: Vec::new(),
            tls,
        }
    }

    /// Also listens on this TCP address. Returns the bound address, whose port is known even if `address` has port 0.
    pub async fn listen(&mut self, address: SocketAddr) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        self.listeners.push(listener);
        Ok(address)
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        match self.tls {
            None => "http",
            Some(_) => "https",
        }
    }

    /// Accepts connections until the shutdown begins. Open connections continue until it is over.
    pub async fn run(self, service: Arc<Service>, web: Option<Web>, shutdown: Shutdown) {
        let router: Router = routes::router(Arc::clone(&service), web);
        let permits = Arc::new(Semaphore::new(service.limits.http_connections));
        let long_heads = Arc::new(Semaphore::new(MAX_LONG_HTTP_HEADS));
        loop {
            let accepting = async {
                let permit = Arc::clone(&permits).acquire_owned().await;
                let permit = permit.expect("the semaphore is never closed");
                (permit, self.accept().await)
            };
            let (permit, accepted) = tokio::select! {
                accepted = accepting => accepted,
                () = shutdown.stopping() => return,
            };
            match accepted {
                Ok((stream, remote)) => {
                    let serving = connection::serve(
                        stream,
                        service.memory.http_client(remote.ip()),
                        self.tls.clone(),
                        HeadLimiter::new(Arc::clone(&long_heads)),
                        router.clone(),
                        Arc::clone(&service),
                        shutdown.clone(),
                    );
                    shutdown.track(async move {
                        if let Err(error) = serving.await {
                            tracing::debug!(%remote, %error, "connection ended");
                        }
                        drop(permit);
                    });
                }
                Err(error) => {
                    // For example, the process has too many open files. This passes when other connections close.
                    tracing::warn!(%error, "accepting a connection failed");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// The next connection of any listener.
    async fn accept(&self) -> io::Result<(TcpStream, SocketAddr)> {
        poll_fn(|cx| {
            let mut accepting = self
                .listeners
                .iter()
                .map(|listener| listener.poll_accept(cx));
            accepting.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await
    }
}
