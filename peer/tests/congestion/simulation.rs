//! Downloads with real QUIC connections over one simulated link, in virtual time: deterministic, and faster than real
//! time.

use crate::link::{Link, Wire};
use antway_peer::congestion::CongestionControl;
use bytes::{Bytes, BytesMut};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    Event, ServerConfig, StreamId, TransportConfig, VarInt,
};
use rcgen::CertifiedKey;
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Chromium acknowledges this many packets together, once it has received this many bytes.
const PACKETS_PER_ACK: u32 = 10;
const IMMEDIATE_ACK_BYTES: u64 = 120_000;
/// Chromium acknowledges after a quarter of a round trip, but not later than this.
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// The interval of the recorded measurements.
const TICK: Duration = Duration::from_millis(100);

/// The recorded measurements, one per tick.
pub struct Measurements {
    /// The bytes that each client read.
    bytes: Vec<Vec<u64>>,
    /// The length of the queue towards the clients.
    queued: Vec<Duration>,
}

impl Measurements {
    /// The bits per second of a client between two moments, in seconds.
    pub fn rate(&self, client: usize, from: u64, to: u64) -> f64 {
        let bytes: u64 = self.bytes[client][ticks(from)..ticks(to)].iter().sum();
        bytes as f64 * 8.0 / (to - from) as f64
    }

    /// The mean length of the queue between two moments, in seconds.
    pub fn queued(&self, from: u64, to: u64) -> Duration {
        let queued = &self.queued[ticks(from)..ticks(to)];
        queued.iter().sum::<Duration>() / queued.len() as u32
    }
}

fn ticks(seconds: u64) -> usize {
    (Duration::from_secs(seconds).as_millis() / TICK.as_millis()) as usize
}

/// Runs one download per server. Each server has a congestion controller, and starts after the given number of
/// seconds. The simulation ends after `seconds`.
pub fn download(link: &Link, servers: &[(CongestionControl, u64)], seconds: u64) -> Measurements {
    let mut simulation = Simulation::new(link, servers);
    simulation.run(ticks(seconds));
    Measurements {
        bytes: simulation
            .flows
            .into_iter()
            .map(|flow| flow.bytes)
            .collect(),
        queued: simulation.queued,
    }
}

/// One end of a connection.
struct QuicHost {
    endpoint: Endpoint,
    address: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
}

/// A client and its server.
struct Flow {
    starts_at: Duration,
    client: QuicHost,
    server: QuicHost,
    stream: Option<StreamId>,
    unacknowledged: u32,
    acknowledge_at: Option<Duration>,
    received: u64,
    bytes: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Client,
    Server,
}

struct Arrival {
    flow: usize,
    at: Role,
    datagram: Vec<u8>,
}

enum NextEvent {
    Start(usize),
    Arrival,
    Timer(usize, Role),
    Acknowledge(usize),
}

struct Simulation {
    epoch: Instant,
    now: Duration,
    round_trip: Duration,
    jitter: Duration,
    down: Wire,
    up: Wire,
    /// Ordered by arrival time, then by the order of sending.
    arrivals: BTreeMap<(Duration, Reverse<u64>), Arrival>,
    sent: u64,
    flows: Vec<Flow>,
    client: ClientConfig,
    queued: Vec<Duration>,
}

impl Simulation {
    fn new(link: &Link, servers: &[(CongestionControl, u64)]) -> Self {
        let (client, crypto) = configs();
        let flow = |(number, (control, starts_after)): (usize, &(CongestionControl, u64))| {
            let mut transport = TransportConfig::default();
            transport.congestion_controller_factory(control.factory());
            transport.send_window(antway_peer::limits::SEND_WINDOW_BYTES);
            let mut server = ServerConfig::with_crypto(Arc::clone(&crypto) as _);
            server.transport_config(Arc::new(transport));
            let host = |config, host| QuicHost {
                endpoint: Endpoint::new(
                    Arc::new(EndpointConfig::default()),
                    config,
                    true,
                    Some([host + number as u8; 32]),
                ),
                address: SocketAddr::from(([127, 0, 0, host], 1000 + number as u16)),
                connection: None,
            };
            Flow {
                starts_at: Duration::from_secs(*starts_after),
                client: host(None, 100),
                server: host(Some(Arc::new(server)), 1),
                stream: None,
                unacknowledged: 0,
                acknowledge_at: None,
                received: 0,
                bytes: Vec::new(),
            }
        };
        Self {
            epoch: Instant::now(),
            now: Duration::ZERO,
            round_trip: link.round_trip,
            jitter: link.jitter,
            down: Wire::new(link.clone(), 1),
            up: Wire::new(link.clone(), 2),
            arrivals: BTreeMap::new(),
            sent: 0,
            flows: servers.iter().enumerate().map(flow).collect(),
            client,
            queued: Vec::new(),
        }
    }

