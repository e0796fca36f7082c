//! The window at which a path loses too much.

use std::mem;
use std::time::{Duration, Instant};

/// The number of round trips between two bandwidth probes of a path with a ceiling. Senders like CUBIC need about this
/// time to grow.
const CRUISE_ROUND_TRIPS: u32 = 100;

/// The minimum and the maximum of this time. Up to a second is added.
const MIN_CRUISE_TIME: Duration = Duration::from_secs(2);
const MAX_CRUISE_TIME: Duration = Duration::from_secs(5);

/// The ceiling of the window. Below it, the sender leaves room for other senders.
#[derive(Clone, Debug)]
pub struct Ceiling {
    /// `None` if the path did not lose too much.
    window: Option<u64>,
    /// The earliest time of the next bandwidth probe.
    probe_after: Instant,
    /// Whether the last probe raised the ceiling.
    is_raised: bool,
}

impl Ceiling {
    /// No ceiling.
    pub fn none(now: Instant) -> Self {
        Self {
            window: None,
            probe_after: now,
            is_raised: false,
        }
    }

    /// Whether there is a ceiling.
    pub fn exists(&self) -> bool {
        self.window.is_some()
    }

    /// The maximum window in steady state, 15 % below the ceiling.
    pub fn headroom(&self) -> u64 {
        self.window.map_or(u64::MAX, |window| window * 17 / 20)
    }

    /// Whether the next bandwidth probe may start.
    pub fn allows_probe(&self, now: Instant) -> bool {
        now >= self.probe_after
    }

    /// Sets the ceiling, and postpones the next probe. `extra_millis` differs between senders.
    pub fn set(&mut self, window: u64, now: Instant, min_rtt: Duration, extra_millis: u64) {
        let time = (min_rtt * CRUISE_ROUND_TRIPS).clamp(MIN_CRUISE_TIME, MAX_CRUISE_TIME);
        self.is_raised = false;
        self.probe_after = now + time + Duration::from_millis(extra_millis);
        self.window = Some(window);
    }

    /// Raises the ceiling to the window of a probe without losses.
    pub fn raise(&mut self, window: u64) {
        self.window = self.window.map(|ceiling| ceiling.max(window));
        self.is_raised = true;
    }

    /// The ceiling after a probe with losses. If the probe before had none, its window is the ceiling. Otherwise other
    /// senders need more room.
    pub fn lowered(&mut self) -> Option<u64> {
        let was_raised = mem::take(&mut self.is_raised);
        self.window
            .map(|window| if was_raised { window } else { window * 9 / 10 })
    }

    /// Removes the ceiling if it does not limit a window of this size.
    pub fn remove_above(&mut self, window: u64) {
        if self.headroom() >= window {
            self.window = None;
        }
    }
}
