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
    /// sender. The round trip may be longer by the time that the path takes to deliver the data, and by `tolerance`. It
    /// is longer still if the path has changed, or if others have a queue. Then nothing is confirmed.
    pub fn confirm_min_rtt(&mut self, now: Instant, batch: AckBatch, tolerance: Duration) {
        let rate = self.rate();
        let Some((min_rtt, seen)) = &mut self.min_rtt else {
            return;
        };
        let delivery = Duration::from_secs_f64(batch.bytes as f64 / rate.max(1) as f64);
        let rtt = now.saturating_duration_since(batch.newest_sent);
        if rtt <= *min_rtt + delivery + tolerance {
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
