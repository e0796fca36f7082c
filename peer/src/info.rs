//! The JSON of `/-/info`, as in the protocol specification.

use crate::advertised_endpoint::AdvertisedEndpoint;
use crate::certificates::CertificateInfo;
use crate::limits::{Limits, MAX_ADDRESSES_PER_REQUEST, MAX_CHUNK_BYTES};
use crate::network::NetworkStatus;
use crate::protocol;
use crate::source::SourceStats;
use serde::Serialize;
use time::format_description::well_known::Rfc3339;

/// The JSON of `/-/info`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Info<'a> {
    name: &'static str,
    version: &'static str,
    protocol: u32,
    protocols: [u32; 1],
    operations: [u8; protocol::OPERATIONS.len()],
    web_transport: Option<WebTransportInfo>,
    limits: LimitsInfo,
    write: &'static str,
    store: StoreInfo,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    peers: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<NetworkStatus>,
}

/// How to connect over WebTransport.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebTransportInfo {
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    port: u16,
    path: &'static str,
    certificate_hashes: Vec<String>,
    certificate_expires: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LimitsInfo {
    max_chunk_bytes: u32,
    max_addresses_per_request: u8,
    max_streams_per_session: u32,
    idle_timeout_ms: u128,
}

#[derive(Serialize)]
struct StoreInfo {
    chunks: u64,
    bytes: u64,
}

impl<'a> Info<'a> {
    /// `peers` are the URLs of announced peers. `write` is `open`, `token` or `none`.
    pub fn new(
        web_transport: Option<WebTransportInfo>,
        limits: &Limits,
        peers: &'a [String],
        write: &'static str,
        stats: SourceStats,
        network: Option<NetworkStatus>,
    ) -> Self {
        Self {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
            protocol: protocol::VERSION,
            protocols: [protocol::VERSION],
            operations: protocol::OPERATIONS,
            web_transport,
            limits: LimitsInfo {
                max_chunk_bytes: MAX_CHUNK_BYTES,
                max_addresses_per_request: MAX_ADDRESSES_PER_REQUEST,
                max_streams_per_session: limits.streams_per_session,
                idle_timeout_ms: limits.idle_timeout.as_millis(),
            },
            write,
            store: StoreInfo {
                chunks: stats.chunks,
                bytes: stats.bytes,
            },
            peers,
            network,
        }
    }

    /// The JSON text.
    pub fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("plain numbers and texts")
    }
}

impl WebTransportInfo {
    /// `endpoint` is the one that clients reach. `None` before there is a certificate.
    pub fn new(endpoint: &AdvertisedEndpoint, certificates: &CertificateInfo) -> Option<Self> {
        let expires = certificates.expires?;
        Some(Self {
            host: endpoint.host.clone(),
            port: endpoint.port,
            path: protocol::PATH,
            certificate_hashes: certificates.hashes.clone(),
            certificate_expires: expires
                .format(&Rfc3339)
                .expect("certificates expire in four-digit years"),
        })
    }
}
