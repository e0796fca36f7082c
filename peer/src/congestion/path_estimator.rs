//! Estimates the properties of a network path from acknowledgements, one round at a time.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

/// The delivery rate of a path is the maximum of this many rounds.
const RATE_ROUNDS: u64 = 10;

/// The recent minimum round trip covers at least this many rounds, and at most twice as many.
const RECENT_RTT_ROUNDS: u32 = 10;

/// A round trip confirms the minimum if it is longer by at most the minimum divided by this.
const CONFIRMATION_DIVISOR: u32 = 32;

/// The estimated properties of a path. A round starts when the previous one ends. It ends when data that was sent
/// during the round is acknowledged.
#[derive(Clone, Debug)]
pub struct PathEstimator {
    /// The number of acknowledged bytes since the start.
    delivered: u64,
    round: Round,
    /// The number of bytes that were acknowledged in the last completed round.
    last_round_bytes: u64,
    /// The number of rounds that gave a valid rate.
    rounds: u64,
    /// Rates in bytes per second with their rounds, in falling order.
    rates: VecDeque<(u64, u64)>,
    /// The minimum round trip, and when it was last confirmed.
    min_rtt: Option<(Duration, Instant)>,
    recent: RecentMinimum,
}

#[derive(Clone, Debug)]
struct Round {
    began: Instant,
    /// When the data was sent whose acknowledgement ended the previous round.
    sent_before: Instant,
    /// The value of `PathEstimator::delivered` at the start of the round.
    delivered: u64,
    /// Whether the sender had too little data at some time, so that the rate of the round is too low.
    app_limited: bool,
    min_rtt: Option<Duration>,
    max_rtt: Duration,
}

/// The minimum round trip of the last rounds, in two halves. When the newer half is full, it replaces the older one.
#[derive(Clone, Debug, Default)]
struct RecentMinimum {
    older: Option<Duration>,
    newer: Option<Duration>,
    rounds: u32,
}

/// Bytes that were acknowledged together.
#[derive(Clone, Copy, Debug)]
pub struct AckBatch {
    /// The number of bytes.
    pub bytes: u64,
    /// When the first byte was sent.
    pub oldest_sent: Instant,
    /// When the last byte was sent.
    pub newest_sent: Instant,
}

/// The measurements of a completed round.
#[derive(Clone, Copy, Debug)]
pub struct RoundSummary {
    /// The delivery rate in bytes per second.
    pub rate: u64,
    /// The estimated delivery rate before this round.
    pub rate_before: u64,
    /// Whether the sender had too little data at some time.
    pub app_limited: bool,
    /// The minimum round trip.
    pub rtt: Duration,
    /// The recent minimum round trip before this round.
    pub recent_rtt_before: Duration,
    /// The maximum round trip minus the minimum.
    pub spread: Duration,
}

impl PathEstimator {
    /// Starts without any measurement.
    pub fn new(now: Instant) -> Self {
        Self {
            delivered: 0,
            round: Round::new(now, now, 0),
            last_round_bytes: 0,
            rounds: 0,
            rates: VecDeque::new(),
            min_rtt: None,
            recent: RecentMinimum::default(),
        }
    }

    /// Processes acknowledged bytes. `app_limited` is true if the sender had too little data. Returns the round that
    /// this ended, if any.
    pub fn acknowledged(
        &mut self,
        now: Instant,
        batch: AckBatch,
        app_limited: bool,
    ) -> Option<RoundSummary> {
        self.delivered += batch.bytes;
        let rtt = now.saturating_duration_since(batch.newest_sent);
        let max_rtt = now.saturating_duration_since(batch.oldest_sent);
        self.round.app_limited |= app_limited;
        self.round.min_rtt = min_rtt_of(self.round.min_rtt, rtt);
        self.round.max_rtt = self.round.max_rtt.max(max_rtt);
        match self.min_rtt {
            Some((min_rtt, _)) if rtt > min_rtt + min_rtt / CONFIRMATION_DIVISOR => {}
            Some((min_rtt, _)) => self.min_rtt = Some((min_rtt.min(rtt), now)),
            None => self.min_rtt = Some((rtt, now)),
        }
        (batch.newest_sent >= self.round.began).then(|| self.end_round(now, batch.newest_sent))
    }

    fn end_round(&mut self, now: Instant, newest_sent: Instant) -> RoundSummary {
        let next = Round::new(now, newest_sent, self.delivered);
        let round = mem::replace(&mut self.round, next);
        let last_rtt = now.saturating_duration_since(newest_sent);
        let min_rtt = round.min_rtt.unwrap_or(last_rtt);
        self.last_round_bytes = self.delivered - round.delivered;
        // Acknowledgements that were held back arrive faster than the path delivers. The path did not deliver the data
        // faster than it was sent.
        let acknowledging = now.saturating_duration_since(round.began);
        let sending = newest_sent.saturating_duration_since(round.sent_before);
        let seconds = acknowledging.max(sending).as_secs_f64();
        let rate = self.last_round_bytes as f64 / seconds.max(1e-6);
        let summary = RoundSummary {
            rate: rate as u64,
            rate_before: self.rate(),
            app_limited: round.app_limited,
            rtt: min_rtt,
            recent_rtt_before: self.recent_min_rtt(),
            spread: round.max_rtt.saturating_sub(min_rtt),
        };
        // If the sender had little data, a low rate says nothing about the path.
        if !summary.app_limited || summary.rate > summary.rate_before {
            self.rounds += 1;
            self.rates
                .retain(|(round, rate)| *rate > summary.rate && round + RATE_ROUNDS >= self.rounds);
            self.rates.push_back((self.rounds, summary.rate));
        }
        self.recent.add(summary.rtt);
        summary
    }

