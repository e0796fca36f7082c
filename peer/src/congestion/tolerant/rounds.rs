//! The decisions of the controller `tolerant` after each round, and after congestion.

use super::super::path_estimator::RoundSummary;
use super::super::phase::{Phase, RttProbe};
use super::Tolerant;
use std::time::{Duration, Instant};

/// The minimum number of rounds between two bandwidth probes. Up to three more are added, so that sessions do not
/// probe at the same time.
const CRUISE_ROUNDS: u32 = 5;

/// The minimum number of packets that a bandwidth probe adds.
const MIN_PROBE_PACKETS: u64 = 4;

/// The QUIC library sends bursts of this many packets.
const BURST_PACKETS: u64 = 10;

/// After this time without confirmation, the minimum round trip is measured again.
const MIN_RTT_LIFETIME: Duration = Duration::from_secs(10);

/// The maximum acknowledgement delay that the window compensates for.
const MAX_ACK_DELAY: Duration = Duration::from_millis(100);

impl Tolerant {
    /// Decides what follows after a round.
    pub fn end_round(&mut self, round: RoundSummary, now: Instant) {
        // In other phases, the controller itself changes the queue.
        if let Phase::Cruise { .. } = self.phase {
            let spread = round.spread.min(MAX_ACK_DELAY);
            self.ack_delay = (self.ack_delay * 3 + spread) / 4;
        }
        self.phase = match self.phase {
            Phase::Startup(startup) => startup
                .after_round(round, self.path.min_rtt())
                .map_or(Phase::Drain { probe: None }, Phase::Startup),
            Phase::Drain {
                probe: Some(window),
            } => self.after_probe(round, window, now),
            Phase::Drain { probe: None } => self.cruise(),
            Phase::Cruise { rounds_left: 0 }
                if !round.app_limited && self.ceiling.allows_probe(now) =>
            {
                self.probe()
            }
            Phase::Cruise { rounds_left } => Phase::Cruise {
                rounds_left: rounds_left.saturating_sub(1),
            },
            Phase::ProbeBandwidth { window } => Phase::Drain {
                probe: Some(window),
            },
            Phase::ProbeRtt(RttProbe {
                until: Some(until),
                min_rtt,
            }) if now >= until => {
                if let Some((min_rtt, seen)) = min_rtt {
                    self.path.set_min_rtt(min_rtt, seen);
                }
                self.cruise()
            }
            probing @ Phase::ProbeRtt(_) => probing,
        };
        let may_probe_rtt = !matches!(self.phase, Phase::Startup(_) | Phase::ProbeRtt(_));
        if may_probe_rtt && !round.app_limited && self.path.min_rtt_age(now) > rtt_lifetime(round) {
            self.phase = Phase::ProbeRtt(RttProbe::default());
        }
    }

    fn cruise(&mut self) -> Phase {
        // A ceiling that does not limit the next probe is obsolete.
        let most = self.target_in_flight() * 5 / 4;
        self.ceiling.remove_above(most);
        // Any numbers that differ between sessions are sufficient.
        let rate = self.path.rate();
        Phase::Cruise {
            rounds_left: CRUISE_ROUNDS + (rate % 4) as u32,
        }
    }

    fn probe(&mut self) -> Phase {
        self.loss_meter.reset();
        let steady = self.steady_window();
        let extra = (steady / 4).max(MIN_PROBE_PACKETS * self.packet_bytes);
        Phase::ProbeBandwidth {
            window: steady + extra,
        }
    }

    /// Decides after the round in which the acknowledgements of a probe arrived.
    fn after_probe(&mut self, round: RoundSummary, window: u64, now: Instant) -> Phase {
        if !self.loss_meter.is_clean(self.packet_bytes) {
            if let Some(window) = self.ceiling.lowered() {
                self.set_ceiling(window, now);
            }
            return self.cruise();
        }
        self.ceiling.raise(window);
        // Far below the ceiling of the past, one probe after the other finds the new one.
        if self.ceiling.exists() && !round.app_limited && !self.has_queue(round.rtt) {
            self.probe()
        } else {
            self.cruise()
        }
    }

    fn set_ceiling(&mut self, window: u64, now: Instant) {
        let extra_millis = self.path.rate() % 1000;
        let window = window.max(self.min_window());
        self.ceiling
            .set(window, now, self.path.min_rtt(), extra_millis);
    }

    /// Whether a round trip includes a queue that is longer than a burst of the QUIC library.
    fn has_queue(&self, rtt: Duration) -> bool {
        let queue = rtt.saturating_sub(self.path.min_rtt());
        self.path.bytes_in(queue) > BURST_PACKETS * self.packet_bytes
    }

    /// Reduces the window after congestion.
    pub fn reduce(&mut self, now: Instant) {
        self.reduced_at = Some(now);
        self.loss_meter.reset();
        // More than the last round delivered does not fit into the path.
        let delivered = self.path.last_round_bytes();
        self.set_ceiling(delivered.max(self.window / 2), now);
        if !matches!(self.phase, Phase::ProbeRtt(_)) {
            self.phase = Phase::Drain { probe: None };
        }
        let target = self.target().unwrap_or(self.window);
        self.window = self.window.min(target);
    }
}

/// How long the minimum round trip is valid. If the queue just became shorter, other senders probably measure theirs.
/// Senders that measure at the same time see the path without a queue.
fn rtt_lifetime(round: RoundSummary) -> Duration {
    let is_shorter = round.rtt < round.recent_rtt_before * 15 / 16;
    if is_shorter {
        MIN_RTT_LIFETIME / 2
    } else {
        MIN_RTT_LIFETIME
    }
}
