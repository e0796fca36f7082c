//! `POST /network/quotes`: what nodes ask for storing records.

use super::error::HttpError;
use super::network_question::NetworkQuestion;
use crate::address::Address;
use crate::client::Client;
use crate::limits::{MAX_QUOTED_RECORDS, MAX_QUOTES_REQUEST_BYTES};
use crate::paid_uploads::{Disconnected, EvmHex, Offer, Plan, RecordName, RequestedRecord, Text};
use crate::service::Service;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuotesRequest {
    records: Vec<RequestedRecord>,
}

#[derive(Serialize)]
pub struct QuotesResponse {
    records: Vec<QuotedRecord>,
}

#[derive(Serialize)]
pub struct QuotedRecord {
    address: Text<Address>,
    #[serde(flatten)]
    status: QuoteStatus,
}

#[derive(Serialize)]
#[serde(
    tag = "status",
    rename_all = "lowercase",
    rename_all_fields = "camelCase"
)]
enum QuoteStatus {
    Stored,
    Quoted {
        plan: Plan,
        quote_hash: Text<EvmHex<32>>,
        rewards_address: Text<EvmHex<20>>,
        amount: Text<u128>,
    },
    Unavailable {
        code: HttpError,
    },
}

impl NetworkQuestion for QuotesRequest {
    const OP: &'static str = "quotes";
    const MAX_BYTES: u32 = MAX_QUOTES_REQUEST_BYTES;
    const BAD_FORM: HttpError = HttpError::BadRecords;
    const REQUESTS_PER_SUBJECT: usize = 1;

    type Subject = (RecordName, u32);
    type Answer = QuotedRecord;
    type Response = QuotesResponse;

    fn subjects(self, service: &Service) -> Result<Vec<(RecordName, u32)>, HttpError> {
        let records = self.records.iter().map(RequestedRecord::parts);
        let records: Vec<_> = records
            .collect::<Option<_>>()
            .ok_or(HttpError::BadRecords)?;
        let mut names = HashSet::new();
        let are_different = records.iter().all(|(name, _)| names.insert(name.quoted()));
        if !(1..=MAX_QUOTED_RECORDS).contains(&records.len()) || !are_different {
            return Err(HttpError::BadRecords);
        }
        let is_denied = |(name, _): &(RecordName, u32)| service.is_denied(name.address());
        match records.iter().any(is_denied) {
            true => Err(HttpError::Denied),
            false => Ok(records),
        }
    }

    async fn ask(
        service: &Service,
        client: &Client,
        (name, size): (RecordName, u32),
    ) -> Result<QuotedRecord, Disconnected> {
        let offer = service.quote(client, name, size).await?;
        Ok(QuotedRecord {
            address: Text(name.address()),
            status: QuoteStatus::from(offer),
        })
    }
}

impl From<Vec<QuotedRecord>> for QuotesResponse {
    fn from(records: Vec<QuotedRecord>) -> Self {
        Self { records }
    }
}

impl From<Offer> for QuoteStatus {
    fn from(offer: Offer) -> Self {
        match offer {
            Offer::Stored => Self::Stored,
            Offer::Shortfall => Self::Unavailable {
                code: HttpError::Shortfall,
            },
            Offer::Quoted(quoted) => Self::Quoted {
                plan: quoted.plan,
                quote_hash: Text(EvmHex(quoted.quote_hash)),
                rewards_address: Text(EvmHex(quoted.rewards_address)),
                amount: Text(quoted.amount),
            },
        }
    }
}
