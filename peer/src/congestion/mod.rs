//! The congestion control of WebTransport sessions. It limits the bytes in flight.

mod ceiling;
mod loss_meter;
mod path_estimator;
mod phase;
mod tolerant;

use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig};
use std::sync::Arc;
use tolerant::TolerantConfig;

/// The available congestion controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum CongestionControl {
    /// Slows down when the queue grows, and tolerates up to 3 % of packet loss
    #[default]
    Tolerant,
    /// Slows down after every packet loss, as most of the Internet does
    Cubic,
    /// The BBR implementation of the QUIC library, which calls it experimental
    Bbr,
}

impl CongestionControl {
    /// The factory that creates one controller per session.
    pub fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            Self::Tolerant => Arc::new(TolerantConfig),
            Self::Cubic => Arc::new(CubicConfig::default()),
            Self::Bbr => Arc::new(BbrConfig::default()),
        }
    }
}
