//! Hosting the built PWA: files of a folder, with deep links to its page.

mod encoding;
mod file_type;
mod folder;

pub use folder::WebFolder;

use super::chunk::is_known;
use super::error::HttpError;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_SECURITY_POLICY,
    CONTENT_TYPE, ETAG, REFERRER_POLICY, VARY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use folder::WebFile;
use std::io;
use std::path::PathBuf;

const CONFIG_PATH: &str = "/antway.json";

/// Sent with everything that is hosted. The policy lets the page connect to peers anywhere (`https:`, which
/// WebTransport counts as) and to those on loopback; scripts and styles are the page's own only. A policy
/// can't name `[::1]`: Chromium calls that an invalid source. `localhost` leads there too.
const HEADERS: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "no-referrer"),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=()",
    ),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; \
         style-src 'self'; img-src 'self' data: blob:; media-src 'self'; font-src 'self'; \
         manifest-src 'self'; connect-src 'self' https: http://127.0.0.1:* http://localhost:*; \
         base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    ),
];

/// What is hosted.
#[derive(Clone, Debug)]
pub struct Web {
    /// The built PWA.
    pub folder: WebFolder,
    /// A file to serve as `/antway.json`, instead of the folder's.
    pub config: Option<PathBuf>,
}

/// Answers a request that is not for the peer itself.
pub async fn answer(web: &Web, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let mut response = match request.method {
        Method::GET | Method::HEAD => match find(web, request.uri.path(), &request.headers).await {
            Ok(Some(file)) => respond(file, &request.headers),
            Ok(None) => HttpError::NotFound.into_response(),
            Err(error) => {
                tracing::error!(%error, path = request.uri.path(), "hosted file not read");
                HttpError::Failed.into_response()
            }
        },
        _ => HttpError::Method.into_response(),
    };
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    response
}

async fn find(web: &Web, path: &str, headers: &HeaderMap) -> io::Result<Option<WebFile>> {
    if path == CONFIG_PATH
        && let Some(config) = &web.config
    {
        return WebFile::read(config, path, None).await;
    }
    let accepted = headers.get_all(ACCEPT_ENCODING);
    let accepted = encoding::accepted(accepted.iter().filter_map(|value| value.to_str().ok()));
    let found = web.folder.file(path, &accepted).await?;
    match found {
        None if wants_page(headers) => web.folder.file("/", &accepted).await,
        found => Ok(found),
    }
}

/// Whether this is a person going somewhere, not a page fetching a part.
///
/// Chromium asks the host, past a page's worker, for what `<a download>` names: a navigation too, but one that
/// shows nothing. It must not save the page under the name of something else.
fn wants_page(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    match text(HeaderName::from_static("sec-fetch-dest")) {
        Some(shown_as) => ["document", "iframe", "frame"].contains(&shown_as),
        None => {
            text(ACCEPT).is_some_and(|accepted| accepted.contains("text/html"))
                || text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate")
        }
    }
}

fn respond(file: WebFile, request: &HeaderMap) -> Response {
    let etag = HeaderValue::from_str(&file.etag).expect("hex digits");
    // Names below /assets/ contain a hash of the content; everything else may change under its name.
    let caching = match file.path.starts_with("/assets/") {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    let is_known = is_known(request, &etag);
    let mut headers = HeaderMap::new();
    headers.insert(ETAG, etag);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding"));
    if is_known {
        return (StatusCode::NOT_MODIFIED, headers).into_response();
    }
    let file_type = HeaderValue::from_static(file_type::of(&file.path));
    headers.insert(CONTENT_TYPE, file_type);
    if let Some(encoding) = file.encoding {
        let name = HeaderValue::from_static(encoding.name());
        headers.insert(CONTENT_ENCODING, name);
    }
    (headers, file.bytes).into_response()
}
