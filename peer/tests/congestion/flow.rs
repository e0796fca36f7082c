//! A client and its server.

use bytes::Bytes;
use quinn_proto::{Connection, ConnectionHandle, Dir, Endpoint, Event, StreamId};
use std::net::SocketAddr;
use std::time::Duration;

/// One end of a connection.
pub struct QuicHost {
    pub endpoint: Endpoint,
    pub address: SocketAddr,
    pub connection: Option<(ConnectionHandle, Connection)>,
}

/// A client and its server.
pub struct Flow {
    pub starts_at: Duration,
    /// The part of the round trip that other flows of the link do not have.
    pub extra_round_trip: Duration,
    pub client: QuicHost,
    pub server: QuicHost,
    pub stream: Option<StreamId>,
    pub unacknowledged: u32,
    pub acknowledge_at: Option<Duration>,
    pub received: u64,
    pub bytes: Vec<u64>,
    /// The answers of the server. `None`: data without end.
    pub answers: Option<Answers>,
}

/// Answers of one size, with pauses between them.
#[derive(Clone, Copy, Debug)]
pub struct Answers {
    pub bytes: usize,
    /// The time from the start of one answer to the start of the next. The first one starts after this time.
    pub interval: Duration,
    /// The rest of the answer that is being sent.
    pub left: usize,
    /// When the next answer starts.
    pub next_at: Duration,
}

impl Answers {
    /// Answers of this size.
    pub fn new(bytes: usize, interval: Duration) -> Self {
        Self {
            bytes,
            interval,
            left: 0,
            next_at: interval,
        }
    }

    /// Starts the next answer.
    pub fn start(&mut self) {
        self.left += self.bytes;
        self.next_at += self.interval;
    }
}

/// An end of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Client,
    Server,
}

impl Flow {
    /// One of the ends.
    pub fn host(&mut self, role: Role) -> &mut QuicHost {
        match role {
            Role::Client => &mut self.client,
            Role::Server => &mut self.server,
        }
    }

    /// Lets the connection and the endpoint exchange their events, and opens the stream.
    pub fn pass_events(&mut self, role: Role) {
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

    /// Writes as much as the connection takes.
    pub fn write(&mut self) {
        if let (Some((_, connection)), Some(stream)) = (&mut self.server.connection, self.stream) {
            let bytes = Bytes::from_static(&[0; 65_536]);
            let mut left = self.answers.map_or(usize::MAX, |answers| answers.left);
            while left > 0 {
                let part = bytes.slice(..left.min(bytes.len()));
                let mut stream = connection.send_stream(stream);
                let Ok(written) = stream.write_chunks(&mut [part]) else {
                    break;
                };
                left -= written.bytes;
            }
            if let Some(answers) = &mut self.answers {
                answers.left = left;
            }
        }
    }

    /// Reads all that has arrived.
    pub fn read(&mut self) {
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
