//! Validates the flags and turns them into configurations, before the peer starts.

use super::flags::ServeArgs;
use crate::advertised_endpoint::AdvertisedEndpoint;
use crate::certificates::Certificates;
use crate::command_error::CommandError;
use crate::deny_list::{DenyList, DenyingSource};
use crate::http::{Web, WebFolder};
use crate::limits::{CONNECTION_SHARE_DIVISOR, Limits, MAX_TOKEN_BYTES, MIN_TOKEN_BYTES};
use crate::network::NetworkSetting;
use crate::origins::AllowedOrigins;
use crate::peer::PeerConfig;
use crate::proxies::TrustedProxies;
use crate::pull_through::{PullThrough, PullThroughConfig};
use crate::rate_limiter::RateLimits;
use crate::source::ChunkSource;
use crate::store::FolderStore;
use crate::upstream::Upstreams;
use crate::write_policy::{TokenHash, WritePolicy};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The longest duration that a flag accepts.
const MAX_DURATION: Duration = Duration::from_secs(24 * 3600);

/// A setting that can't be used.
#[derive(Debug)]
pub struct InvalidSetting {
    flag: &'static str,
    reason: String,
}

impl InvalidSetting {
    pub(super) fn new(flag: &'static str, reason: impl ToString) -> Self {
        Self {
            flag,
            reason: reason.to_string(),
        }
    }
}

impl fmt::Display for InvalidSetting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.flag, self.reason)
    }
}

impl std::error::Error for InvalidSetting {}

impl ServeArgs {
    /// Validates the flags together. Changes nothing on disk.
    pub fn peer_config(&self) -> Result<PeerConfig, InvalidSetting> {
        Ok(PeerConfig {
            http: self.http.clone(),
            metrics_http: self.access.metrics_http.clone(),
            trusted_proxies: TrustedProxies {
                networks: self.access.trusted_proxy.clone(),
                header: self.access.client_address_header,
                proxy_protocol: self.access.proxy_protocol,
            },
            web_transport: self.web_transport()?,
            advertised: self.advertised()?,
            congestion_control: self.congestion_control,
            limits: self.limits()?,
            origins: self.origins()?,
            write_policy: self.write_policy()?,
            web: self.web()?,
            announced_peers: self.announce_peer.clone(),
            deny_list: self.deny_list()?,
            payment_chain: self.allow_paid_uploads,
        })
    }

    /// Without a proxy, only programs of this machine reach a peer that listens on loopback only.
    fn origins(&self) -> Result<AllowedOrigins, InvalidSetting> {
        let listed = AllowedOrigins::new(self.allow_origin.iter().cloned());
        let web_transport = self.web_transport()?;
        let mut addresses = self.http.iter().chain(&web_transport);
        let is_on_loopback = addresses.all(|address| address.ip().is_loopback());
        Ok(
            match is_on_loopback && self.access.trusted_proxy.is_empty() {
                true => listed.on_loopback(),
                false if self.allow_origin.is_empty() => AllowedOrigins::Any,
                false => listed,
            },
        )
    }

    /// Refuses paid uploads without a network that they could go to.
    pub fn check_paid_uploads(&self) -> Result<(), InvalidSetting> {
        match (&self.allow_paid_uploads, &self.network) {
            (Some(_), NetworkSetting::None) => Err(InvalidSetting::new(
                "--allow-paid-uploads",
                "needs --network, the network that stores the records",
            )),
            _ => Ok(()),
        }
    }

    /// Opens the store. Fails if it is in use, or if a pin file cannot be read.
    pub fn open_store(&self) -> Result<FolderStore, CommandError> {
        self.storage.open(self.memory_cache)
    }

    fn deny_list(&self) -> Result<Arc<DenyList>, InvalidSetting> {
        let deny_list = DenyList::load(self.storage.deny_file.clone());
        let deny_list = deny_list.map_err(|error| InvalidSetting::new("--deny-file", error))?;
        Ok(Arc::new(deny_list))
    }

    /// The WebTransport listen addresses. All must have the same port, because `/-/info` announces one port.
    fn web_transport(&self) -> Result<Vec<SocketAddr>, InvalidSetting> {
        let invalid = |reason| Err(InvalidSetting::new("--webtransport", reason));
        let addresses: Vec<_> = self
            .webtransport
            .iter()
            .filter_map(|address| address.0)
            .collect();
        if !addresses.is_empty() && addresses.len() < self.webtransport.len() {
            return invalid("`none` cannot be combined with an address");
        }
        let mut ports = addresses.iter().map(SocketAddr::port);
        let first = ports.next();
        match ports.all(|port| port == 0 || Some(port) == first) {
            true => Ok(addresses),
            false => invalid("several addresses need the same port"),
        }
    }

    fn advertised(&self) -> Result<Option<AdvertisedEndpoint>, InvalidSetting> {
        let advertised = self.access.advertise_webtransport.clone();
        if advertised.is_some() && self.web_transport()?.is_empty() {
            let reason = "WebTransport is off";
            return Err(InvalidSetting::new("--advertise-webtransport", reason));
        }
        Ok(advertised)
    }

