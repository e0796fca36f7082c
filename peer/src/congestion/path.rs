//! What acknowledgements tell about a path, measured round trip by round trip.

use std::collections::VecDeque;
use std::mem;
use std::time::{Duration, Instant};

/// The rate of a path is the best of so many rounds.
const ROUNDS_OF_RATE: u64 = 10;

/// The recent round trip is the shortest of at least so many rounds, and at most twice that.
const ROUNDS_OF_RECENT: u32 = 10;

/// A round trip that is longer by no more than this part of the shortest confirms it.
const CONFIRMING_PART: u32 = 32;

/// A path as it was measured. A round begins when the one before it ends, and ends when something that was sent in it
/// is acknowledged.
#[derive(Clone, Debug)]
pub struct Path {
    /// Bytes that were acknowledged since the beginning.
    delivered: u64,
    round: Round,
    /// Rounds so far that tell the rate.
    rounds: u64,
    /// Rates in bytes per second with their rounds, falling, the best of all first.
    rates: VecDeque<(u64, u64)>,
    /// The shortest round trip, and when it was last seen.
    shortest: Option<(Duration, Instant)>,
    recent: Recent,
}

#[derive(Clone, Debug)]
struct Round {
    began: Instant,
    /// Bytes that had been acknowledged by then.
    delivered: u64,
    /// Whether there was not always something to send, so that less came than could have.
    idle: bool,
    shortest: Option<Duration>,
    longest: Duration,
}

/// The shortest round trip of the last rounds, in two parts, of which the older is forgotten when the newer is full.
#[derive(Clone, Debug, Default)]
struct Recent {
    older: Option<Duration>,
    newer: Option<Duration>,
    rounds: u32,
}

/// Bytes that were acknowledged at once.
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    /// How many.
    pub bytes: u64,
    /// When the first of them was sent.
    pub oldest_sent: Instant,
    /// When the last of them was.
    pub newest_sent: Instant,
}

/// A round that has ended.
#[derive(Clone, Copy, Debug)]
pub struct RoundEnd {
    /// Bytes per second that arrived in it.
    pub rate: u64,
    /// The rate of the path as it was known before.
    pub rate_before: u64,
    /// Whether there was not always something to send.
    pub idle: bool,
    /// Its shortest round trip.
    pub round_trip: Duration,
    /// By how much its longest was longer.
    pub spread: Duration,
}

impl Path {
    /// Nothing is known yet.
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

    /// Counts what was acknowledged at once, and whether there was nothing to send meanwhile. Returns the round that
    /// ended with it, if one did.
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
        // When there was little to send, little came, which says nothing about the path.
        if !end.idle || end.rate > end.rate_before {
            self.rounds += 1;
            self.rates
                .retain(|(round, rate)| *rate > end.rate && round + ROUNDS_OF_RATE >= self.rounds);
            self.rates.push_back((self.rounds, end.rate));
        }
        self.recent.add(end.round_trip);
        end
    }

    /// What the path carries, in bytes per second; 0 if that is not known yet.
    pub fn rate(&self) -> u64 {
        self.rates.front().map_or(0, |(_, rate)| *rate)
    }

    /// What the path carries in this time.
    pub fn bytes_in(&self, time: Duration) -> u64 {
        (self.rate() as f64 * time.as_secs_f64()) as u64
    }

    /// The shortest round trip that is remembered: that of the path without any queue, as far as is known.
    pub fn shortest_round_trip(&self) -> Duration {
        self.shortest
            .map_or(Duration::ZERO, |(shortest, _)| shortest)
    }

    /// The shortest round trip lately: with the queue that others keep in it.
    pub fn recent_round_trip(&self) -> Duration {
        let shortest = self.shortest_round_trip();
        self.recent
            .shortest()
            .map_or(shortest, |recent| recent.max(shortest))
    }

    /// For how long no round trip has come near the shortest one.
    pub fn unconfirmed_for(&self, now: Instant) -> Duration {
        self.shortest.map_or(Duration::ZERO, |(_, seen)| {
            now.saturating_duration_since(seen)
        })
    }

    /// Forgets the shortest round trip for one that was measured now.
    pub fn set_shortest_round_trip(&mut self, round_trip: Duration, now: Instant) {
        self.shortest = Some((round_trip, now));
    }

    /// Forgets the rates: the path is not what it was.
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
