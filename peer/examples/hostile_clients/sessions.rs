//! The hostile WebTransport sessions.

use crate::target::{BoxError, Target, request_absent};
use crate::udp_relay::UdpRelay;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::time::sleep;
use wtransport::{Connection, RecvStream, VarInt};

/// The requests that a session leaves unread at a time.
const UNREAD_REQUESTS: usize = 8;

/// The kinds of hostile sessions.
#[derive(Clone, Copy)]
pub enum Kind {
    WithheldAcknowledgements,
    UnreadAnswers,
    SlowReads,
    Resets,
    AbsentChunks,
    InfoFlood,
    HasFlood,
    Idle,
    New,
}

impl Kind {
    pub const ALL: [Self; 9] = [
        Self::WithheldAcknowledgements,
        Self::UnreadAnswers,
        Self::SlowReads,
        Self::Resets,
        Self::AbsentChunks,
        Self::InfoFlood,
        Self::HasFlood,
        Self::Idle,
        Self::New,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::WithheldAcknowledgements => "sessions that withhold acknowledgements",
            Self::UnreadAnswers => "sessions that do not read",
            Self::SlowReads => "sessions that read slowly",
            Self::Resets => "sessions that reset lookups of 64 chunks",
            Self::AbsentChunks => "sessions that look up absent chunks",
            Self::InfoFlood => "sessions that flood INFO",
            Self::HasFlood => "sessions that flood HAS with 64 addresses",
            Self::Idle => "idle sessions",
            Self::New => "new sessions",
        }
    }

    /// Attacks until the session ends.
    pub async fn attack(self, target: &Target, source: Ipv4Addr) -> Result<(), BoxError> {
        if matches!(self, Self::WithheldAcknowledgements) {
            let relay = UdpRelay::start(target.web_transport, source).await;
            let session = target.session(Ipv4Addr::LOCALHOST, relay.address).await?;
            let mut streams = request_stored(&session, target).await?;
            streams[0].read(&mut [0]).await?;
            relay.withhold();
            session.closed().await;
            return Ok(());
        }
        let session = target.session(source, target.web_transport).await?;
        match self {
            Self::WithheldAcknowledgements => {}
            Self::UnreadAnswers => {
                let _streams = request_stored(&session, target).await?;
                session.closed().await;
            }
            Self::SlowReads => {
                let mut streams = request_stored(&session, target).await?;
                loop {
                    for stream in &mut streams {
                        stream.read(&mut [0; 1024]).await?;
                        sleep(Duration::from_millis(200)).await;
                    }
                }
            }
            Self::Resets => loop {
                let recv = send(&session, &request_absent(1, 64)).await?;
                recv.stop(VarInt::from_u32(0));
                sleep(Duration::from_millis(100)).await;
            },
            Self::AbsentChunks => repeat(&session, 100, || request_absent(1, 1)).await?,
            Self::InfoFlood => repeat(&session, 20, || vec![4]).await?,
            Self::HasFlood => repeat(&session, 20, || request_absent(2, 64)).await?,
            Self::Idle => {
                session.closed().await;
            }
            Self::New => {
                let mut recv = send(&session, &[4]).await?;
                read_to_end(&mut recv).await?;
                session.close(VarInt::from_u32(0), b"");
            }
        }
        Ok(())
    }
}

/// Sends a request.
pub async fn send(session: &Connection, request: &[u8]) -> Result<RecvStream, BoxError> {
    let (mut send, recv) = session.open_bi().await?.await?;
    send.write_all(request).await?;
    send.quic_stream_mut().finish()?;
    Ok(recv)
}

/// Reads a whole response. Returns it.
pub async fn read_to_end(recv: &mut RecvStream) -> Result<Vec<u8>, BoxError> {
    let mut response = Vec::new();
    while let Some(part) = recv.quic_stream_mut().read_chunk(usize::MAX, true).await? {
        response.extend_from_slice(&part.bytes);
    }
    Ok(response)
}

async fn request_stored(
    session: &Connection,
    target: &Target,
) -> Result<Vec<RecvStream>, BoxError> {
    let mut streams = Vec::new();
    for _ in 0..UNREAD_REQUESTS {
        streams.push(send(session, &target.get_stored(64)).await?);
    }
    Ok(streams)
}

async fn repeat(
    session: &Connection,
    pause: u64,
    request: impl Fn() -> Vec<u8>,
) -> Result<(), BoxError> {
    loop {
        let mut recv = send(session, &request()).await?;
        read_to_end(&mut recv).await?;
        sleep(Duration::from_millis(pause)).await;
    }
}
