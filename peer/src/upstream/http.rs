//! Upstreams that speak HTTP: other peers, AntTP, and the antd daemon.

use super::{FoundChunk, Upstream};
use crate::address::Address;
use crate::limits::{MAX_CHUNK_BYTES, POINTER_BYTES, UPSTREAM_CONNECT_TIMEOUT};
use crate::source::{SourceError, SourceFuture};
use crate::via::{VIA_HEADER, Via};
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use http_body_util::{BodyExt, Empty, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::header::USER_AGENT;
use hyper::{Request, StatusCode};
use hyper_rustls::builderstates::WantsSchemes;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::RootCertStore;
use serde::Deserialize;
use std::borrow::Cow;
use std::error::Error;
use std::io;
use std::sync::Arc;
use std::time::Duration;

const PRODUCT_NAME: &str = concat!(env!("CARGO_PKG_NAME"), "/", env!("CARGO_PKG_VERSION"));

/// How long an unused connection stays open. Most servers close theirs later.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(20);

/// The size allowed for the JSON around the base64 of a chunk.
const JSON_OVERHEAD_BYTES: usize = 64 * 1024;

/// The HTTP API that an upstream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpApi {
    /// The API of this peer.
    Peer,
    /// The API of AntTP: raw bytes at another path.
    AntTp,
    /// The API of the antd daemon: base64 in JSON.
    Antd,
}

/// The client for all HTTP upstreams of a peer. It does not follow redirects.
#[derive(Clone)]
pub struct HttpClient(Client<HttpsConnector<HttpConnector>, Empty<Bytes>>);

impl HttpClient {
    /// Trusts the CAs that the system trusts. Fails if they cannot be loaded.
    pub fn new() -> io::Result<Self> {
        let tls = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())?;
        Ok(Self::with(tls))
    }

    /// Trusts no CA, and needs none on this machine. For plain HTTP.
    pub fn without_authorities() -> Self {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring supports the protocol versions")
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth();
        Self::with(HttpsConnectorBuilder::new().with_tls_config(config))
    }

    fn with(tls: HttpsConnectorBuilder<WantsSchemes>) -> Self {
        let mut tcp = HttpConnector::new();
        tcp.set_connect_timeout(Some(UPSTREAM_CONNECT_TIMEOUT));
        tcp.set_nodelay(true);
        // The HTTPS connector checks the scheme.
        tcp.enforce_http(false);
        let tls = tls.https_or_http().enable_http1().wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_idle_timeout(POOL_IDLE_TIMEOUT)
            .pool_timer(TokioTimer::new())
            .build(tls);
        Self(client)
    }

    /// Sends a GET request. Returns the status of the response.
    pub async fn status(&self, url: &str) -> Result<StatusCode, Box<dyn Error + Send + Sync>> {
        let request = Request::get(url).header(USER_AGENT, PRODUCT_NAME);
        let response = self.0.request(request.body(Empty::new())?).await;
        Ok(response.map_err(|error| error_chain(&error))?.status())
    }
}

/// One HTTP server.
pub struct HttpUpstream {
    api: HttpApi,
    base: String,
    client: HttpClient,
}

impl HttpUpstream {
    /// `base` has no slash at its end.
    pub fn new(api: HttpApi, base: &str, client: HttpClient) -> Self {
        Self {
            api,
            base: base.to_owned(),
            client,
        }
    }

    /// The body of a successful response. `None` if the upstream has nothing at this path.
    async fn request(&self, path: String, via: &Via) -> Result<Option<Incoming>, SourceError> {
        let mut request =
            Request::get(format!("{}{path}", self.base)).header(USER_AGENT, PRODUCT_NAME);
        if self.api == HttpApi::Peer {
            request = request.header(VIA_HEADER, via.to_string());
        }
        let request = request.body(Empty::new()).map_err(failed)?;
        let response = self.client.0.request(request).await;
        let response = response.map_err(|error| SourceError::Unreachable(error_chain(&error)))?;
        match response.status() {
            StatusCode::OK => Ok(Some(response.into_body())),
            // An upstream whose operator denies the address works as well as one that does not have the chunk.
            StatusCode::NOT_FOUND
            | StatusCode::GONE
            | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS => Ok(None),
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS => {
                Err(SourceError::Busy)
            }
            status => Err(SourceError::Failed(format!(
                "the upstream answered {status}"
            ))),
        }
    }

