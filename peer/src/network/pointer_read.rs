//! Reads a pointer from the nodes that are closest to its address, by the network's rule.
//!
//! Every node may hold an outdated record, and a dishonest node may hold one that no other node has. So a record
//! counts only if two nodes hold it. Of several final records, only the one that most nodes hold counts.

use super::record_read::{NoAnswer, Verdict};
use futures_util::stream::{FuturesUnordered, StreamExt};

/// A verified record of a pointer.
pub trait PointerRecord {
    /// Whether both are the same state. Their signatures may differ.
    fn is_same_state(&self, other: &Self) -> bool;

    /// Whether a node replaces `other` by this record.
    fn replaces(&self, other: &Self) -> bool;

    /// Whether no record replaces this one.
    fn is_final(&self) -> bool;
}

/// How many nodes of a group of `size` have to answer, or have to hold a final record.
pub fn majority(size: usize) -> usize {
    size / 2 + 1
}

/// How many nodes have to hold the same record, so that no single node decides.
const WITNESSES: usize = 2;

/// The different records of the answers, and the number of nodes that hold each.
pub struct Tally<R> {
    /// The number of answers.
    pub answers: usize,
    /// Each record, and the number of its holders.
    pub records: Vec<(R, usize)>,
}

impl<R> Default for Tally<R> {
    fn default() -> Self {
        Self {
            answers: 0,
            records: Vec::new(),
        }
    }
}

impl<R: PointerRecord> Tally<R> {
    /// Counts the answer of a node.
    pub fn add(&mut self, answer: Option<R>) {
        self.answers += 1;
        let Some(record) = answer else { return };
        let same = self.records.iter_mut();
        match same
            .map(|(held, holders)| (record.is_same_state(held), holders))
            .find(|(is_same, _)| *is_same)
        {
            Some((_, holders)) => *holders += 1,
            None => self.records.push((record, 1)),
        }
    }

    /// The index of the newest record with enough holders.
    fn newest_witnessed(&self) -> Option<usize> {
        self.newest(WITNESSES)
    }

    /// The index of the newest record that so many nodes have.
    pub fn newest(&self, witnesses: usize) -> Option<usize> {
        let mut newest: Option<usize> = None;
        for (index, (record, holders)) in self.records.iter().enumerate() {
            let is_newer = newest.is_none_or(|best| record.replaces(&self.records[best].0));
            if *holders >= witnesses && is_newer {
                newest = Some(index);
            }
        }
        newest
    }

    /// The indexes of the final records.
    pub fn final_records(&self) -> impl Iterator<Item = usize> {
        let indexes = 0..self.records.len();
        indexes.filter(|&index| self.records[index].0.is_final())
    }

    /// The index of the final record that most nodes have.
    pub fn final_of_majority(&self, size: usize) -> Option<usize> {
        self.final_records()
            .find(|&index| self.records[index].1 >= majority(size))
    }

    /// Whether further answers cannot change the verdict.
    fn is_settled(&self, size: usize) -> bool {
        if self.answers < majority(size) {
            return false;
        }
        if self.final_records().next().is_some() {
            return self.final_of_majority(size).is_some();
        }
        match self.newest_witnessed() {
            None => self.records.is_empty(),
            // A second holder of a newer record may answer later.
            Some(best) => !self.records.iter().any(|(record, holders)| {
                *holders < WITNESSES && record.replaces(&self.records[best].0)
            }),
        }
    }

    fn into_verdict(mut self, size: usize) -> Verdict<R> {
        if self.answers < majority(size) {
            return Verdict::Unclear;
        }
        let chosen = match (self.final_of_majority(size), self.final_records().count()) {
            (Some(index), _) => Some(index),
            // The owner signed several final records. The network has no newest one.
            (None, 2..) => None,
            (None, _) => self.newest_witnessed(),
        };
        match chosen {
            Some(index) => Verdict::Found(self.records.swap_remove(index).0),
            None if self.records.is_empty() => Verdict::Absent,
            None => Verdict::Unclear,
        }
    }
}

