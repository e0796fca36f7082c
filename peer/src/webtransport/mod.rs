//! The WebTransport server: sessions at `/v1`, with one request per bidirectional stream.

mod open;
mod request;
mod response_writer;
mod session;

use crate::certificates::Certificates;
use crate::congestion::CongestionControl;
use crate::limits::{Limits, ReceiveWindows, SEND_WINDOW_BYTES};
use crate::metrics::Transport;
use crate::service::Service;
use crate::shutdown::Shutdown;
use futures_util::future::join_all;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::Duration;
use wtransport::config::QuicTransportConfig;
use wtransport::endpoint::endpoint_side::Server;
use wtransport::proto::WEBTRANSPORT_ALPN;
use wtransport::{Endpoint, ServerConfig, VarInt};

/// The requested size of the socket buffers in bytes. The kernel may grant less. A burst of a session's window should
/// fit.
const SOCKET_BUFFER_BYTES: usize = 4 * 1024 * 1024;

/// The HTTP/3 code `H3_NO_ERROR`, for a normal end of a connection.
const H3_NO_ERROR: VarInt = VarInt::from_u32(0x100);

/// The endpoints of the WebTransport server. There are none if WebTransport is off.
#[derive(Default)]
pub struct WebTransportServer {
    endpoints: Vec<Endpoint<Server>>,
}

impl WebTransportServer {
    /// Also listens on this UDP address. Returns the bound address, whose port is known even if `address` has port 0.
    pub fn listen(
        &mut self,
        address: SocketAddr,
        certificates: &Certificates,
        congestion_control: CongestionControl,
        receive_windows: ReceiveWindows,
        limits: &Limits,
    ) -> io::Result<SocketAddr> {
        let mut tls = certificates.resolver().tls(&[WEBTRANSPORT_ALPN]);
        // QUIC allows either no early data or an unlimited amount.
        tls.max_early_data_size = 0;
        let config = ServerConfig::builder()
            .with_bind_socket(bind_socket(address)?)
            .with_custom_tls_and_transport(
                tls,
                quic_config(congestion_control, receive_windows, limits),
            )
            .build();
        let endpoint = Endpoint::server(config)?;
        let address = endpoint.local_addr()?;
        self.endpoints.push(endpoint);
        Ok(address)
    }

    /// Serves until the shutdown is over.
    pub async fn run(self, service: Arc<Service>, shutdown: Shutdown) {
        let serving = self
            .endpoints
            .into_iter()
            .map(|endpoint| accept(endpoint, &service, &shutdown));
        join_all(serving).await;
    }
}

/// Accepts sessions until the shutdown is over.
async fn accept(endpoint: Endpoint<Server>, service: &Arc<Service>, shutdown: &Shutdown) {
    loop {
        let incoming = tokio::select! {
            incoming = endpoint.accept() => incoming,
            () = shutdown.terminating() => break,
        };
        if shutdown.is_stopping() {
            incoming.refuse();
            continue;
        }
        let remote = incoming.remote_address().ip().to_canonical();
        let is_validated = incoming.remote_address_validated();
        match service.access.accept_session(remote, is_validated) {
            None => incoming.retry(),
            Some(Ok(slot)) => {
                let session = session::serve(incoming, slot, Arc::clone(service), shutdown.clone());
                shutdown.track(session);
            }
            Some(Err(refusal)) => {
                let metrics = &service.metrics;
                metrics.count_refused_connection(Transport::WebTransport, refusal.name());
                tracing::debug!(%remote, reason = refusal.name(), "session refused");
                incoming.refuse();
            }
        }
    }
    endpoint.close(H3_NO_ERROR, b"shutting down");
    // The close frames are lost if the socket closes before they are sent. This does no harm.
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

fn quic_config(
    congestion_control: CongestionControl,
    receive_windows: ReceiveWindows,
    limits: &Limits,
) -> QuicTransportConfig {
    let mut config = QuicTransportConfig::default();
    config.congestion_controller_factory(congestion_control.factory());
    // One stream more than the requests: the CONNECT stream of the session.
    config.max_concurrent_bidi_streams((limits.streams_per_session + 1).into());
    // The control and QPACK streams of HTTP/3, and a few reserved streams that browsers open.
    config.max_concurrent_uni_streams(8_u32.into());
    config.stream_receive_window(receive_windows.stream_bytes.into());
    config.receive_window(receive_windows.session_bytes.into());
    config.send_window(SEND_WINDOW_BYTES);
    // WebTransport requires support for datagrams. The protocol does not use them.
    config.datagram_receive_buffer_size(Some(64 * 1024));
    // Keep-alives detect clients that are gone, and keep connections open during slow responses. The module `session`
    // closes sessions without requests.
    let idle_timeout = limits.idle_timeout.try_into();
    config.max_idle_timeout(Some(idle_timeout.expect("checked with the flags")));
    config.keep_alive_interval(Some(limits.idle_timeout / 3));
    config
}
