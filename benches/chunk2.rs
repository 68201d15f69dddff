//! Times Blosc 2 chunks with our engine and with C-Blosc2, in one process, on one thread, in turn.
//!
//! `BLOSC2_LIBRARY=FILE cargo bench --bench chunk2 [-- WORD..]` prints and accepts the same as `chunk.rs`. The file is a shared
//! library of C-Blosc2 3, such as `lib/libblosc2.so` in the folder of the Python package `blosc2`: what its users have.
//! C-Blosc2 detects SIMD at run time. Both sides are set up once for a cell, and each reads its own chunks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a bench fails by panicking"
)]

use bloscpack::blosc::{Blosc2Encoder, Blosc2Settings, ChunkDecoder, Compressor};

use testkit::oracle as data;
#[path = "chunk/c_blosc2.rs"]
mod c_blosc2;
#[path = "chunk/measure.rs"]
mod measure;

use c_blosc2::{Context, Library};
use data::{Kind, Random};
use measure::{Cell, Engines};

/// The compressors of Blosc 2; [`NUMBERS`] has their numbers in C-Blosc2.
const COMPRESSORS: [Compressor; 5] = [
    Compressor::Blosclz,
    Compressor::Lz4,
    Compressor::Lz4hc,
    Compressor::Zlib,
    Compressor::Zstd,
];
const NUMBERS: [u8; 5] = [0, 1, 2, 4, 5];

/// Our engine, and two contexts of C-Blosc2.
struct Blosc2<'a> {
    encoder: Blosc2Encoder,
    decoder: ChunkDecoder,
    compressing: Context<'a>,
    decompressing: Context<'a>,
}

impl<'a> Blosc2<'a> {
    fn new(library: &'a Library, cell: Cell) -> Self {
        let settings = Blosc2Settings::default()
            .compressor(cell.compressor)
            .level(cell.level)
            .filters(cell.filter.into())
            .typesize(cell.typesize);
        let mut numbers = COMPRESSORS.into_iter().zip(NUMBERS);
        let number = numbers.find(|of| of.0 == cell.compressor);
        Self {
            encoder: Blosc2Encoder::new(settings).unwrap(),
            decoder: ChunkDecoder::new(),
            compressing: library.compressing(&settings, number.unwrap().1),
            decompressing: library.decompressing(),
        }
    }
}

impl Engines for Blosc2<'_> {
    fn encode(&mut self, data: &[u8], out: &mut Vec<u8>) {
        self.encoder.encode(data, out).unwrap();
    }

    fn decode(&mut self, chunk: &[u8], data: &mut [u8]) {
        self.decoder.decode(chunk, data).unwrap();
    }

    fn encode_theirs(&mut self, data: &[u8], room: &mut [u8]) -> usize {
        self.compressing
            .compress(data, &mut room[..data.len() + 32])
    }

    fn decode_theirs(&mut self, chunk: &[u8], data: &mut [u8]) {
        self.decompressing.decompress(chunk, data);
    }
}

fn main() {
    let path =
        std::env::var_os("BLOSC2_LIBRARY").expect("BLOSC2_LIBRARY: a shared library of C-Blosc2");
    let library = Library::open(&path);
    measure::run("C-Blosc2", &COMPRESSORS, |cell| Blosc2::new(&library, cell));
}
