//! The number of files and sockets that the process may open.

use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Raises the soft limit to the hard limit. Returns the new limit, or `None` if there is none.
///
/// The soft limit is often 1024, for the sake of programs that cannot use more.
pub fn raise_limit() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_refused) => limit.current,
    }
}

/// Whether an operation failed because the process, or the system, has too many open files.
pub fn are_exhausted(error: &io::Error) -> bool {
    [Errno::MFILE, Errno::NFILE]
        .map(Errno::raw_os_error)
        .iter()
        .any(|&code| error.raw_os_error() == Some(code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn returns_the_limit_that_applies() {
        assert_eq!(raise_limit(), getrlimit(Resource::Nofile).current);
    }

    #[test]
    fn tells_exhaustion_from_other_errors() {
        assert!(are_exhausted(&io::Error::from_raw_os_error(24)));
        assert!(!are_exhausted(&io::ErrorKind::ConnectionAborted.into()));
        assert!(!are_exhausted(&io::Error::from_raw_os_error(104)));
    }
}
