//! Records the metrics of a request when it ends.

use crate::metrics::Transport;
use crate::service::Service;
use std::sync::Arc;
use std::time::Instant;

/// A running request. If it is dropped without an outcome, it counts as cancelled by the client.
pub struct RequestTimer {
    service: Arc<Service>,
    op: &'static str,
    outcome: &'static str,
    started: Instant,
}

impl RequestTimer {
    /// Starts the timer.
    pub fn new(service: &Arc<Service>, op: &'static str) -> Self {
        Self {
            service: Arc::clone(service),
            op,
            outcome: "cancelled",
            started: Instant::now(),
        }
    }

    /// Sets the outcome. The last outcome before the drop counts.
    pub fn set_outcome(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for RequestTimer {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        self.service
            .metrics
            .record_request(Transport::Http, self.op, self.outcome, took);
    }
}
