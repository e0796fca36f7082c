//! A connection that may take longer to open than one request waits.

use crate::source::SourceError;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Opens a connection on first use. Only one attempt runs at a time. The attempt continues after its callers stopped
/// waiting.
pub struct LazyConnection<T> {
    connection: Arc<OnceLock<T>>,
    attempt: Mutex<Option<JoinHandle<Result<(), SourceError>>>>,
    attempt_timeout: Duration,
}

impl<T: Send + Sync + 'static> LazyConnection<T> {
    /// `attempt_timeout` is the longest time that one attempt may take.
    pub fn new(attempt_timeout: Duration) -> Self {
        Self {
            connection: Arc::default(),
            attempt: Mutex::default(),
            attempt_timeout,
        }
    }

    /// The connection. If there is none and no attempt is running, `connect` opens it. After a failure, the next call
    /// tries again.
    pub async fn get<F>(&self, connect: impl FnOnce() -> F) -> Result<&T, SourceError>
    where
        F: Future<Output = Result<T, SourceError>> + Send + 'static,
    {
        if let Some(connection) = self.connection.get() {
            return Ok(connection);
        }
        let mut attempt = self.attempt.lock().await;
        if let Some(connection) = self.connection.get() {
            return Ok(connection);
        }
        let unfinished = attempt.take().filter(|attempt| !attempt.is_finished());
        // The attempt stays in its slot if this call is dropped while it waits.
        let attempt = attempt.insert(unfinished.unwrap_or_else(|| self.start_attempt(connect())));
        match attempt.await {
            Ok(Ok(())) => Ok(self.connection.get().expect("connected")),
            Ok(Err(error)) => Err(error),
            Err(panicked) => Err(SourceError::Failed(panicked.to_string())),
        }
    }

    fn start_attempt(
        &self,
        connecting: impl Future<Output = Result<T, SourceError>> + Send + 'static,
    ) -> JoinHandle<Result<(), SourceError>> {
        let connection = Arc::clone(&self.connection);
        let connecting = timeout(self.attempt_timeout, connecting);
        tokio::spawn(async move {
            let timed_out = |_| SourceError::Unreachable("connecting took too long".to_owned());
            let connected = connecting.await.map_err(timed_out)??;
            // Only one attempt runs at a time, so the cell is still empty.
            let _ = connection.set(connected);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use tokio::sync::oneshot;
    use tokio::task::yield_now;

    const LONG_TIMEOUT: Duration = Duration::from_secs(60);

    fn failed() -> SourceError {
        SourceError::Failed("a failure for the test".to_owned())
    }

    #[tokio::test]
    async fn an_attempt_continues_without_callers_and_later_calls_use_it() {
        let connection = LazyConnection::new(LONG_TIMEOUT);
        let (finish, finished) = oneshot::channel::<&str>();
        let first = connection.get(|| async { finished.await.map_err(|_| failed()) });
        assert!(first.now_or_never().is_none());
        // A caller that arrives meanwhile waits for the same attempt.
        let second = connection.get(|| async { panic!("a second attempt") });
        assert!(second.now_or_never().is_none());
        finish.send("connected").unwrap();
        while connection.connection.get().is_none() {
            yield_now().await;
        }
        let third = connection.get(|| async { panic!("a second attempt") });
        assert_eq!(*third.await.unwrap(), "connected");
    }

    #[tokio::test]
    async fn a_call_after_a_failed_or_timed_out_attempt_tries_again() {
        let connection = LazyConnection::new(Duration::from_millis(10));
        let timed_out = connection.get(std::future::pending).await;
        assert!(matches!(timed_out, Err(SourceError::Unreachable(_))));
        let failed_attempt = connection.get(|| async { Err(failed()) }).await;
        assert!(matches!(failed_attempt, Err(SourceError::Failed(_))));
        let panicked = connection.get(|| async { panic!("a panic for the test") });
        assert!(panicked.await.is_err());
        assert_eq!(*connection.get(|| async { Ok(7) }).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_failure_without_callers_does_not_fail_the_next_call() {
        let connection = LazyConnection::new(LONG_TIMEOUT);
        let (finish, finished) = oneshot::channel::<()>();
        let first = connection.get(|| async {
            let _ = finished.await;
            Err(failed())
        });
        assert!(first.now_or_never().is_none());
        drop(finish);
        let is_finished = || {
            let attempt = connection.attempt.try_lock().unwrap();
            attempt.as_ref().is_some_and(JoinHandle::is_finished)
        };
        while !is_finished() {
            yield_now().await;
        }
        assert_eq!(*connection.get(|| async { Ok(7) }).await.unwrap(), 7);
    }
}
