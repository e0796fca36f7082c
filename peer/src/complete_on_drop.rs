//! Futures that run to their end even if their caller stops waiting.

use futures_util::future::BoxFuture;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::runtime::Handle;

/// A future that continues as a task of its own when it is dropped early. Blocking work continues in any case, so its
/// permits must stay with it.
pub struct CompleteOnDrop<T: Send + 'static> {
    future: Option<BoxFuture<'static, T>>,
}

impl<T: Send + 'static> CompleteOnDrop<T> {
    /// The future runs in the caller's task until it is dropped.
    pub fn new(future: impl Future<Output = T> + Send + 'static) -> Self {
        Self {
            future: Some(Box::pin(future)),
        }
    }
}

impl<T: Send + 'static> Future for CompleteOnDrop<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let future = self.future.as_mut().expect("not polled after its end");
        let output = ready!(future.as_mut().poll(cx));
        self.future = None;
        Poll::Ready(output)
    }
}

impl<T: Send + 'static> Drop for CompleteOnDrop<T> {
    fn drop(&mut self) {
        // At the end of the program there may be no runtime any more.
        if let (Some(future), Ok(runtime)) = (self.future.take(), Handle::try_current()) {
            runtime.spawn(future);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn continues_after_it_was_dropped() {
        let (finish, finished) = oneshot::channel::<u8>();
        let (done, result) = oneshot::channel();
        let mut waiting = Box::pin(CompleteOnDrop::new(async move {
            done.send(finished.await.unwrap()).unwrap();
        }));
        assert!((&mut waiting).now_or_never().is_none());
        drop(waiting);
        finish.send(7).unwrap();
        assert_eq!(result.await, Ok(7));
        assert_eq!(CompleteOnDrop::new(async { 8 }).await, 8);
    }
}
