//! The body of any response. It tells the connection whether the client reads.

use super::response_bytes::{ResponseBytes, Unsent};
use super::stream_reset;
use crate::connection_slots::{ActiveRequest, Activity, ClientWait};
use crate::readers::Reader;
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

/// A response body. The request that it answers runs until the body is dropped. In HTTP/2 the body ends when the
/// connection has taken all of its bytes, so a client that does not read has a running request.
pub struct ActiveBody {
    body: Body,
    has_ended: bool,
    id: u64,
    reset: CancellationToken,
    unread: Arc<UnreadBodies>,
    activity: Arc<Activity>,
    /// `None` in HTTP/1.
    unsent: Option<Arc<Unsent>>,
    /// Since the last frame, until the connection can take the next one.
    wait: Option<ClientWait>,
    _guards: RequestGuards,
}

impl ActiveBody {
    /// `unread` and `activity` belong to the connection. `multiplexed` is the reader of an HTTP/2 request.
    pub fn new(
        body: Body,
        guards: RequestGuards,
        unread: Arc<UnreadBodies>,
        activity: Arc<Activity>,
        multiplexed: Option<Arc<Reader>>,
    ) -> Self {
        let mut state = unread.lock();
        let id = state.next_id;
        state.next_id += 1;
        drop(state);
        Self {
            body,
            has_ended: false,
            id,
            reset: stream_reset::current(),
            unread,
            unsent: multiplexed.map(|reader| Unsent::new(reader, Arc::clone(&activity))),
            activity,
            wait: None,
            _guards: guards,
        }
    }

    /// From now on, the client decides how long the response takes.
    fn begin_wait(&mut self) {
        let waiting = Waiting {
            since: Instant::now(),
            reset: self.reset.clone(),
        };
        self.unread.lock().waiting.insert(self.id, waiting);
        self.wait = Some(self.activity.wait_for_client());
    }

    fn end_wait(&mut self) {
        self.unread.lock().waiting.remove(&self.id);
        self.wait = None;
    }
}

impl http_body::Body for ActiveBody {
    type Data = ResponseBytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<ResponseBytes>, axum::Error>>> {
        if !self.has_ended {
            // The connection polls the body when the client can take more. Until the next frame, the client waits.
            self.end_wait();
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
            self.begin_wait();
            if let Some(frame) = frame {
                return Poll::Ready(Some(frame.map(|frame| {
                    let bytes = frame.data_ref().map_or(0, Bytes::len);
                    self.activity.add_response_bytes(bytes as u64);
                    frame.map_data(|bytes| ResponseBytes::new(bytes, self.unsent.clone()))
                })));
            }
            self.has_ended = true;
        }
        if let Some(unsent) = &self.unsent {
            ready!(unsent.poll_sent(cx));
        }
        self.end_wait();
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        let is_sent = self.unsent.as_ref().is_none_or(|unsent| unsent.is_sent());
        self.body.is_end_stream() && is_sent
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
