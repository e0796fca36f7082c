//! Tests of a real peer over real QUIC and HTTP.

mod ca_signed;
mod cancel;
mod certificate_authority;
mod chunks;
mod commands;
mod config_file;
mod congestion_control;
mod deny;
mod fairness;
mod faults;
mod flags;
mod full_disk;
mod get_many;
mod http;
mod limits;
mod malformed;
mod network;
mod network_pointers;
#[cfg(feature = "object-store")]
mod object_folder;
mod open;
mod paid_uploads;
mod peer_mesh;
mod pointer_writes;
mod process;
mod rotation;
mod running_peer;
#[cfg(feature = "object-store")]
mod s3;
mod session;
mod shutdown;
mod stdin;
mod store_limits;
mod stub_http_server;
mod test_peer;
mod upstream;
mod upstream_failure;
mod upstream_pointer;
mod web;
mod web_files;
mod web_origins;
mod web_peer;
mod writes;

#[path = "../../examples/hostile_peer/fault.rs"]
mod fault;
