//! One HTTP connection.

use super::head::HeadMeter;
use crate::client::Client;
use crate::limits::{HTTP_READ_BYTES, MAX_HTTP_HEAD_BYTES};
use crate::metrics::{Metrics, Transport};
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

/// Serves requests until the client disconnects or idles, or the peer shuts down.
pub async fn serve(
    stream: TcpStream,
    client: Client,
    tls: Option<TlsAcceptor>,
    head: HeadMeter,
    router: Router,
    service: Arc<Service>,
    shutdown: Shutdown,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let _counted = service.metrics.http_connection();
    stream.set_nodelay(true)?;
    let patience = service.limits.idle_timeout;
    let stream = Watched::new(stream, patience, head.clone(), &service.metrics);
    match tls {
        None => serve_requests(stream, client, head, router, &service, shutdown).await,
        Some(tls) => {
            let handshake = timeout(service.limits.request_timeout, tls.accept(stream));

            let stream = handshake.await??;
            head.begin();
            serve_requests(stream, client, head, router, &service, shutdown).await
        }
    }
}

async fn serve_requests(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    client: Client,
    head: HeadMeter,
    router: Router,
    service: &Service,
    shutdown: Shutdown,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let router = TowerToHyperService::new(router);
    let answering = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(client.clone());
        if let Some(room) = head.end() {
            request.extensions_mut().insert(room);
        }
        let answering = router.call(request);
        let head = head.clone();
        async move {
            let response = answering.await;
            head.begin();
            response
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        // The timer starts at the end of the previous request, so this is also the idle timeout.
        .header_read_timeout(service.limits.idle_timeout)
        .max_header_size(MAX_HTTP_HEAD_BYTES)
        .max_buf_size(MAX_HTTP_HEAD_BYTES + HTTP_READ_BYTES)
        .serve_connection(TokioIo::new(stream), answering);
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return Ok(ended?),
        () = shutdown.stopping() => connection.as_mut().graceful_shutdown(),
    }
    Ok(connection.await?)
}

/// A TCP stream that counts its bytes, and fails if the client stops reading for too long.
struct Watched {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write is blocked.
    waiting: Option<Pin<Box<Sleep>>>,
    head: HeadMeter,
    sent: Counter,
    received: Counter,
}

impl Watched {
    fn new(stream: TcpStream, patience: Duration, head: HeadMeter, metrics: &Metrics) -> Self {
        Self {
            stream,
            patience,
            waiting: None,
            head,
            sent: metrics.sent(Transport::Http),
            received: metrics.received(Transport::Http),
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
        ready!(self.head.poll_room(cx));
        let most = buf.remaining().min(HTTP_READ_BYTES);
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(most));
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        let length = part.filled().len();
        buf.advance(length);
        self.head.received(length);
        self.received.inc_by(length as u64);
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
