//! Room in memory for the heads of requests.
//!
//! Few requests have long heads, so only a few may be in memory at a time: a client that sends many of them, slowly,
//! makes others with long heads wait, and nobody else.

use crate::limits::USUAL_HTTP_HEAD_BYTES;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::PollSemaphore;

/// Room for one long head, as long as any copy of it lives.
pub type HeadRoom = Arc<OwnedSemaphorePermit>;

/// Follows which part of a connection's incoming bytes is a request's head.
#[derive(Clone)]
pub struct HeadMeter {
    state: Arc<Mutex<State>>,
}

struct State {
    places: PollSemaphore,
    /// How much of the head has arrived; `None` while a request is answered, as its body is read then.
    received: Option<usize>,
    room: Option<HeadRoom>,
}

impl HeadMeter {
    /// For a new connection. `places` is how many long heads there may be.
    pub fn new(places: Arc<Semaphore>) -> Self {
        let state = State {
            places: PollSemaphore::new(places),
            received: Some(0),
            room: None,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Ready when more may be read: for a long head, once there is room.
    pub fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.with_state(|state| {
            let is_long = state
                .received
                .is_some_and(|received| received >= USUAL_HTTP_HEAD_BYTES);
            if is_long && state.room.is_none() {
                let place = ready!(state.places.poll_acquire(cx));
                state.room = place.map(Arc::new);
            }
            Poll::Ready(())
        })
    }

    /// So many bytes arrived.
    pub fn received(&self, bytes: usize) {
        self.with_state(|state| {
            if let Some(received) = &mut state.received {
                *received += bytes;
            }
        });
    }

    /// The head is there. Its room, if it needed any, has to be held as long as the head.
    pub fn end(&self) -> Option<HeadRoom> {
        self.with_state(|state| {
            state.received = None;
            state.room.take()
        })
    }

    /// The request was answered: the next head may come.
    pub fn begin(&self) {
        self.with_state(|state| state.received = Some(0));
    }

    fn with_state<T>(&self, use_it: impl FnOnce(&mut State) -> T) -> T {
        use_it(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::task::Waker;

    fn may_read(meter: &HeadMeter) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        meter.poll_room(&mut cx).is_ready()
    }

    #[test]
    fn long_heads_wait_for_room_and_nothing_else_does() {
        let places = Arc::new(Semaphore::new(1));
        let [first, second] = [(); 2].map(|()| HeadMeter::new(Arc::clone(&places)));
        first.received(USUAL_HTTP_HEAD_BYTES);
        assert!(may_read(&first));
        second.received(USUAL_HTTP_HEAD_BYTES - 1);
        assert!(may_read(&second), "a usual head needs no room");
        second.received(1);
        assert!(!may_read(&second));

        let room = first.end().unwrap();
        first.received(10 * USUAL_HTTP_HEAD_BYTES);
        assert!(may_read(&first), "a body needs no room");
        assert!(!may_read(&second), "the head is still there");
        drop(room);
        assert!(may_read(&second));
        first.begin();
        assert!(may_read(&first));
        drop(second);
        first.received(USUAL_HTTP_HEAD_BYTES);
        assert!(may_read(&first));
    }
}
