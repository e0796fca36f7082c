//! Logs, on stderr: stdout is for the line that says where the peer listens.

use clap::ValueEnum;
use std::io;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{Layer, fmt, registry};

/// How a log line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object per line.
    Json,
}

/// The least important lines that are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// What needs someone to act.
    Error,
    /// What may soon.
    Warn,
    /// What the peer does by itself.
    Info,
    /// Every session and request that is refused or broken off.
    Debug,
    /// The same, and the libraries' own lines.
    Trace,
}

/// Starts logging for the whole process. Call it once.
pub fn start(format: LogFormat, level: LogLevel) {
    let (own, libraries) = match level {
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
    let layer = match format {
        LogFormat::Text => layer.boxed(),
        LogFormat::Json => layer.json().boxed(),
    };
    registry().with(layer.with_filter(filter)).init();
}
