//! Hostile clients of a running peer, and an honest one beside them. `pnpm perf:load --hostile` starts both.
//!
//! The peer needs `--limit-loopback`, because sessions come from loopback addresses, and `--trusted-proxy 127.0.0.2
//! --proxy-protocol`.

mod honest;
mod http2;
mod pinned_certificate;
mod sessions;
mod target;
#[allow(dead_code, reason = "shared with the tests")]
#[path = "../../tests/abuse/udp_relay.rs"]
mod udp_relay;

use antway_peer::address::Address;
use clap::{Parser, Subcommand};
use serde_json::Value;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use target::{BoxError, Target, absent};
use tokio::task::JoinSet;
use tokio::time::sleep;

/// The mean time until a session or connection that ended is replaced.
const PAUSE: Duration = Duration::from_secs(4);

/// Hostile and honest clients of a running peer
#[derive(Parser)]
struct Args {
    /// Where the peer's WebTransport listens
    #[arg(long, value_name = "ADDRESS")]
    web_transport: SocketAddr,

    /// Where its HTTPS listens
    #[arg(long, value_name = "ADDRESS")]
    https: SocketAddr,

    /// Its certificate (PEM)
    #[arg(long, value_name = "FILE")]
    certificate: PathBuf,

    /// The address of a chunk that the peer has (repeatable)
    #[arg(long, required = true, value_parser = parse_address)]
    chunk: Vec<Address>,

    /// The path of a large file that it hosts
    #[arg(long, value_name = "PATH")]
    file: String,

    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the names of the kinds of attacks as JSON
    Kinds,
    /// Print the names of the kinds of attacks as JSON, and attack until this process is ended
    Attack {
        /// The number of sessions, or connections, of each kind
        #[arg(long)]
        count: usize,

        /// The number of networks that they come from
        #[arg(long)]
        networks: usize,

        /// The name of the only kind
        #[arg(long, value_name = "NAME")]
        kind: Option<String>,
    },
    /// Read chunks, and print the rate, the time for most of the chunks and the number of failures as JSON
    Read {
        #[arg(long)]
        seconds: u64,

        /// The pause after each chunk in milliseconds
        #[arg(long)]
        pause: u64,
    },
}

fn parse_address(text: &str) -> Result<Address, &'static str> {
    text.parse().map_err(|_| "not an address")
}

#[derive(Clone, Copy)]
enum Kind {
    Session(sessions::Kind),
    Http2(http2::Kind),
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Session(kind) => kind.name(),
            Self::Http2(kind) => kind.name(),
        }
    }

    /// Attacks from this network until the peer ends it.
    async fn attack(self, target: &Target, kind: u8, network: u8) -> Result<(), BoxError> {
        match self {
            Self::Session(attack) => {
                let source = Ipv4Addr::new(127, 1, kind, 1 + network);
                attack.attack(target, source).await
            }
            Self::Http2(attack) => {
                let client = Ipv4Addr::new(198, 18, kind, 1 + network);
                attack.attack(target, client).await
            }
        }
    }
}

/// Runs in one thread, like the load generator in `sessions.rs`, for the same reason.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BoxError> {
    let args = Args::parse();
    let target = Target::new(
        args.web_transport,
        args.https,
        &args.certificate,
        args.chunk,
        args.file,
    )?;
    match args.command {
        Command::Kinds => {
            println!("{}", names(&all_kinds()));
            Ok(())
        }
        Command::Attack {
            count,
            networks,
            kind,
        } => {
            let is_wanted =
                |(_, one): &(u8, Kind)| kind.as_deref().is_none_or(|name| name == one.name());
            let kinds: Vec<_> = all_kinds().into_iter().filter(is_wanted).collect();
            attack(Arc::new(target), kinds, count, networks).await
        }
        Command::Read { seconds, pause } => {
            let [duration, pause] = [Duration::from_secs(seconds), Duration::from_millis(pause)];
            println!("{}", honest::read(&target, duration, pause).await);
            Ok(())
        }
    }
}

/// All kinds, with their numbers.
fn all_kinds() -> Vec<(u8, Kind)> {
    let sessions = sessions::Kind::ALL.into_iter().map(Kind::Session);
    let kinds = sessions.chain(http2::Kind::ALL.into_iter().map(Kind::Http2));
    (0..).zip(kinds).collect()
}

fn names(kinds: &[(u8, Kind)]) -> Value {
    kinds.iter().map(|(_, kind)| kind.name()).collect()
}

async fn attack(
    target: Arc<Target>,
    kinds: Vec<(u8, Kind)>,
    count: usize,
    networks: usize,
) -> Result<(), BoxError> {
    println!("{}", names(&kinds));
    let mut attacks = JoinSet::new();
    for (number, kind) in kinds {
        for n in 0..count {
            let target = Arc::clone(&target);
            attacks.spawn(async move {
                let network = (n % networks) as u8;
                // Not all at the same instant, as they would not come in reality.
                sleep(random_pause()).await;
                loop {
                    // The peer refuses and ends many of them, as it should.
                    let _ = kind.attack(&target, number, network).await;
                    sleep(random_pause()).await;
                }
            });
        }
    }
    // An attack ends only by a panic.
    match attacks.join_next().await {
        Some(Err(panic)) => Err(panic.into()),
        _ => Ok(()),
    }
}

/// Between half and one and a half of [`PAUSE`].
fn random_pause() -> Duration {
    PAUSE / 2 + PAUSE * u32::from(absent()[0]) / 255
}
