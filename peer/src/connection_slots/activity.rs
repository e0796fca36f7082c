//! Whether a connection is in use, and whether its client reads.

use crate::limits::{FLUSH_TIMEOUT, MIN_BYTES_PER_SECOND, STALL_TIMEOUT};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio_util::sync::CancellationToken;

/// The bytes that a client must read within [`STALL_TIMEOUT`] of a response that waits for it. Otherwise a client could
/// read one byte now and then.
const MIN_PROGRESS_BYTES: u64 = MIN_BYTES_PER_SECOND as u64;

/// Whether a connection is in use, and whether its client reads.
pub struct Activity {
    state: Mutex<State>,
    /// Ends the connection.
    pub closing: CancellationToken,
}

struct State {
    /// The number of running requests.
    requests: usize,
    /// The bytes of responses that are not written to the connection yet.
    unwritten_bytes: u64,
    /// When the last request ended.
    request_ended_at: Instant,
    /// When the connection was last in use.
    last_use: Instant,
    /// Whether several responses share the connection, so that its writes say nothing about one of them.
    is_multiplexed: bool,
    /// The number of responses that wait until the client has read more.
    waiting: usize,
    /// When the client last made progress, if a response waits.
    progress_at: Instant,
    /// The bytes that the client has read since then.
    progress_bytes: u64,
}

/// A running request of a connection. The request ends on drop.
pub struct ActiveRequest(Arc<Activity>);

/// A response waits until its client has read more. The wait ends on drop.
pub struct ClientWait(Arc<Activity>);

impl Activity {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self {
            state: Mutex::new(State {
                requests: 0,
                unwritten_bytes: 0,
                request_ended_at: now,
                last_use: now,
                is_multiplexed: false,
                waiting: 0,
                progress_at: now,
                progress_bytes: 0,
            }),
            closing: CancellationToken::new(),
        }
    }

    /// The connection is in use until the guard is dropped.
    pub fn begin_request(self: &Arc<Self>) -> ActiveRequest {
        self.lock().requests += 1;
        ActiveRequest(Arc::clone(self))
    }

    /// Several responses share the connection.
    pub fn set_multiplexed(&self) {
        self.lock().is_multiplexed = true;
    }

    /// A response of a request has these bytes. The connection is in use until they are written, within
    /// [`FLUSH_TIMEOUT`].
    pub fn add_response_bytes(&self, bytes: u64) {
        self.lock().unwritten_bytes += bytes;
    }

    /// The connection took bytes. Bytes beyond those of responses do not count as use, such as the answers to pings. A
    /// client that resets its requests leaves bytes that are never written, so the time is limited, too.
    pub fn record_write(&self, bytes: u64) {
        let mut state = self.lock();
        if state.unwritten_bytes == 0 {
            return;
        }
        state.unwritten_bytes = state.unwritten_bytes.saturating_sub(bytes);
        if state.requests > 0 || state.request_ended_at.elapsed() < FLUSH_TIMEOUT {
            state.last_use = Instant::now();
        }
        if !state.is_multiplexed {
            state.record_progress(bytes);
        }
    }

    /// The client has read these bytes of a response.
    pub fn record_progress(&self, bytes: u64) {
        self.lock().record_progress(bytes);
    }

    /// A response waits for the client until the guard is dropped.
    pub fn wait_for_client(self: &Arc<Self>) -> ClientWait {
        let mut state = self.lock();
        if state.waiting == 0 {
            state.progress_at = Instant::now();
            state.progress_bytes = 0;
        }
        state.waiting += 1;
        ClientWait(Arc::clone(self))
    }

    /// When the connection became idle. `None` while it is in use.
    pub fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        (state.requests == 0).then_some(state.last_use)
    }

    /// Since when the client does not read its responses. `None` if no response waits for it, or only for a short time.
    pub fn stalled_since(&self) -> Option<Instant> {
        let state = self.lock();
        let is_stalled = state.waiting > 0 && state.progress_at.elapsed() >= STALL_TIMEOUT;
        is_stalled.then_some(state.progress_at)
    }

    /// Resolves when the connection must close, because another client needs its slot or its memory.
    pub async fn evicted(&self) {
        self.closing.cancelled().await;
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes the state look older, instead of a real wait.
    #[cfg(test)]
    pub(super) fn age(&self) {
        let mut state = self.lock();
        state.progress_at -= STALL_TIMEOUT;
        state.last_use -= STALL_TIMEOUT;
    }
}

impl State {
    fn record_progress(&mut self, bytes: u64) {
        self.progress_bytes += bytes;
        if self.progress_bytes >= MIN_PROGRESS_BYTES {
            self.progress_bytes = 0;
            self.progress_at = Instant::now();
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.last_use = Instant::now();
        state.request_ended_at = state.last_use;
        state.requests -= 1;
    }
}

impl Drop for ClientWait {
    fn drop(&mut self) {
        self.0.lock().waiting -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_writes_of_responses_are_use() {
        let activity = Arc::new(Activity::new());
        activity.age();
        let since = activity.idle_since();
        activity.record_write(17);
        assert_eq!(activity.idle_since(), since, "an answer to a ping");
        let request = activity.begin_request();
        activity.add_response_bytes(100);
        assert_eq!(activity.idle_since(), None);
        drop(request);
        for is_use in [true, true, false] {
            activity.age();
            let since = activity.idle_since();
            activity.record_write(60);
            assert_eq!(activity.idle_since() != since, is_use);
        }
    }

    #[test]
    fn bytes_of_a_response_that_was_reset_do_not_count_as_use_for_long() {
        let activity = Arc::new(Activity::new());
        activity.set_multiplexed();
        let request = activity.begin_request();
        activity.add_response_bytes(1 << 20);
        drop(request);
        activity.lock().request_ended_at -= FLUSH_TIMEOUT;
        activity.age();
        let since = activity.idle_since();
        activity.record_write(17);
        assert_eq!(activity.idle_since(), since);
        // Nor do pings count as progress of other responses.
        let _request = activity.begin_request();
        let _wait = activity.wait_for_client();
        activity.age();
        activity.record_write(MIN_PROGRESS_BYTES);
        assert!(activity.stalled_since().is_some());
        activity.record_progress(MIN_PROGRESS_BYTES);
        assert_eq!(activity.stalled_since(), None);
    }

    #[test]
    fn a_client_that_reads_little_of_a_waiting_response_is_stalled() {
        let activity = Arc::new(Activity::new());
        let _request = activity.begin_request();
        activity.age();
        assert_eq!(activity.stalled_since(), None, "nothing waits for it");
        let waits = [(); 2].map(|()| activity.wait_for_client());
        assert_eq!(activity.stalled_since(), None, "only for a short time");
        activity.age();
        activity.record_progress(MIN_PROGRESS_BYTES - 1);
        assert!(activity.stalled_since().is_some());
        activity.record_progress(1);
        assert_eq!(activity.stalled_since(), None);
        activity.age();
        assert!(activity.stalled_since().is_some());
        drop(waits);
        assert_eq!(activity.stalled_since(), None);
    }
}
