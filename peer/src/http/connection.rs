//! One HTTP connection.

use super::HTTP2_ALPN;
use super::endpoint::{Admission, Endpoint};
use super::head_limiter::HeadLimiter;
use super::http2_heads::Http2Heads;
use super::lingering::Lingering;
use super::metered_stream::MeteredStream;
use super::request_context::RequestContext;
use super::stream_reset;
use crate::certificates::ACME_ALPN;
use crate::connection_slots::Slot;
use crate::limits::{
    HTTP_READ_BYTES, HTTP2_RECEIVE_WINDOW_BYTES, HTTP2_RESETS, HTTP2_SEND_BUFFER_BYTES,
    HTTP2_STREAMS, MAX_HTTP_HEAD_BYTES, RESERVED_CONNECTION_TIMEOUT,
};
use crate::proxies::{ProxySource, read_header};
use crate::shutdown::Shutdown;
use hyper::rt::Executor;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use std::error::Error;
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

type Outcome = Result<(), Box<dyn Error + Send + Sync>>;

/// Serves requests until the client disconnects or idles, another client needs the slot or the memory, or the peer shuts
/// down.
pub async fn serve(
    stream: TcpStream,
    remote: IpAddr,
    slot: Slot,
    endpoint: Arc<Endpoint>,
) -> Outcome {
    let activity = Arc::clone(slot.activity());
    tokio::select! {
        outcome = serve_client(stream, remote, &slot, &endpoint) => outcome,
        () = activity.evicted() => Err("another client needs the slot or the memory".into()),
    }
}

async fn serve_client(
    mut stream: TcpStream,
    remote: IpAddr,
    slot: &Slot,
    endpoint: &Arc<Endpoint>,
) -> Outcome {
    let service = &endpoint.service;
    stream.set_nodelay(true)?;
    let Admission::Clients { tls, proxies } = &endpoint.admission else {
        return Connection::new(endpoint, slot, remote).serve(stream).await;
    };
    let _gauge = service.metrics.http_connection();
    let mut client = remote;
    if proxies.proxy_protocol && proxies.contains(remote) {
        let reading = timeout(service.limits.request_timeout, read_header(&mut stream));
        if let ProxySource::Client(ip) = reading.await?? {
            client = ip;
        }
        let is_client = !proxies.contains(client);
        if is_client && let Err(refusal) = service.access.assign_http(slot, client) {
            endpoint.refuse(stream, client, refusal);
            return Ok(());
        }
    }
    let connection = Connection::new(endpoint, slot, client);
    match tls {
        None => connection.serve(stream).await,
        Some(tls) => connection.serve_tls(stream, tls).await,
    }
}

/// A connection whose client is known.
struct Connection<'a> {
    context: Arc<RequestContext>,
    endpoint: &'a Endpoint,
    slot: &'a Slot,
    head: HeadLimiter,
}

impl<'a> Connection<'a> {
    fn new(endpoint: &'a Arc<Endpoint>, slot: &'a Slot, client: IpAddr) -> Self {
        Self {
            context: Arc::new(RequestContext::new(endpoint, slot, client)),
            head: HeadLimiter::new(Arc::clone(&endpoint.long_heads)),
            endpoint,
            slot,
        }
    }

    fn metered(&self, stream: TcpStream) -> MeteredStream {
        MeteredStream::new(
            stream,
            self.endpoint.service.limits.idle_timeout,
            self.head.clone(),
            Arc::clone(self.context.reader()),
            Arc::clone(self.slot.activity()),
            &self.endpoint.service.metrics,
        )
    }

    async fn serve(self, stream: TcpStream) -> Outcome {
        let stream = self.metered(stream);
        self.serve_http1(stream).await
    }

    async fn serve_tls(self, stream: TcpStream, tls: &tokio_rustls::TlsAcceptor) -> Outcome {
        let accepting = tls.accept(self.metered(stream));
        let stream = timeout(self.request_timeout(), accepting).await??;
        match stream.get_ref().1.alpn_protocol() {
            Some(HTTP2_ALPN) => self.serve_http2(stream).await,
            // The handshake was all that the authority wanted.
            Some(ACME_ALPN) => Ok(()),
            _ => {
                self.head.begin();
                self.serve_http1(stream).await
            }
        }
    }

