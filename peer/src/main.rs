//! The command line of the peer.

use antway_peer::config::ServeArgs;
use antway_peer::serve::serve;
use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;

/// A peer of Antway: serves content-addressed chunks to browsers over WebTransport and HTTP.
#[derive(Parser)]
#[command(name = "antway-peer", version)]
enum Command {
    /// Serve the chunks of a folder until SIGINT or SIGTERM.
    Serve(Box<ServeArgs>),
}

#[tokio::main]
async fn main() -> ExitCode {
    let Command::Serve(args) = Command::parse();
    serve(*args, |store| Arc::new(store)).await
}
