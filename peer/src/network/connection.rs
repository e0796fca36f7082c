//! Keeps a connection to the network: connects at the start, watches the connection, and connects again.

use super::status::{NetworkState, NetworkStatus};
use crate::source::SourceError;
use futures_util::future::BoxFuture;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// A client that is connected to the network.
pub trait NetworkClient: Send + Sync + 'static {
    /// The number of connected nodes. If none is connected, the client first tries to reach one.
    fn count_peers(&self) -> BoxFuture<'_, usize>;

    /// Ends all connections.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// When the connection is checked and opened again.
#[derive(Clone, Copy, Debug)]
pub struct RetryTimes {
    /// The time between two checks of a connection.
    pub check_interval: Duration,
    /// The wait after the first failure. It doubles after each further failure.
    pub first_wait: Duration,
    /// The longest wait.
    pub longest_wait: Duration,
}

impl Default for RetryTimes {
    fn default() -> Self {
        Self {
            check_interval: Duration::from_secs(5),
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(60),
        }
    }
}

/// A connection that lasts as long as this value. The peer runs without it too.
pub struct NetworkConnection<C> {
    shared: Arc<Shared<C>>,
    task: JoinHandle<()>,
}

struct Shared<C> {
    /// Is set before `status` says so, and is cleared before `status` says so.
    client: Mutex<Option<Arc<C>>>,
    status: watch::Sender<NetworkStatus>,
}

impl<C: NetworkClient> NetworkConnection<C> {
    /// Connects in the background. `connect` returns a client with at least one node, or the reason why it has none.
    /// Everyone can read the reason.
    pub fn open<F>(
        name: String,
        times: RetryTimes,
        connect: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<C, String>> + Send + 'static,
    {
        let shared = Arc::new(Shared {
            client: Mutex::default(),
            status: watch::Sender::new(NetworkStatus::connecting(name)),
        });
        let task = tokio::spawn(Arc::clone(&shared).keep_connected(times, connect));
        Self { shared, task }
    }

    /// The present status.
    pub fn status(&self) -> NetworkStatus {
        self.shared.status.borrow().clone()
    }

    /// The client. Waits for it while the first attempt runs. Fails at once if the network is disconnected.
    pub async fn client(&self) -> Result<Arc<C>, SourceError> {
        let mut status = self.shared.status.subscribe();
        loop {
            match self.shared.client() {
                Some(client) => return Ok(client),
                None => self.refuse_if_disconnected()?,
            }
            status
                .changed()
                .await
                .expect("this connection owns the sender");
        }
    }

    fn refuse_if_disconnected(&self) -> Result<(), SourceError> {
        let status = self.shared.status.borrow();
        match (status.state, &status.problem) {
            (NetworkState::Disconnected, Some(problem)) => {
                Err(SourceError::Unreachable(problem.clone()))
            }
            _ => Ok(()),
        }
    }
}

impl<C> Drop for NetworkConnection<C> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl<C: NetworkClient> Shared<C> {
    fn client(&self) -> Option<Arc<C>> {
        let client = self.client.lock();
        client.expect("nothing panics with the lock").clone()
    }

    fn set_client(&self, client: Option<Arc<C>>) {
        *self.client.lock().expect("nothing panics with the lock") = client;
    }

    async fn keep_connected<F>(self: Arc<Self>, times: RetryTimes, connect: impl Fn() -> F)
    where
        F: Future<Output = Result<C, String>>,
    {
        let mut wait = times.first_wait;
        loop {
            match connect().await {
                Ok(client) => {
                    wait = times.first_wait;
                    let client = Arc::new(client);
                    self.set_client(Some(Arc::clone(&client)));
                    self.watch_client(&client, times.check_interval).await;
                    self.set_client(None);
                    self.set_disconnected("the connection to all nodes was lost".to_owned());
                    client.close().await;
                }
                Err(problem) => self.set_disconnected(problem),
            }
            sleep(wait).await;
            wait = (wait * 2).min(times.longest_wait);
        }
    }

    /// Updates the number of nodes. Returns when there are none.
    async fn watch_client(&self, client: &C, check_interval: Duration) {
        loop {
            let peers = client.count_peers().await;
            if peers == 0 {
                return;
            }
            self.set_connected(peers);
            sleep(check_interval).await;
        }
    }

    fn set_connected(&self, peers: usize) {
        self.status.send_if_modified(|status| {
            if status.state != NetworkState::Connected {
                tracing::info!(network = status.name, peers, "connected to the network");
            }
            status.set_connected(peers)
        });
    }

