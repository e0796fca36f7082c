//! Which clients hold memory, and how fast they read.
//!
//! Memory is for all clients. If requests wait for it, the clients that would need the longest time to read what they
//! hold lose their responses.

use crate::limits::{MAX_DRAIN_TIME, PRESSURE_PERIOD};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The memory and the progress of one session, one HTTP/1 connection, or one HTTP/2 request.
pub struct Reader {
    state: Mutex<ReaderState>,
    /// Ends the connection of an HTTP/2 request.
    connection: Option<CancellationToken>,
}

struct ReaderState {
    held_bytes: usize,
    /// The period before the present one. `None` while the client holds memory for less than a period.
    last: Option<Period>,
    present: Period,
    shedding: CancellationToken,
    was_shed: bool,
}

/// The bytes that a client moved since a time.
#[derive(Clone, Copy)]
struct Period {
    since: Instant,
    bytes: u64,
}

impl Period {
    fn starting_at(since: Instant) -> Self {
        Self { since, bytes: 0 }
    }
}

/// Memory that a client holds until this is dropped.
pub struct HeldMemory {
    reader: Arc<Reader>,
    bytes: usize,
}

impl Reader {
    fn new(shedding: CancellationToken, connection: Option<CancellationToken>) -> Self {
        Self {
            state: Mutex::new(ReaderState {
                held_bytes: 0,
                last: None,
                present: Period::starting_at(Instant::now()),
                shedding,
                was_shed: false,
            }),
            connection,
        }
    }

    /// Counts bytes that the client has read, or uploaded.
    pub fn record_progress(&self, bytes: u64) {
        let mut state = self.lock();
        state.advance(Instant::now());
        state.present.bytes += bytes;
    }

    /// Counts memory that is free again when the client has read it, or has uploaded its bytes.
    pub fn hold(self: &Arc<Self>, bytes: usize) -> HeldMemory {
        let mut state = self.lock();
        if state.held_bytes == 0 {
            state.last = None;
            state.present = Period::starting_at(Instant::now());
        }
        state.held_bytes += bytes;
        drop(state);
        HeldMemory {
            reader: Arc::clone(self),
            bytes,
        }
    }

    /// Cancelled when the client loses the responses that are under way now.
    pub fn shedding(&self) -> CancellationToken {
        self.lock().shedding.clone()
    }

