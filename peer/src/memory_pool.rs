//! The memory that all clients share.
//!
//! A network that held much memory recently must leave some of it free. So a client that reads its chunks quickly gets
//! memory at once, even if many other networks never read theirs.

use crate::limits::{MAX_CHUNK_BYTES, MEMORY_USE_PERIOD};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{Semaphore, oneshot};

/// The memory that one semaphore permit stands for, in bytes. Small chunks take less than the memory of a large one.
pub const UNIT_BYTES: u32 = 64 * 1024;

/// The number of semaphore permits for a chunk of unknown length.
pub const UNITS_PER_CHUNK: u32 = MAX_CHUNK_BYTES / UNIT_BYTES;

/// A network leaves this many times the memory free that it held recently.
const RESERVE_FACTOR: f64 = 4.0;

/// The largest reserve is the memory divided by this.
const RESERVE_DIVISOR: usize = 8;

/// A semaphore for the memory of `chunks` large chunks.
pub fn chunk_semaphore(chunks: usize) -> Semaphore {
    Semaphore::new(chunks * UNITS_PER_CHUNK as usize)
}

/// The memory of all clients, in units.
pub struct MemoryPool {
    /// The units of one request.
    request: usize,
    max_reserve: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    waiting: Vec<Waiting>,
}

struct Waiting {
    recent: Option<Arc<RecentUse>>,
    granted: oneshot::Sender<PoolPermit>,
}

/// Units of the pool. They are free again on drop.
pub struct PoolPermit {
    pool: Arc<MemoryPool>,
    recent: Option<Arc<RecentUse>>,
    units: usize,
}

/// The memory that one network held recently, on average.
pub struct RecentUse(Mutex<Use>);

struct Use {
    held: usize,
    average: f64,
    updated_at: Instant,
}

impl Default for RecentUse {
    fn default() -> Self {
        Self(Mutex::new(Use {
            held: 0,
            average: 0.0,
            updated_at: Instant::now(),
        }))
    }
}

impl RecentUse {
    fn update(&self, now: Instant, change: impl FnOnce(usize) -> usize) -> f64 {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let elapsed = now.saturating_duration_since(state.updated_at);
        let rest = (-elapsed.as_secs_f64() / MEMORY_USE_PERIOD.as_secs_f64()).exp();
        let held = state.held as f64;
        state.average = held + (state.average - held) * rest;
        state.updated_at = now;
        state.held = change(state.held);
        state.average.max(state.held as f64)
    }

    /// The units that the network holds, or held on average if that is more.
    fn units(&self) -> f64 {
        self.update(Instant::now(), |held| held)
    }
}

impl MemoryPool {
    /// A pool of `units`. Each request takes `request` units.
    pub fn new(units: usize, request: usize) -> Arc<Self> {
        Arc::new(Self {
            request,
            max_reserve: units / RESERVE_DIVISOR,
            state: Mutex::new(State {
                free: units,
                waiting: Vec::new(),
            }),
        })
    }

    /// Takes the units of one request, if the network may have them now. `None` stands for an exempt client.
    pub fn try_acquire(self: &Arc<Self>, recent: Option<&Arc<RecentUse>>) -> Option<PoolPermit> {
        let mut state = self.lock();
        let is_free = self.is_free(&state, recent);
        is_free.then(|| self.take(&mut state, recent.cloned()))
    }

    /// Waits for the units of one request. Of the networks that wait, the one that held the least memory comes first.
    pub async fn acquire(self: &Arc<Self>, recent: Option<&Arc<RecentUse>>) -> PoolPermit {
        let granting = {
            let mut state = self.lock();
            if self.is_free(&state, recent) {
                return self.take(&mut state, recent.cloned());
            }
            let (granted, granting) = oneshot::channel();
            state.waiting.retain(|waiting| !waiting.granted.is_closed());
            state.waiting.push(Waiting {
                recent: recent.cloned(),
                granted,
            });
            granting
        };
        granting.await.expect("the pool grants before it ends")
    }

    /// Grants units to requests that wait. A network's use becomes less with time, without any other event.
    pub fn grant(self: &Arc<Self>) {
        self.grant_waiting(&mut self.lock());
    }

    fn grant_waiting(self: &Arc<Self>, state: &mut State) {
        while state.free >= self.request {
            let waiting = state.waiting.iter().enumerate();
            let first = waiting
                .map(|(at, waiting)| (self.reserve(waiting.recent.as_ref()), at))
                .min_by(|(a, _), (b, _)| a.total_cmp(b));
            let Some((reserve, at)) = first else { return };
            if !self.leaves(state, reserve) {
                return;
            }
            // Keeps the order of the others.
            let Waiting { recent, granted } = state.waiting.remove(at);
            let permit = self.take(state, recent);
            if let Err(mut permit) = granted.send(permit) {
                // The client has gone. Its permit must not lock the pool again.
                state.free += permit.disarm();
            }
        }
    }

    fn is_free(&self, state: &State, recent: Option<&Arc<RecentUse>>) -> bool {
        self.leaves(state, self.reserve(recent))
    }

    fn leaves(&self, state: &State, reserve: f64) -> bool {
        let rest = state.free.checked_sub(self.request);
        rest.is_some_and(|rest| rest as f64 >= reserve)
    }

