//! The settings of `serve`.

mod flags;
mod validation;

pub use flags::{ServeArgs, WebTransportAddress};
pub use validation::InvalidSetting;
