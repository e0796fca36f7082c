//! A circuit breaker: stops requests to a failing upstream, and probes it from time to time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The number of consecutive failures that opens the circuit.
const FAILURE_THRESHOLD: u32 = 3;

/// How long the circuit stays open at first. The time doubles after each failed probe.
const MIN_OPEN_TIME: Duration = Duration::from_secs(1);

/// The maximum time that the circuit stays open.
const MAX_OPEN_TIME: Duration = Duration::from_secs(30);

/// The circuit breaker of one upstream.
#[derive(Debug, Default)]
pub struct CircuitBreaker {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    open_until: Option<Instant>,
    /// Whether a probe is running. Other requests are refused meanwhile.
    is_probing: bool,
}

/// The permission for one request. Report the result with `record_success` or `record_failure`. If it is dropped without a report,
/// the state does not change.
pub struct CallPermit<'a> {
    breaker: &'a CircuitBreaker,
    is_probe: bool,
}

/// A change of state, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transition {
    /// No change.
    None,
    /// The circuit opened: the upstream is left out.
    Opened,
    /// The circuit closed: the upstream is asked again.
    Closed,
}

impl CircuitBreaker {
    /// Permission for a request, or `None` while the circuit is open.
    pub fn try_acquire(&self, now: Instant) -> Option<CallPermit<'_>> {
        let mut state = self.state.lock().expect("nothing panics with the lock");
        let is_probe = match state.open_until {
            None => false,
            Some(until) if now < until || state.is_probing => return None,
            Some(_) => true,
        };
        state.is_probing |= is_probe;
        Some(CallPermit {
            breaker: self,
            is_probe,
        })
    }
}

impl CallPermit<'_> {
    /// The upstream answered.
    pub fn record_success(self) -> Transition {
        let mut state = self.lock();
        state.failures = 0;
        match state.open_until.take() {
            Some(_) => Transition::Closed,
            None => Transition::None,
        }
    }

    /// The upstream did not answer, or its answer was invalid.
    pub fn record_failure(self, now: Instant) -> Transition {
        let mut state = self.lock();
        // A request that began before the circuit opened gives no new information.
        if state.open_until.is_some() && !self.is_probe {
            return Transition::None;
        }
        state.failures += 1;
        if state.failures < FAILURE_THRESHOLD {
            return Transition::None;
        }
        let doublings = (state.failures - FAILURE_THRESHOLD).min(8);
        let open_time = (MIN_OPEN_TIME * 2_u32.pow(doublings)).min(MAX_OPEN_TIME);
        let was_open = state.open_until.replace(now + open_time).is_some();
        match was_open {
            true => Transition::None,
            false => Transition::Opened,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        let state = self.breaker.state.lock();
        state.expect("nothing panics with the lock")
    }
}

impl Drop for CallPermit<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            self.lock().is_probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An open circuit breaker, and the time when it opened.
    fn open_breaker() -> (CircuitBreaker, Instant) {
        let breaker = CircuitBreaker::default();
        let now = Instant::now();
        for _ in 1..FAILURE_THRESHOLD {
            assert_eq!(
                breaker.try_acquire(now).unwrap().record_failure(now),
                Transition::None
            );
        }
        assert_eq!(
            breaker.try_acquire(now).unwrap().record_failure(now),
            Transition::Opened
        );
        (breaker, now)
    }

    #[test]
    fn opens_after_consecutive_failures() {
        let (breaker, now) = open_breaker();
        assert!(breaker.try_acquire(now).is_none());
        assert!(breaker.try_acquire(now + MIN_OPEN_TIME / 2).is_none());
    }

    #[test]
    fn a_success_resets_the_failure_count() {
        let breaker = CircuitBreaker::default();
        let now = Instant::now();
        for _ in 0..10 {
            for _ in 1..FAILURE_THRESHOLD {
                breaker.try_acquire(now).unwrap().record_failure(now);
            }
            assert_eq!(
                breaker.try_acquire(now).unwrap().record_success(),
                Transition::None
            );
        }
    }

    #[test]
    fn only_one_request_probes_at_a_time() {
        let (breaker, now) = open_breaker();
        let later = now + MIN_OPEN_TIME;
        let probe = breaker.try_acquire(later).unwrap();
        assert!(breaker.try_acquire(later).is_none());
        assert_eq!(probe.record_success(), Transition::Closed);
        assert!(breaker.try_acquire(later).is_some());
    }

    #[test]
    fn each_failed_probe_doubles_the_open_time_up_to_a_maximum() {
        let (breaker, mut now) = open_breaker();
        let mut open_time = MIN_OPEN_TIME;
        for _ in 0..10 {
            assert!(
                breaker
                    .try_acquire(now + open_time - Duration::from_millis(1))
                    .is_none()
            );
            now += open_time;
            breaker.try_acquire(now).unwrap().record_failure(now);
            open_time = (open_time * 2).min(MAX_OPEN_TIME);
        }
    }

    #[test]
    fn a_dropped_probe_allows_the_next_probe() {
        let (breaker, now) = open_breaker();
        let later = now + MIN_OPEN_TIME;
        drop(breaker.try_acquire(later));
        assert!(breaker.try_acquire(later).is_some());
    }

    #[test]
    fn failures_of_earlier_requests_do_not_prolong_the_open_state() {
        let breaker = CircuitBreaker::default();
        let now = Instant::now();
        let permits: Vec<_> = (0..20).map(|_| breaker.try_acquire(now).unwrap()).collect();
        for permit in permits {
            permit.record_failure(now);
        }
        assert!(breaker.try_acquire(now + MIN_OPEN_TIME).is_some());
    }
}
