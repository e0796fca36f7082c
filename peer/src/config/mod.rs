//! The settings of the commands.

mod access_flags;
mod certificate_flags;
mod file;
mod flags;
mod store_args;
mod validation;

pub use access_flags::AccessArgs;
pub use certificate_flags::CertificateArgs;
pub use file::parse;
pub use flags::{ServeArgs, WebTransportAddress};
pub use store_args::{Evict, StoreArgs};
pub use validation::InvalidSetting;
