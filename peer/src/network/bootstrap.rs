//! The addresses of the nodes to connect to first.

use super::setting::NetworkSetting;
use std::net::{IpAddr, SocketAddr};

/// The bootstrap nodes of the network with the name `mainnet`.
const MAINNET: &str = include_str!("mainnet.txt");

/// The keys of the lists in the TOML file of the network's own programs.
const TOML_KEYS: [&str; 3] = ["quic", "peers", "webrtc"];

impl NetworkSetting {
    /// The network's name. Empty if there is none.
    pub fn name(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Mainnet => "mainnet".to_owned(),
            // The name is public. The folder is not.
            Self::File(path) => path
                .file_stem()
                .map(|name| name.to_string_lossy().into_owned())
                .unwrap_or_default(),
        }
    }

    /// The multiaddresses of the nodes to connect to first. Empty if there is no network.
    pub fn bootstrap_addresses(&self) -> Result<Vec<String>, String> {
        match self {
            Self::None => Ok(Vec::new()),
            Self::Mainnet => parse(MAINNET),
            Self::File(path) => {
                let explain = |reason: String| format!("{}: {reason}", path.display());
                let text = std::fs::read_to_string(path);
                let text = text.map_err(|error| explain(error.to_string()))?;
                parse(&text).map_err(explain)
            }
        }
    }
}

/// Reads one multiaddress or `address:port` per line, or the TOML file of the network's own programs. `#` starts a
/// comment. Addresses for browsers (WebRTC) are skipped.
fn parse(text: &str) -> Result<Vec<String>, String> {
    let mut addresses = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default();
        let is_separator = |c: char| c.is_whitespace() || ",\"'[]=".contains(c);
        // Each socket address with IPv6 has brackets, which are separators in TOML.
        if let Ok(socket) = line.trim().parse::<SocketAddr>() {
            addresses.push(multiaddress(socket));
            continue;
        }
        for word in line.split(is_separator).filter(|word| !word.is_empty()) {
            if TOML_KEYS.contains(&word) || word.contains("/webrtc-direct/") {
                continue;
            }
            addresses.push(match word.parse() {
                Ok(socket) => multiaddress(socket),
                Err(_) if is_quic_multiaddress(word) => word.to_owned(),
                Err(_) => {
                    return Err(format!(
                        "line {number}: “{word}” is not an address such as /ip4/192.0.2.1/udp/10000/quic"
                    ));
                }
            });
        }
    }
    match addresses.is_empty() {
        true => Err("the file contains no address of a node".to_owned()),
        false => Ok(addresses),
    }
}

fn multiaddress(socket: SocketAddr) -> String {
    let family = if socket.is_ipv4() { "ip4" } else { "ip6" };
    format!("/{family}/{}/udp/{}/quic", socket.ip(), socket.port())
}

/// Whether this is `/ip4|ip6/<ip>/udp/<port>/quic`, with or without `/p2p/<node>`.
fn is_quic_multiaddress(word: &str) -> bool {
    let parts: Vec<_> = word.split('/').collect();
    match parts[..] {
        ["", "ip4" | "ip6", ip, "udp", port, "quic"]
        | ["", "ip4" | "ip6", ip, "udp", port, "quic", "p2p", _] => {
            ip.parse::<IpAddr>().is_ok() && port.parse().is_ok_and(|port: u16| port > 0)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    #[test]
    fn mainnet_has_bootstrap_nodes() {
        let addresses = NetworkSetting::Mainnet.bootstrap_addresses().unwrap();
        assert_eq!(addresses.len(), 7);
        assert_eq!(NetworkSetting::None.bootstrap_addresses(), Ok(Vec::new()));
        assert_eq!(NetworkSetting::Mainnet.name(), "mainnet");
    }

    #[test]
    fn reads_one_address_per_line() {
        let text = "# a test network\n\n/ip4/192.0.2.1/udp/10000/quic # the first\n192.0.2.2:10001\n[2001:db8::1]:10002\n";
        assert_eq!(
            parse(text).unwrap(),
            [
                "/ip4/192.0.2.1/udp/10000/quic",
                "/ip4/192.0.2.2/udp/10001/quic",
                "/ip6/2001:db8::1/udp/10002/quic",
            ]
        );
    }

    #[test]
    fn reads_the_quic_addresses_of_a_toml_file() {
        let text = r#"
            quic = [
                "/ip4/192.0.2.1/udp/10000/quic", # the first
                "/ip6/2001:db8::1/udp/10000/quic/p2p/abab",
            ]
            webrtc = ["/ip4/192.0.2.1/udp/10001/webrtc-direct/certhash/uEi/p2p/abab"]
        "#;
        assert_eq!(
            parse(text).unwrap(),
            [
                "/ip4/192.0.2.1/udp/10000/quic",
                "/ip6/2001:db8::1/udp/10000/quic/p2p/abab",
            ]
        );
        assert_eq!(
            parse("peers = [\"192.0.2.1:10000\"]").unwrap(),
            ["/ip4/192.0.2.1/udp/10000/quic"]
        );
    }

    #[test]
    fn an_error_names_the_line_or_the_file() {
        for (text, reason) in [
            ("", "the file contains no address of a node"),
            ("# nothing", "the file contains no address of a node"),
            (
                "192.0.2.1:1\nnode.example:10000",
                "line 2: “node.example:10000”",
            ),
            (
                "/ip4/192.0.2.1/tcp/10000",
                "line 1: “/ip4/192.0.2.1/tcp/10000”",
            ),
            (
                "/ip4/192.0.2.1/udp/0/quic",
                "line 1: “/ip4/192.0.2.1/udp/0/quic”",
            ),
            (
                "/ip4/192.0.2/udp/1/quic",
                "line 1: “/ip4/192.0.2/udp/1/quic”",
            ),
            ("other = [\"192.0.2.1:1\"]", "line 1: “other”"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(reason), "{error}");
        }
        let folder = TempDir::new().unwrap();
        let missing = NetworkSetting::File(folder.path().join("missing.txt"));
        assert_eq!(missing.name(), "missing");
        let error = missing.bootstrap_addresses().unwrap_err();
        assert!(error.contains("missing.txt"), "{error}");
    }
}
