//! An upstream behind its circuit breaker.

use super::circuit_breaker::{CircuitBreaker, Transition};
use crate::source::SourceError;
use crate::upstream::Upstream;
use std::sync::Arc;
use std::time::Instant;

/// An upstream with its circuit breaker.
pub struct GuardedUpstream {
    /// The upstream. Send requests with `request`, so that the breaker sees their results.
    pub inner: Arc<dyn Upstream>,
    breaker: CircuitBreaker,
}

/// The verified response of an upstream.
pub enum UpstreamResponse<T> {
    /// A value that belongs to the address.
    Valid(T),
    /// The upstream has nothing at the address.
    NotFound,
    /// The upstream sent bytes that do not belong to the address.
    Invalid,
}

/// Why an upstream did not respond.
pub enum UpstreamError {
    /// The upstream reported an error.
    Source(SourceError),
    /// The upstream took too long.
    Timeout,
    /// The circuit breaker is open.
    CircuitOpen,
}

impl From<SourceError> for UpstreamError {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl GuardedUpstream {
    /// Starts with a closed circuit.
    pub fn new(upstream: Arc<dyn Upstream>) -> Self {
        Self {
            inner: upstream,
            breaker: CircuitBreaker::default(),
        }
    }

    /// Sends a request if the circuit breaker allows it, and tells the breaker the result.
    pub async fn request<T>(
        &self,
        request: impl Future<Output = Result<UpstreamResponse<T>, UpstreamError>>,
    ) -> Result<UpstreamResponse<T>, UpstreamError> {
        let permit = self.breaker.try_acquire(Instant::now());
        let permit = permit.ok_or(UpstreamError::CircuitOpen)?;
        let response = request.await;
        let transition = match &response {
            // A slow lookup says nothing about the upstream. It reports itself if it is disconnected.
            Err(UpstreamError::Timeout) if self.inner.has_slow_lookups() => Transition::None,
            // A slow or unreachable upstream delays all requests. Invalid bytes are useless.
            Ok(UpstreamResponse::Invalid)
            | Err(UpstreamError::Timeout | UpstreamError::Source(SourceError::Unreachable(_))) => {
                permit.record_failure(Instant::now())
            }
            // The upstream is reachable, even if it is busy or fails for this address.
            _ => permit.record_success(),
        };
        match transition {
            Transition::Opened => {
                tracing::warn!(
                    upstream = self.inner.name(),
                    "upstream left out after repeated failures"
                );
            }
            Transition::Closed => tracing::info!(upstream = self.inner.name(), "upstream is back"),
            Transition::None => {}
        }
        response
    }
}
