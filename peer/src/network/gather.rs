//! Gathers answers of the nodes that are closest to a record: their quotes, or their receipts.

use super::record_read::NoAnswer;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::future;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The reply of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<T, R> {
    /// It did what it was asked for.
    Done(T),
    /// It refused, for a reason that other nodes may share.
    Refused(R),
}

/// How many answers are needed, and how long to wait for them.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// As many nodes are asked at first, and the gathering ends after as many answers.
    pub best: usize,
    /// So many answers suffice after `grace`.
    pub enough: usize,
    /// So many refusals end the gathering.
    pub refusals: usize,
    /// When the nodes that have not answered are replaced by others.
    pub hedge: Duration,
    /// How long to wait for the best result once there are enough answers.
    pub grace: Duration,
}

/// The replies of all nodes.
#[derive(Debug, PartialEq, Eq)]
pub struct Gathered<T, R> {
    /// The answers, in the order of their arrival.
    pub answers: Vec<T>,
    /// The refusals.
    pub refusals: Vec<R>,
}

/// Asks the nodes of `group` in this order. A node that fails or refuses is replaced by the next one.
pub async fn gather<N, T, R, F>(
    group: Vec<N>,
    wanted: Wanted,
    ask: impl Fn(N) -> F,
) -> Gathered<T, R>
where
    F: Future<Output = Result<Reply<T, R>, NoAnswer>>,
{
    let mut rest = group.into_iter();
    let mut running = FuturesUnordered::new();
    let mut gathered = Gathered {
        answers: Vec::new(),
        refusals: Vec::new(),
    };
    let mut hedged = 0;
    let hedge_at = Instant::now() + wanted.hedge;
    let mut grace_until = None;
    loop {
        while running.len() + gathered.answers.len() < wanted.best + hedged {
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
            reply = running.next() => match reply {
                Some(Ok(Reply::Done(answer))) => gathered.answers.push(answer),
                Some(Ok(Reply::Refused(reason))) => gathered.refusals.push(reason),
                Some(Err(NoAnswer)) => {}
                // Every node has been asked.
                None => return gathered,
            },
            () = sleep_until(hedge_at), if hedged == 0 => hedged = running.len(),
            () = grace => return gathered,
        }
        let answers = gathered.answers.len();
        if answers >= wanted.best || gathered.refusals.len() >= wanted.refusals {
            return gathered;
        }
        if answers >= wanted.enough {
            grace_until.get_or_insert_with(|| Instant::now() + wanted.grace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Script::*;
    use std::sync::Mutex;

    /// The reaction of a node.
    #[derive(Clone, Copy)]
    enum Script {
        Does,
        Refuses,
        Fails,
        IsSilent,
    }

    const NEVER: Duration = Duration::from_secs(3600);
    const SHORT: Duration = Duration::from_millis(1);

    const PATIENT: Wanted = Wanted {
        best: 3,
        enough: 2,
        refusals: 2,
        hedge: NEVER,
        grace: NEVER,
    };

    /// The numbers of answers, refusals and asked nodes.
    async fn count(group: &[Script], wanted: Wanted) -> (usize, usize, usize) {
        let asked = Mutex::new(0);
        let gathered = gather(group.to_vec(), wanted, |script| {
            *asked.lock().unwrap() += 1;
            async move {
                match script {
                    Does => Ok(Reply::Done(())),
                    Refuses => Ok(Reply::Refused(())),
                    Fails => Err(NoAnswer),
                    IsSilent => future::pending().await,
                }
            }
        })
        .await;
        let asked = asked.into_inner().unwrap();
        (gathered.answers.len(), gathered.refusals.len(), asked)
    }

    #[tokio::test]
    async fn asks_no_more_nodes_than_it_needs() {
        assert_eq!(count(&[Does; 9], PATIENT).await, (3, 0, 3));
    }

    #[tokio::test]
    async fn replaces_nodes_that_fail_or_refuse() {
        let group = [Fails, Does, Refuses, Does, Fails, Does, Does];
        assert_eq!(count(&group, PATIENT).await, (3, 1, 6));
    }

    #[tokio::test]
    async fn ends_when_all_nodes_were_asked() {
        assert_eq!(
            count(&[Does, Fails, Refuses, Fails], PATIENT).await,
            (1, 1, 4)
        );
        assert_eq!(count(&[], PATIENT).await, (0, 0, 0));
    }

    #[tokio::test]
    async fn enough_refusals_end_it() {
        let group = [Refuses, Refuses, Refuses, Does, Does, Does, Does];
        let (answers, refusals, asked) = count(&group, PATIENT).await;
        assert_eq!((answers, refusals), (0, 2));
        assert!(asked <= 4, "{asked} nodes were asked");
    }

    #[tokio::test]
    async fn silent_nodes_are_replaced_after_a_while() {
        let hasty = Wanted {
            hedge: SHORT,
            ..PATIENT
        };
        let group = [IsSilent, IsSilent, Does, Does, Does];
        assert_eq!(count(&group, hasty).await, (3, 0, 5));
    }

    #[tokio::test]
    async fn enough_answers_suffice_after_a_while() {
        let hasty = Wanted {
            grace: SHORT,
            ..PATIENT
        };
        let group = [Does, IsSilent, Does, IsSilent];
        assert_eq!(count(&group, hasty).await, (2, 0, 3));
    }
}
