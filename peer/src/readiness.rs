//! Whether the store accepts writes. A load balancer asks often, so results are shared for a moment.

use crate::limits::{READINESS_LIFETIME, READINESS_TIMEOUT};
use crate::source::ChunkSource;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Instant;
use tokio::sync::Mutex;
use tokio::time::timeout;

/// The last result of the check.
pub struct Readiness {
    source: Arc<dyn ChunkSource>,
    is_writable: AtomicBool,
    /// When the last check ended. Locked while a check runs, so a stalled disk holds only one of them.
    checked: Arc<Mutex<Option<Instant>>>,
}

impl Readiness {
    /// Has not checked the source yet.
    pub fn new(source: Arc<dyn ChunkSource>) -> Arc<Self> {
        Arc::new(Self {
            source,
            is_writable: AtomicBool::new(false),
            checked: Arc::default(),
        })
    }

    /// Whether the source accepts writes. Checks it if the last result is old.
    pub async fn is_writable(self: &Arc<Self>) -> bool {
        let waiting = Arc::clone(&self.checked).lock_owned();
        let Ok(mut checked) = timeout(READINESS_TIMEOUT, waiting).await else {
            return false;
        };
        if checked.is_some_and(|checked| checked.elapsed() < READINESS_LIFETIME) {
            return self.is_writable.load(Relaxed);
        }
        let readiness = Arc::clone(self);
        // The check continues if the client leaves.
        let check = tokio::spawn(async move {
            let result = readiness.source.check_writable().await;
            if let Err(error) = &result {
                tracing::error!(%error, "store not writable");
            }
            readiness.is_writable.store(result.is_ok(), Relaxed);
            *checked = Some(Instant::now());
            result.is_ok()
        });
        matches!(timeout(READINESS_TIMEOUT, check).await, Ok(Ok(true)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::source::{Chunk, ChunkBody, PutOutcome, SourceError, SourceFuture, SourceStats};
    use std::sync::atomic::AtomicUsize;

    /// A source that counts its checks.
    #[derive(Default)]
    struct CountingSource {
        checks: AtomicUsize,
        fails: bool,
        hangs: bool,
    }

    impl ChunkSource for CountingSource {
        fn get(&self, _: Address) -> SourceFuture<'_, Option<ChunkBody>> {
            Box::pin(async { Ok(None) })
        }

        fn has(&self, _: Address) -> SourceFuture<'_, bool> {
            Box::pin(async { Ok(false) })
        }

        fn put(&self, _: Chunk) -> SourceFuture<'_, PutOutcome> {
            Box::pin(async { Ok(PutOutcome::Full) })
        }

        fn check_writable(&self) -> SourceFuture<'_, ()> {
            self.checks.fetch_add(1, Relaxed);
            Box::pin(async {
                if self.hangs {
                    std::future::pending::<()>().await;
                }
                match self.fails {
                    true => Err(SourceError::Failed("no space".to_owned())),
                    false => Ok(()),
                }
            })
        }

        fn stats(&self) -> SourceStats {
            SourceStats::default()
        }
    }

    async fn check_thrice(source: CountingSource) -> (Vec<bool>, usize) {
        let source = Arc::new(source);
        let readiness = Readiness::new(Arc::clone(&source) as Arc<dyn ChunkSource>);
        let mut results = Vec::new();
        for _ in 0..3 {
            results.push(readiness.is_writable().await);
        }
        (results, source.checks.load(Relaxed))
    }

    #[tokio::test]
    async fn checks_share_a_result() {
        let writable = check_thrice(CountingSource::default()).await;
        assert_eq!(writable, (vec![true; 3], 1));
        let failing = CountingSource {
            fails: true,
            ..CountingSource::default()
        };
        assert_eq!(check_thrice(failing).await, (vec![false; 3], 1));
    }

    #[tokio::test]
    async fn a_stalled_store_is_not_ready_and_holds_one_check() {
        let stalled = CountingSource {
            hangs: true,
            ..CountingSource::default()
        };
        assert_eq!(check_thrice(stalled).await, (vec![false; 3], 1));
    }
}
