//! Counts the requests and bytes of the busiest client networks, for the metrics.
//!
//! The counters are few, whatever the number of clients (the Space-Saving algorithm): a new network takes the counter
//! of the least busy one, with its requests. So a count may be too high by the count of the least busy network.

use crate::client::coarse_network_of;
use crate::limits::{MAX_COUNTED_NETWORKS, NETWORK_COUNT_PERIOD, REPORTED_NETWORKS};
use ipnet::IpNet;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// The use of the peer by one network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Requests, also refused ones.
    pub requests: u64,
    /// Bytes of chunks.
    pub bytes: u64,
}

/// The counters of the current period and of the one before it.
pub struct NetworkUsage(Mutex<Periods>);

struct Periods {
    started: Instant,
    current: HashMap<IpNet, Usage>,
    last: Vec<(IpNet, Usage)>,
}

impl Default for NetworkUsage {
    fn default() -> Self {
        Self(Mutex::new(Periods {
            started: Instant::now(),
            current: HashMap::new(),
            last: Vec::new(),
        }))
    }
}

impl NetworkUsage {
    /// Counts a request.
    pub fn record_request(&self, ip: IpAddr) {
        self.periods().counter(coarse_network_of(ip)).requests += 1;
    }

    /// Counts the bytes of a response.
    pub fn record_bytes(&self, ip: IpAddr, bytes: u32) {
        self.periods().counter(coarse_network_of(ip)).bytes += u64::from(bytes);
    }

    /// The busiest networks of the last full period, and the current period while it is the first one.
    pub fn busiest(&self) -> Vec<(IpNet, Usage)> {
        let periods = self.periods();
        match periods.last.is_empty() {
            true => busiest(&periods.current),
            false => periods.last.clone(),
        }
    }

    fn periods(&self) -> MutexGuard<'_, Periods> {
        let mut periods = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        periods.advance(Instant::now());
        periods
    }
}

impl Periods {
    fn advance(&mut self, now: Instant) {
        let elapsed = now.duration_since(self.started);
        if elapsed < NETWORK_COUNT_PERIOD {
            return;
        }
        // After a long pause, the counts of the current period are old, too.
        let ended = std::mem::take(&mut self.current);
        self.last = match elapsed < 2 * NETWORK_COUNT_PERIOD {
            true => busiest(&ended),
            false => Vec::new(),
        };
        self.started = now;
    }

    fn counter(&mut self, network: IpNet) -> &mut Usage {
        if !self.current.contains_key(&network) && self.current.len() >= MAX_COUNTED_NETWORKS {
            let least_busy = self.current.iter().min_by_key(|(_, usage)| usage.requests);
            if let Some((&least_busy, &Usage { requests, .. })) = least_busy {
                self.current.remove(&least_busy);
                self.current.insert(network, Usage { requests, bytes: 0 });
            }
        }
        self.current.entry(network).or_default()
    }
}

fn busiest(networks: &HashMap<IpNet, Usage>) -> Vec<(IpNet, Usage)> {
    let mut sorted: Vec<_> = networks.iter().map(|(&net, &usage)| (net, usage)).collect();
    sorted.sort_by_key(|(network, usage)| (std::cmp::Reverse(usage.requests), *network));
    sorted.truncate(REPORTED_NETWORKS);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn reports_the_busiest_networks_although_there_are_many() {
        let usage = NetworkUsage::default();
        for i in 0..100_u8 {
            for j in 0..100_u8 {
                usage.record_request(ip(&format!("10.{i}.{j}.1")));
                usage.record_request(ip("203.0.113.7"));
                usage.record_request(ip("203.0.113.8"));
            }
        }
        usage.record_bytes(ip("203.0.113.7"), 1000);
        let busiest = usage.busiest();
        assert_eq!(busiest.len(), REPORTED_NETWORKS);
        let (network, first) = busiest[0];
        assert_eq!(network.to_string(), "203.0.113.0/24");
        assert!(first.requests >= 20_000 && first.bytes == 1000, "{first:?}");
        let counted = usage.periods().current.len();
        assert!(counted <= MAX_COUNTED_NETWORKS, "{counted}");
    }

    #[test]
    fn a_new_period_begins_with_new_counters() {
        let usage = NetworkUsage::default();
        usage.record_request(ip("203.0.113.7"));
        let mut periods = usage.periods();
        let later = periods.started + NETWORK_COUNT_PERIOD;
        periods.advance(later);
        assert!(periods.current.is_empty());
        assert_eq!(periods.last.len(), 1);
        periods.advance(later + 3 * NETWORK_COUNT_PERIOD);
        assert!(periods.last.is_empty());
    }
}
