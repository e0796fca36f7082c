//! The open connections of one transport, and the limits on their number.
//!
//! Each connection needs a slot. One client network gets only a part of the slots. If all slots are taken, a new
//! connection takes the slot of an idle one, or of one whose client does not read. If there is none, it takes one of a
//! network that has many more. So clients cannot lock others out with connections that they do not use, and few networks
//! cannot lock others out with requests that wait.

mod activity;

pub use activity::{ActiveRequest, Activity, ClientWait};

use crate::client::ClientNetworks;
use crate::limits::STALL_TIMEOUT;
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The minimum time between two reductions of the number of connections.
const LOWERING_INTERVAL: Duration = Duration::from_secs(1);

/// Without another reduction, the number of connections doubles after each of these intervals, up to the limit. Files may
/// have run out for a short time only.
const RAISING_INTERVAL: Duration = Duration::from_secs(5);

/// A network with this many times the connections of another gives it a busy slot, and takes none of it.
const GREEDY_FACTOR: usize = 4;

/// The slots of one transport.
pub struct ConnectionSlots {
    limits: SlotLimits,
    state: Mutex<State>,
}

/// The numbers of slots.
#[derive(Clone, Copy, Debug)]
pub struct SlotLimits {
    /// All connections, apart from those in reserved slots.
    pub total: usize,
    /// The connections of one IPv4 address, or of one IPv6 /64.
    pub per_network: usize,
    /// The connections of one IPv6 /48.
    pub per_site: usize,
    /// The slots for connections that only get a short answer, while all others are busy.
    pub reserved: usize,
}

/// Why a connection gets no slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The client's network has too many connections.
    Network,
    /// The client's network opened too many connections in a short time.
    Rate,
    /// All clients together opened too many connections in a short time.
    TotalRate,
    /// All slots are busy.
    Full,
}

impl Refusal {
    /// The value for the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Rate => "rate",
            Self::TotalRate => "total_rate",
            Self::Full => "full",
        }
    }
}

/// The slot of one connection. It is free again on drop.
pub struct Slot {
    slots: Arc<ConnectionSlots>,
    id: u64,
    is_reserved: bool,
    activity: Arc<Activity>,
}

#[derive(Default)]
struct State {
    next_id: u64,
    entries: HashMap<u64, Entry>,
    reserved: usize,
    lowered: Option<Lowered>,
    /// The number of connections of each network, and of each site.
    networks: HashMap<IpNet, usize>,
}

/// A reduction of the number of connections.
#[derive(Clone, Copy)]
struct Lowered {
    total: usize,
    at: Instant,
}

impl Lowered {
    /// The number of connections now, without the limit.
    fn total(self) -> usize {
        let intervals = self.at.elapsed().as_secs() / RAISING_INTERVAL.as_secs();
        self.total.saturating_mul(1 << intervals.min(31))
    }
}

struct Entry {
    /// `None` if the client is exempt from the limits on networks.
    networks: Option<ClientNetworks>,
    is_reserved: bool,
    activity: Arc<Activity>,
}

impl ConnectionSlots {
    /// All slots are free.
    pub fn new(limits: SlotLimits) -> Arc<Self> {
        Arc::new(Self {
            limits,
            state: Mutex::default(),
        })
    }

    /// A slot for a connection from `ip`. `None` stands for a client that is exempt from the limits on networks.
    pub fn take(self: &Arc<Self>, ip: Option<IpAddr>) -> Result<Slot, Refusal> {
        let networks = ip.map(ClientNetworks::of);
        let mut state = self.lock();
        self.check_networks(&state, networks)?;
        let mut is_reserved = false;
        let total = self.total(&state);
        let is_full = state.entries.len() - state.reserved >= total;
        if is_full && !state.evict(false, networks) && !state.evict_from_greedy(networks) {
            if state.reserved >= self.limits.reserved && !state.evict(true, networks) {
                return Err(Refusal::Full);
            }
            is_reserved = true;
        }
        let activity = Arc::new(Activity::new());
        let id = state.add(Entry {
            networks,
            is_reserved,
            activity: Arc::clone(&activity),
        });
        Ok(Slot {
            slots: Arc::clone(self),
            id,
            is_reserved,
            activity,
        })
    }

    /// Whether half of all slots, or half of the slots for this client, are taken.
    pub fn is_half_full(&self, ip: Option<IpAddr>) -> bool {
        let state = self.lock();
        let has_half = |taken: usize, all: usize| taken > 0 && taken >= all / 2;
        has_half(state.entries.len(), self.total(&state))
            || ip.map(ClientNetworks::of).is_some_and(|networks| {
                let site = networks.site.map_or(0, |site| state.count(site));
                has_half(state.count(networks.own), self.limits.per_network)
                    || has_half(site, self.limits.per_site)
            })
    }

