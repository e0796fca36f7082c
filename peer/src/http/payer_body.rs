//! The body of a request by a client that pays, or may pay.

use super::chunk::discard;
use super::error::HttpError;
use crate::service::Service;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{EXPECT, HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderName};

/// The body of a request. A page that may cause no work is refused before the peer looks at the body. The rest of a refused
/// body is read and dropped, within the limits of `chunk::discard`, so that the client can read the refusal.
pub struct PayerBody {
    body: Body,
    may_pay: bool,
    expects_100: bool,
}

impl PayerBody {
    /// Takes the body of a request, and checks the page that sent it.
    pub fn of(service: &Service, request: Request) -> Self {
        let headers = request.headers();
        Self {
            may_pay: is_from_payer(service, headers),
            expects_100: headers.contains_key(EXPECT),
            body: request.into_body(),
        }
    }

    /// The body, unless the page may cause no work.
    pub fn check(&mut self) -> Result<&mut Body, HttpError> {
        match self.may_pay {
            true => Ok(&mut self.body),
            false => Err(HttpError::Forbidden),
        }
    }

    /// Reads the rest of a refused body, as `chunk::discard`. A client that asked whether to send it sends none.
    pub async fn discard(self) {
        if !self.expects_100 {
            discard(self.body).await;
        }
    }
}

/// Whether the page that sent a request may cause work. Browsers let pages send some requests whose answers they may not
/// read. Some of these, such as for a picture, name no origin, but say that they are from another site.
pub fn is_from_payer(service: &Service, headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let site = text(HeaderName::from_static("sec-fetch-site"));
    if text(ORIGIN).is_none() && matches!(site, Some("cross-site" | "same-site")) {
        return false;
    }
    service.origin_may_pay(text(ORIGIN), text(HOST).unwrap_or(""))
}
