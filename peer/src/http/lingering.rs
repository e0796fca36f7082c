//! Ends connections without a loss: a socket that is closed while it has unread bytes resets the connection, and its
//! client then loses what it has not read yet. A client of HTTP/2 sends until it has read everything.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How long a client may take to end the connection after the peer has.
const LINGER: Duration = Duration::from_secs(1);

const READ_BYTES: usize = 4096;

/// A stream whose shutdown reads until the client has ended the connection, too.
pub struct Lingering<S> {
    stream: S,
    /// Runs once this end is shut down.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> Lingering<S> {
    pub fn new(stream: S) -> Self {
        Self {
            stream,
            timer: None,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Lingering<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Lingering<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.timer.is_none() {
            ready!(Pin::new(&mut this.stream).poll_shutdown(cx))?;
        }
        let timer = this.timer.get_or_insert_with(|| Box::pin(sleep(LINGER)));
        loop {
            if timer.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(()));
            }
            let mut bytes = [0; READ_BYTES];
            let mut unread = ReadBuf::new(&mut bytes);
            let read = ready!(Pin::new(&mut this.stream).poll_read(cx, &mut unread));
            if read.is_err() || unread.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::{Instant, timeout};

    fn connect() -> (Lingering<DuplexStream>, DuplexStream) {
        let (client, server) = duplex(100);
        (Lingering::new(server), client)
    }

    #[tokio::test]
    async fn reads_until_the_client_ends() {
        let (mut stream, mut client) = connect();
        stream.write_all(b"all").await.unwrap();
        let mut ending = tokio::spawn(async move { stream.shutdown().await });
        // More than the pipe holds, so this write needs a reader.
        client.write_all(&[0; 1000]).await.unwrap();
        let early = timeout(LINGER / 10, &mut ending).await;
        assert!(early.is_err(), "the client may send more");
        let mut received = Vec::new();
        client.read_to_end(&mut received).await.unwrap();
        assert_eq!(received, b"all");
        drop(client);
        timeout(LINGER / 2, ending).await.unwrap().unwrap().unwrap();
    }

    #[tokio::test]
    async fn does_not_wait_long_for_a_client_that_goes_on() {
        let (mut stream, mut client) = connect();
        let flood = tokio::spawn(async move { while client.write_all(&[0; 50]).await.is_ok() {} });
        let started = Instant::now();
        timeout(10 * LINGER, stream.shutdown())
            .await
            .unwrap()
            .unwrap();
        assert!(started.elapsed() >= LINGER);
        drop(stream);
        flood.await.unwrap();
    }
}
