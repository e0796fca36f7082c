//! The command `serve`: runs a peer until a signal arrives.

use crate::config::{InvalidSetting, ServeArgs};
use crate::logging;
use crate::peer::{ListenError, Peer};
use crate::source::ChunkSource;
use crate::store::FolderStore;
use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code for unusable settings. Clap uses the same code for flags that it cannot parse.
const EXIT_INVALID_SETTING: u8 = 2;

/// Serves until SIGINT or SIGTERM. `make_source` creates the chunk source from the store.
pub async fn serve(
    args: ServeArgs,
    make_source: impl FnOnce(FolderStore) -> Arc<dyn ChunkSource>,
) -> ExitCode {
    logging::start(args.log_format, args.log_level);
    match run(&args, make_source).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            match error {
                ServeError::Setting(_) => EXIT_INVALID_SETTING.into(),
                ServeError::Start(_) => ExitCode::FAILURE,
            }
        }
    }
}

/// Why a peer does not start.
enum ServeError {
    Setting(InvalidSetting),
    Start(Box<dyn Error>),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
        }
    }
}

impl From<InvalidSetting> for ServeError {
    fn from(error: InvalidSetting) -> Self {
        Self::Setting(error)
    }
}

impl From<io::Error> for ServeError {
    fn from(error: io::Error) -> Self {
        Self::Start(error.into())
    }
}

impl From<ListenError> for ServeError {
    fn from(error: ListenError) -> Self {
        Self::Start(error.into())
    }
}

async fn run(
    args: &ServeArgs,
    make_source: impl FnOnce(FolderStore) -> Arc<dyn ChunkSource>,
) -> Result<(), ServeError> {
    let config = args.peer_config()?;
    let max_bytes = args.max_store_bytes.unwrap_or(u64::MAX);
    let eviction = args.eviction()?;
    let store = FolderStore::open(&args.store, max_bytes, eviction).map_err(|error| {
        let folder = args.store.display();
        io::Error::new(error.kind(), format!("--store {folder}: {error}"))
    })?;
    let certificates = args.certificates()?;
    let write_policy = config.write_policy.clone();
    // Signal handlers must exist before the `listening` line: its reader may send signals at once.
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    let source = args.source(make_source(store))?;
    let peer = Peer::start(config, certificates, source).await?;
    println!("{}", peer.listening_line(&args.store));
    let version = env!("CARGO_PKG_VERSION");
    tracing::info!(
        version,
        http = peer.http(),
        web_transport = peer.web_transport(),
        writes = ?write_policy,
        "listening"
    );
    loop {
        tokio::select! {
            _ = hangup.recv() => peer.reload_certificate(),
            _ = interrupt.recv() => break,
            _ = terminate.recv() => break,
        }
    }
    tracing::info!("shutting down");
    peer.stop().await;
    Ok(())
}
