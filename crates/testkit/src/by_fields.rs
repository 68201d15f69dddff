//! Bloscpack files put together field by field, whatever the format says.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "lengths here are small")]

use bloscpack::blosc::{ChunkEncoder, ChunkSettings, Compressor, Filter};
use std::io::Write;

/// Counts the events without keeping them.
pub struct Count(pub u64);

impl Write for Count {
    fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
        self.0 += data.len() as u64;
        Ok(data.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The fields of a 32-byte header, in their order.
#[derive(Clone, Copy)]
pub struct Fields {
    pub version: u8,
    pub options: u8,
    pub checksum: u8,
    pub chunk_size: i32,
    pub last_chunk: i32,
    pub nchunks: i64,
    /// `max_app_chunks`, or the meta-size and the reserved word.
    pub tail: i64,
}

pub const PLAIN: Fields = Fields {
    version: 3,
    options: 0,
    checksum: 0,
    chunk_size: 100,
    last_chunk: 100,
    nchunks: 1,
    tail: 0,
};

impl Fields {
    pub fn header(&self) -> Vec<u8> {
        let mut file = b"blpk".to_vec();
        file.extend_from_slice(&[self.version, self.options, self.checksum, 2]);
        file.extend_from_slice(&self.chunk_size.to_le_bytes());
        file.extend_from_slice(&self.last_chunk.to_le_bytes());
        file.extend_from_slice(&self.nchunks.to_le_bytes());
        file.extend_from_slice(&self.tail.to_le_bytes());
        file
    }

    pub fn with(&self, rest: &[u8]) -> Vec<u8> {
        [&self.header(), rest].concat()
    }
}

pub fn zstd(data: &[u8]) -> Vec<u8> {
    let settings = ChunkSettings::default()
        .compressor(Compressor::Zstd)
        .filter(Filter::None)
        .typesize(1);
    let mut chunk = Vec::new();
    ChunkEncoder::new(settings)
        .unwrap()
        .encode(data, &mut chunk)
        .unwrap();
    chunk
}

/// A Blosc header with these sizes; the flags hold filter and compressor.
pub fn blosc(flags: u8, typesize: u8, nbytes: u32, blocksize: u32, ctbytes: u32) -> Vec<u8> {
    let mut header = vec![2, 1, flags, typesize];
    for size in [nbytes, blocksize, ctbytes] {
        header.extend_from_slice(&size.to_le_bytes());
    }
    header
}

/// A V3 metadata section.
pub struct Section3 {
    pub codec: u8,
    pub level: u8,
    pub checksum: u8,
    pub meta_size: u32,
    pub max: u32,
    pub stored_size: u32,
    pub stored: Vec<u8>,
}

impl Section3 {
    pub fn plain(text: &[u8]) -> Self {
        let len = text.len() as u32;
        Self {
            codec: 0,
            level: 0,
            checksum: 0,
            meta_size: len,
            max: len,
            stored_size: len,
            stored: text.to_vec(),
        }
    }

    pub fn packed(text: &[u8]) -> Self {
        let mut packer = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut stored = vec![0; packer.zlib_compress_bound(text.len())];
        let len = packer.zlib_compress(text, &mut stored).unwrap();
        stored.truncate(len);
        let len = len as u32;
        Self {
            codec: 1,
            level: 6,
            checksum: 0,
            meta_size: text.len() as u32,
            max: len,
            stored_size: len,
            stored,
        }
    }

    pub fn file(&self) -> Vec<u8> {
        let mut file = Fields {
            options: 2,
            ..PLAIN
        }
        .header();
        file.extend_from_slice(b"JSON\0\0\0\0");
        file.extend_from_slice(&[0, self.checksum, self.codec, self.level]);
        for size in [self.meta_size, self.max, self.stored_size] {
            file.extend_from_slice(&size.to_le_bytes());
        }
        file.extend_from_slice(&[0; 8]);
        file.extend_from_slice(&self.stored);
        file.extend_from_slice(&zstd(&[1; 100]));
        file
    }
}
