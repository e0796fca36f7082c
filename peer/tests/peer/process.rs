//! The program: its flags, its `listening` line, and its signals.

use crate::http::get;
pub use crate::running_peer::RunningPeer;
use crate::running_peer::program;
use serde_json::Value;
use std::process::{Command, Output};
use tempfile::TempDir;

/// The program with these flags of `serve`.
pub fn command(flags: &[&str]) -> Command {
    program(&[&["serve"], flags].concat())
}

fn run(flags: &[&str]) -> Output {
    command(flags).output().unwrap()
}

#[tokio::test]
async fn prints_its_addresses_and_stops_on_a_signal() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("store").display().to_string();
    for signal in ["TERM", "INT"] {
        let flags = [
            "--http=127.0.0.1:0",
            "--webtransport=[::1]:0",
            "--store",
            &store,
            "--log-format=json",
        ];
        let (peer, line) = RunningPeer::start(&mut command(&flags));
        assert_eq!(line["event"], "listening");
        assert!(
            line["webTransport"]
                .as_str()
                .unwrap()
                .starts_with("https://[::1]:")
        );
        assert_eq!(line["certificateHashes"].as_array().unwrap().len(), 2);
        assert_eq!(line["store"], *store);
        assert_eq!((&line["chunks"], &line["bytes"]), (&0.into(), &0.into()));
        let health = get(line["http"].as_str().unwrap(), "/-/health").await;
        assert_eq!(health.status, 200);
        peer.signal(signal);
        let (code, log) = peer.end();
        assert_eq!(code, Some(0), "{log}");
        for line in log.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            assert!(line["level"].is_string());
        }
    }
}

#[tokio::test]
async fn listens_on_several_addresses_with_one_port() {
    let folder = TempDir::new().unwrap();
    let store = format!("--store={}", folder.path().display());
    let flags = [
        "--http=127.0.0.1:0",
        "--http=[::1]:0",
        "--webtransport=127.0.0.1:0,[::1]:0",
        "--max-http-connections=1",
        "--allow-open-writes",
        &store,
    ];
    let (peer, line) = RunningPeer::start(&mut command(&flags));
    let port = |url: &Value| url.as_str().unwrap().rsplit(':').next().unwrap().to_owned();
    for (first, all) in [("http", "allHttp"), ("webTransport", "allWebTransport")] {
        let urls = line[all].as_array().unwrap();
        assert_eq!(urls.len(), 2);
        assert_eq!(line[first], urls[0]);
        assert_eq!(port(&urls[0]), port(&urls[1]));
        assert!(urls[1].as_str().unwrap().contains("://[::1]:"));
    }
    for url in line["allHttp"].as_array().unwrap() {
        assert_eq!(get(url.as_str().unwrap(), "/-/health").await.status, 200);
    }
    peer.signal("TERM");
    assert_eq!(peer.end().0, Some(0));
}

#[test]
fn reads_settings_from_the_environment() {
    let folder = TempDir::new().unwrap();
    let mut command = command(&[]);
    command
        .env("ANTWAY_PEER_STORE", folder.path())
        .env("ANTWAY_PEER_HTTP", "127.0.0.1:0")
        .env("ANTWAY_PEER_WEBTRANSPORT", "none")
        .env("ANTWAY_PEER_ALLOW_OPEN_WRITES", "true");
    let (peer, line) = RunningPeer::start(&mut command);
    assert_eq!(line["webTransport"], Value::Null);
    assert_eq!(line["certificateHashes"], serde_json::json!([]));
    peer.signal("HUP");
    peer.signal("TERM");
    assert_eq!(peer.end().0, Some(0), "SIGHUP does not end the process");
}

