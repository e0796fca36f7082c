//! The address of a chunk: the BLAKE3 hash of its bytes.

use std::fmt;
use std::str::FromStr;

/// The 32-byte BLAKE3 hash of a record, written as 64 lower-case hex characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address([u8; Address::BYTES]);

impl Address {
    /// The length of an address on the wire.
    pub const BYTES: usize = 32;

    /// The address of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(*blake3::hash(bytes).as_bytes())
    }

    /// The 32 bytes as they are sent.
    pub fn as_bytes(&self) -> &[u8; Self::BYTES] {
        &self.0
    }
}

impl From<[u8; Self::BYTES]> for Address {
    fn from(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }
}

/// The text is not 64 lower-case hex characters.
#[derive(Debug, PartialEq, Eq)]
pub struct BadAddress;

impl FromStr for Address {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<Self, BadAddress> {
        // Upper case is refused, so that each chunk has one URL and one entry in every cache.
        if text.len() != 2 * Self::BYTES || text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Err(BadAddress);
        }
        match blake3::Hash::from_hex(text) {
            Ok(hash) => Ok(Self(*hash.as_bytes())),
            Err(_) => Err(BadAddress),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BLAKE3 of no bytes, from the algorithm's published test vectors.
    const EMPTY: &str = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

    #[test]
    fn an_address_is_the_blake3_hash_and_can_be_parsed_back() {
        let address = Address::of(b"");
        assert_eq!(address.to_string(), EMPTY);
        assert_eq!(EMPTY.parse(), Ok(address));
    }

    #[test]
    fn rejects_addresses_that_are_not_64_lower_case_hex_characters() {
        for text in [
            "",
            "af13",
            &EMPTY.to_uppercase(),
            &EMPTY.replace('a', "g"),
            &format!("{EMPTY}00"),
            &format!("{}é", &EMPTY[..62]),
        ] {
            assert_eq!(text.parse::<Address>(), Err(BadAddress), "{text}");
        }
    }
}
