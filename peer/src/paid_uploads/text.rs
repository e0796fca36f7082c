//! Values that are texts in JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt::{self, Display};
use std::str::FromStr;

/// A value whose JSON is the text of its `Display`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<T>(pub T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de, T: FromStr> Deserialize<'de> for Text<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let value = text.parse().map_err(|_| {
            serde::de::Error::invalid_value(serde::de::Unexpected::Str(&text), &"another text")
        })?;
        Ok(Self(value))
    }
}

/// The text has another form.
#[derive(Debug, PartialEq, Eq)]
pub struct BadText;

/// Bytes of an EVM chain: `0x` and lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EvmHex<const N: usize>(pub [u8; N]);

impl<const N: usize> Display for EvmHex<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("0x")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl<const N: usize> FromStr for EvmHex<N> {
    type Err = BadText;

    fn from_str(text: &str) -> Result<Self, BadText> {
        let digits = text.strip_prefix("0x").ok_or(BadText)?.as_bytes();
        let mut bytes = [0; N];
        if digits.len() != 2 * N {
            return Err(BadText);
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(BadText),
        };
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

/// Bytes in base 64 with padding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Base64(pub Vec<u8>);

impl Display for Base64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(&self.0))
    }
}

impl FromStr for Base64 {
    type Err = BadText;

    fn from_str(text: &str) -> Result<Self, BadText> {
        STANDARD.decode(text).map(Self).map_err(|_| BadText)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_can_be_parsed_back() {
        let hash = EvmHex([0, 0x1f, 0xa0]);
        assert_eq!(hash.to_string(), "0x001fa0");
        assert_eq!("0x001fa0".parse(), Ok(hash));
        let json = serde_json::to_string(&Text(Base64(vec![1, 2]))).unwrap();
        assert_eq!(json, r#""AQI=""#);
        let parsed: Text<Base64> = serde_json::from_str(&json).unwrap();
        assert_eq!(parsed.0.0, [1, 2]);
        let price: Text<u128> = serde_json::from_str(r#""3906250000000000""#).unwrap();
        assert_eq!(price.0, 3_906_250_000_000_000);
    }

    #[test]
    fn refuses_other_texts() {
        for text in [
            "",
            "001fa0",
            "0x001fa",
            "0x001fa000",
            "0x001FA0",
            "0x00+fa0",
            "0x001fg0",
        ] {
            assert_eq!(text.parse::<EvmHex<3>>(), Err(BadText), "{text}");
        }
        for json in [r#""AQI""#, r#""A*I=""#, "[1]", "1"] {
            assert!(
                serde_json::from_str::<Text<Base64>>(json).is_err(),
                "{json}"
            );
        }
        for json in [r#""-1""#, r#""1.0""#, "1", r#""0x1""#] {
            assert!(serde_json::from_str::<Text<u128>>(json).is_err(), "{json}");
        }
    }
}
