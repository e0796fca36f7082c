//! A certificate that a certificate authority (CA) signed. A renewal tool replaces its PEM files.

use super::{CertificateResolver, Validity};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};
use time::OffsetDateTime;

/// How often the files are checked for changes.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The operator's certificate and key. The process serves them to all new connections.
pub struct CaSigned {
    certificate: PathBuf,
    key: PathBuf,
    loaded: Mutex<LoadedFiles>,
    resolver: Arc<CertificateResolver>,
}

struct LoadedFiles {
    expires: OffsetDateTime,
    files: FileTimes,
}

/// The modification times of the two files. `None` if a file's time cannot be read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileTimes([Option<SystemTime>; 2]);

impl FileTimes {
    fn read(certificate: &Path, key: &Path) -> Self {
        Self([certificate, key].map(|path| fs::metadata(path).and_then(|m| m.modified()).ok()))
    }
}

impl CaSigned {
    /// Reads the PEM files. The error names the file and the problem.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, String> {
        let files = FileTimes::read(certificate, key);
        let (certified, expires) = load_pair(certificate, key)?;
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            loaded: Mutex::new(LoadedFiles { expires, files }),
            resolver: Arc::new(CertificateResolver::new(certified)),
        })
    }

    pub(super) fn expires(&self) -> OffsetDateTime {
        self.lock().expires
    }

    pub(super) fn resolver(&self) -> Arc<CertificateResolver> {
        Arc::clone(&self.resolver)
    }

    /// Reads the files again. If they are invalid, the current certificate stays in use.
    pub fn reload(&self) {
        let files = FileTimes::read(&self.certificate, &self.key);
        let read = load_pair(&self.certificate, &self.key);
        let mut loaded = self.lock();
        loaded.files = files;
        match read {
            Ok((certified, expires)) => {
                loaded.expires = expires;
                self.resolver.replace(certified);
                tracing::info!(%expires, "certificate loaded");
            }
            Err(error) => {
                tracing::error!(%error, "certificate not loaded; the old one stays in use")
            }
        }
    }

    pub(super) async fn reload_forever(&self) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            if FileTimes::read(&self.certificate, &self.key) != self.lock().files {
                self.reload();
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, LoadedFiles> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn load_pair(
    certificate: &Path,
    key: &Path,
) -> Result<(Arc<CertifiedKey>, OffsetDateTime), String> {
    let invalid = |path: &Path, problem: &dyn ToString| {
        format!("{}: {}", path.display(), problem.to_string())
    };
    let chain = CertificateDer::pem_file_iter(certificate)
        .and_then(Iterator::collect::<Result<Vec<_>, _>>)
        .map_err(|error| invalid(certificate, &error))?;
    let first = chain
        .first()
        .ok_or_else(|| invalid(certificate, &"no certificate in the file"))?;
    let validity =
        Validity::from_certificate(first).map_err(|error| invalid(certificate, &error))?;
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, &error))?;
    let certified = CertifiedKey::from_der(chain, private, &ring::default_provider())
        .map_err(|error| invalid(key, &error))?;
    Ok((Arc::new(certified), validity.not_after))
}
