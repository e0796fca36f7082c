//! Limits the memory and the time for the request heads of an HTTP/2 connection, like [`HeadLimiter`] in HTTP/1, and the
//! number of its frames.
//!
//! A head may come in many frames. The HTTP/2 library holds them until the last one has arrived.
//!
//! [`HeadLimiter`]: super::head_limiter::HeadLimiter

use super::http2_frames::Frames;
use crate::frame_budget::FrameBudget;
use crate::limits::{
    HTTP_READ_BYTES, HTTP2_FRAME_BURST, HTTP2_FRAMES_PER_SECOND, SHORT_HTTP_HEAD_BYTES,
};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Sleep, sleep};
use tokio_util::sync::PollSemaphore;

/// A connection's stream that reads long heads only with a permit, and fails if a head takes too long to arrive.
pub struct Http2Heads<S> {
    stream: S,
    frames: Frames,
    permits: PollSemaphore,
    permit: Option<OwnedSemaphorePermit>,
    head_timeout: Duration,
    /// Runs while a head is incomplete.
    timer: Option<Pin<Box<Sleep>>>,
    budget: FrameBudget,
    /// Runs while the client sends too many frames.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S> Http2Heads<S> {
    /// `permits` limits the long heads of all connections.
    pub fn new(stream: S, permits: Arc<Semaphore>, head_timeout: Duration) -> Self {
        Self {
            stream,
            frames: Frames::new(),
            permits: PollSemaphore::new(permits),
            permit: None,
            head_timeout,
            timer: None,
            budget: FrameBudget::new(HTTP2_FRAME_BURST, HTTP2_FRAMES_PER_SECOND),
            pause: None,
        }
    }

