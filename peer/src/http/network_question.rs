//! Requests in JSON that ask the network's nodes about several subjects: records to store, or pools.

use super::body::ChunkResponseBody;
use super::chunk::{error_response, read};
use super::error::HttpError;
use super::payer_body::PayerBody;
use super::request_timer::RequestTimer;
use crate::client::Client;
use crate::limits::QUOTED_AT_ONCE;
use crate::paid_uploads::Disconnected;
use crate::service::Service;
use crate::source::ChunkBody;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// The form of such a request, and of its answer.
pub trait NetworkQuestion: DeserializeOwned {
    /// The operation, for the metrics.
    const OP: &'static str;
    /// The maximum length of the request in bytes.
    const MAX_BYTES: u32;
    /// The error for a request of another form.
    const BAD_FORM: HttpError;
    /// How many requests a subject counts as.
    const REQUESTS_PER_SUBJECT: usize;

    /// The subject of one entry of the answer.
    type Subject: Send;
    /// An entry of the answer.
    type Answer: Send;
    /// The whole answer.
    type Response: Serialize + From<Vec<Self::Answer>>;

    /// The subjects, after all checks.
    fn subjects(self, service: &Service) -> Result<Vec<Self::Subject>, HttpError>;

    /// Asks the nodes about one subject.
    fn ask(
        service: &Service,
        client: &Client,
        subject: Self::Subject,
    ) -> impl Future<Output = Result<Self::Answer, Disconnected>> + Send;
}

/// Answers an entry for each subject, in their order.
pub async fn answer<Q: NetworkQuestion>(
    State(service): State<Arc<Service>>,
    Extension(client): Extension<Client>,
    request: Request,
) -> Response {
    let timer = RequestTimer::new(&service, Q::OP);
    let mut body = PayerBody::of(&service, request);
    let answered = match requested::<Q>(&service, &client, &mut body).await {
        Ok(subjects) => ask_all::<Q>(&service, &client, subjects).await,
        Err(error) => {
            body.discard().await;
            Err(error)
        }
    };
    let body = match answered {
        Ok(body) => body,
        Err(error) => return error_response(error, timer),
    };
    let headers = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    let transfer_timeout = service.limits.transfer_timeout(body.length());
    let body = Body::new(ChunkResponseBody::new(body, transfer_timeout, timer));
    (headers, body).into_response()
}

async fn requested<Q: NetworkQuestion>(
    service: &Service,
    client: &Client,
    body: &mut PayerBody,
) -> Result<Vec<Q::Subject>, HttpError> {
    let json = read(service, client, body.check()?, Q::MAX_BYTES).await?;
    let question: Q = serde_json::from_slice(&json).map_err(|_| Q::BAD_FORM)?;
    let subjects = question.subjects(service)?;
    // The request itself counted once.
    let more = (subjects.len() * Q::REQUESTS_PER_SUBJECT).saturating_sub(1);
    match (0..more).all(|_| service.admits(client)) {
        true => Ok(subjects),
        false => Err(HttpError::Rate),
    }
}

/// The JSON of the answer. It has megabytes, so it takes the memory of a chunk.
async fn ask_all<Q: NetworkQuestion>(
    service: &Service,
    client: &Client,
    subjects: Vec<Q::Subject>,
) -> Result<ChunkBody, HttpError> {
    let (_place, permit) = service.acquire_paid(client).await.ok_or(HttpError::Busy)?;
    let asking = stream::iter(subjects).map(|subject| Q::ask(service, client, subject));
    let answers: Result<Vec<_>, _> = asking.buffered(QUOTED_AT_ONCE).try_collect().await;
    let answers = answers.map_err(|Disconnected| HttpError::Disconnected)?;
    let json = serde_json::to_vec(&Q::Response::from(answers)).expect("plain numbers and texts");
    let body = ChunkBody::from_bytes(json.into());
    service.record_bytes(client, body.length());
    Ok(permit.attach_to(body, client))
}
