//! Certificates from Pebble, the test server of Let's Encrypt. `ANTWAY_PEBBLE` names its program:
//! `node tests/run.mjs --only acme` installs it.

mod pebble;

#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/certificate_authority.rs"]
mod certificate_authority;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/http.rs"]
mod http;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/running_peer.rs"]
mod running_peer;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/session.rs"]
mod session;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/test_peer.rs"]
mod test_peer;

use http::{Response, exchange, get};
use pebble::{Pebble, Ports};
use running_peer::{RunningPeer, program};
use rustls::pki_types::{CertificateDer, ServerName};
use session::Session;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

/// How long an order, or the start of Pebble, may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A peer in its own process.
struct AcmePeer {
    process: RunningPeer,
    folder: TempDir,
    https: String,
    web_transport: String,
    metrics: String,
}

impl AcmePeer {
    /// A peer where the authority looks for it.
    fn start(folder: TempDir, pebble: &Ports, more: &[&str]) -> Self {
        Self::start_at(pebble.tls, folder, pebble, more)
    }

    fn start_at(port: u16, folder: TempDir, pebble: &Ports, more: &[&str]) -> Self {
        let path = |name: &str| folder.path().join(name).display().to_string();
        let flags = [
            "serve",
            &format!("--http=127.0.0.1:{port}"),
            "--webtransport=127.0.0.1:0",
            "--metrics-http=127.0.0.1:0",
            &format!("--store={}", path("store")),
            "--acme-domain=localhost",
            &format!("--acme-directory={}", pebble.directory()),
        ];
        let mut command = program(&[&flags[..], more].concat());
        command.env("SSL_CERT_FILE", pebble.certificate());
        command.stderr(File::create(path("log")).unwrap());
        let (process, line) = RunningPeer::start(&mut command);
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        Self {
            process,
            https: text(&line["http"]),
            web_transport: text(&line["webTransport"]).replace("127.0.0.1", "localhost"),
            metrics: text(&line["metricsHttp"][0]),
            folder,
        }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    async fn wait_for_log(&self, text: &str) {
        let started = Instant::now();
        while !self.log().contains(text) {
            assert!(started.elapsed() < PATIENCE, "{}", self.log());
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// The answer to the check for readiness.
    async fn ready(&self) -> Response {
        get(&self.metrics, "/-/ready").await
    }

    async fn wait_until_ready(&self) {
        let started = Instant::now();
        while self.ready().await.status != 200 {
            assert!(started.elapsed() < PATIENCE, "{}", self.log());
            sleep(Duration::from_millis(50)).await;
        }
    }

    /// When the certificate expires, by the metrics.
    async fn expiry(&self) -> i64 {
        let text = String::from_utf8(get(&self.metrics, "/metrics").await.body).unwrap();
        let name = "antway_peer_certificate_expiry_timestamp_seconds";
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().parse().unwrap()
    }

    /// Asks over HTTPS for `/-/health`. Returns the certificate, which the root must have signed.
    async fn certificate(
        &self,
        root: &CertificateDer<'static>,
        protocol: &[u8],
    ) -> io::Result<CertificateDer<'static>> {
        let authority = self.https.strip_prefix("https://").unwrap();
        let stream = TcpStream::connect(authority).await?;
        let tls = TlsConnector::from(Arc::new(pebble::trusting(root, protocol)));
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = tls.connect(name, stream).await?;
        let certificates = stream.get_ref().1.peer_certificates().unwrap();
        let certificate = certificates[0].clone().into_owned();
        let health = exchange(&mut stream, authority, "GET", "/-/health", &[], b"").await;
        assert_eq!(health.status, 200);
        Ok(certificate)
    }

    async fn session(&self, root: &CertificateDer<'static>) -> Session {
        let config = wtransport::ClientConfig::builder()
            .with_bind_default()
            .with_custom_tls(pebble::trusting(root, b"h3"))
            .build();
        let session = Session::connect_with(config, &self.web_transport, None).await;
        session.unwrap()
    }

    /// Ends the process. Returns its folder, for another one.
    fn kill(self) -> TempDir {
        drop(self.process);
        self.folder
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[tokio::test(flavor = "multi_thread")]
async fn obtains_renews_and_keeps_a_certificate() {
    let ports = Ports::free();
    // The peer renews after 20 s.
    let pebble = Pebble::start(&ports, 30).await;
    let root = pebble.root().await;
    let peer = AcmePeer::start(
        TempDir::new().unwrap(),
        &ports,
        &["--acme-email=operator@peer.example"],
    );
    peer.wait_until_ready().await;
    let first = peer.certificate(&root, b"http/1.1").await.unwrap();
    let session = peer.session(&root).await;
    let identity = session.connection.peer_identity().unwrap();
    assert_eq!(identity.as_slice()[0].der(), &first[..]);
    assert!(pebble.log().contains("set VALID"), "{}", pebble.log());
    let first_expiry = peer.expiry().await;
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let remaining = first_expiry - now.as_secs() as i64;
    assert!((0..=30).contains(&remaining), "{remaining} s");

    let state = peer.folder.path().join("store/certificates/acme");
    let state = fs::read_dir(state).unwrap().next().unwrap().unwrap().path();
    assert_eq!(mode(&state), 0o700);
    for name in ["account.json", "certificate.pem"] {
        assert_eq!(mode(&state.join(name)), 0o600, "{name}");
    }

    // The authority fails. The certificate stays in use.
    drop(pebble);
    peer.wait_for_log("certificate not obtained").await;
    assert_eq!(peer.expiry().await, first_expiry);
    assert_eq!(peer.ready().await.status, 200);

    // An authority that has lost the account. The signal ends the wait after the failure.
    let pebble = Pebble::start(&ports, 90 * 86_400).await;
    let root = pebble.root().await;
    peer.process.signal("HUP");
    peer.wait_for_log("creating another one").await;
    let started = Instant::now();
    while peer.expiry().await == first_expiry {
        assert!(started.elapsed() < PATIENCE, "{}", peer.log());
        sleep(Duration::from_millis(50)).await;
    }
    let second = peer.certificate(&root, b"http/1.1").await.unwrap();
    assert_ne!(second, first);
    assert!(
        session.request(&[4]).await.is_ok(),
        "an existing session continues"
    );

    // A restart needs no authority.
    drop(pebble);
    let peer = AcmePeer::start(peer.kill(), &ports, &[]);
    assert_eq!(peer.ready().await.status, 200);
    let again = peer.certificate(&root, b"http/1.1").await.unwrap();
    assert_eq!(again, second);
    assert!(!peer.log().contains("certificate not obtained"));
    // Nothing serves the certificates of challenges now.
    assert!(peer.certificate(&root, b"acme-tls/1").await.is_err());
}

#[tokio::test(flavor = "multi_thread")]
async fn says_why_the_authority_issues_no_certificate() {
    let ports = Ports::free();
    let pebble = Pebble::start(&ports, 90 * 86_400).await;
    let root = pebble.root().await;
    // The authority looks for the peer at another port.
    let peer = AcmePeer::start_at(0, TempDir::new().unwrap(), &ports, &[]);
    peer.wait_for_log("certificate not obtained").await;
    let log = peer.log();
    let line = log.lines().find(|line| line.contains("not obtained"));
    let line = line.unwrap();
    assert!(
        line.contains("localhost") && line.contains("tls-alpn-01"),
        "{line}"
    );
    let ready = peer.ready().await;
    assert_eq!(ready.status, 503);
    let body = String::from_utf8(ready.body).unwrap();
    assert_eq!(body, r#"{"status":"no_certificate"}"#);
    assert_eq!(get(&peer.metrics, "/-/health").await.status, 200);
    assert_eq!(peer.expiry().await, 0);
    for protocol in [&b"http/1.1"[..], b"acme-tls/1"] {
        assert!(peer.certificate(&root, protocol).await.is_err());
    }
}