    /// How long a request may take to arrive.
    fn request_timeout(&self) -> Duration {
        match self.slot.is_reserved() {
            true => RESERVED_CONNECTION_TIMEOUT,
            false => self.endpoint.service.limits.request_timeout,
        }
    }

    /// How long the connection may idle.
    fn idle_timeout(&self) -> Duration {
        match self.slot.is_reserved() {
            true => RESERVED_CONNECTION_TIMEOUT,
            false => self.endpoint.service.limits.idle_timeout,
        }
    }

    async fn serve_http1(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Outcome {
        let (context, head) = (Arc::clone(&self.context), self.head.clone());
        let answer =
            service_fn(move |request| Arc::clone(&context).answer_http1(request, head.clone()));
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            // The timer starts at the end of the previous request, so this is also the idle timeout.
            .header_read_timeout(self.idle_timeout())
            .keep_alive(!self.slot.is_reserved())
            .max_header_size(MAX_HTTP_HEAD_BYTES)
            .max_buf_size(MAX_HTTP_HEAD_BYTES + HTTP_READ_BYTES)
            .serve_connection(TokioIo::new(stream), answer);
        let mut connection = pin!(connection);
        tokio::select! {
            ended = connection.as_mut() => return Ok(ended?),
            () = self.endpoint.stopping() => connection.as_mut().graceful_shutdown(),
        }
        Ok(connection.await?)
    }

    async fn serve_http2(
        self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    ) -> Outcome {
        self.slot.activity().set_multiplexed();
        // `Http2Heads` takes the place of the limiter, which cannot tell heads from bodies here.
        self.head.complete();
        let heads = Http2Heads::new(
            Lingering::new(stream),
            Arc::clone(&self.endpoint.long_heads),
            self.request_timeout(),
        );
        let context = Arc::clone(&self.context);
        let answer = service_fn(move |request| Arc::clone(&context).answer_http2(request));
        let [stream_window, connection_window] = HTTP2_RECEIVE_WINDOW_BYTES;
        let max_head = u32::try_from(MAX_HTTP_HEAD_BYTES).expect("1 MiB");
        let connection = http2::Builder::new(RequestTasks(self.endpoint.shutdown.clone()))
            .timer(TokioTimer::new())
            .max_concurrent_streams(HTTP2_STREAMS)
            .max_header_list_size(max_head)
            .max_send_buf_size(HTTP2_SEND_BUFFER_BYTES)
            .max_pending_accept_reset_streams(HTTP2_RESETS)
            .max_local_error_reset_streams(HTTP2_RESETS)
            .initial_stream_window_size(stream_window)
            .initial_connection_window_size(connection_window)
            .serve_connection(TokioIo::new(heads), answer);
        let mut connection = pin!(connection);
        let mut is_closing = false;
        let opened_at = Instant::now();
        let mut check = interval(self.idle_timeout() / 4);
        loop {
            tokio::select! {
                ended = connection.as_mut() => return Ok(ended?),
                () = self.endpoint.stopping(), if !is_closing => {
                    connection.as_mut().graceful_shutdown();
                    is_closing = true;
                }
                _ = check.tick() => {
                    self.context.unread.reset_after(self.endpoint.service.limits.idle_timeout);
                    let is_over = |since: Instant| since.elapsed() >= self.idle_timeout();
                    let is_idle = self.slot.activity().idle_since().is_some_and(is_over);
                    // A reserved connection only gets short answers. The client's next one may get all.
                    if is_idle || self.slot.is_reserved() && is_over(opened_at) {
                        // A client that goes on after the first warning does not read it.
                        if is_closing {
                            return Ok(());
                        }
                        connection.as_mut().graceful_shutdown();
                        is_closing = true;
                    }
                }
            }
        }
    }
}

/// Runs the requests of HTTP/2 connections. They end with the shutdown.
#[derive(Clone)]
struct RequestTasks(Shutdown);

impl<F: Future<Output = ()> + Send + 'static> Executor<F> for RequestTasks {
    fn execute(&self, request: F) {
        self.0.track(stream_reset::run(request));
    }
}
