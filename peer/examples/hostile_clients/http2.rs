//! The hostile HTTP/2 connections.

use crate::target::{BoxError, Target, absent};
use antway_peer::address::Address;
use bytes::Bytes;
use futures_util::future::{join_all, poll_fn};
use h2::Reason;
use h2::client::{Builder, ResponseFuture, SendRequest};
use hyper::Request;
use hyper::header::{HeaderMap, HeaderValue, VIA};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, split};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_rustls::client::TlsStream;

/// The requests that a connection leaves unread at a time.
const UNREAD_REQUESTS: usize = 32;

/// The kinds of hostile connections.
#[derive(Clone, Copy)]
pub enum Kind {
    Idle,
    UnreadAnswers,
    SlowReads,
    Resets,
    Flood,
    SmallWindows,
    SmallWindowsForFiles,
    GrowingWindows,
    StalledUploads,
    Pings,
    Trailers,
}

impl Kind {
    pub const ALL: [Self; 11] = [
        Self::Idle,
        Self::UnreadAnswers,
        Self::SlowReads,
        Self::Resets,
        Self::Flood,
        Self::SmallWindows,
        Self::SmallWindowsForFiles,
        Self::GrowingWindows,
        Self::StalledUploads,
        Self::Pings,
        Self::Trailers,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle HTTP/2 connections",
            Self::UnreadAnswers => "HTTP/2 connections that do not read",
            Self::SlowReads => "HTTP/2 connections that read slowly",
            Self::Resets => "HTTP/2 connections that reset lookups",
            Self::Flood => "HTTP/2 connections that flood requests",
            Self::SmallWindows => "HTTP/2 connections with windows of one byte",
            Self::SmallWindowsForFiles => "HTTP/2 connections with windows of one byte for files",
            Self::GrowingWindows => "HTTP/2 connections whose windows grow by one byte",
            Self::StalledUploads => "HTTP/2 connections that stall 32 uploads",
            Self::Pings => "HTTP/2 connections that flood pings",
            Self::Trailers => "HTTP/2 connections that send long trailers",
        }
    }

    fn has_small_windows(self) -> bool {
        matches!(
            self,
            Self::SmallWindows | Self::SmallWindowsForFiles | Self::GrowingWindows | Self::Trailers
        )
    }

    /// Attacks until the connection ends.
    pub async fn attack(self, target: &Target, client: Ipv4Addr) -> Result<(), BoxError> {
        let stream = target.http2(client).await?;
        if matches!(self, Self::Pings) {
            return flood_pings(stream).await;
        }
        let mut builder = Builder::new();
        if self.has_small_windows() {
            builder.initial_window_size(1);
        }
        let (mut requests, connection) = builder.handshake(stream).await?;
        let mut connections = JoinSet::new();
        connections.spawn(connection);
        let attacking = async {
            match self {
                Self::Idle => std::future::pending().await,
                Self::UnreadAnswers => {
                    let _bodies = request_stored(&mut requests, target).await?;
                    std::future::pending().await
                }
                Self::SlowReads => {
                    let mut responses = request_stored(&mut requests, target).await?;
                    let mut body = responses.swap_remove(0).await?.into_body();
                    while let Some(part) = body.data().await {
                        for _ in (0..part?.len()).step_by(1024) {
                            sleep(Duration::from_millis(200)).await;
                            body.flow_control().release_capacity(1024)?;
                        }
                    }
                    Ok(())
                }
                Self::Resets => loop {
                    let path = format!("/chunk/{}", Address::from(absent()));
                    let (response, mut send) = begin(&mut requests, target, &path).await?;
                    sleep(Duration::from_millis(50)).await;
                    send.send_reset(Reason::CANCEL);
                    drop(response);
                },
                Self::SmallWindows => {
                    let _bodies = request_stored(&mut requests, target).await?;
                    std::future::pending().await
                }
                Self::SmallWindowsForFiles => {
                    let mut responses = Vec::new();
                    for _ in 0..UNREAD_REQUESTS {
                        responses.push(begin(&mut requests, target, &target.file).await?);
                    }
                    std::future::pending().await
                }
                Self::GrowingWindows => {
                    let responses = request_stored(&mut requests, target).await?;
                    let reading = responses.into_iter().map(|response| async {
                        let mut body = response.await?.into_body();
                        while let Some(part) = body.data().await {
                            let length = part?.len();
                            body.flow_control().release_capacity(length)?;
                        }
                        Ok::<_, BoxError>(())
                    });
                    join_all(reading).await;
                    Ok(())
                }
                Self::StalledUploads => {
                    let mut uploads = Vec::new();
                    for _ in 0..UNREAD_REQUESTS {
                        poll_fn(|cx| requests.poll_ready(cx)).await?;
                        let path = format!("/chunk/{}", Address::from(absent()));
                        let uri = format!("https://{}{path}", target.https);
                        let put = Request::put(uri).body(())?;
                        let (response, mut send) = requests.send_request(put, false)?;
                        send.send_data(Bytes::from_static(b"x"), false)?;
                        uploads.push((response, send));
                    }
                    std::future::pending().await
                }
                Self::Pings => Ok(()),
                Self::Trailers => {
                    let mut asked = Vec::new();
                    for _ in 0..UNREAD_REQUESTS {
                        poll_fn(|cx| requests.poll_ready(cx)).await?;
                        let uri = format!("https://{}/-/health", target.https);
                        asked.push(requests.send_request(Request::get(uri).body(())?, false)?);
                    }
                    let mut trailers = HeaderMap::new();
                    for _ in 0..20_000 {
                        // One byte on the wire.
                        trailers.append(VIA, HeaderValue::from_static(""));
                    }
                    for (_, send) in &mut asked {
                        sleep(Duration::from_millis(50)).await;
                        send.send_trailers(trailers.clone())?;
                    }
                    std::future::pending().await
                }
                Self::Flood => loop {
                    let (response, _) = begin(&mut requests, target, "/-/info").await?;
                    let mut body = response.await?.into_body();
                    while let Some(part) = body.data().await {
                        let length = part?.len();
                        body.flow_control().release_capacity(length)?;
                    }
                    sleep(Duration::from_millis(20)).await;
                },
            }
        };
        tokio::select! {
            ended = attacking => ended,
            _ = connections.join_next() => Ok(()),
        }
    }
}

