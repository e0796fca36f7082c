//! An HTTP client that gives tests full control of the request.

use crate::test_peer::TEST_TIMEOUT;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self
            .headers
            .iter()
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub fn code(&self) -> String {
        let json: serde_json::Value = serde_json::from_slice(&self.body).unwrap();
        assert!(json["message"].is_string());
        json["code"].as_str().unwrap().to_owned()
    }
}

pub async fn get(base: &str, path: &str) -> Response {
    request(base, "GET", path, &[], b"").await
}

/// Sends one request on a new connection. Sets the usual `Host` and `Content-Length`, unless `headers` contains them.
pub async fn request(
    base: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let authority = base.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(authority).await.unwrap();
    exchange(&mut stream, authority, method, path, headers, body).await
}

pub async fn exchange(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    authority: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Response {
    let given = |name: &str| headers.iter().any(|(n, _)| n.eq_ignore_ascii_case(name));
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !given("Host") {
        head += &format!("Host: {authority}\r\n");
    }
    if method == "PUT" && !given("Content-Length") && !given("Transfer-Encoding") {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    let bytes = [head.as_bytes(), b"\r\n", body].concat();
    stream.write_all(&bytes).await.unwrap();
    read_response(stream, method == "HEAD").await
}

/// Reads until the peer closes, and checks the body's length.
pub async fn read_response(stream: &mut (impl AsyncRead + Unpin), is_head: bool) -> Response {
    let mut bytes = Vec::new();
    let reading = timeout(
        TEST_TIMEOUT + Duration::from_secs(10),
        stream.read_to_end(&mut bytes),
    );
    // An aborted connection may end in an error. The data that arrived before it counts.
    let _ = reading.await.expect("an end of the response soon");
    let response = parse(&bytes);
    let length: Option<usize> = response
        .header("content-length")
        .map(|n| n.parse().unwrap());
    match (is_head, length) {
        (true, _) => assert!(response.body.is_empty()),
        (false, Some(length)) => assert_eq!(response.body.len(), length, "a whole body"),
        (false, None) => assert!(response.body.is_empty()),
    }
    response
}

/// Parses a response, which may be incomplete.
pub fn parse(bytes: &[u8]) -> Response {
    let end = bytes
        .windows(4)
        .position(|w| w == b"\r\n\r\n")
        .expect("a response's head");
    let head = std::str::from_utf8(&bytes[..end]).unwrap();
    let (status, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    let headers = headers.lines().map(|line| {
        let (name, value) = line.split_once(':').unwrap();
        (name.to_owned(), value.trim().to_owned())
    });
    Response {
        status: status.split(' ').nth(1).unwrap().parse().unwrap(),
        headers: headers.collect(),
        body: bytes[end + 4..].to_vec(),
    }
}
