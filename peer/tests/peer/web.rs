//! The hosted web app.

use crate::http::{read_response, request};
use crate::test_peer::TestPeer;
use crate::web_peer::{INDEX, WebPeer};
use antway_peer::limits::MAX_HTTP_HEAD_BYTES;
use std::fs;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

#[tokio::test(flavor = "multi_thread")]
async fn files_have_content_types_caching_and_security_headers() {
    let web = WebPeer::start(&[]).await;
    let forever = "public, max-age=31536000, immutable";
    for (path, content_type, caching) in [
        ("/", "text/html; charset=utf-8", "no-cache"),
        ("/index.html", "text/html; charset=utf-8", "no-cache"),
        ("/sw.js", "text/javascript; charset=utf-8", "no-cache"),
        (
            "/manifest.webmanifest",
            "application/manifest+json",
            "no-cache",
        ),
        ("/antway.json", "application/json", "no-cache"),
        (
            "/assets/app-1a2b.mjs",
            "text/javascript; charset=utf-8",
            forever,
        ),
        ("/assets/crypto-3c.wasm?x=1", "application/wasm", forever),
    ] {
        let response = web.get(path, &[]).await;
        assert_eq!(response.status, 200, "{path}");
        assert_eq!(
            response.header("content-type"),
            Some(content_type),
            "{path}"
        );
        assert_eq!(response.header("cache-control"), Some(caching), "{path}");
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(response.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(
            response.header("cross-origin-opener-policy"),
            Some("same-origin-allow-popups")
        );
        assert_eq!(response.header("origin-agent-cluster"), Some("?1"));
        assert_eq!(response.header("x-dns-prefetch-control"), Some("off"));
        // The origins of sites read WebAssembly, and import the worker.
        let is_wasm = content_type == "application/wasm";
        let resources = match path {
            "/sw.js" => "same-site",
            _ => "same-origin",
        };
        assert_eq!(
            response.header("cross-origin-resource-policy"),
            Some(resources),
            "{path}"
        );
        let policy = response.header("content-security-policy").unwrap();
        if content_type.starts_with("text/") {
            let host = web.peer.peer.http().strip_prefix("http://").unwrap();
            let scripts = format!("script-src {host}/assets/ {host}/sw.js 'wasm-unsafe-eval';");
            assert!(
                policy.starts_with(&format!("default-src 'none'; {scripts}")),
                "{policy}"
            );
            assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("  "));
        } else {
            assert_eq!(
                policy, "default-src 'none'; frame-ancestors 'none'",
                "{path}"
            );
        }
        assert_eq!(
            response.header("permissions-policy"),
            Some("camera=(), microphone=(), geolocation=()")
        );
        assert_eq!(
            response.header("access-control-allow-origin"),
            is_wasm.then_some("*")
        );

        let etag = response.header("etag").unwrap();
        let again = web.get(path, &[("If-None-Match", etag)]).await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let head = request(web.peer.peer.http(), "HEAD", path, &[], b"").await;
        let length = response.body.len().to_string();
        assert_eq!(head.header("content-length"), Some(&*length), "{path}");
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_compressed_files_to_clients_that_accept_them() {
    let web = WebPeer::start(&[]).await;
    let path = "/assets/app-1a2b.mjs";
    let mut tags = Vec::new();
    for (accepted, body, encoding) in [
        ("gzip, deflate, br", "brotli", Some("br")),
        ("gzip", "gzip", Some("gzip")),
        ("br;q=0, gzip;q=0", "plain", None),
        ("identity", "plain", None),
    ] {
        let response = web.get(path, &[("Accept-Encoding", accepted)]).await;
        assert_eq!(response.body, body.as_bytes(), "{accepted}");
        assert_eq!(response.header("content-encoding"), encoding);
        assert_eq!(
            response.header("content-type"),
            Some("text/javascript; charset=utf-8")
        );
        assert_eq!(response.header("vary"), Some("Accept-Encoding"));
        tags.push(response.header("etag").unwrap().to_owned());
    }
    assert!(tags[0] != tags[1] && tags[1] != tags[2]);
    let without = web.get("/sw.js", &[("Accept-Encoding", "br")]).await;
    assert_eq!(without.header("content-encoding"), None);
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_the_start_page_for_deep_links_and_errors_otherwise() {
    let web = WebPeer::start(&[]).await;
    let link = format!("/{}/blog/post", "a".repeat(64));
    for navigation in [
        ("Accept", "text/html,application/xhtml+xml,*/*;q=0.8"),
        ("Sec-Fetch-Mode", "navigate"),
    ] {
        for host in [
            "antway.localhost",
            "aaaa.antway.localhost",
            "gateway.example",
        ] {
            let response = web.get(&link, &[navigation, ("Host", host)]).await;
            assert_eq!(response.status, 200);
            assert_eq!(response.body, INDEX.as_bytes());
            assert_eq!(response.header("cache-control"), Some("no-cache"));
        }
    }
    for path in [&*link, "/missing.js", "/assets/", "/assets"] {
        let response = web.get(path, &[("Accept", "*/*")]).await;
        assert_eq!(
            (response.status, response.code()),
            (404, "NOT_FOUND".to_owned()),
            "{path}"
        );
    }
    // Chromium sends these headers for a link with the attribute `download`.
    let download = [("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "empty")];
    assert_eq!(web.get(&link, &download).await.status, 404);
    let post = request(web.peer.peer.http(), "POST", "/", &[], b"").await;
    assert_eq!((post.status, post.code()), (405, "METHOD".to_owned()));
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accepts_requests_with_many_cookies() {
    let web = WebPeer::start(&[]).await;
    let cookies: Vec<String> = (0..170)
        .map(|i| format!("c{i}={}", "x".repeat(4090)))
        .collect();
    let cookies = cookies.join("; ");
    for path in ["/antway.json", "/sw.js", "/", "/some/link", "/-/info"] {
        let headers = [("Cookie", &*cookies), ("Sec-Fetch-Dest", "document")];
        assert_eq!(web.get(path, &headers).await.status, 200, "{path}");
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_head_over_the_limit() {
    let web = WebPeer::start(&[]).await;
    let authority = web.peer.peer.http().strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    let start = format!("GET / HTTP/1.1\r\nHost: {authority}\r\nCookie: ");
    // The head must not be longer than the peer reads, or the connection closes before the response arrives.
    let rest = "x".repeat(MAX_HTTP_HEAD_BYTES - start.len());
    stream.write_all((start + &rest).as_bytes()).await.unwrap();
    let response = read_response(&mut stream, false).await;
    assert_eq!(response.status, 431);
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_responses_have_nosniff() {
    let web = WebPeer::start(&["--allow-open-writes"]).await;
    let chunk = web.peer.store_chunk(1, 1000).await;
    let address = chunk.address().to_string();
    for (method, path) in [
        ("GET", &*format!("/chunk/{address}")),
        ("HEAD", &format!("/chunk/{address}")),
        ("OPTIONS", &format!("/chunk/{address}")),
        ("PUT", "/chunk/abc"),
        ("GET", "/chunk/abc"),
        ("GET", "/pointer/abc"),
        ("GET", &format!("/pointer/{address}")),
        ("GET", "/-/info"),
        ("GET", "/-/health"),
        ("GET", "/-/missing"),
        ("GET", "/metrics"),
        ("POST", "/metrics"),
        ("POST", "/-/share"),
        ("GET", "/"),
        ("GET", "/missing"),
        ("POST", "/"),
    ] {
        let response = request(web.peer.peer.http(), method, path, &[], b"").await;
        let nosniff = response.header("x-content-type-options");
        assert_eq!(nosniff, Some("nosniff"), "{method} {path}");
    }
    web.peer.stop().await;
    let alone = TestPeer::start(&[]).await;
    for path in ["/", "/-/missing"] {
        let response = alone.get(path).await;
        assert_eq!(response.status, 404);
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    }
    alone.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_no_file_outside_the_folder() {
    let web = WebPeer::start(&[]).await;
    for path in [
        "/../outside.txt",
        "/%2e%2e/outside.txt",
        "/assets/../../outside.txt",
        "/assets/..%2f..%2foutside.txt",
        "/..%5coutside.txt",
        "/link.txt",
        "/.hidden",
        "/sw.js%00",
        "/sw.js/x",
        "//sw.js",
        &format!("/{}", "x".repeat(5000)),
    ] {
        let response = web.get(path, &[]).await;
        assert_eq!(response.status, 404, "{path}");
        assert_ne!(response.body, b"secret");
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_peers_own_paths_have_precedence() {
    let web = WebPeer::start(&[]).await;
    let navigation = [("Accept", "text/html")];
    for (path, status) in [
        ("/-/info", 200),
        ("/-/x", 404),
        ("/chunk/x", 400),
        ("/metrics", 200),
    ] {
        let response = web.get(path, &navigation).await;
        assert_eq!(response.status, status, "{path}");
        assert_ne!(response.body, INDEX.as_bytes());
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_a_share_without_worker_to_the_start_page() {
    let web = WebPeer::start(&[]).await;
    let form = [("Content-Type", "multipart/form-data; boundary=x")];
    let shared = request(web.peer.peer.http(), "POST", "/-/share", &form, b"--x--").await;
    assert_eq!(shared.status, 303);
    assert_eq!(shared.header("location"), Some("/"));
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_config_file_replaces_the_one_in_the_folder() {
    let config = TempDir::new().unwrap();
    let file = config.path().join("mine.json");
    fs::write(&file, "{\"mine\":1}").unwrap();
    let web = WebPeer::start(&[&format!("--web-config={}", file.display())]).await;
    let response = web.get("/antway.json", &[]).await;
    assert_eq!(response.body, b"{\"mine\":1}");
    assert_eq!(response.header("cache-control"), Some("no-cache"));
    assert_eq!(response.header("content-type"), Some("application/json"));
    fs::write(&file, "{\"mine\":2,\"more\":0}").unwrap();
    assert_eq!(
        web.get("/antway.json", &[]).await.body,
        b"{\"mine\":2,\"more\":0}"
    );
    web.peer.stop().await;
    assert!(web.folder.path().exists());
}
