//! Whether a connection is in use.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Whether a connection is in use.
pub struct Activity {
    started: Instant,
    /// The number of running requests.
    requests: AtomicUsize,
    /// When the connection was last in use, in milliseconds since `started`.
    last_use: AtomicU64,
    pub(super) closing: CancellationToken,
}

/// A running request of a connection. The request ends on drop.
pub struct ActiveRequest(Arc<Activity>);

impl Activity {
    pub(super) fn new() -> Self {
        Self {
            started: Instant::now(),
            requests: AtomicUsize::new(0),
            last_use: AtomicU64::new(0),
            closing: CancellationToken::new(),
        }
    }

    /// The connection is in use until the guard is dropped.
    pub fn begin_request(self: &Arc<Self>) -> ActiveRequest {
        self.requests.fetch_add(1, Relaxed);
        ActiveRequest(Arc::clone(self))
    }

    /// The connection was in use just now.
    pub fn touch(&self) {
        let elapsed = self.started.elapsed().as_millis();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        self.last_use.store(elapsed, Relaxed);
    }

    /// When the connection became idle. `None` while it is in use.
    pub fn idle_since(&self) -> Option<Instant> {
        let last_use = Duration::from_millis(self.last_use.load(Relaxed));
        (self.requests.load(Relaxed) == 0).then(|| self.started + last_use)
    }

    /// Resolves when the connection must close, because another one took its slot.
    pub async fn evicted(&self) {
        self.closing.cancelled().await;
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.touch();
        self.0.requests.fetch_sub(1, Relaxed);
    }
}
