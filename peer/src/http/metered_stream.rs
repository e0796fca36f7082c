//! A TCP stream with metrics, limits and a write timeout.

use super::head_limiter::HeadLimiter;
use crate::connection_slots::{Activity, ClientWait};
use crate::limits::HTTP_READ_BYTES;
use crate::metrics::{Metrics, Transport};
use crate::readers::Reader;
use prometheus_client::metrics::counter::Counter;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// A TCP stream that counts its bytes, and fails if the client stops reading for too long.
pub struct MeteredStream {
    stream: TcpStream,
    write_timeout: Duration,
    /// Runs while a write is blocked.
    write_timer: Option<(Pin<Box<Sleep>>, ClientWait)>,
    head: HeadLimiter,
    reader: Arc<Reader>,
    activity: Arc<Activity>,
    sent: Counter,
    received: Counter,
}

impl MeteredStream {
    /// Writes fail after `write_timeout` without progress. `head` limits the reads of long request heads. `reader` and
    /// `activity` learn whether the client reads.
    pub fn new(
        stream: TcpStream,
        write_timeout: Duration,
        head: HeadLimiter,
        reader: Arc<Reader>,
        activity: Arc<Activity>,
        metrics: &Metrics,
    ) -> Self {
        Self {
            stream,
            write_timeout,
            write_timer: None,
            head,
            reader,
            activity,
            sent: metrics.sent(Transport::Http),
            received: metrics.received(Transport::Http),
        }
    }

    fn fail_after_timeout<T>(
        &mut self,
        cx: &mut Context<'_>,
        poll: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if poll.is_ready() {
            self.write_timer = None;
            return poll;
        }
        let Self {
            write_timeout,
            write_timer,
            activity,
            ..
        } = self;
        let (write_timer, _) = write_timer.get_or_insert_with(|| {
            let timer = Box::pin(sleep(*write_timeout));
            (timer, activity.wait_for_client())
        });
        ready!(write_timer.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.head.poll_ready(cx));
        let max_bytes = buf.remaining().min(HTTP_READ_BYTES);
        let mut part = ReadBuf::new(buf.initialize_unfilled_to(max_bytes));
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        let length = part.filled().len();
        buf.advance(length);
        self.head.received(length);
        self.received.inc_by(length as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write(cx, buf);
        let written = ready!(self.fail_after_timeout(cx, poll))?;
        self.reader.record_progress(written as u64);
        self.activity.record_write(written as u64);
        self.sent.inc_by(written as u64);
        Poll::Ready(Ok(written))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        let written = ready!(self.fail_after_timeout(cx, poll))?;
        self.reader.record_progress(written as u64);
        self.activity.record_write(written as u64);
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
