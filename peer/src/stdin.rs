//! The end of stdin, which tells that the process at its other end has ended.

use std::io;
use std::thread;
use tokio::sync::oneshot;

/// Resolves when stdin has ended, or cannot be read. Ignores its bytes.
pub async fn ended() {
    let (sender, ended) = oneshot::channel();
    // A read of stdin cannot be cancelled. The runtime would wait for it at the end, but nothing waits for this thread.
    thread::spawn(move || {
        if let Err(error) = io::copy(&mut io::stdin().lock(), &mut io::sink()) {
            tracing::warn!(%error, "reading stdin failed");
        }
        // Fails if the waiting task has ended.
        let _ = sender.send(());
    });
    // Fails if the thread panicked. It reads no more then, so this is an end, too.
    let _ = ended.await;
}