    fn write_policy(&self) -> Result<WritePolicy, InvalidSetting> {
        if let Some(token) = &self.write_token {
            return match token.len() {
                MIN_TOKEN_BYTES..=MAX_TOKEN_BYTES => {
                    Ok(WritePolicy::Token(TokenHash::new(token.as_bytes())))
                }
                0..MIN_TOKEN_BYTES => Err(InvalidSetting::new(
                    "--write-token",
                    format!(
                        "is shorter than {MIN_TOKEN_BYTES} bytes, so others can guess it; \
                         use a random text, such as the output of `openssl rand -hex 16`"
                    ),
                )),
                _ => Err(InvalidSetting::new(
                    "--write-token",
                    format!("is longer than {MAX_TOKEN_BYTES} bytes"),
                )),
            };
        }
        if !self.allow_open_writes {
            return Ok(WritePolicy::None);
        }
        let web_transport = self.web_transport()?;
        let mut addresses = self.http.iter().chain(&web_transport);
        match addresses.find(|address| !address.ip().is_loopback()) {
            None => Ok(WritePolicy::Open),
            Some(address) => Err(InvalidSetting::new(
                "--allow-open-writes",
                format!(
                    "everyone who reaches {address} could fill the store; \
                     listen on loopback (127.0.0.1 or [::1]) only, or use --write-token"
                ),
            )),
        }
    }

    /// Puts the upstreams and the network behind `local`, and starts to connect to the network. Returns `local` if
    /// there are none. `deny_list` also keeps chunks of upstreams out of `local`: an address may be denied during its
    /// lookup. Call it in a Tokio runtime.
    pub fn source(
        &self,
        local: Arc<dyn ChunkSource>,
        deny_list: &Arc<DenyList>,
    ) -> Result<Arc<dyn ChunkSource>, InvalidSetting> {
        let has_network = self.network != NetworkSetting::None;
        if self.upstream.is_empty() && !has_network {
            return Ok(local);
        }
        let invalid = |flag| move |error: String| InvalidSetting::new(flag, error);
        let upstreams = Upstreams::open(&self.upstream);
        let mut upstreams = upstreams.map_err(invalid("--upstream"))?;
        if has_network {
            let added = upstreams.add_network(&self.network);
            added.map_err(invalid("--network"))?;
        }
        match (self.upstream_write, upstreams.sinks.is_empty()) {
            (false, _) => upstreams.sinks.clear(),
            (true, false) => {}
            (true, true) => {
                let reason = "none of the upstreams is an object store";
                return Err(InvalidSetting::new("--upstream-write", reason));
            }
        }
        let limits = self.limits()?;
        let pull_through = PullThroughConfig {
            upstream_timeout: self.upstream_timeout,
            lookup_timeout: self.lookup_timeout,
            client_wait: self.client_wait,
            lookups: limits.lookups,
            abandoned_lookups: limits.abandoned_lookups(),
            arriving_chunks: limits.arriving_chunks(),
            not_found_lifetime: self.not_found_lifetime,
            pointer_lifetime: self.pointer_lifetime,
        };
        let local = Arc::new(DenyingSource::new(local, Arc::clone(deny_list)));
        Ok(Arc::new(PullThrough::new(local, upstreams, pull_through)))
    }

    fn limits(&self) -> Result<Limits, InvalidSetting> {
        let times = [
            ("--idle-timeout", self.idle_timeout),
            ("--request-timeout", self.request_timeout),
            ("--shutdown-grace", self.shutdown_grace),
            ("--upstream-timeout", self.upstream_timeout),
            ("--lookup-timeout", self.lookup_timeout),
            ("--client-wait", self.client_wait),
            ("--pointer-lifetime", self.pointer_lifetime),
            ("--not-found-lifetime", self.not_found_lifetime),
        ];
        if let Some((flag, _)) = times.into_iter().find(|(_, time)| *time > MAX_DURATION) {
            return Err(InvalidSetting::new(flag, "is longer than a day"));
        }
        let access = &self.access;
        // The operator's number, or a share of all connections.
        let share = |all: u32, number: Option<u32>| match number {
            Some(number) => number as usize,
            None => (all as usize / CONNECTION_SHARE_DIVISOR).max(1),
        };
        let unless_zero = |number: u32| (number > 0).then_some(number);
        Ok(Limits {
            sessions: access.max_sessions as usize,
            sessions_per_network: share(access.max_sessions, access.max_sessions_per_network),
            streams_per_session: access.max_streams_per_session,
            http_connections: access.max_http_connections as usize,
            http_connections_per_network: share(
                access.max_http_connections,
                access.max_http_connections_per_network,
            ),
            connections_per_second: unless_zero(access.max_connections_per_second),
            total_connections_per_second: unless_zero(access.max_total_connections_per_second),
            limit_loopback: access.limit_loopback,
            chunks_in_memory: self.max_chunks_in_memory as usize,
            lookups: self.max_lookups as usize,
            rate_limits: RateLimits {
                requests_per_second: unless_zero(access.max_requests_per_second),
                bytes_per_second: Some(access.max_bytes_per_second).filter(|&bytes| bytes > 0),
            },
            idle_timeout: self.idle_timeout,
            request_timeout: self.request_timeout,
            shutdown_grace: self.shutdown_grace,
        })
    }

    fn web(&self) -> Result<Option<Web>, InvalidSetting> {
        let Some(folder) = &self.web else {
            return Ok(None);
        };
        let folder =
            WebFolder::open(folder).map_err(|error| InvalidSetting::new("--web", error))?;
        if let Some(config) = &self.web_config {
            std::fs::read(config).map_err(|error| {
                InvalidSetting::new("--web-config", format!("{}: {error}", config.display()))
            })?;
        }
        Ok(Some(Web {
            folder,
            config: self.web_config.clone(),
            redirects_loopback6: !self.certificates.has_https()
                && self.http.iter().all(|address| address.ip().is_loopback()),
        }))
    }

    /// Loads the certificate, or creates missing self-signed ones. Open the store first: its lock prevents two peers from
    /// creating certificates in the same folder.
    pub fn certificates(&self) -> Result<Certificates, InvalidSetting> {
        self.certificates.open(&self.storage.store)
    }
}
