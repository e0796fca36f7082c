//! A small HTTP server that gives tests full control of the responses.

use crate::test_peer::SOON;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

/// A response of the server.
pub struct Answer {
    pub status: u16,
    pub headers: &'static str,
    pub body: Vec<u8>,
    pub after: Duration,
    /// One permit per response.
    pub gate: Option<Arc<Semaphore>>,
}

impl Answer {
    pub fn new(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: "",
            body: body.into(),
            after: Duration::ZERO,
            gate: None,
        }
    }

    pub fn after(mut self, after: Duration) -> Self {
        self.after = after;
        self
    }

    /// Delays the response until `gate` has a permit.
    pub fn behind(mut self, gate: &Arc<Semaphore>) -> Self {
        self.gate = Some(Arc::clone(gate));
        self
    }
}

pub struct HttpServer {
    pub url: String,
    heads: Arc<Mutex<Vec<String>>>,
    serving: JoinHandle<()>,
}

impl HttpServer {
    /// `answer` gets the path of each request.
    pub async fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
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
                        sleep(answer.after).await;
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
            heads,
            serving,
        }
    }

    /// Waits until the server has received `times` requests.
    pub async fn asked(&self, times: usize) {
        let started = Instant::now();
        while self.heads().len() < times {
            assert!(started.elapsed() < SOON, "{} requests", self.heads().len());
            sleep(Duration::from_millis(10)).await;
        }
    }

    /// The heads of all requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
