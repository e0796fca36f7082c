//! The TLS certificates of both transports. The peer creates and rotates them itself, obtains them from an authority, or
//! reads the operator's files.

mod acme;
mod ca_signed;
mod certificate_pair;
mod resolver;
mod self_signed;

pub use acme::{Acme, AcmeConfig, AcmeDomain};
pub use ca_signed::CaSigned;
pub use resolver::{ACME_ALPN, CertificateResolver};
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
    /// The peer obtains the certificate from a CA that clients trust.
    Acme(Acme),
}

/// The part of the certificates that clients need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateInfo {
    /// SHA-256 of the current and the next certificate, in hex. Empty if a CA signed the certificate.
    pub hashes: Vec<String>,
    /// When the current certificate expires. `None` before there is a first one.
    pub expires: Option<OffsetDateTime>,
}

impl Certificates {
    /// The values for `/-/info`, as of now.
    pub fn info(&self) -> CertificateInfo {
        match self {
            Self::SelfSigned(certificates) => certificates.info(),
            Self::CaSigned(certificate) => CertificateInfo {
                hashes: Vec::new(),
                expires: Some(certificate.expires()),
            },
            Self::Acme(certificate) => CertificateInfo {
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
            Self::Acme(certificate) => certificate.resolver(),
        }
    }

    /// The protocols (ALPN) of HTTP over TLS, in addition to HTTP itself. `None` if clients do not trust the certificate
    /// without its hash. Then HTTP is served without TLS.
    pub fn https_protocols(&self) -> Option<&'static [&'static [u8]]> {
        match self {
            Self::SelfSigned(_) => None,
            Self::CaSigned(_) => Some(&[]),
            Self::Acme(_) => Some(&[ACME_ALPN]),
        }
    }

    /// Whether there is a certificate already.
    pub fn exist(&self) -> bool {
        self.info().expires.is_some()
    }

    /// Checks and replaces certificates forever. Existing connections keep their certificate.
    pub async fn renew_forever(&self) {
        match self {
            Self::SelfSigned(certificates) => certificates.rotate_forever().await,
            Self::CaSigned(certificate) => certificate.reload_forever().await,
            Self::Acme(certificate) => certificate.renew_forever().await,
        }
    }

    /// Reads the operator's certificate again, or tries at once to obtain one that is due. Does nothing for self-signed
    /// certificates.
    pub fn reload(&self) {
        match self {
            Self::SelfSigned(_) => {}
            Self::CaSigned(certificate) => certificate.reload(),
            Self::Acme(certificate) => certificate.retry_now(),
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
