//! Sending on a stream, with back-pressure, and with an eye on clients that stop taking.

use super::request::End;
use crate::limits::DELIVERY_TIMEOUT;
use crate::protocol::ErrorCode;
use bytes::Bytes;
use prometheus_client::metrics::counter::Counter;
use std::time::Duration;
use tokio::time::timeout;
use wtransport::SendStream;

/// The sending half of a request's stream.
pub struct Sending {
    stream: SendStream,
    /// How long a client may take nothing.
    patience: Duration,
    sent: Counter,
}

impl Sending {
    /// `sent` counts bytes when the transport takes them, which it does as the client reads.
    pub fn new(stream: SendStream, patience: Duration, sent: Counter) -> Self {
        Self {
            stream,
            patience,
            sent,
        }
    }

    /// Hands all of `bytes` to the transport.
    pub async fn write(&mut self, bytes: Bytes) -> Result<(), End> {
        let mut rest = [bytes];
        while !rest[0].is_empty() {
            // Not `write`: the transport keeps a reference to the bytes instead of copying them.
            let writing = self.stream.quic_stream_mut().write_chunks(&mut rest);
            match timeout(self.patience, writing).await {
                Ok(Ok(written)) => self.sent.inc_by(written.bytes as u64),
                Ok(Err(_)) => return Err(End::Cancelled),
                Err(_late) => return Err(End::Broken(ErrorCode::Timeout)),
            };
        }
        Ok(())
    }

    /// Tells the client that this was all.
    pub fn finish(&mut self) {
        // Fails only where the stream is closed already, and then nobody listens.
        let _ = self.stream.quic_stream_mut().finish();
    }

    /// Waits until the client has everything, or has cancelled.
    pub async fn delivered(&self) -> Result<(), End> {
        match timeout(DELIVERY_TIMEOUT, self.stream.quic_stream().stopped()).await {
            Ok(Ok(None)) => Ok(()),
            Ok(_) => Err(End::Cancelled),
            Err(_late) => Err(End::Broken(ErrorCode::Timeout)),
        }
    }

    /// Resolves once the client says that it wants no more, or is gone.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        let stopped = self.stream.quic_stream().stopped();
        async move {
            // Anything but `Ok(None)`, which follows a finish.
            if let Ok(None) = stopped.await {
                std::future::pending().await
            }
        }
    }

    /// Drops what is queued, and tells the client that no more comes.
    pub fn reset(&mut self, code: ErrorCode) {
        // Fails only where the stream is closed already, and then nothing is queued.
        let _ = self.stream.reset(super::session::var_int(code));
    }
}
