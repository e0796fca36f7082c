//! The wire protocol, version 1: the encoding of requests and responses. This module does no I/O.
//!
//! `docs/reference/protocol.md` specifies the layouts, statuses and error codes.

use crate::address::Address;
use crate::data_map::Range;
use crate::limits::{MAX_ADDRESSES_PER_REQUEST, MAX_TOKEN_BYTES};

/// The path of WebTransport sessions with this protocol.
pub const PATH: &str = "/v1";

/// The protocol version in `/-/info`.
pub const VERSION: u32 = 1;

const OP_GET: u8 = 1;
const OP_HAS: u8 = 2;
const OP_PUT: u8 = 3;
const OP_INFO: u8 = 4;
const OP_OPEN: u8 = 5;

/// The supported operations, listed in `/-/info`.
pub const OPERATIONS: [u8; 5] = [OP_GET, OP_HAS, OP_PUT, OP_INFO, OP_OPEN];

/// The value of an OPEN's first offset that selects the last bytes of a file.
const LAST_BYTES: u64 = u64::MAX;

/// The length of a PUT response: a status and an address.
pub const PUT_ANSWER_BYTES: usize = 1 + Address::BYTES;

/// A request, without the body of a PUT.
#[derive(Debug, PartialEq, Eq)]
pub enum Request {
    /// Requests the bytes of these chunks, in this order.
    Get(Vec<Address>),
    /// Asks whether the peer has these chunks.
    Has(Vec<Address>),
    /// Stores the `length` bytes that follow.
    Put {
        /// The write token. May be empty.
        token: Vec<u8>,
        /// The length of the chunk in bytes.
        length: u32,
    },
    /// Requests the JSON of `/-/info`.
    Info,
    /// Requests the record of a data map, and the chunks of this range of its file.
    Open(Address, Range),
}

impl Request {
    /// The value for the metrics.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Get(_) => "get",
            Self::Has(_) => "has",
            Self::Put { .. } => "put",
            Self::Info => "info",
            Self::Open(..) => "open",
        }
    }
}

/// The first byte of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// The chunk was found (GET, HAS) or stored (PUT).
    Ok = 0,
    /// This peer does not have the chunk.
    NotFound = 1,
    /// The peer is overloaded. The client may retry later, or ask another peer.
    Busy = 2,
    /// An internal failure.
    Failed = 3,
    /// The client may not write to this peer.
    Refused = 4,
    /// The chunk is larger than allowed.
    TooLarge = 5,
    /// The store is full.
    Full = 6,
}

impl Status {
    /// The value for the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::NotFound => "not_found",
            Self::Busy => "busy",
            Self::Failed => "failed",
            Self::Refused => "refused",
            Self::TooLarge => "too_large",
            Self::Full => "full",
        }
    }
}

/// The code of a stream reset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ErrorCode {
    /// The receiver needs no more data in this direction. Not an error.
    NoError = 0,
    /// The request violates the protocol.
    BadRequest = 1,
    /// A part of the request is too long.
    TooLarge = 2,
    /// The client was too slow to send its request or to read the response.
    Timeout = 3,
    /// The request exceeds a limit of the peer.
    Limit = 4,
    /// The peer is shutting down.
    ShuttingDown = 5,
    /// The peer failed during the response.
    Internal = 6,
}

impl ErrorCode {
    /// The value for the metrics.
    pub fn name(self) -> &'static str {
        match self {
            Self::NoError => "no_error",
            Self::BadRequest => "bad_request",
            Self::TooLarge => "too_large",
            Self::Timeout => "timeout",
            Self::Limit => "limit",
            Self::ShuttingDown => "shutting_down",
            Self::Internal => "internal",
        }
    }

    /// The QUIC error code for this application code.
    ///
    /// This is the mapping of WebTransport over HTTP/3 (draft-ietf-webtrans-http3). It maps application codes to a
    /// reserved range of QUIC stream errors, and skips every 31st value. Browsers report a code outside the range as
    /// 0.
    pub fn to_quic(self) -> u64 {
        const FIRST: u64 = 0x52e4_a40f_a8db;
        let code = self as u64;
        FIRST + code + code / 0x1e
    }
}

