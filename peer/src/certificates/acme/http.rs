//! HTTPS to the authority.

use bytes::Bytes;
use http_body_util::Limited;
use hyper::Request;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use instant_acme::{BodyWrapper, BytesResponse, Error, HttpClient};
use std::io;
use std::pin::Pin;

/// The longest answer of an authority, in bytes.
const MAX_ANSWER_BYTES: usize = 1 << 20;

/// The client for the authority's API.
pub struct AuthorityClient(Client<HttpsConnector<HttpConnector>, BodyWrapper<Bytes>>);

impl AuthorityClient {
    /// Trusts the CAs that the system trusts, or those in the file that `SSL_CERT_FILE` names. Fails if they cannot be
    /// loaded.
    pub fn new() -> io::Result<Self> {
        let tls = HttpsConnectorBuilder::new()
            .with_provider_and_native_roots(rustls::crypto::ring::default_provider())?
            .https_only()
            .enable_http1()
            .build();
        Ok(Self(Client::builder(TokioExecutor::new()).build(tls)))
    }
}

impl HttpClient for AuthorityClient {
    fn request(
        &self,
        request: Request<BodyWrapper<Bytes>>,
    ) -> Pin<Box<dyn Future<Output = Result<BytesResponse, Error>> + Send>> {
        let requesting = self.0.request(request);
        Box::pin(async move {
            let response = requesting.await;
            let response = response.map_err(|error| Error::Other(error.into()))?;
            let response = response.map(|body| Limited::new(body, MAX_ANSWER_BYTES));
            Ok(BytesResponse::from(response))
        })
    }
}
