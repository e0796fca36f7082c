//! How fast the peer sends: what decides how many bytes of a session may be on their way.

mod path;
mod tolerant;

use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig};
use std::sync::Arc;
use tolerant::TolerantConfig;

/// The choices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CongestionControl {
    /// Takes a queue that grows for congestion, and losses only when they are many
    #[default]
    Tolerant,
    /// Takes every loss for congestion, as most of the Internet does
    Cubic,
    /// BBR as the QUIC library has it, which calls it experimental
    Bbr,
}

impl CongestionControl {
    /// What makes one controller for each session.
    pub fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            Self::Tolerant => Arc::new(TolerantConfig),
            Self::Cubic => Arc::new(CubicConfig::default()),
            Self::Bbr => Arc::new(BbrConfig::default()),
        }
    }
}
