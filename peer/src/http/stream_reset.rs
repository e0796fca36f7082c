//! Ends one HTTP/2 stream, without its connection.
//!
//! The HTTP library runs each stream as a future of its own. A stream whose future is dropped is reset.

use tokio::task_local;
use tokio_util::sync::CancellationToken;

task_local! {
    static RESET: CancellationToken;
}

/// Runs the future of a stream until it ends, or until the token of [`current`] is cancelled.
pub async fn run(stream: impl Future<Output = ()>) {
    let reset = CancellationToken::new();
    let stream = RESET.scope(reset.clone(), stream);
    // `None` if the stream was reset.
    reset.run_until_cancelled(stream).await;
}

/// Resets the stream of the calling future when it is cancelled. It has no effect in HTTP/1.
pub fn current() -> CancellationToken {
    RESET.try_with(CancellationToken::clone).unwrap_or_default()
}
