//! Errors of the HTTP API: a status, and JSON with a stable code. The protocol specification lists them.

use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// How long a client should wait after a refusal.
const RETRY_SECONDS: &str = "1";

/// Why a request failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HttpError {
    /// The address is not 64 lower-case hex characters.
    BadAddress,
    /// The request body ended early.
    BadRequest,
    /// The write token is missing or wrong.
    Unauthorized,
    /// Writes are disabled, or the page's origin may not write.
    Forbidden,
    /// The page's origin may not use this peer.
    #[serde(rename = "FORBIDDEN")]
    Page,
    /// The page of a site's origin is not for frames of other pages.
    #[serde(rename = "FORBIDDEN")]
    Frame,
    /// There is no such chunk or file.
    NotFound,
    /// The path does not support this method.
    Method,
    /// The request body took too long to arrive.
    Timeout,
    /// The request body is larger than a chunk, or than a pointer record.
    TooLarge,
    /// The body's hash is not the address in the path.
    Mismatch,
    /// The body is no pointer record that the owner of the address in the path signed.
    BadPointer,
    /// The peer has a newer pointer record, or another one with the same counter.
    Outdated,
    /// The peer is overloaded. The client may retry later, or ask another peer.
    Busy,
    /// An internal failure.
    Failed,
    /// The client exceeded its rate limit.
    Rate,
    /// The store is full.
    Full,
    /// Too many peers forwarded the request.
    Loop,
    /// The operator denies the address.
    Denied,
    /// The request for quotes is not a list of records.
    BadRecords,
    /// The request for pools is not a time and a list of addresses.
    BadPools,
    /// The time of the request for pools is not the present one.
    BadTime,
    /// The plan of a paid upload is not valid.
    BadPlan,
    /// The nodes see no payment for the record.
    Unpaid,
    /// The paid quote is of a node that is not close to the record any more, or a payment for many chunks is too old.
    QuoteExpired,
    /// Too few nodes of the network answered.
    Shortfall,
    /// The peer is not connected to the network.
    Disconnected,
}

#[derive(Serialize)]
struct ErrorBody {
    code: HttpError,
    message: &'static str,
}

impl HttpError {
    /// The value for the metrics.
    pub fn name(self) -> &'static str {
        self.parts().2
    }

    /// A complete HTTP/1.1 response, for a connection whose request is not read.
    pub fn to_http1(self) -> Vec<u8> {
        let (status, message, _) = self.parts();
        let json = self.json(message);
        let head = format!(
            "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncache-control: no-store\r\n\
             retry-after: {RETRY_SECONDS}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
            json.len()
        );
        [head.as_bytes(), &json].concat()
    }

    fn json(self, message: &'static str) -> Vec<u8> {
        let body = ErrorBody {
            code: self,
            message,
        };
        serde_json::to_vec(&body).expect("two texts")
    }

    fn parts(self) -> (StatusCode, &'static str, &'static str) {
        use StatusCode as S;
        match self {
            Self::BadAddress => (
                S::BAD_REQUEST,
                "an address is 64 lower-case hex characters",
                "bad_address",
            ),
            Self::BadRequest => (
                S::BAD_REQUEST,
                "the request is not valid, or its body is incomplete",
                "bad_request",
            ),
            Self::Unauthorized => (
                S::UNAUTHORIZED,
                "the write token is missing or wrong",
                "unauthorized",
            ),
            Self::Forbidden => (
                S::FORBIDDEN,
                "this peer or this page does not allow writes",
                "forbidden",
            ),
            Self::Page => (
                S::FORBIDDEN,
                "this page may not use this peer; see --allow-origin",
                "forbidden",
            ),
            Self::Frame => (
                S::FORBIDDEN,
                "no other page shows this page in a frame",
                "forbidden",
            ),
            Self::NotFound => (S::NOT_FOUND, "not found on this peer", "not_found"),
            Self::Method => (
                S::METHOD_NOT_ALLOWED,
                "the method is not allowed here",
                "method",
            ),
            Self::Timeout => (
                S::REQUEST_TIMEOUT,
                "the request took too long to arrive",
                "timeout",
            ),
            Self::TooLarge => (
                S::PAYLOAD_TOO_LARGE,
                "a chunk has at most 4194304 bytes, a pointer 5303",
                "too_large",
            ),
            Self::Mismatch => (
                S::UNPROCESSABLE_ENTITY,
                "the bytes do not match the address",
                "mismatch",
            ),
            Self::BadPointer => (
                S::UNPROCESSABLE_ENTITY,
                "the bytes are not a pointer that the owner of this address signed",
                "bad_pointer",
            ),
            Self::Outdated => (
                S::CONFLICT,
                "this peer has a pointer with the same or a larger counter",
                "outdated",
            ),
            Self::Busy => (
                S::SERVICE_UNAVAILABLE,
                "the peer is overloaded; try again later",
                "busy",
            ),
            Self::Failed => (
                S::INTERNAL_SERVER_ERROR,
                "the peer failed to answer",
                "failed",
            ),
            Self::Rate => (
                S::TOO_MANY_REQUESTS,
                "too many requests from your address; try again later",
                "rate",
            ),
            Self::Full => (S::INSUFFICIENT_STORAGE, "the store is full", "full"),
            Self::Loop => (
                S::LOOP_DETECTED,
                "too many peers forwarded the request",
                "loop",
            ),
            Self::Denied => (
                S::UNAVAILABLE_FOR_LEGAL_REASONS,
                "the operator of this peer denies this address",
                "denied",
            ),
            Self::BadRecords => (
                S::BAD_REQUEST,
                "not a list of 1 to 64 different records, each with an address and a size or a state",
                "bad_records",
            ),
            Self::BadPools => (
                S::BAD_REQUEST,
                "not a time and a list of 1 to 16 different addresses",
                "bad_pools",
            ),
            Self::BadTime => (
                S::BAD_REQUEST,
                "the time of the request is more than ten minutes from the time of this peer",
                "bad_time",
            ),
            Self::BadPlan => (
                S::BAD_REQUEST,
                "the plan of the upload is not valid",
                "bad_plan",
            ),
            Self::Unpaid => (
                S::PAYMENT_REQUIRED,
                "the nodes see no payment for this record",
                "unpaid",
            ),
            Self::QuoteExpired => (
                S::GONE,
                "nodes refuse this payment now: a paid node is not close any more, or the payment for many chunks is too old",
                "quote_expired",
            ),
            Self::Shortfall => (
                S::SERVICE_UNAVAILABLE,
                "too few nodes of the network answered; try again later",
                "shortfall",
            ),
            Self::Disconnected => (
                S::SERVICE_UNAVAILABLE,
                "this peer is not connected to the network; try again later, or ask another peer",
                "disconnected",
            ),
        }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let (status, message, _) = self.parts();
        let mut response = (status, self.json(message)).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        match self {
            Self::Unauthorized => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::Busy | Self::Rate | Self::Shortfall | Self::Disconnected => {
                headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_SECONDS));
            }
            _ => {}
        }
        response
    }
}
