//! A sound file around packed chunks with contents from the input: readers return the records that the format's
//! description defines, or an error; and all properties of records hold.

use arbitrary::{Arbitrary, Unstructured};
use bloscpack::blosc::{ChunkEncoder, ChunkSettings, Compressor, Filter};
use bloscpack::{Checksum, records::RecordReader, wire::Hashers};

#[path = "records.rs"]
mod records;

#[derive(Arbitrary, Debug)]
struct Case<'a> {
    chunk_size: u16,
    stream: bool,
    offsets: bool,
    sealed: bool,
    count: Option<u8>,
    chunks: Vec<Content<'a>>,
}

/// The content of a chunk.
#[derive(Arbitrary, Debug)]
enum Content<'a> {
    /// Valid records.
    Sound {
        width: u8,
        records: Vec<&'a [u8]>,
    },
    /// Records with a part of the head as it should not be.
    Odd {
        width: u8,
        records: Vec<&'a [u8]>,
        at: u8,
        byte: u8,
    },
    /// A head, followed by any bytes.
    Head {
        first: Option<u64>,
        count: u32,
        width: u8,
        rest: &'a [u8],
    },
    /// Lengths of one kind, and as many bytes.
    Same {
        count: u16,
        width: u8,
        len: u8,
        more: i8,
    },
    Any(&'a [u8]),
}

/// More bytes than this are not worth the time.
const ENOUGH: usize = 1 << 18;

fn width(chosen: u8) -> u8 {
    [1, 2, 4][usize::from(chosen % 3)]
}

fn pack<'a>(first: u64, width: u8, records: impl Iterator<Item = &'a [u8]> + Clone) -> Vec<u8> {
    let mut content = first.to_le_bytes().to_vec();
    content.extend((records.clone().count() as u32).to_le_bytes());
    content.extend([width, 0, 0, 0]);
    let lengths = records
        .clone()
        .map(|record| (record.len() as u32).to_le_bytes());
    lengths.for_each(|length| content.extend(&length[..width.into()]));
    content.extend(records.flatten());
    content
}

impl Content<'_> {
    fn bytes(&self, next: u64) -> Vec<u8> {
        match self {
            Self::Sound {
                width: chosen,
                records,
            } => {
                let longest = records.iter().map(|record| record.len()).max().unwrap_or(0);
                let width = if longest > 255 { 4 } else { width(*chosen) };
                pack(next, width, records.iter().copied())
            }
            Self::Odd {
                width: chosen,
                records,
                at,
                byte,
            } => {
                let mut content = pack(next, width(*chosen), records.iter().copied());
                let at = usize::from(*at) % content.len();
                content[at] = *byte;
                content
            }
            Self::Head {
                first,
                count,
                width,
                rest,
            } => {
                let mut content = first.unwrap_or(next).to_le_bytes().to_vec();
                content.extend(count.to_le_bytes());
                content.extend([*width, 0, 0, 0]);
                content.extend(*rest);
                content
            }
            Self::Same {
                count,
                width: chosen,
                len,
                more,
            } => {
                let (record, count) = (vec![0x61; usize::from(*len)], usize::from(count % 500));
                let mut content = pack(
                    next,
                    width(*chosen),
                    std::iter::repeat_n(&record[..], count),
                );
                content.resize(content.len().saturating_add_signed((*more).into()), 0);
                content
            }
            Self::Any(bytes) => bytes.to_vec(),
        }
    }
}

/// The records of a chunk's content by the description of the format; nothing where it is not as described.
fn unpacked(content: &[u8], next: u64, chunk_size: usize) -> Option<Vec<&[u8]>> {
    let (head, rest) = content.split_first_chunk::<16>()?;
    let first = u64::from_le_bytes(head[..8].try_into().ok()?);
    let count = u32::from_le_bytes(head[8..12].try_into().ok()?) as usize;
    let width = usize::from(head[12]);
    let too_large = count > 1 && content.len() > chunk_size;
    if first != next
        || count == 0
        || ![1, 2, 4].contains(&width)
        || head[13..] != [0; 3]
        || too_large
    {
        return None;
    }
    let (lengths, mut values) = rest.split_at_checked(count.checked_mul(width)?)?;
    let mut records = Vec::new();
    for length in lengths.chunks(width) {
        let length = length
            .iter()
            .rev()
            .fold(0, |length, byte| length << 8 | usize::from(*byte));
        let record;
        (record, values) = values.split_at_checked(length)?;
        records.push(record);
    }
    values.is_empty().then_some(records)
}

