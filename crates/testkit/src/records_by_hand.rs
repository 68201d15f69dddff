//! Files of records put together by hand, with seal and digests that are right.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "lengths here are small"
)]

use bloscpack::blosc::{ChunkEncoder, ChunkSettings, Compressor, Filter};
use bloscpack::{Checksum, wire::Hashers};

/// A V2 member of records, built by hand; every field that is not set is valid.
#[derive(Clone)]
pub struct Hostile {
    pub options: u8,
    pub nchunks: Option<i64>,
    pub metadata: Option<String>,
    /// The chunks, ready made.
    pub chunks: Vec<Vec<u8>>,
    pub offsets: Option<Vec<i64>>,
    pub end_mark: bool,
}

impl Hostile {
    pub fn new(metadata: &str, chunks: Vec<Vec<u8>>) -> Self {
        Self {
            options: 1 | 4 | 8,
            nchunks: None,
            metadata: Some(metadata.to_owned()),
            chunks,
            offsets: None,
            end_mark: false,
        }
    }

    /// Chunks of many records, in metadata that says so.
    pub fn packed(contents: &[Vec<u8>]) -> Self {
        Self::new(
            &packing("65536"),
            contents.iter().map(|c| chunk(c)).collect(),
        )
    }

    /// A stream: no table, and an end mark.
    pub fn stream(self) -> Self {
        Self {
            options: self.options & !1,
            nchunks: Some(-1),
            end_mark: true,
            ..self
        }
    }

    /// The file, its seal and digests right.
    pub fn file(&self) -> Vec<u8> {
        let text = self.metadata.clone().unwrap_or_default();
        let options = self.options | u8::from(self.metadata.is_some()) << 1;
        let nchunks = self.nchunks.unwrap_or(self.chunks.len() as i64);
        let mut file = b"blpk".to_vec();
        file.extend([2, options, Checksum::Crc32.id(), 1]);
        file.extend([0xff; 8]);
        file.extend(nchunks.to_le_bytes());
        file.extend((text.len() as u32).to_le_bytes());
        file.extend([0; 4]);
        file.extend(text.as_bytes());
        if options & 1 != 0 {
            let begin = file.len() + 8 * self.chunks.len();
            let ends = self.chunks.iter().scan(begin, |end, chunk| {
                *end += chunk.len() + 4;
                Some(*end as i64 - chunk.len() as i64 - 4)
            });
            let own: Vec<i64> = ends.collect();
            for offset in self.offsets.as_ref().unwrap_or(&own) {
                file.extend(offset.to_le_bytes());
            }
        }
        if options & 8 != 0 {
            let seal = crc32(&file);
            file[28..32].copy_from_slice(&seal);
        }
        for chunk in &self.chunks {
            file.extend(chunk);
            file.extend(crc32(chunk));
        }
        if self.end_mark {
            let mark = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
            file.extend(mark);
            file.extend(crc32(&mark));
        }
        file
    }
}

pub fn crc32(bytes: &[u8]) -> Vec<u8> {
    let digest = Hashers::default().digest(Checksum::Crc32, bytes);
    digest.as_bytes().to_vec()
}

/// Metadata that declares a packing with this chunk size.
pub fn packing(chunk_size: &str) -> String {
    format!(
        r#"{{"dtype": "varbinary", "packing": {{"name": "lengths", "version": 1, "chunk_size": {chunk_size}}}}}"#
    )
}

/// A Blosc chunk.
pub fn chunk(content: &[u8]) -> Vec<u8> {
    let settings = ChunkSettings::default()
        .compressor(Compressor::Zstd)
        .filter(Filter::None)
        .typesize(1);
    let mut chunk = Vec::new();
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    encoder.encode(content, &mut chunk).unwrap();
    chunk
}

/// The content of a packed chunk, from its head and the bytes after it.
pub fn pack(first: u64, count: u32, width: u8, rest: &[u8]) -> Vec<u8> {
    let mut content = first.to_le_bytes().to_vec();
    content.extend(count.to_le_bytes());
    content.extend([width, 0, 0, 0]);
    content.extend(rest);
    content
}