#[test]
fn exits_with_code_2_and_names_an_invalid_setting() {
    let folder = TempDir::new().unwrap();
    let store = format!("--store={}", folder.path().join("store").display());
    for (flags, named) in [
        (&["--http=nonsense"][..], "--http"),
        (&["--webtransport=off"], "--webtransport"),
        (&["--max-store-bytes=lots"], "--max-store-bytes"),
        (&["--allow-origin=example.org"], "--allow-origin"),
        (&["--idle-timeout=30"], "--idle-timeout"),
        (&["--idle-timeout=30d"], "--idle-timeout"),
        (&["--request-timeout=0s"], "--request-timeout"),
        (&["--max-sessions=0"], "--max-sessions"),
        (&["--trusted-proxy=10.0.0.1/8"], "--trusted-proxy"),
        (&["--proxy-protocol"], "--trusted-proxy"),
        (&["--client-address-header=via"], "--client-address-header"),
        (&["--metrics-http=nonsense"], "--metrics-http"),
        (
            &["--advertise-webtransport=https://peer.example:443"],
            "--advertise-webtransport",
        ),
        (
            &["--webtransport=none", "--advertise-webtransport=:443"],
            "--advertise-webtransport",
        ),
        (&["--write-token="], "--write-token"),
        (&["--write-token=1234567"], "--write-token"),
        (
            &["--write-token=12345678", "--allow-open-writes"],
            "--allow-open-writes",
        ),
        (
            &["--allow-open-writes", "--http=0.0.0.0:0"],
            "--allow-open-writes",
        ),
        (
            &["--allow-open-writes", "--webtransport=[::]:0"],
            "--allow-open-writes",
        ),
        (
            &["--allow-open-writes", "--http=127.0.0.1:0,0.0.0.0:0"],
            "--allow-open-writes",
        ),
        (
            &["--webtransport=none", "--webtransport=[::1]:0"],
            "--webtransport",
        ),
        (
            &["--webtransport=127.0.0.1:4433,[::1]:4434"],
            "--webtransport",
        ),
        (&["--cert=missing.pem"], "--key"),
        (&["--cert=missing.pem", "--key=missing.pem"], "--cert"),
        (&["--acme-domain=*.peer.example"], "--acme-domain"),
        (&["--acme-domain=203.0.113.7"], "--acme-domain"),
        (
            &["--acme-domain=peer.example", "--cert=a.pem", "--key=a.pem"],
            "--cert",
        ),
        (&["--acme-email=operator@peer.example"], "--acme-domain"),
        (
            &["--acme-domain=peer.example", "--acme-email=operator"],
            "--acme-email",
        ),
        (
            &[
                "--acme-domain=peer.example",
                "--acme-directory=http://localhost",
            ],
            "--acme-directory",
        ),
        (&["--certificate-lifetime=15d"], "--certificate-lifetime"),
        (&["--network=/nonexistent"], "--network"),
        (&["--web=/nonexistent"], "--web"),
        (&["--web-config=x.json"], "--web"),
        (&["--log-level=loud"], "--log-level"),
        (&["--unknown"], "--unknown"),
    ] {
        let output = run(&[&[store.as_str()], flags].concat());
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {message}");
        assert!(message.contains(named), "{flags:?}: {message}");
        assert!(output.stdout.is_empty());
    }
    let output = run(&["--http=127.0.0.1:0"]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(2) && message.contains("--store"),
        "{message}"
    );
}

#[test]
fn help_lists_every_flag_with_its_variable() {
    let output = run(&["--help"]);
    let help = String::from_utf8(output.stdout).unwrap();
    let flags: Vec<&str> = help
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("--"))
        .filter(|flag| !flag.is_empty() && *flag != "help")
        .collect();
    assert!(flags.len() > 15, "{help}");
    for flag in flags {
        let name = flag.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
        let variable = format!("ANTWAY_PEER_{}", name.to_uppercase().replace('-', "_"));
        assert!(help.contains(&variable), "{variable} is not in\n{help}");
    }
}

#[test]
fn names_the_store_or_address_that_is_in_use() {
    let folder = TempDir::new().unwrap();
    let store = format!("--store={}", folder.path().join("store").display());
    let free = ["--http=127.0.0.1:0", "--webtransport=127.0.0.1:0"];
    let (peer, line) = RunningPeer::start(&mut command(&[&free[..], &[&store]].concat()));
    let output = run(&[&free[..], &[&store]].concat());
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(
        message.contains("--store") && message.contains("another process"),
        "{message}"
    );

    let other = format!("--store={}", folder.path().join("other").display());
    let taken = line["http"].as_str().unwrap().replace("http://", "--http=");
    let output = run(&[&taken, "--webtransport=none", &other]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(message.contains("--http"), "{message}");
    drop(peer);
}
