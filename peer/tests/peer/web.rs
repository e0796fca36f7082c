//! The hosted web app.

use crate::http::{Response, read_response, request};
use crate::test_peer::TestPeer;
use antway_peer::limits::MAX_HTTP_HEAD_BYTES;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

const INDEX: &str = "<!doctype html><title>Antway</title>";

struct Hosting {
    peer: TestPeer,
    folder: TempDir,
}

impl Hosting {
    async fn start(flags: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let dist = folder.path().join("dist");
        for name in ["assets", "-"] {
            fs::create_dir_all(dist.join(name)).unwrap();
        }
        for (name, content) in [
            ("index.html", INDEX),
            ("sw.js", "// worker"),
            ("antway.json", "{\"peers\":[]}"),
            ("manifest.webmanifest", "{}"),
            ("assets/app-1a2b.mjs", "plain"),
            ("assets/app-1a2b.mjs.br", "brotli"),
            ("assets/app-1a2b.mjs.gz", "gzip"),
            ("assets/crypto-3c.wasm", "\0asm"),
            ("-/bridge.html", "bridge"),
            ("-/bridge.js", "// bridge"),
            ("-/root.html", "root"),
            ("-/move.html", "move"),
            ("-/probe-5e6f.json", "{\"antway\":\"5e6f\"}"),
            ("-/info", "never served"),
            (".hidden", "secret"),
            ("../outside.txt", "secret"),
        ] {
            fs::write(dist.join(name), content).unwrap();
        }
        symlink(folder.path().join("outside.txt"), dist.join("link.txt")).unwrap();
        let web = format!("--web={}", dist.display());
        let peer = TestPeer::start(&[&[web.as_str()], flags].concat()).await;
        Self { peer, folder }
    }

