//! Hostile clients, failing upstreams and machines that fail. An honest client still gets its chunks, and the memory stays
//! bounded.

mod backlog;
mod client_network;
mod connections;
mod disk;
mod gate;
mod has;
mod http2;
mod memory;
mod metering;
mod open_files;
mod operations;
mod pointers;
mod proxies;
mod receive_windows;
mod sessions;
mod slow_lookups;
mod starvation;
mod tracked_source;
mod udp_relay;
mod unread_http2;
mod web_files;

#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/certificate_authority.rs"]
mod certificate_authority;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/http.rs"]
mod http;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/running_peer.rs"]
mod running_peer;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/session.rs"]
mod session;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/stub_http_server.rs"]
mod stub_http_server;
#[allow(dead_code, reason = "shared with another test program")]
#[path = "../peer/test_peer.rs"]
mod test_peer;
