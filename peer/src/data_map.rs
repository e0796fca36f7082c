//! Parses data maps: the lists of a file's chunks. This module does no I/O.
//!
//! A peer parses data maps to predict the next requests of a client. It ignores data that it cannot parse. The
//! formats are those of crate `self_encryption` 0.36. The record of a map is MessagePack. A long map is written as
//! bincode and encrypted in chunks of its own; the record then lists those chunks.

use crate::address::Address;
use crate::limits::INDEX_TAIL_BYTES;
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use rmp::Marker;
use rmp::decode::{read_array_len, read_bin_len, read_int, read_nil};

/// The maximum nesting depth of data maps.
pub const MAX_NESTING: usize = 8;

/// The maximum plaintext size of a chunk in bytes. A full chunk has a byte less. But a file one byte shorter than
/// three full chunks is divided in thirds, rounded down, and its last chunk takes the remainder.
const MAX_PLAINTEXT_BYTES: u32 = 4_190_209;

/// Every file has at least three chunks.
const MIN_CHUNKS: usize = 3;
/// The maximum nesting level in a map: the largest integer that JavaScript represents exactly.
const MAX_CHILD_LEVEL: u64 = (1 << 53) - 1;

const VERSION: u8 = 1;
const HASH_BYTES: usize = 32;

/// The context of the key derivation.
const KEY_CONTEXT: &str = "self_encryption/chunk/v2";
const PAD_BYTES: usize = 52;
const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 12;

/// The chunks of a file, in order.
#[derive(Debug, PartialEq, Eq)]
pub struct DataMap {
    chunks: Vec<ChunkInfo>,
    /// The nesting level, if the chunks contain another map.
    child: Option<u64>,
}

/// One chunk of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ChunkInfo {
    address: Address,
    /// BLAKE3 of the plaintext.
    plaintext_hash: [u8; HASH_BYTES],
    /// The size of the plaintext in bytes.
    size: u32,
}

/// The bytes are not a valid data map, or a chunk cannot be decrypted.
#[derive(Debug, PartialEq, Eq)]
pub struct InvalidDataMap;

/// A byte range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ByteRange {
    /// A range with a start.
    From {
        /// The offset of the first byte.
        first: u64,
        /// The number of bytes. `None` means up to the end.
        length: Option<u64>,
    },
    /// The last bytes of the file. The value is their number.
    Last(u64),
    /// The end of the file, where an archive has its index, and then the first bytes. The value is their number.
    /// `None` means all.
    EndFirst(Option<u64>),
}

impl DataMap {
    /// Parses the record of a map: MessagePack `[1, [[index, address, source hash, size], …], child]`.
    pub fn from_record(record: &[u8]) -> Result<Self, InvalidDataMap> {
        let mut rest = record;
        // The array must have the shortest encoding, as the network writes it. All readers must agree on which
        // records are maps.
        if record.first() != Some(&0x93) || read_array_len(&mut rest).ok() != Some(3) {
            return Err(InvalidDataMap);
        }
        if read_integer(&mut rest)? != u64::from(VERSION) {
            return Err(InvalidDataMap);
        }
        let count = read_array_len(&mut rest).map_err(|_| InvalidDataMap)?;
        // The count is untrusted, so no memory is reserved for it.
        let mut chunks = Vec::new();
        for index in 0..u64::from(count) {
            let is_chunk_info = read_array_len(&mut rest).ok() == Some(4);
            if !is_chunk_info || read_integer(&mut rest)? != index {
                return Err(InvalidDataMap);
            }
            chunks.push(ChunkInfo {
                address: read_hash(&mut rest)?.into(),
                plaintext_hash: read_hash(&mut rest)?,
                size: check_size(read_integer(&mut rest)?)?,
            });
        }
        let child = match rest.first() {
            Some(&byte) if Marker::from_u8(byte) == Marker::Null => {
                read_nil(&mut rest).map_err(|_| InvalidDataMap)?;
                None
            }
            _ => Some(read_integer(&mut rest)?),
        };
        Self::new(chunks, child, rest)
    }

