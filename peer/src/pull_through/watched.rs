//! An upstream behind its circuit breaker.

use super::breaker::{Breaker, Change};
use crate::source::SourceError;
use crate::upstream::Upstream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// An upstream with its circuit breaker.
pub struct Watched {
    /// The upstream. Send requests with `ask`, so that the breaker sees their results.
    pub upstream: Arc<dyn Upstream>,
    breaker: Breaker,
}

/// The verified response of an upstream.
pub enum Answer<T> {
    /// A value that belongs to the address.
    Right(T),
    /// The upstream has nothing at the address.
    Nothing,
    /// The upstream sent bytes that do not belong to the address.
    Wrong,
}

/// Why an upstream did not respond.
pub enum Trouble {
    /// The upstream reported an error.
    Source(SourceError),
    /// The upstream took too long.
    Late,
    /// The circuit breaker is open.
    LeftOut,
}

impl From<SourceError> for Trouble {
    fn from(error: SourceError) -> Self {
        Self::Source(error)
    }
}

impl From<Trouble> for SourceError {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Source(error) => error,
            Trouble::Late => Self::Busy,
            Trouble::LeftOut => Self::Unreachable("its circuit breaker is open".to_owned()),
        }
    }
}

impl Watched {
    /// Starts with a closed circuit.
    pub fn new(upstream: Arc<dyn Upstream>) -> Self {
        Self {
            upstream,
            breaker: Breaker::default(),
        }
    }

    /// Sends a request if the circuit breaker allows it, and tells the breaker the result.
    pub async fn ask<T>(
        &self,
        patience: Duration,
        asking: impl Future<Output = Result<Answer<T>, Trouble>>,
    ) -> Result<Answer<T>, Trouble> {
        let leave = self.breaker.enter(Instant::now());
        let leave = leave.ok_or(Trouble::LeftOut)?;
        let answer = timeout(patience, asking).await;
        let answer = answer.unwrap_or(Err(Trouble::Late));
        let change = match &answer {
            // A slow or unreachable upstream delays all requests. Invalid bytes are useless.
            Ok(Answer::Wrong)
            | Err(Trouble::Late | Trouble::Source(SourceError::Unreachable(_))) => {
                leave.failed(Instant::now())
            }
            // The upstream is reachable, even if it is busy or fails for this address.
            _ => leave.answered(),
        };
        match change {
            Change::LeftOut => {
                tracing::warn!(
                    upstream = self.upstream.name(),
                    "upstream left out after repeated failures"
                );
            }
            Change::Back => tracing::info!(upstream = self.upstream.name(), "upstream is back"),
            Change::None => {}
        }
        answer
    }
}
