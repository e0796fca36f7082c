//! Units that all clients share: of memory, or of work outside of this peer.
//!
//! A network that held many units recently must leave some of them free. So a client that gives its units back quickly
//! gets units at once, even if many other networks keep theirs.

use crate::limits::{POOL_USE_PERIOD, PRESSURE_PERIOD};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::sleep;

/// A network leaves this many times the units free that it held recently.
const RESERVE_FACTOR: f64 = 4.0;

/// The largest reserve is the number of all units divided by this.
const RESERVE_DIVISOR: usize = 8;

/// The units of all clients.
pub struct Pool {
    max_reserve: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    waiting: Vec<Waiting>,
}

struct Waiting {
    units: usize,
    recent: Vec<Arc<RecentUse>>,
    granted: oneshot::Sender<PoolPermit>,
}

/// Units of a pool. They are free again on drop.
pub struct PoolPermit {
    pool: Arc<Pool>,
    recent: Vec<Arc<RecentUse>>,
    units: usize,
}

/// The units of a pool that one network held recently, on average.
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
        let rest = (-elapsed.as_secs_f64() / POOL_USE_PERIOD.as_secs_f64()).exp();
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

impl Pool {
    /// A pool of `units`.
    pub fn new(units: usize) -> Arc<Self> {
        Arc::new(Self {
            max_reserve: units / RESERVE_DIVISOR,
            state: Mutex::new(State {
                free: units,
                waiting: Vec::new(),
            }),
        })
    }

    /// Takes units, if the client may have them now, and no other one waits for its own. `recent` is the use of the client's
    /// network and of its site. An exempt client has none.
    fn try_acquire(
        self: &Arc<Self>,
        units: usize,
        recent: &[Arc<RecentUse>],
    ) -> Option<PoolPermit> {
        let mut state = self.lock();
        state.waiting.retain(|waiting| !waiting.granted.is_closed());
        let is_free = state.waiting.is_empty() && leaves(&state, units, self.reserve(recent));
        is_free.then(|| self.take(&mut state, units, recent.to_vec()))
    }

    /// Waits for units. Of the networks that wait, the one that held the fewest comes first.
    async fn acquire(self: &Arc<Self>, units: usize, recent: &[Arc<RecentUse>]) -> PoolPermit {
        if let Some(permit) = self.try_acquire(units, recent) {
            return permit;
        }
        let mut granting = pin!(self.enqueue(units, recent));
        loop {
            tokio::select! {
                permit = granting.as_mut() => break permit.expect("the pool grants before it ends"),
                // A network's use becomes less with time, without any other event.
                () = sleep(PRESSURE_PERIOD) => self.grant_waiting(&mut self.lock()),
            }
        }
    }

    fn enqueue(
        self: &Arc<Self>,
        units: usize,
        recent: &[Arc<RecentUse>],
    ) -> oneshot::Receiver<PoolPermit> {
        let (granted, granting) = oneshot::channel();
        let mut state = self.lock();
        state.waiting.retain(|waiting| !waiting.granted.is_closed());
        state.waiting.push(Waiting {
            units,
            recent: recent.to_vec(),
            granted,
        });
        // Units may have become free meanwhile.
        self.grant_waiting(&mut state);
        granting
    }

    /// Waits for units for a client whose networks have these quotas: that of its own network, and that of its site. An
    /// exempt client has none. Each network has one place among those that wait, so the requests of one network do not
    /// delay those of another.
    pub async fn acquire_in_turn(self: &Arc<Self>, units: u32, quotas: &[&Quota]) -> PoolPermit {
        let recent: Vec<_> = quotas
            .iter()
            .map(|quota| Arc::clone(&quota.recent))
            .collect();
        if let Some(permit) = self.try_acquire(units as usize, &recent) {
            return permit;
        }
        let mut turns = Vec::with_capacity(quotas.len());
        for quota in quotas {
            let turn = quota.turn.acquire().await;
            turns.push(turn.expect("the semaphore is never closed"));
        }
        self.acquire(units as usize, &recent).await
    }

    fn grant_waiting(self: &Arc<Self>, state: &mut State) {
        while state.free > 0 {
            let waiting = state.waiting.iter().enumerate();
            let first = waiting
                .map(|(at, waiting)| (self.reserve(&waiting.recent), at))
                .min_by(|(a, _), (b, _)| a.total_cmp(b));
            let Some((reserve, at)) = first else { return };
            if !leaves(state, state.waiting[at].units, reserve) {
                return;
            }
            // Keeps the order of the others.
            let waiting = state.waiting.remove(at);
            let permit = self.take(state, waiting.units, waiting.recent);
            if let Err(mut permit) = waiting.granted.send(permit) {
                // The client has gone. Its permit must not lock the pool again.
                state.free += permit.disarm();
            }
        }
    }

    /// The units that must be free after a request of these networks.
    fn reserve(&self, recent: &[Arc<RecentUse>]) -> f64 {
        let units = recent
            .iter()
            .map(|recent| recent.units())
            .fold(0.0, f64::max);
        (RESERVE_FACTOR * units).min(self.max_reserve as f64)
    }

    fn take(
        self: &Arc<Self>,
        state: &mut State,
        units: usize,
        recent: Vec<Arc<RecentUse>>,
    ) -> PoolPermit {
        state.free -= units;
        for recent in &recent {
            recent.update(Instant::now(), |held| held + units);
        }
        PoolPermit {
            pool: Arc::clone(self),
            recent,
            units,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn leaves(state: &State, units: usize, reserve: f64) -> bool {
    let rest = state.free.checked_sub(units);
    rest.is_some_and(|rest| rest as f64 >= reserve)
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
        for recent in &self.recent {
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

/// The share of one network in a pool.
pub struct Quota {
    units: Arc<Semaphore>,
    recent: Arc<RecentUse>,
    /// The one place of the network in the queue of the pool.
    turn: Semaphore,
}

impl Quota {
    /// At most `units` at a time.
    pub fn new(units: usize) -> Self {
        Self {
            units: Arc::new(Semaphore::new(units)),
            recent: Arc::default(),
            turn: Semaphore::new(1),
        }
    }

    /// Waits for units of the quota.
    pub async fn acquire(&self, units: u32) -> OwnedSemaphorePermit {
        acquire_units(&self.units, units).await
    }
}

/// Waits for permits of a semaphore.
pub async fn acquire_units(semaphore: &Arc<Semaphore>, units: u32) -> OwnedSemaphorePermit {
    let permits = Arc::clone(semaphore).acquire_many_owned(units);
    permits.await.expect("the semaphore is never closed")
}

#[cfg(test)]
mod tests;
