//! One request: reads it from a stream, and writes the response.

use super::response_writer::ResponseWriter;
use super::session::quic_code;
use crate::address::Address;
use crate::client::Client;
use crate::connection_slots::Activity;
use crate::limits::MAX_CHUNK_BYTES;
use crate::metrics::Transport;
use crate::protocol::{self, Decoded, ErrorCode, Request, Status};
use crate::service::{GetOutcome, Service, Unavailable};
use crate::source::ChunkBody;
use bytes::{Buf, Bytes, BytesMut};
use futures_util::StreamExt;
use prometheus_client::metrics::counter::Counter;
use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::time::timeout;
use wtransport::{RecvStream, SendStream};

const TRANSPORT: Transport = Transport::WebTransport;

/// The maximum number of bytes in one read.
const READ_BYTES: usize = 64 * 1024;

/// The client of a session, with the headers that permissions depend on.
pub struct SessionContext {
    /// The client and its limits.
    pub client: Client,
    /// The page's origin, if the client is a browser.
    pub origin: Option<String>,
    /// The `Host` of the session: the name and port that the client connected to.
    pub host: String,
}

/// Why a response is incomplete.
#[derive(Debug)]
pub enum RequestError {
    /// The client cancelled the request.
    Cancelled,
    /// The peer aborts the request with this code.
    Aborted(ErrorCode),
}

impl From<ErrorCode> for RequestError {
    fn from(code: ErrorCode) -> Self {
        Self::Aborted(code)
    }
}

/// Serves one stream. Errors do not affect the session.
pub async fn serve(
    send: SendStream,
    recv: RecvStream,
    context: Arc<SessionContext>,
    service: Arc<Service>,
    activity: Arc<Activity>,
) {
    let _gauge = service.metrics.stream();
    let started = Instant::now();
    let sent = service.metrics.sent(TRANSPORT);
    let reader = Arc::clone(&context.client.reader);
    let shedding = reader.shedding();
    let mut stream = RequestStream {
        send: ResponseWriter::new(
            send,
            service.limits.idle_timeout,
            sent,
            reader,
            Arc::clone(&activity),
        ),
        recv,
        received: BytesMut::new(),
        received_bytes: service.metrics.received(TRANSPORT),
        context,
        service: Arc::clone(&service),
        activity,
        op: "none",
        is_counted: false,
    };
    let cancelled = stream.send.cancelled();
    let result = tokio::select! {
        result = stream.answer() => result,
        () = cancelled => Err(RequestError::Cancelled),
        () = shedding.cancelled() => Err(RequestError::Aborted(ErrorCode::Timeout)),
    };
    // A stream without a valid request counts, too.
    if !stream.is_counted {
        service.admits(&stream.context.client);
    }
    let code = match result {
        Ok(()) => None,
        Err(RequestError::Cancelled) => Some(ErrorCode::NoError),
        Err(RequestError::Aborted(code)) => Some(code),
    };
    if let Some(code) = code {
        stream.send.reset(code);
        tracing::debug!(op = stream.op, ?code, "request ended early");
    }
    stream
        .recv
        .stop(quic_code(code.unwrap_or(ErrorCode::NoError)));
    let outcome = match code {
        None => "ok",
        Some(ErrorCode::NoError) => "cancelled",
        Some(code) => code.name(),
    };
    service
        .metrics
        .record_request(TRANSPORT, stream.op, outcome, started.elapsed());
}

/// The stream of a request, with the state of its response.
pub(super) struct RequestStream {
    pub(super) send: ResponseWriter,
    recv: RecvStream,
    /// Received bytes that are not parsed yet.
    received: BytesMut,
    received_bytes: Counter,
    pub(super) context: Arc<SessionContext>,
    pub(super) service: Arc<Service>,
    activity: Arc<Activity>,
    op: &'static str,
    /// Whether the request was counted for the client's rate.
    is_counted: bool,
}

impl RequestStream {
    async fn answer(&mut self) -> Result<(), RequestError> {
        let reading = timeout(self.service.limits.request_timeout, self.read_request());
        let request = reading.await.unwrap_or(Err(ErrorCode::Timeout.into()))?;
        if !matches!(request, Request::Put { .. }) {
            self.expect_end().await?;
        }
        // From here on, each operation counts its chunks. A session without a complete request counts as idle.
        self.is_counted = true;
        let _active = self.activity.begin_request();
        match request {
            Request::Get(addresses) => self.get(addresses).await?,
            Request::Has(addresses) => {
                let statuses = self.service.has_all(&self.context.client, addresses).await;
                let answer = protocol::has_response(statuses);
                self.send.write(answer.into()).await?;
            }
            Request::Put { token, length } => {
                let (status, address) = self.put(&token, length).await?;
                let answer = protocol::put_response(status, address);
                self.send.write(Bytes::copy_from_slice(&answer)).await?;
            }
            Request::Info => {
                // The response has no status, so a refusal resets the stream.
                if !self.service.admits(&self.context.client) {
                    return Err(ErrorCode::Limit.into());
                }
                let answer = protocol::info_response(&self.service.info());
                self.send.write(answer.into()).await?;
            }
            Request::Open(address, range) => self.open(address, range).await?,
        }
        self.send.finish();
        self.send.delivered().await
    }

