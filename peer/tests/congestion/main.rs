//! The speed of sessions over various links, and their fairness to other senders.
//!
//! The connections are real and the links are simulated, so that the results do not depend on the machine.

mod fairness;
mod flow;
mod link;
mod measurements;
mod simulation;
mod tls;

use antway_peer::congestion::CongestionControl::{Bbr, Cubic, Tolerant};
use flow::Answers;
use link::{Link, Policer};
use measurements::TICK;
use simulation::{Sender, download};
use std::time::{Duration, Instant};

#[test]
fn a_download_uses_most_of_a_lossy_link() {
    for round_trip_ms in [20, 50, 100] {
        for (loss_percent, least) in [(0.0, 0.92), (1.0, 0.9)] {
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
    assert!(share >= 0.65, "{share:.3}");
}

#[test]
fn a_download_uses_most_of_a_slow_link() {
    let link = Link::new(20, 1.0, 1);
    let share = download(&link, &[(Tolerant, 0)], 20).rate(0, 3, 20) / link.bits_per_second as f64;
    assert!(share >= 0.85, "{share:.3}");
}

#[test]
fn starts_with_ten_packets() {
    let controller = Tolerant.factory().build(Instant::now(), 1200);
    assert_eq!(controller.window(), 12_000);
    assert_eq!(controller.initial_window(), 12_000);
}

#[test]
fn slows_down_if_the_loss_exceeds_three_percent() {
    let shares = [1.5, 4.0, 6.0].map(|loss_percent| {
        let link = Link::new(20, loss_percent, 20);
        download(&link, &[(Tolerant, 0)], 30).rate(0, 10, 30) / link.bits_per_second as f64
    });
    assert!(shares[0] >= 0.8, "{shares:.3?}");
    assert!(shares[1] <= 0.5, "{shares:.3?}");
    assert!(shares[2] <= 0.3, "{shares:.3?}");
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

#[test]
fn held_back_acknowledgements_do_not_raise_the_rate() {
    let mut link = Link::new(20, 0.0, 20);
    link.queue = Duration::from_millis(1000);
    link.upstream_interval = Duration::from_millis(60);
    let outcome = download(&link, &[(Tolerant, 0)], 30);
    let share = outcome.rate(0, 5, 30) / link.bits_per_second as f64;
    let queued = outcome.queued(5, 30);
    assert!(share >= 0.85, "{share:.3}");
    assert!(queued <= Duration::from_millis(60), "{queued:?}");
}

#[test]
fn stays_below_the_rate_of_a_policer() {
    for (round_trip_ms, burst_bytes) in [(20, 50_000), (50, 125_000), (100, 250_000)] {
        let mut link = Link::new(round_trip_ms, 0.0, 100);
        link.policer = Some(Policer {
            bits_per_second: 20_000_000,
            burst_bytes,
        });
        let outcome = download(&link, &[(Tolerant, 0)], 40);
        let share = outcome.rate(0, 10, 40) / 20e6;
        let dropped = outcome.dropped(10, 40);
        assert!(share >= 0.75, "{share:.3} of {link:?}");
        assert!(dropped <= 0.01, "{dropped:.3} dropped of {link:?}");
    }
}

/// Users read one page for a while, and then open the next. A controller that measures the round trip again after each
/// pause, with half of its window, needs 0.1 s more for each page.
#[test]
fn sends_at_full_speed_after_a_pause() {
    let bytes = 400_000;
    for round_trip_ms in [20, 50] {
        let link = Link::new(round_trip_ms, 0.0, 10);
        let sender = Sender {
            control: Tolerant,
            starts_after: 0,
            extra_round_trip: Duration::ZERO,
            answers: Some(Answers::new(bytes, Duration::from_secs(12))),
        };
        let outcome = download(&link, &[sender], 47);
        let least = Duration::from_secs_f64(bytes as f64 * 8.0 / link.bits_per_second as f64);
        // Times are multiples of `TICK`.
        let most = least + link.round_trip / 2 + TICK;
        for start in [24, 36] {
            let time = outcome.time_of(0, start, bytes);
            assert!(time <= most, "{time:?} of at most {most:?} for {link:?}");
        }
    }
}

#[test]
fn tolerates_reordering() {
    for share_of_datagrams in [0.01, 0.02] {
        let mut link = Link::new(50, 0.0, 20);
        link.reordering = (share_of_datagrams, Duration::from_millis(10));
        let outcome = download(&link, &[(Tolerant, 0)], 20);
        let share = outcome.rate(0, 3, 20) / link.bits_per_second as f64;
        assert!(share >= 0.8, "{share:.3} of {link:?}");
    }
}
