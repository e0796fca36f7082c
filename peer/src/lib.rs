//! A peer of Antway: it serves content-addressed chunks to browsers over WebTransport and HTTP.
//!
//! A request arrives over a transport ([`webtransport`] or [`http`]). [`protocol`] or the HTTP routes parse it.
//! [`service`] answers it from a [`source`]: the folder [`store`], and chunks that [`pull_through`] fetches from an
//! [`upstream`]. The client verifies each chunk against its address, so a peer can withhold chunks but cannot forge
//! them.

pub mod access;
pub mod address;
mod address_list;
pub mod advertised_endpoint;
pub mod certificates;
pub mod client;
mod clock;
pub mod command_error;
pub mod commands;
mod complete_on_drop;
pub mod config;
pub mod congestion;
pub mod connection_slots;
pub mod data_map;
pub mod deny_list;
mod durable_file;
mod frame_budget;
pub mod http;
mod info;
pub mod limits;
pub mod logging;
pub mod memory;
pub mod metrics;
pub mod network;
pub mod network_quotas;
pub mod network_usage;
mod open_files;
pub mod origins;
pub mod paid_uploads;
mod parallel;
pub mod peer;
mod pointer;
mod pool;
pub mod protocol;
pub mod proxies;
pub mod pull_through;
pub mod rate_limiter;
pub mod readers;
mod readiness;
mod request_slots;
pub mod serve;
pub mod service;
pub mod shutdown;
pub mod source;
mod stdin;
pub mod store;
pub mod units;
pub mod upstream;
pub mod via;
pub mod webtransport;
pub mod write_policy;
