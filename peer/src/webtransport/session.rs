//! One WebTransport session: from the handshake to the last stream.

use super::H3_NO_ERROR;
use super::request::{self, SessionContext};
use crate::connection_slots::{Activity, Slot};
use crate::frame_budget::FrameBudget;
use crate::limits::{SESSION_STREAM_BURST, SESSION_STREAMS_PER_SECOND};
use crate::protocol::{self, ErrorCode};
use crate::service::Service;
use crate::shutdown::Shutdown;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use wtransport::endpoint::{IncomingSession, SessionRequest};
use wtransport::error::ConnectionError;
use wtransport::{Connection, VarInt};

/// Serves a client's requests until the client disconnects or idles, or the peer shuts down.
///
/// The session gives up its slot if it is idle and another client needs the slot.
pub async fn serve(
    incoming: IncomingSession,
    slot: Slot,
    service: Arc<Service>,
    shutdown: Shutdown,
) {
    let remote = incoming.remote_address();
    let handshake_timeout = service.limits.request_timeout;
    let handshake = async {
        tokio::select! {
            admitted = timeout(handshake_timeout, admit(incoming, &service)) => Some(admitted),
            () = slot.activity().evicted() => None,
        }
    };
    let (connection, context) = match handshake.await {
        None => return tracing::debug!(%remote, "another client needs the slot"),
        Some(Ok(Ok(Some(admitted)))) => admitted,
        Some(Ok(Ok(None))) => return,
        Some(Ok(Err(error))) => return tracing::debug!(%remote, %error, "session not established"),
        Some(Err(_elapsed)) => return tracing::debug!(%remote, "session handshake timed out"),
    };
    let _gauge = service.metrics.session();
    tracing::debug!(%remote, origin = context.origin, "session open");
    serve_streams(&connection, context, slot.activity(), service, shutdown).await;
    connection.close(H3_NO_ERROR, b"");
    tracing::debug!(%remote, "session closed");
}

/// Accepts or rejects a session after the QUIC handshake. `None` if the session was rejected.
async fn admit(
    incoming: IncomingSession,
    service: &Service,
) -> Result<Option<(Connection, Arc<SessionContext>)>, ConnectionError> {
    let request = incoming.await?;
    let remote = request.remote_address();
    if request.path() != protocol::PATH {
        tracing::debug!(%remote, path = request.path(), "no such path");
        request.not_found().await;
        return Ok(None);
    }
    let may_read = service
        .origins
        .may_read(request.origin(), request.authority());
    if !may_read {
        tracing::debug!(%remote, origin = request.origin(), "origin refused");
        request.forbidden().await;
        return Ok(None);
    }
    let context = context_of(&request, service);
    Ok(Some((request.accept().await?, context)))
}

fn context_of(request: &SessionRequest, service: &Service) -> Arc<SessionContext> {
    let ip = request.remote_address().ip().to_canonical();
    Arc::new(SessionContext {
        client: service.memory.session_client(ip),
        origin: request.origin().map(str::to_owned),
        host: request.authority().to_owned(),
    })
}

async fn serve_streams(
    connection: &Connection,
    context: Arc<SessionContext>,
    activity: &Arc<Activity>,
    service: Arc<Service>,
    shutdown: Shutdown,
) {
    let idle_timeout = service.limits.idle_timeout;
    // When the session ends, dropping the set aborts all its streams.
    let mut streams = JoinSet::new();
    let mut idle_since = Instant::now();
    let mut budget = FrameBudget::new(SESSION_STREAM_BURST, SESSION_STREAMS_PER_SECOND);
    loop {
        // Meanwhile the client gets no credit for more streams.
        let pause = budget.pause(Instant::now().into_std());
        let may_accept = pause.is_none();
        tokio::select! {
            accepted = connection.accept_bi(), if may_accept => {
                budget.spend(1);
                let Ok((mut send, recv)) = accepted else { return };
                if shutdown.is_stopping() {
                    let code = quic_code(ErrorCode::ShuttingDown);
                    // Fails only if the client closed the stream first.
                    let _ = send.reset(code);
                    recv.stop(code);
                    continue;
                }
                let (service, context) = (Arc::clone(&service), Arc::clone(&context));
                let activity = Arc::clone(activity);
                streams.spawn(request::serve(send, recv, context, service, activity));
            }
            accepted = connection.accept_uni(), if may_accept => {
                budget.spend(1);
                let Ok(stream) = accepted else { return };
                stream.stop(quic_code(ErrorCode::BadRequest));
            }
            received = connection.receive_datagram(), if may_accept => {
                budget.spend(1);
                if received.is_err() { return }
            }
            () = sleep(pause.unwrap_or_default()), if !may_accept => {}
            Some(_) = streams.join_next() => idle_since = Instant::now(),
            () = sleep_until(idle_since + idle_timeout), if streams.is_empty() => return,
            () = activity.evicted() => return,
            () = shutdown.stopping(), if streams.is_empty() => return,
        }
    }
}

/// Converts the code to the integer type of the QUIC library.
pub(super) fn quic_code(code: ErrorCode) -> VarInt {
    VarInt::try_from_u64(code.to_quic()).expect("the range of WebTransport's codes is below 2^62")
}
