//! The wire protocol, version 1: the encoding of requests and responses. This module does no I/O.
//!
//! `docs/reference/protocol.md` specifies the layouts, statuses and error codes.

use crate::address::Address;
use crate::data_map::ByteRange;
use crate::limits::{MAX_ADDRESSES_PER_REQUEST, MAX_RETRY_AFTER, MAX_TOKEN_BYTES};
use std::time::Duration;

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
const SUFFIX_MARKER: u64 = u64::MAX;

/// The value of an OPEN's first offset that selects the end of a file, and then its beginning.
const END_FIRST_MARKER: u64 = u64::MAX - 1;

/// The length of a PUT response: a status and an address.
pub const PUT_RESPONSE_BYTES: usize = 1 + Address::BYTES;

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
    Open(Address, ByteRange),
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
    /// The operator denies the address. On the wire this is [`NotFound`](Self::NotFound) with a reason, or
    /// [`Refused`](Self::Refused) for a PUT, so that clients that know no reasons ask another peer.
    Denied = 7,
}

/// The reason in the length field of a "not found" without bytes: the operator denies the address. The same number as
/// in HTTP.
const DENIED_REASON: u32 = 451;

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
            Self::Denied => "denied",
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
            let range = byte_range(u64::from_be_bytes(first), u64::from_be_bytes(length));
            let request = Request::Open(address.into(), range);
            Ok(Decoded::Complete(request, 1 + Address::BYTES + 8 + 8))
        }
        _ => Err(ErrorCode::BadRequest),
    }
}

fn byte_range(first: u64, length: u64) -> ByteRange {
    match (first, length) {
        (SUFFIX_MARKER, length) => ByteRange::Last(length),
        (END_FIRST_MARKER, 0) => ByteRange::EndFirst(None),
        (END_FIRST_MARKER, length) => ByteRange::EndFirst(Some(length)),
        (first, 0) => ByteRange::From {
            first,
            length: None,
        },
        (first, length) => ByteRange::From {
            first,
            length: Some(length),
        },
    }
}

/// The header of an answer without bytes. After `busy`, the place of the length has the time in milliseconds after which
/// the client should ask again, or 0 if it is not known.
pub fn unavailable_header(status: Status, retry_after: Option<Duration>) -> [u8; 5] {
    let retry_after = match status {
        Status::Busy => retry_after.unwrap_or_default().min(MAX_RETRY_AFTER),
        _ => Duration::ZERO,
    };
    get_header(status, retry_after.as_millis() as u32)
}

/// The header before a chunk's bytes in a GET response. In an OPEN response it follows the chunk's address.
pub fn get_header(status: Status, length: u32) -> [u8; 5] {
    let (status, length) = match status {
        Status::Denied => (Status::NotFound, DENIED_REASON),
        status => (status, length),
    };
    let [a, b, c, d] = length.to_be_bytes();
    [status as u8, a, b, c, d]
}

/// The response to a HAS: one byte for each address.
pub fn has_response(statuses: impl IntoIterator<Item = Status>) -> Vec<u8> {
    let bytes = statuses.into_iter().map(|status| match status {
        Status::Denied => Status::NotFound as u8,
        status => status as u8,
    });
    bytes.collect()
}

/// The response to a PUT. The address is all zeros if the peer did not read the bytes.
pub fn put_response(status: Status, address: Option<Address>) -> [u8; PUT_RESPONSE_BYTES] {
    let mut response = [0; PUT_RESPONSE_BYTES];
    response[0] = match status {
        Status::Denied => Status::Refused as u8,
        status => status as u8,
    };
    if let Some(address) = address {
        response[1..].copy_from_slice(address.as_bytes());
    }
    response
}

/// The response to an INFO: the length of the JSON, then the JSON.
pub fn info_response(json: &[u8]) -> Vec<u8> {
    let length = u32::try_from(json.len()).expect("the info is a few hundred bytes");
    [&length.to_be_bytes(), json].concat()
}

#[cfg(test)]
mod tests;
