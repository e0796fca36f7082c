//! Limits the memory for request heads.
//!
//! Long heads are rare, so only a few may be in memory at once. A client that sends many long heads slowly delays
//! other requests with long heads, but no other requests.

use crate::limits::SHORT_HTTP_HEAD_BYTES;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;

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
}
