//! Estimates the properties of a network path from acknowledgements, one round at a time.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

/// The delivery rate of a path is the maximum of this many rounds.
const ROUNDS_OF_RATE: u64 = 10;

/// The recent minimum round trip covers at least this many rounds, and at most twice as many.
const ROUNDS_OF_RECENT: u32 = 10;

/// A round trip confirms the minimum if it is longer by at most this fraction of it.
const CONFIRMING_PART: u32 = 32;

/// The estimated properties of a path. A round starts when the previous one ends. It ends when data that was sent
/// during the round is acknowledged.
#[derive(Clone, Debug)]
pub struct Path {
    /// The number of acknowledged bytes since the start.
    delivered: u64,
    round: Round,
    /// The number of rounds that gave a valid rate.
    rounds: u64,
    /// Rates in bytes per second with their rounds, in falling order.
    rates: VecDeque<(u64, u64)>,
    /// The minimum round trip, and when it was last confirmed.
    shortest: Option<(Duration, Instant)>,
    recent: Recent,
}

#[derive(Clone, Debug)]
struct Round {
    began: Instant,
    /// The value of `Path::delivered` at the start of the round.
    delivered: u64,
    /// Whether the sender had too little data at some time, so that the rate of the round is too low.
    idle: bool,
    shortest: Option<Duration>,
    longest: Duration,
}

/// The minimum round trip of the last rounds, in two halves. When the newer half is full, it replaces the older one.
#[derive(Clone, Debug, Default)]
struct Recent {
    older: Option<Duration>,
    newer: Option<Duration>,
    rounds: u32,
}

/// Bytes that were acknowledged together.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// The number of bytes.
    pub bytes: u64,
    /// When the first byte was sent.
    pub oldest_sent: Instant,
    /// When the last byte was sent.
    pub newest_sent: Instant,
}

/// The measurements of a completed round.
#[derive(Clone, Copy, Debug)]
pub struct RoundEnd {
    /// The delivery rate in bytes per second.
    pub rate: u64,
    /// The estimated delivery rate before this round.
    pub rate_before: u64,
    /// Whether the sender had too little data at some time.
    pub idle: bool,
    /// The minimum round trip.
    pub round_trip: Duration,
    /// The maximum round trip minus the minimum.
    pub spread: Duration,
}

impl Path {
    /// Starts without any measurement.
    pub fn new(now: Instant) -> Self {
        Self {
            delivered: 0,
            round: Round::new(now, 0),
            rounds: 0,
            rates: VecDeque::new(),
            shortest: None,
            recent: Recent::default(),
        }
    }

    /// Processes acknowledged bytes. `idle` is true if the sender had too little data. Returns the round that this
    /// ended, if any.
    pub fn acknowledged(&mut self, now: Instant, batch: Batch, idle: bool) -> Option<RoundEnd> {
        self.delivered += batch.bytes;
        let round_trip = now.saturating_duration_since(batch.newest_sent);
        let longest = now.saturating_duration_since(batch.oldest_sent);
        self.round.idle |= idle;
        self.round.shortest = shorter(self.round.shortest, round_trip);
        self.round.longest = self.round.longest.max(longest);
        match self.shortest {
            Some((shortest, _)) if round_trip > shortest + shortest / CONFIRMING_PART => {}
            Some((shortest, _)) => self.shortest = Some((shortest.min(round_trip), now)),
            None => self.shortest = Some((round_trip, now)),
        }
        (batch.newest_sent >= self.round.began).then(|| self.end_round(now, round_trip))
    }

    fn end_round(&mut self, now: Instant, last_round_trip: Duration) -> RoundEnd {
        let round = mem::replace(&mut self.round, Round::new(now, self.delivered));
        let seconds = now.saturating_duration_since(round.began).as_secs_f64();
        let shortest = round.shortest.unwrap_or(last_round_trip);
        let rate = (self.delivered - round.delivered) as f64 / seconds.max(1e-6);
        let end = RoundEnd {
            rate: rate as u64,
            rate_before: self.rate(),
            idle: round.idle,
            round_trip: shortest,
            spread: round.longest.saturating_sub(shortest),
        };
        // If the sender had little data, a low rate says nothing about the path.
        if !end.idle || end.rate > end.rate_before {
            self.rounds += 1;
            self.rates
                .retain(|(round, rate)| *rate > end.rate && round + ROUNDS_OF_RATE >= self.rounds);
            self.rates.push_back((self.rounds, end.rate));
        }
        self.recent.add(end.round_trip);
        end
    }

    /// The delivery rate of the path in bytes per second. 0 if it is not known yet.
    pub fn rate(&self) -> u64 {
        self.rates.front().map_or(0, |(_, rate)| *rate)
    }

    /// The number of bytes that the path delivers in this time.
    pub fn bytes_in(&self, time: Duration) -> u64 {
        (self.rate() as f64 * time.as_secs_f64()) as u64
    }

    /// The minimum round trip: the path's delay without any queue, as far as known.
    pub fn shortest_round_trip(&self) -> Duration {
        self.shortest
            .map_or(Duration::ZERO, |(shortest, _)| shortest)
    }

    /// The recent minimum round trip. It includes the queue that other senders keep.
    pub fn recent_round_trip(&self) -> Duration {
        let shortest = self.shortest_round_trip();
        self.recent
            .shortest()
            .map_or(shortest, |recent| recent.max(shortest))
    }

    /// The time since a round trip last confirmed the minimum.
    pub fn unconfirmed_for(&self, now: Instant) -> Duration {
        self.shortest.map_or(Duration::ZERO, |(_, seen)| {
            now.saturating_duration_since(seen)
        })
    }

    /// Replaces the minimum round trip with a new measurement.
    pub fn set_shortest_round_trip(&mut self, round_trip: Duration, now: Instant) {
        self.shortest = Some((round_trip, now));
    }

    /// Discards the rates, because the path has changed.
    pub fn forget_rates(&mut self) {
        self.rates.clear();
    }
}

impl Round {
    fn new(began: Instant, delivered: u64) -> Self {
        Self {
            began,
            delivered,
            idle: false,
            shortest: None,
            longest: Duration::ZERO,
        }
    }
}

impl Recent {
    fn add(&mut self, round_trip: Duration) {
        self.newer = shorter(self.newer, round_trip);
        self.rounds += 1;
        if self.rounds == ROUNDS_OF_RECENT {
            self.older = self.newer.take();
            self.rounds = 0;
        }
    }

    fn shortest(&self) -> Option<Duration> {
        self.newer
            .map_or(self.older, |newer| shorter(self.older, newer))
    }
}

fn shorter(known: Option<Duration>, new: Duration) -> Option<Duration> {
    Some(known.map_or(new, |known| known.min(new)))
}
