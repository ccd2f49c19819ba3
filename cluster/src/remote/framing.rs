//! What Timely sends to another process, as far as it has to be known to let nothing else pass.
//!
//! ```text
//! stream  := message…, header of length 0
//! message := header, bytes
//! header  := channel, sender, first receiver, receiver after the last one, length, number    (8 bytes each, the highest first)
//! ```
//!
//! Timely trusts these numbers: it would index by a receiver that is none of its own, and wait for as many bytes as a length says. A
//! peer has proved that it has the key, but may be damaged.

const HEADER_BYTES: usize = 48;
/// No message of a search is longer than this.
const LENGTH_MAX: u64 = 1 << 28;

/// Looks at everything that one partition sends to another one.
pub(super) struct Framing {
    from: u64,
    to: u64,
    header: Vec<u8>,
    /// Bytes of the present message that have not arrived.
    left: u64,
    ended: bool,
}

impl Framing {
    /// Of what is sent by one partition to another one.
    pub(super) fn new(from: usize, to: usize) -> Self {
        Self { from: from as u64, to: to as u64, header: Vec::new(), left: 0, ended: false }
    }

    /// Whether these bytes may come next.
    pub(super) fn accepts(&mut self, mut bytes: &[u8]) -> bool {
        while !bytes.is_empty() {
            if self.ended {
                return false;
            }
            if 0 < self.left {
                let length = bytes.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
                self.left -= length as u64;
                bytes = &bytes[length..];
                continue;
            }
            let (header, rest) = bytes.split_at(bytes.len().min(HEADER_BYTES - self.header.len()));
            self.header.extend_from_slice(header);
            bytes = rest;
            if self.header.len() == HEADER_BYTES {
                if !self.accepts_header() {
                    return false;
                }
                self.header.clear();
            }
        }
        true
    }

    fn accepts_header(&mut self) -> bool {
        let mut fields =
            self.header.chunks(8).map(|bytes| bytes.iter().fold(0, |field, byte| field << 8 | u64::from(*byte)));
        let mut next = || fields.next().unwrap_or_default();
        let (_channel, sender, first, after_last, length) = (next(), next(), next(), next(), next());
        self.left = length;
        self.ended = length == 0;
        self.ended || ((sender, first, after_last) == (self.from, self.to, self.to + 1) && length <= LENGTH_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(fields: [u64; 6]) -> Vec<u8> {
        fields.iter().flat_map(|field| field.to_be_bytes()).collect()
    }

    fn message(length: u64) -> Vec<u8> {
        let mut bytes = header([7, 1, 2, 3, length, 9]);
        bytes.extend((0..length).map(|byte| byte as u8));
        bytes
    }

    /// Whether a stream is accepted in pieces of this length.
    fn accepts(stream: &[u8], piece: usize) -> bool {
        let mut framing = Framing::new(1, 2);
        stream.chunks(piece).all(|bytes| framing.accepts(bytes))
    }

    #[test]
    fn messages_from_one_to_the_other_pass_however_they_are_cut() {
        let stream = [message(1), message(100), message(3), header([0; 6])].concat();
        for piece in 1..stream.len() + 1 {
            assert!(accepts(&stream, piece), "{piece}");
            assert!(!accepts(&[&stream[..], &[0]].concat(), piece), "{piece}: after the end");
        }
    }

    #[test]
    fn other_numbers_do_not_pass() {
        for fields in [
            [7, 2, 2, 3, 1, 9],
            [7, 1, 1, 3, 1, 9],
            [7, 1, 2, 4, 1, 9],
            [7, 1, 3, 4, 1, 9],
            [7, 1, u64::MAX, 0, 1, 9],
            [7, 1, 2, 3, LENGTH_MAX + 1, 9],
            [7, 1, 2, 3, u64::MAX - 40, 9],
        ] {
            for piece in [1, 5, 48, 100] {
                assert!(!accepts(&[message(4), header(fields)].concat(), piece), "{fields:?}");
            }
        }
    }
}
