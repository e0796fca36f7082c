//! The config file.

use crate::http::get;
use crate::running_peer::{RunningPeer, program};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use tempfile::TempDir;

struct ConfigFile {
    folder: TempDir,
}

impl ConfigFile {
    fn new(text: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("peer.toml"), text).unwrap();
        Self { folder }
    }

    fn flag(&self) -> String {
        let path: PathBuf = self.folder.path().join("peer.toml");
        format!("--config={}", path.display())
    }

    fn store(&self) -> String {
        self.folder.path().join("store").display().to_string()
    }

    fn command(&self, args: &[&str]) -> Command {
        program(&[&["serve", &*self.flag()], args].concat())
    }
}

/// The number in a line of `/metrics`.
async fn limit_of(http: &str) -> u64 {
    let text = String::from_utf8(get(http, "/metrics").await.body).unwrap();
    let mut lines = text.lines();
    let limit = lines.find_map(|line| line.strip_prefix("antway_peer_store_limit_bytes "));
    limit.unwrap().parse().unwrap()
}

#[tokio::test]
async fn flags_win_over_variables_and_variables_over_the_file() {
    let file = ConfigFile::new(
        r#"
        # Lists are for flags that can be repeated.
        http = ["127.0.0.1:0", "[::1]:0"]
        webtransport = "none"
        allow-open-writes = true
        max-store-bytes = 1000
        max-sessions = 7
        log-format = "json"
        "#,
    );
    for (variable, flag, limit) in [
        (None, None, 1000),
        (Some("2kB"), None, 2000),
        (Some("2kB"), Some("--max-store-bytes=3kB"), 3000),
        (None, Some("--max-store-bytes=3kB"), 3000),
    ] {
        let store = format!("--store={}", file.store());
        let flags = [Some(&*store), flag];
        let flags: Vec<&str> = flags.into_iter().flatten().collect();
        let mut command = file.command(&flags);
        if let Some(value) = variable {
            command.env("ANTWAY_PEER_MAX_STORE_BYTES", value);
        }
        let (peer, line) = RunningPeer::start(&mut command);
        assert!(line["webTransport"].is_null());
        assert_eq!(line["allHttp"].as_array().unwrap().len(), 2);
        let http = line["http"].as_str().unwrap();
        assert_eq!(limit_of(http).await, limit);
        let info = String::from_utf8(get(http, "/-/info").await.body).unwrap();
        assert!(info.contains(r#""write":"open""#), "{info}");
        peer.signal("TERM");
        let (code, log) = peer.end();
        assert_eq!(code, Some(0));
        assert!(log.starts_with('{'), "{log}");
    }
}

#[test]
fn a_variable_may_name_the_file_and_the_file_the_store() {
    let file = ConfigFile::new("");
    let text = format!(
        "store = '{}'\nhttp = '127.0.0.1:0'\nwebtransport = 'none'\n",
        file.store()
    );
    fs::write(file.folder.path().join("peer.toml"), text).unwrap();
    let mut command = program(&["serve"]);
    command.env("ANTWAY_PEER_CONFIG", file.folder.path().join("peer.toml"));
    let (peer, line) = RunningPeer::start(&mut command);
    assert_eq!(line["store"], file.store());
    drop(peer);
    // The other commands take their settings from the same file.
    let mut check = program(&["check"]);
    check.env("ANTWAY_PEER_CONFIG", file.folder.path().join("peer.toml"));
    assert!(check.output().unwrap().status.success());
}

#[test]
fn a_wrong_file_ends_the_command_and_the_message_names_the_line() {
    for (text, named) in [
        ("\nmax-sesions = 7", "line 2: max-sesions"),
        (
            "http = '127.0.0.1:0'\n[limits]\nmax-sessions = 7",
            "line 2: limits",
        ),
        ("config = 'other.toml'", "line 1: config"),
        ("max-sessions = 7\nmax-sessions = 8", "line 2"),
        ("max-sessions 7", "line 1"),
        ("max-sessions = 1.5", "line 1: max-sessions"),
        ("max-sessions = -1", "line 1: max-sessions"),
        ("max-sessions = [1, 2]", "line 1: max-sessions"),
        ("max-sessions = true", "line 1: max-sessions"),
        ("allow-open-writes = 'yes'", "line 1: allow-open-writes"),
        ("\n\nmax-sessions = 0", "line 3: invalid value"),
        ("idle-timeout = 30", "line 1: invalid value"),
        ("web-config = 'x.json'", "--web"),
    ] {
        let file = ConfigFile::new(text);
        let output = file.command(&["--store", &file.store()]).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}: {message}");
        assert!(message.contains(named), "{text}: {message}");
        assert!(output.stdout.is_empty());
    }
    let output = program(&["serve", "--config=/nonexistent.toml", "--store=x"])
        .output()
        .unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(message.contains("/nonexistent.toml"), "{message}");
}

#[test]
fn a_wrong_flag_is_not_blamed_on_the_file() {
    let file = ConfigFile::new("max-sessions = 7");
    let flags = ["--store", &file.store(), "--max-sessions=0"];
    let output = file.command(&flags).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        message.contains("--max-sessions") && !message.contains("line"),
        "{message}"
    );
}
