//! The settings of the commands.

mod file;
mod flags;
mod store_args;
mod validation;

pub use file::parse;
pub use flags::{ServeArgs, WebTransportAddress};
pub use store_args::{Evict, StoreArgs};
pub use validation::InvalidSetting;