    /// Lowers the number of connections to `spare` less than there are now, and closes idle ones. Returns the new
    /// number. The process cannot have more at present.
    pub fn lower_total(&self, spare: usize) -> usize {
        let mut state = self.lock();
        // The closed connections need a moment to end.
        let is_recent = state
            .lowered
            .is_some_and(|lowered| lowered.at.elapsed() < LOWERING_INTERVAL);
        let present = self.total(&state);
        if is_recent {
            return present;
        }
        let total = state.entries.len().saturating_sub(spare);
        let total = total.clamp(1, present);
        state.lowered = Some(Lowered {
            total,
            at: Instant::now(),
        });
        while state.entries.len() > total && (state.evict(true, None) || state.evict(false, None)) {
        }
        total
    }

    /// The number of connections now.
    fn total(&self, state: &State) -> usize {
        let lowered = state.lowered.map_or(usize::MAX, Lowered::total);
        lowered.min(self.limits.total)
    }

    fn check_networks(
        &self,
        state: &State,
        networks: Option<ClientNetworks>,
    ) -> Result<(), Refusal> {
        let Some(networks) = networks else {
            return Ok(());
        };
        let own = state.count(networks.own) < self.limits.per_network;
        let site = networks
            .site
            .is_none_or(|site| state.count(site) < self.limits.per_site);
        match own && site {
            true => Ok(()),
            false => Err(Refusal::Network),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot {
    /// Counts the connection for another client. A proxy told its address.
    pub fn assign(&self, ip: Option<IpAddr>) -> Result<(), Refusal> {
        let networks = ip.map(ClientNetworks::of);
        let mut state = self.slots.lock();
        self.slots.check_networks(&state, networks)?;
        // The connection may have lost its slot already.
        if let Some(mut entry) = state.remove(self.id) {
            entry.networks = networks;
            state.insert(self.id, entry);
        }
        Ok(())
    }

    /// Whether the client may only get a short answer, because all other slots are busy.
    pub fn is_reserved(&self) -> bool {
        self.is_reserved
    }

    /// The activity of the connection.
    pub fn activity(&self) -> &Arc<Activity> {
        &self.activity
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.slots.lock().remove(self.id);
    }
}

impl State {
    fn count(&self, network: IpNet) -> usize {
        self.networks.get(&network).copied().unwrap_or(0)
    }

    /// The connections of the network, or of the site if these are more.
    fn most(&self, networks: ClientNetworks) -> usize {
        let counts = networks.all().map(|network| self.count(network));
        counts.max().unwrap_or(0)
    }

    fn add(&mut self, entry: Entry) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        self.insert(id, entry);
        id
    }

    fn insert(&mut self, id: u64, entry: Entry) {
        for network in entry.all_networks() {
            *self.networks.entry(network).or_default() += 1;
        }
        self.reserved += usize::from(entry.is_reserved);
        self.entries.insert(id, entry);
    }

    fn remove(&mut self, id: u64) -> Option<Entry> {
        let entry = self.entries.remove(&id)?;
        self.reserved -= usize::from(entry.is_reserved);
        for network in entry.all_networks() {
            if let Some(count) = self.networks.get_mut(&network) {
                *count -= 1;
                if *count == 0 {
                    self.networks.remove(&network);
                }
            }
        }
        Some(entry)
    }

    /// Closes a connection that is idle, or whose client does not read: of the network with the most connections; there
    /// an idle one first; of several, the one that is unused longest. A network with many more connections takes none that
    /// was in use a moment ago. `false` if there is none.
    fn evict(&mut self, is_reserved: bool, newcomer: Option<ClientNetworks>) -> bool {
        let newcomers = newcomer.map_or(0, |networks| self.most(networks));
        let unused = self.entries.iter().filter_map(|(&id, entry)| {
            let idle_since = entry.activity.idle_since();
            let since = idle_since.or_else(|| entry.activity.stalled_since())?;
            let connections = entry.networks.map_or(0, |networks| self.most(networks));
            let is_modest = newcomers < GREEDY_FACTOR * connections.max(1);
            let may_end = is_modest || since.elapsed() >= STALL_TIMEOUT;
            (entry.is_reserved == is_reserved && may_end).then_some((
                connections,
                idle_since.is_some(),
                Reverse(since),
                id,
            ))
        });
        let id = unused.max().map(|(_, _, _, id)| id);
        self.close(id)
    }

    /// Closes a connection in use of the network with the most connections, if it has many more than the network of a new
    /// one: the newest, which has done the least. `false` if no network has so many.
    fn evict_from_greedy(&mut self, newcomer: Option<ClientNetworks>) -> bool {
        let least = GREEDY_FACTOR * (newcomer.map_or(0, |networks| self.most(networks)) + 1);
        let greedy = self.entries.iter().filter_map(|(&id, entry)| {
            let connections = self.most(entry.networks?);
            (!entry.is_reserved && connections >= least).then_some((connections, id))
        });
        let id = greedy.max().map(|(_, id)| id);
        self.close(id)
    }

    /// `false` if there is no such connection.
    fn close(&mut self, id: Option<u64>) -> bool {
        let Some(entry) = id.and_then(|id| self.remove(id)) else {
            return false;
        };
        entry.activity.closing.cancel();
        true
    }
}

impl Entry {
    fn all_networks(&self) -> impl Iterator<Item = IpNet> + use<> {
        self.networks.into_iter().flat_map(ClientNetworks::all)
    }
}

#[cfg(test)]
mod tests;