    async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        request(self.peer.peer.http(), "GET", path, headers, b"").await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_have_content_types_caching_and_security_headers() {
    let web = Hosting::start(&[]).await;
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
        assert_eq!(
            response.header("cross-origin-resource-policy"),
            Some("same-origin")
        );
        let policy = response.header("content-security-policy").unwrap();
        let host = web.peer.peer.http().strip_prefix("http://").unwrap();
        let scripts = format!("script-src {host}/assets/ {host}/sw.js 'wasm-unsafe-eval';");
        assert!(
            policy.starts_with(&format!("default-src 'none'; {scripts}")),
            "{policy}"
        );
        assert!(policy.ends_with("frame-ancestors 'none'") && !policy.contains("  "));
        assert!(
            response
                .header("permissions-policy")
                .unwrap()
                .contains("camera=()")
        );
        assert_eq!(response.header("access-control-allow-origin"), None);

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
async fn the_move_page_keeps_its_opener_and_is_missing_on_site_origins() {
    let web = Hosting::start(&[]).await;
    let site = "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst.antway.localhost";
    for path in ["/-/move", "/-/move.html"] {
        let response = web.get(path, &[("Host", "antway.localhost")]).await;
        assert_eq!(response.body, b"move", "{path}");
        assert_eq!(
            response.header("cross-origin-opener-policy"),
            Some("unsafe-none")
        );
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src antway.localhost/-/"));
        assert!(policy.ends_with("frame-ancestors 'none'"));
        let response = web.get(path, &[("Host", site)]).await;
        assert_eq!(response.status, 404, "{path}");
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn serves_compressed_files_to_clients_that_accept_them() {
    let web = Hosting::start(&[]).await;
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
    let web = Hosting::start(&[]).await;
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

const SITE: &str = "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst.antway.localhost:8080";

#[tokio::test(flavor = "multi_thread")]
async fn only_the_gateways_origins_may_frame_its_pages() {
    let web = Hosting::start(&[]).await;
    for (host, bridge, root) in [
        ("antway.localhost:8080", "'none'", "*.antway.localhost:8080"),
        (SITE, "antway.localhost:8080", "'none'"),
        ("127.0.0.1:8080", "'none'", "'none'"),
    ] {
        for (path, body, ancestors) in [
            ("/-/bridge", "bridge", bridge),
            ("/-/bridge.html", "bridge", bridge),
            ("/-/root", "root", root),
            ("/", INDEX, "'none'"),
        ] {
            let response = web
                .get(path, &[("Host", host), ("Sec-Fetch-Dest", "iframe")])
                .await;
            assert_eq!(response.body, body.as_bytes(), "{path}");
            assert_eq!(
                response.header("content-type"),
                Some("text/html; charset=utf-8")
            );
            let policy = response.header("content-security-policy").unwrap();
            assert!(
                policy.ends_with(&format!("frame-ancestors {ancestors}")),
                "{host}{path}: {policy}"
            );
        }
        let missing = web
            .get(
                "/-/missing",
                &[("Host", host), ("Sec-Fetch-Dest", "document")],
            )
            .await;
        assert_eq!(
            (missing.status, missing.code()),
            (404, "NOT_FOUND".to_owned())
        );
    }
    let script = web.get("/-/bridge.js", &[]).await;
    assert_eq!(
        script.header("content-type"),
        Some("text/javascript; charset=utf-8")
    );
    assert_eq!(script.header("access-control-allow-origin"), None);
    assert_ne!(web.get("/-/info", &[]).await.body, b"never served");
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_origin_can_read_the_probe() {
    let web = Hosting::start(&[]).await;
    let probe = web.get("/-/probe-5e6f.json", &[("Host", SITE)]).await;
    assert_eq!(probe.body, b"{\"antway\":\"5e6f\"}");
    for (name, value) in [
        ("access-control-allow-origin", "*"),
        ("cross-origin-resource-policy", "cross-origin"),
        ("cache-control", "no-store"),
        ("content-type", "application/json"),
    ] {
        assert_eq!(probe.header(name), Some(value));
    }
    assert_eq!(web.get("/-/probe-other.json", &[]).await.status, 404);
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_pages_at_ipv6_loopback_to_a_name() {
    let web = Hosting::start(&[]).await;
    let page = ("Sec-Fetch-Dest", "document");
    let there = web.get("/a/b?c=1", &[("Host", "[::1]:8080"), page]).await;
    assert_eq!(there.status, 307);
    assert_eq!(
        there.header("location"),
        Some("http://antway.localhost:8080/a/b?c=1")
    );
    assert_eq!(there.header("cache-control"), Some("no-store"));
    // Only pages at `[::1]` redirect, not their subresources, and not other hosts.
    assert_eq!(
        web.get("/sw.js", &[("Host", "[::1]:8080")]).await.status,
        200
    );
    for host in ["127.0.0.1:8080", "antway.localhost:8080", "[::2]:8080"] {
        assert_eq!(
            web.get("/", &[("Host", host), page]).await.status,
            200,
            "{host}"
        );
    }
    web.peer.stop().await;

    // If the peer listens beyond loopback, `[::1]` may be the host name that a proxy uses.
    let open = Hosting::start(&["--http=0.0.0.0:0"]).await;
    let port = open.peer.peer.http().rsplit_once(':').unwrap().1;
    let base = format!("http://127.0.0.1:{port}");
    let headers = [("Host", "[::1]:8080"), page];
    let response = request(&base, "GET", "/", &headers, b"").await;
    assert_eq!(response.status, 200);
    let policy = response.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'self' 'wasm-unsafe-eval';"),
        "{policy}"
    );
    open.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accepts_requests_with_many_cookies() {
    let web = Hosting::start(&[]).await;
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
    let web = Hosting::start(&[]).await;
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
    let web = Hosting::start(&["--allow-open-writes"]).await;
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
    let web = Hosting::start(&[]).await;
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
    let web = Hosting::start(&[]).await;
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
    let web = Hosting::start(&[]).await;
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
    let web = Hosting::start(&[&format!("--web-config={}", file.display())]).await;
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
