//! How senders share a link.

use crate::link::Link;
use crate::simulation::{Sender, download};
use antway_peer::congestion::CongestionControl::{Cubic, Tolerant};
use std::time::Duration;

#[test]
fn downloads_share_a_link_independent_of_their_start_times() {
    for (round_trip_ms, loss_percent) in [(20, 0.0), (20, 1.0), (100, 0.0)] {
        let link = Link::new(round_trip_ms, loss_percent, 50);
        let outcome = download(&link, &[(Tolerant, 0), (Tolerant, 5), (Tolerant, 10)], 60);
        let shares = [0, 1, 2].map(|n| outcome.rate(n, 20, 60) / link.bits_per_second as f64);
        let sum: f64 = shares.iter().sum();
        assert!(sum >= 0.9, "{shares:.3?} of {link:?}");
        assert!(
            shares.iter().all(|share| *share >= 0.12),
            "{shares:.3?} of {link:?}"
        );
    }
}

#[test]
fn shares_a_link_with_cubic() {
    for round_trip_ms in [20, 100] {
        for servers in [[(Tolerant, 0), (Cubic, 5)], [(Cubic, 0), (Tolerant, 5)]] {
            let link = Link::new(round_trip_ms, 0.0, 20);
            let outcome = download(&link, &servers, 60);
            let shares = [0, 1].map(|n| outcome.rate(n, 15, 60) / link.bits_per_second as f64);
            assert!(
                shares.iter().all(|share| *share >= 0.15),
                "{shares:.3?} of {servers:?}, {link:?}"
            );
        }
    }
}

#[test]
fn leaves_cubic_its_share_of_a_link_with_a_short_queue() {
    for (round_trip_ms, megabits) in [(20, 50), (20, 100), (50, 50), (50, 100)] {
        for servers in [[(Tolerant, 0), (Cubic, 5)], [(Cubic, 0), (Tolerant, 5)]] {
            let mut link = Link::new(round_trip_ms, 0.0, megabits);
            link.queue = Duration::from_millis(5);
            let outcome = download(&link, &servers, 60);
            let shares = [0, 1].map(|n| outcome.rate(n, 15, 60) / link.bits_per_second as f64);
            let cubic = usize::from(servers[1].0 == Cubic);
            assert!(
                shares[cubic] >= 0.3 && shares[1 - cubic] >= 0.15,
                "{shares:.3?} of {servers:?}, {link:?}"
            );
        }
    }
}

#[test]
fn many_downloads_keep_the_queue_bounded() {
    for round_trip_ms in [20, 50] {
        let mut link = Link::new(round_trip_ms, 0.0, 50);
        link.queue = Duration::from_millis(1000);
        let servers: Vec<_> = (0..16).map(|number| (Tolerant, number / 4)).collect();
        let outcome = download(&link, &servers, 60);
        let queued = outcome.queued(30, 60);
        let shares = (0..16).map(|n| outcome.rate(n, 10, 60) / link.bits_per_second as f64 * 16.0);
        let least = shares.fold(f64::MAX, f64::min);
        assert!(
            queued <= Duration::from_millis(100),
            "{queued:?} of {link:?}"
        );
        assert!(least >= 0.33, "{least:.3} of the fair share of {link:?}");
    }
}

#[test]
fn downloads_with_different_round_trips_share_a_link() {
    let link = Link::new(20, 0.0, 50);
    let servers = [0, 30, 80, 180].map(|extra_ms| Sender {
        extra_round_trip: Duration::from_millis(extra_ms),
        answers: None,
        ..Sender::from((Tolerant, 0))
    });
    let outcome = download(&link, &servers, 60);
    let shares = [0, 1, 2, 3].map(|n| outcome.rate(n, 15, 60) / link.bits_per_second as f64);
    let sum: f64 = shares.iter().sum();
    assert!(sum >= 0.9, "{shares:.3?}");
    assert!(shares.iter().all(|share| *share >= 0.06), "{shares:.3?}");
}
