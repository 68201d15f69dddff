//! Layouts of the lengths of records in a chunk.

use std::ops::Range;

use crate::data::Records;

/// Bytes of the head of each payload.
const HEAD: usize = 16;
/// A byte that does not occur in a line.
const MARK: u8 = b'\n';

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// An offset of four bytes for each record and one more, then the records: Arrow's `Binary`.
    Arrow,
    /// A length for each record, all of 1, 2 or 4 bytes, then the records.
    Lengths,
    /// The same, but with all low bytes of the lengths first, then all next bytes.
    Planes,
    /// The length before each record, seven bits per byte.
    Varints,
    /// After each record a byte that does not occur in the chunk; not possible for records in general.
    Marks,
    /// Each record without the prefix that it shares with the previous one: the lengths of the
    /// prefixes, the lengths of the rest, then the rest.
    Fronts,
}

/// The records of a chunk as in Arrow.
#[derive(Default)]
pub struct Unpacked {
    offsets: Vec<i32>,
    values: Vec<u8>,
}

impl Unpacked {
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let pairs = self.offsets.windows(2);
        pairs.map(|pair| &self.values[pair[0] as usize..pair[1] as usize])
    }
}

impl Layout {
    pub const ALL: [Self; 6] = [
        Self::Arrow,
        Self::Lengths,
        Self::Planes,
        Self::Varints,
        Self::Marks,
        Self::Fronts,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Arrow => "a offsets",
            Self::Lengths => "b lengths",
            Self::Planes => "b2 planes",
            Self::Varints => "c varints",
            Self::Marks => "d marks",
            Self::Fronts => "f fronts",
        }
    }

    /// Appends the payload of a chunk.
    pub fn pack(self, records: &Records, range: &Range<usize>, out: &mut Vec<u8>) {
        let values = records.bytes(range);
        let each = range.clone().map(|index| records.get(index));
        let lens: Vec<_> = each.clone().map(|record| record.len() as u32).collect();
        let width = width(&lens);
        let head = out.len();
        out.extend_from_slice(&[width as u8, 0, 0, 0]);
        out.extend_from_slice(&(range.len() as u32).to_le_bytes());
        out.extend_from_slice(&(values.len() as u64).to_le_bytes());
        match self {
            Self::Arrow => {
                let mut end = 0;
                out.extend_from_slice(&[0; 4]);
                for len in lens {
                    end += len;
                    out.extend_from_slice(&end.to_le_bytes());
                }
            }
            Self::Lengths => {
                lens.iter()
                    .for_each(|len| out.extend_from_slice(&len.to_le_bytes()[..width]));
            }
            Self::Planes => {
                for plane in 0..width {
                    out.extend(lens.iter().map(|len| len.to_le_bytes()[plane]));
                }
            }
            Self::Fronts => {
                let widths = pack_fronts(records, range, out);
                out[head..head + 2].copy_from_slice(&widths);
                return;
            }
            Self::Varints | Self::Marks => {
                each.for_each(|record| self.pack_one(record, out));
                return;
            }
        }
        out.extend_from_slice(values);
    }

    fn pack_one(self, record: &[u8], out: &mut Vec<u8>) {
        if self == Self::Marks {
            out.extend_from_slice(record);
            out.push(MARK);
            return;
        }
        let mut len = record.len();
        while len > 0x7f {
            out.push(len as u8 | 0x80);
            len >>= 7;
        }
        out.push(len as u8);
        out.extend_from_slice(record);
    }

    /// Converts a payload to the form of Arrow. A real reader would not copy the records where they are
    /// in one piece already; here all layouts copy, to be fair to the others.
    pub fn unpack(self, payload: &[u8], out: &mut Unpacked) {
        let width = usize::from(payload[0]);
        let count = u32::from_le_bytes(payload[4..8].try_into().expect("four bytes")) as usize;
        let body = &payload[HEAD..];
        out.offsets.clear();
        out.values.clear();
        match self {
            Self::Arrow => {
                let (offsets, values) = body.split_at(4 * (count + 1));
                let (offsets, _) = offsets.as_chunks();
                out.offsets
                    .extend(offsets.iter().map(|&le| i32::from_le_bytes(le)));
                out.values.extend_from_slice(values);
            }
            Self::Lengths | Self::Planes => {
                let (lens, values) = body.split_at(width * count);
                match (self, width) {
                    (_, 1) => out.offsets_of(lens.iter().map(|&len| i32::from(len))),
                    (Self::Lengths, 2) => {
                        let (lens, _) = lens.as_chunks();
                        out.offsets_of(lens.iter().map(|&le| i32::from(u16::from_le_bytes(le))));
                    }
                    (Self::Lengths, _) => {
                        let (lens, _) = lens.as_chunks();
                        out.offsets_of(lens.iter().map(|&le| i32::from_le_bytes(le)));
                    }
                    _ => out.offsets_of(planes(lens, count)),
                }
                out.values.extend_from_slice(values);
            }
            Self::Varints => out.take_varints(body),
            Self::Marks => out.take_marked(body),
            Self::Fronts => out.take_fronts(body, count, [width, payload[1].into()]),
        }
    }
}