fn crc32(bytes: &[u8]) -> Vec<u8> {
    Hashers::default()
        .digest(Checksum::Crc32, bytes)
        .as_bytes()
        .to_vec()
}

fn chunk(content: &[u8]) -> Vec<u8> {
    let settings = ChunkSettings::default()
        .compressor(Compressor::Lz4)
        .filter(Filter::None)
        .typesize(1);
    let (mut chunk, encoder) = (Vec::new(), ChunkEncoder::new(settings));
    encoder
        .expect("valid")
        .encode(content, &mut chunk)
        .expect("short");
    chunk
}

impl Case<'_> {
    fn metadata(&self) -> String {
        let shape = self.count.map(|count| format!("\"shape\": [{count}], "));
        let (shape, size) = (shape.unwrap_or_default(), self.chunk_size());
        format!(
            r#"{{{shape}"dtype": "varbinary", "packing": {{"name": "lengths", "version": 1, "chunk_size": {size}}}}}"#
        )
    }

    fn chunk_size(&self) -> usize {
        usize::from(self.chunk_size) + 64
    }

    /// A V2 member with these contents, its seal and digests right.
    fn file(&self, contents: &[Vec<u8>]) -> Vec<u8> {
        let chunks: Vec<_> = contents.iter().map(|content| chunk(content)).collect();
        let (text, offsets) = (self.metadata(), self.offsets && !self.stream);
        let options = u8::from(offsets) | 2 | 4 | u8::from(self.sealed) << 3;
        let nchunks = if self.stream { -1 } else { chunks.len() as i64 };
        let mut file = b"blpk".to_vec();
        file.extend([2, options, Checksum::Crc32.id(), 1]);
        file.extend([0xff; 8]);
        file.extend(nchunks.to_le_bytes());
        file.extend((text.len() as u64).to_le_bytes());
        file.extend(text.as_bytes());
        if offsets {
            let mut at = file.len() + 8 * chunks.len();
            for chunk in &chunks {
                file.extend((at as u64).to_le_bytes());
                at += chunk.len() + 4;
            }
        }
        if self.sealed {
            let seal = crc32(&file);
            file[28..32].copy_from_slice(&seal);
        }
        let mark = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0].to_vec();
        for chunk in chunks.iter().chain(self.stream.then_some(&mark)) {
            file.extend(chunk);
            file.extend(crc32(chunk));
        }
        file
    }
}

pub fn check(input: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(input)) else {
        return;
    };
    let (mut contents, mut expected, mut next) = (Vec::new(), Some(Vec::new()), 0);
    for content in case.chunks.iter().take(20) {
        contents.push(content.bytes(next));
        if contents.iter().map(Vec::len).sum::<usize>() > ENOUGH {
            return;
        }
        let last = contents.last().expect("pushed");
        match (unpacked(last, next, case.chunk_size()), &mut expected) {
            (Some(records), Some(expected)) => {
                next += records.len() as u64;
                expected.extend(records.into_iter().map(<[u8]>::to_vec));
            }
            _ => expected = None,
        }
    }
    if let (Some(records), Some(count)) = (&expected, case.count)
        && records.len() != usize::from(count)
    {
        expected = None;
    }
    let file = case.file(&contents);
    let found: bloscpack::Result<Vec<_>> = RecordReader::new(file.as_slice()).collect();
    match (found, expected) {
        (Ok(found), Some(expected)) => assert!(
            found
                .iter()
                .map(AsRef::as_ref)
                .eq(expected.iter().map(Vec::as_slice))
        ),
        (Err(error), Some(_)) => panic!("as described, and refused: {error}"),
        (Ok(_), None) => panic!("not as described, and taken"),
        (Err(_), None) => {}
    }
    records::check(&file);
}
