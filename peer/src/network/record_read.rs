//! Reads an immutable record from the nodes that are closest to its address.

use futures_util::stream::{FuturesUnordered, StreamExt};
use std::future;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The node did not answer, or its answer was useless.
#[derive(Clone, Copy, Debug)]
pub struct NoAnswer;

/// The result of asking a group of nodes.
#[derive(Debug, PartialEq, Eq)]
pub enum Verdict<T> {
    /// The record.
    Found(T),
    /// Enough nodes answered that they do not have the record.
    Absent,
    /// Too few nodes answered. The record may exist.
    Unclear,
}

/// How long to wait for nodes before the next step.
#[derive(Clone, Copy, Debug)]
pub struct ReadTimes {
    /// If no node has answered by then, a second node is asked too.
    pub hedge: Duration,
    /// After enough nodes have answered that they do not have the record, the others get this time.
    pub grace: Duration,
}

/// Asks the nodes of `group` in this order until one of them has the record.
///
/// A record has megabytes, so at first only one node is asked. Each answer without the record makes it more likely
/// that the record does not exist. So each such answer raises the number of nodes that are asked at the same time.
///
/// The record is absent if `needed` nodes answered without it.
pub async fn read_record<N, T, F>(
    group: Vec<N>,
    needed: usize,
    times: ReadTimes,
    ask: impl Fn(N) -> F,
) -> Verdict<T>
where
    F: Future<Output = Result<Option<T>, NoAnswer>>,
{
    let mut rest = group.into_iter();
    let mut running = FuturesUnordered::new();
    let mut negative_answers = 0;
    let mut is_hedged = false;
    let hedge_at = Instant::now() + times.hedge;
    let mut grace_until = None;
    loop {
        while running.len() < 1 + usize::from(is_hedged) + negative_answers {
            match rest.next() {
                Some(node) => running.push(ask(node)),
                None => break,
            }
        }
        let grace = async {
            match grace_until {
                Some(until) => sleep_until(until).await,
                None => future::pending().await,
            }
        };
        tokio::select! {
            answer = running.next() => match answer {
                Some(Ok(Some(record))) => return Verdict::Found(record),
                Some(Ok(None)) => negative_answers += 1,
                Some(Err(NoAnswer)) => {}
                // Every node has been asked.
                None if negative_answers >= needed => return Verdict::Absent,
                None => return Verdict::Unclear,
            },
            () = sleep_until(hedge_at), if !is_hedged => is_hedged = true,
            () = grace => return Verdict::Absent,
        }
        if negative_answers >= needed {
            grace_until.get_or_insert_with(|| Instant::now() + times.grace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Script::*;
    use std::sync::Mutex;

    /// The reaction of a node to a request.
    #[derive(Clone, Copy)]
    enum Script {
        Has(&'static str),
        HasNot,
        Fails,
        IsSilent,
    }

    /// The verdict, and the number of nodes that were asked.
    async fn read(group: &[Script], times: ReadTimes) -> (Verdict<&'static str>, usize) {
        let asked = Mutex::new(0);
        let verdict = read_record(group.to_vec(), 4, times, |script| {
            *asked.lock().unwrap() += 1;
            async move {
                match script {
                    Has(record) => Ok(Some(record)),
                    HasNot => Ok(None),
                    Fails => Err(NoAnswer),
                    IsSilent => future::pending().await,
                }
            }
        })
        .await;
        (verdict, asked.into_inner().unwrap())
    }

    const NEVER: Duration = Duration::from_secs(3600);
    const PATIENT: ReadTimes = ReadTimes {
        hedge: NEVER,
        grace: NEVER,
    };
    const HASTY: ReadTimes = ReadTimes {
        hedge: Duration::from_millis(1),
        grace: Duration::from_millis(1),
    };

    #[tokio::test]
    async fn asks_one_node_if_it_has_the_record() {
        let group = [Has("a"), Has("b"), Has("c")];
        assert_eq!(read(&group, PATIENT).await, (Verdict::Found("a"), 1));
    }

    #[tokio::test]
    async fn asks_the_next_node_after_a_failure() {
        let group = [Fails, Fails, Has("c"), Has("d")];
        assert_eq!(read(&group, PATIENT).await, (Verdict::Found("c"), 3));
    }

    #[tokio::test]
    async fn a_silent_node_does_not_stop_the_read() {
        let group = [IsSilent, Fails, Has("c"), Has("d")];
        assert_eq!(read(&group, HASTY).await, (Verdict::Found("c"), 3));
    }

    #[tokio::test]
    async fn a_record_is_found_at_the_last_node() {
        let group = [HasNot, HasNot, HasNot, HasNot, HasNot, HasNot, Has("g")];
        assert_eq!(read(&group, PATIENT).await, (Verdict::Found("g"), 7));
    }

    #[tokio::test]
    async fn a_record_is_absent_after_enough_negative_answers() {
        let group = [HasNot, Fails, HasNot, Fails, HasNot, Fails, HasNot];
        assert_eq!(read(&group, PATIENT).await, (Verdict::Absent, 7));
    }

    #[tokio::test]
    async fn silent_nodes_get_only_a_short_time_after_enough_negative_answers() {
        let group = [HasNot, HasNot, HasNot, HasNot, IsSilent, IsSilent, IsSilent];
        assert_eq!(read(&group, HASTY).await, (Verdict::Absent, 7));
    }

    #[tokio::test]
    async fn a_record_is_not_absent_if_too_few_nodes_answer() {
        let group = [HasNot, Fails, HasNot, Fails, HasNot, Fails, Fails];
        assert_eq!(read(&group, PATIENT).await, (Verdict::Unclear, 7));
        assert_eq!(read(&[], PATIENT).await, (Verdict::Unclear, 0));
    }
}