/// The payload of a chunk after its head, each record without its shared prefix, and the bytes of a
/// length of both kinds.
fn pack_fronts(records: &Records, range: &Range<usize>, out: &mut Vec<u8>) -> [u8; 2] {
    let mut last: &[u8] = &[];
    let (mut shared, mut left, mut values) = (vec![], vec![], vec![]);
    for record in range.clone().map(|index| records.get(index)) {
        let pairs = record.iter().zip(last);
        let same = pairs.take_while(|(one, other)| one == other).count();
        shared.push(same as u32);
        left.push((record.len() - same) as u32);
        values.extend_from_slice(&record[same..]);
        last = record;
    }
    let widths = [shared, left].map(|lens| {
        let width = width(&lens);
        lens.iter()
            .for_each(|len| out.extend_from_slice(&len.to_le_bytes()[..width]));
        width as u8
    });
    out.extend(values);
    widths
}

/// The bytes that the largest of some lengths needs: 1, 2 or 4.
fn width(lens: &[u32]) -> usize {
    match lens.iter().max() {
        Some(0..=0xff) | None => 1,
        Some(0x100..=0xffff) => 2,
        Some(_) => 4,
    }
}

/// Numbers stored in planes of one byte each.
fn planes(lens: &[u8], count: usize) -> impl Iterator<Item = i32> {
    (0..count).map(move |index| {
        let bytes = lens[index..].iter().step_by(count);
        bytes.rev().fold(0, |len, &byte| len << 8 | i32::from(byte))
    })
}

impl Unpacked {
    fn offsets_of(&mut self, lens: impl Iterator<Item = i32>) {
        self.offsets.push(0);
        let mut end = 0;
        self.offsets.extend(lens.map(|len| {
            end += len;
            end
        }));
    }

    fn take_varints(&mut self, mut body: &[u8]) {
        self.offsets.push(0);
        while !body.is_empty() {
            let (mut len, mut at) = (0, 0);
            loop {
                len |= usize::from(body[at] & 0x7f) << (7 * at);
                at += 1;
                if body[at - 1] & 0x80 == 0 {
                    break;
                }
            }
            self.values.extend_from_slice(&body[at..at + len]);
            self.offsets.push(self.values.len() as i32);
            body = &body[at + len..];
        }
    }

    fn take_marked(&mut self, body: &[u8]) {
        self.offsets.push(0);
        let mut from = 0;
        for to in memchr::memchr_iter(MARK, body) {
            self.values.extend_from_slice(&body[from..to]);
            self.offsets.push(self.values.len() as i32);
            from = to + 1;
        }
    }

    fn take_fronts(&mut self, body: &[u8], count: usize, widths: [usize; 2]) {
        self.offsets.push(0);
        let (shared, body) = body.split_at(count * widths[0]);
        let (left, mut rest) = body.split_at(count * widths[1]);
        let mut from = 0;
        for (shared, left) in numbers(shared, widths[0]).zip(numbers(left, widths[1])) {
            let own;
            (own, rest) = rest.split_at(left);
            let start = self.values.len();
            self.values.extend_from_within(from..from + shared);
            self.values.extend_from_slice(own);
            self.offsets.push(self.values.len() as i32);
            from = start;
        }
    }
}

/// Little-endian numbers of this many bytes.
fn numbers(bytes: &[u8], width: usize) -> impl Iterator<Item = usize> {
    let each = bytes.chunks_exact(width);
    each.map(|le| {
        le.iter()
            .rev()
            .fold(0, |number, &byte| number << 8 | usize::from(byte))
    })
}
