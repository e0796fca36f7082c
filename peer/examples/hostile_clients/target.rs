//! The peer that all clients connect to, from networks of their own.

use crate::pinned_certificate::client_tls;
use antway_peer::address::Address;
use ring::rand::{SecureRandom, SystemRandom};
use rustls::pki_types::ServerName;
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use wtransport::{ClientConfig, Connection, Endpoint};

pub type BoxError = Box<dyn Error + Send + Sync>;

/// The trusted proxy, which names the clients of its connections by the PROXY protocol.
const PROXY: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// A peer with a certificate.
pub struct Target {
    pub web_transport: SocketAddr,
    pub https: SocketAddr,
    /// Addresses of chunks that it has.
    pub chunks: Vec<Address>,
    /// The path of a large file that it hosts.
    pub file: String,
    session_tls: rustls::ClientConfig,
    http2: TlsConnector,
}

impl Target {
    pub fn new(
        web_transport: SocketAddr,
        https: SocketAddr,
        certificate: &Path,
        chunks: Vec<Address>,
        file: String,
    ) -> Result<Self, BoxError> {
        Ok(Self {
            web_transport,
            https,
            chunks,
            file,
            session_tls: client_tls(certificate, b"h3")?,
            http2: Arc::new(client_tls(certificate, b"h2")?).into(),
        })
    }

    /// Opens a session from this loopback address. `to` is the peer, or a relay.
    pub async fn session(&self, source: Ipv4Addr, to: SocketAddr) -> Result<Connection, BoxError> {
        let config = ClientConfig::builder()
            .with_bind_address((source, 0).into())
            .with_custom_tls(self.session_tls.clone())
            .keep_alive_interval(Some(std::time::Duration::from_secs(5)))
            .build();
        let endpoint = Endpoint::client(config)?;
        Ok(endpoint.connect(format!("https://{to}/v1")).await?)
    }

    /// Connects as this client of the proxy, for HTTP/2.
    pub async fn http2(&self, client: Ipv4Addr) -> Result<TlsStream<TcpStream>, BoxError> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((PROXY, 0).into())?;
        let mut stream = socket.connect(self.https).await?;
        // Version 2, the command PROXY, TCP over IPv4, and 12 bytes of addresses and ports.
        let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c".to_vec();
        header.extend(client.octets());
        header.extend([127, 0, 0, 1, 0x10, 0x00, 0x20, 0x00]);
        stream.write_all(&header).await?;
        let name = ServerName::IpAddress(IpAddr::from(Ipv4Addr::LOCALHOST).into());
        Ok(self.http2.connect(name, stream).await?)
    }

    /// A GET of `count` chunks.
    pub fn get_stored(&self, count: usize) -> Vec<u8> {
        let chunks = self.chunks.iter().cycle().take(count);
        request(1, chunks.map(|address| *address.as_bytes()))
    }
}

/// A GET, or a HAS, of `count` chunks that no peer has.
pub fn request_absent(operation: u8, count: usize) -> Vec<u8> {
    request(operation, (0..count).map(|_| absent()))
}

/// An address that no chunk has.
pub fn absent() -> [u8; 32] {
    let mut address = [0; 32];
    let random = SystemRandom::new();
    random
        .fill(&mut address)
        .expect("the system has randomness");
    address
}

fn request(operation: u8, addresses: impl Iterator<Item = [u8; 32]>) -> Vec<u8> {
    let addresses: Vec<_> = addresses.collect();
    let count = u8::try_from(addresses.len()).expect("at most 64 addresses");
    [&[operation, count], addresses.as_flattened()].concat()
}
