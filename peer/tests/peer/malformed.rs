//! Requests that violate the protocol. Each resets its own stream, and the session continues.

use crate::session::{
    Reset, Session, abort, application_code, get_request, put_request, read_all, send_all,
};
use crate::test_peer::{TEST_TIMEOUT, TestPeer, chunk};
use antway_peer::address::Address;
use tokio::time::timeout;
use wtransport::error::StreamWriteError;

const BAD_REQUEST: u64 = 1;
const TOO_LARGE: u64 = 2;
const TIMEOUT: u64 = 3;
const LIMIT: u64 = 4;

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_request_resets_only_its_stream() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let stored = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    let get = get_request(&[stored.address(); 2]);
    let put = put_request(b"", 5, b"12345");
    for (what, request, code) in [
        ("nothing at all", vec![], BAD_REQUEST),
        ("an unknown op", vec![9, 1, 2, 3], BAD_REQUEST),
        ("an op that comes later", vec![6; 49], BAD_REQUEST),
        ("an open that breaks off", vec![5; 48], BAD_REQUEST),
        ("something after an open", vec![5; 50], BAD_REQUEST),
        ("no count", vec![1], BAD_REQUEST),
        ("no addresses", vec![1, 0], BAD_REQUEST),
        ("65 addresses", get_request(&[Address::of(b""); 65]), LIMIT),
        (
            "an address that breaks off",
            get[..get.len() - 1].to_vec(),
            BAD_REQUEST,
        ),
        (
            "something after the addresses",
            [&get[..], b"x"].concat(),
            BAD_REQUEST,
        ),
        ("something after an info", vec![4, 0], BAD_REQUEST),
        ("a token that breaks off", vec![3, 0, 9, 1], BAD_REQUEST),
        (
            "a token without end",
            [&[3, 255, 255][..], &[0; 2000]].concat(),
            TOO_LARGE,
        ),
        (
            "a body that is shorter than it says",
            put[..put.len() - 1].to_vec(),
            BAD_REQUEST,
        ),
        (
            "a body that is longer than it says",
            [&put[..], b"6"].concat(),
            BAD_REQUEST,
        ),
    ] {
        assert_eq!(session.request(&request).await, Err(Reset(code)), "{what}");
        assert_eq!(
            session.get(&[stored.address()]).await[0].0,
            0,
            "after {what}"
        );
    }
    assert_eq!(peer.store_chunks().await, 1, "nothing was stored");
    peer.wait_for_metric("antway_peer_streams", |n| n == 0)
        .await;
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_malformed_request_stops_the_clients_sending_side() {
    let peer = TestPeer::start(&[]).await;
    let session = Session::open(&peer.peer).await;
    let (mut send, mut recv) = session.stream().await;
    send_all(&mut send, &[1, 65]).await;
    match timeout(TEST_TIMEOUT, send.stopped()).await.unwrap() {
        StreamWriteError::Stopped(code) => assert_eq!(application_code(code), LIMIT),
        other => panic!("{other}"),
    }
    assert_eq!(read_all(&mut recv).await, Err(Reset(LIMIT)));
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn aborts_an_incomplete_request_after_the_timeout() {
    let peer = TestPeer::start(&["--request-timeout=300ms", "--allow-open-writes"]).await;
    let stored = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    let get = get_request(&[stored.address()]);
    let body = chunk(7, 1000);
    let put = put_request(b"", 1000, body.bytes());
    for beginning in [&get[..1], &get[..10], &get[..], &[3], &put[..100], &put[..]] {
        let (mut send, mut recv) = session.stream().await;
        send_all(&mut send, beginning).await;
        assert_eq!(read_all(&mut recv).await, Err(Reset(TIMEOUT)));
        drop(send);
    }
    assert_eq!(session.get(&[stored.address()]).await[0].0, 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_upload_stores_nothing() {
    let peer = TestPeer::start(&["--allow-open-writes"]).await;
    let session = Session::open(&peer.peer).await;
    let body = chunk(7, 500_000);
    let request = put_request(b"", 500_000, body.bytes());
    let (mut send, recv) = session.stream().await;
    send_all(&mut send, &request[..400_000]).await;
    peer.wait_for_metric("antway_peer_streams", |n| n == 1)
        .await;
    abort(&mut send);
    peer.wait_for_metric("antway_peer_streams", |n| n == 0)
        .await;
    drop(recv);
    assert_eq!(peer.store_chunks().await, 0);
    assert_eq!(session.put(b"", body.bytes()).await[0], 0);
    peer.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn refuses_unidirectional_streams() {
    let peer = TestPeer::start(&[]).await;
    let stored = peer.store_chunk(1, 1000).await;
    let session = Session::open(&peer.peer).await;
    for _ in 0..20 {
        session.connection.send_datagram(b"hello").unwrap();
        let mut stream = session.connection.open_uni().await.unwrap().await.unwrap();
        match timeout(TEST_TIMEOUT, stream.stopped()).await.unwrap() {
            StreamWriteError::Stopped(code) => assert_eq!(application_code(code), BAD_REQUEST),
            other => panic!("{other}"),
        }
    }
    assert_eq!(session.get(&[stored.address()]).await[0].0, 0);
    peer.stop().await;
}
