//! Limits the requests and bytes of each client.

use crate::client::ClientNetworks;
use crate::limits::{MAX_TRACKED_CLIENTS, RATE_LIMIT_BURST, SITE_FACTOR};
use ipnet::IpNet;
use lru::LruCache;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The rate limits of one client network, over all its sessions and connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimits {
    /// Requests per second, including writes. A request for several chunks counts once for each.
    pub requests_per_second: Option<u32>,
    /// Bytes of sent chunks per second.
    pub bytes_per_second: Option<u64>,
}

/// A token bucket for each client network. Unused tokens accumulate for [`RATE_LIMIT_BURST`].
pub struct RateLimiter {
    rate_limits: RateLimits,
    buckets: Mutex<LruCache<IpNet, TokenBucket>>,
}

struct TokenBucket {
    /// The rate limits of this network.
    rate_limits: RateLimits,
    requests: f64,
    bytes: f64,
    refilled_at: Instant,
}

impl RateLimits {
    /// Whether there is any limit.
    fn is_limited(self) -> bool {
        self.requests_per_second.is_some() || self.bytes_per_second.is_some()
    }

    /// The limits of a site, which is a larger network.
    fn of_site(self) -> Self {
        let factor = SITE_FACTOR as u32;
        Self {
            requests_per_second: self.requests_per_second.map(|n| n.saturating_mul(factor)),
            bytes_per_second: self
                .bytes_per_second
                .map(|n| n.saturating_mul(factor.into())),
        }
    }
}

impl TokenBucket {
    fn new(rate_limits: RateLimits, now: Instant) -> Self {
        let mut bucket = Self {
            rate_limits,
            requests: 0.0,
            bytes: 0.0,
            refilled_at: now,
        };
        bucket.requests = bucket.max_requests();
        bucket.bytes = bucket.max_bytes();
        bucket
    }

    fn max_requests(&self) -> f64 {
        f64::from(self.rate_limits.requests_per_second.unwrap_or(0))
            * RATE_LIMIT_BURST.as_secs_f64()
    }

    fn max_bytes(&self) -> f64 {
        self.rate_limits.bytes_per_second.unwrap_or(0) as f64 * RATE_LIMIT_BURST.as_secs_f64()
    }

    fn refill(&mut self, now: Instant) {
        let elapsed = now.duration_since(self.refilled_at).as_secs_f64();
        let refill = elapsed / RATE_LIMIT_BURST.as_secs_f64();
        let (max_requests, max_bytes) = (self.max_requests(), self.max_bytes());
        self.requests = (self.requests + max_requests * refill).min(max_requests);
        self.bytes = (self.bytes + max_bytes * refill).min(max_bytes);
        // Another thread may have refilled the bucket with a later time.
        self.refilled_at = self.refilled_at.max(now);
    }

    fn allows_request(&self) -> bool {
        let has_requests = self.rate_limits.requests_per_second.is_none() || self.requests >= 1.0;
        let has_bytes = self.rate_limits.bytes_per_second.is_none() || self.bytes > 0.0;
        has_requests && has_bytes
    }
}

impl RateLimiter {
    /// The limits of each client network. A /48 gets [`SITE_FACTOR`] times as much.
    pub fn new(rate_limits: RateLimits) -> Self {
        Self {
            rate_limits,
            buckets: Mutex::new(LruCache::new(MAX_TRACKED_CLIENTS)),
        }
    }

    /// Whether one more request is allowed. If so, the request is counted.
    pub fn admit(&self, ip: IpAddr) -> bool {
        let mut is_admitted = true;
        self.with_buckets(ip, |bucket| is_admitted &= bucket.allows_request());
        if is_admitted {
            self.with_buckets(ip, |bucket| bucket.requests -= 1.0);
        }
        is_admitted
    }

    /// Whether the client has used half of the requests that it could accumulate.
    pub fn is_half_used(&self, ip: IpAddr) -> bool {
        let mut is_half_used = false;
        self.with_buckets(ip, |bucket| {
            is_half_used |= bucket.requests < bucket.max_requests() / 2.0;
        });
        is_half_used
    }

    /// Counts the bytes of a response. The balance may become negative; later requests are then refused.
    pub fn record_bytes(&self, ip: IpAddr, bytes: u32) {
        self.with_buckets(ip, |bucket| bucket.bytes -= f64::from(bytes));
    }

    /// Calls `work` for the bucket of each of the client's networks. Does nothing without rate limits.
    fn with_buckets(&self, ip: IpAddr, mut work: impl FnMut(&mut TokenBucket)) {
        if !self.rate_limits.is_limited() {
            return;
        }
        let networks = ClientNetworks::of(ip);
        let own = Some((networks.own, self.rate_limits));
        let site = networks.site.map(|site| (site, self.rate_limits.of_site()));
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        for (network, rate_limits) in own.into_iter().chain(site) {
            let bucket = buckets.get_or_insert_mut(network, || TokenBucket::new(rate_limits, now));
            bucket.refill(now);
            work(bucket);
        }
    }
}

