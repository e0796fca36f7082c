//! The certificate that new connections get.

use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::{Arc, PoisonError, RwLock};

/// Holds the current certificate. You can replace it while servers use it.
#[derive(Debug)]
pub struct CertificateResolver(RwLock<Arc<CertifiedKey>>);

impl CertificateResolver {
    /// Starts with this certificate.
    pub fn new(current: Arc<CertifiedKey>) -> Self {
        Self(RwLock::new(current))
    }

    /// Gives this certificate to all later connections.
    pub fn replace(&self, current: Arc<CertifiedKey>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = current;
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
    fn resolve(&self, _hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&current))
    }
}
