//! The certificate that new connections get.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The protocol of a certificate authority that checks a domain (RFC 8737).
pub const ACME_ALPN: &[u8] = b"acme-tls/1";

/// Holds the current certificate. You can replace it while servers use it.
#[derive(Debug, Default)]
pub struct CertificateResolver {
    /// `None` before there is a first certificate. Then handshakes fail.
    current: RwLock<Option<Arc<CertifiedKey>>>,
    /// The certificates for an authority that checks these domains.
    challenges: RwLock<HashMap<String, Arc<CertifiedKey>>>,
}

impl CertificateResolver {
    /// Starts with this certificate.
    pub fn new(current: Arc<CertifiedKey>) -> Self {
        let resolver = Self::default();
        resolver.replace(current);
        resolver
    }

    /// Gives this certificate to all later connections.
    pub fn replace(&self, current: Arc<CertifiedKey>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(current);
    }

    /// Shows this certificate to an authority that checks the domain.
    pub fn add_challenge(&self, domain: &str, certificate: Arc<CertifiedKey>) {
        let challenges = self.challenges.write();
        let mut challenges = challenges.unwrap_or_else(PoisonError::into_inner);
        challenges.insert(domain.to_owned(), certificate);
    }

    /// Ends all checks of domains.
    pub fn clear_challenges(&self) {
        let challenges = self.challenges.write();
        challenges.unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// The TLS settings of a server that offers `protocols` (ALPN) and this certificate.
    pub fn tls(self: Arc<Self>, protocols: &[&[u8]]) -> ServerConfig {
        let mut tls = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("ring supports the protocol versions")
            .with_no_client_auth()
            .with_cert_resolver(self);
        tls.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        // Without session resumption, every new connection uses the current certificate.
        tls.send_tls13_tickets = 0;
        tls
    }
}

impl ResolvesServerCert for CertificateResolver {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut protocols = hello.alpn().into_iter().flatten();
        if protocols.next() == Some(ACME_ALPN) && protocols.next().is_none() {
            let challenges = self.challenges.read();
            let challenges = challenges.unwrap_or_else(PoisonError::into_inner);
            return challenges.get(hello.server_name()?).map(Arc::clone);
        }
        let current = self.current.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().map(Arc::clone)
    }
}
