//! Ranges of hosted files.

use crate::http::request;
use crate::web_peer::WebPeer;

const FILE: &str = "/assets/app-1a2b.mjs";

#[tokio::test(flavor = "multi_thread")]
async fn a_range_of_a_hosted_file_is_sent_alone() {
    let web = WebPeer::start(&[]).await;
    for (range, content_range, body) in [
        ("bytes=0-1", "bytes 0-1/5", "pl"),
        ("bytes=2-", "bytes 2-4/5", "ain"),
        ("bytes=-2", "bytes 3-4/5", "in"),
        ("bytes=1-99", "bytes 1-4/5", "lain"),
    ] {
        let response = web.get(FILE, &[("Range", range)]).await;
        assert_eq!(response.status, 206, "{range}");
        assert_eq!(response.header("content-range"), Some(content_range));
        assert_eq!(response.body, body.as_bytes());
        assert_eq!(
            response.header("content-type"),
            Some("text/javascript; charset=utf-8")
        );
        assert!(response.header("etag").is_some());
        assert!(response.header("content-security-policy").is_some());
    }
    let compressed = [("Range", "bytes=0-1"), ("Accept-Encoding", "br")];
    let response = web.get(FILE, &compressed).await;
    assert_eq!((response.status, &*response.body), (206, &b"br"[..]));
    assert_eq!(response.header("content-encoding"), Some("br"));
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_outside_of_the_file_gets_416() {
    let web = WebPeer::start(&[]).await;
    for range in ["bytes=5-", "bytes=7-9"] {
        let response = web.get(FILE, &[("Range", range)]).await;
        assert_eq!(response.status, 416, "{range}");
        assert_eq!(response.header("content-range"), Some("bytes */5"));
        assert_eq!(response.header("cache-control"), Some("no-store"));
        assert_eq!(response.header("etag"), None);
        assert_eq!(response.header("x-content-type-options"), Some("nosniff"));
    }
    web.peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_whole_file_is_sent_if_the_range_cannot_be_used() {
    let web = WebPeer::start(&[]).await;
    let whole = web.get(FILE, &[]).await;
    assert_eq!(whole.header("accept-ranges"), Some("bytes"));
    assert_eq!(whole.header("last-modified"), None);
    let etag = whole.header("etag").unwrap();
    let range = ("Range", "bytes=0-1");
    for headers in [
        &[("Range", "bytes=0-0,2-3")][..],
        &[("Range", "lines=1-2")],
        &[range, ("If-Range", "\"another\"")],
        &[range, ("If-Range", "Sun, 22 Nov 2026 00:00:00 GMT")],
    ] {
        let response = web.get(FILE, headers).await;
        assert_eq!((response.status, &*response.body), (200, &b"plain"[..]));
    }
    let same = web.get(FILE, &[range, ("If-Range", etag)]).await;
    assert_eq!((same.status, &*same.body), (206, &b"pl"[..]));
    let head = request(web.peer.peer.http(), "HEAD", FILE, &[range], b"").await;
    assert_eq!(
        (head.status, head.header("content-length")),
        (200, Some("5"))
    );
    // The time of the file does not decide: it has whole seconds only.
    let since = ("If-Modified-Since", "Fri, 01 Jan 2100 00:00:00 GMT");
    assert_eq!(web.get(FILE, &[since]).await.status, 200);
    web.peer.stop().await;
}
