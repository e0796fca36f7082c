//! The open connections of one transport, and the limits on their number.
//!
//! Each connection needs a slot. One client network gets only a part of the slots. If all slots are taken, a new
//! connection takes the slot of an idle one, so clients cannot lock others out with connections that they do not use.

use crate::client::ClientNetworks;
use ipnet::IpNet;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The minimum time between two reductions of the number of connections.
const LOWERING_INTERVAL: Duration = Duration::from_secs(1);

/// The slots of one transport.
pub struct ConnectionSlots {
    limits: SlotLimits,
    /// The number of connections, which may be lower than in `limits`.
    total: AtomicUsize,
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
    /// All slots are busy.
    Full,
}

impl Refusal {
    /// The value for the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Network => "network",
            Self::Rate => "rate",
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
    lowered_at: Option<Instant>,
    /// The number of connections of each network, and of each site.
    networks: HashMap<IpNet, usize>,
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
            total: AtomicUsize::new(limits.total),
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
        let total = self.total.load(Relaxed);
        if state.entries.len() - state.reserved >= total && !state.evict(false) {
            if state.reserved >= self.limits.reserved && !state.evict(true) {
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
        has_half(state.entries.len(), self.total.load(Relaxed))
            || ip.map(ClientNetworks::of).is_some_and(|networks| {
                let site = networks.site.map_or(0, |site| state.count(site));
                has_half(state.count(networks.own), self.limits.per_network)
                    || has_half(site, self.limits.per_site)
            })
    }

    /// Lowers the number of connections to `spare` less than there are now, and closes idle ones. Returns the new
    /// number. The process cannot have more.
    pub fn lower_total(&self, spare: usize) -> usize {
        let mut state = self.lock();
        // The closed connections need a moment to end.
        let is_recent = state
            .lowered_at
            .is_some_and(|lowered_at| lowered_at.elapsed() < LOWERING_INTERVAL);
        if is_recent {
            return self.total.load(Relaxed);
        }
        state.lowered_at = Some(Instant::now());
        let total = state.entries.len().saturating_sub(spare).max(1);
        let total = self.total.fetch_min(total, Relaxed).min(total);
        while state.entries.len() > total && (state.evict(true) || state.evict(false)) {}
        total
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

    /// Closes the idle connection of the network with the most connections; of several, the one that idles longest.
    /// `false` if no connection is idle.
    fn evict(&mut self, is_reserved: bool) -> bool {
        let idle = self.entries.iter().filter_map(|(&id, entry)| {
            let idle_since = entry.activity.idle_since()?;
            (entry.is_reserved == is_reserved).then(|| {
                let connections = entry.all_networks().map(|network| self.count(network));
                (connections.max().unwrap_or(0), Reverse(idle_since), id)
            })
        });
        let Some((_, _, id)) = idle.max() else {
            return false;
        };
        if let Some(entry) = self.remove(id) {
            entry.activity.closing.cancel();
        }
        true
    }
}

impl Entry {
    fn all_networks(&self) -> impl Iterator<Item = IpNet> + use<> {
        let networks = self.networks;
        let own = networks.map(|networks| networks.own);
        let site = networks.and_then(|networks| networks.site);
        own.into_iter().chain(site)
    }
}

/// Whether a connection is in use.
pub struct Activity {
    started: Instant,
    /// The number of running requests.
    requests: AtomicUsize,
    /// When the connection was last in use, in milliseconds since `started`.
    last_use: AtomicU64,
    closing: CancellationToken,
}

/// A running request of a connection. The request ends on drop.
pub struct ActiveRequest(Arc<Activity>);

impl Activity {
    fn new() -> Self {
        Self {
            started: Instant::now(),
            requests: AtomicUsize::new(0),
            last_use: AtomicU64::new(0),
            closing: CancellationToken::new(),
        }
    }

    /// The connection is in use until the guard is dropped.
    pub fn begin_request(self: &Arc<Self>) -> ActiveRequest {
        self.requests.fetch_add(1, Relaxed);
        ActiveRequest(Arc::clone(self))
    }

    /// The connection was in use just now.
    pub fn touch(&self) {
        let elapsed = self.started.elapsed().as_millis();
        let elapsed = u64::try_from(elapsed).unwrap_or(u64::MAX);
        self.last_use.store(elapsed, Relaxed);
    }

    /// When the connection became idle. `None` while it is in use.
    pub fn idle_since(&self) -> Option<Instant> {
        let last_use = Duration::from_millis(self.last_use.load(Relaxed));
        (self.requests.load(Relaxed) == 0).then(|| self.started + last_use)
    }

    /// Resolves when the connection must close, because another one took its slot.
    pub async fn evicted(&self) {
        self.closing.cancelled().await;
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.touch();
        self.0.requests.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(total: usize) -> Arc<ConnectionSlots> {
        ConnectionSlots::new(SlotLimits {
            total,
            per_network: 2,
            per_site: 3,
            reserved: 1,
        })
    }

    fn take(slots: &Arc<ConnectionSlots>, ip: &str) -> Result<Slot, Refusal> {
        slots.take(Some(ip.parse().unwrap()))
    }

    fn is_evicted(slot: &Slot) -> bool {
        slot.activity.closing.is_cancelled()
    }

    #[test]
    fn one_network_gets_only_its_share() {
        let slots = slots(100);
        for ip in ["203.0.113.1", "::ffff:203.0.113.1"] {
            let mut held = Vec::from([(); 2].map(|()| take(&slots, ip).unwrap()));
            assert_eq!(take(&slots, ip).err(), Some(Refusal::Network));
            assert!(take(&slots, "203.0.113.2").is_ok());
            held.pop();
            assert!(take(&slots, ip).is_ok());
        }
    }

    #[test]
    fn a_48_gets_more_than_a_64_but_not_everything() {
        let slots = slots(100);
        let held: Vec<_> = ["2001:db8:1:1::1", "2001:db8:1:1::2", "2001:db8:1:2::1"]
            .map(|ip| take(&slots, ip).unwrap())
            .into();
        for ip in ["2001:db8:1:1::3", "2001:db8:1:3::1"] {
            assert_eq!(take(&slots, ip).err(), Some(Refusal::Network), "{ip}");
        }
        assert!(take(&slots, "2001:db8:2:1::1").is_ok());
        drop(held);
        assert!(take(&slots, "2001:db8:1:3::1").is_ok());
        assert!(
            slots.lock().networks.is_empty(),
            "counts of nobody are removed"
        );
    }

    #[test]
    fn exempt_clients_get_all_slots() {
        let slots = slots(3);
        let held = [(); 3].map(|()| slots.take(None).unwrap());
        assert!(held.iter().all(|slot| !slot.is_reserved()));
    }

    #[test]
    fn a_new_connection_takes_the_slot_of_the_idlest_one() {
        let slots = slots(3);
        let [first, second, third] = [(); 3].map(|()| slots.take(None).unwrap());
        let request = first.activity.begin_request();
        std::thread::sleep(Duration::from_millis(5));
        third.activity.touch();
        let fourth = slots.take(None).unwrap();
        assert!(!fourth.is_reserved());
        assert!(is_evicted(&second) && !is_evicted(&first) && !is_evicted(&third));
        drop(request);
        drop(second);
        assert_eq!(slots.lock().entries.len(), 3, "the slot is free only once");
    }

    #[test]
    fn the_network_with_the_most_connections_loses_one_first() {
        let slots = slots(3);
        let modest = take(&slots, "203.0.113.1").unwrap();
        std::thread::sleep(Duration::from_millis(5));
        let greedy = [(); 2].map(|()| take(&slots, "203.0.113.2").unwrap());
        let _other = take(&slots, "203.0.113.3").unwrap();
        assert!(!is_evicted(&modest));
        assert_eq!(greedy.iter().filter(|slot| is_evicted(slot)).count(), 1);
    }

    #[test]
    fn reserved_slots_serve_while_all_others_are_busy() {
        let slots = slots(1);
        let busy = slots.take(None).unwrap();
        let request = busy.activity.begin_request();
        let reserved = slots.take(None).unwrap();
        assert!(reserved.is_reserved());
        let next = slots.take(None).unwrap();
        assert!(next.is_reserved() && is_evicted(&reserved) && !is_evicted(&busy));
        let short_answer = next.activity.begin_request();
        assert_eq!(slots.take(None).err(), Some(Refusal::Full));
        drop((request, short_answer));
        assert!(!slots.take(None).unwrap().is_reserved());
    }

    #[test]
    fn a_connection_counts_for_the_client_that_its_proxy_names() {
        let slots = slots(100);
        let connections = [(); 3].map(|()| slots.take(None).unwrap());
        let client = Some("203.0.113.1".parse().unwrap());
        let assigned: Vec<_> = connections.iter().map(|slot| slot.assign(client)).collect();
        assert_eq!(assigned, [Ok(()), Ok(()), Err(Refusal::Network)]);
        assert!(slots.is_half_full(client));
        drop(connections);
        assert!(!slots.is_half_full(client));
        assert!(take(&slots, "203.0.113.1").is_ok());
    }

    #[test]
    fn the_number_of_connections_can_be_lowered() {
        let slots = slots(100);
        let mut held: Vec<_> = (0..10).map(|_| slots.take(None).unwrap()).collect();
        let _request = held[0].activity.begin_request();
        assert_eq!(slots.lower_total(4), 6);
        let evicted = held.iter().filter(|slot| is_evicted(slot)).count();
        assert_eq!(evicted, 4);
        assert!(!is_evicted(&held[0]));
        held.retain(|slot| !is_evicted(slot));
        held.push(slots.take(None).unwrap());
        let evicted = held.iter().filter(|slot| is_evicted(slot)).count();
        assert_eq!(
            evicted, 1,
            "the new connection takes the place of an idle one"
        );
        assert_eq!(slots.lower_total(4), 6, "not again at once");
        slots.lock().lowered_at = None;
        assert_eq!(
            slots.lower_total(100),
            1,
            "one connection is always possible"
        );
    }
}
