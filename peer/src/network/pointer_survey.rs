//! Finds the newest state of a pointer in the network, for the owner of the pointer.
//!
//! Readers count a record only if two nodes have it. The owner has to know every state that the owner has signed: the
//! next one needs a larger counter, and a state that only one node has must be stored again. Nodes cannot invent a state,
//! because the owner signs it.

use super::pointer_read::{PointerRecord, Tally, majority};
use super::record_read::{NoAnswer, Verdict};
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::future;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The newest record that a node of a group of `size` has, how many nodes have it, and how many others answered.
///
/// The answers must contain only verified records of the same pointer. Once most nodes have answered, the others get
/// `grace`, unless most nodes have the newest record. *Absent* if most nodes answered and none has a record. *Unclear* also
/// for several final records, unless most nodes have one of them.
pub async fn survey_pointer<R: PointerRecord>(
    mut answers: FuturesUnordered<impl Future<Output = Result<Option<R>, NoAnswer>>>,
    size: usize,
    grace: Duration,
) -> Verdict<(R, usize, usize)> {
    let mut tally = Tally::default();
    let mut grace_until = None;
    loop {
        let grace_is_over = async {
            match grace_until {
                Some(until) => sleep_until(until).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            answer = answers.next() => match answer {
                Some(Ok(answer)) => tally.add(answer),
                Some(Err(NoAnswer)) => {}
                // Every node has been asked.
                None => break,
            },
            () = grace_is_over => break,
        }
        let newest = newest(&tally, size);
        if newest.is_some_and(|index| tally.records[index].1 >= majority(size)) {
            break;
        }
        if tally.answers >= majority(size) {
            grace_until.get_or_insert_with(|| Instant::now() + grace);
        }
    }
    verdict(tally, size)
}

fn newest<R: PointerRecord>(tally: &Tally<R>, size: usize) -> Option<usize> {
    match tally.final_records().count() {
        // The owner signed several final records. The network has no newest one.
        2.. => tally.final_of_majority(size),
        _ => tally.newest(1),
    }
}

fn verdict<R: PointerRecord>(mut tally: Tally<R>, size: usize) -> Verdict<(R, usize, usize)> {
    if tally.answers < majority(size) {
        return Verdict::Unclear;
    }
    match newest(&tally, size) {
        Some(index) => {
            let (record, holders) = tally.records.swap_remove(index);
            Verdict::Found((record, holders, tally.answers - holders))
        }
        None if tally.records.is_empty() => Verdict::Absent,
        None => Verdict::Unclear,
    }
}

#[cfg(test)]
mod tests {
    use super::super::pointer_read::test_answers::{Answer, FAILED, FINAL, NOTHING, Record, holds};
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::{self, BoxFuture};
    use tokio::time::timeout;

    const SIZE: usize = 7;
    const GRACE: Duration = Duration::from_millis(50);
    const NEVER: Duration = Duration::from_secs(3600);

    /// Asks nodes that answer one after the other. Further ones are silent.
    async fn survey(answers: &[Answer], silent: usize) -> Verdict<(Record, usize, usize)> {
        survey_with(answers, silent, GRACE).await
    }

    async fn survey_with(
        answers: &[Answer],
        silent: usize,
        grace: Duration,
    ) -> Verdict<(Record, usize, usize)> {
        let answers = answers.iter().enumerate().map(|(i, &answer)| {
            let turn = tokio::time::sleep(Duration::from_millis(i as u64));
            turn.map(move |()| answer).boxed()
        });
        let silent = (0..silent).map(|_| future::pending::<Answer>().boxed());
        let all: FuturesUnordered<BoxFuture<'_, Answer>> = answers.chain(silent).collect();
        survey_pointer(all, SIZE, grace).await
    }

    #[tokio::test]
    async fn a_state_of_a_single_node_is_found_and_counted() {
        let (old, new) = (holds(2, "old"), holds(3, "new"));
        let rest = [NOTHING; 6];
        let found = survey(&[&rest[..], &[new]].concat(), 0).await;
        assert_eq!(found, Verdict::Found((Record(3, "new"), 1, 6)));
        let found = survey(&[old, old, old, new, NOTHING, FAILED, FAILED], 0).await;
        assert_eq!(found, Verdict::Found((Record(3, "new"), 1, 4)));
        let found = survey(&[new, NOTHING, NOTHING, NOTHING], 3).await;
        assert_eq!(found, Verdict::Found((Record(3, "new"), 1, 3)));
    }

    #[tokio::test]
    async fn a_pointer_is_absent_if_most_nodes_answer_and_none_has_it() {
        assert_eq!(survey(&[NOTHING; 4], 3).await, Verdict::Absent);
        let few = [NOTHING, NOTHING, NOTHING, FAILED, FAILED, FAILED, FAILED];
        assert_eq!(survey(&few, 0).await, Verdict::Unclear);
        let few = [holds(1, "a"), holds(1, "a"), holds(1, "a"), FAILED];
        let silent = timeout(4 * GRACE, survey(&few, 3)).await;
        assert!(silent.is_err(), "three of seven nodes decide nothing");
    }

    #[tokio::test]
    async fn of_two_final_records_only_the_one_of_most_nodes_counts() {
        let (a, b) = (holds(FINAL, "a"), holds(FINAL, "b"));
        assert_eq!(
            survey(&[a, b, b, a, b, b], 1).await,
            Verdict::Found((Record(FINAL, "b"), 4, 2))
        );
        assert_eq!(survey(&[a, b, a, b, a, b], 1).await, Verdict::Unclear);
        let old = holds(3, "old");
        assert_eq!(
            survey(&[old, old, a, old, old], 2).await,
            Verdict::Found((Record(FINAL, "a"), 1, 4))
        );
    }

    #[tokio::test]
    async fn waits_for_slow_nodes_only_if_they_can_change_the_result() {
        let found = survey_with(&[holds(1, "a"); 4], 3, NEVER).await;
        assert_eq!(found, Verdict::Found((Record(1, "a"), 4, 0)));
        let waiting = timeout(4 * GRACE, survey_with(&[NOTHING; 4], 3, NEVER)).await;
        assert!(waiting.is_err(), "a slow node may have the record");
        assert_eq!(survey(&[NOTHING; 4], 3).await, Verdict::Absent);
    }
}
