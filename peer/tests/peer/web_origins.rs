//! The hosted web app on different hosts: policies, frames and redirects.

use crate::http::request;
use crate::web_peer::{INDEX, WebPeer};

#[tokio::test(flavor = "multi_thread")]
async fn the_move_page_keeps_its_opener_and_is_missing_on_site_origins() {
    let web = WebPeer::start(&[]).await;
    let site = "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst.antway.localhost";
    for path in ["/-/move", "/-/move.html"] {
        let response = web.get(path, &[("Host", "antway.localhost:8080")]).await;
        assert_eq!(response.body, b"move", "{path}");
        assert_eq!(
            response.header("cross-origin-opener-policy"),
            Some("unsafe-none")
        );
        let policy = response.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src antway.localhost:8080/-/"));
        assert!(policy.ends_with("frame-ancestors 'none'"));
        for host in [
            "gateway.example",
            "localhost",
            "127.0.0.1",
            "not-antway.localhost",
        ] {
            let response = web.get(path, &[("Host", host)]).await;
            assert_eq!(
                response.header("cross-origin-opener-policy"),
                Some("same-origin-allow-popups"),
                "{host}{path}"
            );
        }
        let response = web.get(path, &[("Host", site)]).await;
        assert_eq!(response.status, 404, "{path}");
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_self_test_has_the_policy_of_the_shell_and_is_missing_on_site_origins() {
    let web = WebPeer::start(&[]).await;
    let own = "gateway.example";
    let site = format!("abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst.{own}");
    let shell = web.get("/", &[("Host", own)]).await;
    for path in ["/-/self-test", "/-/self-test.html"] {
        let response = web.get(path, &[("Host", own)]).await;
        assert_eq!(response.body, b"self-test", "{path}");
        for name in ["content-security-policy", "cross-origin-opener-policy"] {
            assert_eq!(response.header(name), shell.header(name), "{path}");
        }
        let response = web.get(path, &[("Host", &site)]).await;
        assert_eq!(response.status, 404, "{path}");
    }
    web.peer.stop().await;
}

const SITE: &str = "abcdefghijklmnopqrstuvwxyz234567abcdefghijklmnopqrst.antway.localhost:8080";

#[tokio::test(flavor = "multi_thread")]
async fn only_the_gateways_origins_may_frame_its_pages() {
    let web = WebPeer::start(&[]).await;
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
            let is_framed = host != SITE || ["/-/bridge", "/-/root"].contains(&path);
            let destination = if is_framed { "iframe" } else { "document" };
            let headers = [("Host", host), ("Sec-Fetch-Dest", destination)];
            let response = web.get(path, &headers).await;
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
async fn the_worker_of_a_site_imports_that_of_the_root_origin() {
    let web = WebPeer::start(&[]).await;
    let root = "antway.localhost:8080";
    let script_source = |response: &crate::http::Response| {
        let policy = response.header("content-security-policy").unwrap();
        let directive = policy
            .split("; ")
            .find(|one| one.starts_with("script-src "));
        directive.unwrap().to_owned()
    };
    let imported = " antway.localhost:8080/sw.js 'wasm-unsafe-eval'";
    for (host, path, body) in [
        (SITE, "/sw.js", "// site worker"),
        (SITE, "/sw.js?whole", "// worker"),
        (root, "/sw.js", "// worker"),
        ("127.0.0.1:8080", "/sw.js", "// worker"),
    ] {
        let response = web.get(path, &[("Host", host)]).await;
        assert_eq!(response.body, body.as_bytes(), "{host}{path}");
        assert_eq!(
            response.header("content-type"),
            Some("text/javascript; charset=utf-8")
        );
        let imports = host == root || body == "// site worker";
        assert_eq!(script_source(&response).ends_with(imported), imports);
        let is_whole = body == "// worker";
        let resources = if is_whole { "same-site" } else { "same-origin" };
        assert_eq!(
            response.header("cross-origin-resource-policy"),
            Some(resources),
            "{host}{path}"
        );
    }
    for (path, readers) in [
        ("/assets/crypto-3c.wasm", Some("*")),
        ("/assets/app-1a2b.mjs", None),
        ("/antway.json", None),
    ] {
        let response = web.get(path, &[("Host", root)]).await;
        assert_eq!(response.header("access-control-allow-origin"), readers);
    }
    // Hosts of older builds have no such file.
    std::fs::remove_file(web.folder.path().join("dist/-/site-worker.js")).unwrap();
    assert_eq!(
        web.get("/sw.js", &[("Host", SITE)]).await.body,
        b"// worker"
    );
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_origin_can_read_the_probe() {
    let web = WebPeer::start(&[]).await;
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
    let web = WebPeer::start(&[]).await;
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
    let open = WebPeer::start(&["--http=0.0.0.0:0"]).await;
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
async fn a_site_may_not_ask_for_passkeys_in_any_answer_of_the_host() {
    let web = WebPeer::start(&[]).await;
    let own = "camera=(), microphone=(), geolocation=()";
    let of_site = format!("publickey-credentials-create=(), publickey-credentials-get=(), {own}");
    for path in ["/", "/-/bridge", "/-/root", "/sw.js", "/-/missing"] {
        let shell = web.get(path, &[("Host", "antway.localhost:8080")]).await;
        assert_eq!(shell.header("permissions-policy"), Some(own), "{path}");
        let site = web.get(path, &[("Host", SITE)]).await;
        assert_eq!(site.header("permissions-policy"), Some(&*of_site), "{path}");
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_site_has_no_endpoint_of_the_peer() {
    let web = WebPeer::start(&[]).await;
    let stored = web.peer.store_chunk(1, 100).await;
    for path in [
        "/-/info",
        "/-/health",
        "/-/ready",
        "/metrics",
        "/pointer/x",
        &format!("/chunk/{}", stored.address()),
    ] {
        // The folder has a file with this name. It is an ordinary file below the name of a site.
        let status = if path == "/-/info" { 200 } else { 404 };
        let response = web.get(path, &[("Host", SITE)]).await;
        assert_eq!(response.status, status, "{path}");
        for name in ["timing-allow-origin", "access-control-allow-origin"] {
            assert_eq!(response.header(name), None, "{path}");
        }
        assert_eq!(
            response.header("cross-origin-resource-policy"),
            Some("same-origin"),
            "{path}"
        );
        let framed = [("Host", SITE), ("Sec-Fetch-Dest", "iframe")];
        assert_eq!(web.get(path, &framed).await.status, 403, "{path}");
    }
    for path in ["/", "/index.html", "/-/site"] {
        for destination in ["iframe", "object", "embed"] {
            let framed = [("Host", SITE), ("Sec-Fetch-Dest", destination)];
            assert_eq!(web.get(path, &framed).await.status, 403, "{path}");
        }
    }
    let bridge = [("Host", SITE), ("Sec-Fetch-Dest", "iframe")];
    assert_eq!(web.get("/-/bridge", &bridge).await.status, 200);
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_on_loopback_answers_pages_of_this_machine_only() {
    let web = WebPeer::start(&[]).await;
    let stored = web.peer.store_chunk(1, 100).await;
    let path = format!("/chunk/{}", stored.address());
    for (host, headers, may) in [
        ("127.0.0.1", vec![], true),
        ("127.0.0.1", vec![("Origin", "http://localhost:5173")], true),
        (
            "antway.localhost",
            vec![("Origin", "http://a.antway.localhost")],
            true,
        ),
        ("127.0.0.1", vec![("Sec-Fetch-Site", "none")], true),
        ("127.0.0.1", vec![("Origin", "https://evil.example")], false),
        ("127.0.0.1", vec![("Origin", "null")], false),
        ("127.0.0.1", vec![("Sec-Fetch-Site", "cross-site")], false),
        (
            "x.antway.localhost",
            vec![("Sec-Fetch-Site", "same-site")],
            false,
        ),
        ("evil.example", vec![], false),
    ] {
        for path in [path.as_str(), "/-/info"] {
            let headers = [&[("Host", host)], &headers[..]].concat();
            let response = web.get(path, &headers).await;
            let status = if may { 200 } else { 403 };
            assert_eq!(response.status, status, "{path} {headers:?}");
            let origin = headers.iter().find(|(name, _)| *name == "Origin");
            let allowed = origin.map(|(_, value)| *value).filter(|_| may);
            assert_eq!(response.header("access-control-allow-origin"), allowed);
            assert_eq!(response.header("timing-allow-origin"), allowed);
        }
    }
    web.peer.stop().await;
}