/// A limit on the requests of all clients together.
pub struct TotalRateLimiter(Option<Mutex<TokenBucket>>);

impl TotalRateLimiter {
    /// `None` for no limit.
    pub fn new(requests_per_second: Option<u32>) -> Self {
        Self(requests_per_second.map(|_| {
            let rate_limits = RateLimits {
                requests_per_second,
                bytes_per_second: None,
            };
            Mutex::new(TokenBucket::new(rate_limits, Instant::now()))
        }))
    }

    /// Whether one more request is allowed. If so, the request is counted. Half of the requests that can accumulate are for
    /// clients that are `modest`, as many others must not use up all.
    pub fn admit(&self, is_modest: bool) -> bool {
        self.with_bucket(|bucket| {
            let reserve = match is_modest {
                true => 0.0,
                false => bucket.max_requests() / 2.0,
            };
            let is_admitted = bucket.requests - 1.0 >= reserve;
            if is_admitted {
                bucket.requests -= 1.0;
            }
            is_admitted
        })
        .unwrap_or(true)
    }

    /// Whether half of the requests that can accumulate are used.
    pub fn is_half_used(&self) -> bool {
        self.with_bucket(|bucket| bucket.requests < bucket.max_requests() / 2.0)
            .unwrap_or(false)
    }

    /// `None` without a limit.
    fn with_bucket<T>(&self, work: impl FnOnce(&mut TokenBucket) -> T) -> Option<T> {
        let bucket = self.0.as_ref()?;
        let mut bucket = bucket.lock().unwrap_or_else(PoisonError::into_inner);
        bucket.refill(Instant::now());
        Some(work(&mut bucket))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_total_limits_all_clients_together() {
        assert!((0..100).all(|_| TotalRateLimiter::new(None).admit(false)));
        let limiter = TotalRateLimiter::new(Some(2));
        let burst = 2 * RATE_LIMIT_BURST.as_secs() as usize;
        assert!(!limiter.is_half_used());
        let admitted = |is_modest| (0..100).filter(|_| limiter.admit(is_modest)).count();
        assert_eq!(admitted(false), burst / 2);
        assert_eq!(admitted(true), burst / 2);
        assert!(limiter.is_half_used());
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn admits_everything_without_rate_limits() {
        let limiter = RateLimiter::new(RateLimits::default());
        limiter.record_bytes(ip("127.0.0.1"), u32::MAX);
        assert!((0..10_000).all(|_| limiter.admit(ip("127.0.0.1"))));
    }

    #[test]
    fn limits_the_burst_of_a_client() {
        let limiter = RateLimiter::new(RateLimits {
            requests_per_second: Some(1),
            bytes_per_second: None,
        });
        let burst = RATE_LIMIT_BURST.as_secs() as usize;
        let admitted = (0..100).filter(|_| limiter.admit(ip("10.0.0.1"))).count();
        assert_eq!(admitted, burst);
        assert!(limiter.admit(ip("10.0.0.2")), "another client");
    }

    #[test]
    fn rejects_a_client_over_its_byte_rate() {
        let limiter = RateLimiter::new(RateLimits {
            requests_per_second: None,
            bytes_per_second: Some(1000),
        });
        assert!(limiter.admit(ip("::1")));
        limiter.record_bytes(ip("::1"), 1_000_000);
        assert!(!limiter.admit(ip("::1")));
    }

    #[test]
    fn limits_a_48_that_uses_many_64s() {
        let limiter = RateLimiter::new(RateLimits {
            requests_per_second: Some(1),
            bytes_per_second: None,
        });
        let burst = RATE_LIMIT_BURST.as_secs() as usize;
        let admitted = |site: &str| {
            (0..100)
                .filter(|i| limiter.admit(ip(&format!("{site}:{i:x}::1"))))
                .count()
        };
        assert_eq!(admitted("2001:db8:1"), SITE_FACTOR * burst);
        assert_eq!(admitted("2001:db8:2"), SITE_FACTOR * burst, "another site");
    }

    #[test]
    fn tells_when_half_of_the_burst_is_used() {
        let limiter = RateLimiter::new(RateLimits {
            requests_per_second: Some(2),
            bytes_per_second: None,
        });
        let half = RATE_LIMIT_BURST.as_secs() as usize;
        for _ in 0..half - 1 {
            assert!(limiter.admit(ip("10.0.0.1")));
        }
        assert!(!limiter.is_half_used(ip("10.0.0.1")));
        assert!(limiter.admit(ip("10.0.0.1")));
        assert!(limiter.admit(ip("10.0.0.1")));
        assert!(limiter.is_half_used(ip("10.0.0.1")));
    }
}
