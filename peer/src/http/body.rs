//! The body of a chunk response.

use super::measure::Measured;
use crate::memory::ChunkPermit;
use crate::source::{ChunkBody, SourceError};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// Sends a chunk's pieces as fast as the connection accepts them.
pub struct AnswerBody {
    pieces: BoxStream<'static, Result<Bytes, SourceError>>,
    left: u64,
    /// When the transfer must be complete. Then a slow client is aborted, and its memory is free again.
    deadline: Instant,
    measured: Measured,
    _room: ChunkPermit,
}

impl AnswerBody {
    /// `patience` limits the whole transfer. `measured` becomes a success after the last byte.
    pub fn new(body: ChunkBody, room: ChunkPermit, patience: Duration, measured: Measured) -> Self {
        Self {
            deadline: Instant::now() + patience,
            left: body.length().into(),
            pieces: body.into_pieces(),
            measured,
            _room: room,
        }
    }
}

impl Body for AnswerBody {
    type Data = Bytes;
    type Error = SourceError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, SourceError>>> {
        // hyper polls the body whenever the client has read data, so no timer is needed. The connection has its own
        // timeout for clients that read nothing.
        if Instant::now() > self.deadline {
            self.measured.set("timeout");
            return Poll::Ready(Some(Err(SourceError::Busy)));
        }
        let piece = match ready!(self.pieces.as_mut().poll_next(cx)) {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => {
                tracing::error!(%error, "chunk source failed during a response");
                self.measured.set("internal");
                return Poll::Ready(Some(Err(error)));
            }
            None => return Poll::Ready(None),
        };
        self.left = self.left.saturating_sub(piece.len() as u64);
        if self.left == 0 {
            self.measured.set("ok");
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
