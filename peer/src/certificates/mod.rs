//! The TLS certificates of both transports. The peer creates and rotates them itself, or the operator provides them.

mod ca_signed;
mod certificate_pair;
mod resolver;
mod self_signed;

pub use ca_signed::CaSigned;
pub use resolver::CertificateResolver;
pub use self_signed::{MAX_LIFETIME, MIN_LIFETIME, SelfSigned};

use rustls::pki_types::CertificateDer;
use std::sync::Arc;
use time::OffsetDateTime;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The source of a peer's certificate.
pub enum Certificates {
    /// The peer creates the certificate. Clients pin its hash.
    SelfSigned(SelfSigned),
    /// A CA that clients trust signed the certificate.
    CaSigned(CaSigned),
}

/// The part of the certificates that clients need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateInfo {
    /// SHA-256 of the current and the next certificate, in hex. Empty if a CA signed the certificate.
    pub hashes: Vec<String>,
    /// When the current certificate expires.
    pub expires: OffsetDateTime,
}

impl Certificates {
    /// The values for `/-/info`, as of now.
    pub fn info(&self) -> CertificateInfo {
        match self {
            Self::SelfSigned(certificates) => certificates.info(),
            Self::CaSigned(certificate) => CertificateInfo {
                hashes: Vec::new(),
                expires: certificate.expires(),
            },
        }
    }

    /// The resolver that gives the TLS stacks the current certificate.
    pub fn resolver(&self) -> Arc<CertificateResolver> {
        match self {
            Self::SelfSigned(certificates) => certificates.resolver(),
            Self::CaSigned(certificate) => certificate.resolver(),
        }
    }

    /// Whether a CA signed the certificate. If so, HTTP is served over TLS.
    pub fn is_ca_signed(&self) -> bool {
        matches!(self, Self::CaSigned(_))
    }

    /// Checks and replaces certificates forever. Existing connections keep their certificate.
    pub async fn renew_forever(&self) {
        match self {
            Self::SelfSigned(certificates) => certificates.rotate_forever().await,
            Self::CaSigned(certificate) => certificate.reload_forever().await,
        }
    }

    /// Reads a CA-signed certificate again. Does nothing for self-signed certificates.
    pub fn reload(&self) {
        if let Self::CaSigned(certificate) = self {
            certificate.reload();
        }
    }
}

/// The period in which a certificate is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Validity {
    not_before: OffsetDateTime,
    not_after: OffsetDateTime,
}

impl Validity {
    fn from_certificate(certificate: &CertificateDer<'_>) -> Result<Self, String> {
        let (_, certificate) =
            X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
        let validity = certificate.validity();
        Ok(Self {
            not_before: validity.not_before.to_datetime(),
            not_after: validity.not_after.to_datetime(),
        })
    }
}
