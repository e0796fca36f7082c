//! A certificate that the peer obtains from an authority by itself (ACME, RFC 8555), and renews in time.
//!
//! The authority checks each domain by a TLS handshake with the peer (TLS-ALPN-01, RFC 8737), so the peer needs no other
//! port than that of HTTPS, which clients of the authority reach at port 443.

mod domain;
mod http;
mod order;
mod state;

pub use domain::AcmeDomain;

use super::{CertificateResolver, Validity};
use order::OrderError;
use rustls::sign::CertifiedKey;
use state::StateFolder;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use time::OffsetDateTime;
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};
use url::Url;

/// How long one attempt may take.
const ORDER_TIMEOUT: Duration = Duration::from_secs(300);

/// The first wait after a failed attempt. Every failed attempt doubles it. Let's Encrypt allows five failed attempts per
/// hour.
const MIN_RETRY_WAIT: Duration = Duration::from_secs(120);

/// The longest wait after a failed attempt.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(6 * 3600);

/// How often the clock is checked. A machine that was asleep renews soon after it wakes up.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// The wanted certificate, and the authority.
#[derive(Clone, Debug)]
pub struct AcmeConfig {
    /// The names of the peer, at least one. All are in one certificate.
    pub domains: Vec<AcmeDomain>,
    /// Where the authority may write about problems.
    pub email: Option<String>,
    /// The URL of the authority's directory.
    pub directory: Url,
}

/// The certificate, and its renewal.
pub struct Acme {
    config: AcmeConfig,
    state: StateFolder,
    validity: Mutex<Option<Validity>>,
    resolver: Arc<CertificateResolver>,
    retry: Notify,
}

/// A certificate with its chain and its key.
pub(super) struct Issued {
    pem: String,
    certified: Arc<CertifiedKey>,
    validity: Validity,
}

impl Acme {
    /// Loads the certificate of an earlier start from `folder`, if it has all domains. Does not connect to the authority
    /// yet. Fails if the folder cannot be used.
    pub fn open(folder: &Path, config: AcmeConfig) -> io::Result<Self> {
        let state = StateFolder::open(folder, &config.directory)?;
        let acme = Self {
            state,
            validity: Mutex::new(None),
            resolver: Arc::default(),
            retry: Notify::new(),
            config,
        };
        if let Some(issued) = acme.state.certificate(&acme.config.domains) {
            acme.install(&issued);
        }
        Ok(acme)
    }

    pub(super) fn expires(&self) -> Option<OffsetDateTime> {
        self.lock().map(|validity| validity.not_after)
    }

    pub(super) fn resolver(&self) -> Arc<CertificateResolver> {
        Arc::clone(&self.resolver)
    }

    /// Ends the wait after a failed attempt.
    pub(super) fn retry_now(&self) {
        self.retry.notify_one();
    }

    pub(super) async fn renew_forever(&self) {
        let mut retry_wait = MIN_RETRY_WAIT;
        loop {
            self.until_due().await;
            match self.renew().await {
                Ok(()) if !self.is_due() => {
                    retry_wait = MIN_RETRY_WAIT;
                    continue;
                }
                // Without a wait, a wrong clock would order certificates until the CA refuses.
                Ok(()) => tracing::error!("the new certificate is due already: check the clock"),
                Err(error) => {
                    let error: &dyn std::error::Error = &*error;
                    let has_one = self.expires().is_some();
                    tracing::error!(error, has_one, ?retry_wait, "certificate not obtained");
                }
            }
            tokio::select! {
                () = sleep(retry_wait) => retry_wait = (retry_wait * 2).min(MAX_RETRY_WAIT),
                () = self.retry.notified() => {}
            }
        }
    }

    /// Waits until it is time for a new certificate.
    async fn until_due(&self) {
        while let Some(wait) = self.time_until_due() {
            sleep(wait.min(CHECK_INTERVAL)).await;
        }
    }

    fn is_due(&self) -> bool {
        self.time_until_due().is_none()
    }

    /// `None` if it is time for a new certificate, or if there is none.
    fn time_until_due(&self) -> Option<Duration> {
        let validity = (*self.lock())?;
        let wait = Duration::try_from(renewal_time(validity) - OffsetDateTime::now_utc());
        wait.ok().filter(|wait| !wait.is_zero())
    }

    /// Obtains a certificate, and uses it for all later connections.
    async fn renew(&self) -> Result<(), OrderError> {
        let ordering = order::obtain(&self.config, &self.state, &self.resolver);
        let ordered = timeout(ORDER_TIMEOUT, ordering).await;
        self.resolver.clear_challenges();
        let issued = ordered.unwrap_or_else(|_| Err("no certificate in time".into()))?;
        // A full disk must not stop the renewal.
        self.install(&issued);
        let expires = issued.validity.not_after;
        tracing::info!(%expires, "certificate obtained");
        if let Err(error) = self.state.save_certificate(issued.pem).await {
            tracing::error!(%error, "certificate not written; the next start orders another one");
        }
        Ok(())
    }

    fn install(&self, issued: &Issued) {
        self.resolver.replace(Arc::clone(&issued.certified));
        *self.lock() = Some(issued.validity);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Validity>> {
        self.validity.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// After two thirds of the validity. The last third is for attempts that fail.
fn renewal_time(validity: Validity) -> OffsetDateTime {
    validity.not_before + (validity.not_after - validity.not_before) * 2 / 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renews_a_month_before_a_certificate_of_three_months_expires() {
        let not_before = OffsetDateTime::from_unix_timestamp(1_800_000_000).unwrap();
        let validity = Validity {
            not_before,
            not_after: not_before + time::Duration::days(90),
        };
        assert_eq!(
            renewal_time(validity),
            not_before + time::Duration::days(60)
        );
    }
}
