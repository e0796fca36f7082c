//! The end of a peer: begun by a signal, over once what is under way is done or time is up.

use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tells every part of a peer to stop, and waits for them. Clones share it.
#[derive(Clone, Default)]
pub struct Shutdown {
    begun: CancellationToken,
    over: CancellationToken,
    /// Connections and what is done for them.
    work: TaskTracker,
    /// What runs as long as the peer does.
    faces: TaskTracker,
}

impl Shutdown {
    /// Resolves when no new work is to be taken on.
    pub async fn begun(&self) {
        self.begun.cancelled().await;
    }

    /// Whether no new work is to be taken on.
    pub fn has_begun(&self) -> bool {
        self.begun.is_cancelled()
    }

    /// Resolves when whatever still runs has to end.
    pub async fn over(&self) {
        self.over.cancelled().await;
    }

    /// Runs work that a shutdown waits for, and drops when time is up.
    pub fn track(&self, work: impl Future<Output = ()> + Send + 'static) {
        let over = self.over.clone();
        self.work.spawn(async move {
            // `None` where time was up.
            over.run_until_cancelled(work).await;
        });
    }

    /// Runs what ends by itself once the shutdown is over, and is waited for then.
    pub fn keep(&self, face: impl Future<Output = ()> + Send + 'static) {
        self.faces.spawn(face);
    }

    /// Begins the shutdown, and gives tracked work `grace` to end by itself.
    pub async fn run(&self, grace: Duration) {
        self.begun.cancel();
        self.work.close();
        if timeout(grace, self.work.wait()).await.is_err() {
            tracing::warn!("answers were still under way when the time for them was up");
        }
        self.over.cancel();
        self.work.wait().await;
        self.faces.close();
        self.faces.wait().await;
    }
}
