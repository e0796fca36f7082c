//! The program in its own process.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};

/// The program with this command and these flags.
pub fn program(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_antway-peer"));
    command.args(args).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A running process. It is killed on drop, also if a test fails.
pub struct RunningPeer(Child);

impl RunningPeer {
    /// Starts the process, and reads its `listening` line.
    pub fn start(command: &mut Command) -> (Self, Value) {
        let mut running = Self(command.spawn().unwrap());
        let mut line = String::new();
        let stdout = running.0.stdout.as_mut().unwrap();
        BufReader::new(stdout).read_line(&mut line).unwrap();
        (running, serde_json::from_str(&line).unwrap())
    }

    pub fn id(&self) -> u32 {
        self.0.id()
    }

    pub fn write_to_stdin(&mut self, bytes: &[u8]) {
        self.0.stdin.as_mut().unwrap().write_all(bytes).unwrap();
    }

    pub fn close_stdin(&mut self) {
        drop(self.0.stdin.take());
    }

    pub fn signal(&self, name: &str) {
        let pid = self.0.id().to_string();
        let status = Command::new("kill")
            .args(["-s", name, &pid])
            .status()
            .unwrap();
        assert!(status.success());
    }

    /// Limits the length of files that the process writes. Such a write fails like a write to a full disk, if the
    /// process ignores the signal XFSZ.
    pub fn limit_file_size(&self, bytes: &str) {
        let mut prlimit = Command::new("prlimit");
        let pid = self.id().to_string();
        prlimit.args(["--pid", &pid, &format!("--fsize={bytes}:unlimited")]);
        assert!(prlimit.status().unwrap().success());
    }

    pub fn end(mut self) -> (Option<i32>, String) {
        let mut log = String::new();
        self.0
            .stderr
            .as_mut()
            .unwrap()
            .read_to_string(&mut log)
            .unwrap();
        (self.0.wait().unwrap().code(), log)
    }
}

impl Drop for RunningPeer {
    fn drop(&mut self) {
        // Fails if the process has ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
