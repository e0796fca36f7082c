//! An honest client with one session.

use crate::sessions::{read_to_end, send};
use crate::target::{BoxError, Target};
use antway_peer::address::Address;
use serde_json::{Value, json};
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};
use tokio::time::{sleep, timeout};
use wtransport::Connection;

/// No attack comes from here.
const SOURCE: Ipv4Addr = Ipv4Addr::new(127, 9, 0, 1);

/// The requests at a time.
const REQUESTS: usize = 4;

/// The longest time for a session to open, or for a chunk to arrive.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads chunks one after the other in several requests, with a pause between them. A chunk that does not arrive, and a
/// session that does not open, is a failure.
pub async fn read(target: &Target, duration: Duration, pause: Duration) -> Value {
    let started = Instant::now();
    let mut times = Vec::new();
    let mut failures = 0;
    let mut first_failure = None;
    while started.elapsed() < duration {
        let reading = async {
            let opening = target.session(SOURCE, target.web_transport);
            let session = timeout(PATIENCE, opening).await??;
            let reading = (0..REQUESTS).map(|first| {
                let chunks = target.chunks.iter().cycle().skip(first).step_by(REQUESTS);
                read_chunks(&session, chunks, started + duration, pause)
            });
            let parts = futures_util::future::join_all(reading).await;
            Ok::<_, BoxError>(parts)
        };
        match reading.await {
            Err(error) => {
                failures += 1;
                first_failure.get_or_insert(error.to_string());
                sleep(Duration::from_millis(50)).await;
            }
            Ok(parts) => {
                for (part, outcome) in parts {
                    times.extend(part);
                    if let Err(error) = outcome {
                        failures += 1;
                        first_failure.get_or_insert(error.to_string());
                    }
                }
            }
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    times.sort_unstable();
    let p95 = times.get(times.len() * 95 / 100).copied();
    json!({
        "rate": times.len() as f64 / seconds,
        "p95Ms": p95.map(|time| time.as_secs_f64() * 1000.0),
        "failures": failures,
        "firstFailure": first_failure,
    })
}

/// Returns the times for the verified chunks until the end, or until the first failure.
async fn read_chunks(
    session: &Connection,
    chunks: impl Iterator<Item = &Address>,
    end: Instant,
    pause: Duration,
) -> (Vec<Duration>, Result<(), BoxError>) {
    let mut times = Vec::new();
    for address in chunks {
        if Instant::now() >= end {
            break;
        }
        let started = Instant::now();
        match timeout(PATIENCE, read_chunk(session, *address)).await {
            Err(_) => return (times, Err("no answer in time".into())),
            Ok(Err(error)) => return (times, Err(error)),
            Ok(Ok(())) => times.push(started.elapsed()),
        }
        sleep(pause).await;
    }
    (times, Ok(()))
}

async fn read_chunk(session: &Connection, address: Address) -> Result<(), BoxError> {
    let mut recv = send(session, &[&[1, 1][..], address.as_bytes()].concat()).await?;
    let answer = read_to_end(&mut recv).await?;
    match answer.get(5..) {
        Some(bytes) if answer[0] == 0 && Address::of(bytes) == address => Ok(()),
        _ => Err(format!("status {:?}", answer.first()).into()),
    }
}
