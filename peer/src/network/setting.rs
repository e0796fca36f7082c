//! The value of `--network`.

use std::convert::Infallible;
use std::path::PathBuf;
use std::str::FromStr;

/// Which network the peer reads from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkSetting {
    /// None.
    None,
    /// The Autonomi network.
    Mainnet,
    /// The network of the bootstrap nodes in this file.
    File(PathBuf),
}

impl FromStr for NetworkSetting {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(match text {
            "none" => Self::None,
            "mainnet" => Self::Mainnet,
            path => Self::File(path.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn a_value_is_a_name_or_a_file() {
        assert_eq!("none".parse(), Ok(NetworkSetting::None));
        assert_eq!("mainnet".parse(), Ok(NetworkSetting::Mainnet));
        let file: NetworkSetting = "/etc/antway/test.txt".parse().unwrap();
        assert_eq!(
            file,
            NetworkSetting::File(Path::new("/etc/antway/test.txt").to_owned())
        );
    }
}
