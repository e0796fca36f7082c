//! Sends a hosted file from the disk, or a part of it, piece by piece.

use super::content_type::content_type_of;
use super::folder::WebFile;
use super::{RESOURCE_POLICY, policy};
use crate::http::chunk::etag_matches;
use crate::http::error::HttpError;
use axum::body::Body;
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_RANGE,
    LAST_MODIFIED, RANGE, VARY,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use std::io;
use tower_http::services::ServeFile;

/// The prefix of the probe file `/-/probe-<build>.json`. A gateway uses it to check whether its subdomains lead to the
/// same host.
const PROBE_PREFIX: &str = "/-/probe-";

/// The suffix of the probe file.
const PROBE_SUFFIX: &str = ".json";

/// The maximum number of bytes in one read from the file. Each running response has a buffer of this size.
const READ_BYTES: usize = 64 * 1024;

/// Answers a GET or HEAD of the file.
pub async fn respond(file: &WebFile, request: &Parts) -> io::Result<Response> {
    let etag = HeaderValue::from_str(&file.etag).expect("hex digits");
    let mut headers = headers_of(file, &etag);
    if etag_matches(&request.headers, &etag) {
        return Ok((StatusCode::NOT_MODIFIED, headers).into_response());
    }
    let mut sending = Request::new(());
    *sending.method_mut() = request.method.clone();
    if let Some(range) = usable_range(request, &etag) {
        sending.headers_mut().insert(RANGE, range.clone());
    }
    let mut service = ServeFile::new(&file.file).with_buf_chunk_size(READ_BYTES);
    let response = service.try_call(sending).await?;
    if response.status() == StatusCode::NOT_FOUND {
        return Ok(HttpError::NotFound.into_response());
    }
    let mut response = response.map(Body::new);
    // The time of a file has whole seconds only, and builds may set it. Clients must use the tag.
    response.headers_mut().remove(LAST_MODIFIED);
    if response.status().is_success() {
        let content_type = HeaderValue::from_static(content_type_of(&file.path));
        headers.insert(CONTENT_TYPE, content_type);
        if let Some(encoding) = file.encoding {
            let coding = HeaderValue::from_static(encoding.name());
            headers.insert(CONTENT_ENCODING, coding);
        }
    } else {
        // The range is outside of the file.
        response.headers_mut().remove(CONTENT_TYPE);
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.remove(ETAG);
    }
    response.headers_mut().extend(headers);
    Ok(response)
}

/// The headers that do not depend on the request.
fn headers_of(file: &WebFile, etag: &HeaderValue) -> HeaderMap {
    let is_probe = file.path.starts_with(PROBE_PREFIX) && file.path.ends_with(PROBE_SUFFIX);
    // Names in `/assets/` contain a hash of the content. All other files may change.
    let caching = match file.path.starts_with("/assets/") {
        true => "public, max-age=31536000, immutable",
        false if is_probe => "no-store",
        false => "no-cache",
    };
    let mut headers = HeaderMap::new();
    // The origins of sites read WebAssembly from the gateway's origin, and import its worker.
    let is_wasm = file.path.starts_with("/assets/") && file.path.ends_with(".wasm");
    if is_probe || is_wasm {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    }
    if is_probe {
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("cross-origin"));
    }
    if file.path == policy::WORKER {
        headers.insert(RESOURCE_POLICY, HeaderValue::from_static("same-site"));
    }
    headers.insert(ETAG, etag.clone());
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    headers
}

/// The requested range. `None` if the whole file is the right response: for several ranges, for HEAD, and if the
/// client's part is of another version.
fn usable_range<'a>(request: &'a Parts, etag: &HeaderValue) -> Option<&'a HeaderValue> {
    let range = request.headers.get(RANGE)?;
    let has_one_range = range
        .to_str()
        .is_ok_and(|text| text.starts_with("bytes=") && !text.contains(','));
    let is_same_version = request.headers.get(IF_RANGE).is_none_or(|tag| tag == etag);
    let is_usable = request.method == Method::GET && has_one_range && is_same_version;
    is_usable.then_some(range)
}
