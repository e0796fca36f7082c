//! A congestion controller that does not treat a single lost packet as congestion.
//!
//! It keeps the bandwidth-delay product in flight, plus a small queue so that the path never runs dry. The bandwidth
//! is the best delivery rate of the last rounds. The delay is the recent minimum round trip. Every few rounds, it
//! sends more for one round to probe for more bandwidth, and then drains the queue. From time to time it sends little,
//! to measure the path's round trip without its own queue.
//!
//! A high loss rate shows a short queue that is full. It sets a ceiling for the window. Below the ceiling, the
//! controller leaves room for other senders, and it probes less often.
//!
//! This is the model of BBR, with a congestion window instead of BBR's pacing. The QUIC library derives its pacing
//! from the window.

mod rounds;

use super::ceiling::Ceiling;
use super::loss_meter::LossMeter;
use super::path_estimator::{AckBatch, PathEstimator};
use super::phase::{MIN_QUEUE, Phase, Startup};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The initial window in packets, as in RFC 9002.
const INITIAL_PACKETS: u64 = 10;

/// The minimum window in packets. It leaves room for acknowledgements that cover several packets.
const MIN_WINDOW_PACKETS: u64 = 4;

/// The target queue is the round trip divided by this.
const QUEUE_DIVISOR: u32 = 8;

/// The minimum target queue in packets. Equal queues make several slow senders equally fast.
const MIN_QUEUE_PACKETS: u64 = 6;

/// The queue of other senders that the window compensates for is at most half a round trip, or this if it is longer.
const MIN_FOREIGN_QUEUE: Duration = Duration::from_millis(30);

/// How long the window stays small to measure the minimum round trip. It is one round trip if that is longer.
const PROBE_RTT_TIME: Duration = Duration::from_millis(200);

#[derive(Clone, Debug)]
struct Tolerant {
    packet_bytes: u64,
    window: u64,
    ceiling: Ceiling,
    phase: Phase,
    path: PathEstimator,
    /// Whether nothing was in flight after the last acknowledgements.
    is_idle: bool,
    /// The acknowledgements that are being processed.
    batch: Option<AckBatch>,
    /// How long acknowledgements are delayed, for example by schedulers and radios.
    ack_delay: Duration,
    loss_meter: LossMeter,
    /// When the window was last reduced because of congestion. Data that was sent before says nothing new.
    reduced_at: Option<Instant>,
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
            ceiling: Ceiling::none(now),
            phase: Phase::Startup(Startup::default()),
            path: PathEstimator::new(now),
            is_idle: true,
            batch: None,
            ack_delay: Duration::ZERO,
            loss_meter: LossMeter::default(),
            reduced_at: None,
        }
    }

    fn min_window(&self) -> u64 {
        MIN_WINDOW_PACKETS * self.packet_bytes
    }

    /// The round trip, including the queue of other senders up to a bound. Without the bound, several senders would
    /// compensate for the queues of each other without end.
    fn rtt(&self) -> Duration {
        let max_rtt = self.path.min_rtt() + self.max_foreign_queue();
        self.path.recent_min_rtt().min(max_rtt)
    }

    /// The longest queue of other senders that the window compensates for.
    fn max_foreign_queue(&self) -> Duration {
        (self.path.min_rtt() / 2).max(MIN_FOREIGN_QUEUE)
    }

    /// The bandwidth-delay product plus the target queue.
    fn target_in_flight(&self) -> u64 {
        let rtt = self.rtt();
        let queue = self.path.bytes_in((rtt / QUEUE_DIVISOR).max(MIN_QUEUE));
        let min_queue = MIN_QUEUE_PACKETS * self.packet_bytes;
        self.path.bytes_in(rtt + self.ack_delay) + queue.max(min_queue)
    }

    /// The window in steady state.
    fn steady_window(&self) -> u64 {
        self.target_in_flight().min(self.ceiling.headroom())
    }

    /// The target window. `None` in startup, where the window grows freely.
    fn target(&self) -> Option<u64> {
        let steady = self.steady_window();
        let target = match self.phase {
            Phase::Startup(_) => return None,
            // Below the ceiling there is no queue of this sender.
            Phase::Drain { .. } if self.ceiling.headroom() < self.target_in_flight() => steady,
            Phase::Drain { .. } => self.path.bytes_in(self.rtt() + self.ack_delay / 2),
            Phase::Cruise { .. } => steady,
            Phase::ProbeBandwidth { window } => window,
            Phase::ProbeRtt(_) => self.path.bytes_in(self.path.min_rtt()) / 2,
        };
        Some(target.max(self.min_window()))
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
        self.loss_meter.delivered(bytes);
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
        // A pause measures the path as well as `Phase::ProbeRtt` does, which would make the next answer slow.
        if mem::replace(&mut self.is_idle, in_flight == 0) {
            let most = self.max_foreign_queue();
            self.path.confirm_min_rtt(now, batch, MIN_QUEUE, most);
        }
        if let Phase::ProbeRtt(probe) = &mut self.phase {
            let path_bytes = self.path.bytes_in(self.path.min_rtt());
            if probe.until.is_some() {
                probe.add(now.saturating_duration_since(batch.newest_sent), now);
            } else if in_flight <= path_bytes * 6 / 10 + MIN_WINDOW_PACKETS * self.packet_bytes {
                let time = PROBE_RTT_TIME.max(self.path.min_rtt());
                probe.until = Some(now + time);
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
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if is_persistent_congestion {
            // Nothing was delivered for a long time, so the known path no longer exists.
            self.path.reset_rates();
            self.ceiling = Ceiling::none(now);
            self.phase = Phase::Startup(Startup::default());
            self.window = self.min_window();
            self.loss_meter.reset();
            return;
        }
        if self.reduced_at.is_some_and(|reduced| sent <= reduced) {
            return;
        }
        self.loss_meter.lost(lost_bytes);
        // A router marks packets instead of dropping them.
        let is_marked = lost_bytes == 0;
        if is_marked || self.loss_meter.is_excessive(self.packet_bytes) {
            self.reduce(now);
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
