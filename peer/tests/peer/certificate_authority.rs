//! A certificate authority for tests.

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::CertificateDer;
use rustls::{ClientConfig, RootCertStore};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// An authority that signs certificates for `localhost`.
pub struct CertificateAuthority(CertifiedIssuer<'static, KeyPair>);

impl CertificateAuthority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// Writes `cert.pem` and `key.pem`, and the authority's own certificate as `root.pem`. Returns the certificate.
    pub fn issue(&self, folder: &Path) -> CertificateDer<'static> {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
        fs::write(folder.join("cert.pem"), certificate.pem()).unwrap();
        fs::write(folder.join("root.pem"), self.0.pem()).unwrap();
        certificate.der().clone()
    }

    /// The settings of a client that trusts this authority.
    pub fn client_tls(&self, protocol: &[u8]) -> ClientConfig {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut tls = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        tls.alpn_protocols = vec![protocol.to_vec()];
        tls
    }
}

/// The flags of a peer that uses the certificate in this folder.
pub fn flags(folder: &TempDir) -> [String; 2] {
    ["cert", "key"].map(|name| {
        format!(
            "--{name}={}",
            folder.path().join(format!("{name}.pem")).display()
        )
    })
}
