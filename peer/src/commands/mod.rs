//! The commands beside `serve`. Each but `licenses` prints one line of JSON with its result.

mod check;
mod gc;
mod healthcheck;
mod import;
mod licenses;

pub use check::{CheckArgs, check};
pub use gc::{GcArgs, gc};
pub use healthcheck::{HealthcheckArgs, healthcheck};
pub use import::{ImportArgs, import};
pub use licenses::licenses;

use serde::Serialize;

fn print(result: &impl Serialize) {
    let json = serde_json::to_string(result).expect("plain numbers and texts");
    println!("{json}");
}
