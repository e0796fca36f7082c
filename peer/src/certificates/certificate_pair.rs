//! The current and the next self-signed certificate, in memory and in their files.

use super::Validity;
use crate::durable_file::{FileAccess, move_durably, write_durably};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use time::OffsetDateTime;
use wtransport::tls::Certificate;

/// The current and the next certificate.
pub struct CertificatePair {
    pub current: SelfSignedCertificate,
    pub next: SelfSignedCertificate,
}

/// A certificate with its key.
pub struct SelfSignedCertificate {
    /// Both in one text.
    pem: String,
    pub certified: Arc<CertifiedKey>,
    /// SHA-256 in hex.
    pub hash: String,
    pub validity: Validity,
}

/// How long a certificate is valid before it is first served. This tolerates clients whose clock is behind.
fn backdate(lifetime: time::Duration) -> time::Duration {
    time::Duration::HOUR.min(lifetime / 6)
}

/// How long a certificate stays valid after it was last served. This tolerates clients whose clock is ahead.
fn overlap(lifetime: time::Duration) -> time::Duration {
    time::Duration::DAY.min(lifetime / 6)
}

impl Validity {
    /// The validity of a certificate that is served from `active_from` on.
    fn starting(active_from: OffsetDateTime, lifetime: Duration) -> Self {
        let not_before = active_from - backdate(lifetime.try_into().expect("two weeks at most"));
        Self {
            not_before,
            not_after: not_before + lifetime,
        }
    }

    /// When the next certificate replaces this one.
    pub fn active_until(&self) -> OffsetDateTime {
        self.not_after - overlap(self.not_after - self.not_before)
    }

    pub fn can_be_active(&self, now: OffsetDateTime) -> bool {
        self.not_before <= now && now < self.active_until()
    }
}

impl CertificatePair {
    /// The two certificates for `now`, from `folder` or new.
    pub fn load(folder: &Path, lifetime: Duration, now: OffsetDateTime) -> io::Result<Self> {
        let [current, next] = PemFiles::paths(folder);
        let load_active = |path: &Path, at| {
            SelfSignedCertificate::load(path).filter(|c| c.validity.can_be_active(at))
        };
        let current = match load_active(&current, now).or_else(|| load_active(&next, now)) {
            Some(current) => current,
            None => SelfSignedCertificate::create(Validity::starting(now, lifetime))?,
        };
        let switch_time = current.validity.active_until();
        let next = match load_active(&next, switch_time) {
            Some(next) => next,
            None => SelfSignedCertificate::create(Validity::starting(switch_time, lifetime))?,
        };
        Ok(Self { current, next })
    }

    /// Replaces the current certificate by the next one, and creates a new next one.
    pub fn rotate(&mut self, lifetime: Duration, now: OffsetDateTime) -> io::Result<()> {
        // After a long sleep of the machine, the next certificate is too old as well.
        let replacement = match self.next.validity.can_be_active(now) {
            true => None,
            false => Some(SelfSignedCertificate::create(Validity::starting(
                now, lifetime,
            ))?),
        };
        let switch_time = match &replacement {
            Some(current) => current.validity.active_until(),
            None => self.next.validity.active_until(),
        };
        let next = SelfSignedCertificate::create(Validity::starting(switch_time, lifetime))?;
        let old_next = std::mem::replace(&mut self.next, next);
        self.current = replacement.unwrap_or(old_next);
        Ok(())
    }

    /// The wanted contents of the folder.
    pub fn pem_files(&self, folder: &Path) -> PemFiles {
        PemFiles {
            folder: folder.to_owned(),
            current: self.current.pem.clone(),
            next: self.next.pem.clone(),
        }
    }
}

/// The wanted contents of the two files in the certificate folder.
pub struct PemFiles {
    folder: PathBuf,
    pub current: String,
    pub next: String,
}

impl PemFiles {
    /// The paths of the current and the next certificate.
    pub fn paths(folder: &Path) -> [PathBuf; 2] {
        ["current.pem", "next.pem"].map(|name| folder.join(name))
    }

    /// Writes the files that do not have the wanted content.
    pub fn save(&self) -> io::Result<()> {
        let [current_path, next_path] = Self::paths(&self.folder);
        let has = |path: &Path, pem: &str| fs::read(path).is_ok_and(|now| now == pem.as_bytes());
        let write = |path: &Path, pem: &str| {
            let temporary = self.folder.join("temporary.pem");
            write_durably(&temporary, path, pem.as_bytes(), FileAccess::OwnerOnly)
        };
        if has(&next_path, &self.current) {
            // Unlike a write, this also works on a full disk.
            move_durably(&next_path, &current_path)?;
        } else if !has(&current_path, &self.current) {
            write(&current_path, &self.current)?;
        }
        match has(&next_path, &self.next) {
            true => Ok(()),
            false => write(&next_path, &self.next),
        }
    }
}

impl SelfSignedCertificate {
    /// Creates a certificate with a new key.
    fn create(validity: Validity) -> io::Result<Self> {
        let key =
            KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(io::Error::other)?;
        let names = ["localhost", "127.0.0.1", "::1"].map(String::from);
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        params.not_before = validity.not_before;
        params.not_after = validity.not_after;
        params
            .distinguished_name
            .push(DnType::CommonName, env!("CARGO_PKG_NAME"));
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let pem = certificate.pem() + &key.serialize_pem();
        Self::parse(pem).map_err(io::Error::other)
    }

    /// Reads the certificate and key at `path`. `None` if the file is missing or unusable.
    fn load(path: &Path) -> Option<Self> {
        let pem = match fs::read_to_string(path) {
            Ok(pem) => pem,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "certificate not read");
                return None;
            }
        };
        match Self::parse(pem) {
            Ok(certificate) => Some(certificate),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "not a certificate");
                None
            }
        }
    }

    fn parse(pem: String) -> Result<Self, String> {
        let invalid = |error: &dyn ToString| error.to_string();
        let certificate =
            CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|e| invalid(&e))?;
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes()).map_err(|e| invalid(&e))?;
        let validity = Validity::from_certificate(&certificate)?;
        let hash = Certificate::from_der(certificate.to_vec())
            .map_err(|e| invalid(&e))?
            .hash();
        let hex = hash.as_ref().iter().map(|byte| format!("{byte:02x}"));
        let certified = CertifiedKey::from_der(vec![certificate], key, &ring::default_provider())
            .map_err(|e| invalid(&e))?;
        Ok(Self {
            pem,
            certified: Arc::new(certified),
            hash: hex.collect(),
            validity,
        })
    }
}
