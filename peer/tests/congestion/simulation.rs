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
const PACKETS_PER_ACKNOWLEDGEMENT: u32 = 10;
const ACKNOWLEDGED_AT_ONCE_BYTES: u64 = 120_000;
/// Chromium acknowledges after a quarter of a round trip, but not later than this.
const LATEST_ACKNOWLEDGEMENT: Duration = Duration::from_millis(25);

/// The interval of the recorded measurements.
const TICK: Duration = Duration::from_millis(100);

/// The recorded measurements, one per tick.
pub struct Outcome {
    /// The bytes that each client read.
    bytes: Vec<Vec<u64>>,
    /// The length of the queue towards the clients.
    queued: Vec<Duration>,
}

impl Outcome {
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
pub fn download(link: &Link, servers: &[(CongestionControl, u64)], seconds: u64) -> Outcome {
    let mut simulation = Simulation::new(link, servers);
    simulation.run(ticks(seconds));
    Outcome {
        bytes: simulation
            .pairs
            .into_iter()
            .map(|pair| pair.bytes)
            .collect(),
        queued: simulation.queued,
    }
}

/// One end of a connection.
struct Side {
    endpoint: Endpoint,
    address: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
}

/// A client and its server.
struct Pair {
    begins_at: Duration,
    client: Side,
    server: Side,
    stream: Option<StreamId>,
    unacknowledged: u32,
    acknowledge_at: Option<Duration>,
    received: u64,
    bytes: Vec<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Client,
    Server,
}

struct Arrival {
    pair: usize,
    at: End,
    datagram: Vec<u8>,
}

enum Next {
    Begin(usize),
    Arrival,
    Timer(usize, End),
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
    pairs: Vec<Pair>,
    client: ClientConfig,
    queued: Vec<Duration>,
}

impl Simulation {
    fn new(link: &Link, servers: &[(CongestionControl, u64)]) -> Self {
        let (client, crypto) = configs();
        let pair = |(number, (control, begins_after)): (usize, &(CongestionControl, u64))| {
            let mut transport = TransportConfig::default();
            transport.congestion_controller_factory(control.factory());
            transport.send_window(antway_peer::limits::SEND_WINDOW_BYTES);
            let mut server = ServerConfig::with_crypto(Arc::clone(&crypto) as _);
            server.transport_config(Arc::new(transport));
            let side = |config, host| Side {
                endpoint: Endpoint::new(
                    Arc::new(EndpointConfig::default()),
                    config,
                    true,
                    Some([host + number as u8; 32]),
                ),
                address: SocketAddr::from(([127, 0, 0, host], 1000 + number as u16)),
                connection: None,
            };
            Pair {
                begins_at: Duration::from_secs(*begins_after),
                client: side(None, 100),
                server: side(Some(Arc::new(server)), 1),
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
            pairs: servers.iter().enumerate().map(pair).collect(),
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
                for pair in &mut self.pairs {
                    pair.bytes.push(0);
                }
            }
            match next {
                Next::Begin(pair) => self.begin(pair),
                Next::Arrival => self.arrive(),
                Next::Acknowledge(pair) => self.acknowledge(pair),
                Next::Timer(pair, end) => {
                    let now = self.epoch + self.now;
                    let (_, connection) = self.pairs[pair].side(end).connection.as_mut().unwrap();
                    connection.handle_timeout(now);
                    self.drive(pair, end);
                }
            }
        }
    }

    /// The next event and its time.
    fn next(&mut self) -> (Duration, Next) {
        let arrival = self.arrivals.first_key_value();
        let arrival = arrival.map(|((at, _), _)| (*at, Next::Arrival));
        let mut all: Vec<_> = arrival.into_iter().collect();
        for (number, pair) in self.pairs.iter_mut().enumerate() {
            if pair.client.connection.is_none() {
                all.push((pair.begins_at, Next::Begin(number)));
            }
            all.extend(
                pair.acknowledge_at
                    .map(|at| (at, Next::Acknowledge(number))),
            );
            for end in [End::Client, End::Server] {
                let connection = pair.side(end).connection.as_mut();
                if let Some(at) = connection.and_then(|(_, connection)| connection.poll_timeout()) {
                    let at = at.saturating_duration_since(self.epoch);
                    all.push((at, Next::Timer(number, end)));
                }
            }
        }
        let first = all.into_iter().min_by_key(|(at, _)| *at);
        first.expect("connections have timers")
    }

    fn begin(&mut self, number: usize) {
        let Pair { client, server, .. } = &mut self.pairs[number];
        let now = self.epoch + self.now;
        let connection = client
            .endpoint
            .connect(now, self.client.clone(), server.address, "peer");
        client.connection = Some(connection.unwrap());
        self.drive(number, End::Client);
    }

    fn arrive(&mut self) {
        let now = self.epoch + self.now;
        let (
            _,
            Arrival {
                pair: number,
                at: end,
                datagram,
            },
        ) = self.arrivals.pop_first().unwrap();
        let pair = &mut self.pairs[number];
        let from = match end {
            End::Client => pair.server.address,
            End::Server => pair.client.address,
        };
        let side = pair.side(end);
        let mut answer = Vec::new();
        let datagram = BytesMut::from(&datagram[..]);
        match side
            .endpoint
            .handle(now, from, None, None, datagram, &mut answer)
        {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = side.endpoint.accept(incoming, now, &mut answer, None);
                side.connection = Some(accepted.ok().unwrap());
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                let (_, connection) = side.connection.as_mut().unwrap();
                connection.handle_event(event);
            }
            _ => {}
        }
        if end == End::Server {
            return self.drive(number, End::Server);
        }
        pair.unacknowledged += 1;
        if !self.jitter.is_zero() {
            // Short delays are more frequent than long ones.
            let held_back = self.jitter.mul_f64(self.up.next_random().powi(2));
            pair.acknowledge_at.get_or_insert(self.now + held_back);
        } else if pair.unacknowledged == PACKETS_PER_ACKNOWLEDGEMENT
            || pair.received < ACKNOWLEDGED_AT_ONCE_BYTES
        {
            self.acknowledge(number);
        } else {
            let latest = self.now + (self.round_trip / 4).min(LATEST_ACKNOWLEDGEMENT);
            pair.acknowledge_at.get_or_insert(latest);
        }
    }

    fn acknowledge(&mut self, number: usize) {
        let pair = &mut self.pairs[number];
        pair.unacknowledged = 0;
        pair.acknowledge_at = None;
        self.drive(number, End::Client);
    }

    /// Lets one end do everything that it can do now.
    fn drive(&mut self, number: usize, end: End) {
        let now = self.epoch + self.now;
        let pair = &mut self.pairs[number];
        let mut is_done = false;
        while !is_done {
            is_done = true;
            pair.pass_events(end);
            match end {
                End::Client => pair.read(),
                End::Server => pair.write(),
            }
            let (wire, to) = match end {
                End::Client => (&mut self.up, End::Server),
                End::Server => (&mut self.down, End::Client),
            };
            let Some((_, connection)) = &mut pair.side(end).connection else {
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
                            pair: number,
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

impl Pair {
    fn side(&mut self, end: End) -> &mut Side {
        match end {
            End::Client => &mut self.client,
            End::Server => &mut self.server,
        }
    }

    fn pass_events(&mut self, end: End) {
        let side = self.side(end);
        let Some((handle, connection)) = &mut side.connection else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = side.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        let mut stream = None;
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if end == End::Server => {
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
