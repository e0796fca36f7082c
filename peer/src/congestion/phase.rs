//! The phases of the controller `tolerant`.

use super::path_estimator::RoundSummary;
use std::time::{Duration, Instant};

/// The minimum target queue. It covers the time for which schedulers and radios hold packets back.
pub const MIN_QUEUE: Duration = Duration::from_millis(8);

/// Startup ends after this many rounds in which the rate grew by less than a quarter. If there is a queue, one such
/// round suffices.
const MAX_STALE_ROUNDS: u32 = 3;

/// The current purpose of the window.
#[derive(Clone, Copy, Debug)]
pub enum Phase {
    /// The window doubles every round, until the path is full.
    Startup(Startup),
    /// One round without a queue. After a probe with this window, it shows the effect.
    Drain { probe: Option<u64> },
    /// Steady state, with a small queue.
    Cruise { rounds_left: u32 },
    /// One round with 25 % more data, to probe for bandwidth.
    ProbeBandwidth { window: u64 },
    /// A quarter of the bandwidth-delay product, so that the queue empties.
    ProbeRtt(RttProbe),
}

/// The progress of the startup.
#[derive(Clone, Copy, Debug, Default)]
pub struct Startup {
    /// The best rate so far.
    best_rate: u64,
    /// The number of rounds in which the rate grew by less than a quarter.
    stale_rounds: u32,
}

impl Startup {
    /// The progress after a round. `None` if the path is full.
    pub fn after_round(self, round: RoundSummary, min_rtt: Duration) -> Option<Self> {
        let has_queue = round.rtt > min_rtt + (min_rtt / 2).max(2 * MIN_QUEUE);
        let has_long_queue = round.rtt > 2 * min_rtt + 2 * MIN_QUEUE;
        let stale_rounds = match round.rate <= self.best_rate + self.best_rate / 4 {
            true => self.stale_rounds + 1,
            false => 0,
        };
        // The rate may grow for long if other senders give way.
        if has_long_queue {
            None
        } else if round.app_limited {
            Some(self)
        } else if stale_rounds == 0 {
            let best_rate = round.rate;
            Some(Self {
                best_rate,
                stale_rounds,
            })
        } else if !has_queue && stale_rounds < MAX_STALE_ROUNDS {
            Some(Self {
                stale_rounds,
                ..self
            })
        } else {
            None
        }
    }
}

/// A measurement of the minimum round trip.
#[derive(Clone, Copy, Debug, Default)]
pub struct RttProbe {
    /// The end of the measurement. It is set once the queue should be empty.
    pub until: Option<Instant>,
    /// The minimum so far, and when it was seen.
    pub min_rtt: Option<(Duration, Instant)>,
}

impl RttProbe {
    /// Counts a round trip.
    pub fn add(&mut self, rtt: Duration, now: Instant) {
        if self.min_rtt.is_none_or(|(min_rtt, _)| rtt < min_rtt) {
            self.min_rtt = Some((rtt, now));
        }
    }
}
