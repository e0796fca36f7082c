//! Short-lived certificates that the peer creates itself. Clients pin their hashes.
//!
//! Browsers accept a pinned certificate that is valid for at most 14 days. A client that learnt the hashes must be
//! able to come back later. Therefore the peer creates the next certificate in advance and announces its hash, too:
//!
//! ```text
//! current  |---------------------|=====|      = overlap: still valid, no longer served
//! next                        |--|---------------------|=====|
//!                          backdated  ^ served from here on
//! ```

use super::{CertificateInfo, CertificateResolver, Validity};
use crate::durable_file::{FileAccess, write_durably};
use rcgen::{CertificateParams, DnType, ExtendedKeyUsagePurpose, KeyPair, KeyUsagePurpose};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use time::OffsetDateTime;
use wtransport::tls::Certificate;

/// The longest lifetime that browsers accept, minus an hour for browsers that count the last second.
pub const MAX_LIFETIME: Duration = Duration::from_secs((14 * 24 - 1) * 3600);

/// The shortest lifetime that leaves clients enough time to connect.
pub const MIN_LIFETIME: Duration = Duration::from_secs(6);

/// How often the clock is checked. A machine that was asleep rotates soon after it wakes up.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The current and the next certificate.
pub struct SelfSigned {
    folder: PathBuf,
    lifetime: Duration,
    pair: Mutex<CertificatePair>,
    resolver: Arc<CertificateResolver>,
}

struct CertificatePair {
    current: SelfSignedCertificate,
    next: SelfSignedCertificate,
}

struct SelfSignedCertificate {
    certified: Arc<CertifiedKey>,
    hash: String,
    validity: Validity,
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
    fn active_until(&self) -> OffsetDateTime {
        self.not_after - overlap(self.not_after - self.not_before)
    }

    fn can_be_active(&self, now: OffsetDateTime) -> bool {
        self.not_before <= now && now < self.active_until()
    }
}

