//! A connection that may take longer to open than one request waits.

use crate::source::SourceError;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Opens a connection on first use. Only one attempt runs at a time. The attempt continues after its callers stopped
/// waiting.
pub struct Connecting<T> {
    connection: Arc<OnceLock<T>>,
    attempt: Mutex<Option<JoinHandle<Result<(), SourceError>>>>,
    patience: Duration,
}

impl<T: Send + Sync + 'static> Connecting<T> {
    /// `patience` is the longest time that one attempt may take.
    pub fn new(patience: Duration) -> Self {
        Self {
            connection: Arc::default(),
            attempt: Mutex::default(),
            patience,
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
        let attempt = attempt.insert(unfinished.unwrap_or_else(|| self.attempt(connect())));
        match attempt.await {
            Ok(Ok(())) => Ok(self.connection.get().expect("connected")),
            Ok(Err(error)) => Err(error),
            Err(panicked) => Err(SourceError::Failed(panicked.to_string())),
        }
    }

    fn attempt(
        &self,
        connecting: impl Future<Output = Result<T, SourceError>> + Send + 'static,
    ) -> JoinHandle<Result<(), SourceError>> {
        let connection = Arc::clone(&self.connection);
        let connecting = timeout(self.patience, connecting);
        tokio::spawn(async move {
            let late = |_| SourceError::Unreachable("connecting took too long".to_owned());
            let connected = connecting.await.map_err(late)??;
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

    const LONG: Duration = Duration::from_secs(60);

    fn failed() -> SourceError {
        SourceError::Failed("a failure for the test".to_owned())
    }

    #[tokio::test]
    async fn an_attempt_continues_without_callers_and_later_calls_use_it() {
        let connecting = Connecting::new(LONG);
        let (end, ends) = oneshot::channel::<&str>();
        let first = connecting.get(|| async { ends.await.map_err(|_| failed()) });
        assert!(first.now_or_never().is_none());
        // A caller that arrives meanwhile waits for the same attempt.
        let second = connecting.get(|| async { panic!("a second attempt") });
        assert!(second.now_or_never().is_none());
        end.send("connected").unwrap();
        while connecting.connection.get().is_none() {
            yield_now().await;
        }
        let third = connecting.get(|| async { panic!("a second attempt") });
        assert_eq!(*third.await.unwrap(), "connected");
    }

    #[tokio::test]
    async fn a_call_after_a_failed_or_timed_out_attempt_tries_again() {
        let connecting = Connecting::new(Duration::from_millis(10));
        let late = connecting.get(std::future::pending).await;
        assert!(matches!(late, Err(SourceError::Unreachable(_))));
        let broken = connecting.get(|| async { Err(failed()) }).await;
        assert!(matches!(broken, Err(SourceError::Failed(_))));
        let panicked = connecting.get(|| async { panic!("a panic for the test") });
        assert!(panicked.await.is_err());
        assert_eq!(*connecting.get(|| async { Ok(7) }).await.unwrap(), 7);
    }

    #[tokio::test]
    async fn a_failure_without_callers_does_not_fail_the_next_call() {
        let connecting = Connecting::new(LONG);
        let (end, ends) = oneshot::channel::<()>();
        let first = connecting.get(|| async {
            let _ = ends.await;
            Err(failed())
        });
        assert!(first.now_or_never().is_none());
        drop(end);
        let is_finished = || {
            let attempt = connecting.attempt.try_lock().unwrap();
            attempt.as_ref().is_some_and(JoinHandle::is_finished)
        };
        while !is_finished() {
            yield_now().await;
        }
        assert_eq!(*connecting.get(|| async { Ok(7) }).await.unwrap(), 7);
    }
}