    /// How long the client needs for the memory that it holds. `None` if it holds none, or holds it for less than a period.
    fn drain_time(&self, now: Instant) -> Option<Duration> {
        let mut state = self.lock();
        if state.held_bytes == 0 {
            return None;
        }
        state.advance(now);
        let last = state.last?;
        let moved = last.bytes + state.present.bytes;
        let since = now.saturating_duration_since(last.since);
        let seconds = state.held_bytes as f64 / (moved.max(1) as f64 / since.as_secs_f64());
        Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX))
    }

    /// Ends the responses that are under way. A response that still holds memory the next time waits in the buffers of
    /// its connection, which then ends.
    fn shed(&self) {
        let mut state = self.lock();
        let is_repeated = std::mem::replace(&mut state.was_shed, true);
        let shedding = std::mem::take(&mut state.shedding);
        drop(state);
        shedding.cancel();
        if let (true, Some(connection)) = (is_repeated, &self.connection) {
            connection.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, ReaderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReaderState {
    /// Begins another period if the present one is over.
    fn advance(&mut self, now: Instant) {
        if now.saturating_duration_since(self.present.since) >= PRESSURE_PERIOD {
            self.last = Some(self.present);
            self.present = Period::starting_at(now);
        }
    }
}

impl Drop for HeldMemory {
    fn drop(&mut self) {
        self.reader.lock().held_bytes -= self.bytes;
    }
}

/// All connected clients.
#[derive(Default)]
pub struct Readers {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    known: Vec<Weak<Reader>>,
    checked_at: Option<Instant>,
}

impl Readers {
    /// Adds a session, which only loses its responses.
    pub fn add_session(&self) -> Arc<Reader> {
        self.add(Reader::new(CancellationToken::new(), None))
    }

    /// Adds an HTTP/1 connection, which ends with its response.
    pub fn add_connection(&self, connection: CancellationToken) -> Arc<Reader> {
        self.add(Reader::new(connection, None))
    }

    /// Adds an HTTP/2 request. `stream` resets its stream, and `connection` ends its connection.
    pub fn add_request(
        &self,
        stream: CancellationToken,
        connection: CancellationToken,
    ) -> Arc<Reader> {
        self.add(Reader::new(stream, Some(connection)))
    }

    fn add(&self, reader: Reader) -> Arc<Reader> {
        let reader = Arc::new(reader);
        let mut state = self.lock();
        if state.known.len() == state.known.capacity() {
            state.known.retain(|known| known.strong_count() > 0);
        }
        state.known.push(Arc::downgrade(&reader));
        reader
    }

    /// Called while requests wait for memory. The slowest clients lose their responses, if they need too long for the
    /// memory that they hold: as many as requests wait, but only a quarter of them at a time, because a client may only
    /// have paused.
    pub fn shed_slowest(&self, now: Instant, waiting: usize) {
        let mut state = self.lock();
        let since = state.checked_at.map(|at| now.duration_since(at));
        if since.is_some_and(|since| since < PRESSURE_PERIOD / 2) {
            return;
        }
        state.checked_at = Some(now);
        let mut slow: Vec<(Duration, Arc<Reader>)> = Vec::new();
        state.known.retain(|known| {
            let Some(reader) = known.upgrade() else {
                return false;
            };
            match reader.drain_time(now) {
                Some(time) if time > MAX_DRAIN_TIME => slow.push((time, reader)),
                _ => {}
            }
            true
        });
        drop(state);
        if slow.is_empty() {
            return;
        }
        slow.sort_by_key(|(drain_time, _)| std::cmp::Reverse(*drain_time));
        slow.truncate(waiting.max(1).min(slow.len().div_ceil(4)));
        let clients = slow.len();
        tracing::debug!(
            clients,
            "slow clients lost their responses, because others wait for memory"
        );
        for (_, reader) in slow {
            reader.shed();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    /// Makes the last event look older, instead of a real wait.
    fn age(reader: &Reader) {
        reader.lock().present.since -= PRESSURE_PERIOD;
    }

    fn are_cancelled(tokens: &[CancellationToken]) -> Vec<bool> {
        tokens.iter().map(CancellationToken::is_cancelled).collect()
    }

    #[test]
    fn the_client_with_the_most_memory_for_its_speed_loses_its_responses() {
        let readers = Readers::default();
        let all = [(); 4].map(|()| readers.add_session());
        let [fast, slow, slower, _idle] = &all;
        let _fast = fast.hold(64 * MIB);
        let _slow = slow.hold(MIB);
        let slower_memory = slower.hold(8 * MIB);
        let tokens = all.each_ref().map(|reader| reader.shedding());
        let mut now = Instant::now();
        let mut check = || {
            fast.record_progress(16 * MIB as u64);
            slow.record_progress(10_000);
            slower.record_progress(10_000);
            now += PRESSURE_PERIOD;
            readers.shed_slowest(now, 1);
        };
        readers.shed_slowest(Instant::now(), 1);
        assert_eq!(are_cancelled(&tokens), [false; 4], "too early to tell");
        check();
        assert_eq!(are_cancelled(&tokens), [false, false, true, false]);
        assert!(!slower.shedding().is_cancelled(), "later responses");
        drop(slower_memory);
        check();
        assert_eq!(are_cancelled(&tokens), [false, true, true, false]);
        check();
        check();
        let shed = are_cancelled(&tokens);
        assert_eq!(shed, [false, true, true, false], "a fast client stays");
    }

    #[test]
    fn a_quarter_of_the_slow_clients_lose_their_responses_at_a_time() {
        let readers = Readers::default();
        let clients: Vec<_> = (0..20).map(|_| readers.add_session()).collect();
        let _held: Vec<_> = clients.iter().map(|reader| reader.hold(MIB)).collect();
        let tokens: Vec<_> = clients.iter().map(|reader| reader.shedding()).collect();
        let shed = || tokens.iter().filter(|token| token.is_cancelled()).count();
        let later = Instant::now() + PRESSURE_PERIOD;
        readers.shed_slowest(later, 9);
        assert_eq!(shed(), 5);
        readers.shed_slowest(later + PRESSURE_PERIOD / 4, 9);
        assert_eq!(shed(), 5, "too early");
    }

    #[test]
    fn the_time_before_a_client_held_memory_does_not_count() {
        let readers = Readers::default();
        let reader = readers.add_session();
        let token = reader.shedding();
        age(&reader);
        let held = reader.hold(MIB);
        readers.shed_slowest(Instant::now(), 1);
        assert!(!token.is_cancelled());
        readers.shed_slowest(Instant::now() + PRESSURE_PERIOD, 1);
        assert!(token.is_cancelled());
        drop(held);
        assert_eq!(reader.lock().held_bytes, 0);
    }

    #[test]
    fn a_request_that_still_holds_memory_ends_its_connection() {
        let readers = Readers::default();
        let tokens = [(); 2].map(|()| CancellationToken::new());
        let [stream, connection] = tokens.clone();
        let request = readers.add_request(stream, connection);
        let _held = request.hold(MIB);
        let now = Instant::now() + PRESSURE_PERIOD;
        readers.shed_slowest(now, 1);
        assert_eq!(are_cancelled(&tokens), [true, false]);
        readers.shed_slowest(now + PRESSURE_PERIOD, 1);
        assert_eq!(are_cancelled(&tokens), [true, true]);
    }
}
