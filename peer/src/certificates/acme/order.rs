//! Orders a certificate.

use super::http::AuthorityClient;
use super::state::StateFolder;
use super::{AcmeConfig, Issued};
use crate::certificates::CertificateResolver;
use instant_acme::{
    Account, AuthorizationStatus, ChallengeType, Identifier, NewAccount, NewOrder, Order,
    OrderStatus, RetryPolicy,
};
use rcgen::{CertificateParams, CustomExtension, DistinguishedName, KeyPair};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::sign::CertifiedKey;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

pub type OrderError = Box<dyn Error + Send + Sync>;

/// The problem type of an authority that does not know the account.
const UNKNOWN_ACCOUNT: &str = "urn:ietf:params:acme:error:accountDoesNotExist";

/// How long the authority may check the domains, and then issue the certificate.
const POLLING: RetryPolicy = RetryPolicy::new().timeout(Duration::from_secs(100));

/// Obtains a certificate. `resolver` shows the authority that this peer has the domains.
pub async fn obtain(
    config: &AcmeConfig,
    state: &StateFolder,
    resolver: &CertificateResolver,
) -> Result<Issued, OrderError> {
    let mut order = new_order(config, state).await?;
    answer_challenges(&mut order, resolver).await?;
    let checked = order.poll_ready(&POLLING).await;
    if !matches!(checked, Ok(OrderStatus::Ready)) {
        return Err(refusal(&mut order, checked).await);
    }
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::new(names(config))?;
    params.distinguished_name = DistinguishedName::new();
    let request = params.serialize_request(&key)?;
    order.finalize_csr(request.der()).await?;
    let chain = order.poll_certificate(&POLLING).await?;
    let issued = Issued::parse(format!("{}\n{}", chain.trim_end(), key.serialize_pem()))?;
    match issued.has_all(&config.domains) {
        true => Ok(issued),
        false => Err("the authority's certificate lacks a domain".into()),
    }
}

fn names(config: &AcmeConfig) -> Vec<String> {
    let names = config.domains.iter();
    names.map(|domain| domain.as_ref().to_owned()).collect()
}

/// An order with the account of an earlier start, or with a new one.
async fn new_order(config: &AcmeConfig, state: &StateFolder) -> Result<Order, OrderError> {
    let identifiers: Vec<_> = names(config).into_iter().map(Identifier::Dns).collect();
    let order = NewOrder::new(&identifiers);
    if let Some(credentials) = state.account()? {
        let builder = Account::builder_with_http(Box::new(AuthorityClient::new()?));
        let account = builder.from_credentials(credentials).await?;
        match account.new_order(&order).await {
            Err(instant_acme::Error::Api(problem))
                if problem.r#type.as_deref() == Some(UNKNOWN_ACCOUNT) =>
            {
                tracing::warn!("the authority does not know the account; creating another one");
                state.remove_account()?;
            }
            ordered => return Ok(ordered?),
        }
    }
    let contact = config.email.as_ref().map(|email| format!("mailto:{email}"));
    let contact: Vec<_> = contact.iter().map(String::as_str).collect();
    let new = NewAccount {
        contact: &contact,
        terms_of_service_agreed: true,
        only_return_existing: false,
    };
    let builder = Account::builder_with_http(Box::new(AuthorityClient::new()?));
    let creating = builder.create(&new, config.directory.to_string(), None);
    let (account, credentials) = creating.await?;
    state.save_account(&credentials).await?;
    Ok(account.new_order(&order).await?)
}

/// Shows the authority the certificates that it asks for. An earlier order may have proven some domains already.
async fn answer_challenges(
    order: &mut Order,
    resolver: &CertificateResolver,
) -> Result<(), OrderError> {
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let mut authorization = authorization?;
        match authorization.status {
            AuthorizationStatus::Pending => {}
            AuthorizationStatus::Valid => continue,
            status => return Err(format!("the authorization is {status:?}").into()),
        }
        let mut challenge = authorization
            .challenge(ChallengeType::TlsAlpn01)
            .ok_or("the authority does not check domains by TLS-ALPN-01")?;
        let domain = challenge.identifier().to_string();
        let digest = challenge.key_authorization().digest();
        resolver.add_challenge(&domain, challenge_certificate(&domain, digest.as_ref())?);
        challenge.set_ready().await?;
    }
    Ok(())
}

/// The self-signed certificate that proves the possession of a domain (RFC 8737).
fn challenge_certificate(domain: &str, digest: &[u8]) -> Result<Arc<CertifiedKey>, OrderError> {
    let key = KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256)?;
    let mut params = CertificateParams::new([domain.to_owned()])?;
    params.custom_extensions = vec![CustomExtension::new_acme_identifier(digest)];
    let certificate = params.self_signed(&key)?;
    let private = PrivateKeyDer::try_from(key.serialize_der())?;
    // `CertifiedKey::from_der` refuses the critical extension.
    let signing = ring::sign::any_ecdsa_type(&private)?;
    let chain = vec![certificate.der().clone()];
    Ok(Arc::new(CertifiedKey::new(chain, signing)))
}

/// Why the authority does not issue the certificate. It says so for each domain.
async fn refusal(
    order: &mut Order,
    checked: Result<OrderStatus, instant_acme::Error>,
) -> OrderError {
    let mut problems = Vec::new();
    let mut authorizations = order.authorizations();
    while let Some(authorization) = authorizations.next().await {
        let Ok(mut authorization) = authorization else {
            break;
        };
        let domain = authorization.identifier().to_string();
        let Ok(state) = authorization.refresh().await else {
            break;
        };
        let errors = state.challenges.iter().filter_map(|one| one.error.as_ref());
        problems.extend(errors.map(|error| format!("{domain}: {error}")));
    }
    match (problems.is_empty(), checked) {
        (false, _) => problems.join("; ").into(),
        (true, Ok(status)) => format!("the order is {status:?}").into(),
        (true, Err(error)) => error.into(),
    }
}