    /// The units that must be free after a request of this network.
    fn reserve(&self, recent: Option<&Arc<RecentUse>>) -> f64 {
        let units = recent.map_or(0.0, |recent| recent.units());
        (RESERVE_FACTOR * units).min(self.max_reserve as f64)
    }

    fn take(self: &Arc<Self>, state: &mut State, recent: Option<Arc<RecentUse>>) -> PoolPermit {
        state.free -= self.request;
        if let Some(recent) = &recent {
            recent.update(Instant::now(), |held| held + self.request);
        }
        PoolPermit {
            pool: Arc::clone(self),
            recent,
            units: self.request,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PoolPermit {
    /// Keeps only these units.
    pub fn shrink_to(&mut self, units: usize) {
        let excess = self.forget(self.units.saturating_sub(units));
        if excess > 0 {
            let mut state = self.pool.lock();
            state.free += excess;
            self.pool.grant_waiting(&mut state);
        }
    }

    fn disarm(&mut self) -> usize {
        self.forget(self.units)
    }

    /// The units do not belong to the permit any more.
    fn forget(&mut self, units: usize) -> usize {
        self.units -= units;
        if let Some(recent) = &self.recent {
            recent.update(Instant::now(), |held| held - units);
        }
        units
    }
}

impl Drop for PoolPermit {
    fn drop(&mut self) {
        self.shrink_to(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const REQUEST: usize = 64;

    fn pool(requests: usize) -> Arc<MemoryPool> {
        MemoryPool::new(requests * REQUEST, REQUEST)
    }

    fn network() -> Option<Arc<RecentUse>> {
        Some(Arc::default())
    }

    /// Makes the last update look older, instead of a real wait.
    fn age(network: &Option<Arc<RecentUse>>) {
        let mut state = network.as_ref().unwrap().0.lock().unwrap();
        state.updated_at -= MEMORY_USE_PERIOD;
    }

    #[test]
    fn networks_that_hold_memory_leave_some_for_others() {
        let pool = pool(16);
        let greedy = [(); 4].map(|()| network());
        let mut held = Vec::new();
        for _ in 0..16 {
            held.extend(
                greedy
                    .iter()
                    .filter_map(|network| pool.try_acquire(network.as_ref())),
            );
        }
        assert_eq!(held.len(), 14, "an eighth is free");
        for _ in 0..100 {
            let modest = network();
            let permit = pool.try_acquire(modest.as_ref());
            assert!(permit.is_some());
        }
    }

    #[test]
    fn a_network_that_held_memory_before_also_leaves_some() {
        let pool = pool(16);
        let [slow, quick] = [network(), network()];
        let mut held: Vec<_> = (0..13)
            .map_while(|_| pool.try_acquire(slow.as_ref()))
            .collect();
        assert_eq!(held.len(), 13);
        age(&slow);
        let others: Vec<_> = (0..3).map(|_| pool.try_acquire(None).unwrap()).collect();
        held.truncate(1);
        drop(held);
        drop(others);
        let taken: Vec<_> = (0..15).map(|_| pool.try_acquire(None).unwrap()).collect();
        assert!(pool.try_acquire(slow.as_ref()).is_none());
        assert!(pool.try_acquire(quick.as_ref()).is_some());
        for _ in 0..10 {
            age(&slow);
        }
        slow.as_ref().unwrap().units();
        age(&slow);
        drop(taken);
        assert!(pool.try_acquire(slow.as_ref()).is_some());
    }

    #[test]
    fn the_network_with_the_least_memory_comes_first() {
        let pool = pool(16);
        let [greedy, modest] = [network(), network()];
        let _greedy = pool.try_acquire(greedy.as_ref()).unwrap();
        let mut others: Vec<_> = (0..15).map(|_| pool.try_acquire(None).unwrap()).collect();
        let mut first = Box::pin(pool.acquire(greedy.as_ref()));
        let mut second = Box::pin(pool.acquire(modest.as_ref()));
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_none());
        others.pop();
        assert!(first.as_mut().now_or_never().is_none());
        assert!(second.as_mut().now_or_never().is_some());
        others.truncate(10);
        assert!(first.as_mut().now_or_never().is_some());
    }

    #[test]
    fn a_client_that_has_gone_takes_nothing() {
        let pool = pool(1);
        let held = pool.try_acquire(None).unwrap();
        let mut gone = Box::pin(pool.acquire(None));
        assert!(gone.as_mut().now_or_never().is_none());
        drop(gone);
        // This one goes after its permit was granted.
        let mut late = Box::pin(pool.acquire(None));
        assert!(late.as_mut().now_or_never().is_none());
        drop(held);
        assert!(pool.try_acquire(None).is_none());
        drop(late);
        assert!(pool.try_acquire(None).is_some());
    }

    #[test]
    fn a_small_part_of_a_request_is_enough_for_a_small_chunk() {
        let pool = pool(1);
        let mut permit = pool.try_acquire(None).unwrap();
        permit.shrink_to(1);
        assert!(pool.try_acquire(None).is_none());
        drop(permit);
        assert!(pool.try_acquire(None).is_some());
    }
}
