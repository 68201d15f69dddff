//! Times chunks with our engine and with C-Blosc 1.21, in one process, on one thread, in turn.
//!
//! `cargo bench --bench chunk [-- WORD..]` runs each kind of data, compressor and filter whose names contain all words, and
//! prints a line of JSON for each run; `just bench-all --only chunk` makes tables of them. `LEVEL=n` changes the level from 5, `ROUNDS=n`
//! the number of rounds from 9. C-Blosc is built with the SIMD that `RUSTFLAGS` allows: use `-C target-feature=+avx2` for a
//! fair comparison of the filters.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench fails by panicking"
)]

use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor};

#[path = "chunk/measure.rs"]
mod measure;
use testkit::oracle;

use measure::{Cell, Engines};
use oracle::{Kind, Random};

/// Our engine, and the C-Blosc calls that take all parameters instead of global state.
struct Blosc1 {
    settings: ChunkSettings,
    encoder: ChunkEncoder,
    decoder: ChunkDecoder,
}

impl Blosc1 {
    fn new(cell: Cell) -> Self {
        let settings = ChunkSettings::default()
            .compressor(cell.compressor)
            .level(cell.level)
            .filter(cell.filter)
            .typesize(cell.typesize);
        Self {
            settings,
            encoder: ChunkEncoder::new(settings).unwrap(),
            decoder: ChunkDecoder::new(),
        }
    }
}

impl Engines for Blosc1 {
    fn encode(&mut self, data: &[u8], out: &mut Vec<u8>) {
        self.encoder.encode(data, out).unwrap();
    }

    fn decode(&mut self, chunk: &[u8], data: &mut [u8]) {
        self.decoder.decode(chunk, data).unwrap();
    }

    fn encode_theirs(&mut self, data: &[u8], room: &mut [u8]) -> usize {
        let len = data.len() + 16;
        oracle::compress_into(&self.settings, data, &mut room[..len])
    }

    fn decode_theirs(&mut self, chunk: &[u8], data: &mut [u8]) {
        oracle::decompress_into(chunk, data);
    }
}

fn main() {
    measure::run("C-Blosc", &Compressor::ALL, Blosc1::new);
}
