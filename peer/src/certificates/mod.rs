//! The TLS certificates of both transports. The peer creates and rotates them itself, or the operator provides them.

mod authority;
mod resolver;
mod self_signed;

pub use authority::Authority;
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
    Authority(Authority),
}

/// The part of the certificates that clients need to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// SHA-256 of the current and the next certificate, in hex. Empty if a CA signed the certificate.
    pub hashes: Vec<String>,
    /// When the current certificate expires.
    pub expires: OffsetDateTime,
}

impl Certificates {
    /// The values for `/-/info`, as of now.
    pub fn told(&self) -> Told {
        match self {
            Self::SelfSigned(pair) => pair.told(),
            Self::Authority(authority) => Told {
                hashes: Vec::new(),
                expires: authority.expires(),
            },
        }
    }

    /// The resolver that gives the TLS stacks the current certificate.
    pub fn resolver(&self) -> Arc<CertificateResolver> {
        match self {
            Self::SelfSigned(pair) => pair.resolver(),
            Self::Authority(authority) => authority.resolver(),
        }
    }

    /// Whether a CA signed the certificate. If so, HTTP is served over TLS.
    pub fn is_from_authority(&self) -> bool {
        matches!(self, Self::Authority(_))
    }

    /// Checks and replaces certificates forever. Existing connections keep their certificate.
    pub async fn keep_current(&self) {
        match self {
            Self::SelfSigned(pair) => pair.rotate_forever().await,
            Self::Authority(authority) => authority.reload_forever().await,
        }
    }

    /// Reads a CA-signed certificate again. Does nothing for self-signed certificates.
    pub fn reload(&self) {
        if let Self::Authority(authority) = self {
            authority.reload();
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
    fn of(certificate: &CertificateDer<'_>) -> Result<Self, String> {
        let (_, certificate) =
            X509Certificate::from_der(certificate).map_err(|error| error.to_string())?;
        let validity = certificate.validity();
        Ok(Self {
            not_before: validity.not_before.to_datetime(),
            not_after: validity.not_after.to_datetime(),
        })
    }
}
