//! Hostile clients, and machines that fail: each test is an attack or a fault that a peer must withstand.

mod disk;
mod web_files;

#[allow(dead_code, reason = "the other test program uses the rest")]
#[path = "../peer/http.rs"]
mod http;
#[allow(dead_code, reason = "the other test program uses the rest")]
#[path = "../peer/running_peer.rs"]
mod running_peer;
#[allow(dead_code, reason = "the other test program uses the rest")]
#[path = "../peer/session.rs"]
mod session;
#[allow(dead_code, reason = "the other test program uses the rest")]
#[path = "../peer/test_peer.rs"]
mod test_peer;
