//! A simulated link: computes when a datagram arrives.

use std::time::Duration;

/// The length of the IPv4 and UDP headers in bytes.
const HEADER_BYTES: usize = 28;

/// The properties of a link, for each direction.
#[derive(Clone, Debug)]
pub struct Link {
    pub round_trip: Duration,
    pub bits_per_second: u64,
    /// The share of datagrams that are lost at random.
    pub loss: f64,
    /// The maximum queueing delay. Datagrams that would wait longer are dropped.
    pub queue: Duration,
    /// The maximum acknowledgement delay of the client. A client with a busy processor has such a delay.
    pub jitter: Duration,
    /// Changes of the rate, each with its time. At 0 no datagram passes.
    pub changes: Vec<(Duration, u64)>,
    /// Drops what exceeds a rate, without a queue.
    pub policer: Option<Policer>,
    /// The share of datagrams towards the client that take longer than others, and by how much.
    pub reordering: (f64, Duration),
    /// The client's radio sends only at multiples of this time.
    pub upstream_interval: Duration,
}

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub struct Policer {
    pub bits_per_second: u64,
    pub burst_bytes: u64,
}

impl Link {
    /// A link with the queue of `perf/link`: one round trip, and at least 50 ms.
    pub fn new(round_trip_ms: u64, loss_percent: f64, megabits_per_second: u64) -> Self {
        Self {
            round_trip: Duration::from_millis(round_trip_ms),
            bits_per_second: megabits_per_second * 1_000_000,
            loss: loss_percent / 100.0,
            queue: Duration::from_millis(round_trip_ms.max(50)),
            jitter: Duration::ZERO,
            changes: Vec::new(),
            policer: None,
            reordering: (0.0, Duration::ZERO),
            upstream_interval: Duration::ZERO,
        }
    }

    /// The properties of the direction towards the clients.
    pub fn downstream(&self) -> Self {
        Self {
            upstream_interval: Duration::ZERO,
            ..self.clone()
        }
    }

    /// The properties of the direction towards the servers.
    pub fn upstream(&self) -> Self {
        Self {
            policer: None,
            reordering: (0.0, Duration::ZERO),
            ..self.clone()
        }
    }

    fn bits_per_second_at(&self, now: Duration) -> u64 {
        let mut past = self.changes.iter().filter(|(from, _)| *from <= now);
        past.next_back()
            .map_or(self.bits_per_second, |(_, rate)| *rate)
    }
}

/// One direction of a link.
pub struct Wire {
    link: Link,
    free_at: Duration,
    random: u64,
    /// The policer's tokens, and when they were counted.
    tokens: (f64, Duration),
    pub sent_bytes: u64,
    /// The bytes that the full queue or the policer dropped.
    pub dropped_bytes: u64,
}

impl Wire {
    /// The same seed loses the same datagrams of a sequence.
    pub fn new(link: Link, seed: u64) -> Self {
        let burst = link.policer.map_or(0, |policer| policer.burst_bytes);
        Self {
            link,
            free_at: Duration::ZERO,
            random: seed,
            tokens: (burst as f64, Duration::ZERO),
            sent_bytes: 0,
            dropped_bytes: 0,
        }
    }

    /// How long a datagram would wait in the queue now.
    pub fn queued(&self, now: Duration) -> Duration {
        self.free_at.saturating_sub(now)
    }

    /// When a datagram that is sent now arrives. `None` if it is lost.
    pub fn send(&mut self, now: Duration, bytes: usize) -> Option<Duration> {
        let bytes = bytes + HEADER_BYTES;
        let interval = self.link.upstream_interval.as_nanos().max(1) as u64;
        let now = Duration::from_nanos((now.as_nanos() as u64).next_multiple_of(interval));
        self.sent_bytes += bytes as u64;
        let bits_per_second = self.link.bits_per_second_at(now);
        let is_full = bits_per_second == 0 || self.queued(now) > self.link.queue;
        if is_full || !self.is_within_policy(now, bytes) {
            self.dropped_bytes += bytes as u64;
            return None;
        }
        let bits = bytes * 8;
        let transmission_time = Duration::from_secs_f64(bits as f64 / bits_per_second as f64);
        self.free_at = self.free_at.max(now) + transmission_time;
        // A lost datagram also uses its share of the rate.
        if self.happens(self.link.loss) {
            return None;
        }
        let mut arrives_at = self.free_at + self.link.round_trip / 2;
        let (share, delay) = self.link.reordering;
        if self.happens(share) {
            arrives_at += delay;
        }
        Some(arrives_at)
    }

    fn is_within_policy(&mut self, now: Duration, bytes: usize) -> bool {
        let Some(policer) = self.link.policer else {
            return true;
        };
        let (tokens, counted_at) = self.tokens;
        let new = (now - counted_at).as_secs_f64() * policer.bits_per_second as f64 / 8.0;
        let tokens = (tokens + new).min(policer.burst_bytes as f64);
        let is_within = tokens >= bytes as f64;
        let used = if is_within { bytes as f64 } else { 0.0 };
        self.tokens = (tokens - used, now);
        is_within
    }

    /// Whether something happens that has this probability.
    fn happens(&mut self, probability: f64) -> bool {
        probability > 0.0 && self.next_random() < probability
    }

    /// A random number from 0 to 1 (splitmix64).
    pub fn next_random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }
}
