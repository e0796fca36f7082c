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
}

impl Wire {
    /// The same seed loses the same datagrams of a sequence.
    pub fn new(link: Link, seed: u64) -> Self {
        Self {
            link,
            free_at: Duration::ZERO,
            random: seed,
        }
    }

    /// How long a datagram would wait in the queue now.
    pub fn queued(&self, now: Duration) -> Duration {
        self.free_at.saturating_sub(now)
    }

    /// When a datagram that is sent now arrives. `None` if it is lost.
    pub fn send(&mut self, now: Duration, bytes: usize) -> Option<Duration> {
        let bits_per_second = self.link.bits_per_second_at(now);
        if bits_per_second == 0 || self.queued(now) > self.link.queue {
            return None;
        }
        let bits = (bytes + HEADER_BYTES) * 8;
        let transmission_time = Duration::from_secs_f64(bits as f64 / bits_per_second as f64);
        self.free_at = self.free_at.max(now) + transmission_time;
        // A lost datagram also uses its share of the rate.
        let is_lost = self.next_random() < self.link.loss;
        (!is_lost).then(|| self.free_at + self.link.round_trip / 2)
    }

    /// A random number from 0 to 1 (splitmix64).
    pub fn next_random(&mut self) -> f64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as f64 / u64::MAX as f64
    }
}
