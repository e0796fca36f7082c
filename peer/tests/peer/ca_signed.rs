//! A certificate that a CA signed: HTTPS, and WebTransport without certificate hashes.

use crate::certificate_authority::{CertificateAuthority, flags};
use crate::http::{Response, exchange};
use crate::session::Session;
use crate::test_peer::{TEST_TIMEOUT, TestPeer, parse};
use rustls::pki_types::{CertificateDer, ServerName};
use std::fs;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

/// Sends an HTTPS request. Returns the response and the server's certificate.
async fn get(
    ca: &CertificateAuthority,
    peer: &TestPeer,
    path: &str,
) -> (Response, CertificateDer<'static>) {
    let authority = peer.peer.http().strip_prefix("https://").unwrap();
    let stream = TcpStream::connect(authority).await.unwrap();
    let tls = TlsConnector::from(Arc::new(ca.client_tls(b"http/1.1")));
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = tls.connect(name, stream).await.unwrap();
    let certificate = stream.get_ref().1.peer_certificates().unwrap()[0]
        .clone()
        .into_owned();
    (
        exchange(&mut stream, authority, "GET", path, &[], b"").await,
        certificate,
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn both_transports_use_the_certificate_and_its_renewal() {
    let files = TempDir::new().unwrap();
    let ca = CertificateAuthority::new();
    let first = ca.issue(files.path());
    let [cert, key] = flags(&files);
    let peer = TestPeer::start(&[&cert, &key]).await;
    let chunk = peer.store_chunk(1, 1_000_000).await;

    let (response, certificate) = get(&ca, &peer, &format!("/chunk/{}", chunk.address())).await;
    assert_eq!(response.status, 200);
    assert!(response.body == chunk.bytes()[..]);
    assert_eq!(certificate, first);
    let (info, _) = get(&ca, &peer, "/-/info").await;
    let info: serde_json::Value = serde_json::from_slice(&info.body).unwrap();
    assert_eq!(
        info["webTransport"]["certificateHashes"],
        serde_json::json!([])
    );
    assert!(info["webTransport"]["certificateExpires"].is_string());

    let url = peer
        .peer
        .web_transport()
        .unwrap()
        .replace("127.0.0.1", "localhost");
    let config = || {
        wtransport::ClientConfig::builder()
            .with_bind_default()
            .with_custom_tls(ca.client_tls(b"h3"))
            .build()
    };
    let session = Session::connect_with(config(), &url, None).await.unwrap();
    assert!(session.get(&[chunk.address()]).await == [(0, chunk.bytes().to_vec())]);

    fs::write(files.path().join("cert.pem"), "half a file").unwrap();
    peer.peer.reload();
    assert_eq!(
        get(&ca, &peer, "/-/info").await.1,
        first,
        "the old certificate stays"
    );

    let second = ca.issue(files.path());
    let started = Instant::now();
    while get(&ca, &peer, "/-/info").await.1 != second {
        assert!(
            started.elapsed() < TEST_TIMEOUT,
            "the renewed certificate is not in use"
        );
        sleep(Duration::from_millis(200)).await;
    }
    assert!(
        session.request(&[4]).await.is_ok(),
        "an existing session continues"
    );
    let after = Session::connect_with(config(), &url, None).await.unwrap();
    let identity = after.connection.peer_identity().unwrap();
    assert_eq!(identity.as_slice()[0].der(), &second[..]);
    peer.stop().await;
}

#[test]
fn names_the_invalid_certificate_or_key_file() {
    let files = TempDir::new().unwrap();
    let other = TempDir::new().unwrap();
    let ca = CertificateAuthority::new();
    ca.issue(files.path());
    ca.issue(other.path());
    fs::copy(other.path().join("key.pem"), files.path().join("key.pem")).unwrap();
    let [cert, key] = flags(&files);
    let refused = |what: &str| {
        let args = parse(&["--store=unused", &cert, &key]);
        let error = args.certificates().err().expect("refused").to_string();
        assert!(error.contains(what), "{error}");
    };
    refused("key.pem");
    fs::write(files.path().join("cert.pem"), "nothing").unwrap();
    refused("cert.pem");
}
