//! The command line of the peer.

use antway_peer::commands::{
    CheckArgs, GcArgs, HealthcheckArgs, ImportArgs, check, gc, healthcheck, import, licenses,
};
use antway_peer::config::{self, ServeArgs};
use antway_peer::serve::serve;
use clap::Parser;
use std::env;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// A peer of Antway: serves content-addressed chunks to browsers over WebTransport and HTTP.
#[derive(Parser)]
#[command(name = "antway-peer", version)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,

    /// A TOML file of settings, named like the flags. Flags win over variables, and variables over the file
    #[arg(long, env = "ANTWAY_PEER_CONFIG", value_name = "FILE", global = true)]
    config: Option<PathBuf>,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Serve the chunks of a folder until SIGINT or SIGTERM.
    Serve(Box<ServeArgs>),
    /// Compare all stored chunks with their addresses, and quarantine damaged ones.
    Check(CheckArgs),
    /// Evict chunks down to the store's limit, and remove denied chunks and leftovers.
    Gc(GcArgs),
    /// Copy chunks from a folder into the store.
    Import(ImportArgs),
    /// Ask a peer whether it takes requests: exit code 0 if it does, 1 otherwise.
    Healthcheck(HealthcheckArgs),
    /// Print the licences of the libraries in this program.
    Licenses,
}

#[tokio::main]
async fn main() -> ExitCode {
    let command_line: CommandLine = match config::parse(env::args_os()) {
        Ok(command_line) => command_line,
        Err(error) => error.exit(),
    };
    let done = match command_line.command {
        Command::Serve(args) => return serve(*args, |store| Arc::new(store)).await,
        Command::Check(args) => check(&args),
        Command::Gc(args) => gc(&args),
        Command::Import(args) => import(&args),
        Command::Healthcheck(args) => healthcheck(&args).await,
        Command::Licenses => licenses(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
