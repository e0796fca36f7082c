//! The flags of `serve` for the access of clients: limits, proxies and the listener for metrics.

use crate::advertised_endpoint::AdvertisedEndpoint;
use crate::proxies::{ClientAddressHeader, ProxyNetwork};
use crate::units::parse_bytes;
use std::net::SocketAddr;

/// The flags for the access of clients.
#[derive(Clone, Debug, clap::Args)]
pub struct AccessArgs {
    /// The maximum number of concurrent WebTransport sessions
    #[arg(long, env = "ANTWAY_PEER_MAX_SESSIONS", value_name = "NUMBER", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_sessions: u32,

    /// The maximum number of concurrent sessions of one client network: an IPv4 address, or an IPv6 /64; a /48 gets
    /// twice as many [default: a quarter of --max-sessions]
    #[arg(long, env = "ANTWAY_PEER_MAX_SESSIONS_PER_NETWORK", value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_sessions_per_network: Option<u32>,

    /// The maximum number of concurrent requests in one session
    #[arg(long, env = "ANTWAY_PEER_MAX_STREAMS_PER_SESSION", value_name = "NUMBER", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub max_streams_per_session: u32,

    /// The maximum number of concurrent HTTP connections
    #[arg(long, env = "ANTWAY_PEER_MAX_HTTP_CONNECTIONS", value_name = "NUMBER", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_http_connections: u32,

    /// The maximum number of concurrent HTTP connections of one client network, and of its requests over HTTP/2 or if a
    /// proxy names it in a header; a /48 gets twice as many [default: a quarter of --max-http-connections]
    #[arg(long, env = "ANTWAY_PEER_MAX_HTTP_CONNECTIONS_PER_NETWORK", value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_http_connections_per_network: Option<u32>,

    /// How many sessions and HTTP connections one client network may open per second; 0 for no limit
    #[arg(
        long,
        env = "ANTWAY_PEER_MAX_CONNECTIONS_PER_SECOND",
        value_name = "NUMBER",
        default_value_t = 50
    )]
    pub max_connections_per_second: u32,

    /// How many sessions and HTTP connections all client networks together may open per second; 0 for no limit
    #[arg(
        long,
        env = "ANTWAY_PEER_MAX_TOTAL_CONNECTIONS_PER_SECOND",
        value_name = "NUMBER",
        default_value_t = 500
    )]
    pub max_total_connections_per_second: u32,

    /// The maximum number of requests per second from one client network, where each chunk counts; 0 for no limit
    #[arg(
        long,
        env = "ANTWAY_PEER_MAX_REQUESTS_PER_SECOND",
        value_name = "NUMBER",
        default_value_t = 1000
    )]
    pub max_requests_per_second: u32,

    /// The maximum number of chunk bytes per second to one client network (such as 10MB); 0 for no limit
    #[arg(long, env = "ANTWAY_PEER_MAX_BYTES_PER_SECOND", value_name = "SIZE", default_value = "64MiB", value_parser = parse_bytes)]
    pub max_bytes_per_second: u64,

    /// Apply the limits of client networks to loopback addresses, too
    #[arg(long, env = "ANTWAY_PEER_LIMIT_LOOPBACK")]
    pub limit_loopback: bool,

    /// A reverse proxy that tells the addresses of its clients (address or network such as 10.0.0.0/8; repeatable, or
    /// with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_TRUSTED_PROXY",
        value_name = "NETWORK",
        value_delimiter = ','
    )]
    pub trusted_proxy: Vec<ProxyNetwork>,

    /// The header in which the trusted proxies tell the client's address: `x-forwarded-for` or `forwarded`
    #[arg(
        long,
        env = "ANTWAY_PEER_CLIENT_ADDRESS_HEADER",
        value_name = "NAME",
        default_value = "x-forwarded-for"
    )]
    pub client_address_header: ClientAddressHeader,

    /// Every HTTP connection of a trusted proxy begins with a header of the PROXY protocol, version 2
    #[arg(long, env = "ANTWAY_PEER_PROXY_PROTOCOL", requires = "trusted_proxy")]
    pub proxy_protocol: bool,

    /// Where clients reach WebTransport, if not at the host of HTTP and the listen port (host:port or :port)
    #[arg(
        long,
        env = "ANTWAY_PEER_ADVERTISE_WEBTRANSPORT",
        value_name = "ENDPOINT"
    )]
    pub advertise_webtransport: Option<AdvertisedEndpoint>,

    /// Where to serve /metrics, instead of on the public address (address:port; repeatable, or with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_METRICS_HTTP",
        value_name = "ADDRESS",
        value_delimiter = ','
    )]
    pub metrics_http: Vec<SocketAddr>,
}
