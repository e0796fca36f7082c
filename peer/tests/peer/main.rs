//! A real peer, asked over real QUIC and real HTTP.

mod authority;
mod cancel;
mod chunks;
mod faults;
mod http;
mod http_server;
mod limits;
mod malformed;
mod open;
mod process;
mod rotation;
mod session;
mod shutdown;
mod test_peer;
mod upstream;
mod web;
mod writes;

#[path = "../../examples/hostile_peer/fault.rs"]
mod fault;
