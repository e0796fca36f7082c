//! Connections from several client networks: loopback addresses, or any address by the PROXY protocol.

use crate::http::{Response, exchange, read_response};
use crate::test_peer::TestPeer;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

/// The address of the proxy, for `--trusted-proxy`. Connections from 127.0.0.1 are direct.
pub const PROXY: &str = "127.0.0.2";

/// The flags of a peer behind a proxy that uses the PROXY protocol.
pub const BEHIND_PROXY: [&str; 2] = ["--trusted-proxy=127.0.0.2", "--proxy-protocol"];

pub fn authority(peer: &TestPeer) -> &str {
    let (_, authority) = peer.peer.http().split_once("://").unwrap();
    authority
}

/// Connects from this loopback address.
pub async fn connect_from(source: &str, peer: &TestPeer) -> TcpStream {
    connect_to(source, authority(peer)).await
}

/// As [`connect_from`], to the peer at this host and port.
pub async fn connect_to(source: &str, authority: &str) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    let source: Ipv4Addr = source.parse().unwrap();
    socket.bind(SocketAddr::from((source, 0))).unwrap();
    let address = authority.parse().unwrap();
    socket.connect(address).await.unwrap()
}

/// A header of the PROXY protocol, version 2.
pub fn proxy_header(client: &str) -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21".to_vec();
    match client.parse().unwrap() {
        IpAddr::V4(ip) => {
            header.extend([0x11, 0, 12]);
            header.extend(ip.octets());
            header.extend([127, 0, 0, 1]);
        }
        IpAddr::V6(ip) => {
            header.extend([0x21, 0, 36]);
            header.extend(ip.octets());
            header.extend([0; 16]);
        }
    }
    header.extend([0x10, 0x00, 0x20, 0x00]);
    header
}

/// Connects as this client through the proxy.
pub async fn connect_as(client: &str, peer: &TestPeer) -> TcpStream {
    let mut stream = connect_from(PROXY, peer).await;
    // Fails if the peer refused the proxy's connection. Then there is no answer to the request, and the test fails.
    let _ = stream.write_all(&proxy_header(client)).await;
    stream
}

/// Sends a request on a new connection from this loopback address.
pub async fn get_from(source: &str, peer: &TestPeer, path: &str) -> Response {
    let mut stream = connect_from(source, peer).await;
    exchange(&mut stream, authority(peer), "GET", path, &[], b"").await
}

/// Sends a request as this client through the proxy.
pub async fn get_as(client: &str, peer: &TestPeer, path: &str) -> Response {
    let mut stream = connect_as(client, peer).await;
    exchange(&mut stream, authority(peer), "GET", path, &[], b"").await
}

/// The error that the peer sends before a request.
pub async fn refusal(stream: &mut TcpStream) -> (u16, String) {
    let response = read_response(stream, false).await;
    assert_eq!(response.header("retry-after"), Some("1"));
    (response.status, response.code())
}

/// Begins an upload whose end never comes, so that the peer waits for it.
pub async fn begin_upload(stream: &mut TcpStream) {
    let address = "0".repeat(64);
    let head =
        format!("PUT /chunk/{address} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx");
    stream.write_all(head.as_bytes()).await.unwrap();
}
