//! The body of any response. It tells the connection whether the client reads.

use crate::connection_slots::ActiveRequest;
use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// The bodies of a connection that wait for the client, and since when. An HTTP/2 client can stop reading one response
/// without blocking the connection.
#[derive(Default)]
pub struct UnreadBodies(Mutex<State>);

#[derive(Default)]
struct State {
    next_id: u64,
    waiting: HashMap<u64, Instant>,
}

impl UnreadBodies {
    /// Whether the client has not read any of these bodies for so long.
    pub fn has_waited(&self, duration: Duration) -> bool {
        let waiting = &self.lock().waiting;
        waiting.values().any(|since| since.elapsed() >= duration)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A response body. The request that it answers runs until the body is dropped.
pub struct ActiveBody {
    body: Body,
    id: u64,
    unread: Arc<UnreadBodies>,
    _request: ActiveRequest,
}

impl ActiveBody {
    /// `unread` belongs to the connection.
    pub fn new(body: Body, request: ActiveRequest, unread: Arc<UnreadBodies>) -> Self {
        let mut state = unread.lock();
        let id = state.next_id;
        state.next_id += 1;
        drop(state);
        Self {
            body,
            id,
            unread,
            _request: request,
        }
    }
}

impl http_body::Body for ActiveBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        // The connection polls the body when the client can take more. Until the next frame, the client waits.
        self.unread.lock().waiting.remove(&self.id);
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        self.unread.lock().waiting.insert(self.id, Instant::now());
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ActiveBody {
    fn drop(&mut self) {
        self.unread.lock().waiting.remove(&self.id);
    }
}