/// The result of [`decode`].
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded {
    /// More bytes are needed.
    Incomplete,
    /// A request, and the number of bytes that it takes.
    Complete(Request, usize),
}

/// Parses a request at the start of a stream. The error is the code for resetting the stream.
pub fn decode(bytes: &[u8]) -> Result<Decoded, ErrorCode> {
    let Some((&op, rest)) = bytes.split_first() else {
        return Ok(Decoded::Incomplete);
    };
    match op {
        OP_GET | OP_HAS => {
            let Some((&count, rest)) = rest.split_first() else {
                return Ok(Decoded::Incomplete);
            };
            if count == 0 {
                return Err(ErrorCode::BadRequest);
            }
            if count > MAX_ADDRESSES_PER_REQUEST {
                return Err(ErrorCode::Limit);
            }
            let length = usize::from(count) * Address::BYTES;
            let Some(addresses) = rest.get(..length) else {
                return Ok(Decoded::Incomplete);
            };
            let (addresses, _) = addresses.as_chunks::<{ Address::BYTES }>();
            let addresses = addresses.iter().copied().map(Address::from).collect();
            let request = match op {
                OP_GET => Request::Get(addresses),
                _ => Request::Has(addresses),
            };
            Ok(Decoded::Complete(request, 2 + length))
        }
        OP_PUT => {
            let Some((token_length, rest)) = rest.split_first_chunk() else {
                return Ok(Decoded::Incomplete);
            };
            let token_length = usize::from(u16::from_be_bytes(*token_length));
            if token_length > MAX_TOKEN_BYTES {
                return Err(ErrorCode::TooLarge);
            }
            let Some((token, rest)) = rest.split_at_checked(token_length) else {
                return Ok(Decoded::Incomplete);
            };
            let Some((length, _)) = rest.split_first_chunk() else {
                return Ok(Decoded::Incomplete);
            };
            let request = Request::Put {
                token: token.to_vec(),
                length: u32::from_be_bytes(*length),
            };
            Ok(Decoded::Complete(request, 1 + 2 + token_length + 4))
        }
        OP_INFO => Ok(Decoded::Complete(Request::Info, 1)),
        OP_OPEN => {
            let Some((&address, rest)) = rest.split_first_chunk::<{ Address::BYTES }>() else {
                return Ok(Decoded::Incomplete);
            };
            let Some((&first, rest)) = rest.split_first_chunk() else {
                return Ok(Decoded::Incomplete);
            };
            let Some((&length, _)) = rest.split_first_chunk() else {
                return Ok(Decoded::Incomplete);
            };
            let range = range(u64::from_be_bytes(first), u64::from_be_bytes(length));
            let request = Request::Open(address.into(), range);
            Ok(Decoded::Complete(request, 1 + Address::BYTES + 8 + 8))
        }
        _ => Err(ErrorCode::BadRequest),
    }
}

fn range(first: u64, length: u64) -> Range {
    match (first, length) {
        (LAST_BYTES, length) => Range::Last(length),
        (first, 0) => Range::From {
            first,
            length: None,
        },
        (first, length) => Range::From {
            first,
            length: Some(length),
        },
    }
}

/// The header before a chunk's bytes in a GET response. In an OPEN response it follows the chunk's address.
pub fn get_answer(status: Status, length: u32) -> [u8; 5] {
    let [a, b, c, d] = length.to_be_bytes();
    [status as u8, a, b, c, d]
}

/// The response to a PUT. The address is all zeros if the peer did not read the bytes.
pub fn put_answer(status: Status, address: Option<Address>) -> [u8; PUT_ANSWER_BYTES] {
    let mut answer = [0; PUT_ANSWER_BYTES];
    answer[0] = status as u8;
    if let Some(address) = address {
        answer[1..].copy_from_slice(address.as_bytes());
    }
    answer
}

