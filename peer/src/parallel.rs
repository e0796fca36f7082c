//! Blocking work on many items, with several threads.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

/// Threads that wait for the disk leave the processor to others.
const THREADS_PER_PROCESSOR: usize = 2;

/// Calls `work` for each item. Returns once all calls have returned.
pub fn for_each<T: Sync>(items: &[T], work: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    let work_on_next = || {
        while let Some(item) = items.get(next.fetch_add(1, Relaxed)) {
            work(item);
        }
    };
    let processors = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..processors * THREADS_PER_PROCESSOR {
            scope.spawn(work_on_next);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    #[test]
    fn works_on_every_item_once() {
        let items: Vec<u32> = (0..1000).collect();
        let done = Mutex::new(Vec::new());
        for_each(&items, |&item| done.lock().unwrap().push(item));
        let mut done = done.into_inner().unwrap();
        done.sort();
        assert_eq!(done, items);
    }
}
