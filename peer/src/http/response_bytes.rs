//! Bytes of a response on their way to the client.

use crate::connection_slots::Activity;
use crate::readers::Reader;
use bytes::{Buf, Bytes};
use futures_util::task::AtomicWaker;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};

/// The parts of an HTTP/2 response that the library holds until the client lets the connection take them.
pub struct Unsent {
    parts: AtomicUsize,
    waker: AtomicWaker,
    reader: Arc<Reader>,
    activity: Arc<Activity>,
}

impl Unsent {
    /// `reader` and `activity` learn when the connection has taken bytes.
    pub fn new(reader: Arc<Reader>, activity: Arc<Activity>) -> Arc<Self> {
        Arc::new(Self {
            parts: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
            reader,
            activity,
        })
    }

    /// Ready when the library holds no part.
    pub fn poll_sent(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.waker.register(cx.waker());
        match self.is_sent() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Whether the library holds no part.
    pub fn is_sent(&self) -> bool {
        self.parts.load(SeqCst) == 0
    }
}

/// A part of a response.
pub struct ResponseBytes {
    bytes: Bytes,
    /// `None` in HTTP/1.
    unsent: Option<Arc<Unsent>>,
}

impl ResponseBytes {
    /// A part of an HTTP/2 response is unsent until it is dropped.
    pub fn new(bytes: Bytes, unsent: Option<Arc<Unsent>>) -> Self {
        if let Some(unsent) = &unsent {
            unsent.parts.fetch_add(1, SeqCst);
        }
        Self { bytes, unsent }
    }
}

impl Buf for ResponseBytes {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        if let Some(unsent) = &self.unsent {
            unsent.reader.record_progress(count as u64);
            unsent.activity.record_progress(count as u64);
        }
    }
}

impl Drop for ResponseBytes {
    fn drop(&mut self) {
        let Some(unsent) = &self.unsent else { return };
        if unsent.parts.fetch_sub(1, SeqCst) == 1 {
            unsent.waker.wake();
        }
    }
}
