//! A congestion controller that does not treat a single lost packet as congestion.
//!
//! It keeps the bandwidth-delay product in flight, plus a small queue so that the path never runs dry. The bandwidth
//! is the best delivery rate of the last rounds. The delay is the recent minimum round trip. Every few rounds, it
//! sends more for one round to probe for more bandwidth, and then drains the queue. It slows down when the loss rate
//! is high, which is how a short queue shows that it is full. From time to time it sends little, to measure the
//! path's round trip without its own queue.
//!
//! This is the model of BBR, with a congestion window instead of BBR's pacing. The QUIC library derives its pacing
//! from the window.

use super::path_estimator::{AckBatch, PathEstimator, RoundSummary};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The initial window in packets. Large senders use the same. The smallest archives fit.
const INITIAL_PACKETS: u64 = 32;

/// The minimum window in packets. It leaves room for acknowledgements that cover several packets.
const MIN_WINDOW_PACKETS: u64 = 6;

/// The target queue is the round trip divided by this.
const QUEUE_DIVISOR: u32 = 8;

/// The minimum target queue. It covers the time for which schedulers and radios hold packets back.
const MIN_QUEUE: Duration = Duration::from_millis(8);

/// The maximum acknowledgement delay that the window compensates for.
const MAX_ACK_DELAY: Duration = Duration::from_millis(100);

/// The loss rate that is not treated as congestion.
const TOLERATED_LOSS: f64 = 0.08;

/// The number of packets over which the loss rate is measured. With this many, a path with 3 % loss rarely seems to
/// exceed the tolerated rate.
const LOSS_SAMPLE_PACKETS: u64 = 200;

/// Startup ends after this many rounds in which the rate grew by less than a quarter. If there is a queue, one such
/// round suffices.
const MAX_STALE_ROUNDS: u32 = 3;

/// The minimum number of rounds between two bandwidth probes. Up to three more are added, so that sessions do not
/// probe at the same time.
const CRUISE_ROUNDS: u32 = 5;

/// After this time without confirmation, the minimum round trip is measured again.
const MIN_RTT_LIFETIME: Duration = Duration::from_secs(10);

/// How long the window stays small for this measurement. The minimum is one round trip.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

#[derive(Clone, Copy, Debug)]
enum Phase {
    /// The window doubles every round, until the path is full.
    Startup { best_rate: u64, stale_rounds: u32 },
    /// One round without a queue.
    Drain,
    /// Steady state, with a small queue.
    Cruise { rounds_left: u32 },
    /// One round with 25 % more data, to probe for bandwidth.
    ProbeBandwidth,
    /// Half of the bandwidth-delay product, so that the queue empties. `until` is set once the queue should be empty.
    ProbeRtt {
        until: Option<Instant>,
        min_rtt: Option<Duration>,
    },
}

/// Delivered and lost bytes since the loss rate was last measured.
#[derive(Clone, Copy, Debug, Default)]
struct LossSample {
    delivered: u64,
    lost: u64,
}

#[derive(Clone, Debug)]
struct Tolerant {
    packet_bytes: u64,
    window: u64,
    /// The maximum window after high loss. It rises again when the path carries more.
    ceiling: Option<u64>,
    phase: Phase,
    path: PathEstimator,
    /// The acknowledgements that are being processed.
    batch: Option<AckBatch>,
    /// How long acknowledgements are delayed, for example by schedulers and radios.
    ack_delay: Duration,
    loss_sample: LossSample,
    /// Whether a router signalled congestion with an ECN mark.
    ecn_marked: bool,
}

/// Creates the controllers.
pub struct TolerantConfig;

impl ControllerFactory for TolerantConfig {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        Box::new(Tolerant::new(now, u64::from(current_mtu)))
    }
}

