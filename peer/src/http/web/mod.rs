//! Serves the built web app: files of a folder, and its start page for deep links.

mod content_type;
mod encoding;
mod folder;
mod host;
mod policy;
mod send_file;

pub use folder::WebFolder;

use super::error::HttpError;
use crate::client::Client;
use crate::service::Service;
use axum::extract::Request;
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, REFERRER_POLICY,
    X_DNS_PREFETCH_CONTROL,
};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method};
use axum::response::{IntoResponse, Redirect, Response};
use folder::WebFile;
use host::Host;
use std::io;
use std::path::PathBuf;

const CONFIG_PATH: &str = "/antway.json";

/// The path prefix of the gateway's own files, which are not part of the shell.
const GATEWAY_PATH: &str = "/-/";

/// Pages that only the root origin has.
const ROOT_PAGES: [&str; 2] = ["/-/move", "/-/self-test"];

/// Pages that frames may show. Their policies name the allowed parents.
const FRAMED_PAGES: [&str; 2] = ["/-/bridge", "/-/root"];

/// Headers of all hosted files. The Content-Security-Policy is added for each host.
const HEADERS: [(HeaderName, &str); 6] = [
    (REFERRER_POLICY, "no-referrer"),
    (OPENER_POLICY, "same-origin-allow-popups"),
    (RESOURCE_POLICY, "same-origin"),
    (HeaderName::from_static("origin-agent-cluster"), "?1"),
    (X_DNS_PREFETCH_CONTROL, "off"),
    (
        PERMISSIONS_POLICY,
        "camera=(), microphone=(), geolocation=()",
    ),
];

/// Replaces the policy in `HEADERS` on the origin of a site. Browsers let `<base32>.<host>` name `<host>` as the owner of
/// passkeys.
const SITE_PERMISSIONS: HeaderValue = HeaderValue::from_static(
    "publickey-credentials-create=(), publickey-credentials-get=(), camera=(), microphone=(), geolocation=()",
);

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");

const OPENER_POLICY: HeaderName = HeaderName::from_static("cross-origin-opener-policy");
const RESOURCE_POLICY: HeaderName = HeaderName::from_static("cross-origin-resource-policy");

/// Whether a request names the origin of a site.
pub fn is_of_site(headers: &HeaderMap) -> bool {
    matches!(Host::from_header(headers.get(HOST)), Host::Site { .. })
}

/// The web app to serve.
#[derive(Clone, Debug)]
pub struct Web {
    /// The folder of the built web app.
    pub folder: WebFolder,
    /// Replaces the folder's `antway.json`.
    pub config: Option<PathBuf>,
    /// Whether pages at `[::1]` redirect to `antway.localhost`. A Content-Security-Policy cannot name `[::1]`.
    pub redirects_loopback6: bool,
}

/// Answers a request for a hosted file, with the memory of its client.
pub async fn answer(web: &Web, service: &Service, client: &Client, request: Request) -> Response {
    let (request, _) = request.into_parts();
    let host = Host::from_header(request.headers.get(HOST));
    let mut response = match request.method {
        Method::GET | Method::HEAD => get(web, service, client, &host, &request).await,
        _ => HttpError::Method.into_response(),
    };
    let headers = response.headers_mut();
    if matches!(host, Host::Site { .. }) {
        headers.insert(PERMISSIONS_POLICY, SITE_PERMISSIONS);
    }
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        headers.entry(name).or_insert(value);
    }
    let policy = headers.entry(CONTENT_SECURITY_POLICY);
    policy.or_insert_with(|| policy_of(&host, request.uri.path()));
    response
}

