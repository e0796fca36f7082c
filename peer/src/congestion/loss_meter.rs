//! Detects a loss rate that is too high to be tolerated.

/// The loss rate that is not treated as congestion.
const TOLERATED_LOSS: f64 = 0.03;

/// The number of packets that may be lost beyond the tolerated rate, because losses come in bursts.
const ALLOWED_BURST_PACKETS: f64 = 12.0;

/// The same during a probe, whose losses show the limit of the path.
const ALLOWED_PROBE_PACKETS: f64 = 1.0;

/// A cumulative sum of the losses beyond the tolerated rate. A single burst of losses exceeds the allowance at once. A
/// constant loss rate exceeds it sooner or later if it is above the tolerated rate, and rarely otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub struct LossMeter {
    excess_bytes: f64,
}

impl LossMeter {
    /// Counts acknowledged bytes.
    pub fn delivered(&mut self, bytes: u64) {
        let tolerated = bytes as f64 * TOLERATED_LOSS;
        self.excess_bytes = (self.excess_bytes - tolerated).max(0.0);
    }

    /// Counts lost bytes.
    pub fn lost(&mut self, bytes: u64) {
        self.excess_bytes += bytes as f64 * (1.0 - TOLERATED_LOSS);
    }

    /// Whether the recent losses are too many, for packets of this length.
    pub fn is_excessive(&self, packet_bytes: u64) -> bool {
        self.excess_bytes > ALLOWED_BURST_PACKETS * packet_bytes as f64
    }

    /// Whether so few packets were lost that a probe did not reach the limit of the path.
    pub fn is_clean(&self, packet_bytes: u64) -> bool {
        self.excess_bytes <= ALLOWED_PROBE_PACKETS * packet_bytes as f64
    }

    /// Starts anew.
    pub fn reset(&mut self) {
        self.excess_bytes = 0.0;
    }
}
