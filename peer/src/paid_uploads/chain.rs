//! The block chain on which the nodes of a network are paid.

use super::text::{EvmHex, Text};
use serde::Serialize;
use std::str::FromStr;

/// The chain and its contracts. Clients compare it with what they know; the peer itself does not use the chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PaymentChain {
    /// The id of the chain, as wallets know it.
    pub chain_id: u64,
    /// The contract of the token.
    pub token: Text<EvmHex<20>>,
    /// The contract that takes the payments.
    pub vault: Text<EvmHex<20>>,
}

/// The chain of the Autonomi network, from `evmlib` 0.10.
const ARBITRUM_ONE: &str =
    "42161,0xa78d8321b20c4ef90ecd72f2588aa985a4bdb684,0x9a3ecac693b699fc0b2b6a50b5549e50c2320a26";

impl FromStr for PaymentChain {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const INVALID: &str = "not `arbitrum-one`, nor `id,token,vault` with the addresses of the contracts (0x…, in lower case)";
        let parts: Vec<&str> = match text {
            "arbitrum-one" => ARBITRUM_ONE,
            other => other,
        }
        .split(',')
        .collect();
        let [id, token, vault] = parts[..] else {
            return Err(INVALID);
        };
        Ok(Self {
            chain_id: id.parse().map_err(|_| INVALID)?,
            token: Text(token.parse().map_err(|_| INVALID)?),
            vault: Text(vault.parse().map_err(|_| INVALID)?),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_a_name_or_its_parts() {
        let known: PaymentChain = "arbitrum-one".parse().unwrap();
        assert_eq!(known.chain_id, 42161);
        assert_eq!(
            known.vault.0.to_string(),
            "0x9a3ecac693b699fc0b2b6a50b5549e50c2320a26"
        );
        let token = format!("0x{}", "1a".repeat(20));
        let vault = format!("0x{}", "2b".repeat(20));
        let test: PaymentChain = format!("31337,{token},{vault}").parse().unwrap();
        assert_eq!((test.chain_id, test.token.0.0), (31337, [0x1a; 20]));
        for text in [
            "",
            "mainnet",
            "31337",
            &format!("31337,{token}"),
            &format!("x,{token},{vault}"),
        ] {
            assert!(text.parse::<PaymentChain>().is_err(), "{text}");
        }
    }
}
