//! The records of a simulation.

use std::time::Duration;

/// The interval of the recorded measurements.
pub const TICK: Duration = Duration::from_millis(100);

/// The recorded measurements, one per tick.
pub struct Measurements {
    /// The bytes that each client read.
    pub bytes: Vec<Vec<u64>>,
    /// The length of the queue towards the clients.
    pub queued: Vec<Duration>,
    /// How many bytes the servers had sent.
    pub sent: Vec<u64>,
    /// How many of them the full queue or the policer had dropped.
    pub dropped: Vec<u64>,
}

impl Measurements {
    /// The bits per second of a client between two moments, in seconds.
    pub fn rate(&self, client: usize, from: u64, to: u64) -> f64 {
        let bytes: u64 = self.bytes[client][ticks(from)..ticks(to)].iter().sum();
        bytes as f64 * 8.0 / (to - from) as f64
    }

    /// The time from a moment, in seconds, until a client has read this many bytes.
    pub fn time_of(&self, client: usize, from: u64, bytes: usize) -> Duration {
        let mut read = 0;
        let number = self.bytes[client][ticks(from)..].iter().position(|tick| {
            read += tick;
            read >= bytes as u64
        });
        TICK * (number.expect("the client reads all") as u32 + 1)
    }

    /// The mean length of the queue between two moments, in seconds.
    pub fn queued(&self, from: u64, to: u64) -> Duration {
        let queued = &self.queued[ticks(from)..ticks(to)];
        queued.iter().sum::<Duration>() / queued.len() as u32
    }

    /// The share of the sent bytes that the full queue or the policer dropped between two moments, in seconds.
    pub fn dropped(&self, from: u64, to: u64) -> f64 {
        let between = |counts: &[u64]| (counts[ticks(to) - 1] - counts[ticks(from)]) as f64;
        between(&self.dropped) / between(&self.sent)
    }
}

/// The number of ticks in this many seconds.
pub fn ticks(seconds: u64) -> usize {
    (Duration::from_secs(seconds).as_millis() / TICK.as_millis()) as usize
}
