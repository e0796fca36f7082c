//! The PROXY protocol, version 2: a binary header that a load balancer sends before the bytes of its client.
//!
//! The reader is strict. It accepts version 2 only, and TCP over IPv4 or IPv6.

use crate::limits::MAX_PROXY_HEADER_BYTES;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use tokio::io::{AsyncRead, AsyncReadExt};

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

const VERSION_2: u8 = 0x20;

const COMMAND_LOCAL: u8 = 0;
const COMMAND_PROXY: u8 = 1;

const TCP_OVER_IPV4: u8 = 0x11;
const TCP_OVER_IPV6: u8 = 0x21;

/// The length of both addresses and both ports.
const IPV4_ADDRESSES_BYTES: usize = 12;
const IPV6_ADDRESSES_BYTES: usize = 36;

/// The source of a proxy's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxySource {
    /// A client with this address.
    Client(IpAddr),
    /// The proxy itself, for example for a health check.
    Proxy,
}

/// Why a header cannot be read.
#[derive(Debug)]
pub enum InvalidProxyHeader {
    /// The connection failed, or ended within the header.
    Connection(io::Error),
    /// The bytes are no header of version 2, for this reason.
    Malformed(&'static str),
}

impl fmt::Display for InvalidProxyHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connection(error) => write!(f, "no PROXY protocol header: {error}"),
            Self::Malformed(why) => write!(f, "invalid PROXY protocol header: {why}"),
        }
    }
}

impl Error for InvalidProxyHeader {}

/// Reads the header at the start of a connection, and nothing after it.
pub async fn read_header(
    stream: &mut (impl AsyncRead + Unpin),
) -> Result<ProxySource, InvalidProxyHeader> {
    let mut head = [0; 16];
    read_exact(stream, &mut head).await?;
    let malformed = |why| Err(InvalidProxyHeader::Malformed(why));
    let [
        signature @ ..,
        version_and_command,
        family,
        length_high,
        length_low,
    ] = head;
    if signature != SIGNATURE {
        return malformed("wrong signature");
    }
    if version_and_command & 0xf0 != VERSION_2 {
        return malformed("not version 2");
    }
    let length = usize::from(u16::from_be_bytes([length_high, length_low]));
    if head.len() + length > MAX_PROXY_HEADER_BYTES {
        return malformed("too long");
    }
    let mut rest = [0; MAX_PROXY_HEADER_BYTES];
    let rest = &mut rest[..length];
    read_exact(stream, rest).await?;
    match version_and_command & 0x0f {
        // The addresses must be ignored.
        COMMAND_LOCAL => return Ok(ProxySource::Proxy),
        COMMAND_PROXY => {}
        _ => return malformed("unknown command"),
    }
    let source: IpAddr = match family {
        TCP_OVER_IPV4 if rest.len() >= IPV4_ADDRESSES_BYTES => {
            let source = rest.first_chunk::<4>().expect("the length was checked");
            Ipv4Addr::from(*source).into()
        }
        TCP_OVER_IPV6 if rest.len() >= IPV6_ADDRESSES_BYTES => {
            let source = rest.first_chunk::<16>().expect("the length was checked");
            Ipv6Addr::from(*source).into()
        }
        TCP_OVER_IPV4 | TCP_OVER_IPV6 => return malformed("too short for its addresses"),
        _ => return malformed("not TCP over IPv4 or IPv6"),
    };
    Ok(ProxySource::Client(source.to_canonical()))
}

async fn read_exact(
    stream: &mut (impl AsyncRead + Unpin),
    buffer: &mut [u8],
) -> Result<(), InvalidProxyHeader> {
    let reading = stream.read_exact(buffer).await;
    reading.map(|_| ()).map_err(InvalidProxyHeader::Connection)
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn header(version_and_command: u8, family: u8, rest: &[u8]) -> Vec<u8> {
        let length = u16::try_from(rest.len()).unwrap().to_be_bytes();
        [
            &SIGNATURE[..],
            &[version_and_command, family],
            &length,
            rest,
        ]
        .concat()
    }

    fn addresses_v4() -> Vec<u8> {
        [&[203, 0, 113, 7][..], &[127, 0, 0, 1], &[1, 2], &[3, 4]].concat()
    }

    fn addresses_v6(source: &str) -> Vec<u8> {
        let source: Ipv6Addr = source.parse().unwrap();
        [&source.octets()[..], &[0; 16], &[1, 2], &[3, 4]].concat()
    }

    /// The source, and the bytes after the header.
    fn read(mut bytes: &[u8]) -> Result<(ProxySource, &[u8]), String> {
        let reading = read_header(&mut bytes).now_or_never().unwrap();
        reading
            .map(|source| (source, bytes))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn reads_the_client_and_leaves_its_bytes() {
        let client = |text: &str| ProxySource::Client(text.parse().unwrap());
        let v4 = [header(0x21, 0x11, &addresses_v4()), b"GET /".to_vec()].concat();
        assert_eq!(read(&v4), Ok((client("203.0.113.7"), &b"GET /"[..])));
        let v6 = header(0x21, 0x21, &addresses_v6("2001:db8::7"));
        assert_eq!(read(&v6), Ok((client("2001:db8::7"), &b""[..])));
        let mapped = header(0x21, 0x21, &addresses_v6("::ffff:203.0.113.7"));
        assert_eq!(read(&mapped), Ok((client("203.0.113.7"), &b""[..])));
        let extensions = [addresses_v4(), vec![4, 0, 3, 1, 2, 3]].concat();
        let extended = [header(0x21, 0x11, &extensions), b"x".to_vec()].concat();
        assert_eq!(read(&extended), Ok((client("203.0.113.7"), &b"x"[..])));
    }

    #[test]
    fn a_local_connection_is_the_proxys_own() {
        for rest in [vec![], addresses_v4(), vec![7; 100]] {
            let local = header(0x20, 0x00, &rest);
            assert_eq!(read(&local), Ok((ProxySource::Proxy, &b""[..])));
        }
    }

    #[test]
    fn refuses_everything_else() {
        let mut wrong_signature = header(0x21, 0x11, &addresses_v4());
        wrong_signature[11] ^= 1;
        let too_long = vec![0; MAX_PROXY_HEADER_BYTES];
        for (bytes, why) in [
            (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec(), "signature"),
            (
                b"PROXY TCP4 203.0.113.7 127.0.0.1 1 2\r\n".to_vec(),
                "signature",
            ),
            (wrong_signature, "signature"),
            (header(0x11, 0x11, &addresses_v4()), "version"),
            (header(0x22, 0x11, &addresses_v4()), "command"),
            (header(0x21, 0x11, &addresses_v4()[..11]), "too short"),
            (header(0x21, 0x21, &addresses_v4()), "too short"),
            (header(0x21, 0x12, &addresses_v4()), "not TCP"),
            (header(0x21, 0x31, &[0; 216]), "not TCP"),
            (header(0x21, 0x00, &[]), "not TCP"),
            (header(0x21, 0x11, &too_long), "too long"),
            (SIGNATURE.to_vec(), "no PROXY protocol header"),
            (
                header(0x21, 0x11, &addresses_v4())[..20].to_vec(),
                "no PROXY",
            ),
            (vec![], "no PROXY"),
        ] {
            let error = read(&bytes).unwrap_err();
            assert!(error.contains(why), "{error} instead of {why}");
        }
    }
}
