//! The settings of `serve`.

mod flags;
mod store_args;
mod validation;

pub use flags::{ServeArgs, WebTransportAddress};
pub use store_args::{Evict, StoreArgs};
pub use validation::InvalidSetting;
