//! A frame taken apart, to be put together again otherwise.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::cast_possible_truncation, reason = "lengths here are small")]

use bloscpack::blosc::{Blosc2Encoder, Blosc2Settings, ChunkDecoder, SpecialValue, special_chunk};
use bloscpack::storage::{Key, Memory, Store};
use bloscpack::{Limits, Options, Result};
use bloscpack_open::frames::wire::{ChunkPlace, Trailer, encode_index};
use bloscpack_open::frames::{Frame, FrameHeader, FrameKind, NdArray};

pub fn options() -> Options {
    Options::new().threads(1)
}

/// Files at the root of a store.
pub fn store_of(files: &[(String, Vec<u8>)]) -> Memory {
    let store = Memory::new();
    for (name, bytes) in files {
        store.create(&Key::parse(name).unwrap(), bytes).unwrap();
    }
    store
}

/// Elements of 4 bytes that compress a little.
pub fn numbers(count: usize, noise: bool) -> Vec<u8> {
    let numbers = (0..count as u32).map(|at| {
        if noise {
            at.wrapping_mul(2_654_435_761).rotate_left(at % 31)
        } else {
            at.wrapping_mul(2_654_435_761) >> 8
        }
    });
    numbers.flat_map(u32::to_le_bytes).collect()
}

/// A frame in its parts, to be put together again otherwise.
#[derive(Clone)]
pub struct Parts {
    pub header: FrameHeader,
    pub chunks: Vec<u8>,
    pub index: Vec<u8>,
    pub trailer: Trailer,
}

impl Parts {
    /// An array of 6 x 10 elements of 4 bytes, in chunks of 3 x 5 and blocks of 2 x 3.
    pub fn sound() -> Self {
        let array = NdArray::builder(&[6, 10], 4)
            .chunk_shape(&[3, 5])
            .block_shape(&[2, 3])
            .vlmetalayer("note", *b"sound");
        let mut array = array.options(options()).in_memory().unwrap();
        array
            .write_slice(&[0..6, 0..10], &numbers(60, true))
            .unwrap();
        Self::of(&array.to_bytes().unwrap())
    }

    pub fn of(bytes: &[u8]) -> Self {
        let header = FrameHeader::decode(bytes).unwrap();
        let index_at = header.encoded_len() + header.section_len as usize;
        let tail = &bytes[bytes.len() - Trailer::TAIL_LEN..];
        let trailer_at = bytes.len() - Trailer::len_from_tail(tail).unwrap() as usize;
        Self {
            chunks: bytes[header.encoded_len()..index_at].to_vec(),
            index: bytes[index_at..trailer_at].to_vec(),
            trailer: Trailer::decode(&bytes[trailer_at..]).unwrap(),
            header,
        }
    }

    pub fn bytes(&self) -> Vec<u8> {
        let trailer = self.trailer.encode().unwrap();
        let mut header = self.header.clone();
        let rest = self.chunks.len() + self.index.len() + trailer.len();
        header.section_len = self.chunks.len() as u64;
        header.frame_len = (header.encoded_len() + rest) as u64;
        let header = header.encode().unwrap();
        [&header[..], &self.chunks, &self.index, &trailer].concat()
    }

    /// Where the chunks are.
    pub fn places(&self) -> Vec<u64> {
        let mut raw = vec![0; 8 * 4];
        ChunkDecoder::new().decode(&self.index, &mut raw).unwrap();
        let (entries, _) = raw.as_chunks::<8>();
        entries
            .iter()
            .map(|entry| u64::from_le_bytes(*entry))
            .collect()
    }

    pub fn with_places(mut self, places: &[ChunkPlace]) -> Self {
        self.index = index(&encode_index(places).unwrap());
        self
    }

    /// With a part of the description of the array replaced.
    pub fn with_meta(mut self, at: usize, bytes: &[u8]) -> Self {
        let mut meta = self.header.metalayers.get("b2nd").unwrap().to_vec();
        meta[at..at + bytes.len()].copy_from_slice(bytes);
        self.header.metalayers.set("b2nd", meta).unwrap();
        self
    }

    pub fn frame(&self) -> Result<Frame> {
        Frame::read_with(self.bytes(), &options())
    }

    pub fn array(&self) -> Result<NdArray> {
        NdArray::of(self.frame()?)
    }
}

pub fn index(raw: &[u8]) -> Vec<u8> {
    encoded(raw, 8, None)
}

pub fn encoded(data: &[u8], typesize: u8, blocksize: Option<u32>) -> Vec<u8> {
    let settings = Blosc2Settings::default()
        .typesize(typesize)
        .blocksize(blocksize);
    let mut chunk = Vec::new();
    let mut encoder = Blosc2Encoder::new(settings).unwrap();
    encoder.encode(data, &mut chunk).unwrap();
    chunk
}

/// The same frame in files, where chunks in one place are one file.
pub fn sparse(contiguous: &[u8]) -> Memory {
    let parts = Parts::of(contiguous);
    let frame = Frame::read_with(contiguous.to_vec(), &options()).unwrap();
    let (places, mut numbers, mut files) = (parts.places(), Vec::new(), Vec::new());
    for (number, place) in places.iter().enumerate() {
        let first = places.iter().position(|other| other == place).unwrap();
        numbers.push(ChunkPlace::At(first as u64));
        if first == number {
            let chunk = frame.compressed_chunk(number as u64).unwrap();
            files.push((format!("{number:08X}.chunk"), chunk));
        }
    }
    let mut header = parts.header.clone();
    header.kind = FrameKind::Sparse;
    let back = [
        index(&encode_index(&numbers).unwrap()),
        parts.trailer.encode().unwrap(),
    ]
    .concat();
    header.frame_len = (header.encoded_len() + back.len()) as u64;
    let outline = [header.encode().unwrap(), back].concat();
    files.push(("chunks.b2frame".to_owned(), outline));
    store_of(&files)
}

/// An array with one chunk of one block of 400 MiB, which takes 32 bytes in the file.
pub fn bomb(place: Option<ChunkPlace>) -> Parts {
    let array = NdArray::builder(&[100 << 20], 4)
        .chunk_shape(&[100 << 20])
        .block_shape(&[100 << 20]);
    // More than readers accept by default.
    let limits = Limits::new().block(400 << 20);
    let mut array = array.options(options().limits(limits)).in_memory().unwrap();
    let parts = Parts::of(&array.to_bytes().unwrap());
    let chunk = special_chunk(SpecialValue::Zeros, 400 << 20, 4, 400 << 20).unwrap();
    let mut parts = parts.with_places(&[place.unwrap_or(ChunkPlace::At(0))]);
    parts.chunks = chunk;
    parts
}
