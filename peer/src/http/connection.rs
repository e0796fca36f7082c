//! One HTTP connection.

use super::head_limiter::HeadLimiter;
use super::metered_stream::MeteredStream;
use crate::client::Client;
use crate::limits::{HTTP_READ_BYTES, MAX_HTTP_HEAD_BYTES};
use crate::service::Service;
use crate::shutdown::Shutdown;
use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::error::Error;
use std::pin::pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

/// Serves requests until the client disconnects or idles, or the peer shuts down.
pub async fn serve(
    stream: TcpStream,
    client: Client,
    tls: Option<TlsAcceptor>,
    head: HeadLimiter,
    router: Router,
    service: Arc<Service>,
    shutdown: Shutdown,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let _gauge = service.metrics.http_connection();
    stream.set_nodelay(true)?;
    let write_timeout = service.limits.idle_timeout;
    let stream = MeteredStream::new(stream, write_timeout, head.clone(), &service.metrics);
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
    head: HeadLimiter,
    router: Router,
    service: &Service,
    shutdown: Shutdown,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let router = TowerToHyperService::new(router);
    let answer = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(client.clone());
        if let Some(permit) = head.complete() {
            request.extensions_mut().insert(permit);
        }
        let answer = router.call(request);
        let head = head.clone();
        async move {
            let response = answer.await;
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
        .serve_connection(TokioIo::new(stream), answer);
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => return Ok(ended?),
        () = shutdown.stopping() => connection.as_mut().graceful_shutdown(),
    }
    Ok(connection.await?)
}
