//! Hands each message of a node to the request that waits for it.

use ant_protocol::{CHUNK_PROTOCOL_ID, ChunkMessage, ChunkMessageBody};
use saorsa_core::{P2PEvent, PeerId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;

/// The requests that wait for an answer. One task decodes each message once, however many requests wait.
#[derive(Default)]
pub struct Replies {
    next_id: AtomicU64,
    waiting: Mutex<HashMap<u64, Waiting>>,
}

struct Waiting {
    node: PeerId,
    sender: oneshot::Sender<ChunkMessageBody>,
}

/// An expected answer. The entry is removed on drop.
pub struct ExpectedReply {
    /// The number of the request.
    pub id: u64,
    /// Receives the answer.
    pub receiver: oneshot::Receiver<ChunkMessageBody>,
    replies: Arc<Replies>,
}

impl Replies {
    /// Expects one answer of `node`. Call it before the request is sent.
    pub fn expect(self: &Arc<Self>, node: PeerId) -> ExpectedReply {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = oneshot::channel();
        self.lock().insert(id, Waiting { node, sender });
        ExpectedReply {
            id,
            receiver,
            replies: Arc::clone(self),
        }
    }

    /// Delivers messages until the client is closed.
    pub async fn deliver(self: Arc<Self>, mut events: Receiver<P2PEvent>) {
        loop {
            match events.recv().await {
                Ok(P2PEvent::Message {
                    topic,
                    source: Some(node),
                    data,
                    ..
                }) if topic == CHUNK_PROTOCOL_ID => self.deliver_one(node, &data),
                Ok(_) => {}
                Err(RecvError::Lagged(missed)) => {
                    tracing::debug!(missed, "messages of the network were lost");
                }
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn deliver_one(&self, node: PeerId, data: &[u8]) {
        // A message without a request must not cost the time of decoding megabytes.
        if !self.lock().values().any(|waiting| waiting.node == node) {
            return;
        }
        let Ok(message) = ChunkMessage::decode(data) else {
            return;
        };
        let mut waiting = self.lock();
        // The numbers are easy to guess, so the node has to match too.
        if waiting
            .get(&message.request_id)
            .is_some_and(|waiting| waiting.node == node)
            && let Some(waiting) = waiting.remove(&message.request_id)
        {
            // Fails if the request ended meanwhile.
            let _ = waiting.sender.send(message.body);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<u64, Waiting>> {
        self.waiting.lock().expect("nothing panics with the lock")
    }
}

impl Drop for ExpectedReply {
    fn drop(&mut self) {
        self.replies.lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ant_protocol::ChunkGetResponse;
    use tokio::sync::broadcast;

    fn message(node: PeerId, request_id: u64) -> P2PEvent {
        let body = ChunkMessageBody::GetResponse(ChunkGetResponse::NotFound { address: [0; 32] });
        P2PEvent::Message {
            topic: CHUNK_PROTOCOL_ID.to_owned(),
            source: Some(node),
            transport_source: None,
            timestamp: 0,
            data: ChunkMessage { request_id, body }.encode().unwrap(),
        }
    }

    #[tokio::test]
    async fn an_answer_reaches_only_the_request_to_its_node() {
        let replies = Arc::<Replies>::default();
        let (asked, other) = (PeerId::random(), PeerId::random());
        let mut first = replies.expect(asked);
        let mut second = replies.expect(asked);
        let (events, receiver) = broadcast::channel(8);
        events.send(message(other, first.id)).unwrap();
        events.send(message(asked, second.id)).unwrap();
        events.send(message(asked, 77)).unwrap();
        drop(events);
        Arc::clone(&replies).deliver(receiver).await;
        assert!(first.receiver.try_recv().is_err());
        assert!(second.receiver.try_recv().is_ok());
        drop(first);
        assert!(replies.lock().is_empty());
    }
}