    /// Parses a map as its chunks contain it: bincode with fixed-size little-endian integers.
    pub fn from_bincode(bytes: &[u8]) -> Result<Self, InvalidDataMap> {
        let mut rest = bytes;
        let [version] = take(&mut rest)?;
        let count = u64::from_le_bytes(take(&mut rest)?);
        if version != VERSION {
            return Err(InvalidDataMap);
        }
        let mut chunks = Vec::new();
        for index in 0..count {
            if u64::from_le_bytes(take(&mut rest)?) != index {
                return Err(InvalidDataMap);
            }
            chunks.push(ChunkInfo {
                address: take(&mut rest)?.into(),
                plaintext_hash: take(&mut rest)?,
                size: check_size(u64::from_le_bytes(take(&mut rest)?))?,
            });
        }
        let child = match take(&mut rest)? {
            [0] => None,
            [1] => Some(u64::from_le_bytes(take(&mut rest)?)),
            _ => return Err(InvalidDataMap),
        };
        Self::new(chunks, child, rest)
    }

    fn new(
        chunks: Vec<ChunkInfo>,
        child: Option<u64>,
        rest: &[u8],
    ) -> Result<Self, InvalidDataMap> {
        let is_valid_child = child.is_none_or(|level| (1..=MAX_CHILD_LEVEL).contains(&level));
        if chunks.len() < MIN_CHUNKS || !is_valid_child || !rest.is_empty() {
            return Err(InvalidDataMap);
        }
        Ok(Self { chunks, child })
    }

    /// Whether the chunks contain another map instead of the file.
    pub fn is_nested(&self) -> bool {
        self.child.is_some()
    }

    /// The total plaintext size of the chunks in bytes.
    pub fn size(&self) -> u64 {
        self.chunks.iter().map(|chunk| u64::from(chunk.size)).sum()
    }

    /// The addresses of the chunks, in order.
    pub fn addresses(&self) -> Vec<Address> {
        self.chunks.iter().map(|chunk| chunk.address).collect()
    }

    /// The addresses of the chunks that overlap `range`, in the order of the response. Empty if the range is outside the
    /// file.
    pub fn addresses_in_range(&self, range: ByteRange) -> Vec<Address> {
        match range {
            ByteRange::From { first, length } => {
                self.overlapping(first, length.map_or(u64::MAX, |n| first.saturating_add(n)))
            }
            ByteRange::Last(length) => {
                self.overlapping(self.size().saturating_sub(length), u64::MAX)
            }
            ByteRange::EndFirst(length) => {
                let mut addresses =
                    self.overlapping(self.size().saturating_sub(INDEX_TAIL_BYTES), u64::MAX);
                let before_end = self.chunks.len() - addresses.len();
                let mut beginning = self.overlapping(0, length.unwrap_or(u64::MAX));
                beginning.truncate(before_end);
                addresses.append(&mut beginning);
                addresses
            }
        }
    }

    /// The addresses of the chunks between two positions of the file, in order.
    fn overlapping(&self, first: u64, end: u64) -> Vec<Address> {
        let mut start = 0;
        let overlapping = self.chunks.iter().filter(|chunk| {
            let (chunk_start, chunk_end) = (start, start + u64::from(chunk.size));
            start = chunk_end;
            chunk_start < end && first < chunk_end
        });
        overlapping.map(|chunk| chunk.address).collect()
    }

