//! Counting a request when it is over, however that comes about.

use crate::metrics::Face;
use crate::service::Service;
use std::sync::Arc;
use std::time::Instant;

/// A request under way. Dropped without an outcome, it counts as cancelled by the client.
pub struct Measured {
    service: Arc<Service>,
    op: &'static str,
    outcome: &'static str,
    started: Instant,
}

impl Measured {
    /// Starts the clock.
    pub fn new(service: &Arc<Service>, op: &'static str) -> Self {
        Self {
            service: Arc::clone(service),
            op,
            outcome: "cancelled",
            started: Instant::now(),
        }
    }

    /// What came of it, if nothing happens until it is dropped.
    pub fn set(&mut self, outcome: &'static str) {
        self.outcome = outcome;
    }
}

impl Drop for Measured {
    fn drop(&mut self) {
        let took = self.started.elapsed();
        self.service
            .metrics
            .request(Face::Http, self.op, self.outcome, took);
    }
}
