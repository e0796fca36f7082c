//! The commands beside `serve`. Each prints one line of JSON with its result.

mod check;
mod gc;
mod healthcheck;
mod import;

pub use check::{CheckArgs, check};
pub use gc::{GcArgs, gc};
pub use healthcheck::{HealthcheckArgs, healthcheck};
pub use import::{ImportArgs, import};

use crate::logging::{self, LogFormat, LogLevel};
use serde::Serialize;

fn start_logging() {
    logging::start(LogFormat::Text, LogLevel::Info);
}

fn print(result: &impl Serialize) {
    let json = serde_json::to_string(result).expect("plain numbers and texts");
    println!("{json}");
}
