//! Counts the fields of a request head in HPACK (RFC 7541), without decoding them.

/// The prefix of a string's length.
const LENGTH_MASK: u8 = 0x7f;

/// Counts the fields of one head, which may arrive in any pieces.
pub struct HpackFields {
    count: usize,
    /// The strings of the present field that are still to come: its name, its value.
    strings: u8,
    next: Next,
}

/// The kind of the next byte.
enum Next {
    /// The first byte of a field or of a string.
    Prefix,
    /// A later byte of a number.
    Number {
        value: usize,
        shift: u32,
        is_length: bool,
    },
    /// A byte of a string, which still has so many.
    Text(usize),
}

impl HpackFields {
    /// No byte of the head has arrived.
    pub fn new() -> Self {
        Self {
            count: 0,
            strings: 0,
            next: Next::Prefix,
        }
    }

    /// The fields so far. Changes of the table's size count, too.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Counts the fields that begin in these bytes of the head.
    pub fn read(&mut self, mut bytes: &[u8]) {
        while let [byte, rest @ ..] = bytes {
            let byte = *byte;
            match self.next {
                Next::Text(length) => {
                    let here = length.min(bytes.len());
                    bytes = &bytes[here..];
                    self.next = text(length - here);
                    continue;
                }
                Next::Prefix if self.strings > 0 => {
                    self.strings -= 1;
                    self.begin_number(byte, LENGTH_MASK, true);
                }
                Next::Prefix => {
                    self.count += 1;
                    let (mask, strings) = match byte {
                        0x80.. => (0x7f, 0),
                        0x40.. => (0x3f, 1),
                        0x20.. => (0x1f, 0),
                        _ => (0x0f, 1),
                    };
                    // Without an index, the name is in the field.
                    let is_new_name = strings > 0 && byte & mask == 0;
                    self.strings = strings + u8::from(is_new_name);
                    self.begin_number(byte, mask, false);
                }
                Next::Number {
                    value,
                    shift,
                    is_length,
                } => {
                    // The HTTP/2 library ends the connection if a number has more bytes than fit.
                    let part = usize::from(byte & LENGTH_MASK) << shift.min(28);
                    let value = value.saturating_add(part);
                    let shift = shift + 7;
                    self.next = match (byte & 0x80 != 0, is_length) {
                        (true, _) => Next::Number {
                            value,
                            shift,
                            is_length,
                        },
                        (false, true) => text(value),
                        (false, false) => Next::Prefix,
                    };
                }
            }
            bytes = rest;
        }
    }

    fn begin_number(&mut self, byte: u8, mask: u8, is_length: bool) {
        let value = usize::from(byte & mask);
        self.next = match (byte & mask == mask, is_length) {
            (true, _) => Next::Number {
                value,
                shift: 0,
                is_length,
            },
            (false, true) => text(value),
            (false, false) => Next::Prefix,
        };
    }
}

fn text(length: usize) -> Next {
    match length {
        0 => Next::Prefix,
        length => Next::Text(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_the_fields_of_a_head_in_any_pieces() {
        let long_value = [&[0x0f, 0x11, 0x7f, 0x81, 0x01][..], &[b'x'; 256]].concat();
        for (head, count) in [
            // Examples of RFC 7541: C.2.1 to C.2.4, C.4.1 and C.4.3.
            (&b"\x40\x0acustom-key\x0dcustom-header"[..], 1),
            (b"\x04\x0c/sample/path", 1),
            (b"\x10\x08password\x06secret", 1),
            (b"\x82", 1),
            (
                b"\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff",
                4,
            ),
            (
                b"\x82\x87\x85\xbf\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9\x5b\xb8\xe8\xb4\xbf",
                5,
            ),
            // Numbers of several bytes: a size, an index, and an index with a value of 256 bytes.
            (b"\x3f\xe1\x1f\xff\x80\x01\x82", 3),
            (&[&long_value[..], b"\x82\x82"].concat(), 3),
            // Empty strings.
            (b"\x40\0\0\x00\x01a\0\x82", 3),
            (&[0x82; 1000], 1000),
        ] {
            for piece in [1, 2, 3, head.len()] {
                let mut fields = HpackFields::new();
                for piece in head.chunks(piece) {
                    fields.read(piece);
                }
                assert_eq!(fields.count(), count, "{head:x?} in pieces of {piece}");
                assert!(matches!(fields.next, Next::Prefix) && fields.strings == 0);
            }
        }
    }

    #[test]
    fn numbers_without_an_end_do_no_harm() {
        let mut fields = HpackFields::new();
        fields.read(&[0xff; 10_000]);
        fields.read(&[0x7f]);
        assert_eq!(fields.count(), 1);
    }
}
