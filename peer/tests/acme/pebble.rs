//! A running Pebble.

use crate::PATIENCE;
use crate::certificate_authority::CertificateAuthority;
use crate::http::exchange;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use std::env;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};
use tokio_rustls::TlsConnector;

/// The ports of an authority, and its own certificate for HTTPS.
pub struct Ports {
    api: u16,
    management: u16,
    /// Where the authority looks for the peer.
    pub tls: u16,
    authority: CertificateAuthority,
    folder: TempDir,
}

impl Ports {
    pub fn free() -> Self {
        // All are taken at the same time, so that they differ.
        let listeners = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let [api, management, tls] = listeners.map(|one| one.local_addr().unwrap().port());
        let folder = TempDir::new().unwrap();
        let authority = CertificateAuthority::new();
        authority.issue(folder.path());
        Self {
            api,
            management,
            tls,
            authority,
            folder,
        }
    }

    pub fn directory(&self) -> String {
        format!("https://localhost:{}/dir", self.api)
    }

    /// The file with the authority that signed the certificate for HTTPS.
    pub fn certificate(&self) -> PathBuf {
        self.folder.path().join("root.pem")
    }
}

/// Ends with the test.
pub struct Pebble<'a> {
    process: Child,
    ports: &'a Ports,
}

impl<'a> Pebble<'a> {
    /// Issues certificates that are valid for this number of seconds.
    pub async fn start(ports: &'a Ports, validity: u64) -> Self {
        let program = env::var("ANTWAY_PEBBLE").expect("ANTWAY_PEBBLE names Pebble's program");
        let path = |name: &str| ports.folder.path().join(name);
        let config = json!({ "pebble": {
            "listenAddress": format!("127.0.0.1:{}", ports.api),
            "managementListenAddress": format!("127.0.0.1:{}", ports.management),
            "certificate": path("cert.pem"),
            "privateKey": path("key.pem"),
            "httpPort": 1,
            "tlsPort": ports.tls,
            "keyAlgorithm": "ecdsa",
            "profiles": { "default": { "description": "", "validityPeriod": validity } },
        }});
        fs::write(path("config.json"), config.to_string()).unwrap();
        let process = Command::new(program)
            .args(["-strict", "-config"])
            .arg(path("config.json"))
            .env("PEBBLE_VA_NOSLEEP", "1")
            .stdin(Stdio::null())
            .stdout(File::create(path("log")).unwrap())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("Pebble starts");
        let pebble = Self { process, ports };
        let started = Instant::now();
        for port in [ports.api, ports.management] {
            while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
                assert!(started.elapsed() < PATIENCE, "{}", pebble.log());
                sleep(Duration::from_millis(20)).await;
            }
        }
        pebble
    }

    pub fn log(&self) -> String {
        fs::read_to_string(self.ports.folder.path().join("log")).unwrap()
    }

    /// The certificate that signs those of Pebble's clients. Each start creates another one.
    pub async fn root(&self) -> CertificateDer<'static> {
        let address = format!("localhost:{}", self.ports.management);
        let tls = TlsConnector::from(Arc::new(self.ports.authority.client_tls(b"http/1.1")));
        let stream = TcpStream::connect(&address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut stream = tls.connect(name, stream).await.unwrap();
        let response = exchange(&mut stream, &address, "GET", "/roots/0", &[], b"").await;
        CertificateDer::from_pem_slice(&response.body).unwrap()
    }
}

impl Drop for Pebble<'_> {
    fn drop(&mut self) {
        // Fails if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The settings of a client that trusts this certificate.
pub fn trusting(root: &CertificateDer<'static>, protocol: &[u8]) -> ClientConfig {
    let mut roots = RootCertStore::empty();
    roots.add(root.clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    tls.alpn_protocols = vec![protocol.to_vec()];
    tls
}
