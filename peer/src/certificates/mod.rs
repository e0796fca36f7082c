//! The certificates that both faces show: made and rotated by the peer itself, or given by the operator.

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

/// Where a peer's certificate comes from.
pub enum Certificates {
    /// Made by the peer, pinned by clients.
    SelfSigned(SelfSigned),
    /// Signed by an authority that clients trust.
    Authority(Authority),
}

/// What clients are told about the certificates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// SHA-256 of the current and the next certificate, in hex. Empty where an authority signed it.
    pub hashes: Vec<String>,
    /// When the current one expires.
    pub expires: OffsetDateTime,
}

impl Certificates {
    /// What `/-/info` says now.
    pub fn told(&self) -> Told {
        match self {
            Self::SelfSigned(pair) => pair.told(),
            Self::Authority(authority) => Told {
                hashes: Vec::new(),
                expires: authority.expires(),
            },
        }
    }

    /// What the TLS stacks take the current certificate from.
    pub fn resolver(&self) -> Arc<CertificateResolver> {
        match self {
            Self::SelfSigned(pair) => pair.resolver(),
            Self::Authority(authority) => authority.resolver(),
        }
    }

    /// Whether the HTTP face is HTTPS.
    pub fn is_from_authority(&self) -> bool {
        matches!(self, Self::Authority(_))
    }

    /// Looks whether a certificate has to be replaced, forever. Live connections are not touched.
    pub async fn keep_current(&self) {
        match self {
            Self::SelfSigned(pair) => pair.rotate_forever().await,
            Self::Authority(authority) => authority.reload_forever().await,
        }
    }

    /// Reads an authority's certificate again, if there is one.
    pub fn reload(&self) {
        if let Self::Authority(authority) = self {
            authority.reload();
        }
    }
}

/// When a certificate is valid.
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
