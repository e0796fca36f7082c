//! A peer of Antway: it serves content-addressed chunks to browsers over WebTransport and HTTP.
//!
//! A request comes in by a face ([`webtransport`], [`http`]), is understood by [`protocol`] or the HTTP
//! routes, and answered by [`service`] from a [`source`]: the folder [`store`], and what [`pull_through`] fetches from an
//! [`upstream`]. What a peer sends is
//! checked by the client against the address it asked for, so a peer can withhold, never forge.

pub mod address;
pub mod asker;
pub mod certificates;
pub mod config;
pub mod congestion;
pub mod data_map;
mod durable;
pub mod http;
mod info;
pub mod limits;
pub mod logging;
pub mod memory;
pub mod metrics;
pub mod origins;
pub mod peer;
mod pointer;
pub mod protocol;
pub mod pull_through;
pub mod serve;
pub mod service;
pub mod shutdown;
pub mod source;
pub mod store;
pub mod units;
pub mod upstream;
pub mod via;
pub mod webtransport;
pub mod writes;
