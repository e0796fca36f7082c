//! Limits what a client sends that moves almost no bytes: frames of HTTP/2, such as pings, settings, windows of one byte and
//! uploads in tiny parts; streams and datagrams of WebTransport. Each costs about as much time as a small request, and no other
//! limit counts it.

use crate::limits::HTTP2_FREE_FRAME_BYTES;
use std::time::{Duration, Instant};

/// The number of frames that the client may send now. It is below zero after a burst.
pub struct FrameBudget {
    frames: f64,
    burst: f64,
    per_second: f64,
    refilled_at: Instant,
}

impl FrameBudget {
    /// The budget of a new connection.
    pub fn new(burst: f64, per_second: f64) -> Self {
        Self {
            frames: burst,
            burst,
            per_second,
            refilled_at: Instant::now(),
        }
    }

    /// Counts frames of the client.
    pub fn spend(&mut self, frames: usize) {
        self.frames -= frames as f64;
    }

    /// Counts bytes of answers and uploads. Frames that move so much are free.
    pub fn earn(&mut self, bytes: usize) {
        self.add(bytes as f64 / HTTP2_FREE_FRAME_BYTES);
    }

    /// How long the peer should read nothing from the client. `None` if it may read now.
    pub fn pause(&mut self, now: Instant) -> Option<Duration> {
        let elapsed = now.saturating_duration_since(self.refilled_at);
        self.refilled_at = now;
        self.add(elapsed.as_secs_f64() * self.per_second);
        let debt = 1.0 - self.frames;
        (debt > 0.0).then(|| Duration::from_secs_f64(debt / self.per_second))
    }

    fn add(&mut self, frames: f64) {
        self.frames = (self.frames + frames).min(self.burst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::{HTTP2_FRAME_BURST, HTTP2_FRAMES_PER_SECOND};

    #[test]
    fn frames_beyond_the_burst_make_a_pause() {
        let mut budget = FrameBudget::new(HTTP2_FRAME_BURST, HTTP2_FRAMES_PER_SECOND);
        let now = budget.refilled_at;
        budget.spend(HTTP2_FRAME_BURST as usize - 1);
        assert_eq!(budget.pause(now), None);
        budget.spend(2 * HTTP2_FRAMES_PER_SECOND as usize);
        let second = Duration::from_secs(1);
        assert_eq!(budget.pause(now), Some(2 * second));
        assert_eq!(budget.pause(now + second), Some(second));
        assert_eq!(budget.pause(now + 2 * second), None);
    }

    #[test]
    fn frames_that_move_bytes_are_free() {
        let mut budget = FrameBudget::new(HTTP2_FRAME_BURST, HTTP2_FRAMES_PER_SECOND);
        let now = budget.refilled_at;
        for _ in 0..100_000 {
            budget.spend(1);
            budget.earn(HTTP2_FREE_FRAME_BYTES as usize);
            assert_eq!(budget.pause(now), None);
        }
        // No later flood is free because of earlier bytes.
        budget.earn(1 << 30);
        budget.spend(HTTP2_FRAME_BURST as usize);
        assert!(budget.pause(now).is_some());
    }
}
