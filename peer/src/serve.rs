//! The command `serve`: runs a peer until a signal arrives.

use crate::command_error::CommandError;
use crate::config::ServeArgs;
use crate::logging;
use crate::open_files;
use crate::peer::Peer;
use crate::source::ChunkSource;
use crate::stdin;
use crate::store::FolderStore;
use std::future::pending;
use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// Serves until SIGINT or SIGTERM, and with `--exit-with-stdin` until stdin ends. `make_source` creates the chunk source from the store.
pub async fn serve(
    args: ServeArgs,
    make_source: impl FnOnce(FolderStore) -> Arc<dyn ChunkSource>,
) -> ExitCode {
    logging::start(args.log);
    match run(&args, make_source).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

async fn run(
    args: &ServeArgs,
    make_source: impl FnOnce(FolderStore) -> Arc<dyn ChunkSource>,
) -> Result<(), CommandError> {
    let config = args.peer_config()?;
    args.check_paid_uploads()?;
    let files = open_files::raise_limit();
    let connections = config.limits.http_connections;
    if files.is_some_and(|files| files < connections as u64) {
        tracing::warn!(
            files,
            connections,
            "fewer open files than HTTP connections are allowed"
        );
    }
    let store = args.open_store()?;
    let max_store_bytes = store.max_bytes();
    let certificates = args.certificates()?;
    let write_policy = config.write_policy.clone();
    // Signal handlers must exist before the `listening` line: its reader may send signals at once.
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let source = args.source(make_source(store), &config.deny_list)?;
    let peer = Peer::start(config, certificates, source).await?;
    println!("{}", peer.listening_line(&args.storage.store));
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(
        version,
        http = peer.http(),
        web_transport = peer.web_transport(),
        writes = ?write_policy,
        max_store_bytes,
        "listening"
    );
    let mut abandoned = pin!(async {
        match args.exit_with_stdin {
            true => stdin::ended().await,
            false => pending().await,
        }
    });
    loop {
        tokio::select! {
            _ = hangup.recv() => peer.reload(),
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
            () = abandoned.as_mut() => break,
        }
    }
    tracing::info!("shutting down");
    peer.stop().await;
    Ok(())
}
