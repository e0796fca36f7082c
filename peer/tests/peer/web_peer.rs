//! A peer with a hosted web app.

use crate::http::{Response, request};
use crate::test_peer::TestPeer;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// The start page.
pub const INDEX: &str = "<!doctype html><title>Antway</title>";

/// A peer that serves a web app.
pub struct WebPeer {
    pub peer: TestPeer,
    pub folder: TempDir,
}

impl WebPeer {
    pub async fn start(flags: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let dist = folder.path().join("dist");
        for name in ["assets", "-"] {
            fs::create_dir_all(dist.join(name)).unwrap();
        }
        for (name, content) in [
            ("index.html", INDEX),
            ("sw.js", "// worker"),
            ("antway.json", "{\"peers\":[]}"),
            ("manifest.webmanifest", "{}"),
            ("assets/app-1a2b.mjs", "plain"),
            ("assets/app-1a2b.mjs.br", "brotli"),
            ("assets/app-1a2b.mjs.gz", "gzip"),
            ("assets/crypto-3c.wasm", "\0asm"),
            ("-/bridge.html", "bridge"),
            ("-/bridge.js", "// bridge"),
            ("-/root.html", "root"),
            ("-/site-worker.js", "// site worker"),
            ("-/move.html", "move"),
            ("-/self-test.html", "self-test"),
            ("-/probe-5e6f.json", "{\"antway\":\"5e6f\"}"),
            ("-/info", "never served"),
            (".hidden", "secret"),
            ("../outside.txt", "secret"),
        ] {
            fs::write(dist.join(name), content).unwrap();
        }
        symlink(folder.path().join("outside.txt"), dist.join("link.txt")).unwrap();
        let web = format!("--web={}", dist.display());
        let peer = TestPeer::start(&[&[web.as_str()], flags].concat()).await;
        Self { peer, folder }
    }

    pub async fn get(&self, path: &str, headers: &[(&str, &str)]) -> Response {
        request(self.peer.peer.http(), "GET", path, headers, b"").await
    }
}
