//! Limits the memory and the time for the request heads of an HTTP/2 connection, like [`HeadLimiter`] in HTTP/1, and the
//! number of its frames.
//!
//! A head may come in many frames. The HTTP/2 library holds them until the last one has arrived. Of a request it also
//! holds the trailers, until its answer has ended. No client of a peer needs trailers, so they end the connection. A field
//! of one byte takes some 100 bytes of memory, so a head with too many fields ends the connection, too.
//!
//! [`HeadLimiter`]: super::head_limiter::HeadLimiter

use super::hpack_fields::HpackFields;
use crate::frame_budget::FrameBudget;
use crate::limits::{
    HTTP_READ_BYTES, HTTP2_FRAME_BURST, HTTP2_FRAMES_PER_SECOND, MAX_HTTP2_FIELDS,
    SHORT_HTTP_HEAD_BYTES,
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

/// The length of the text that begins a connection, in bytes.
const PREFACE_BYTES: usize = 24;

/// The length of a frame's header, in bytes.
const FRAME_HEADER_BYTES: usize = 9;

/// The type of the frames with parts of an upload: DATA.
const DATA_FRAME: u8 = 0;

/// The types of the frames with parts of a head: HEADERS and CONTINUATION.
const HEAD_FRAMES: [u8; 2] = [1, 9];

/// The type of the first frame of a head.
const HEADERS_FRAME: u8 = 1;

/// The flag of the last frame of a head.
const END_HEADERS: u8 = 4;

/// The flag of a first frame with padding.
const PADDED: u8 = 8;

/// The flag of a first frame with a priority, and the length of that.
const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;

/// The bit of a stream's number that has no meaning.
const RESERVED_BIT: u32 = 1 << 31;

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
        if this.frames.has_trailers || this.frames.has_many_fields {
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

/// The bytes of a frame of a head that are no part of its fields.
#[derive(Default)]
struct Surroundings {
    /// Whether the length of the padding comes next.
    is_padded: bool,
    /// The bytes of the priority that are still to come.
    priority: usize,
    padding: usize,
}

impl Surroundings {
    fn of(kind: u8, flags: u8) -> Self {
        let has = |flag| kind == HEADERS_FRAME && flags & flag != 0;
        Self {
            is_padded: has(PADDED),
            priority: if has(PRIORITY) { PRIORITY_BYTES } else { 0 },
            padding: 0,
        }
    }

    /// The part of the frame's bytes that belongs to fields. `rest` bytes of the frame follow.
    fn strip<'a>(&mut self, mut bytes: &'a [u8], rest: usize) -> &'a [u8] {
        if self.is_padded
            && let [padding, after @ ..] = bytes
        {
            self.is_padded = false;
            self.padding = usize::from(*padding);
            bytes = after;
        }
        let priority = self.priority.min(bytes.len());
        self.priority -= priority;
        let padding = self.padding.saturating_sub(rest);
        &bytes[priority..][..(bytes.len() - priority).saturating_sub(padding)]
    }
}

/// Finds the heads in the incoming bytes.
struct Frames {
    /// The bytes of the present frame, or of the preface, that are still to come.
    rest: usize,
    /// The part of the next frame's header that has arrived.
    header: Vec<u8>,
    /// Whether the present frame belongs to a head, and whether it is the last one.
    present: Option<bool>,
    /// Whether a head, or the preface, is incomplete.
    is_in_head: bool,
    /// The bytes of the incomplete head.
    head_bytes: usize,
    fields: HpackFields,
    /// The other bytes of the present frame.
    surroundings: Surroundings,
    /// The number of frames so far.
    count: usize,
    /// The bytes of uploads so far.
    uploaded_bytes: usize,
    /// The number of the newest stream.
    newest_stream: u32,
    /// Whether a stream got a second head.
    has_trailers: bool,
    /// Whether a head has too many fields.
    has_many_fields: bool,
}

