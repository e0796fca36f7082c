//! A local Autonomi network for the tests: `prepare` makes the records, each `node` is one real node, and `read` is the
//! network's own client.
//!
//! Each node is a process of its own, so that a test can stop or kill it. Each node counts the records that it stores
//! before it starts as paid for. Apart from that, it handles them like every other record. Clients pay on the chain of
//! `--chain`.

mod node;
mod prepare;
mod read;

use clap::Parser;
use std::io;

/// The futures of a node are too large for the usual stack.
const STACK_BYTES: usize = 8 * 1024 * 1024;

/// A local Autonomi network.
#[derive(Parser)]
enum Command {
    /// Encrypt files with the network's own code and sign a pointer. Prints one line of JSON.
    Prepare(prepare::Args),
    /// Run a node until its stdin ends. Prints one line of JSON when it listens to other nodes and to browsers.
    Node(node::Args),
    /// Read chunks with the network's own client. Prints one line of JSON.
    Read(read::Args),
}

fn main() -> anyhow::Result<()> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(io::stderr)
        .init();
    let command = Command::parse();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()?
        .block_on(async {
            match command {
                Command::Prepare(args) => prepare::run(&args),
                Command::Node(args) => node::run(args).await,
                Command::Read(args) => read::run(args).await,
            }
        })
}
