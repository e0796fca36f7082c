//! Logs go to stderr. Stdout is for the `listening` line.

use clap::ValueEnum;
use std::io;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

/// The format of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Readable text.
    Text,
    /// One JSON object per line.
    Json,
}

/// The least important log level that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Problems that need an action now.
    Error,
    /// Problems that may need an action soon.
    Warn,
    /// The peer's own activity.
    Info,
    /// Also every session and request that is refused or fails.
    Debug,
    /// Also the log lines of libraries.
    Trace,
}

/// The flags of all commands for their log lines.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct LogArgs {
    /// The format of log lines, which go to stderr
    #[arg(
        long,
        env = "ANTWAY_PEER_LOG_FORMAT",
        value_name = "FORMAT",
        default_value = "text"
    )]
    pub log_format: LogFormat,

    /// The least important log level to write
    #[arg(
        long,
        env = "ANTWAY_PEER_LOG_LEVEL",
        value_name = "LEVEL",
        default_value = "info"
    )]
    pub log_level: LogLevel,
}

/// Starts logging for the whole process. Call it once.
pub fn start(args: LogArgs) {
    let (own, libraries) = match args.log_level {
        LogLevel::Error => (LevelFilter::ERROR, LevelFilter::ERROR),
        LogLevel::Warn => (LevelFilter::WARN, LevelFilter::ERROR),
        LogLevel::Info => (LevelFilter::INFO, LevelFilter::ERROR),
        LogLevel::Debug => (LevelFilter::DEBUG, LevelFilter::WARN),
        LogLevel::Trace => (LevelFilter::TRACE, LevelFilter::DEBUG),
    };
    let filter = Targets::new()
        .with_default(libraries)
        .with_target(env!("CARGO_CRATE_NAME"), own);
    let layer = fmt::layer().with_writer(io::stderr).with_ansi(false);
    let layer = match args.log_format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    registry().with(layer.with_filter(filter)).init();
}
