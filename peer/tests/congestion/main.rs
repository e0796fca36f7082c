//! The speed of sessions over various links, and their fairness to other senders.
//!
//! The connections are real and the links are simulated, so that the results do not depend on the machine.

mod link;
mod simulation;

use antway_peer::congestion::CongestionControl::{Bbr, Cubic, Tolerant};
use link::Link;
use simulation::download;
use std::time::Duration;

#[test]
fn a_download_uses_most_of_a_lossy_link() {
    for round_trip_ms in [20, 50, 100] {
        for (loss_percent, least) in [(0.0, 0.92), (1.0, 0.91), (3.0, 0.88)] {
            for megabits in [20, 100] {
                let link = Link::new(round_trip_ms, loss_percent, megabits);
                let outcome = download(&link, &[(Tolerant, 0)], 15);
                let share = outcome.rate(0, 3, 15) / link.bits_per_second as f64;
                assert!(share >= least, "{share:.3} of {link:?}");
            }
        }
    }
}

/// The Mathis formula gives 7.1 Mbit/s: 1.22 × packet ÷ (round trip × √loss). The simulation must agree with it.
#[test]
fn cubic_with_loss_has_the_theoretical_rate() {
    let outcome = download(&Link::new(20, 1.0, 100), &[(Cubic, 0)], 30);
    let megabits = outcome.rate(0, 5, 30) / 1e6;
    assert!((4.0..=10.0).contains(&megabits), "{megabits:.1}");
}

#[test]
fn supports_the_librarys_bbr() {
    let link = Link::new(20, 1.0, 20);
    let share = download(&link, &[(Bbr, 0)], 10).rate(0, 3, 10) / link.bits_per_second as f64;
    assert!(share > 0.8, "{share:.3}");
}

#[test]
fn a_single_download_keeps_the_queue_short() {
    for round_trip_ms in [20, 100] {
        let mut link = Link::new(round_trip_ms, 0.0, 20);
        link.queue = Duration::from_millis(500);
        let queued = download(&link, &[(Tolerant, 0)], 20).queued(3, 20);
        assert!(
            queued <= Duration::from_millis(35),
            "{queued:?} of {link:?}"
        );
    }
}

#[test]
fn delayed_acknowledgements_cost_little_speed() {
    for jitter_ms in [30, 120] {
        let mut link = Link::new(50, 1.0, 20);
        link.jitter = Duration::from_millis(jitter_ms);
        let share =
            download(&link, &[(Tolerant, 0)], 20).rate(0, 3, 20) / link.bits_per_second as f64;
        assert!(share >= 0.85, "{share:.3} of {link:?}");
    }
}

#[test]
fn a_download_works_with_a_short_queue() {
    let mut link = Link::new(50, 1.0, 50);
    link.queue = Duration::from_millis(10);
    let share = download(&link, &[(Tolerant, 0)], 20).rate(0, 3, 20) / link.bits_per_second as f64;
    assert!(share >= 0.8, "{share:.3}");
}

#[test]
fn a_download_uses_most_of_a_slow_link() {
    let link = Link::new(20, 1.0, 1);
    let share = download(&link, &[(Tolerant, 0)], 20).rate(0, 3, 20) / link.bits_per_second as f64;
    assert!(share >= 0.85, "{share:.3}");
}

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
fn slows_down_with_high_loss() {
    let link = Link::new(20, 25.0, 20);
    let share = download(&link, &[(Tolerant, 0)], 30).rate(0, 10, 30) / link.bits_per_second as f64;
    assert!(share <= 0.4, "{share:.3}");
}

#[test]
fn adapts_to_a_link_that_becomes_slower_and_faster() {
    let mut link = Link::new(50, 1.0, 100);
    link.queue = Duration::from_millis(400);
    let changes = [(10, 20_000_000), (25, 100_000_000)];
    link.changes = changes
        .map(|(from, rate)| (Duration::from_secs(from), rate))
        .into();
    let outcome = download(&link, &[(Tolerant, 0)], 45);
    let slow = outcome.rate(0, 15, 25) / 20e6;
    let queued = outcome.queued(15, 25);
    let fast = outcome.rate(0, 35, 45) / 100e6;
    assert!(slow >= 0.85, "{slow:.3} of the slow link");
    assert!(queued <= Duration::from_millis(50), "a queue of {queued:?}");
    assert!(fast >= 0.85, "{fast:.3} of the fast link");
}

#[test]
fn recovers_after_an_outage() {
    let mut link = Link::new(50, 0.0, 20);
    let changes = [(5, 0), (8, 20_000_000)];
    link.changes = changes
        .map(|(from, rate)| (Duration::from_secs(from), rate))
        .into();
    let outcome = download(&link, &[(Tolerant, 0)], 25);
    let share = outcome.rate(0, 15, 25) / link.bits_per_second as f64;
    assert!(share >= 0.85, "{share:.3}");
}
