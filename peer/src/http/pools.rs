//! `POST /network/merkle`: the nodes that may be paid for many chunks at once.

use super::error::HttpError;
use super::network_question::NetworkQuestion;
use crate::address::Address;
use crate::client::Client;
use crate::clock::unix_seconds;
use crate::limits::{
    MAX_POOLS, MAX_POOLS_REQUEST_BYTES, POOLS_CLOCK_TOLERANCE_SECONDS, REQUESTS_PER_POOL,
};
use crate::paid_uploads::{Disconnected, Quote, RequestedPools, Text};
use crate::service::Service;
use serde::Serialize;
use std::collections::HashSet;

#[derive(Serialize)]
pub struct PoolsResponse {
    pools: Vec<Pool>,
}

#[derive(Serialize)]
pub struct Pool {
    address: Text<Address>,
    #[serde(flatten)]
    status: PoolStatus,
}

#[derive(Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
enum PoolStatus {
    Quoted { nodes: Vec<Quote> },
    Unavailable { code: HttpError },
}

/// A pool, and the time that its nodes sign.
pub struct RequestedPool {
    address: Address,
    timestamp: u64,
}

impl NetworkQuestion for RequestedPools {
    const OP: &'static str = "pools";
    const MAX_BYTES: u32 = MAX_POOLS_REQUEST_BYTES;
    const BAD_FORM: HttpError = HttpError::BadPools;
    const REQUESTS_PER_SUBJECT: usize = REQUESTS_PER_POOL;

    type Subject = RequestedPool;
    type Answer = Pool;
    type Response = PoolsResponse;

    fn subjects(self, _: &Service) -> Result<Vec<RequestedPool>, HttpError> {
        let Self { timestamp, pools } = self;
        let mut addresses = HashSet::new();
        let are_different = pools.iter().all(|pool| addresses.insert(pool.0));
        if !(1..=MAX_POOLS).contains(&pools.len()) || !are_different {
            return Err(HttpError::BadPools);
        }
        if unix_seconds().abs_diff(timestamp) > POOLS_CLOCK_TOLERANCE_SECONDS {
            return Err(HttpError::BadTime);
        }
        let pools = pools
            .into_iter()
            .map(|Text(address)| RequestedPool { address, timestamp });
        Ok(pools.collect())
    }

    async fn ask(
        service: &Service,
        client: &Client,
        RequestedPool { address, timestamp }: RequestedPool,
    ) -> Result<Pool, Disconnected> {
        let nodes = service.pool(client, address, timestamp).await?;
        let status = match nodes {
            Some(nodes) => PoolStatus::Quoted { nodes },
            None => PoolStatus::Unavailable {
                code: HttpError::Shortfall,
            },
        };
        Ok(Pool {
            address: Text(address),
            status,
        })
    }
}

impl From<Vec<Pool>> for PoolsResponse {
    fn from(pools: Vec<Pool>) -> Self {
        Self { pools }
    }
}
