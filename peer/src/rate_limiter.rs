//! Limits the requests and bytes of each client.

use crate::client::network_of;
use crate::limits::{MAX_TRACKED_CLIENTS, RATE_LIMIT_BURST};
use lru::LruCache;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// The rate limits of one client address, over all its sessions and connections.
#[derive(Clone, Copy, Debug, Default)]
pub struct RateLimits {
    /// Requests per second for chunks and pointers, including writes.
    pub requests_per_second: Option<u32>,
    /// Bytes of sent chunks per second.
    pub bytes_per_second: Option<u64>,
}

/// A token bucket for each client address. Unused tokens accumulate for [`RATE_LIMIT_BURST`].
pub struct RateLimiter {
    rate_limits: RateLimits,
    buckets: Mutex<LruCache<IpAddr, TokenBucket>>,
}

struct TokenBucket {
    requests: f64,
    bytes: f64,
    refilled_at: Instant,
}

impl RateLimiter {
    /// A client's address may be the address of a proxy.
    pub fn new(rate_limits: RateLimits) -> Self {
        Self {
            rate_limits,
            buckets: Mutex::new(LruCache::new(MAX_TRACKED_CLIENTS)),
        }
    }

    /// Whether one more request is allowed. If so, the request is counted.
    pub fn admit(&self, ip: IpAddr) -> bool {
        self.with_bucket(ip, |bucket, rate_limits| {
            let has_requests = rate_limits.requests_per_second.is_none() || bucket.requests >= 1.0;
            let has_bytes = rate_limits.bytes_per_second.is_none() || bucket.bytes > 0.0;
            if has_requests && has_bytes {
                bucket.requests -= 1.0;
            }
            has_requests && has_bytes
        })
        .unwrap_or(true)
    }

    /// Counts the bytes of a response. The balance may become negative; later requests are then refused.
    pub fn record_bytes(&self, ip: IpAddr, bytes: u32) {
        self.with_bucket(ip, |bucket, _| bucket.bytes -= f64::from(bytes));
    }

    /// `None` if there are no rate limits.
    fn with_bucket<T>(
        &self,
        ip: IpAddr,
        work: impl FnOnce(&mut TokenBucket, RateLimits) -> T,
    ) -> Option<T> {
        let rate_limits = self.rate_limits;
        if rate_limits.requests_per_second.is_none() && rate_limits.bytes_per_second.is_none() {
            return None;
        }
        let seconds = RATE_LIMIT_BURST.as_secs_f64();
        let max_requests = f64::from(rate_limits.requests_per_second.unwrap_or(0)) * seconds;
        let max_bytes = rate_limits.bytes_per_second.unwrap_or(0) as f64 * seconds;
        let now = Instant::now();
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.get_or_insert_mut(network_of(ip), || TokenBucket {
            requests: max_requests,
            bytes: max_bytes,
            refilled_at: now,
        });
        let refill = now.duration_since(bucket.refilled_at).as_secs_f64() / seconds;
        bucket.requests = (bucket.requests + max_requests * refill).min(max_requests);
        bucket.bytes = (bucket.bytes + max_bytes * refill).min(max_bytes);
        bucket.refilled_at = now;
        Some(work(bucket, rate_limits))
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
}
