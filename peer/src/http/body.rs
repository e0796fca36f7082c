//! The body of a chunk response.

use super::request_timer::RequestTimer;
use crate::source::{ChunkBody, SourceError};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// Sends a chunk's pieces as fast as the connection accepts them.
pub struct ChunkResponseBody {
    pieces: BoxStream<'static, Result<Bytes, SourceError>>,
    remaining: u64,
    /// When the transfer must be complete. Then a slow client is aborted, and its memory is free again.
    deadline: Instant,
    timer: RequestTimer,
}

impl ChunkResponseBody {
    /// `transfer_timeout` limits the whole transfer. `timer` becomes a success after the last byte.
    pub fn new(body: ChunkBody, transfer_timeout: Duration, timer: RequestTimer) -> Self {
        Self {
            deadline: Instant::now() + transfer_timeout,
            remaining: body.length().into(),
            pieces: body.into_pieces(),
            timer,
        }
    }
}

impl Body for ChunkResponseBody {
    type Data = Bytes;
    type Error = SourceError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, SourceError>>> {
        // hyper polls the body whenever the client has read data, so no timer is needed. The connection has its own
        // timeout for clients that read nothing.
        if Instant::now() > self.deadline {
            self.timer.set_outcome("timeout");
            return Poll::Ready(Some(Err(SourceError::Busy)));
        }
        let piece = match ready!(self.pieces.as_mut().poll_next(cx)) {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => {
                tracing::error!(%error, "chunk source failed during a response");
                self.timer.set_outcome("internal");
                return Poll::Ready(Some(Err(error)));
            }
            None => return Poll::Ready(None),
        };
        self.remaining = self.remaining.saturating_sub(piece.len() as u64);
        if self.remaining == 0 {
            self.timer.set_outcome("ok");
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.remaining)
    }
}
