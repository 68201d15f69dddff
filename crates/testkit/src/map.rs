//! A map of the bytes of a file, by `docs/format.md`, that knows nothing of the library's parser.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::ops::Range;

/// The part of a file that a byte belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    Magic,
    Version,
    Options,
    Checksum,
    Typesize,
    ChunkSize,
    LastChunk,
    Nchunks,
    /// The last eight bytes of a V3 header.
    MaxApp,
    /// The last eight bytes of a V2 header.
    MetaSize,
    Seal,
    RawMetadata,
    SectionMagic,
    SectionOptions,
    SectionChecksum,
    SectionCodec,
    SectionLevel,
    SectionSizes,
    SectionUserCodec,
    SectionData,
    SectionRoom,
    SectionDigest,
    Offset,
    SpareOffset,
    Chunk,
    Digest,
    EndMark,
    Spare,
    /// Bytes that the reference's append leaves at the end.
    Stale,
}

/// A run of bytes that is one field of one member.
#[derive(Clone, Debug)]
pub struct Part {
    pub field: Field,
    pub member: usize,
    pub at: Range<usize>,
}

/// Bytes of a digest, by the id of its checksum.
pub const DIGEST_LEN: [usize; 9] = [0, 4, 4, 16, 20, 28, 32, 48, 64];

pub fn u32_at(file: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(file[at..at + 4].try_into().unwrap())
}

pub fn i64_at(file: &[u8], at: usize) -> i64 {
    i64::from_le_bytes(file[at..at + 8].try_into().unwrap())
}

/// The parts of a sound file, without gaps.
pub fn parts(file: &[u8]) -> Vec<Part> {
    let mut map = Map {
        file,
        at: 0,
        member: 0,
        parts: Vec::new(),
    };
    while map.at < file.len() {
        if file[map.at..].starts_with(b"blpk") {
            map.member();
            map.member += 1;
        } else if file[map.at..].iter().all(|byte| *byte == 0) {
            map.member -= 1;
            map.take(Field::Spare, file.len() - map.at);
        } else {
            map.member -= 1;
            map.take(Field::Stale, file.len() - map.at);
        }
    }
    map.parts
}

struct Map<'a> {
    file: &'a [u8],
    at: usize,
    member: usize,
    parts: Vec<Part>,
}

impl Map<'_> {
    fn take(&mut self, field: Field, len: usize) {
        if len > 0 {
            self.parts.push(Part {
                field,
                member: self.member,
                at: self.at..self.at + len,
            });
        }
        self.at += len;
    }

    fn member(&mut self) {
        let (start, file) = (self.at, self.file);
        let version = file[start + 4];
        self.take(Field::Magic, 4);
        self.take(Field::Version, 1);
        if version == 1 {
            self.take(Field::Options, 3);
            self.take(Field::Nchunks, 8);
            self.chunks(i64_at(file, start + 8), 0, None, start);
            return;
        }
        let (options, digest) = (file[start + 5], DIGEST_LEN[usize::from(file[start + 6])]);
        let nchunks = i64_at(file, start + 16);
        for field in [Field::Options, Field::Checksum, Field::Typesize] {
            self.take(field, 1);
        }
        self.take(Field::ChunkSize, 4);
        self.take(Field::LastChunk, 4);
        self.take(Field::Nchunks, 8);
        let mut spare = 0;
        if version == 3 {
            spare = i64_at(file, start + 24);
            self.take(Field::MaxApp, 8);
        } else {
            self.take(Field::MetaSize, 4);
            self.take(Field::Seal, 4);
        }
        if options & 2 != 0 && version == 3 {
            self.section();
        } else if options & 2 != 0 {
            self.take(Field::RawMetadata, u32_at(file, start + 24) as usize);
        }
        let table = (options & 1 != 0 && nchunks >= 0).then_some(self.at);
        if table.is_some() {
            (0..nchunks).for_each(|_| self.take(Field::Offset, 8));
            (0..spare).for_each(|_| self.take(Field::SpareOffset, 8));
        }
        self.chunks(nchunks, digest, table, start);
    }

    fn section(&mut self) {
        let (start, file) = (self.at, self.file);
        let digest = DIGEST_LEN[usize::from(file[start + 9])];
        let (max, stored) = (u32_at(file, start + 16), u32_at(file, start + 20));
        self.take(Field::SectionMagic, 8);
        self.take(Field::SectionOptions, 1);
        self.take(Field::SectionChecksum, 1);
        self.take(Field::SectionCodec, 1);
        self.take(Field::SectionLevel, 1);
        self.take(Field::SectionSizes, 12);
        self.take(Field::SectionUserCodec, 8);
        self.take(Field::SectionData, stored as usize);
        self.take(Field::SectionRoom, (max - stored) as usize);
        self.take(Field::SectionDigest, digest);
    }

    fn chunks(&mut self, nchunks: i64, digest: usize, table: Option<usize>, start: usize) {
        let file = self.file;
        let mut number = 0;
        while nchunks < 0 || number < nchunks {
            if let Some(table) = table {
                let offset = i64_at(file, table + 8 * usize::try_from(number).unwrap());
                if let Ok(offset) = usize::try_from(offset) {
                    self.take(Field::Spare, start + offset - self.at);
                }
            }
            let len = u32_at(file, self.at + 12) as usize;
            if file[self.at + 3] == 0 {
                self.take(Field::EndMark, len + digest);
                return;
            }
            self.take(Field::Chunk, len);
            self.take(Field::Digest, digest);
            number += 1;
        }
    }
}