    /// The delivery rate of the path in bytes per second. 0 if it is not known yet.
    pub fn rate(&self) -> u64 {
        self.rates.front().map_or(0, |(_, rate)| *rate)
    }

    /// The number of bytes that were acknowledged in the last completed round.
    pub fn last_round_bytes(&self) -> u64 {
        self.last_round_bytes
    }

    /// The number of bytes that the path delivers in this time.
    pub fn bytes_in(&self, time: Duration) -> u64 {
        (self.rate() as f64 * time.as_secs_f64()) as u64
    }

    /// The minimum round trip: the path's delay without any queue, as far as known.
    pub fn min_rtt(&self) -> Duration {
        self.min_rtt.map_or(Duration::ZERO, |(min_rtt, _)| min_rtt)
    }

    /// The recent minimum round trip. It includes the queue that other senders keep.
    pub fn recent_min_rtt(&self) -> Duration {
        let min_rtt = self.min_rtt();
        self.recent
            .min_rtt()
            .map_or(min_rtt, |recent| recent.max(min_rtt))
    }

    /// Confirms the minimum round trip with data that was sent while nothing was in flight: there was no queue of this
    /// sender. The round trip is longer by the time that the path takes to deliver the data. If it is longer by more
    /// than that and `tolerance`, or by more than `most`, the path has changed or others have a queue. Then nothing is
    /// confirmed.
    pub fn confirm_min_rtt(
        &mut self,
        now: Instant,
        batch: AckBatch,
        tolerance: Duration,
        most: Duration,
    ) {
        let rate = self.rate();
        let Some((min_rtt, seen)) = &mut self.min_rtt else {
            return;
        };
        if rate == 0 {
            return;
        }
        let delivery = Duration::from_secs_f64(batch.bytes as f64 / rate as f64);
        let rtt = now.saturating_duration_since(batch.newest_sent);
        if rtt <= *min_rtt + (delivery + tolerance).min(most) {
            *seen = now;
        }
    }

    /// The time since a round trip last confirmed the minimum.
    pub fn min_rtt_age(&self, now: Instant) -> Duration {
        self.min_rtt.map_or(Duration::ZERO, |(_, seen)| {
            now.saturating_duration_since(seen)
        })
    }

    /// Replaces the minimum round trip with a new measurement.
    pub fn set_min_rtt(&mut self, rtt: Duration, now: Instant) {
        self.min_rtt = Some((rtt, now));
    }

    /// Discards the rates, because the path has changed.
    pub fn reset_rates(&mut self) {
        self.rates.clear();
    }
}

impl Round {
    fn new(began: Instant, sent_before: Instant, delivered: u64) -> Self {
        Self {
            began,
            sent_before,
            delivered,
            app_limited: false,
            min_rtt: None,
            max_rtt: Duration::ZERO,
        }
    }
}

impl RecentMinimum {
    fn add(&mut self, rtt: Duration) {
        self.newer = min_rtt_of(self.newer, rtt);
        self.rounds += 1;
        if self.rounds == RECENT_RTT_ROUNDS {
            self.older = self.newer.take();
            self.rounds = 0;
        }
    }

    fn min_rtt(&self) -> Option<Duration> {
        self.newer
            .map_or(self.older, |newer| min_rtt_of(self.older, newer))
    }
}

fn min_rtt_of(known: Option<Duration>, new: Duration) -> Option<Duration> {
    Some(known.map_or(new, |known| known.min(new)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIN_RTT: Duration = Duration::from_millis(50);
    const TOLERANCE: Duration = Duration::from_millis(8);
    const MOST: Duration = Duration::from_millis(30);
    const PACKET_BYTES: u64 = 1250;

    /// A path of 50 ms and 10 Mbit/s, and the time at which it was measured. 10 packets take 10 ms.
    fn measured() -> (PathEstimator, Instant) {
        let mut now = Instant::now();
        let mut path = PathEstimator::new(now);
        for _ in 0..3 {
            let sent = now;
            now += MIN_RTT;
            path.acknowledged(now, batch(50, sent), false);
        }
        assert_eq!((path.min_rtt(), path.rate()), (MIN_RTT, 1_250_000));
        (path, now)
    }

    fn batch(packets: u64, sent: Instant) -> AckBatch {
        AckBatch {
            bytes: packets * PACKET_BYTES,
            oldest_sent: sent,
            newest_sent: sent,
        }
    }

    /// Whether data that is sent after a pause, and acknowledged after this time, confirms the minimum.
    fn confirms(packets: u64, rtt_ms: u64) -> bool {
        let (mut path, measured_at) = measured();
        let sent = measured_at + Duration::from_secs(12);
        let now = sent + Duration::from_millis(rtt_ms);
        path.confirm_min_rtt(now, batch(packets, sent), TOLERANCE, MOST);
        assert_eq!(path.min_rtt(), MIN_RTT);
        path.min_rtt_age(now).is_zero()
    }

    #[test]
    fn a_round_trip_after_a_pause_confirms_the_minimum() {
        assert!(confirms(1, 50));
        assert!(confirms(10, 60));
        assert!(confirms(10, 68));
    }

    #[test]
    fn a_longer_path_or_the_queue_of_others_confirms_nothing() {
        assert!(!confirms(1, 60));
        assert!(!confirms(10, 69));
        assert!(!confirms(1000, 81));
        assert!(!confirms(10, 150));
    }

    #[test]
    fn an_unknown_rate_confirms_nothing() {
        let (mut path, measured_at) = measured();
        path.reset_rates();
        let sent = measured_at + Duration::from_secs(12);
        let now = sent + MIN_RTT;
        path.confirm_min_rtt(now, batch(10, sent), TOLERANCE, MOST);
        assert_eq!(path.min_rtt_age(now), now - measured_at);
    }
}