    /// Ready when the client may send more frames.
    fn poll_budget(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            match self.budget.pause(Instant::now()) {
                None => return Poll::Ready(()),
                Some(pause) => self.pause = Some(Box::pin(sleep(pause))),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Http2Heads<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.frames.are_in_head() {
            let timer = this
                .timer
                .get_or_insert_with(|| Box::pin(sleep(this.head_timeout)));
            if timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
        }
        if this.frames.head_bytes >= SHORT_HTTP_HEAD_BYTES && this.permit.is_none() {
            this.permit = ready!(this.permits.poll_acquire(cx));
        }
        ready!(this.poll_budget(cx));
        let max_bytes = buf.remaining().min(HTTP_READ_BYTES);
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(max_bytes));
        ready!(Pin::new(&mut this.stream).poll_read(cx, &mut part))?;
        let frames_before = this.frames.count;
        let uploaded_before = this.frames.uploaded_bytes;
        let has_ended_head = this.frames.read(part.filled());
        if this.frames.are_refused {
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        this.budget.spend(this.frames.count - frames_before);
        this.budget
            .earn(this.frames.uploaded_bytes - uploaded_before);
        let length = part.filled().len();
        buf.advance(length);
        if has_ended_head {
            this.timer = None;
        }
        if this.frames.head_bytes < SHORT_HTTP_HEAD_BYTES {
            this.permit = None;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Http2Heads<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, buf))?;
        self.budget.earn(written);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = ready!(Pin::new(&mut self.stream).poll_write_vectored(cx, bufs))?;
        self.budget.earn(written);
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

#[cfg(test)]
mod tests {
    use super::super::http2_frames::tests::{frame, frame_of};
    use super::super::http2_frames::{FRAME_HEADER_BYTES, PADDED, PREFACE_BYTES, PRIORITY};
    use super::*;
    use crate::limits::MAX_HTTP2_FIELDS;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::timeout;

    const HEAD_TIMEOUT: Duration = Duration::from_millis(300);

    /// A connection after its preface, and the client's end of it.
    async fn connect(permits: &Arc<Semaphore>) -> (Http2Heads<DuplexStream>, DuplexStream) {
        let (mut client, server) = duplex(1 << 20);
        let mut heads = Http2Heads::new(server, Arc::clone(permits), HEAD_TIMEOUT);
        client.write_all(&[0; PREFACE_BYTES]).await.unwrap();
        read(&mut heads, PREFACE_BYTES).await.unwrap();
        (heads, client)
    }

    async fn read(heads: &mut Http2Heads<DuplexStream>, length: usize) -> io::Result<()> {
        let mut bytes = vec![0; length];
        heads.read_exact(&mut bytes).await.map(drop)
    }

    #[tokio::test]
    async fn only_long_heads_wait_for_a_permit() {
        let permits = Arc::new(Semaphore::new(1));
        let (mut first, mut first_client) = connect(&permits).await;
        let (mut second, mut second_client) = connect(&permits).await;
        let long = frame(1, 0, SHORT_HTTP_HEAD_BYTES);
        first_client.write_all(&long).await.unwrap();
        read(&mut first, long.len()).await.unwrap();
        first_client.write_all(&frame(9, 0, 1)).await.unwrap();
        read(&mut first, 10).await.unwrap();
        assert_eq!(permits.available_permits(), 0);

        let short = frame(1, 4, SHORT_HTTP_HEAD_BYTES - 1);
        second_client.write_all(&short).await.unwrap();
        read(&mut second, short.len()).await.unwrap();
        let body = frame(0, 0, 2 * SHORT_HTTP_HEAD_BYTES);
        second_client.write_all(&body).await.unwrap();
        read(&mut second, body.len()).await.unwrap();
        let long = frame_of(3, 1, 0, SHORT_HTTP_HEAD_BYTES);
        second_client.write_all(&long).await.unwrap();
        read(&mut second, long.len()).await.unwrap();
        second_client.write_all(&frame(9, 4, 1)).await.unwrap();
        let waiting = timeout(HEAD_TIMEOUT / 10, read(&mut second, 10)).await;
        assert!(waiting.is_err(), "no permit is free");
        first_client.write_all(&frame(9, 4, 1)).await.unwrap();
        read(&mut first, 10).await.unwrap();
        read(&mut second, 10).await.unwrap();
        assert_eq!(permits.available_permits(), 1);
    }

    #[tokio::test]
    async fn trailers_end_the_connection() {
        let permits = Arc::new(Semaphore::new(1));
        let (mut heads, mut client) = connect(&permits).await;
        for stream in [1, 3] {
            let head = frame_of(stream, 1, 4, 5);
            client.write_all(&head).await.unwrap();
            read(&mut heads, head.len()).await.unwrap();
        }
        client.write_all(&frame_of(1, 1, 5, 5)).await.unwrap();
        let trailers = read(&mut heads, 14).await.unwrap_err();
        assert_eq!(trailers.kind(), io::ErrorKind::InvalidData);
    }

    /// A frame of a head with these fields.
    fn fields_frame(kind: u8, flags: u8, fields: &[u8]) -> Vec<u8> {
        let mut bytes = frame(kind, flags, fields.len());
        bytes[FRAME_HEADER_BYTES..].copy_from_slice(fields);
        bytes
    }

    #[tokio::test]
    async fn many_fields_of_a_head_end_the_connection() {
        let indexed = |count| vec![0x82; count];
        let most = MAX_HTTP2_FIELDS;
        // Padding of 3 bytes, and a priority.
        let padded = [&[3, 0, 0, 0, 0, 16][..], &indexed(most), &[0; 3]].concat();
        for (frames, is_allowed) in [
            (fields_frame(1, 4, &indexed(most)), true),
            (fields_frame(1, 4, &indexed(most + 1)), false),
            (fields_frame(1, 4 | PADDED | PRIORITY, &padded), true),
            (
                [
                    fields_frame(1, 0, &indexed(most)),
                    fields_frame(9, 4, &indexed(1)),
                ]
                .concat(),
                false,
            ),
            // A field of 300 bytes whose value is in three frames.
            (
                [
                    fields_frame(1, 0, &[0, 1, b'a', 0x7f, 0xad]),
                    fields_frame(9, 0, &[1, 7]),
                    fields_frame(9, 4, &[&[7; 299][..], &indexed(most - 1)].concat()),
                ]
                .concat(),
                true,
            ),
        ] {
            for piece in [1, 1000] {
                let permits = Arc::new(Semaphore::new(1));
                let (mut heads, mut client) = connect(&permits).await;
                let mut outcome = Ok(());
                // Another head counts anew.
                let next = fields_frame(1, 4, &indexed(most));
                let next = [&next[..8], &[3], &next[FRAME_HEADER_BYTES..]].concat();
                for piece in [&frames[..], &next].concat().chunks(piece) {
                    client.write_all(piece).await.unwrap();
                    outcome = read(&mut heads, piece.len()).await;
                    if outcome.is_err() {
                        break;
                    }
                }
                assert_eq!(outcome.is_ok(), is_allowed, "{frames:x?} by {piece}");
            }
        }
    }

    #[tokio::test]
    async fn fails_if_a_head_takes_too_long() {
        let permits = Arc::new(Semaphore::new(1));
        let is_late = |read: io::Result<()>| read.unwrap_err().kind() == io::ErrorKind::TimedOut;
        let (client, server) = duplex(100);
        let mut silent = Http2Heads::new(server, Arc::clone(&permits), HEAD_TIMEOUT);
        assert!(is_late(read(&mut silent, 1).await), "no preface");
        drop(client);
        let (mut heads, mut client) = connect(&permits).await;
        let idle = timeout(2 * HEAD_TIMEOUT, read(&mut heads, 1)).await;
        assert!(idle.is_err(), "no head has begun");
        client.write_all(&frame(1, 0, 5)).await.unwrap();
        read(&mut heads, 14).await.unwrap();
        assert!(is_late(read(&mut heads, 1).await));
    }
}