async fn get(
    web: &Web,
    service: &Service,
    client: &Client,
    host: &Host,
    request: &Parts,
) -> Response {
    let path = request.uri.path();
    // The worker of a site answers other sites' frames in the same way.
    if matches!(host, Host::Site { .. })
        && is_frame(&request.headers)
        && !FRAMED_PAGES.contains(&path)
    {
        return HttpError::Frame.into_response();
    }
    if let (Host::Loopback6(port), true) = (host, web.redirects_loopback6)
        && is_page_navigation(&request.headers)
    {
        let path_and_query = request
            .uri
            .path_and_query()
            .map_or("/", |value| value.as_str());
        let url = format!("http://antway.localhost{port}{path_and_query}");
        return ([(CACHE_CONTROL, "no-store")], Redirect::temporary(&url)).into_response();
    }
    match find(web, host, request).await {
        Ok(Some(file)) => {
            let policy = policy_of(host, &file.path);
            let opener_policy = opener_policy_of(host, &file.path);
            let Some(permit) = service.acquire_hosted_answer(client).await else {
                return HttpError::Busy.into_response();
            };
            let mut response = match send_file::respond(&file, request).await {
                Ok(response) => permit.attach_to_answer(response, client),
                Err(error) => return failed(path, &error),
            };
            let headers = response.headers_mut();
            headers.insert(CONTENT_SECURITY_POLICY, policy);
            if let Some(value) = opener_policy {
                headers.insert(OPENER_POLICY, HeaderValue::from_static(value));
            }
            response
        }
        Ok(None) => HttpError::NotFound.into_response(),
        Err(error) => failed(path, &error),
    }
}

fn failed(path: &str, error: &io::Error) -> Response {
    tracing::error!(%error, path, "hosted file not read");
    HttpError::Failed.into_response()
}

fn policy_of(host: &Host, path: &str) -> HeaderValue {
    HeaderValue::from_str(&host.policy_of(path)).expect("names of hosts are ASCII")
}

/// The opener policy of a file that does not use the one in `HEADERS`.
fn opener_policy_of(host: &Host, path: &str) -> Option<&'static str> {
    match (path, host) {
        // The bridge may use the worker's endpoints. A page of the site must not get a reference to its window.
        (policy::BRIDGE | policy::SITE_PAGE, _) => Some("same-origin"),
        // The page talks to the window that opened it, which has another origin. At other names it does nothing.
        (policy::MOVE, Host::Root(own)) if own.split(':').next() == Some("antway.localhost") => {
            Some("unsafe-none")
        }
        _ => None,
    }
}

async fn find(
    web: &Web,
    host: &Host,
    Parts { uri, headers, .. }: &Parts,
) -> io::Result<Option<WebFile>> {
    let path = uri.path();
    if path == CONFIG_PATH
        && let Some(config) = &web.config
    {
        return WebFile::find(config.clone(), path, None).await;
    }
    let accepted = headers.get_all(ACCEPT_ENCODING);
    let accepted = encoding::accepted(accepted.iter().filter_map(|value| value.to_str().ok()));
    // On a site origin every path belongs to the site, even if the shell has a file with this path.
    let is_site = matches!(host, Host::Site { .. });
    if is_site && !path.starts_with(GATEWAY_PATH) && is_page_navigation(headers) {
        let page = web.folder.file(policy::SITE_PAGE, &accepted).await?;
        if page.is_some() {
            return Ok(page);
        }
    }
    if is_site && ROOT_PAGES.contains(&path.strip_suffix(".html").unwrap_or(path)) {
        return Ok(None);
    }
    // `/sw.js?whole` is the script itself, for a site whose import from the root origin failed.
    if is_site && path == policy::WORKER && uri.query().is_none() {
        let script = web.folder.file(policy::SITE_WORKER, &accepted).await?;
        if script.is_some() {
            return Ok(script);
        }
    }
    let found = web.folder.file(path, &accepted).await?;
    match found {
        // The gateway's own paths have no deep links. Their pages are served without the suffix `.html`.
        None if path.starts_with(GATEWAY_PATH) => {
            web.folder.file(&format!("{path}.html"), &accepted).await
        }
        None if is_page_navigation(headers) => web.folder.file("/", &accepted).await,
        found => Ok(found),
    }
}

fn is_frame(headers: &HeaderMap) -> bool {
    let destination = headers.get("sec-fetch-dest");
    let destination = destination.and_then(|value| value.to_str().ok());
    destination
        .is_some_and(|name| ["iframe", "frame", "object", "embed", "fencedframe"].contains(&name))
}

/// Whether the request is a navigation to a page, not a request for a subresource.
///
/// Chromium sends requests for `<a download>` links to the host, not to the page's worker. They are navigations, too,
/// but must not save the start page under another file's name.
fn is_page_navigation(headers: &HeaderMap) -> bool {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    match text(HeaderName::from_static("sec-fetch-dest")) {
        Some(destination) => ["document", "iframe", "frame"].contains(&destination),
        None => {
            text(ACCEPT).is_some_and(|accepted| accepted.contains("text/html"))
                || text(HeaderName::from_static("sec-fetch-mode")) == Some("navigate")
        }
    }
}