impl Frames {
    fn new() -> Self {
        Self {
            rest: PREFACE_BYTES,
            header: Vec::with_capacity(FRAME_HEADER_BYTES),
            present: Some(true),
            is_in_head: true,
            head_bytes: 0,
            fields: HpackFields::new(),
            surroundings: Surroundings::default(),
            count: 0,
            uploaded_bytes: 0,
            newest_stream: 0,
            has_trailers: false,
            has_many_fields: false,
        }
    }

    fn are_in_head(&self) -> bool {
        self.is_in_head
    }

    /// Whether a head ended in these bytes.
    fn read(&mut self, mut bytes: &[u8]) -> bool {
        let mut has_ended_head = false;
        while !bytes.is_empty() {
            if self.rest > 0 {
                let (part, following) = bytes.split_at(self.rest.min(bytes.len()));
                self.rest -= part.len();
                bytes = following;
                if self.present.is_some() {
                    self.head_bytes += part.len();
                    // The preface is no frame.
                    if self.count > 0 {
                        self.fields.read(self.surroundings.strip(part, self.rest));
                        self.has_many_fields |= self.fields.count() > MAX_HTTP2_FIELDS;
                    }
                }
            } else {
                self.header.push(bytes[0]);
                bytes = &bytes[1..];
                if let [a, b, c, kind, flags, stream @ ..] = &self.header[..]
                    && let Ok(stream) = <[u8; 4]>::try_from(stream)
                {
                    let [a, b, c, kind, flags] = [a, b, c, kind, flags].map(|byte| *byte);
                    if kind == HEADERS_FRAME {
                        let stream = u32::from_be_bytes(stream) & !RESERVED_BIT;
                        self.has_trailers |= stream <= self.newest_stream;
                        self.newest_stream = stream.max(self.newest_stream);
                    }
                    self.header.clear();
                    self.rest = u32::from_be_bytes([0, a, b, c]) as usize;
                    self.count += 1;
                    if kind == DATA_FRAME {
                        self.uploaded_bytes += self.rest;
                    }
                    let is_last = flags & END_HEADERS != 0;
                    self.present = HEAD_FRAMES.contains(&kind).then_some(is_last);
                    self.is_in_head |= self.present.is_some();
                    self.surroundings = Surroundings::of(kind, flags);
                }
            }
            let is_frame_complete = self.rest == 0 && self.header.is_empty();
            if is_frame_complete && self.present == Some(true) {
                self.present = None;
                self.is_in_head = false;
                self.head_bytes = 0;
                self.fields = HpackFields::new();
                has_ended_head = true;
            }
        }
        has_ended_head
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};
    use tokio::time::timeout;

    const HEAD_TIMEOUT: Duration = Duration::from_millis(300);

    fn frame(kind: u8, flags: u8, length: usize) -> Vec<u8> {
        frame_of(1, kind, flags, length)
    }

    fn frame_of(stream: u8, kind: u8, flags: u8, length: usize) -> Vec<u8> {
        let [_, a, b, c] = (length as u32).to_be_bytes();
        let mut frame = vec![a, b, c, kind, flags, 0, 0, 0, stream];
        // In a head, these are fields of 258 bytes.
        frame.resize(frame.len() + length, 0x7f);
        frame
    }

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

    #[test]
    fn finds_heads_whatever_the_pieces() {
        let bytes = [
            vec![0; PREFACE_BYTES],
            frame(4, 4, 12),
            frame(1, 0, 100),
            frame(9, 0, 0),
            frame(9, 4, 50),
            frame(0, 4, 5000),
            frame_of(3, 1, 5, 0),
            frame_of(5, 1, 4, 10),
        ]
        .concat();
        for piece in [1, 2, 7, 9, 100, bytes.len()] {
            let mut frames = Frames::new();
            let (mut most, mut ended) = (0, 0);
            for piece in bytes.chunks(piece) {
                ended += usize::from(frames.read(piece));
                most = most.max(frames.head_bytes);
            }
            assert!(!frames.are_in_head());
            assert!(most <= 150, "{most}");
            assert!(ended > 0);
            if piece == 1 {
                assert_eq!((most, ended), (149, 4));
            }
        }
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