impl Tolerant {
    fn new(now: Instant, packet_bytes: u64) -> Self {
        Self {
            packet_bytes,
            window: INITIAL_PACKETS * packet_bytes,
            ceiling: None,
            phase: Phase::startup(),
            path: PathEstimator::new(now),
            batch: None,
            ack_delay: Duration::ZERO,
            loss_sample: LossSample::default(),
            ecn_marked: false,
        }
    }

    fn min_window(&self) -> u64 {
        MIN_WINDOW_PACKETS * self.packet_bytes
    }

    /// The bandwidth-delay product plus the target queue.
    fn target_in_flight(&self) -> u64 {
        let rtt = self.path.recent_min_rtt();
        let queue = (rtt / QUEUE_DIVISOR).max(MIN_QUEUE);
        self.path.bytes_in(rtt + queue + self.ack_delay)
    }

    /// The target window. `None` in startup, where the window grows freely.
    fn target(&self) -> Option<u64> {
        let target = match self.phase {
            Phase::Startup { .. } => return None,
            Phase::Drain => self
                .path
                .bytes_in(self.path.recent_min_rtt() + self.ack_delay / 2),
            Phase::Cruise { .. } => self.target_in_flight(),
            Phase::ProbeBandwidth => self.target_in_flight() * 5 / 4,
            Phase::ProbeRtt { .. } => self.path.bytes_in(self.path.min_rtt()) / 2,
        };
        Some(
            target
                .min(self.ceiling.unwrap_or(u64::MAX))
                .max(self.min_window()),
        )
    }

    /// Whether the recent loss rate is too high. Starts a new sample if the current one is complete.
    fn is_loss_excessive(&mut self) -> bool {
        let bytes = self.loss_sample.delivered + self.loss_sample.lost;
        if bytes < LOSS_SAMPLE_PACKETS * self.packet_bytes {
            return false;
        }
        let loss_sample = mem::take(&mut self.loss_sample);
        loss_sample.lost as f64 / bytes as f64 > TOLERATED_LOSS
    }

    fn end_round(&mut self, round: RoundSummary, now: Instant) {
        let ecn_marked = mem::take(&mut self.ecn_marked);
        let is_congested = self.is_loss_excessive() || ecn_marked;
        if is_congested {
            let max_window = self.window.min(self.target_in_flight() * 5 / 4);
            self.ceiling = Some((max_window * 17 / 20).max(self.min_window()));
        }
        // In other phases, the controller itself changes the queue.
        if let Phase::Cruise { .. } = self.phase {
            let spread = round.spread.min(MAX_ACK_DELAY);
            self.ack_delay = (self.ack_delay * 3 + spread) / 4;
        }
        self.phase = match self.phase {
            Phase::Startup {
                best_rate,
                stale_rounds,
            } => self.after_startup_round(round, is_congested, best_rate, stale_rounds),
            Phase::Drain => self.cruise(),
            Phase::Cruise { rounds_left: 0 } if !round.app_limited && !is_congested => {
                Phase::ProbeBandwidth
            }
            Phase::Cruise { rounds_left } => Phase::Cruise {
                rounds_left: rounds_left.saturating_sub(1),
            },
            Phase::ProbeBandwidth => {
                if !is_congested {
                    self.raise_ceiling();
                }
                // If the probe increased the rate, probe again at once.
                if round.rate > round.rate_before + round.rate_before / 10 {
                    Phase::ProbeBandwidth
                } else {
                    Phase::Drain
                }
            }
            Phase::ProbeRtt {
                until: Some(until),
                min_rtt,
            } if now >= until => {
                if let Some(min_rtt) = min_rtt {
                    self.path.set_min_rtt(min_rtt, now);
                }
                self.cruise()
            }
            probing @ Phase::ProbeRtt { .. } => probing,
        };
        let may_probe_rtt = !matches!(self.phase, Phase::Startup { .. } | Phase::ProbeRtt { .. });
        if may_probe_rtt && !round.app_limited && self.path.min_rtt_age(now) > MIN_RTT_LIFETIME {
            self.phase = Phase::ProbeRtt {
                until: None,
                min_rtt: None,
            };
        }
    }