    async fn find_chunk(
        &self,
        address: Address,
        via: &Via,
    ) -> Result<Option<FoundChunk>, SourceError> {
        let path = match self.api {
            HttpApi::Peer => format!("/chunk/{address}"),
            HttpApi::AntTp => format!("/anttp-0/binary/chunk/{address}"),
            HttpApi::Antd => format!("/v1/chunks/{address}"),
        };
        let Some(body) = self.request(path, via).await? else {
            return Ok(None);
        };
        let is_json = self.api == HttpApi::Antd;
        Ok(Some(FoundChunk::Arriving(Box::pin(async move {
            let max_bytes = MAX_CHUNK_BYTES as usize;
            match is_json {
                false => read(body, max_bytes).await,
                true => {
                    let max_bytes = max_bytes.div_ceil(3) * 4 + JSON_OVERHEAD_BYTES;
                    decode_antd_chunk(&read(body, max_bytes).await?)
                }
            }
        }))))
    }

    async fn find_pointer(
        &self,
        address: Address,
        via: &Via,
    ) -> Result<Option<Bytes>, SourceError> {
        match self.request(format!("/pointer/{address}"), via).await? {
            Some(body) => read(body, POINTER_BYTES).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Reads a body of at most `max_bytes`.
async fn read(body: Incoming, max_bytes: usize) -> Result<Bytes, SourceError> {
    let body = Limited::new(body, max_bytes).collect().await;
    let body = body.map_err(|error| match error.is::<LengthLimitError>() {
        true => SourceError::Failed(error_chain(&*error)),
        false => SourceError::Unreachable(error_chain(&*error)),
    })?;
    Ok(body.to_bytes())
}

impl Upstream for HttpUpstream {
    fn name(&self) -> &str {
        &self.base
    }

    fn is_peer(&self) -> bool {
        self.api == HttpApi::Peer
    }

    /// AntTP and antd look chunks up in the Autonomi network.
    fn has_slow_lookups(&self) -> bool {
        self.api != HttpApi::Peer
    }

    fn get<'a>(&'a self, address: Address, via: &'a Via) -> SourceFuture<'a, Option<FoundChunk>> {
        Box::pin(self.find_chunk(address, via))
    }

    fn pointer<'a>(&'a self, address: Address, via: &'a Via) -> SourceFuture<'a, Option<Bytes>> {
        match self.api {
            HttpApi::Peer => Box::pin(self.find_pointer(address, via)),
            HttpApi::AntTp | HttpApi::Antd => Box::pin(async { Ok(None) }),
        }
    }
}

/// A chunk in the JSON of the antd daemon.
#[derive(Deserialize)]
struct AntdChunk<'a> {
    #[serde(alias = "content", alias = "chunk", alias = "bytes", borrow)]
    data: Cow<'a, str>,
}

fn decode_antd_chunk(json: &[u8]) -> Result<Bytes, SourceError> {
    // The daemon may omit the padding.
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let encoded: AntdChunk<'_> = serde_json::from_slice(json).map_err(failed)?;
    let decoded = GeneralPurpose::new(&STANDARD, config).decode(&*encoded.data);
    Ok(decoded.map_err(failed)?.into())
}

fn failed(error: impl Error + 'static) -> SourceError {
    SourceError::Failed(error_chain(&error))
}

/// The error's text, followed by the texts of its sources.
fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_base64_with_and_without_padding_in_each_known_field() {
        for json in [
            r#"{"data":"aGk="}"#,
            r#"{"data":"aGk"}"#,
            r#"{"data":"aG\u006b="}"#,
            r#"{"address":"00","content":"aGk="}"#,
        ] {
            assert_eq!(
                decode_antd_chunk(json.as_bytes()).unwrap(),
                b"hi"[..],
                "{json}"
            );
        }
        for json in ["", "[]", "{}", r#"{"data":"*"}"#, r#"{"data":7}"#] {
            assert!(decode_antd_chunk(json.as_bytes()).is_err(), "{json}");
        }
    }
}
