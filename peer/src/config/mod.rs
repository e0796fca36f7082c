//! The settings of `serve`.

mod checks;
mod flags;

pub use checks::BadSetting;
pub use flags::{ServeArgs, WebTransportAddress};
