//! The flags of `serve`. Each flag is also an environment variable.

use super::StoreArgs;
use super::access_flags::AccessArgs;
use super::certificate_flags::CertificateArgs;
use crate::congestion::CongestionControl;
use crate::logging::LogArgs;
use crate::network::NetworkSetting;
use crate::origins::{AllowedOrigin, is_loopback_name};
use crate::paid_uploads::PaymentChain;
use crate::units::{parse_bytes, parse_duration};
use crate::upstream::UpstreamUrl;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use url::Url;

/// The flags of `serve`.
#[derive(Clone, Debug, clap::Args)]
pub struct ServeArgs {
    /// Where HTTP listens (address:port; port 0 selects a free port; repeatable, or with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_HTTP",
        value_name = "ADDRESS",
        value_delimiter = ',',
        default_value = "127.0.0.1:8080"
    )]
    pub http: Vec<SocketAddr>,

    /// Where WebTransport listens (UDP address:port; port 0 selects a free port; repeatable, or with commas), or
    /// `none`
    #[arg(
        long,
        env = "ANTWAY_PEER_WEBTRANSPORT",
        value_name = "ADDRESS",
        value_delimiter = ',',
        default_value = "127.0.0.1:4433"
    )]
    pub webtransport: Vec<WebTransportAddress>,

    /// The store.
    #[command(flatten)]
    pub storage: StoreArgs,

    /// The size of the memory cache for the chunks that are read most (such as 1GiB); 0 turns it off
    #[arg(long, env = "ANTWAY_PEER_MEMORY_CACHE", value_name = "SIZE", default_value = "128MiB", value_parser = parse_bytes)]
    pub memory_cache: u64,

    /// The congestion control of WebTransport sessions
    #[arg(
        long,
        env = "ANTWAY_PEER_CONGESTION_CONTROL",
        value_name = "NAME",
        default_value = "tolerant"
    )]
    pub congestion_control: CongestionControl,

    /// Where to fetch chunks that the store does not have, in this order (repeatable, or with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_UPSTREAM",
        value_name = "URL",
        value_delimiter = ','
    )]
    pub upstream: Vec<UpstreamUrl>,

    /// The Autonomi network as the last upstream: `mainnet`, a file with the addresses of bootstrap nodes, or `none`
    #[arg(
        long,
        env = "ANTWAY_PEER_NETWORK",
        value_name = "NETWORK",
        default_value = "none"
    )]
    pub network: NetworkSetting,

    /// Bring records to the Autonomi network that clients have paid for on this chain: `arbitrum-one`, or
    /// `ID,TOKEN,VAULT` with the addresses of the contracts
    #[arg(long, env = "ANTWAY_PEER_ALLOW_PAID_UPLOADS", value_name = "CHAIN")]
    pub allow_paid_uploads: Option<PaymentChain>,

    /// Also write the chunks of clients to the upstreams that are object stores
    #[arg(long, env = "ANTWAY_PEER_UPSTREAM_WRITE", requires = "upstream")]
    pub upstream_write: bool,

    /// How long one upstream may take to answer, and then to send the bytes (time)
    #[arg(long, env = "ANTWAY_PEER_UPSTREAM_TIMEOUT", value_name = "TIME", default_value = "8s", value_parser = parse_duration)]
    pub upstream_timeout: Duration,

    /// The same for upstreams that look records up in the Autonomi network (time)
    #[arg(long, env = "ANTWAY_PEER_LOOKUP_TIMEOUT", value_name = "TIME", default_value = "60s", value_parser = parse_duration)]
    pub lookup_timeout: Duration,

    /// How long a client waits for upstreams until it gets `busy`; the lookup continues (time)
    #[arg(long, env = "ANTWAY_PEER_CLIENT_WAIT", value_name = "TIME", default_value = "8s", value_parser = parse_duration)]
    pub client_wait: Duration,

    /// The maximum number of concurrent lookups at upstreams; one client address gets half of them
    #[arg(long, env = "ANTWAY_PEER_MAX_LOOKUPS", value_name = "NUMBER", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_lookups: u32,

    /// How long to cache that no upstream has a chunk (time)
    #[arg(long, env = "ANTWAY_PEER_NOT_FOUND_LIFETIME", value_name = "TIME", default_value = "10s", value_parser = parse_duration)]
    pub not_found_lifetime: Duration,

    /// How long to use the result of a pointer lookup (time)
    #[arg(long, env = "ANTWAY_PEER_POINTER_LIFETIME", value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub pointer_lifetime: Duration,

    /// Let clients with this token write; prefer the environment variable, which other users can't see
    #[arg(
        long,
        env = "ANTWAY_PEER_WRITE_TOKEN",
        value_name = "TOKEN",
        hide_env_values = true
    )]
    pub write_token: Option<String>,

    /// Let every client on this machine write; needs loopback listen addresses
    #[arg(
        long,
        env = "ANTWAY_PEER_ALLOW_OPEN_WRITES",
        conflicts_with = "write_token"
    )]
    pub allow_open_writes: bool,

    /// The pages that may use this peer: `*`, or origins such as https://example.org (repeatable, or with commas).
    /// Default: `*`, or the pages of this machine if the peer listens on loopback only and has no --trusted-proxy
    #[arg(
        long,
        env = "ANTWAY_PEER_ALLOW_ORIGIN",
        value_name = "ORIGIN",
        value_delimiter = ','
    )]
    pub allow_origin: Vec<AllowedOrigin>,

    #[command(flatten)]
    pub certificates: CertificateArgs,

    /// Also serve the built web app in this folder, on the HTTP address
    #[arg(long, env = "ANTWAY_PEER_WEB", value_name = "FOLDER")]
    pub web: Option<PathBuf>,

    /// Serve this file as the web app's /antway.json
    #[arg(
        long,
        env = "ANTWAY_PEER_WEB_CONFIG",
        value_name = "FILE",
        requires = "web"
    )]
    pub web_config: Option<PathBuf>,

    #[command(flatten)]
    pub access: AccessArgs,

    /// The memory for chunks and for answers with hosted files, in chunks of 4 MiB, over all requests
    #[arg(long, env = "ANTWAY_PEER_MAX_CHUNKS_IN_MEMORY", value_name = "NUMBER", default_value_t = 128, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub max_chunks_in_memory: u32,

    /// Another peer to announce to clients (URL; repeatable, or with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_ANNOUNCE_PEER",
        value_name = "URL",
        value_delimiter = ',',
        value_parser = parse_peer_url
    )]
    pub announce_peer: Vec<String>,

    /// How long an idle connection stays open, and how long a client may stop reading (time)
    #[arg(long, env = "ANTWAY_PEER_IDLE_TIMEOUT", value_name = "TIME", default_value = "30s", value_parser = parse_duration)]
    pub idle_timeout: Duration,

    /// How long a request may take to arrive, and how long the store may take to answer it (time)
    #[arg(long, env = "ANTWAY_PEER_REQUEST_TIMEOUT", value_name = "TIME", default_value = "20s", value_parser = parse_duration)]
    pub request_timeout: Duration,

    /// How long running responses may continue after SIGINT or SIGTERM (time)
    #[arg(long, env = "ANTWAY_PEER_SHUTDOWN_GRACE", value_name = "TIME", default_value = "5s", value_parser = parse_duration)]
    pub shutdown_grace: Duration,

    /// Also stop when stdin ends; the process that started this one holds its other end, and may be killed
    #[arg(long, env = "ANTWAY_PEER_EXIT_WITH_STDIN")]
    pub exit_with_stdin: bool,

    #[command(flatten)]
    pub log: LogArgs,
}

/// Reads the URL of a peer in the form that clients accept. Certificate hashes to pin follow after `#`. Plain HTTP is
/// for loopback only.
fn parse_peer_url(text: &str) -> Result<String, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    let is_loopback = url.host_str().is_some_and(is_loopback_name);
    let is_peer = match url.scheme() {
        "https" => true,
        "http" => is_loopback,
        _ => false,
    };
    let has_no_credentials_or_query =
        url.username().is_empty() && url.password().is_none() && url.query().is_none();
    match is_peer && has_no_credentials_or_query && url.path() == "/" {
        true => Ok(text.trim_end_matches('/').to_owned()),
        false => Err("not the URL of a peer, such as https://peer.example:4433".to_owned()),
    }
}

/// The value of `--webtransport`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebTransportAddress(pub Option<SocketAddr>);

impl FromStr for WebTransportAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "none" {
            return Ok(Self(None));
        }
        let address = text
            .parse()
            .map_err(|_| "not an address:port, nor `none`")?;
        Ok(Self(Some(address)))
    }
}
