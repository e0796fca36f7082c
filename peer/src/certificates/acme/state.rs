//! The files of the account and of the certificate. Each authority has a folder of its own, so that nothing of a test
//! authority is used with a real one.

use super::{AcmeDomain, Issued};
use crate::certificates::Validity;
use crate::durable_file::{FileAccess, write_durably};
use instant_acme::AccountCredentials;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer, X509Certificate};

/// The folder of one authority.
#[derive(Clone)]
pub struct StateFolder(PathBuf);

impl StateFolder {
    /// Creates the folder if it does not exist. Only its owner may read it.
    pub fn open(folder: &Path, directory: &Url) -> io::Result<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '.';
        let name: String = directory
            .as_str()
            .trim_start_matches("https://")
            .chars()
            .map(|c| if is_plain(c) { c } else { '-' })
            .collect();
        let folder = folder.join("acme").join(name);
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        Ok(Self(folder))
    }

    /// The account, if there is one.
    pub fn account(&self) -> io::Result<Option<AccountCredentials>> {
        let Some(json) = self.read("account.json")? else {
            return Ok(None);
        };
        let account = serde_json::from_str(&json);
        let invalid = |error| io::Error::other(format!("{}: {error}", self.path("account.json")));
        account.map(Some).map_err(invalid)
    }

    /// Keeps the account for later starts.
    pub async fn save_account(&self, account: &AccountCredentials) -> io::Result<()> {
        let json = serde_json::to_string(account)?;
        self.write("account.json", json).await
    }

    /// Forgets the account. The authority does not know it any more.
    pub fn remove_account(&self) -> io::Result<()> {
        fs::remove_file(self.0.join("account.json"))
    }

    /// The certificate, if there is one for all these domains.
    pub(super) fn certificate(&self, domains: &[AcmeDomain]) -> Option<Issued> {
        let path = self.path("certificate.pem");
        let read = match self.read("certificate.pem") {
            Ok(None) => return None,
            Ok(Some(pem)) => Issued::parse(pem),
            Err(error) => Err(error.to_string()),
        };
        match read {
            Ok(issued) if issued.has_all(domains) => Some(issued),
            Ok(_) => {
                tracing::info!(path, "the certificate lacks a domain");
                None
            }
            Err(error) => {
                tracing::warn!(path, error, "certificate not read");
                None
            }
        }
    }

    /// Keeps the certificate for later starts.
    pub async fn save_certificate(&self, pem: String) -> io::Result<()> {
        self.write("certificate.pem", pem).await
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn read(&self, name: &str) -> io::Result<Option<String>> {
        match fs::read_to_string(self.0.join(name)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn write(&self, name: &'static str, text: String) -> io::Result<()> {
        let folder = self.0.clone();
        let writing = tokio::task::spawn_blocking(move || {
            let temporary = folder.join("temporary");
            let path = folder.join(name);
            write_durably(&temporary, &path, text.as_bytes(), FileAccess::OwnerOnly)
        });
        writing
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    }
}

impl Issued {
    /// `pem` has the certificate, its chain and its key.
    pub fn parse(pem: String) -> Result<Self, String> {
        let chain = CertificateDer::pem_slice_iter(pem.as_bytes())
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| error.to_string())?;
        let first = chain.first().ok_or("no certificate")?;
        let validity = Validity::from_certificate(first)?;
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes());
        let key = key.map_err(|error| error.to_string())?;
        let certified = CertifiedKey::from_der(chain, key, &ring::default_provider());
        let certified = certified.map_err(|error| error.to_string())?;
        Ok(Self {
            pem,
            certified: Arc::new(certified),
            validity,
        })
    }

    /// Whether the certificate is valid for all these domains.
    pub fn has_all(&self, domains: &[AcmeDomain]) -> bool {
        let Ok((_, certificate)) = X509Certificate::from_der(&self.certified.cert[0]) else {
            return false;
        };
        let Ok(Some(names)) = certificate.subject_alternative_name() else {
            return false;
        };
        let names = &names.value.general_names;
        domains
            .iter()
            .all(|domain| names.contains(&GeneralName::DNSName(domain.as_ref())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    fn domains(names: &[&str]) -> Vec<AcmeDomain> {
        names.iter().map(|name| name.parse().unwrap()).collect()
    }

    fn directory(text: &str) -> Url {
        text.parse().unwrap()
    }

    fn issue(names: &[&str]) -> String {
        let key = KeyPair::generate().unwrap();
        let names: Vec<_> = names.iter().map(|name| (*name).to_owned()).collect();
        let certificate = CertificateParams::new(names).unwrap().self_signed(&key);
        certificate.unwrap().pem() + &key.serialize_pem()
    }

    #[tokio::test]
    async fn the_files_are_private_and_belong_to_one_authority() {
        let folder = TempDir::new().unwrap();
        let real = directory("https://acme.example/directory");
        let state = StateFolder::open(folder.path(), &real).unwrap();
        let names = domains(&["a.example", "b.example"]);
        assert!(state.certificate(&names).is_none());
        let pem = issue(&["a.example", "b.example", "c.example"]);
        state.save_certificate(pem).await.unwrap();
        assert!(state.certificate(&names).is_some());
        assert!(state.certificate(&domains(&["d.example"])).is_none());
        let path = folder.path().join("acme/acme.example-directory");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        assert_eq!(mode(&path.join("certificate.pem")), 0o600);
        let test = directory("https://acme.example/test/directory");
        let test = StateFolder::open(folder.path(), &test).unwrap();
        assert!(test.certificate(&names).is_none());
    }

    #[tokio::test]
    async fn ignores_damaged_certificates_and_foreign_keys() {
        let folder = TempDir::new().unwrap();
        let url = directory("https://acme.example/directory");
        let state = StateFolder::open(folder.path(), &url).unwrap();
        let names = domains(&["a.example"]);
        let [one, other] = [(); 2].map(|()| issue(&["a.example"]));
        let key = |pem: &str| pem[pem.find("-----BEGIN PRIVATE").unwrap()..].to_owned();
        for damaged in [
            "nonsense".to_owned(),
            one.replace(&key(&one), ""),
            one.replace(&key(&one), &key(&other)),
        ] {
            state.save_certificate(damaged).await.unwrap();
            assert!(state.certificate(&names).is_none());
        }
    }
}
