//! The flags of `serve` for its certificates.

use super::InvalidSetting;
use crate::certificates::{
    Acme, AcmeConfig, AcmeDomain, CaSigned, Certificates, MAX_LIFETIME, MIN_LIFETIME, SelfSigned,
};
use crate::units::parse_duration;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use url::Url;

/// The flags for certificates.
#[derive(Clone, Debug, clap::Args)]
pub struct CertificateArgs {
    /// A certificate signed by a CA (PEM file, with its chain); turns HTTP into HTTPS
    #[arg(long, env = "ANTWAY_PEER_CERT", value_name = "FILE", requires = "key")]
    pub cert: Option<PathBuf>,

    /// The certificate's private key (PEM file)
    #[arg(long, env = "ANTWAY_PEER_KEY", value_name = "FILE", requires = "cert")]
    pub key: Option<PathBuf>,

    /// A name of this peer, for which it obtains a certificate from a CA and renews it; turns HTTP into HTTPS, which the
    /// CA must reach at port 443; you accept the CA's terms of service (repeatable, or with commas)
    #[arg(
        long,
        env = "ANTWAY_PEER_ACME_DOMAIN",
        value_name = "NAME",
        value_delimiter = ',',
        conflicts_with = "cert"
    )]
    pub acme_domain: Vec<AcmeDomain>,

    /// Where this CA may write about problems
    #[arg(
        long,
        env = "ANTWAY_PEER_ACME_EMAIL",
        value_name = "ADDRESS",
        requires = "acme_domain",
        value_parser = parse_email
    )]
    pub acme_email: Option<String>,

    /// The directory of this CA (HTTPS URL)
    #[arg(
        long,
        env = "ANTWAY_PEER_ACME_DIRECTORY",
        value_name = "URL",
        default_value = "https://acme-v02.api.letsencrypt.org/directory",
        value_parser = parse_directory
    )]
    pub acme_directory: Url,

    /// The folder of the certificates that the peer creates or obtains [default: `certificates` in the store folder]
    #[arg(
        long,
        env = "ANTWAY_PEER_CERTIFICATE_FOLDER",
        value_name = "FOLDER",
        conflicts_with = "cert"
    )]
    pub certificate_folder: Option<PathBuf>,

    /// How long a self-signed certificate is valid (time, at most 335h because of browsers)
    #[arg(long, env = "ANTWAY_PEER_CERTIFICATE_LIFETIME", value_name = "TIME", default_value = "335h", value_parser = parse_duration)]
    pub certificate_lifetime: Duration,
}

fn parse_email(text: &str) -> Result<String, &'static str> {
    // The address becomes a part of a `mailto:` URL, which may have several addresses and headers.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "@.+-_".contains(c);
    match text.split('@').collect::<Vec<_>>()[..] {
        [user, host] if !user.is_empty() && !host.is_empty() && text.chars().all(is_plain) => {
            Ok(text.to_owned())
        }
        _ => Err("not an address such as operator@peer.example"),
    }
}

fn parse_directory(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    match url.scheme() == "https" && url.username().is_empty() && url.password().is_none() {
        true => Ok(url),
        false => Err("not an https:// URL".to_owned()),
    }
}

impl CertificateArgs {
    /// Whether HTTP is served over TLS.
    pub fn has_https(&self) -> bool {
        self.cert.is_some() || !self.acme_domain.is_empty()
    }

    /// Loads the certificate, or creates missing self-signed ones. `store` is the folder of the store. Open the store
    /// first: its lock prevents two peers from creating certificates in the same folder.
    pub fn open(&self, store: &Path) -> Result<Certificates, InvalidSetting> {
        if let (Some(certificate), Some(key)) = (&self.cert, &self.key) {
            let ca_signed = CaSigned::load(certificate, key);
            let ca_signed =
                ca_signed.map_err(|error| InvalidSetting::new("--cert, --key", error))?;
            return Ok(Certificates::CaSigned(ca_signed));
        }
        if !(MIN_LIFETIME..=MAX_LIFETIME).contains(&self.certificate_lifetime) {
            return Err(InvalidSetting::new(
                "--certificate-lifetime",
                "is not between 6s and 335h",
            ));
        }
        let folder = match &self.certificate_folder {
            Some(folder) => folder.clone(),
            None => store.join("certificates"),
        };
        let invalid = |error: io::Error| {
            let problem = format!("{}: {error}", folder.display());
            InvalidSetting::new("--certificate-folder", problem)
        };
        if self.acme_domain.is_empty() {
            let self_signed = SelfSigned::open(&folder, self.certificate_lifetime);
            return Ok(Certificates::SelfSigned(self_signed.map_err(invalid)?));
        }
        let config = AcmeConfig {
            domains: self.acme_domain.clone(),
            email: self.acme_email.clone(),
            directory: self.acme_directory.clone(),
        };
        let acme = Acme::open(&folder, config);
        Ok(Certificates::Acme(acme.map_err(invalid)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_address_is_one_address_without_headers() {
        for text in ["operator@peer.example", "a.b+c@localhost"] {
            assert_eq!(parse_email(text).as_deref(), Ok(text));
        }
        for text in [
            "",
            "operator",
            "@peer.example",
            "a@b@c",
            "a@b,c@d",
            "a@b?subject=x",
            "a b@c",
            "a@b\n",
        ] {
            assert!(parse_email(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_directory_is_an_https_url() {
        assert!(parse_directory("https://acme.example/directory").is_ok());
        for text in [
            "http://acme.example",
            "acme.example",
            "https://a:b@acme.example",
        ] {
            assert!(parse_directory(text).is_err(), "{text}");
        }
    }
}
