//! The Autonomi network as a source: the setting, the connection and its state, and the read rules.
//!
//! Only the client of the network itself needs the cargo feature `autonomi`. The rest compiles without it, so that its
//! tests run with every build.

#[cfg(any(feature = "autonomi", test))]
mod bootstrap;
#[cfg(any(feature = "autonomi", test))]
mod connection;
#[cfg(any(feature = "autonomi", test))]
mod gather;
#[cfg(feature = "autonomi")]
mod node;
#[cfg(any(feature = "autonomi", test))]
mod pointer_read;
#[cfg(any(feature = "autonomi", test))]
mod pointer_survey;
#[cfg(feature = "autonomi")]
mod pools;
#[cfg(feature = "autonomi")]
mod quotes;
#[cfg(any(feature = "autonomi", test))]
mod record_read;
#[cfg(feature = "autonomi")]
mod replies;
mod setting;
mod status;
#[cfg(feature = "autonomi")]
mod uploads;

#[cfg(feature = "autonomi")]
pub use connection::{NetworkConnection, RetryTimes};
#[cfg(feature = "autonomi")]
pub use node::NetworkNode;
#[cfg(feature = "autonomi")]
pub use record_read::Verdict;
pub use setting::NetworkSetting;
pub use status::{NetworkState, NetworkStatus};
