//! The state of the connection to the network, as `/-/info` reports it.

use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Whether the peer is connected to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NetworkState {
    /// The first attempt after the start of the peer is running.
    Connecting,
    /// Nodes are connected.
    Connected,
    /// The last attempt failed, or the connection was lost. The peer tries again.
    Disconnected,
}

/// The connection to the network. Everyone can read it, so it contains no address and no path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NetworkStatus {
    /// The network's name.
    pub name: String,
    /// Whether the peer is connected.
    pub state: NetworkState,
    /// The number of connected nodes.
    pub peers: usize,
    /// The time of the last change of `state`.
    #[serde(serialize_with = "serialize_time")]
    pub since: OffsetDateTime,
    /// Why the peer is not connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

impl NetworkStatus {
    /// The status while the first attempt runs.
    pub fn connecting(name: String) -> Self {
        Self {
            name,
            state: NetworkState::Connecting,
            peers: 0,
            since: now(),
            problem: None,
        }
    }

    /// Changes to `connected` with this number of nodes. Returns whether the state or the number changed.
    pub fn set_connected(&mut self, peers: usize) -> bool {
        let is_changed = self.set_state(NetworkState::Connected) || self.peers != peers;
        self.peers = peers;
        self.problem = None;
        is_changed
    }

    /// Changes to `disconnected` for this reason. Returns whether the state changed.
    pub fn set_disconnected(&mut self, problem: String) -> bool {
        self.peers = 0;
        self.problem = Some(problem);
        self.set_state(NetworkState::Disconnected)
    }

    fn set_state(&mut self, state: NetworkState) -> bool {
        let is_changed = self.state != state;
        if is_changed {
            self.state = state;
            self.since = now();
        }
        is_changed
    }
}

/// The time in whole seconds.
fn now() -> OffsetDateTime {
    OffsetDateTime::now_utc().truncate_to_second()
}

fn serialize_time<S: Serializer>(time: &OffsetDateTime, serializer: S) -> Result<S::Ok, S::Error> {
    let text = time.format(&Rfc3339).map_err(serde::ser::Error::custom)?;
    serializer.serialize_str(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_json_has_a_problem_only_without_a_connection() {
        let mut status = NetworkStatus::connecting("mainnet".to_owned());
        status.since = OffsetDateTime::UNIX_EPOCH;
        let json = serde_json::to_value(&status).unwrap();
        assert_eq!(
            json,
            json!({ "name": "mainnet", "state": "connecting", "peers": 0, "since": "1970-01-01T00:00:00Z" })
        );
        assert!(status.set_disconnected("no node answered".to_owned()));
        assert_eq!(
            serde_json::to_value(&status).unwrap()["problem"],
            "no node answered"
        );
        assert!(status.since > OffsetDateTime::UNIX_EPOCH);
        assert!(status.set_connected(3));
        assert_eq!((status.peers, &status.problem), (3, &None));
    }

    #[test]
    fn a_repeated_state_does_not_change_the_time_of_the_change() {
        let mut status = NetworkStatus::connecting("mainnet".to_owned());
        assert!(status.set_disconnected("first".to_owned()));
        status.since = OffsetDateTime::UNIX_EPOCH;
        assert!(!status.set_disconnected("second".to_owned()));
        assert_eq!(status.since, OffsetDateTime::UNIX_EPOCH);
        assert_eq!(status.problem.as_deref(), Some("second"));
    }
}
