//! The permission to write.

use crate::http::{Response, request};
use crate::session::{Reset, Session, put_request, read_all, send_all};
use crate::test_peer::{TestPeer, chunk};
use antway_peer::limits::MAX_CHUNK_BYTES;
use antway_peer::source::Chunk;

async fn put(peer: &TestPeer, chunk: &Chunk, headers: &[(&str, &str)]) -> Response {
    let path = format!("/chunk/{}", chunk.address());
    request(peer.peer.http(), "PUT", &path, headers, chunk.bytes()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_writes_by_default() {
    let peer = TestPeer::start(&[]).await;
    let chunk = chunk(1, 1000);
    let response = put(&peer, &chunk, &[("Authorization", "Bearer x")]).await;
    assert_eq!(
        (response.status, response.code()),
        (403, "FORBIDDEN".to_owned())
    );
    let session = Session::open(&peer.peer).await;
    assert_eq!(session.put(b"x", chunk.bytes()).await[0], 4);
    assert_eq!(peer.info().await["write"], "none");
    assert_eq!(peer.store_chunks().await, 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn accepts_writes_only_with_the_token() {
    let peer = TestPeer::start(&["--write-token=top-secret"]).await;
    let session = Session::open(&peer.peer).await;
    let first = chunk(1, 1000);
    for wrong in [
        &[][..],
        &[("Authorization", "Bearer wrong")],
        &[("Authorization", "Basic top-secret")],
    ] {
        let response = put(&peer, &first, wrong).await;
        assert_eq!(
            (response.status, response.code()),
            (401, "UNAUTHORIZED".to_owned())
        );
        assert_eq!(response.header("www-authenticate"), Some("Bearer"));
    }
    for wrong in [&b""[..], b"wrong", b"top-secre", b"top-secret!"] {
        assert_eq!(
            session.put(wrong, first.bytes()).await,
            [&[4][..], &[0; 32]].concat()
        );
    }
    assert_eq!(peer.store_chunks().await, 0);

    let right = [("Authorization", "bearer top-secret")];
    let response = put(&peer, &first, &right).await;
    assert_eq!(response.status, 201);
    assert_eq!(
        response.header("etag"),
        Some(&*format!("\"{}\"", first.address()))
    );
    assert_eq!(
        put(&peer, &first, &right).await.status,
        200,
        "the chunk is stored already"
    );
    let second = chunk(2, MAX_CHUNK_BYTES as usize);
    for _ in 0..2 {
        let answer = session.put(b"top-secret", second.bytes()).await;
        assert_eq!(answer, [&[0][..], second.address().as_bytes()].concat());
    }
    assert!(session.get(&[second.address()]).await == [(0, second.bytes().to_vec())]);
    assert_eq!(peer.info().await["write"], "token");
    let refused = r#"antway_peer_refused_writes_total{transport="webtransport",reason="token"}"#;
    assert_eq!(peer.metric(refused).await, 4);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn does_not_read_a_refused_upload() {
    let peer = TestPeer::start(&["--write-token=top-secret"]).await;
    let session = Session::open(&peer.peer).await;
    for (token, length, status) in [
        (&b"wrong"[..], MAX_CHUNK_BYTES, 4),
        (b"top-secret", MAX_CHUNK_BYTES + 1, 5),
        (b"top-secret", u32::MAX, 5),
    ] {
        let (mut send, mut recv) = session.stream().await;
        // The peer waits neither for the rest of the bytes nor for the end of the stream.
        send_all(&mut send, &put_request(token, length, b"beginning")).await;
        let answer = read_all(&mut recv).await.unwrap();
        assert_eq!(answer, [&[status][..], &[0; 32]].concat());
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_a_too_large_chunk_over_http() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let large = chunk(1, MAX_CHUNK_BYTES as usize + 1);
    let response = put(&peer, &large, &[]).await;
    assert_eq!(
        (response.status, response.code()),
        (413, "TOO_LARGE".to_owned())
    );
    let path = format!("/chunk/{}", large.address());
    let mut chunked = format!("{:x}\r\n", large.bytes().len()).into_bytes();
    chunked.extend_from_slice(large.bytes());
    chunked.extend_from_slice(b"\r\n0\r\n\r\n");
    let headers = [("Transfer-Encoding", "chunked")];
    let response = request(peer.peer.http(), "PUT", &path, &headers, &chunked).await;
    assert_eq!(
        (response.status, response.code()),
        (413, "TOO_LARGE".to_owned())
    );
    let largest = chunk(1, MAX_CHUNK_BYTES as usize);
    assert_eq!(put(&peer, &largest, &[]).await.status, 201);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_bytes_that_do_not_match_the_address() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let path = format!("/chunk/{}", chunk(1, 1000).address());
    let response = request(peer.peer.http(), "PUT", &path, &[], chunk(2, 1000).bytes()).await;
    assert_eq!(
        (response.status, response.code()),
        (422, "MISMATCH".to_owned())
    );
    let response = request(peer.peer.http(), "PUT", "/chunk/abc", &[], b"x").await;
    assert_eq!(
        (response.status, response.code()),
        (400, "BAD_ADDRESS".to_owned())
    );
    assert_eq!(peer.store_chunks().await, 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn reports_a_full_store() {
    let peer = TestPeer::start(&["--allow-open-writes", "--max-store-bytes=2kB"]).await;
    let session = Session::open(&peer.peer).await;
    assert_eq!(put(&peer, &chunk(1, 1500), &[]).await.status, 201);
    let response = put(&peer, &chunk(2, 1500), &[]).await;
    assert_eq!((response.status, response.code()), (507, "FULL".to_owned()));
    let over = chunk(3, 1500);
    let answer = session.put(b"", over.bytes()).await;
    assert_eq!(answer, [&[6][..], over.address().as_bytes()].concat());
    assert_eq!(session.put(b"", chunk(4, 500).bytes()).await[0], 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_writes_are_allowed_for_own_pages() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let hashes = peer.peer.certificate_hashes();
    let url = peer.peer.web_transport().unwrap();
    let own_over_web_transport = url.strip_suffix("/v1").unwrap();
    for (seed, origin, may_http, may_web_transport) in [
        (1, peer.peer.http(), true, false),
        (2, own_over_web_transport, false, true),
        (3, "http://localhost:5173", false, false),
        (4, "http://antway.localhost", false, false),
        (5, "https://evil.example", false, false),
        (6, "http://localhost.evil.example", false, false),
        (7, "null", false, false),
    ] {
        let expected = if may_http { 201 } else { 403 };
        let response = put(&peer, &chunk(seed, 100), &[("Origin", origin)]).await;
        assert_eq!(response.status, expected, "{origin}");
        let stored = match Session::connect(url, &hashes, Some(origin)).await {
            Ok(session) => session.put(b"", chunk(seed, 200).bytes()).await[0] == 0,
            Err(_refused) => false,
        };
        assert_eq!(stored, may_web_transport, "{origin}");
        let preflight = preflight(&peer, origin).await;
        let methods = preflight.header("access-control-allow-methods");
        let may_put = methods.is_some_and(|methods| methods.contains("PUT"));
        assert_eq!(may_put, may_http, "{origin}");
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_writes_from_a_site_origin_of_the_gateway() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let host = ("Host", "antway.localhost:8080");
    for (origin, status) in [
        ("http://antway.localhost:8080", 201),
        ("http://abcdefgh.antway.localhost:8080", 403),
        ("http://antway.localhost:8081", 403),
    ] {
        let response = put(&peer, &chunk(1, 100), &[host, ("Origin", origin)]).await;
        assert_eq!(response.status, status, "{origin}");
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_writes_under_a_foreign_host_name() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    for headers in [
        &[("Host", "evil.example")][..],
        &[("Host", "evil.example"), ("Origin", "http://evil.example")],
        &[("Host", "127.0.0.1.evil.example:80")],
    ] {
        let response = put(&peer, &chunk(1, 100), headers).await;
        assert_eq!(response.status, 403, "{headers:?}");
    }
    for host in ["localhost", "[::1]:80", "x.antway.localhost:8080"] {
        let response = put(&peer, &chunk(1, 100), &[("Host", host)]).await;
        assert!(response.status < 300, "{host}");
    }
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listed_origins_restrict_only_browsers() {
    let flags = [
        "--allow-origin=https://a.example,https://b.example:8443",
        "--write-token=top-secret",
    ];
    let peer = TestPeer::start(&flags).await;
    let stored = peer.store_chunk(9, 100).await;
    let path = format!("/chunk/{}", stored.address());
    let hashes = peer.peer.certificate_hashes();
    let url = peer.peer.web_transport().unwrap();
    let token = ("Authorization", "Bearer top-secret");
    for (seed, origin, may) in [
        (1, Some("https://a.example"), true),
        (2, Some("https://b.example:8443"), true),
        (3, Some("https://c.example"), false),
        (4, Some("http://localhost:5173"), true),
        (5, None, true),
    ] {
        let header = origin.map(|origin| ("Origin", origin));
        let headers: Vec<_> = header.into_iter().chain([token]).collect();
        let response = put(&peer, &chunk(seed, 100), &headers).await;
        assert_eq!(response.status, if may { 201 } else { 403 }, "{origin:?}");
        let response = request(peer.peer.http(), "GET", &path, &headers, b"").await;
        let allowed = response.header("access-control-allow-origin");
        assert_eq!(allowed, origin.filter(|_| may), "{origin:?}");
        assert_eq!(response.header("vary"), Some("Origin"));
        let session = Session::connect(url, &hashes, origin).await;
        assert_eq!(session.is_ok(), may, "{origin:?}");
    }
    peer.stop().await;
}

async fn preflight(peer: &TestPeer, origin: &str) -> Response {
    let path = format!("/chunk/{}", chunk(0, 1).address());
    let headers = [
        ("Origin", origin),
        ("Access-Control-Request-Method", "PUT"),
        ("Access-Control-Request-Headers", "authorization"),
        ("Access-Control-Request-Private-Network", "true"),
    ];
    request(peer.peer.http(), "OPTIONS", &path, &headers, b"").await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preflight_lists_what_a_page_may_do() {
    let peer = TestPeer::start(&["--write-token=top-secret", "--allow-origin=*"]).await;
    let response = preflight(&peer, "https://any.example").await;
    assert_eq!(response.status, 204);
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    assert_eq!(
        response.header("access-control-allow-methods"),
        Some("GET, HEAD, PUT")
    );
    assert_eq!(
        response.header("access-control-allow-private-network"),
        Some("true")
    );
    let allowed = response.header("access-control-allow-headers").unwrap();
    assert!(allowed.contains("Authorization"));
    let exposed = peer.get("/-/info").await;
    let exposed = exposed.header("access-control-expose-headers");
    assert_eq!(exposed, Some("ETag, Content-Length, Retry-After"));
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_receives_a_refusal_while_it_is_sending() {
    let peer = TestPeer::start(&["--write-token=top-secret"]).await;
    for seed in 0..8 {
        let response = put(&peer, &chunk(seed, MAX_CHUNK_BYTES as usize), &[]).await;
        assert_eq!(response.status, 401);
    }
    let session = Session::open(&peer.peer).await;
    for seed in 0..8 {
        let answer = session
            .request(&put_request(
                b"",
                MAX_CHUNK_BYTES,
                chunk(seed, MAX_CHUNK_BYTES as usize).bytes(),
            ))
            .await;
        assert_ne!(answer, Err(Reset(1)));
        assert_eq!(answer.unwrap()[0], 4);
    }
    peer.stop().await;
}