    /// Decrypts the chunk at `index` of a nested map.
    pub fn decrypt(&self, index: usize, encrypted: &[u8]) -> Result<Vec<u8>, InvalidDataMap> {
        let chunk = &self.chunks[index];
        let keys = self.derive_keys(index);
        let (pad, rest) = keys.split_at(PAD_BYTES);
        let (key, nonce) = rest.split_at(KEY_BYTES);
        let mut bytes: Vec<u8> = encrypted
            .iter()
            .zip(pad.iter().cycle())
            .map(|(byte, pad)| byte ^ pad)
            .collect();
        let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| InvalidDataMap)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| InvalidDataMap)?;
        let compressed = LessSafeKey::new(key)
            .open_in_place(nonce, Aad::empty(), &mut bytes)
            .map_err(|_| InvalidDataMap)?;
        let decrypted = decompress(compressed, chunk.size as usize)?;
        match *blake3::hash(&decrypted).as_bytes() == chunk.plaintext_hash {
            true => Ok(decrypted),
            false => Err(InvalidDataMap),
        }
    }

    /// Pad, key and nonce of a chunk. They are derived from the plaintext hashes of this chunk and the two before it.
    fn derive_keys(&self, index: usize) -> [u8; PAD_BYTES + KEY_BYTES + NONCE_BYTES] {
        let count = self.chunks.len();
        let mut hasher = blake3::Hasher::new_derive_key(KEY_CONTEXT);
        for back in 0..3 {
            hasher.update(&self.chunks[(index + count - back) % count].plaintext_hash);
        }
        hasher.update(&(index as u64).to_le_bytes());
        hasher.update(&self.child.unwrap_or(0).to_le_bytes());
        let mut keys = [0; PAD_BYTES + KEY_BYTES + NONCE_BYTES];
        hasher.finalize_xof().fill(&mut keys);
        keys
    }
}

/// Decompresses exactly `size` bytes. Rejects a stream with more or fewer bytes, without allocating more memory.
fn decompress(compressed: &[u8], size: usize) -> Result<Vec<u8>, InvalidDataMap> {
    // Strict mode allows windows of up to 16 MiB. The extension for large windows allows up to 1 GiB.
    let mut state = BrotliState::new_strict(
        StandardAlloc::default(),
        StandardAlloc::default(),
        StandardAlloc::default(),
    );
    let mut bytes = vec![0; size];
    let (mut input_left, mut input_offset) = (compressed.len(), 0);
    let (mut output_left, mut output_offset, mut total) = (size, 0, 0);
    let result = BrotliDecompressStream(
        &mut input_left,
        &mut input_offset,
        compressed,
        &mut output_left,
        &mut output_offset,
        &mut bytes,
        &mut total,
        &mut state,
    );
    match result {
        BrotliResult::ResultSuccess if output_offset == size && input_left == 0 => Ok(bytes),
        _ => Err(InvalidDataMap),
    }
}

fn read_integer(rest: &mut &[u8]) -> Result<u64, InvalidDataMap> {
    read_int(rest).map_err(|_| InvalidDataMap)
}

fn check_size(size: u64) -> Result<u32, InvalidDataMap> {
    match u32::try_from(size) {
        Ok(size @ 1..=MAX_PLAINTEXT_BYTES) => Ok(size),
        _ => Err(InvalidDataMap),
    }
}

/// A hash: an array of integers, as crate `rmp-serde` writes it, or a binary, as other software writes it.
fn read_hash(rest: &mut &[u8]) -> Result<[u8; HASH_BYTES], InvalidDataMap> {
    let first = *rest.first().ok_or(InvalidDataMap)?;
    if matches!(
        Marker::from_u8(first),
        Marker::Bin8 | Marker::Bin16 | Marker::Bin32
    ) {
        return match read_bin_len(rest) {
            Ok(length) if length as usize == HASH_BYTES => take(rest),
            _ => Err(InvalidDataMap),
        };
    }
    if read_array_len(rest).ok() != Some(HASH_BYTES as u32) {
        return Err(InvalidDataMap);
    }
    let mut hash = [0; HASH_BYTES];
    for byte in &mut hash {
        *byte = u8::try_from(read_integer(rest)?).map_err(|_| InvalidDataMap)?;
    }
    Ok(hash)
}

fn take<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N], InvalidDataMap> {
    let (taken, after) = rest.split_first_chunk().ok_or(InvalidDataMap)?;
    *rest = after;
    Ok(*taken)
}

#[cfg(test)]
mod tests;
