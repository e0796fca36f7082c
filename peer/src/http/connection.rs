//! One HTTP connection.

use crate::asker::Asker;
use crate::limits::MAX_HTTP_HEAD_BYTES;
use crate::metrics::{Face, Metrics};
use crate::service::Service;
use crate::shutdown::Shutdown;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use prometheus_client::metrics::counter::Counter;
use std::error::Error;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep, timeout};
use tokio_rustls::TlsAcceptor;

/// Serves requests until the client leaves or idles, or the peer shuts down.
pub async fn serve(
    stream: TcpStream,
    asker: Asker,
    tls: Option<TlsAcceptor>,
    router: Router,
    service: Arc<Service>,
    shutdown: Shutdown,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let _counted = service.metrics.http_connection();
    stream.set_nodelay(true)?;
    let stream = Watched::new(stream, service.limits.idle_timeout, &service.metrics);
    match tls {
        None => serve_requests(stream, asker, router, &service, shutdown).await,
        Some(tls) => {
            let handshake = timeout(service.limits.request_timeout, tls.accept(stream));
            serve_requests(handshake.await??, asker, router, &service, shutdown).await
        }
    }
}

async fn serve_requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    asker: Asker,
    router: Router,
    service: &Service,
    shutdown: Shutdown,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let router = TowerToHyperService::new(router);
    let answering = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(asker.clone());
        router.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // It runs from the end of the request before, so it is the idle timeout as well.
        .header_read_timeout(service.limits.idle_timeout)
        .max_header_size(MAX_HTTP_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), answering);
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return Ok(ended?),
        () = shutdown.begun() => connection.as_mut().graceful_shutdown(),
    }
    Ok(connection.await?)
}

/// A connection whose bytes are counted, and that breaks when the client takes none for too long.
struct Watched {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write waits.
    waiting: Option<Pin<Box<Sleep>>>,
    sent: Counter,
    received: Counter,
}

impl Watched {
    fn new(stream: TcpStream, patience: Duration, metrics: &Metrics) -> Self {
        Self {
            stream,
            patience,
            waiting: None,
            sent: metrics.sent(Face::Http),
            received: metrics.received(Face::Http),
        }
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.waiting = None;
            return poll;
        }
        let patience = self.patience;
        let waiting = self
            .waiting
            .get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(waiting.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        self.received.inc_by((buf.filled().len() - before) as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, buf);
        let written = ready!(self.watch(cx, poll))?;
        self.sent.inc_by(written as u64);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        let written = ready!(self.watch(cx, poll))?;
        self.sent.inc_by(written as u64);
        Poll::Ready(Ok(written))
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