    async fn get(&mut self, addresses: Vec<Address>) -> Result<(), RequestError> {
        let mut answers = pin!(self.service.get_all(&self.context.client, addresses));
        while let Some(outcome) = answers.next().await {
            self.send_answer(outcome, |_| {}).await?;
        }
        Ok(())
    }

    /// Sends the response for one chunk. Also passes its bytes to `on_bytes`.
    pub(super) async fn send_answer(
        &mut self,
        outcome: GetOutcome,
        on_bytes: impl FnMut(&[u8]),
    ) -> Result<(), RequestError> {
        match outcome {
            GetOutcome::Found(body) => {
                let head = protocol::get_header(Status::Ok, body.length());
                self.send.write(Bytes::copy_from_slice(&head)).await?;
                let transfer_timeout = self.service.limits.transfer_timeout(body.length());
                let sending = timeout(transfer_timeout, self.send_pieces(body, on_bytes));
                sending.await.unwrap_or(Err(ErrorCode::Timeout.into()))
            }
            GetOutcome::Unavailable(Unavailable {
                status,
                retry_after,
            }) => {
                let head = protocol::unavailable_header(status, retry_after);
                self.send.write(Bytes::copy_from_slice(&head)).await
            }
        }
    }

    async fn send_pieces(
        &mut self,
        body: ChunkBody,
        mut on_bytes: impl FnMut(&[u8]),
    ) -> Result<(), RequestError> {
        let mut pieces = body.into_pieces();
        loop {
            match timeout(self.service.limits.request_timeout, pieces.next()).await {
                Ok(Some(Ok(piece))) => {
                    on_bytes(&piece);
                    self.send.write(piece).await?;
                }
                Ok(None) => return Ok(()),
                Ok(Some(Err(error))) => {
                    tracing::error!(%error, "chunk source failed during a response");
                    return Err(ErrorCode::Internal.into());
                }
                Err(_elapsed) => return Err(ErrorCode::Internal.into()),
            }
        }
    }

    /// Receives a chunk from the client. Does not read the bytes of a refused write.
    async fn put(
        &mut self,
        token: &[u8],
        length: u32,
    ) -> Result<(Status, Option<Address>), RequestError> {
        let context = &self.context;
        if !self.service.admits(&context.client) {
            return Ok((Status::Busy, None));
        }
        let allowed = self.service.may_write(
            TRANSPORT,
            context.origin.as_deref(),
            &context.host,
            Some(token),
        );
        if allowed.is_err() {
            return Ok((Status::Refused, None));
        }
        if length > MAX_CHUNK_BYTES {
            self.service
                .metrics
                .count_refused_write(TRANSPORT, Status::TooLarge.name());
            return Ok((Status::TooLarge, None));
        }
        let Some(permit) = self.service.acquire_chunk(&context.client).await else {
            return Ok((Status::Busy, None));
        };
        let reading = timeout(
            self.service.limits.transfer_timeout(length),
            self.read_body(length as usize),
        );
        let bytes = reading.await.unwrap_or(Err(ErrorCode::Timeout.into()))?;
        let chunk = self.service.hash(bytes).await;
        let address = chunk.address();
        match self.service.put(TRANSPORT, chunk, permit).await {
            Ok(_) => Ok((Status::Ok, Some(address))),
            Err(unavailable) => Ok((unavailable.status, Some(address))),
        }
    }

    async fn read_request(&mut self) -> Result<Request, RequestError> {
        loop {
            if let Decoded::Complete(request, length) = protocol::decode(&self.received)? {
                self.received.advance(length);
                self.op = request.name();
                return Ok(request);
            }
            if !self.read_more().await? {
                return Err(ErrorCode::BadRequest.into());
            }
        }
    }

    async fn read_body(&mut self, length: usize) -> Result<Bytes, RequestError> {
        // The client decides how long the memory for its bytes is in use.
        let _held = self.context.client.reader.hold(length);
        self.received
            .reserve(length.saturating_sub(self.received.len()));
        while self.received.len() < length {
            let before = self.received.len();
            if !self.read_more().await? {
                return Err(ErrorCode::BadRequest.into());
            }
            let uploaded = self.received.len() - before;
            self.context.client.reader.record_progress(uploaded as u64);
        }
        let body = self.received.split_to(length).freeze();
        self.expect_end().await?;
        Ok(body)
    }

    /// Checks that the client sends nothing more and closes its side.
    async fn expect_end(&mut self) -> Result<(), RequestError> {
        let request_timeout = self.service.limits.request_timeout;
        let ending = async {
            while self.received.is_empty() {
                if !self.read_more().await? {
                    return Ok(());
                }
            }
            Err(ErrorCode::BadRequest.into())
        };
        timeout(request_timeout, ending)
            .await
            .unwrap_or(Err(ErrorCode::Timeout.into()))
    }

    /// Reads more bytes into `received`. `false` if the client has closed its side.
    async fn read_more(&mut self) -> Result<bool, RequestError> {
        let reading = self.recv.quic_stream_mut().read_chunk(READ_BYTES, true);
        let Some(chunk) = reading.await.map_err(|_| RequestError::Cancelled)? else {
            return Ok(false);
        };
        self.received_bytes.inc_by(chunk.bytes.len() as u64);
        self.received.extend_from_slice(&chunk.bytes);
        Ok(true)
    }
}