    fn run(&mut self, ticks: usize) {
        while self.queued.len() < ticks {
            let (at, next) = self.next();
            self.now = self.now.max(at);
            while TICK * self.queued.len() as u32 <= self.now {
                self.queued.push(self.down.queued(self.now));
                for flow in &mut self.flows {
                    flow.bytes.push(0);
                }
            }
            match next {
                NextEvent::Start(flow) => self.start(flow),
                NextEvent::Arrival => self.arrive(),
                NextEvent::Acknowledge(flow) => self.acknowledge(flow),
                NextEvent::Timer(flow, role) => {
                    let now = self.epoch + self.now;
                    let (_, connection) = self.flows[flow].host(role).connection.as_mut().unwrap();
                    connection.handle_timeout(now);
                    self.drive(flow, role);
                }
            }
        }
    }

    /// The next event and its time.
    fn next(&mut self) -> (Duration, NextEvent) {
        let arrival = self.arrivals.first_key_value();
        let arrival = arrival.map(|((at, _), _)| (*at, NextEvent::Arrival));
        let mut all: Vec<_> = arrival.into_iter().collect();
        for (number, flow) in self.flows.iter_mut().enumerate() {
            if flow.client.connection.is_none() {
                all.push((flow.starts_at, NextEvent::Start(number)));
            }
            all.extend(
                flow.acknowledge_at
                    .map(|at| (at, NextEvent::Acknowledge(number))),
            );
            for role in [Role::Client, Role::Server] {
                let connection = flow.host(role).connection.as_mut();
                if let Some(at) = connection.and_then(|(_, connection)| connection.poll_timeout()) {
                    let at = at.saturating_duration_since(self.epoch);
                    all.push((at, NextEvent::Timer(number, role)));
                }
            }
        }
        let first = all.into_iter().min_by_key(|(at, _)| *at);
        first.expect("connections have timers")
    }

    fn start(&mut self, number: usize) {
        let Flow { client, server, .. } = &mut self.flows[number];
        let now = self.epoch + self.now;
        let connection = client
            .endpoint
            .connect(now, self.client.clone(), server.address, "peer");
        client.connection = Some(connection.unwrap());
        self.drive(number, Role::Client);
    }

