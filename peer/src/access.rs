//! Decides which connections the peer accepts, before it does any work for them.

use crate::connection_slots::{ConnectionSlots, Refusal, Slot, SlotLimits};
use crate::limits::{Limits, RESERVED_HTTP_CONNECTIONS, SITE_FACTOR, SPARE_FILES};
use crate::rate_limiter::{RateLimiter, RateLimits, TotalRateLimiter};
use crate::request_slots::{RequestSlot, RequestSlots};
use std::net::IpAddr;
use std::sync::Arc;

/// The limits on the connections of all clients, and of each client network.
pub struct Access {
    limit_loopback: bool,
    http: Arc<ConnectionSlots>,
    sessions: Arc<ConnectionSlots>,
    connection_rate: RateLimiter,
    total_connection_rate: TotalRateLimiter,
    requests: Arc<RequestSlots>,
}

/// A client has too many requests at a time.
#[derive(Clone, Copy, Debug)]
pub struct TooManyRequests;

impl Access {
    /// No connection is open yet.
    pub fn new(limits: &Limits) -> Self {
        let slots = |total, per_network: usize, reserved| {
            ConnectionSlots::new(SlotLimits {
                total,
                per_network,
                per_site: per_network.saturating_mul(SITE_FACTOR),
                reserved,
            })
        };
        Self {
            limit_loopback: limits.limit_loopback,
            http: slots(
                limits.http_connections,
                limits.http_connections_per_network,
                RESERVED_HTTP_CONNECTIONS,
            ),
            sessions: slots(limits.sessions, limits.sessions_per_network, 0),
            connection_rate: RateLimiter::new(RateLimits {
                requests_per_second: limits.connections_per_second,
                bytes_per_second: None,
            }),
            total_connection_rate: TotalRateLimiter::new(limits.total_connections_per_second),
            // Over HTTP/1 without a proxy, each of these requests would need a connection.
            requests: RequestSlots::new(limits.http_connections_per_network),
        }
    }

    /// A slot for an HTTP connection. A trusted proxy stands for many clients, so it gets one without conditions.
    pub fn accept_http(&self, ip: IpAddr, is_trusted_proxy: bool) -> Result<Slot, Refusal> {
        let client = match is_trusted_proxy {
            true => None,
            false => self.limited(ip),
        };
        self.count_connection(client)?;
        self.http.take(client)
    }

    /// Counts the connection of a proxy for the client that the proxy named.
    pub fn assign_http(&self, slot: &Slot, ip: IpAddr) -> Result<(), Refusal> {
        let client = self.limited(ip);
        self.count_connection(client)?;
        slot.assign(client)
    }

    /// A slot for a request of a client that shares its connection, or has many requests on it. `None` if the client is
    /// exempt from the limits.
    pub fn begin_request(&self, ip: IpAddr) -> Result<Option<RequestSlot>, TooManyRequests> {
        let Some(client) = self.limited(ip) else {
            return Ok(None);
        };
        let slot = self.requests.take(client);
        slot.map(Some).ok_or(TooManyRequests)
    }

    /// A slot for a session. `None` if the client must first prove that it owns its address: otherwise a sender of
    /// forged packets could use up the slots of others.
    pub fn accept_session(&self, ip: IpAddr, is_validated: bool) -> Option<Result<Slot, Refusal>> {
        let client = self.limited(ip);
        let is_suspicious = || {
            let is_fast = client.is_some_and(|ip| self.connection_rate.is_half_used(ip));
            is_fast
                || self.total_connection_rate.is_half_used()
                || self.sessions.is_half_full(client)
        };
        if !is_validated && is_suspicious() {
            return None;
        }
        Some(
            self.count_connection(client)
                .and_then(|()| self.sessions.take(client)),
        )
    }

    /// Lowers the number of HTTP connections for a while, because the process cannot open more files. Returns the new
    /// number.
    pub fn lower_http_connections(&self) -> usize {
        self.http.lower_total(SPARE_FILES)
    }

    fn count_connection(&self, client: Option<IpAddr>) -> Result<(), Refusal> {
        match client {
            None => Ok(()),
            Some(ip) if !self.connection_rate.admit(ip) => Err(Refusal::Rate),
            // Connections of a network beyond its own rate do not take from the rate of all.
            Some(ip) => {
                let is_modest = !self.connection_rate.is_half_used(ip);
                let is_admitted = self.total_connection_rate.admit(is_modest);
                is_admitted.then_some(()).ok_or(Refusal::TotalRate)
            }
        }
    }

    /// The address, unless it is exempt from the limits.
    fn limited(&self, ip: IpAddr) -> Option<IpAddr> {
        let is_exempt = !self.limit_loopback && ip.to_canonical().is_loopback();
        (!is_exempt).then_some(ip)
    }
}
