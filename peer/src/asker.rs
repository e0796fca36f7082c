//! Clients, and their limits.

use crate::limits::{BURST, REMEMBERED_CLIENTS};
use crate::metrics::Face;
use lru::LruCache;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::Semaphore;

/// The client of a WebTransport session or HTTP connection.
#[derive(Clone)]
pub struct Asker {
    /// The transport that the client uses.
    pub face: Face,
    /// The client's IP address.
    pub ip: IpAddr,
    /// The client's memory quotas for chunks, in the order in which permits are acquired.
    pub shares: Vec<Arc<Semaphore>>,
}

/// The rate limits of one client address, over all its sessions and connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rates {
    /// Requests per second for chunks and pointers, including writes.
    pub requests_per_second: Option<u32>,
    /// Bytes of sent chunks per second.
    pub bytes_per_second: Option<u64>,
}

/// A token bucket for each client address. Unused tokens accumulate for [`BURST`].
pub struct RateLimiter {
    rates: Rates,
    accounts: Mutex<LruCache<IpAddr, Account>>,
}

struct Account {
    requests: f64,
    bytes: f64,
    as_of: Instant,
}

impl RateLimiter {
    /// A client's address may be the address of a proxy.
    pub fn new(rates: Rates) -> Self {
        Self {
            rates,
            accounts: Mutex::new(LruCache::new(REMEMBERED_CLIENTS)),
        }
    }

    /// Whether one more request is allowed. If so, the request is counted.
    pub fn admit(&self, ip: IpAddr) -> bool {
        self.with_account(ip, |account, rates| {
            let has_requests = rates.requests_per_second.is_none() || account.requests >= 1.0;
            let has_bytes = rates.bytes_per_second.is_none() || account.bytes > 0.0;
            if has_requests && has_bytes {
                account.requests -= 1.0;
            }
            has_requests && has_bytes
        })
        .unwrap_or(true)
    }

    /// Counts the bytes of a response. The balance may become negative; later requests are then refused.
    pub fn answered(&self, ip: IpAddr, bytes: u32) {
        self.with_account(ip, |account, _| account.bytes -= f64::from(bytes));
    }

    /// `None` if there are no rate limits.
    fn with_account<T>(
        &self,
        ip: IpAddr,
        work: impl FnOnce(&mut Account, Rates) -> T,
    ) -> Option<T> {
        let rates = self.rates;
        if rates.requests_per_second.is_none() && rates.bytes_per_second.is_none() {
            return None;
        }
        let seconds = BURST.as_secs_f64();
        let most_requests = f64::from(rates.requests_per_second.unwrap_or(0)) * seconds;
        let most_bytes = rates.bytes_per_second.unwrap_or(0) as f64 * seconds;
        let now = Instant::now();
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let account = accounts.get_or_insert_mut(network_of(ip), || Account {
            requests: most_requests,
            bytes: most_bytes,
            as_of: now,
        });
        let saved = now.duration_since(account.as_of).as_secs_f64() / seconds;
        account.requests = (account.requests + most_requests * saved).min(most_requests);
        account.bytes = (account.bytes + most_bytes * saved).min(most_bytes);
        account.as_of = now;
        Some(work(account, rates))
    }
}

/// The address for quotas: an IPv4 address, or the /64 network of an IPv6 address. One user usually has the whole
/// /64.
pub fn network_of(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V4(ip) => ip.into(),
        IpAddr::V6(ip) => {
            let [a, b, c, d, ..] = ip.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn admits_everything_without_rate_limits() {
        let limiter = RateLimiter::new(Rates::default());
        limiter.answered(ip("127.0.0.1"), u32::MAX);
        assert!((0..10_000).all(|_| limiter.admit(ip("127.0.0.1"))));
    }

    #[test]
    fn limits_the_burst_of_a_client() {
        let limiter = RateLimiter::new(Rates {
            requests_per_second: Some(1),
            bytes_per_second: None,
        });
        let burst = BURST.as_secs() as usize;
        let admitted = (0..100).filter(|_| limiter.admit(ip("10.0.0.1"))).count();
        assert_eq!(admitted, burst);
        assert!(limiter.admit(ip("10.0.0.2")), "another client");
    }

    #[test]
    fn rejects_a_client_over_its_byte_rate() {
        let limiter = RateLimiter::new(Rates {
            requests_per_second: None,
            bytes_per_second: Some(1000),
        });
        assert!(limiter.admit(ip("::1")));
        limiter.answered(ip("::1"), 1_000_000);
        assert!(!limiter.admit(ip("::1")));
    }

    #[test]
    fn addresses_of_one_network_share_a_rate_limit() {
        assert_eq!(
            network_of(ip("2001:db8::1")),
            network_of(ip("2001:db8::2:3"))
        );
        assert_ne!(
            network_of(ip("2001:db8::1")),
            network_of(ip("2001:db8:0:1::1"))
        );
        assert_eq!(network_of(ip("::ffff:10.0.0.1")), ip("10.0.0.1"));
        assert_ne!(network_of(ip("10.0.0.1")), network_of(ip("10.0.0.2")));
    }
}
