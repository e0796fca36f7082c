//! The present time.

use std::time::{SystemTime, UNIX_EPOCH};

/// The seconds since 1970. 0 if the clock is set to an earlier time.
pub fn unix_seconds() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.map_or(0, |time| time.as_secs())
}
