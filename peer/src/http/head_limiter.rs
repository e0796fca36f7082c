//! Limits the memory for request heads.
//!
//! Long heads are rare, so only a few may be in memory at once. A client that sends many long heads slowly delays
//! other requests with long heads, but no other requests.

use crate::limits::SHORT_HTTP_HEAD_BYTES;
use hyper::Request;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};
use tokio_util::sync::PollSemaphore;

/// The memory for a field of a head, apart from its name and value. HTTP/2 counts so much for the client's limit, too.
const HTTP2_FIELD_BYTES: usize = 32;

/// The permit for one long head. It is released when the last clone is dropped.
pub type HeadPermit = Arc<OwnedSemaphorePermit>;

/// Tracks which of a connection's incoming bytes belong to a request head.
#[derive(Clone)]
pub struct HeadLimiter {
    state: Arc<Mutex<State>>,
}

struct State {
    permits: PollSemaphore,
    /// The number of received bytes of the head. `None` while a request is answered, because then its body is read.
    received: Option<usize>,
    permit: Option<HeadPermit>,
}

impl HeadLimiter {
    /// For a new connection. `permits` limits the long heads of all connections.
    pub fn new(permits: Arc<Semaphore>) -> Self {
        let state = State {
            permits: PollSemaphore::new(permits),
            received: Some(0),
            permit: None,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// A permit for the head of an HTTP/2 request, if the head is long. Fails if no permit is free.
    pub fn permit_of<B>(
        permits: &Arc<Semaphore>,
        request: &Request<B>,
    ) -> Result<Option<HeadPermit>, TryAcquireError> {
        let fields = request.headers().iter();
        let bytes: usize = fields
            .map(|(name, value)| name.as_str().len() + value.len() + HTTP2_FIELD_BYTES)
            .sum();
        if bytes < SHORT_HTTP_HEAD_BYTES {
            return Ok(None);
        }
        let permit = Arc::clone(permits).try_acquire_owned()?;
        Ok(Some(Arc::new(permit)))
    }

    /// Ready when the connection may read more. A long head first needs a permit.
    pub fn poll_ready(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.with_state(|state| {
            let is_long = state
                .received
                .is_some_and(|received| received >= SHORT_HTTP_HEAD_BYTES);
            if is_long && state.permit.is_none() {
                let permit = ready!(state.permits.poll_acquire(cx));
                state.permit = permit.map(Arc::new);
            }
            Poll::Ready(())
        })
    }

    /// Counts received bytes.
    pub fn received(&self, bytes: usize) {
        self.with_state(|state| {
            if let Some(received) = &mut state.received {
                *received += bytes;
            }
        });
    }

    /// The head is complete. The caller must hold the permit, if there is one, as long as the head.
    pub fn complete(&self) -> Option<HeadPermit> {
        self.with_state(|state| {
            state.received = None;
            state.permit.take()
        })
    }

    /// The request was answered, and the next head may arrive.
    pub fn begin(&self) {
        self.with_state(|state| state.received = Some(0));
    }

    fn with_state<T>(&self, update: impl FnOnce(&mut State) -> T) -> T {
        update(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn may_read(meter: &HeadLimiter) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        meter.poll_ready(&mut cx).is_ready()
    }

    #[test]
    fn only_long_heads_wait_for_a_permit() {
        let permits = Arc::new(Semaphore::new(1));
        let [first, second] = [(); 2].map(|()| HeadLimiter::new(Arc::clone(&permits)));
        first.received(SHORT_HTTP_HEAD_BYTES);
        assert!(may_read(&first));
        second.received(SHORT_HTTP_HEAD_BYTES - 1);
        assert!(may_read(&second), "a short head needs no permit");
        second.received(1);
        assert!(!may_read(&second));

        let permit = first.complete().unwrap();
        first.received(10 * SHORT_HTTP_HEAD_BYTES);
        assert!(may_read(&first), "a body needs no permit");
        assert!(!may_read(&second), "the head is still there");
        drop(permit);
        assert!(may_read(&second));
        first.begin();
        assert!(may_read(&first));
        drop(second);
        first.received(SHORT_HTTP_HEAD_BYTES);
        assert!(may_read(&first));
    }

    #[test]
    fn a_long_http2_head_needs_a_permit() {
        let permits = Arc::new(Semaphore::new(1));
        let request = |length: usize| {
            let request = Request::builder().header("cookie", "x".repeat(length));
            request.body(()).unwrap()
        };
        let (short, long) = (request(100), request(SHORT_HTTP_HEAD_BYTES));
        assert!(matches!(HeadLimiter::permit_of(&permits, &short), Ok(None)));
        let permit = HeadLimiter::permit_of(&permits, &long).unwrap();
        assert!(permit.is_some());
        assert!(HeadLimiter::permit_of(&permits, &long).is_err());
        assert!(matches!(HeadLimiter::permit_of(&permits, &short), Ok(None)));
        drop(permit);
        assert!(HeadLimiter::permit_of(&permits, &long).is_ok());
    }
}
