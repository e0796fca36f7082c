//! A WebTransport client that gives tests full control of the request.

use crate::test_peer::TEST_TIMEOUT;
use antway_peer::address::Address;
use std::time::Duration;
use tokio::time::timeout;
use wtransport::endpoint::ConnectOptions;
use wtransport::error::{ConnectingError, StreamReadError, StreamWriteError};
use wtransport::tls::{Sha256Digest, Sha256DigestFmt};
use wtransport::{ClientConfig, Connection, Endpoint, RecvStream, SendStream, VarInt};

pub struct Session {
    pub connection: Connection,
}

/// The code of a reset, from the table in the specification.
#[derive(Debug, PartialEq, Eq)]
pub struct Reset(pub u64);

/// Reverts WebTransport's mapping of codes. The formula is from the specification.
pub fn application_code(quic: VarInt) -> u64 {
    let shifted = quic.into_inner() - 0x52e4_a40f_a8db;
    shifted - shifted / 0x1f
}

fn quic_code(application: u64) -> VarInt {
    VarInt::try_from_u64(0x52e4_a40f_a8db + application + application / 0x1e).unwrap()
}

fn digest(hex: &str) -> Sha256Digest {
    let bytes: Vec<&str> = (0..32).map(|i| &hex[2 * i..2 * i + 2]).collect();
    Sha256Digest::from_str_fmt(bytes.join(":"), Sha256DigestFmt::DottedHex).unwrap()
}

impl Session {
    pub async fn open(peer: &antway_peer::peer::Peer) -> Self {
        let url = peer.web_transport().unwrap();
        Self::connect(url, &peer.certificate_hashes(), None)
            .await
            .unwrap()
    }

    /// Accepts only these certificate hashes. `origin` is the header that a browser would send.
    pub async fn connect(
        url: &str,
        hashes: &[String],
        origin: Option<&str>,
    ) -> Result<Self, ConnectingError> {
        let config = ClientConfig::builder()
            .with_bind_default()
            .with_server_certificate_hashes(hashes.iter().map(|hash| digest(hash)))
            .keep_alive_interval(Some(Duration::from_secs(1)))
            .build();
        Self::connect_with(config, url, origin).await
    }

    pub async fn connect_with(
        config: ClientConfig,
        url: &str,
        origin: Option<&str>,
    ) -> Result<Self, ConnectingError> {
        let mut options = ConnectOptions::builder(url);
        if let Some(origin) = origin {
            options = options.add_header("origin", origin);
        }
        let endpoint = Endpoint::client(config).unwrap();
        let connecting = endpoint.connect(options.build());
        let connection = timeout(TEST_TIMEOUT, connecting)
            .await
            .expect("an answer soon")?;
        Ok(Self { connection })
    }

    pub async fn stream(&self) -> (SendStream, RecvStream) {
        self.connection.open_bi().await.unwrap().await.unwrap()
    }

    /// Sends a request, and returns the complete response.
    pub async fn request(&self, request: &[u8]) -> Result<Vec<u8>, Reset> {
        let (mut send, mut recv) = self.stream().await;
        send_all(&mut send, request).await;
        // Fails only if the peer has refused the request already. The response tells why.
        let _ = send.quic_stream_mut().finish();
        read_all(&mut recv).await
    }

    pub async fn get(&self, addresses: &[Address]) -> Vec<(u8, Vec<u8>)> {
        let answer = self.request(&get_request(addresses)).await.unwrap();
        parse_get(&answer)
    }

    pub async fn put(&self, token: &[u8], bytes: &[u8]) -> Vec<u8> {
        let request = put_request(token, bytes.len() as u32, bytes);
        self.request(&request).await.unwrap()
    }
}

/// Sends the bytes, as far as the peer accepts them.
pub async fn send_all(send: &mut SendStream, bytes: &[u8]) {
    match send.write_all(bytes).await {
        Ok(()) | Err(StreamWriteError::Stopped(_) | StreamWriteError::Closed) => {}
        Err(error) => panic!("{error}"),
    }
}

pub async fn read_all(recv: &mut RecvStream) -> Result<Vec<u8>, Reset> {
    let mut answer = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let reading = timeout(TEST_TIMEOUT, recv.read(&mut buffer));
        match reading.await.expect("an end of the answer soon") {
            Ok(Some(length)) => answer.extend_from_slice(&buffer[..length]),
            Ok(None) => return Ok(answer),
            Err(StreamReadError::Reset(code)) => return Err(Reset(application_code(code))),
            Err(error) => panic!("{error}"),
        }
    }
}

/// Cancels a response.
pub fn cancel(recv: RecvStream) {
    recv.stop(quic_code(0));
}

/// Aborts a request that is not fully sent.
pub fn abort(send: &mut SendStream) {
    send.reset(quic_code(0)).unwrap();
}

pub fn get_request(addresses: &[Address]) -> Vec<u8> {
    request_with_addresses(1, addresses)
}

pub fn has_request(addresses: &[Address]) -> Vec<u8> {
    request_with_addresses(2, addresses)
}

fn request_with_addresses(op: u8, addresses: &[Address]) -> Vec<u8> {
    let mut request = vec![op, addresses.len() as u8];
    for address in addresses {
        request.extend_from_slice(address.as_bytes());
    }
    request
}

pub fn open_request(address: Address, first: u64, length: u64) -> Vec<u8> {
    let range = [first.to_be_bytes(), length.to_be_bytes()].concat();
    [&[5][..], address.as_bytes(), &range].concat()
}

pub fn put_request(token: &[u8], length: u32, bytes: &[u8]) -> Vec<u8> {
    let token_length = (token.len() as u16).to_be_bytes();
    [&[3][..], &token_length, token, &length.to_be_bytes(), bytes].concat()
}

pub fn parse_get(mut answer: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut answers = Vec::new();
    while !answer.is_empty() {
        let length = match answer[0] {
            0 => u32::from_be_bytes(answer[1..5].try_into().unwrap()) as usize,
            // The length is a reason, and no bytes follow.
            _ => 0,
        };
        answers.push((answer[0], answer[5..5 + length].to_vec()));
        answer = &answer[5 + length..];
    }
    answers
}
