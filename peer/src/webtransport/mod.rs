//! The WebTransport face: sessions at `/v1`, and one request per bidirectional stream.

mod open;
mod request;
mod sending;
mod session;

use crate::certificates::Certificates;
use crate::congestion::CongestionControl;
use crate::limits::{
    Limits, SEND_WINDOW_BYTES, SESSION_RECEIVE_WINDOW_BYTES, STREAM_RECEIVE_WINDOW_BYTES,
};
use crate::service::Service;
use crate::shutdown::Shutdown;
use futures_util::future::join_all;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use wtransport::config::QuicTransportConfig;
use wtransport::endpoint::endpoint_side::Server;
use wtransport::proto::WEBTRANSPORT_ALPN;
use wtransport::{Endpoint, ServerConfig, VarInt};

/// Asked of the kernel, which may give less. A burst of a session's window should fit.
const SOCKET_BUFFER_BYTES: usize = 4 * 1024 * 1024;

/// HTTP/3's H3_NO_ERROR, for connections that end because there is no more to do.
const H3_NO_ERROR: VarInt = VarInt::from_u32(0x100);

/// The face, listening at some addresses, or at none.
#[derive(Default)]
pub struct WebTransportFace {
    endpoints: Vec<Endpoint<Server>>,
}

impl WebTransportFace {
    /// Listens on the UDP `address`, too. Returns where that is: the port may have been 0.
    pub fn listen(
        &mut self,
        address: SocketAddr,
        certificates: &Certificates,
        congestion_control: CongestionControl,
        limits: &Limits,
    ) -> io::Result<SocketAddr> {
        let mut tls = certificates.resolver().tls(&[WEBTRANSPORT_ALPN]);
        // QUIC's own rule: early data is either off or of any size.
        tls.max_early_data_size = 0;
        let config = ServerConfig::builder()
            .with_bind_socket(bind_socket(address)?)
            .with_custom_tls_and_transport(tls, transport(congestion_control, limits))
            .build();
        let endpoint = Endpoint::server(config)?;
        let address = endpoint.local_addr()?;
        self.endpoints.push(endpoint);
        Ok(address)
    }

    /// Serves until the shutdown is over.
    pub async fn run(self, service: Arc<Service>, shutdown: Shutdown) {
        let places = Arc::new(Semaphore::new(service.limits.sessions));
        let serving = self
            .endpoints
            .into_iter()
            .map(|endpoint| accept(endpoint, &places, &service, &shutdown));
        join_all(serving).await;
    }
}

/// Takes sessions, each in one of the `places`, until the shutdown is over.
async fn accept(
    endpoint: Endpoint<Server>,
    places: &Arc<Semaphore>,
    service: &Arc<Service>,
    shutdown: &Shutdown,
) {
    loop {
        let incoming = tokio::select! {
            incoming = endpoint.accept() => incoming,
            () = shutdown.over() => break,
        };
        let place = Arc::clone(places).try_acquire_owned();
        match place {
            Ok(place) if !shutdown.has_begun() => {
                // When it gets crowded, a client has to show that its address is its own.
                if places.available_permits() < service.limits.sessions / 2
                    && !incoming.remote_address_validated()
                {
                    incoming.retry();
                    continue;
                }
                let session = session::serve(incoming, Arc::clone(service), shutdown.clone());
                shutdown.track(async move {
                    session.await;
                    drop(place);
                });
            }
            _ => {
                tracing::debug!(remote = %incoming.remote_address(), "session refused");
                incoming.refuse();
            }
        }
    }
    endpoint.close(H3_NO_ERROR, b"shutting down");
    // The goodbyes are lost if the socket closes before they are sent, which does no harm.
    let _ = tokio::time::timeout(Duration::from_secs(1), endpoint.wait_idle()).await;
}

fn bind_socket(address: SocketAddr) -> io::Result<UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    if address.is_ipv6() {
        socket.set_only_v6(false)?;
    }
    socket.set_send_buffer_size(SOCKET_BUFFER_BYTES)?;
    socket.set_recv_buffer_size(SOCKET_BUFFER_BYTES)?;
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn transport(congestion_control: CongestionControl, limits: &Limits) -> QuicTransportConfig {
    let mut transport = QuicTransportConfig::default();
    transport.congestion_controller_factory(congestion_control.factory());
    // One more than the requests: the session's own CONNECT stream.
    transport.max_concurrent_bidi_streams((limits.streams_per_session + 1).into());
    // HTTP/3's control and QPACK streams, and a few that browsers open to exercise the protocol.
    transport.max_concurrent_uni_streams(8_u32.into());
    transport.stream_receive_window(STREAM_RECEIVE_WINDOW_BYTES.into());
    transport.receive_window(SESSION_RECEIVE_WINDOW_BYTES.into());
    transport.send_window(SEND_WINDOW_BYTES);
    // WebTransport requires datagrams to be supported; the protocol has no use for them.
    transport.datagram_receive_buffer_size(Some(64 * 1024));
    // A client that vanished is noticed by its silence; one that waits for a slow answer is kept. Sessions
    // without requests are closed by `session`.
    let idle_timeout = limits.idle_timeout.try_into();
    transport.max_idle_timeout(Some(idle_timeout.expect("checked with the flags")));
    transport.keep_alive_interval(Some(limits.idle_timeout / 3));
    transport
}
