//! Which clients hold memory, and how fast they read.
//!
//! Memory is for all clients. If requests wait for it, the clients that would need the longest time to read what they
//! hold lose their responses.

use crate::limits::{MAX_DRAIN_TIME, PRESSURE_PERIOD};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The memory and the progress of one session or connection.
#[derive(Default)]
pub struct Reader {
    held_bytes: AtomicUsize,
    moved_bytes: AtomicU64,
    shedding: Mutex<CancellationToken>,
}

/// Memory that a client holds until this is dropped.
pub struct HeldMemory {
    reader: Arc<Reader>,
    bytes: usize,
}

impl Reader {
    /// Counts bytes that the client has read, or uploaded.
    pub fn record_progress(&self, bytes: u64) {
        self.moved_bytes.fetch_add(bytes, Relaxed);
    }

    /// Counts memory that the client holds.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> HeldMemory {
        self.held_bytes.fetch_add(bytes, Relaxed);
        HeldMemory {
            reader: Arc::clone(self),
            bytes,
        }
    }

    /// Cancelled when the client loses the responses that are under way now.
    pub fn shedding(&self) -> CancellationToken {
        self.lock().clone()
    }

    fn shed(&self) {
        std::mem::take(&mut *self.lock()).cancel();
    }

    fn lock(&self) -> MutexGuard<'_, CancellationToken> {
        self.shedding.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HeldMemory {
    /// The client holds less memory than before.
    pub fn shrink_to(&mut self, bytes: usize) {
        let excess = self.bytes.saturating_sub(bytes);
        self.reader.held_bytes.fetch_sub(excess, Relaxed);
        self.bytes -= excess;
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

/// All connected clients.
#[derive(Default)]
pub struct Readers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Vec<Known>,
    checked_at: Option<Instant>,
}

/// A client, as the last check saw it.
struct Known {
    reader: Weak<Reader>,
    /// The bytes that the client had moved, if it held memory.
    moved_bytes: Option<u64>,
}

impl Readers {
    /// Adds a client.
    pub fn add(&self) -> Arc<Reader> {
        let reader = Arc::<Reader>::default();
        let mut state = self.lock();
        if state.known.len() == state.known.capacity() {
            state.known.retain(|known| known.reader.strong_count() > 0);
        }
        state.known.push(Known {
            reader: Arc::downgrade(&reader),
            moved_bytes: None,
        });
        reader
    }

    /// Called while requests wait for memory. Two calls measure how fast clients read. The slowest ones then lose their
    /// responses, if they need too long for the memory that they hold: as many as requests wait, but only a quarter of
    /// them at a time, because a client may only have paused.
    pub fn shed_slowest(&self, now: Instant, waiting: usize) {
        let mut state = self.lock();
        let since = state.checked_at.map(|at| now.duration_since(at));
        if since.is_some_and(|since| since < PRESSURE_PERIOD / 2) {
            return;
        }
        state.checked_at = Some(now);
        // An older measurement says little about the present speed.
        let since = since.filter(|since| *since <= 3 * PRESSURE_PERIOD);
        let mut slow: Vec<(Duration, Arc<Reader>)> = Vec::new();
        state.known.retain_mut(|known| {
            let Some(reader) = known.reader.upgrade() else {
                return false;
            };
            let held = reader.held_bytes.load(Relaxed);
            let moved = reader.moved_bytes.load(Relaxed);
            let before = known.moved_bytes.take();
            if held == 0 {
                return true;
            }
            known.moved_bytes = Some(moved);
            if let (Some(before), Some(since)) = (before, since) {
                let drain_time = drain_time(held, moved - before, since);
                if drain_time > MAX_DRAIN_TIME {
                    slow.push((drain_time, reader));
                }
            }
            true
        });
        slow.sort_by_key(|(drain_time, _)| std::cmp::Reverse(*drain_time));
        slow.truncate(waiting.max(1).min(slow.len().div_ceil(4)));
        if !slow.is_empty() {
            let clients = slow.len();
            tracing::debug!(
                clients,
                "slow clients lost their responses, because others wait for memory"
            );
        }
        for (_, reader) in slow {
            reader.shed();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a client needs to move `held` bytes, if it moved `moved` bytes within `since`.
fn drain_time(held: usize, moved: u64, since: Duration) -> Duration {
    let seconds = held as f64 / (moved.max(1) as f64 / since.as_secs_f64());
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn the_client_with_the_most_memory_for_its_speed_loses_its_responses() {
        let readers = Readers::default();
        let [fast, slow, slower, idle] = [(); 4].map(|()| readers.add());
        let _fast = fast.hold(64 * MIB);
        let _slow = slow.hold(MIB);
        let slower_memory = slower.hold(8 * MIB);
        let tokens = [&fast, &slow, &slower, &idle].map(|reader| reader.shedding());
        let shed = || tokens.each_ref().map(CancellationToken::is_cancelled);
        let mut now = Instant::now();
        let mut check = || {
            fast.record_progress(16 * MIB as u64);
            slow.record_progress(10_000);
            slower.record_progress(10_000);
            now += PRESSURE_PERIOD;
            readers.shed_slowest(now, 1);
        };
        check();
        assert_eq!(shed(), [false; 4], "nothing is measured yet");
        check();
        assert_eq!(shed(), [false, false, true, false]);
        assert!(!slower.shedding().is_cancelled(), "later responses");
        drop(slower_memory);
        check();
        assert_eq!(shed(), [false, true, true, false]);
        check();
        check();
        assert_eq!(shed(), [false, true, true, false], "a fast client stays");
    }

    #[test]
    fn a_quarter_of_the_slow_clients_lose_their_responses_at_a_time() {
        let readers = Readers::default();
        let clients: Vec<_> = (0..20).map(|_| readers.add()).collect();
        let _held: Vec<_> = clients.iter().map(|reader| reader.hold(MIB)).collect();
        let tokens: Vec<_> = clients.iter().map(|reader| reader.shedding()).collect();
        let shed = || tokens.iter().filter(|token| token.is_cancelled()).count();
        let now = Instant::now();
        readers.shed_slowest(now, 9);
        readers.shed_slowest(now + PRESSURE_PERIOD, 9);
        assert_eq!(shed(), 5);
        let few = readers.add();
        let _few = few.hold(MIB);
        readers.shed_slowest(now + 2 * PRESSURE_PERIOD, 1);
        assert_eq!(shed(), 5, "the same client is still the slowest");
    }

    #[test]
    fn an_old_measurement_does_not_count() {
        let readers = Readers::default();
        let reader = readers.add();
        let mut held = reader.hold(2 * MIB);
        held.shrink_to(MIB);
        let token = reader.shedding();
        let now = Instant::now();
        readers.shed_slowest(now, 1);
        readers.shed_slowest(now + 10 * PRESSURE_PERIOD, 1);
        assert!(!token.is_cancelled());
        readers.shed_slowest(now + 11 * PRESSURE_PERIOD, 1);
        assert!(token.is_cancelled());
        drop(held);
        assert_eq!(reader.held_bytes.load(Relaxed), 0);
    }
}
