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
        "counts without slots are removed"
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
    drop(third.activity.begin_request());
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
fn a_greedy_network_that_does_not_read_loses_one_before_a_modest_idle_network() {
    let slots = slots(3);
    let modest = take(&slots, "203.0.113.1").unwrap();
    let greedy = [(); 2].map(|()| take(&slots, "203.0.113.2").unwrap());
    let _requests = greedy.each_ref().map(|slot| slot.activity.begin_request());
    let _waits = greedy
        .each_ref()
        .map(|slot| slot.activity.wait_for_client());
    for slot in &greedy {
        slot.activity.age();
    }
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
fn a_new_network_takes_a_busy_slot_of_one_with_many_more() {
    let slots = ConnectionSlots::new(SlotLimits {
        total: 9,
        per_network: 8,
        per_site: 8,
        reserved: 1,
    });
    let greedy = [(); 8].map(|()| take(&slots, "203.0.113.1").unwrap());
    let exempt = slots.take(None).unwrap();
    let held = greedy.iter().chain([&exempt]);
    let _requests: Vec<_> = held.map(|slot| slot.activity.begin_request()).collect();
    let modest = take(&slots, "203.0.113.2").unwrap();
    let _request = modest.activity.begin_request();
    assert!(!modest.is_reserved() && is_evicted(&greedy[7]));
    let second = take(&slots, "203.0.113.2").unwrap();
    assert!(second.is_reserved(), "seven are not four times two");
    let third = take(&slots, "203.0.113.3").unwrap();
    assert!(!third.is_reserved() && is_evicted(&greedy[6]));
    assert_eq!(greedy.iter().filter(|slot| is_evicted(slot)).count(), 2);
    assert!(!is_evicted(&exempt) && !is_evicted(&modest));
}

#[test]
fn a_network_with_many_takes_no_slot_that_was_in_use_a_moment_ago() {
    let slots = ConnectionSlots::new(SlotLimits {
        total: 5,
        per_network: 8,
        per_site: 8,
        reserved: 0,
    });
    let modest = take(&slots, "203.0.113.1").unwrap();
    let greedy = [(); 4].map(|()| take(&slots, "203.0.113.2").unwrap());
    let _requests = greedy.each_ref().map(|slot| slot.activity.begin_request());
    assert_eq!(take(&slots, "203.0.113.2").err(), Some(Refusal::Full));
    assert!(!is_evicted(&modest));
    modest.activity.age();
    assert!(take(&slots, "203.0.113.2").is_ok());
    assert!(is_evicted(&modest));
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
    age_lowering(&slots, LOWERING_INTERVAL);
    assert_eq!(
        slots.lower_total(100),
        1,
        "one connection is always possible"
    );
}

#[test]
fn a_lowered_number_of_connections_rises_again() {
    let slots = slots(100);
    let held: Vec<_> = (0..10).map(|_| slots.take(None).unwrap()).collect();
    assert_eq!(slots.lower_total(7), 3);
    drop(held);
    let most = || {
        let mut held = Vec::new();
        let mut requests = Vec::new();
        while let Ok(slot) = slots.take(None) {
            if slot.is_reserved() {
                break;
            }
            requests.push(slot.activity.begin_request());
            held.push(slot);
        }
        held.len()
    };
    for expected in [3, 6, 12, 24, 48, 96, 100, 100] {
        assert_eq!(most(), expected);
        age_lowering(&slots, RAISING_INTERVAL);
    }
}

/// Makes the last reduction look older, instead of a real wait.
fn age_lowering(slots: &ConnectionSlots, time: Duration) {
    slots.lock().lowered.as_mut().unwrap().at -= time;
}
