//! Downloads with real QUIC connections over one simulated link, in virtual time: deterministic, and faster than real
//! time.

use crate::flow::{Answers, Flow, QuicHost, Role};
use crate::link::{Link, Wire};
use crate::measurements::{Measurements, TICK, ticks};
use crate::tls::configs;
use antway_peer::congestion::CongestionControl;
use bytes::BytesMut;
use quinn_proto::crypto::rustls::QuicServerConfig;
use quinn_proto::{
    ClientConfig, DatagramEvent, Endpoint, EndpointConfig, ServerConfig, TransportConfig,
};
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

/// A server that sends.
#[derive(Clone, Copy, Debug)]
pub struct Sender {
    pub control: CongestionControl,
    /// When it starts, in seconds.
    pub starts_after: u64,
    /// The part of its round trip that other flows of the link do not have.
    pub extra_round_trip: Duration,
    /// The answers that it sends. `None`: data without end.
    pub answers: Option<Answers>,
}

impl From<(CongestionControl, u64)> for Sender {
    fn from((control, starts_after): (CongestionControl, u64)) -> Self {
        Self {
            control,
            starts_after,
            extra_round_trip: Duration::ZERO,
            answers: None,
        }
    }
}

/// Runs one download per sender. The simulation ends after `seconds`.
pub fn download(link: &Link, senders: &[impl Copy + Into<Sender>], seconds: u64) -> Measurements {
    let senders: Vec<Sender> = senders.iter().map(|sender| (*sender).into()).collect();
    let mut simulation = Simulation::new(link, &senders);
    simulation.run(ticks(seconds));
    let flows = simulation.flows.into_iter();
    Measurements {
        bytes: flows.map(|flow| flow.bytes).collect(),
        queued: simulation.queued,
        sent: simulation.sent_bytes,
        dropped: simulation.dropped_bytes,
    }
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
    Answer(usize),
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
    sent_bytes: Vec<u64>,
    dropped_bytes: Vec<u64>,
}

impl Simulation {
    fn new(link: &Link, senders: &[Sender]) -> Self {
        let (client, crypto) = configs();
        let flows = senders.iter().enumerate();
        Self {
            epoch: Instant::now(),
            now: Duration::ZERO,
            round_trip: link.round_trip,
            jitter: link.jitter,
            down: Wire::new(link.downstream(), 1),
            up: Wire::new(link.upstream(), 2),
            arrivals: BTreeMap::new(),
            sent: 0,
            flows: flows
                .map(|(number, sender)| new_flow(number, sender, &crypto))
                .collect(),
            client,
            queued: Vec::new(),
            sent_bytes: Vec::new(),
            dropped_bytes: Vec::new(),
        }
    }

    fn run(&mut self, ticks: usize) {
        while self.queued.len() < ticks {
            let (at, next) = self.next();
            self.now = self.now.max(at);
            while TICK * self.queued.len() as u32 <= self.now {
                self.queued.push(self.down.queued(self.now));
                self.sent_bytes.push(self.down.sent_bytes);
                self.dropped_bytes.push(self.down.dropped_bytes);
                for flow in &mut self.flows {
                    flow.bytes.push(0);
                }
            }
            match next {
                NextEvent::Start(flow) => self.start(flow),
                NextEvent::Arrival => self.arrive(),
                NextEvent::Acknowledge(flow) => self.acknowledge(flow),
                NextEvent::Answer(flow) => {
                    self.flows[flow].answers.as_mut().unwrap().start();
                    self.drive(flow, Role::Server);
                }
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
            all.extend(
                flow.answers
                    .map(|answers| (answers.next_at, NextEvent::Answer(number))),
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
            let round_trip = self.round_trip + flow.extra_round_trip;
            let deadline = self.now + (round_trip / 4).min(MAX_ACK_DELAY);
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
            let extra_delay = flow.extra_round_trip / 2;
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
                            .insert((at + extra_delay, Reverse(u64::MAX - self.sent)), arrival);
                    }
                }
                buffer.clear();
            }
        }
    }
}

fn new_flow(number: usize, sender: &Sender, crypto: &Arc<QuicServerConfig>) -> Flow {
    let mut transport = TransportConfig::default();
    transport.congestion_controller_factory(sender.control.factory());
    transport.send_window(antway_peer::limits::SEND_WINDOW_BYTES);
    let mut server = ServerConfig::with_crypto(Arc::clone(crypto) as _);
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
        starts_at: Duration::from_secs(sender.starts_after),
        extra_round_trip: sender.extra_round_trip,
        client: host(None, 100),
        server: host(Some(Arc::new(server)), 1),
        stream: None,
        unacknowledged: 0,
        acknowledge_at: None,
        received: 0,
        bytes: Vec::new(),
        answers: sender.answers,
    }
}
