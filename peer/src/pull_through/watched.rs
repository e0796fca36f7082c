//! An upstream behind its circuit breaker.

use super::breaker::{Breaker, Change};
use crate::source::SourceError;
use crate::upstream::Upstream;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// An upstream, and whether it is asked at present.
pub struct Watched {
    /// The upstream itself. What is asked of it goes through `ask`.
    pub upstream: Arc<dyn Upstream>,
    breaker: Breaker,
}

/// What an upstream said.
pub enum Answer<T> {
    /// What is at the address.
    Right(T),
    /// That it has nothing there.
    Nothing,
    /// Something that is not at this address.
    Wrong,
}

/// Why it said nothing.
pub enum Trouble {
    /// Its own.
    Source(SourceError),
    /// It took too long.
    Late,
    /// It was not asked, since it failed lately.
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
            Trouble::LeftOut => Self::Unreachable("it is left out for a while".to_owned()),
        }
    }
}

impl Watched {
    /// It is asked until it fails.
    pub fn new(upstream: Arc<dyn Upstream>) -> Self {
        Self {
            upstream,
            breaker: Breaker::default(),
        }
    }

    /// Asks if the upstream is to be asked at present, and learns from what comes of it.
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
            // It costs the time of all who come after, or gives what nobody can use.
            Ok(Answer::Wrong)
            | Err(Trouble::Late | Trouble::Source(SourceError::Unreachable(_))) => {
                leave.failed(Instant::now())
            }
            // One that is busy, or has trouble with this address, is there.
            _ => leave.answered(),
        };
        match change {
            Change::LeftOut => {
                tracing::warn!(
                    upstream = self.upstream.name(),
                    "left out, as it keeps failing"
                );
            }
            Change::Back => tracing::info!(upstream = self.upstream.name(), "asked again"),
            Change::None => {}
        }
        answer
    }
}
