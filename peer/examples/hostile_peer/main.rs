//! A peer that misbehaves on purpose, for tests of clients. Only the source of its chunks differs from a real peer.

mod fault;

use antway_peer::config::ServeArgs;
use antway_peer::serve::serve;
use clap::Parser;
use fault::{Fault, FaultConfig, HostileSource};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// A peer that misbehaves on purpose, for tests of clients
#[derive(Parser)]
struct Args {
    /// The fault in responses with a chunk
    #[arg(long)]
    fault: Fault,

    /// The speed of `slow` (bytes per second)
    #[arg(long, value_name = "NUMBER", default_value_t = 65_536, value_parser = clap::value_parser!(u32).range(10..))]
    bytes_per_second: u32,

    /// How many chunks are served correctly before the fault begins
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    honest_first: usize,

    #[command(flatten)]
    serve: ServeArgs,
}

#[tokio::main]
async fn main() -> ExitCode {
    let mut args = Args::parse();
    if args.fault == Fault::Silent {
        // A real peer answers `busy` when its source takes too long.
        args.serve.request_timeout = Duration::from_secs(24 * 3600);
    }
    let config = FaultConfig {
        fault: args.fault,
        bytes_per_second: args.bytes_per_second,
        honest_first: args.honest_first,
    };
    let folder = args.serve.storage.store.clone();
    serve(args.serve, |store| {
        Arc::new(HostileSource::new(store, folder, config))
    })
    .await
}