    fn set_disconnected(&self, problem: String) {
        self.status.send_if_modified(|status| {
            let is_first_failure = status.state != NetworkState::Disconnected;
            if is_first_failure {
                tracing::warn!(
                    network = status.name,
                    problem,
                    "not connected to the network; the peer keeps trying"
                );
            } else {
                tracing::debug!(network = status.name, problem, "still not connected");
            }
            status.set_disconnected(problem);
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use tokio::sync::mpsc;

    const SHORT: RetryTimes = RetryTimes {
        check_interval: Duration::from_millis(1),
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(2),
    };

    /// A client whose number of nodes the test sets.
    #[derive(Default)]
    struct FakeClient {
        peers: Arc<AtomicUsize>,
        is_closed: Arc<AtomicBool>,
    }

    impl NetworkClient for FakeClient {
        fn count_peers(&self) -> BoxFuture<'_, usize> {
            async { self.peers.load(Ordering::SeqCst) }.boxed()
        }

        fn close(&self) -> BoxFuture<'_, ()> {
            async { self.is_closed.store(true, Ordering::SeqCst) }.boxed()
        }
    }

    fn client_with(peers: usize) -> FakeClient {
        FakeClient {
            peers: Arc::new(peers.into()),
            ..FakeClient::default()
        }
    }

    /// A connection whose attempts have the results that the test sends.
    fn connection() -> (
        NetworkConnection<FakeClient>,
        mpsc::UnboundedSender<Result<FakeClient, String>>,
    ) {
        let (results, attempts) = mpsc::unbounded_channel();
        let attempts = Arc::new(tokio::sync::Mutex::new(attempts));
        let connection = NetworkConnection::open("test".to_owned(), SHORT, move || {
            let attempts = Arc::clone(&attempts);
            async move {
                let result = attempts.lock().await.recv().await;
                result.unwrap_or_else(|| Err("the test has ended".to_owned()))
            }
        });
        (connection, results)
    }

    async fn wait_for(
        connection: &NetworkConnection<FakeClient>,
        wanted: impl Fn(&NetworkStatus) -> bool,
    ) -> NetworkStatus {
        let mut status = connection.shared.status.subscribe();
        status.wait_for(wanted).await.unwrap().clone()
    }

    #[tokio::test]
    async fn a_caller_waits_for_the_first_attempt() {
        let (connection, results) = connection();
        assert_eq!(connection.status().state, NetworkState::Connecting);
        assert!(connection.client().now_or_never().is_none());
        results.send(Ok(client_with(3))).unwrap();
        assert_eq!(connection.client().await.unwrap().count_peers().await, 3);
        let status = wait_for(&connection, |status| status.peers > 0).await;
        assert_eq!((status.state, status.peers), (NetworkState::Connected, 3));
    }

    #[tokio::test]
    async fn a_failed_attempt_is_reported_and_repeated() {
        let (connection, results) = connection();
        results.send(Err("no node answered".to_owned())).unwrap();
        let refusal = connection.client().await;
        assert!(matches!(refusal, Err(SourceError::Unreachable(why)) if why == "no node answered"));
        let status = connection.status();
        assert_eq!(status.state, NetworkState::Disconnected);
        assert_eq!(status.problem.as_deref(), Some("no node answered"));
        results.send(Err("still no node".to_owned())).unwrap();
        wait_for(&connection, |status| {
            status.problem.as_deref() == Some("still no node")
        })
        .await;
        results.send(Ok(client_with(1))).unwrap();
        let status = wait_for(&connection, |s| s.state == NetworkState::Connected).await;
        assert_eq!(status.problem, None);
        assert!(connection.client().await.is_ok());
    }

    #[tokio::test]
    async fn a_lost_connection_is_closed_and_opened_again() {
        let (connection, results) = connection();
        let first = client_with(2);
        let (peers, is_closed) = (Arc::clone(&first.peers), Arc::clone(&first.is_closed));
        results.send(Ok(first)).unwrap();
        wait_for(&connection, |s| s.state == NetworkState::Connected).await;
        peers.store(0, Ordering::SeqCst);
        let status = wait_for(&connection, |s| s.state == NetworkState::Disconnected).await;
        assert_eq!(status.peers, 0);
        assert!(connection.client().await.is_err());
        results.send(Ok(client_with(5))).unwrap();
        let status = wait_for(&connection, |s| s.state == NetworkState::Connected).await;
        assert_eq!(status.peers, 5);
        assert!(is_closed.load(Ordering::SeqCst));
    }
}
