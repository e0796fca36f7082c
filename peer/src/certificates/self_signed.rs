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

use super::certificate_pair::CertificatePair;
use super::{CertificateInfo, CertificateResolver};
use crate::durable_file::is_full;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::time::{Instant, sleep_until};

/// The longest lifetime that browsers accept, minus an hour for browsers that count the last second.
pub const MAX_LIFETIME: Duration = Duration::from_secs((14 * 24 - 1) * 3600);

/// The shortest lifetime that leaves clients enough time to connect.
pub const MIN_LIFETIME: Duration = Duration::from_secs(6);

/// How often the clock is checked. A machine that was asleep rotates soon after it wakes up.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The first wait after certificates could not be written. Every failed try doubles it.
const MIN_RETRY_WAIT: Duration = Duration::from_secs(1);

/// The longest wait after certificates could not be written.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(600);

/// The current and the next certificate.
pub struct SelfSigned {
    folder: PathBuf,
    lifetime: Duration,
    pair: Mutex<CertificatePair>,
    /// Whether the folder had both certificates when the peer started.
    started_saved: bool,
    resolver: Arc<CertificateResolver>,
}

impl SelfSigned {
    /// Loads the certificates from `folder`, and creates those that are missing or too old.
    ///
    /// Fails if the folder cannot be read or written. If only the disk is full, the new certificates are in memory until
    /// there is room.
    pub fn open(folder: &Path, lifetime: Duration) -> io::Result<Self> {
        fs::create_dir_all(folder)?;
        let pair = CertificatePair::load(folder, lifetime, OffsetDateTime::now_utc())?;
        let started_saved = match pair.pem_files(folder).save() {
            Ok(()) => true,
            Err(error) if is_full(&error) => {
                tracing::error!(%error, folder = %folder.display(), "certificates not written");
                false
            }
            Err(error) => return Err(error),
        };
        Ok(Self {
            folder: folder.to_owned(),
            lifetime,
            started_saved,
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
            expires: Some(pair.current.validity.not_after),
        }
    }

    pub(super) fn resolver(&self) -> Arc<CertificateResolver> {
        Arc::clone(&self.resolver)
    }

    pub(super) async fn rotate_forever(&self) {
        let mut retry_wait = MIN_RETRY_WAIT;
        let mut retry_at = (!self.started_saved).then(|| Instant::now() + retry_wait);
        loop {
            let until = self.lock().current.validity.active_until();
            let wait = Duration::try_from(until - OffsetDateTime::now_utc());
            // The minimum wait prevents a busy loop if the clock is set back meanwhile.
            let wait = wait
                .unwrap_or(Duration::ZERO)
                .clamp(Duration::from_millis(100), CHECK_INTERVAL);
            let wake_up = Instant::now() + wait;
            sleep_until(retry_at.map_or(wake_up, |at| at.min(wake_up))).await;
            let has_rotated = self.rotate_if_due(OffsetDateTime::now_utc());
            if !has_rotated && retry_at.is_none_or(|at| Instant::now() < at) {
                continue;
            }
            match self.save().await {
                Ok(()) => {
                    retry_wait = MIN_RETRY_WAIT;
                    retry_at = None;
                }
                Err(error) => {
                    let folder = self.folder.display();
                    tracing::error!(%error, %folder, ?retry_wait, "certificates not written");
                    retry_at = Some(Instant::now() + retry_wait);
                    retry_wait = (retry_wait * 2).min(MAX_RETRY_WAIT);
                }
            }
        }
    }

    /// Installs the next certificate if it is due. This needs no disk, so that a full one cannot stop it.
    fn rotate_if_due(&self, now: OffsetDateTime) -> bool {
        let mut pair = self.lock();
        if pair.current.validity.can_be_active(now) {
            return false;
        }
        if let Err(error) = pair.rotate(self.lifetime, now) {
            tracing::error!(%error, "certificate not rotated");
            return false;
        }
        self.resolver.replace(Arc::clone(&pair.current.certified));
        tracing::info!(
            current = pair.current.hash,
            next = pair.next.hash,
            "certificate rotated"
        );
        true
    }

    /// Writes both certificates. A slow disk delays neither connections nor `/-/info`.
    async fn save(&self) -> io::Result<()> {
        let files = self.lock().pem_files(&self.folder);
        let saving = tokio::task::spawn_blocking(move || files.save());
        saving
            .await
            .unwrap_or_else(|error| Err(io::Error::other(error)))
    }

    fn lock(&self) -> MutexGuard<'_, CertificatePair> {
        self.pair.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::super::certificate_pair::{PemFiles, SelfSignedCertificate};
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    fn now() -> OffsetDateTime {
        OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap()
    }

    fn open(folder: &TempDir, now: OffsetDateTime) -> [SelfSignedCertificate; 2] {
        let pair = CertificatePair::load(folder.path(), MAX_LIFETIME, now).unwrap();
        pair.pem_files(folder.path()).save().unwrap();
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

    #[test]
    fn rotates_without_a_disk_and_saves_later() {
        let folder = TempDir::new().unwrap();
        let dir = folder.path().join("certificates");
        let certificates = SelfSigned::open(&dir, MAX_LIFETIME).unwrap();
        assert!(certificates.started_saved);
        // A file in place of the folder makes every write fail.
        fs::rename(&dir, folder.path().join("old")).unwrap();
        fs::write(&dir, "").unwrap();
        let mut known = certificates.info().hashes;
        for _ in 0..3 {
            let switch_time = certificates.lock().current.validity.active_until();
            assert!(certificates.rotate_if_due(switch_time));
            assert!(!certificates.rotate_if_due(switch_time));
            let hashes = certificates.info().hashes;
            assert_eq!(hashes[0], known[1], "the announced certificate is in use");
            assert_ne!(hashes[1], known[1]);
            let files = certificates.lock().pem_files(&dir);
            assert!(files.save().is_err());
            known = hashes;
        }
        fs::remove_file(&dir).unwrap();
        fs::create_dir(&dir).unwrap();
        let files = certificates.lock().pem_files(&dir);
        files.save().unwrap();
        let [current, next] = PemFiles::paths(&dir).map(|path| fs::read_to_string(path).unwrap());
        assert_eq!((&current, &next), (&files.current, &files.next));
    }

    #[test]
    fn creates_both_certificates_after_a_long_sleep() {
        let folder = TempDir::new().unwrap();
        let certificates = SelfSigned::open(folder.path(), MAX_LIFETIME).unwrap();
        let known = certificates.info().hashes;
        let much_later = OffsetDateTime::now_utc() + time::Duration::days(100);
        assert!(certificates.rotate_if_due(much_later));
        let pair = certificates.lock();
        assert!(!known.contains(&pair.current.hash) && !known.contains(&pair.next.hash));
        assert!(pair.current.validity.can_be_active(much_later));
    }
}
