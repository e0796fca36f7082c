//! A circuit breaker: stops requests to a failing upstream, and probes it from time to time.

use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The number of consecutive failures that opens the circuit.
const FAILURES: u32 = 3;

/// How long the circuit stays open at first. The time doubles after each failed probe.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);

/// The maximum time that the circuit stays open.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// The circuit breaker of one upstream.
#[derive(Debug, Default)]
pub struct Breaker {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    left_out_until: Option<Instant>,
    /// Whether a probe is running. Other requests are refused meanwhile.
    is_probing: bool,
}

/// The permission for one request. Report the result with `answered` or `failed`. If it is dropped without a report,
/// the state does not change.
pub struct Leave<'a> {
    breaker: &'a Breaker,
    is_probe: bool,
}

/// A change of state, for the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// No change.
    None,
    /// The circuit opened: the upstream is left out.
    LeftOut,
    /// The circuit closed: the upstream is asked again.
    Back,
}

impl Breaker {
    /// Permission for a request, or `None` while the circuit is open.
    pub fn enter(&self, now: Instant) -> Option<Leave<'_>> {
        let mut state = self.state.lock().expect("nothing panics with the lock");
        let is_probe = match state.left_out_until {
            None => false,
            Some(until) if now < until || state.is_probing => return None,
            Some(_) => true,
        };
        state.is_probing |= is_probe;
        Some(Leave {
            breaker: self,
            is_probe,
        })
    }
}

impl Leave<'_> {
    /// The upstream answered.
    pub fn answered(self) -> Change {
        let mut state = self.lock();
        state.failures = 0;
        match state.left_out_until.take() {
            Some(_) => Change::Back,
            None => Change::None,
        }
    }

    /// The upstream did not answer, or its answer was invalid.
    pub fn failed(self, now: Instant) -> Change {
        let mut state = self.lock();
        // A request that began before the circuit opened gives no new information.
        if state.left_out_until.is_some() && !self.is_probe {
            return Change::None;
        }
        state.failures += 1;
        if state.failures < FAILURES {
            return Change::None;
        }
        let doublings = (state.failures - FAILURES).min(8);
        let pause = (SHORTEST_PAUSE * 2_u32.pow(doublings)).min(LONGEST_PAUSE);
        let was_left_out = state.left_out_until.replace(now + pause).is_some();
        match was_left_out {
            true => Change::None,
            false => Change::LeftOut,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        let state = self.breaker.state.lock();
        state.expect("nothing panics with the lock")
    }
}

impl Drop for Leave<'_> {
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
    fn left_out() -> (Breaker, Instant) {
        let breaker = Breaker::default();
        let now = Instant::now();
        for _ in 1..FAILURES {
            assert_eq!(breaker.enter(now).unwrap().failed(now), Change::None);
        }
        assert_eq!(breaker.enter(now).unwrap().failed(now), Change::LeftOut);
        (breaker, now)
    }

    #[test]
    fn opens_after_consecutive_failures() {
        let (breaker, now) = left_out();
        assert!(breaker.enter(now).is_none());
        assert!(breaker.enter(now + SHORTEST_PAUSE / 2).is_none());
    }

    #[test]
    fn a_success_resets_the_failure_count() {
        let breaker = Breaker::default();
        let now = Instant::now();
        for _ in 0..10 {
            for _ in 1..FAILURES {
                breaker.enter(now).unwrap().failed(now);
            }
            assert_eq!(breaker.enter(now).unwrap().answered(), Change::None);
        }
    }

    #[test]
    fn only_one_request_probes_at_a_time() {
        let (breaker, now) = left_out();
        let later = now + SHORTEST_PAUSE;
        let probe = breaker.enter(later).unwrap();
        assert!(breaker.enter(later).is_none());
        assert_eq!(probe.answered(), Change::Back);
        assert!(breaker.enter(later).is_some());
    }

    #[test]
    fn each_failed_probe_doubles_the_open_time_up_to_a_maximum() {
        let (breaker, mut now) = left_out();
        let mut pause = SHORTEST_PAUSE;
        for _ in 0..10 {
            assert!(
                breaker
                    .enter(now + pause - Duration::from_millis(1))
                    .is_none()
            );
            now += pause;
            breaker.enter(now).unwrap().failed(now);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    #[test]
    fn a_dropped_probe_allows_the_next_probe() {
        let (breaker, now) = left_out();
        let later = now + SHORTEST_PAUSE;
        drop(breaker.enter(later));
        assert!(breaker.enter(later).is_some());
    }

    #[test]
    fn failures_of_earlier_requests_do_not_prolong_the_open_state() {
        let breaker = Breaker::default();
        let now = Instant::now();
        let began: Vec<_> = (0..20).map(|_| breaker.enter(now).unwrap()).collect();
        for leave in began {
            leave.failed(now);
        }
        assert!(breaker.enter(now + SHORTEST_PAUSE).is_some());
    }
}
