use super::*;
use futures_util::FutureExt;

const REQUEST: usize = 64;

fn pool(requests: usize) -> Arc<Pool> {
    Pool::new(requests * REQUEST)
}

fn network() -> Vec<Arc<RecentUse>> {
    vec![Arc::default()]
}

/// Makes the last update look older, instead of a real wait.
fn age(network: &[Arc<RecentUse>]) {
    let mut state = network[0].0.lock().unwrap();
    state.updated_at -= POOL_USE_PERIOD;
}

#[test]
fn networks_that_hold_units_leave_some_for_others() {
    let pool = pool(16);
    let greedy = [(); 4].map(|()| network());
    let mut held = Vec::new();
    for _ in 0..16 {
        held.extend(
            greedy
                .iter()
                .filter_map(|network| pool.try_acquire(REQUEST, network)),
        );
    }
    assert_eq!(held.len(), 14, "an eighth is free");
    for _ in 0..100 {
        let modest = network();
        let permit = pool.try_acquire(REQUEST, &modest);
        assert!(permit.is_some());
    }
}

#[test]
fn a_network_that_held_units_before_also_leaves_some() {
    let pool = pool(16);
    let [slow, quick] = [network(), network()];
    let mut held: Vec<_> = (0..13)
        .map_while(|_| pool.try_acquire(REQUEST, &slow))
        .collect();
    assert_eq!(held.len(), 13);
    age(&slow);
    let others: Vec<_> = (0..3)
        .map(|_| pool.try_acquire(REQUEST, &[]).unwrap())
        .collect();
    held.truncate(1);
    drop(held);
    drop(others);
    let taken: Vec<_> = (0..15)
        .map(|_| pool.try_acquire(REQUEST, &[]).unwrap())
        .collect();
    assert!(pool.try_acquire(REQUEST, &slow).is_none());
    assert!(pool.try_acquire(REQUEST, &quick).is_some());
    for _ in 0..10 {
        age(&slow);
    }
    slow[0].units();
    age(&slow);
    drop(taken);
    assert!(pool.try_acquire(REQUEST, &slow).is_some());
}

#[tokio::test]
async fn the_network_with_the_fewest_units_comes_first() {
    let pool = pool(16);
    let [greedy, modest] = [network(), network()];
    let _greedy = pool.try_acquire(REQUEST, &greedy).unwrap();
    let mut others: Vec<_> = (0..15)
        .map(|_| pool.try_acquire(REQUEST, &[]).unwrap())
        .collect();
    let mut first = Box::pin(pool.acquire(REQUEST, &greedy));
    let mut second = Box::pin(pool.acquire(REQUEST, &modest));
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    others.pop();
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_some());
    others.truncate(10);
    assert!(first.as_mut().now_or_never().is_some());
}

#[tokio::test]
async fn a_small_request_does_not_overtake_a_large_one() {
    let pool = pool(1);
    let mut held = pool.try_acquire(REQUEST, &[]).unwrap();
    let modest = network();
    let mut large = Box::pin(pool.acquire(REQUEST, &modest));
    assert!(large.as_mut().now_or_never().is_none());
    held.shrink_to(REQUEST / 2);
    let mut small = Box::pin(pool.acquire(1, &[]));
    assert!(small.as_mut().now_or_never().is_none());
    drop(held);
    assert!(large.as_mut().now_or_never().is_some());
    assert!(small.as_mut().now_or_never().is_some());
}

#[test]
fn a_site_leaves_units_free_although_each_of_its_networks_is_new() {
    let pool = pool(16);
    let site = network().remove(0);
    let held: Vec<_> = (0..16)
        .map_while(|_| pool.try_acquire(REQUEST, &[Arc::default(), Arc::clone(&site)]))
        .collect();
    assert_eq!(held.len(), 14, "an eighth is free");
    assert!(pool.try_acquire(REQUEST, &network()).is_some());
}

#[tokio::test]
async fn a_client_that_has_gone_takes_nothing() {
    let pool = pool(1);
    let held = pool.try_acquire(REQUEST, &[]).unwrap();
    let mut gone = Box::pin(pool.acquire(REQUEST, &[]));
    assert!(gone.as_mut().now_or_never().is_none());
    drop(gone);
    // This one goes after its permit was granted.
    let mut late = Box::pin(pool.acquire(REQUEST, &[]));
    assert!(late.as_mut().now_or_never().is_none());
    drop(held);
    assert!(pool.try_acquire(REQUEST, &[]).is_none());
    drop(late);
    assert!(pool.try_acquire(REQUEST, &[]).is_some());
}

#[test]
fn a_permit_can_keep_a_part_of_its_units() {
    let pool = pool(1);
    let mut permit = pool.try_acquire(REQUEST, &[]).unwrap();
    permit.shrink_to(1);
    assert!(pool.try_acquire(REQUEST, &[]).is_none());
    drop(permit);
    assert!(pool.try_acquire(REQUEST, &[]).is_some());
}
