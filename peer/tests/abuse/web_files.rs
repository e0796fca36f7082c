//! Clients that request large files of the web app, and do not read them.

use crate::certificate_authority::CertificateAuthority;
use crate::http::{get, read_response};
use crate::http2::{Client, certificate};
use crate::running_peer::{RunningPeer, program};
use crate::test_peer::TEST_TIMEOUT;
use crate::unread_http2::FLAGS;
use std::fs::{self, File};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const FILE_BYTES: u64 = 64 << 20;

/// A peer that hosts a film. Returns its host and port, too.
fn start(folder: &TempDir, more: &[&str]) -> (RunningPeer, String) {
    let web = folder.path().join("web");
    fs::create_dir(&web).unwrap();
    fs::write(web.join("index.html"), "").unwrap();
    let film = File::create(web.join("film.mp4")).unwrap();
    film.set_len(FILE_BYTES).unwrap();
    let flags = [
        "serve",
        "--http=127.0.0.1:0",
        "--webtransport=none",
        &format!("--store={}", folder.path().join("store").display()),
        &format!("--web={}", web.display()),
    ];
    let (peer, line) = RunningPeer::start(&mut program(&[&flags[..], more].concat()));
    let (_, authority) = line["http"].as_str().unwrap().split_once("://").unwrap();
    (peer, authority.to_owned())
}

/// As [`start`], with a certificate of this authority.
fn start_for_http2(folder: &TempDir, more: &[&str]) -> (RunningPeer, String, CertificateAuthority) {
    let (ca, _files, certificate) = certificate();
    let certificate = certificate.each_ref().map(String::as_str);
    let (peer, authority) = start(folder, &[&certificate[..], more].concat());
    (peer, authority, ca)
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_readers_of_a_large_file_do_not_hold_it_in_memory() {
    let folder = TempDir::new().unwrap();
    let (peer, authority) = start(&folder, &[]);
    let http = &format!("http://{authority}");
    let before = memory_of(peer.id());
    let mut readers = Vec::new();
    for _ in 0..40 {
        let mut reader = TcpStream::connect(&authority).await.unwrap();
        let request = format!("GET /film.mp4 HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        reader.write_all(request.as_bytes()).await.unwrap();
        let mut start = [0; 1000];
        reader.read_exact(&mut start).await.unwrap();
        assert!(start.starts_with(b"HTTP/1.1 200 "));
        readers.push(reader);
    }
    let used = memory_of(peer.id()).saturating_sub(before);
    assert!(used < FILE_BYTES, "40 readers use {used} bytes");
    assert_eq!(get(http, "/-/health").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_answers_over_http2_take_bounded_memory_and_files() {
    let folder = TempDir::new().unwrap();
    // Memory for 32 answers with files.
    let (peer, authority, ca) = start_for_http2(&folder, &FLAGS);
    let before = memory_of(peer.id());
    let mut hostile = Vec::new();
    for n in 0..24 {
        let source = format!("127.0.1.{}", 1 + n % 3);
        let mut client = Client::connect_from(&source, &authority, &ca, 1).await;
        let mut unread = Vec::new();
        for _ in 0..63 {
            unread.push(client.begin_get("/film.mp4").await);
        }
        // The peer has all requests.
        assert_eq!(client.get("/-/health").await.0, 200);
        hostile.push((client, unread));
    }
    let mut honest = Client::connect_from("127.0.9.1", &authority, &ca, 1 << 20).await;
    for _ in 0..3 {
        assert_eq!(honest.get("/").await.0, 200);
        let films = open_films(peer.id());
        assert!(films <= 32, "{films} open films");
    }
    let used = memory_of(peer.id()).saturating_sub(before);
    assert!(used < 64 << 20, "1,512 answers use {used} bytes");
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_files_do_not_hold_the_memory_that_others_wait_for() {
    let folder = TempDir::new().unwrap();
    // Memory for 32 answers with files.
    let (peer, authority, ca) = start_for_http2(&folder, &FLAGS);
    let mut hostile = Vec::new();
    for network in 1..=32 {
        let source = format!("127.0.1.{network}");
        let mut client = Client::connect_from(&source, &authority, &ca, 1).await;
        let film = client.begin_get("/film.mp4").await.await.unwrap();
        assert_eq!(film.status(), 200);
        hostile.push((client, film));
    }
    assert_eq!(open_films(peer.id()), 32);
    let mut honest = Client::connect_from("127.0.9.1", &authority, &ca, 1 << 20).await;
    let page = timeout(TEST_TIMEOUT, honest.get("/")).await;
    assert_eq!(page.expect("a place soon").0, 200);
    assert!(open_films(peer.id()) < 32);
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_the_requests_over_http2_of_one_network_at_a_time() {
    let folder = TempDir::new().unwrap();
    let flags = ["--limit-loopback", "--max-http-connections-per-network=8"];
    let (_peer, authority, ca) = start_for_http2(&folder, &flags);
    let connect = async |source| Client::connect_from(source, &authority, &ca, 1).await;
    let mut hostile = [connect("127.0.1.1").await, connect("127.0.1.1").await];
    let mut unread = Vec::new();
    for _ in 0..4 {
        for client in &mut hostile {
            unread.push(client.begin_get("/film.mp4").await.await.unwrap());
        }
    }
    assert!(unread.iter().all(|response| response.status() == 200));
    let refused = hostile[0].begin_get("/film.mp4").await.await.unwrap();
    assert_eq!(refused.status(), 429);
    let other = connect("127.0.1.2").await.begin_get("/film.mp4").await;
    assert_eq!(other.await.unwrap().status(), 200);
    drop(unread);
    // A reset ends the request.
    let again = async {
        loop {
            let response = hostile[0].begin_get("/film.mp4").await.await.unwrap();
            if response.status() == 200 {
                break;
            }
        }
    };
    timeout(TEST_TIMEOUT, again).await.expect("a place soon");
}

/// How often a process has opened the film.
fn open_films(id: u32) -> usize {
    let files = fs::read_dir(format!("/proc/{id}/fd")).unwrap();
    let paths = files.filter_map(|file| fs::read_link(file.ok()?.path()).ok());
    paths.filter(|path| path.ends_with("film.mp4")).count()
}

/// The memory of a process, in bytes.
fn memory_of(id: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.unwrap().trim().strip_suffix(" kB").unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_name_is_refused_and_not_repeated() {
    let folder = TempDir::new().unwrap();
    let (_peer, authority) = start(&folder, &[]);
    let long = "a".repeat(100_000);
    for head in [
        format!("GET / HTTP/1.1\r\nConnection: close\r\nHost: {long}\r\n\r\n"),
        format!(
            "GET /none HTTP/1.1\r\nConnection: close\r\nHost: {authority}\r\nOrigin: http://{long}\r\n\r\n"
        ),
        format!(
            "GET /-/info HTTP/1.1\r\nConnection: close\r\nHost: {long}\r\nOrigin: http://{long}\r\n\r\n"
        ),
    ] {
        let mut stream = TcpStream::connect(&authority).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let response = read_response(&mut stream, false).await;
        assert_eq!(response.status, 400);
        assert_eq!(response.header("content-security-policy"), None);
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
}