    fn arrive(&mut self) {
        let now = self.epoch + self.now;
        let (
            _,
            Arrival {
                flow: number,
                at: role,
                datagram,
            },
        ) = self.arrivals.pop_first().unwrap();
        let flow = &mut self.flows[number];
        let from = match role {
            Role::Client => flow.server.address,
            Role::Server => flow.client.address,
        };
        let host = flow.host(role);
        let mut answer = Vec::new();
        let datagram = BytesMut::from(&datagram[..]);
        match host
            .endpoint
            .handle(now, from, None, None, datagram, &mut answer)
        {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = host.endpoint.accept(incoming, now, &mut answer, None);
                host.connection = Some(accepted.ok().unwrap());
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                let (_, connection) = host.connection.as_mut().unwrap();
                connection.handle_event(event);
            }
            _ => {}
        }
        if role == Role::Server {
            return self.drive(number, Role::Server);
        }
        flow.unacknowledged += 1;
        if !self.jitter.is_zero() {
            // Short delays are more frequent than long ones.
            let ack_delay = self.jitter.mul_f64(self.up.next_random().powi(2));
            flow.acknowledge_at.get_or_insert(self.now + ack_delay);
        } else if flow.unacknowledged == PACKETS_PER_ACK || flow.received < IMMEDIATE_ACK_BYTES {
            self.acknowledge(number);
        } else {
            let deadline = self.now + (self.round_trip / 4).min(MAX_ACK_DELAY);
            flow.acknowledge_at.get_or_insert(deadline);
        }
    }

    fn acknowledge(&mut self, number: usize) {
        let flow = &mut self.flows[number];
        flow.unacknowledged = 0;
        flow.acknowledge_at = None;
        self.drive(number, Role::Client);
    }

    /// Lets one end do everything that it can do now.
    fn drive(&mut self, number: usize, role: Role) {
        let now = self.epoch + self.now;
        let flow = &mut self.flows[number];
        let mut is_done = false;
        while !is_done {
            is_done = true;
            flow.pass_events(role);
            match role {
                Role::Client => flow.read(),
                Role::Server => flow.write(),
            }
            let (wire, to) = match role {
                Role::Client => (&mut self.up, Role::Server),
                Role::Server => (&mut self.down, Role::Client),
            };
            let Some((_, connection)) = &mut flow.host(role).connection else {
                return;
            };
            let mut buffer = Vec::new();
            while let Some(transmit) = connection.poll_transmit(now, 10, &mut buffer) {
                is_done = false;
                let length = transmit.segment_size.unwrap_or(transmit.size);
                for datagram in buffer[..transmit.size].chunks(length) {
                    self.sent += 1;
                    if let Some(at) = wire.send(self.now, datagram.len()) {
                        let datagram = datagram.to_vec();
                        let arrival = Arrival {
                            flow: number,
                            at: to,
                            datagram,
                        };
                        self.arrivals
                            .insert((at, Reverse(u64::MAX - self.sent)), arrival);
                    }
                }
                buffer.clear();
            }
        }
    }
}

impl Flow {
    fn host(&mut self, role: Role) -> &mut QuicHost {
        match role {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }

    fn pass_events(&mut self, role: Role) {
        let host = self.host(role);
        let Some((handle, connection)) = &mut host.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = host.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut stream = None;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if role == Role::Server => {
                    stream = connection.streams().open(Dir::Uni);
                }
                Event::ConnectionLost { reason } => panic!("{reason}"),
                _ => {}
            }
        }
        self.stream = self.stream.or(stream);
    }

    fn write(&mut self) {
        if let (Some((_, connection)), Some(stream)) = (&mut self.server.connection, self.stream) {
            let bytes = Bytes::from_static(&[0; 65_536]);
            while connection
                .send_stream(stream)
                .write_chunks(&mut [bytes.clone()])
                .is_ok()
            {}
        }
    }

    fn read(&mut self) {
        let (Some((_, connection)), Some(stream)) = (&mut self.client.connection, self.stream)
        else {
            return;
        };
        let mut stream = connection.recv_stream(stream);
        // The stream may have no data yet.
        let Ok(mut chunks) = stream.read(true) else {
            return;
        };
        while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
            self.received += chunk.bytes.len() as u64;
            *self.bytes.last_mut().unwrap() += chunk.bytes.len() as u64;
        }
        let _ = chunks.finalize();
    }
}

fn configs() -> (ClientConfig, Arc<QuicServerConfig>) {
    let CertifiedKey { cert, signing_key } =
        rcgen::generate_simple_self_signed(["peer".to_owned()]).unwrap();
    let certificate = cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let versions = &[&rustls::version::TLS13];
    let mut server = rustls::ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key.into())
        .unwrap();
    server.max_early_data_size = 0;
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let client = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(versions)
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let mut client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(client).unwrap()));
    // The flow control windows of Chromium.
    let mut transport = TransportConfig::default();
    transport.stream_receive_window(VarInt::from_u32(6 << 20));
    transport.receive_window(VarInt::from_u32(15 << 20));
    client.transport_config(Arc::new(transport));
    (
        client,
        Arc::new(QuicServerConfig::try_from(server).unwrap()),
    )
}
