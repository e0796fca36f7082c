//! The shutdown of a peer. It begins with a signal, and ends when all work is done or the grace period is over.

use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tells every part of a peer to stop, and waits for the parts. Clones share it.
#[derive(Clone, Default)]
pub struct Shutdown {
    stopping: CancellationToken,
    terminating: CancellationToken,
    /// Connections and their background work.
    work: TaskTracker,
    /// Servers, which run as long as the peer does.
    servers: TaskTracker,
}

impl Shutdown {
    /// Resolves when the peer must not accept new work.
    pub async fn stopping(&self) {
        self.stopping.cancelled().await;
    }

    /// Whether the peer must not accept new work.
    pub fn is_stopping(&self) -> bool {
        self.stopping.is_cancelled()
    }

    /// Resolves when everything that still runs must end.
    pub async fn terminating(&self) {
        self.terminating.cancelled().await;
    }

    /// Runs work that the shutdown waits for. The work is dropped after the grace period.
    pub fn track(&self, work: impl Future<Output = ()> + Send + 'static) {
        let terminating = self.terminating.clone();
        self.work.spawn(async move {
            // `None` after the grace period.
            terminating.run_until_cancelled(work).await;
        });
    }

    /// Runs a server that ends by itself after the grace period. The shutdown waits for it.
    pub fn track_server(&self, server: impl Future<Output = ()> + Send + 'static) {
        self.servers.spawn(server);
    }

    /// Runs work that lasts until the grace period is over, but does not prolong it.
    pub fn track_until_terminating(&self, work: impl Future<Output = ()> + Send + 'static) {
        let terminating = self.terminating.clone();
        self.servers.spawn(async move {
            // `None` after the grace period.
            terminating.run_until_cancelled(work).await;
        });
    }

    /// Begins the shutdown. Tracked work has `grace` to end by itself.
    pub async fn run(&self, grace: Duration) {
        self.stopping.cancel();
        self.work.close();
        if timeout(grace, self.work.wait()).await.is_err() {
            tracing::warn!("aborting responses that did not end within the grace period");
        }
        self.terminating.cancel();
        self.work.wait().await;
        self.servers.close();
        self.servers.wait().await;
    }
}
