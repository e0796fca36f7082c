//! Writes responses with back-pressure, and with a timeout for clients that stop reading.

use super::request::RequestError;
use crate::connection_slots::Activity;
use crate::limits::DELIVERY_TIMEOUT;
use crate::protocol::ErrorCode;
use crate::readers::Reader;
use bytes::Bytes;
use prometheus_client::metrics::counter::Counter;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use wtransport::SendStream;

/// The sending half of a request's stream.
pub struct ResponseWriter {
    stream: SendStream,
    /// How long a client may stop reading.
    write_timeout: Duration,
    sent: Counter,
    reader: Arc<Reader>,
    activity: Arc<Activity>,
}

impl ResponseWriter {
    /// `sent`, `reader` and `activity` count the bytes that the transport has accepted. The transport accepts bytes as
    /// the client reads.
    pub fn new(
        stream: SendStream,
        write_timeout: Duration,
        sent: Counter,
        reader: Arc<Reader>,
        activity: Arc<Activity>,
    ) -> Self {
        Self {
            stream,
            write_timeout,
            sent,
            reader,
            activity,
        }
    }

    /// Passes all of `bytes` to the transport.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), RequestError> {
        let mut rest = [bytes];
        let _wait = self.activity.wait_for_client();
        while !rest[0].is_empty() {
            // Unlike `write`, this does not copy the bytes.
            let writing = self.stream.quic_stream_mut().write_chunks(&mut rest);
            match timeout(self.write_timeout, writing).await {
                Ok(Ok(written)) => {
                    self.reader.record_progress(written.bytes as u64);
                    self.activity.record_progress(written.bytes as u64);
                    self.sent.inc_by(written.bytes as u64);
                }
                Ok(Err(_)) => return Err(RequestError::Cancelled),
                Err(_elapsed) => return Err(RequestError::Aborted(ErrorCode::Timeout)),
            }
        }
        Ok(())
    }

    /// Marks the end of the response.
    pub fn finish(&mut self) {
        // Fails only if the stream is closed already.
        let _ = self.stream.quic_stream_mut().finish();
    }

    /// Waits until the client has received everything, or has cancelled.
    pub async fn delivered(&self) -> Result<(), RequestError> {
        let _wait = self.activity.wait_for_client();
        match timeout(DELIVERY_TIMEOUT, self.stream.quic_stream().stopped()).await {
            Ok(Ok(None)) => Ok(()),
            Ok(_) => Err(RequestError::Cancelled),
            Err(_elapsed) => Err(RequestError::Aborted(ErrorCode::Timeout)),
        }
    }

    /// Resolves when the client cancels or disconnects.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        let stopped = self.stream.quic_stream().stopped();
        async move {
            // `Ok(None)` follows a finish. All other results mean that the client cancelled.
            if let Ok(None) = stopped.await {
                std::future::pending().await
            }
        }
    }

    /// Discards queued data, and tells the client that the response is aborted.
    pub fn reset(&mut self, code: ErrorCode) {
        // Fails only if the stream is closed already. Then nothing is queued.
        let _ = self.stream.reset(super::session::quic_code(code));
    }
}
