//! Finds the request heads in the frames of an HTTP/2 connection (RFC 9113, sections 4 and 6).
//!
//! The HTTP/2 library holds the trailers of a request until its answer has ended. No client of a peer needs trailers, so
//! they end the connection. A field of one byte takes some 100 bytes of memory, so a head with too many fields ends the
//! connection, too.

use super::hpack_fields::HpackFields;
use crate::limits::MAX_HTTP2_FIELDS;

/// The length of the text that begins a connection, in bytes.
pub(super) const PREFACE_BYTES: usize = 24;

/// The length of a frame's header, in bytes.
pub(super) const FRAME_HEADER_BYTES: usize = 9;

/// The type of the frames with parts of an upload: DATA.
const DATA_FRAME: u8 = 0;

/// The types of the frames with parts of a head: HEADERS and CONTINUATION.
const HEAD_FRAMES: [u8; 2] = [1, 9];

/// The type of the first frame of a head.
const HEADERS_FRAME: u8 = 1;

/// The flag of the last frame of a head.
const END_HEADERS: u8 = 4;

/// The flag of a first frame with padding.
pub(super) const PADDED: u8 = 8;

/// The flag of a first frame with a priority, and the length of that.
pub(super) const PRIORITY: u8 = 0x20;
const PRIORITY_BYTES: usize = 5;

/// The bit of a stream's number that has no meaning.
const RESERVED_BIT: u32 = 1 << 31;

/// The bytes of a frame of a head that are no part of its fields.
#[derive(Default)]
struct Surroundings {
    /// Whether the length of the padding comes next.
    is_padded: bool,
    /// The bytes of the priority that are still to come.
    priority: usize,
    padding: usize,
}

impl Surroundings {
    fn of(kind: u8, flags: u8) -> Self {
        let has = |flag| kind == HEADERS_FRAME && flags & flag != 0;
        Self {
            is_padded: has(PADDED),
            priority: if has(PRIORITY) { PRIORITY_BYTES } else { 0 },
            padding: 0,
        }
    }

    /// The part of the frame's bytes that belongs to fields. `rest` bytes of the frame follow.
    fn strip<'a>(&mut self, mut bytes: &'a [u8], rest: usize) -> &'a [u8] {
        if self.is_padded
            && let [padding, after @ ..] = bytes
        {
            self.is_padded = false;
            self.padding = usize::from(*padding);
            bytes = after;
        }
        let priority = self.priority.min(bytes.len());
        self.priority -= priority;
        let padding = self.padding.saturating_sub(rest);
        &bytes[priority..][..(bytes.len() - priority).saturating_sub(padding)]
    }
}

/// Finds the heads in the incoming bytes.
pub(super) struct Frames {
    /// The bytes of the present frame, or of the preface, that are still to come.
    rest: usize,
    /// The part of the next frame's header that has arrived.
    header: Vec<u8>,
    /// Whether the present frame belongs to a head, and whether it is the last one.
    present: Option<bool>,
    /// Whether a head, or the preface, is incomplete.
    is_in_head: bool,
    /// The bytes of the incomplete head.
    pub(super) head_bytes: usize,
    fields: HpackFields,
    /// The other bytes of the present frame.
    surroundings: Surroundings,
    /// The number of frames so far.
    pub(super) count: usize,
    /// The bytes of uploads so far.
    pub(super) uploaded_bytes: usize,
    /// The number of the newest stream.
    newest_stream: u32,
    /// Whether a stream got a second head, or a head has too many fields.
    pub(super) are_refused: bool,
}

impl Frames {
    pub(super) fn new() -> Self {
        Self {
            rest: PREFACE_BYTES,
            header: Vec::with_capacity(FRAME_HEADER_BYTES),
            present: Some(true),
            is_in_head: true,
            head_bytes: 0,
            fields: HpackFields::new(),
            surroundings: Surroundings::default(),
            count: 0,
            uploaded_bytes: 0,
            newest_stream: 0,
            are_refused: false,
        }
    }

    pub(super) fn are_in_head(&self) -> bool {
        self.is_in_head
    }

    /// Whether a head ended in these bytes.
    pub(super) fn read(&mut self, mut bytes: &[u8]) -> bool {
        let mut has_ended_head = false;
        while !bytes.is_empty() {
            if self.rest > 0 {
                let (part, following) = bytes.split_at(self.rest.min(bytes.len()));
                self.rest -= part.len();
                bytes = following;
                if self.present.is_some() {
                    self.head_bytes += part.len();
                    // The preface is no frame.
                    if self.count > 0 {
                        self.fields.read(self.surroundings.strip(part, self.rest));
                        self.are_refused |= self.fields.count() > MAX_HTTP2_FIELDS;
                    }
                }
            } else {
                self.header.push(bytes[0]);
                bytes = &bytes[1..];
                if let [a, b, c, kind, flags, stream @ ..] = &self.header[..]
                    && let Ok(stream) = <[u8; 4]>::try_from(stream)
                {
                    let [a, b, c, kind, flags] = [a, b, c, kind, flags].map(|byte| *byte);
                    if kind == HEADERS_FRAME {
                        let stream = u32::from_be_bytes(stream) & !RESERVED_BIT;
                        self.are_refused |= stream <= self.newest_stream;
                        self.newest_stream = stream.max(self.newest_stream);
                    }
                    self.header.clear();
                    self.rest = u32::from_be_bytes([0, a, b, c]) as usize;
                    self.count += 1;
                    if kind == DATA_FRAME {
                        self.uploaded_bytes += self.rest;
                    }
                    let is_last = flags & END_HEADERS != 0;
                    self.present = HEAD_FRAMES.contains(&kind).then_some(is_last);
                    self.is_in_head |= self.present.is_some();
                    self.surroundings = Surroundings::of(kind, flags);
                }
            }
            let is_frame_complete = self.rest == 0 && self.header.is_empty();
            if is_frame_complete && self.present == Some(true) {
                self.present = None;
                self.is_in_head = false;
                self.head_bytes = 0;
                self.fields = HpackFields::new();
                has_ended_head = true;
            }
        }
        has_ended_head
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub fn frame(kind: u8, flags: u8, length: usize) -> Vec<u8> {
        frame_of(1, kind, flags, length)
    }

    pub fn frame_of(stream: u8, kind: u8, flags: u8, length: usize) -> Vec<u8> {
        let [_, a, b, c] = (length as u32).to_be_bytes();
        let mut frame = vec![a, b, c, kind, flags, 0, 0, 0, stream];
        // In a head, these are fields of 258 bytes.
        frame.resize(frame.len() + length, 0x7f);
        frame
    }

    #[test]
    fn finds_heads_whatever_the_pieces() {
        let bytes = [
            vec![0; PREFACE_BYTES],
            frame(4, 4, 12),
            frame(1, 0, 100),
            frame(9, 0, 0),
            frame(9, 4, 50),
            frame(0, 4, 5000),
            frame_of(3, 1, 5, 0),
            frame_of(5, 1, 4, 10),
        ]
        .concat();
        for piece in [1, 2, 7, 9, 100, bytes.len()] {
            let mut frames = Frames::new();
            let (mut most, mut ended) = (0, 0);
            for piece in bytes.chunks(piece) {
                ended += usize::from(frames.read(piece));
                most = most.max(frames.head_bytes);
            }
            assert!(!frames.are_in_head());
            assert!(most <= 150, "{most}");
            assert!(ended > 0);
            if piece == 1 {
                assert_eq!((most, ended), (149, 4));
            }
        }
    }
}