    fn after_startup_round(
        &self,
        round: RoundSummary,
        is_congested: bool,
        best_rate: u64,
        stale_rounds: u32,
    ) -> Phase {
        let min_rtt = self.path.min_rtt();
        let has_queue = round.rtt > min_rtt + (min_rtt / 2).max(2 * MIN_QUEUE);
        let is_stale = round.rate <= best_rate + best_rate / 4;
        if is_congested {
            Phase::Drain
        } else if round.app_limited {
            self.phase
        } else if !is_stale {
            Phase::Startup {
                best_rate: round.rate,
                stale_rounds: 0,
            }
        } else if !has_queue && stale_rounds + 1 < MAX_STALE_ROUNDS {
            Phase::Startup {
                best_rate,
                stale_rounds: stale_rounds + 1,
            }
        } else {
            Phase::Drain
        }
    }

    fn cruise(&self) -> Phase {
        // Any number that differs between sessions is sufficient.
        let extra_rounds = (self.path.rate() % 4) as u32;
        Phase::Cruise {
            rounds_left: CRUISE_ROUNDS + extra_rounds,
        }
    }

    fn raise_ceiling(&mut self) {
        let target_in_flight = self.target_in_flight();
        self.ceiling = self
            .ceiling
            .map(|ceiling| ceiling + ceiling / 4)
            .filter(|ceiling| *ceiling < 2 * target_in_flight);
    }
}

impl Phase {
    fn startup() -> Self {
        Self::Startup {
            best_rate: 0,
            stale_rounds: 0,
        }
    }
}

impl Controller for Tolerant {
    fn on_ack(
        &mut self,
        _now: Instant,
        sent: Instant,
        bytes: u64,
        _app_limited: bool,
        _rtt: &RttEstimator,
    ) {
        let batch = self.batch.get_or_insert(AckBatch {
            bytes: 0,
            oldest_sent: sent,
            newest_sent: sent,
        });
        batch.bytes += bytes;
        batch.oldest_sent = batch.oldest_sent.min(sent);
        batch.newest_sent = batch.newest_sent.max(sent);
        self.loss_sample.delivered += bytes;
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        let Some(batch) = self.batch.take() else {
            return;
        };
        let completed_round = self.path.acknowledged(now, batch, app_limited);
        if let Phase::ProbeRtt { until, min_rtt } = &mut self.phase {
            let path_bytes = self.path.bytes_in(self.path.min_rtt());
            if until.is_some() {
                let rtt = now.saturating_duration_since(batch.newest_sent);
                *min_rtt = Some(min_rtt.map_or(rtt, |known| known.min(rtt)));
            } else if in_flight <= path_bytes * 6 / 10 + MIN_WINDOW_PACKETS * self.packet_bytes {
                let time = PROBE_RTT_TIME.max(self.path.min_rtt());
                *until = Some(now + time);
            }
        }
        if let Some(round) = completed_round {
            self.end_round(round, now);
        }
        match self.target() {
            Some(target) if target <= self.window => self.window = target,
            // A window that was not fully used does not show what the path can carry.
            _ if app_limited => {}
            Some(target) => self.window = target.min(self.window + batch.bytes),
            None => self.window += batch.bytes,
        }
    }

    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        self.loss_sample.lost += lost_bytes;
        self.ecn_marked |= lost_bytes == 0;
        if is_persistent_congestion {
            // Nothing was delivered for a long time, so the known path no longer exists.
            self.path.reset_rates();
            self.phase = Phase::startup();
            self.window = self.min_window();
            self.loss_sample = LossSample::default();
        }
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.packet_bytes = u64::from(new_mtu);
        self.window = self.window.max(self.min_window());
    }

    fn window(&self) -> u64 {
        self.window
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window;
        metrics
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        INITIAL_PACKETS * self.packet_bytes
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
