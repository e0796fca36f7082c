//! Limits the frames of an HTTP/2 connection that bring the peer little, such as pings, settings, windows of one byte and
//! uploads in tiny parts. Each costs about as much time as a small request, and no other limit counts it.

use crate::limits::{HTTP2_FRAME_BURST, HTTP2_FRAMES_PER_SECOND, HTTP2_FREE_FRAME_BYTES};
use std::time::{Duration, Instant};

/// The number of frames that the client may send now. It is below zero after a burst.
pub struct FrameBudget {
    frames: f64,
    refilled_at: Instant,
}

impl FrameBudget {
    /// The budget of a new connection.
    pub fn new() -> Self {
        Self {
            frames: HTTP2_FRAME_BURST,
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
        self.add(elapsed.as_secs_f64() * HTTP2_FRAMES_PER_SECOND);
        let debt = 1.0 - self.frames;
        (debt > 0.0).then(|| Duration::from_secs_f64(debt / HTTP2_FRAMES_PER_SECOND))
    }

    fn add(&mut self, frames: f64) {
        self.frames = (self.frames + frames).min(HTTP2_FRAME_BURST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_beyond_the_burst_make_a_pause() {
        let mut budget = FrameBudget::new();
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
        let mut budget = FrameBudget::new();
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
