//! The policy for writes.

use crate::limits::{READ_ONLY_WINDOWS, ReceiveWindows, UPLOAD_WINDOWS};
use crate::origins::AllowedOrigins;
use std::fmt;

/// The clients that may write to a peer.
#[derive(Clone)]
pub enum WritePolicy {
    /// No client may write.
    None,
    /// Clients with the token may write.
    Token(TokenHash),
    /// All clients on the same machine may write.
    Open,
}

/// The hash of a token. The token cannot be read back.
#[derive(Clone)]
pub struct TokenHash(blake3::Hash);

/// Why a write is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteRefusal {
    /// This peer does not accept writes.
    Off,
    /// The token is missing or wrong.
    Token,
    /// The page's origin may not write.
    Origin,
}

impl TokenHash {
    /// Stores the hash of `token`.
    pub fn new(token: &[u8]) -> Self {
        Self(blake3::hash(token))
    }

    fn matches(&self, token: &[u8]) -> bool {
        // The comparison of two hashes takes constant time.
        self.0 == blake3::hash(token)
    }
}

impl WritePolicy {
    /// Checks a write with `token` from a page of `origin`. `host` is the `Host` of the request.
    pub fn check(
        &self,
        origins: &AllowedOrigins,
        origin: Option<&str>,
        host: &str,
        token: Option<&[u8]>,
    ) -> Result<(), WriteRefusal> {
        self.check_origin(origins, origin, host)?;
        match self {
            Self::Token(hash) if !token.is_some_and(|token| hash.matches(token)) => {
                Err(WriteRefusal::Token)
            }
            _ => Ok(()),
        }
    }

    /// Checks only the origin, not the token.
    pub fn check_origin(
        &self,
        origins: &AllowedOrigins,
        origin: Option<&str>,
        host: &str,
    ) -> Result<(), WriteRefusal> {
        let may = match self {
            Self::None => return Err(WriteRefusal::Off),
            Self::Token(_) => origins.may_write_with_token(origin, host),
            Self::Open => origins.may_write_openly(origin, host),
        };
        may.then_some(()).ok_or(WriteRefusal::Origin)
    }

    /// The flow control windows that clients need.
    pub fn receive_windows(&self) -> ReceiveWindows {
        match self {
            Self::None => READ_ONLY_WINDOWS,
            Self::Token(_) | Self::Open => UPLOAD_WINDOWS,
        }
    }

    /// The value for `/-/info`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Token(_) => "token",
            Self::Open => "open",
        }
    }
}

impl WriteRefusal {
    /// The value for the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Token => "token",
            Self::Origin => "origin",
        }
    }
}

impl fmt::Debug for WritePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "127.0.0.1:1";

    #[test]
    fn compares_the_whole_token() {
        let policy = WritePolicy::Token(TokenHash::new(b"secret"));
        let check = |token| policy.check(&AllowedOrigins::Any, None, HOST, token);
        assert_eq!(check(Some(b"secret")), Ok(()));
        for wrong in [None, Some(&b""[..]), Some(b"secre"), Some(b"secret ")] {
            assert_eq!(check(wrong), Err(WriteRefusal::Token));
        }
    }

    #[test]
    fn writes_can_be_disabled_or_open() {
        let any = AllowedOrigins::Any;
        assert_eq!(
            WritePolicy::None.check(&any, None, HOST, Some(b"x")),
            Err(WriteRefusal::Off)
        );
        assert_eq!(WritePolicy::Open.check(&any, None, HOST, None), Ok(()));
        assert_eq!(
            WritePolicy::Open.check(&any, Some("https://evil.example"), HOST, None),
            Err(WriteRefusal::Origin)
        );
    }
}