/// Sends pings as fast as the peer reads them, and reads the answers.
async fn flood_pings(stream: TlsStream<TcpStream>) -> Result<(), BoxError> {
    let (mut answers, mut pings) = split(stream);
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0";
    pings.write_all(preface).await?;
    let frames = b"\0\0\x08\x06\0\0\0\0\0ABCDEFGH".repeat(1000);
    let flooding = async {
        loop {
            pings.write_all(&frames).await?;
        }
    };
    let reading = async {
        while answers.read(&mut [0; 65_536]).await? > 0 {}
        Ok(())
    };
    tokio::select! {
        ended = flooding => ended,
        ended = reading => ended,
    }
}

async fn request_stored(
    requests: &mut SendRequest<Bytes>,
    target: &Target,
) -> Result<Vec<ResponseFuture>, BoxError> {
    let mut responses = Vec::new();
    for address in target.chunks.iter().cycle().take(UNREAD_REQUESTS) {
        let path = format!("/chunk/{address}");
        responses.push(begin(requests, target, &path).await?.0);
    }
    Ok(responses)
}

async fn begin(
    requests: &mut SendRequest<Bytes>,
    target: &Target,
    path: &str,
) -> Result<(ResponseFuture, h2::SendStream<Bytes>), BoxError> {
    poll_fn(|cx| requests.poll_ready(cx)).await?;
    let request = Request::get(format!("https://{}{path}", target.https)).body(())?;
    Ok(requests.send_request(request, true)?)
}
