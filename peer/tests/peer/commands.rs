//! The commands `check`, `gc`, `import` and `healthcheck`.

use crate::running_peer::{RunningPeer, program};
use crate::stub_http_server::{StubHttpServer, StubResponse};
use crate::test_peer::{TestPeer, chunk};
use antway_peer::source::{Chunk, ChunkSource};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The exit code, the JSON on stdout, and the log of a command.
struct Done {
    code: Option<i32>,
    result: Value,
    log: String,
}

fn run(args: &[&str]) -> Done {
    let output = program(args).output().unwrap();
    Done {
        code: output.status.code(),
        result: serde_json::from_slice(&output.stdout).unwrap_or_default(),
        log: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A store with chunks of the seeds 0 to `written`, and of an upstream with the seeds up to `all`.
async fn store_with(written: u8, all: u8) -> (TempDir, String) {
    let peer = TestPeer::start(&[]).await;
    for seed in 0..all {
        let chunk = chunk(seed, 1000);
        let stored = match seed < written {
            true => peer.store.put(chunk).await,
            false => peer.store.cache(chunk).await,
        };
        stored.unwrap();
    }
    let folder = peer.stop().await;
    let store = folder.path().join("store");
    let flag = format!("--store={}", store.display());
    (folder, flag)
}

fn path_of(store: &TempDir, class: &str, chunk: &Chunk) -> PathBuf {
    let name = chunk.address().to_string();
    let shard = format!("store/{class}/{}/{}", &name[..2], &name[2..4]);
    store.path().join(shard).join(name)
}

#[tokio::test(flavor = "multi_thread")]
async fn check_reports_and_quarantines_damaged_chunks() {
    let (folder, store) = store_with(3, 5).await;
    let done = run(&["check", &store]);
    assert_eq!(done.code, Some(0), "{}", done.log);
    let good = json!({"event": "checked", "good": 5, "goodBytes": 5000, "damaged": [],
        "unreadable": [], "quarantined": 0});
    assert_eq!(done.result, good);

    let damaged = [
        path_of(&folder, "chunks", &chunk(0, 1000)),
        path_of(&folder, "pulled", &chunk(4, 1000)),
    ];
    for path in &damaged {
        fs::write(path, "damaged").unwrap();
    }
    let mut names: Vec<_> = damaged
        .iter()
        .map(|path| path.file_name().unwrap().to_str().unwrap())
        .collect();
    names.sort();
    for (flags, quarantined) in [(&["--report-only"][..], 0), (&[], 2)] {
        let done = run(&[&["check", &*store], flags].concat());
        assert_eq!(done.code, Some(1), "{}", done.log);
        let expected = json!({"event": "checked", "good": 3, "goodBytes": 3000,
            "damaged": names, "unreadable": [], "quarantined": quarantined});
        assert_eq!(done.result, expected);
    }
    assert!(damaged.iter().all(|path| !path.exists()));
    let quarantine = fs::read_dir(folder.path().join("store/quarantine")).unwrap();
    assert_eq!(quarantine.count(), 2);
    assert_eq!(run(&["check", &store]).code, Some(0));
}

#[test]
fn check_needs_a_store_that_no_peer_uses_unless_it_only_reports() {
    let folder = TempDir::new().unwrap();
    let store = format!("--store={}", folder.path().join("store").display());
    let missing = run(&["check", &store]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.log.contains("--store"), "{}", missing.log);
    assert!(!folder.path().join("store").exists());
    let flags = ["serve", "--http=127.0.0.1:0", "--webtransport=none", &store];
    let (peer, _) = RunningPeer::start(&mut program(&flags));
    let busy = run(&["check", &store]);
    assert_eq!(busy.code, Some(1));
    assert!(busy.log.contains("another process"), "{}", busy.log);
    assert_eq!(run(&["check", "--report-only", &store]).code, Some(0));
    drop(peer);
}

#[tokio::test(flavor = "multi_thread")]
async fn gc_evicts_down_to_a_size_and_removes_leftovers() {
    let (folder, store) = store_with(2, 6).await;
    let quarantined = folder.path().join("store/quarantine/damaged");
    let temporary = folder.path().join("store/temporary/half-written");
    for file in [&quarantined, &temporary] {
        fs::write(file, "x").unwrap();
    }
    let lists = TempDir::new().unwrap();
    let list = |name: &str, seed| {
        let path = lists.path().join(name);
        fs::write(&path, chunk(seed, 1000).address().to_string()).unwrap();
        format!("--{name}={}", path.display())
    };
    let pinned = list("pin-file", 3);
    let denied = list("deny-file", 1);
    let done = run(&["gc", &store, "--max-store-bytes=3500", &pinned, &denied]);
    assert_eq!(done.code, Some(0), "{}", done.log);
    let expected = json!({"event": "collected", "evicted": 2, "denied": 1, "emptyFolders": 6,
        "quarantined": 0, "chunks": 3, "bytes": 3000, "maxBytes": 3500});
    assert_eq!(done.result, expected);
    assert!(path_of(&folder, "chunks", &chunk(0, 1000)).exists());
    assert!(path_of(&folder, "pulled", &chunk(3, 1000)).exists());
    assert!(!temporary.exists() && quarantined.exists());

    let done = run(&["gc", &store, "--max-store-bytes=500", "--evict=none"]);
    assert_eq!((done.code, &done.result["evicted"]), (Some(1), &json!(0)));
    assert!(done.log.contains("--max-store-bytes"), "{}", done.log);
    let flags = ["--max-store-bytes=500", "--evict=all", "--empty-quarantine"];
    let done = run(&[&["gc", &*store], &flags[..]].concat());
    assert_eq!(done.code, Some(0), "{}", done.log);
    assert_eq!(
        (&done.result["chunks"], &done.result["quarantined"]),
        (&json!(0), &json!(1))
    );
    assert!(!quarantined.exists());
}

/// Writes the chunk into a file with its name.
fn export(folder: &Path, chunk: &Chunk) -> PathBuf {
    let path = folder.join(chunk.address().to_string());
    fs::write(&path, chunk.bytes()).unwrap();
    path
}

#[tokio::test(flavor = "multi_thread")]
async fn import_copies_chunks_and_refuses_damaged_ones() {
    let (folder, store) = store_with(1, 1).await;
    let from = TempDir::new().unwrap();
    fs::create_dir_all(from.path().join("a/b")).unwrap();
    for seed in 0..3 {
        export(&from.path().join("a/b"), &chunk(seed, 1000));
    }
    fs::write(from.path().join("key.pem"), "private").unwrap();
    let path = from.path().display().to_string();
    let done = run(&["import", &path, &store]);
    assert_eq!(done.code, Some(0), "{}", done.log);
    let expected =
        json!({"event": "imported", "stored": 2, "present": 1, "skipped": 1, "refused": 0});
    assert_eq!(done.result, expected);
    assert!(path_of(&folder, "chunks", &chunk(2, 1000)).exists());
    assert_eq!(run(&["check", &store]).result["good"], 3);

    let done = run(&["import", &path, &store, "--all-files"]);
    assert_eq!((done.code, &done.result["stored"]), (Some(0), &json!(1)));

    fs::write(export(from.path(), &chunk(7, 1000)), "damaged").unwrap();
    fs::write(export(from.path(), &chunk(8, 10)), vec![0; 5 << 20]).unwrap();
    let denied = export(from.path(), &chunk(9, 1000));
    let list = folder.path().join("deny");
    fs::write(&list, denied.file_name().unwrap().to_str().unwrap()).unwrap();
    let deny_file = format!("--deny-file={}", list.display());
    let done = run(&["import", &path, &store, &deny_file]);
    assert_eq!(done.code, Some(1), "{}", done.log);
    assert_eq!(done.result["refused"], 3);
    for reason in ["do not match", "larger than a chunk", "deny list"] {
        assert!(done.log.contains(reason), "{}", done.log);
    }
    assert_eq!(run(&["check", &store]).result["good"], 4);
    let missing = run(&["import", "/nonexistent", &store]);
    assert_eq!(missing.code, Some(1));
    assert!(missing.log.contains("/nonexistent"), "{}", missing.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn import_reports_a_full_store() {
    let (_folder, store) = store_with(0, 0).await;
    let from = TempDir::new().unwrap();
    for seed in 0..3 {
        export(from.path(), &chunk(seed, 1000));
    }
    let path = from.path().display().to_string();
    let done = run(&["import", &path, &store, "--max-store-bytes=2500"]);
    assert_eq!(done.code, Some(1));
    assert_eq!(
        (&done.result["stored"], &done.result["refused"]),
        (&json!(2), &json!(1))
    );
    assert!(done.log.contains("full"), "{}", done.log);
}

#[tokio::test(flavor = "multi_thread")]
async fn healthcheck_exits_with_0_only_if_the_peer_takes_requests() {
    let peer = TestPeer::start(&[]).await;
    let url = peer.peer.http().to_owned();
    let healthy = run(&["healthcheck", &url]);
    assert_eq!(healthy.code, Some(0), "{}", healthy.log);
    let other_path = run(&["healthcheck", &format!("{url}/-/missing")]);
    assert_eq!(other_path.code, Some(1));
    assert!(other_path.log.contains("404"), "{}", other_path.log);
    peer.stop().await;
    let stopped = run(&["healthcheck", &url]);
    assert_eq!(stopped.code, Some(1));
    assert!(stopped.log.contains(&url), "{}", stopped.log);
    let slow = StubHttpServer::start(|_| {
        StubResponse::new(200, "").delayed_by(std::time::Duration::from_secs(600))
    })
    .await;
    let late = run(&["healthcheck", &slow.url, "--timeout=100ms"]);
    assert_eq!(late.code, Some(1));
    assert!(late.log.contains("in time"), "{}", late.log);
    assert_eq!(run(&["healthcheck", "nonsense"]).code, Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_takes_the_flags_of_logs() {
    let (folder, store) = store_with(1, 2).await;
    let peer = TestPeer::start(&[]).await;
    let damaged = path_of(&folder, "chunks", &chunk(0, 1000));
    fs::write(&damaged, "damaged").unwrap();
    let from = TempDir::new().unwrap();
    fs::write(export(from.path(), &chunk(1, 10)), "damaged").unwrap();
    let from = from.path().display().to_string();
    for command in [
        &["check", &*store][..],
        &["gc", &store, "--max-store-bytes=1"],
        &["import", &from, &store],
        &["healthcheck", peer.peer.http()],
    ] {
        let json = run(&[command, &["--log-format=json", "--log-level=debug"]].concat());
        let own: Vec<Value> = json
            .log
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        let is_logged = own.iter().any(|line| line["level"].is_string());
        assert!(is_logged, "{command:?}: {}", json.log);
        let text = run(command);
        let is_json = |line: &str| line.starts_with('{');
        assert!(!text.log.lines().any(is_json), "{command:?}: {}", text.log);
        let wrong = run(&[command, &["--log-level=loud"]].concat());
        assert_eq!(wrong.code, Some(2));
    }
    let quiet = run(&["healthcheck", peer.peer.http(), "--log-level=error"]);
    assert_eq!(quiet.log, "");
    peer.stop().await;
}
