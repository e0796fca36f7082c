//! The body of any response. It tells the connection whether the client reads.

use super::stream_reset;
use crate::connection_slots::{ActiveRequest, Activity, ClientWait};
use crate::request_slots::RequestSlot;
use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The bodies of a connection that wait for the client, and since when. An HTTP/2 client can stop reading one response
/// without blocking the connection.
#[derive(Default)]
pub struct UnreadBodies(Mutex<State>);

#[derive(Default)]
struct State {
    next_id: u64,
    waiting: HashMap<u64, Waiting>,
}

struct Waiting {
    since: Instant,
    reset: CancellationToken,
}

impl UnreadBodies {
    /// Resets the streams of the bodies that the client has not read for so long. A proxy may read the others for other
    /// clients, so the connection stays open.
    pub fn reset_after(&self, duration: Duration) {
        let state = self.lock();
        let is_over = |waiting: &&Waiting| waiting.since.elapsed() >= duration;
        for waiting in state.waiting.values().filter(is_over) {
            waiting.reset.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request holds these until its response has ended.
pub struct RequestGuards {
    /// The connection is in use.
    #[expect(dead_code, reason = "held for its drop")]
    pub active: ActiveRequest,
    /// The place of a proxy's client.
    pub slot: Option<RequestSlot>,
}

/// A response body. The request that it answers runs until the body is dropped.
pub struct ActiveBody {
    body: Body,
    id: u64,
    reset: CancellationToken,
    unread: Arc<UnreadBodies>,
    activity: Arc<Activity>,
    /// Since the last frame, until the connection can take the next one.
    wait: Option<ClientWait>,
    _guards: RequestGuards,
}

impl ActiveBody {
    /// `unread` and `activity` belong to the connection.
    pub fn new(
        body: Body,
        guards: RequestGuards,
        unread: Arc<UnreadBodies>,
        activity: Arc<Activity>,
    ) -> Self {
        let mut state = unread.lock();
        let id = state.next_id;
        state.next_id += 1;
        drop(state);
        Self {
            body,
            id,
            reset: stream_reset::current(),
            unread,
            activity,
            wait: None,
            _guards: guards,
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
        self.wait = None;
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        let waiting = Waiting {
            since: Instant::now(),
            reset: self.reset.clone(),
        };
        self.unread.lock().waiting.insert(self.id, waiting);
        self.wait = Some(self.activity.wait_for_client());
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok());
        let bytes = data.and_then(Frame::data_ref).map_or(0, Bytes::len);
        self.activity.add_response_bytes(bytes as u64);
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
