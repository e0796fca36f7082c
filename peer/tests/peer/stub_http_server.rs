//! A small HTTP server that gives tests full control of the responses.

use crate::test_peer::TEST_TIMEOUT;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// A response of the server.
pub struct StubResponse {
    pub status: u16,
    pub headers: &'static str,
    pub body: Vec<u8>,
    pub delay: Duration,
    /// One permit per response.
    pub gate: Option<Arc<Semaphore>>,
}

impl StubResponse {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: "",
            body: body.into(),
            delay: Duration::ZERO,
            gate: None,
        }
    }

    pub fn delayed_by(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Delays the response until `gate` has a permit.
    pub fn gated_by(mut self, gate: &Arc<Semaphore>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }
}

pub struct StubHttpServer {
    pub url: String,
    request_heads: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl StubHttpServer {
    /// `answer` gets the path of each request.
    pub async fn start(answer: impl Fn(&str) -> StubResponse + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let heads = Arc::new(Mutex::new(Vec::new()));
        let answer = Arc::new(answer);
        let serving = tokio::spawn({
            let heads = Arc::clone(&heads);
            async move {
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    let (answer, heads) = (Arc::clone(&answer), Arc::clone(&heads));
                    tokio::spawn(async move {
                        let mut head = Vec::new();
                        while !head.ends_with(b"\r\n\r\n") {
                            match stream.read_u8().await {
                                Ok(byte) => head.push(byte),
                                Err(_) => return,
                            }
                        }
                        let head = String::from_utf8(head).unwrap();
                        let answer = answer(head.split(' ').nth(1).unwrap());
                        heads.lock().unwrap().push(head);
                        sleep(answer.delay).await;
                        if let Some(gate) = answer.gate {
                            gate.acquire().await.unwrap().forget();
                        }
                        let text = format!(
                            "HTTP/1.1 {} -\r\nConnection: close\r\nContent-Length: {}\r\n{}\r\n",
                            answer.status,
                            answer.body.len(),
                            answer.headers
                        );
                        let bytes = [text.as_bytes(), &answer.body].concat();
                        // Fails if the client has disconnected.
                        let _ = stream.write_all(&bytes).await;
                    });
                }
            }
        });
        Self {
            url,
            request_heads: heads,
            serving,
        }
    }

    /// Waits until the server has received `times` requests.
    pub async fn wait_for_requests(&self, times: usize) {
        let started = Instant::now();
        while self.request_heads().len() < times {
            assert!(
                started.elapsed() < TEST_TIMEOUT,
                "{} requests",
                self.request_heads().len()
            );
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// The heads of all requests so far.
    pub fn request_heads(&self) -> Vec<String> {
        self.request_heads.lock().unwrap().clone()
    }
}

impl Drop for StubHttpServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