/// The response to an INFO: the length of the JSON, then the JSON.
pub fn info_answer(json: &[u8]) -> Vec<u8> {
    let length = u32::try_from(json.len()).expect("the info is a few hundred bytes");
    [&length.to_be_bytes(), json].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(count: u8) -> (Vec<Address>, Vec<u8>) {
        let addresses: Vec<_> = (0..count).map(|i| Address::of(&[i])).collect();
        let bytes = addresses.iter().flat_map(|a| *a.as_bytes()).collect();
        (addresses, bytes)
    }

    #[test]
    fn get_and_has_carry_1_to_64_addresses() {
        for count in [1, 2, 64] {
            let (addresses, bytes) = addresses(count);
            let get = [&[1, count][..], &bytes].concat();
            assert_eq!(
                decode(&get),
                Ok(Decoded::Complete(
                    Request::Get(addresses.clone()),
                    get.len()
                ))
            );
            let has = [&[2, count][..], &bytes].concat();
            assert_eq!(
                decode(&has),
                Ok(Decoded::Complete(Request::Has(addresses), has.len()))
            );
        }
    }

    #[test]
    fn rejects_requests_with_0_or_65_addresses() {
        assert_eq!(decode(&[1, 0]), Err(ErrorCode::BadRequest));
        assert_eq!(decode(&[2, 65]), Err(ErrorCode::Limit));
        assert_eq!(decode(&[1, 255]), Err(ErrorCode::Limit));
    }

    #[test]
    fn every_prefix_of_a_request_is_incomplete() {
        let (_, bytes) = addresses(3);
        let get = [&[1, 3][..], &bytes].concat();
        let put = [&[3, 0, 3][..], b"abc", &[0, 0, 1, 0]].concat();
        let open = [&[5][..], &[7; 48]].concat();
        for request in [get, put, open] {
            for end in 0..request.len() {
                assert_eq!(decode(&request[..end]), Ok(Decoded::Incomplete));
            }
            assert!(matches!(decode(&request), Ok(Decoded::Complete(_, n)) if n == request.len()));
        }
    }

    #[test]
    fn leaves_bytes_after_a_request_to_the_caller() {
        let put = [&[3, 0, 1][..], b"t", &[0, 0, 0, 2], b"xyz"].concat();
        let request = Request::Put {
            token: b"t".to_vec(),
            length: 2,
        };
        assert_eq!(decode(&put), Ok(Decoded::Complete(request, 8)));
        assert_eq!(decode(&[4, 9]), Ok(Decoded::Complete(Request::Info, 1)));
    }

    #[test]
    fn open_carries_an_address_and_a_range() {
        let address = Address::of(b"x");
        let from = |first, length| Range::From { first, length };
        for (first, length, range) in [
            (0, 0, from(0, None)),
            (7, 0, from(7, None)),
            (7, 9, from(7, Some(9))),
            (u64::MAX, 9, Range::Last(9)),
            (u64::MAX, 0, Range::Last(0)),
        ] {
            let request = [
                &[5][..],
                address.as_bytes(),
                &u64::to_be_bytes(first),
                &u64::to_be_bytes(length),
            ]
            .concat();
            let expected = Decoded::Complete(Request::Open(address, range), 49);
            assert_eq!(decode(&request), Ok(expected));
        }
    }

    #[test]
    fn rejects_unknown_operations_and_too_long_tokens() {
        for op in [0, 6, 7, 255] {
            assert_eq!(decode(&[op]), Err(ErrorCode::BadRequest));
        }
        assert_eq!(decode(&[3, 4, 1]), Err(ErrorCode::TooLarge));
    }

    #[test]
    fn responses_have_the_specified_layout() {
        assert_eq!(get_answer(Status::Ok, 0x0040_0000), [0, 0, 0x40, 0, 0]);
        assert_eq!(get_answer(Status::Busy, 0), [2, 0, 0, 0, 0]);
        assert_eq!(put_answer(Status::Full, None), {
            let mut answer = [0; 33];
            answer[0] = 6;
            answer
        });
        let address = Address::of(b"x");
        assert_eq!(
            put_answer(Status::Ok, Some(address))[1..],
            address.as_bytes()[..]
        );
        assert_eq!(info_answer(b"{}"), b"\0\0\0\x02{}");
    }

    #[test]
    fn error_codes_are_in_the_range_that_browsers_read() {
        assert_eq!(ErrorCode::NoError.to_quic(), 0x52e4_a40f_a8db);
        assert_eq!(ErrorCode::Internal.to_quic(), 0x52e4_a40f_a8e1);
    }
}
