//! A chunk as the body of a response.

use super::measure::Measured;
use crate::memory::ChunkRoom;
use crate::source::{ChunkBody, SourceError};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use http_body::{Body, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// Sends a chunk's pieces as the connection takes them.
pub struct AnswerBody {
    pieces: BoxStream<'static, Result<Bytes, SourceError>>,
    left: u64,
    /// When a client that takes it slowly is given up, so that the room is free again.
    deadline: Instant,
    measured: Measured,
    _room: ChunkRoom,
}

impl AnswerBody {
    /// `patience` is for all of it; `measured` is a success once the last byte was taken.
    pub fn new(body: ChunkBody, room: ChunkRoom, patience: Duration, measured: Measured) -> Self {
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
        // Polled whenever the client took some, so no timer is needed; one that takes none at all is
        // dropped by the connection.
        if Instant::now() > self.deadline {
            self.measured.set("timeout");
            return Poll::Ready(Some(Err(SourceError::Busy)));
        }
        let piece = match ready!(self.pieces.as_mut().poll_next(cx)) {
            Some(Ok(piece)) => piece,
            Some(Err(error)) => {
                tracing::error!(%error, "an answer broke off");
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