/// The newest record by the answers of a group of `size` nodes. The answers must contain only verified records of the
/// same pointer. Returns as soon as further answers cannot change the result.
pub async fn read_pointer<R: PointerRecord>(
    mut answers: FuturesUnordered<impl Future<Output = Result<Option<R>, NoAnswer>>>,
    size: usize,
) -> Verdict<R> {
    let mut tally = Tally::default();
    while let Some(answer) = answers.next().await {
        if let Ok(answer) = answer {
            tally.add(answer);
        }
        if tally.is_settled(size) {
            break;
        }
    }
    tally.into_verdict(size)
}

/// Answers of nodes, for the tests of what reads pointers.
#[cfg(test)]
pub mod test_answers {
    use super::{NoAnswer, PointerRecord};

    pub const FINAL: u64 = u64::MAX;

    /// A record with a counter. Different targets with the same counter are different states.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Record(pub u64, pub &'static str);

    impl PointerRecord for Record {
        fn is_same_state(&self, other: &Self) -> bool {
            self == other
        }

        fn replaces(&self, other: &Self) -> bool {
            !other.is_final() && (self.0 > other.0 || (self.0 == other.0 && self.1 < other.1))
        }

        fn is_final(&self) -> bool {
            self.0 == FINAL
        }
    }

    pub type Answer = Result<Option<Record>, NoAnswer>;

    pub const NOTHING: Answer = Ok(None);
    pub const FAILED: Answer = Err(NoAnswer);

    pub fn holds(counter: u64, target: &'static str) -> Answer {
        Ok(Some(Record(counter, target)))
    }
}

#[cfg(test)]
mod tests {
    use super::test_answers::{Answer, FAILED, FINAL, NOTHING, Record, holds};
    use super::*;
    use futures_util::FutureExt;
    use futures_util::future::{self, BoxFuture};

    const SIZE: usize = 7;
    async fn read(answers: &[Answer]) -> Verdict<Record> {
        let answers = answers.iter().copied().map(future::ready);
        read_pointer(answers.collect(), SIZE).await
    }

    #[tokio::test]
    async fn the_newest_record_of_two_nodes_wins() {
        let (old, new) = (holds(1, "old"), holds(2, "new"));
        let found = Verdict::Found(Record(2, "new"));
        assert_eq!(read(&[old, old, old, new, new]).await, found);
        assert_eq!(
            read(&[new, old, old, old, FAILED, FAILED, new]).await,
            found
        );
    }

    #[tokio::test]
    async fn a_single_node_decides_nothing() {
        let answers = [holds(9, "forged"), holds(2, "a"), holds(2, "a"), NOTHING];
        assert_eq!(read(&answers).await, Verdict::Found(Record(2, "a")));
        let answers = [holds(9, "forged"), NOTHING, NOTHING, NOTHING, NOTHING];
        assert_eq!(read(&answers).await, Verdict::Unclear);
    }

    #[tokio::test]
    async fn a_pointer_is_absent_if_a_majority_does_not_have_it() {
        assert_eq!(read(&[NOTHING; 4]).await, Verdict::Absent);
        assert_eq!(
            read(&[NOTHING, NOTHING, NOTHING, FAILED, FAILED]).await,
            Verdict::Unclear
        );
        assert_eq!(read(&[]).await, Verdict::Unclear);
    }

    #[tokio::test]
    async fn of_two_final_records_the_one_of_the_majority_wins() {
        let (a, b) = (holds(FINAL, "a"), holds(FINAL, "b"));
        assert_eq!(
            read(&[a, b, b, a, b, b]).await,
            Verdict::Found(Record(FINAL, "b"))
        );
        assert_eq!(read(&[a, b, a, b, a, b]).await, Verdict::Unclear);
        let old = holds(3, "old");
        assert_eq!(
            read(&[old, old, a, old, a]).await,
            Verdict::Found(Record(FINAL, "a"))
        );
    }

    #[tokio::test]
    async fn does_not_wait_for_nodes_that_cannot_change_the_verdict() {
        let silent = || future::pending::<Answer>().boxed();
        let known = |answer: Answer| future::ready(answer).boxed();
        let answers: FuturesUnordered<BoxFuture<'_, Answer>> = [
            silent(),
            known(holds(1, "a")),
            known(holds(1, "a")),
            known(NOTHING),
            known(NOTHING),
            silent(),
        ]
        .into_iter()
        .collect();
        let verdict = read_pointer(answers, SIZE).now_or_never();
        assert_eq!(verdict, Some(Verdict::Found(Record(1, "a"))));
    }
}