impl SelfSigned {
    /// Loads the certificates from `folder`, and creates those that are missing or too old.
    ///
    /// Fails if the folder cannot be read or written.
    pub fn open(folder: &Path, lifetime: Duration) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let pair = CertificatePair::open(folder, lifetime, OffsetDateTime::now_utc())?;
        Ok(Self {
            folder: folder.to_owned(),
            lifetime,
            resolver: Arc::new(CertificateResolver::new(Arc::clone(
                &pair.current.certified,
            ))),
            pair: Mutex::new(pair),
        })
    }

    pub(super) fn info(&self) -> CertificateInfo {
        let pair = self.lock();
        CertificateInfo {
            hashes: [&pair.current, &pair.next].map(|c| c.hash.clone()).into(),
            expires: pair.current.validity.not_after,
        }
    }

    pub(super) fn resolver(&self) -> Arc<CertificateResolver> {
        Arc::clone(&self.resolver)
    }

    pub(super) async fn rotate_forever(&self) {
        loop {
            let now = OffsetDateTime::now_utc();
            let until = self.lock().current.validity.active_until();
            let wait = Duration::try_from(until - now).unwrap_or(Duration::ZERO);
            // The minimum wait prevents a busy loop if the folder cannot be written.
            let wait = wait.clamp(Duration::from_millis(100), CHECK_INTERVAL);
            tokio::time::sleep(wait).await;
            if let Err(error) = self.rotate_if_due(OffsetDateTime::now_utc()) {
                tracing::error!(%error, folder = %self.folder.display(), "certificate not rotated");
            }
        }
    }

    fn rotate_if_due(&self, now: OffsetDateTime) -> io::Result<()> {
        let mut pair = self.lock();
        if pair.current.validity.can_be_active(now) {
            return Ok(());
        }
        *pair = CertificatePair::open(&self.folder, self.lifetime, now)?;
        self.resolver.replace(Arc::clone(&pair.current.certified));
        tracing::info!(
            current = pair.current.hash,
            next = pair.next.hash,
            "certificate rotated"
        );
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, CertificatePair> {
        self.pair.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CertificatePair {
    /// The two certificates for `now`. Creates missing ones in `folder`.
    fn open(folder: &Path, lifetime: Duration, now: OffsetDateTime) -> io::Result<Self> {
        let [current_path, next_path] = ["current.pem", "next.pem"].map(|name| folder.join(name));
        let temporary = folder.join("temporary.pem");
        let load_active = |path: &Path| {
            SelfSignedCertificate::load(path).filter(|c| c.validity.can_be_active(now))
        };
        let current = match load_active(&current_path) {
            Some(current) => current,
            None => match load_active(&next_path) {
                Some(next) => {
                    fs::rename(&next_path, &current_path)?;
                    next
                }
                None => {
                    let validity = Validity::starting(now, lifetime);
                    SelfSignedCertificate::create(validity, &temporary, &current_path)?
                }
            },
        };
        let switch_time = current.validity.active_until();
        let next = match SelfSignedCertificate::load(&next_path)
            .filter(|c| c.validity.can_be_active(switch_time))
        {
            Some(next) => next,
            None => {
                let validity = Validity::starting(switch_time, lifetime);
                SelfSignedCertificate::create(validity, &temporary, &next_path)?
            }
        };
        Ok(Self { current, next })
    }
}

impl SelfSignedCertificate {
    /// Creates a certificate with a new key, and writes both to `path`.
    fn create(validity: Validity, temporary: &Path, path: &Path) -> io::Result<Self> {
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
        write_durably(temporary, path, pem.as_bytes(), FileAccess::OwnerOnly)?;
        Self::parse(pem.as_bytes()).map_err(io::Error::other)
    }

    /// Reads the certificate and key at `path`. `None` if the file is missing or unusable.
    fn load(path: &Path) -> Option<Self> {
        let pem = match fs::read(path) {
            Ok(pem) => pem,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "certificate not read");
                return None;
            }
        };
        match Self::parse(&pem) {
            Ok(certificate) => Some(certificate),
            Err(error) => {
                tracing::warn!(%error, path = %path.display(), "not a certificate");
                None
            }
        }
    }

    fn parse(pem: &[u8]) -> Result<Self, String> {
        let invalid = |error: &dyn ToString| error.to_string();
        let certificate = CertificateDer::from_pem_slice(pem).map_err(|e| invalid(&e))?;
        let key = PrivateKeyDer::from_pem_slice(pem).map_err(|e| invalid(&e))?;
        let validity = Validity::from_certificate(&certificate)?;
        let hash = Certificate::from_der(certificate.to_vec())
            .map_err(|e| invalid(&e))?
            .hash();
        let hex = hash.as_ref().iter().map(|byte| format!("{byte:02x}"));
        let certified = CertifiedKey::from_der(vec![certificate], key, &ring::default_provider())
            .map_err(|e| invalid(&e))?;
        Ok(Self {
            certified: Arc::new(certified),
            hash: hex.collect(),
            validity,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    fn now() -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap()
    }

    fn open(folder: &TempDir, now: OffsetDateTime) -> [SelfSignedCertificate; 2] {
        let pair = CertificatePair::open(folder.path(), MAX_LIFETIME, now).unwrap();
        [pair.current, pair.next]
    }

    #[test]
    fn certificates_are_valid_for_less_than_14_days_and_from_an_hour_ago() {
        let folder = TempDir::new().unwrap();
        for certificate in open(&folder, now()) {
            let validity = certificate.validity;
            assert!(validity.not_after - validity.not_before < time::Duration::days(14));
        }
        let [current, _] = open(&folder, now());
        assert_eq!(current.validity.not_before, now() - time::Duration::HOUR);
    }

    #[test]
    fn key_files_are_private_and_hashes_survive_a_restart() {
        let folder = TempDir::new().unwrap();
        let first = open(&folder, now()).map(|c| c.hash);
        let later = now() + time::Duration::days(5);
        assert_eq!(open(&folder, later).map(|c| c.hash), first);
        for name in ["current.pem", "next.pem"] {
            let path = folder.path().join(name);
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn the_next_certificate_replaces_the_current_one_before_it_expires() {
        let folder = TempDir::new().unwrap();
        let [current, next] = open(&folder, now());
        let switch_time = current.validity.active_until();
        assert!(switch_time < current.validity.not_after);
        assert!(next.validity.not_before < switch_time);
        let before = open(&folder, switch_time - time::Duration::SECOND);
        assert_eq!(before[0].hash, current.hash);
        let after = open(&folder, switch_time);
        assert_eq!(after[0].hash, next.hash);
        assert_ne!(after[1].hash, next.hash);
    }

    #[test]
    fn replaces_expired_and_damaged_certificates() {
        let folder = TempDir::new().unwrap();
        let old = open(&folder, now()).map(|c| c.hash);
        let much_later = now() + time::Duration::days(100);
        let [current, next] = open(&folder, much_later);
        assert!(!old.contains(&current.hash) && !old.contains(&next.hash));
        assert!(current.validity.can_be_active(much_later));

        fs::write(folder.path().join("next.pem"), "damaged").unwrap();
        let pair = open(&folder, much_later);
        assert_eq!(pair[0].hash, current.hash);
        assert_ne!(pair[1].hash, next.hash);
    }
}
