//! The QUIC configurations of both ends.

use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::{ClientConfig, TransportConfig, VarInt};
use rcgen::CertifiedKey;
use rustls::RootCertStore;
use rustls::pki_types::PrivatePkcs8KeyDer;
use std::sync::Arc;

/// A client that trusts the server, and the server's TLS configuration.
pub fn configs() -> (ClientConfig, Arc<QuicServerConfig>) {
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
