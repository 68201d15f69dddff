//! Times Blosc 2 chunks with our engine and with C-Blosc2 2.15, in one process, on one thread, in turn.
//!
//! `cargo bench --features blosc2-rs --bench chunk2 [-- WORD..]` prints and accepts the same as `chunk.rs`.
//! The two cannot be one program, because C-Blosc and C-Blosc2 have functions of the same names. C-Blosc2
//! detects SIMD at run time. Both sides are set up once for a cell, and each reads its own chunks.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench fails by panicking"
)]
#![allow(unsafe_code, reason = "calls into the C library")]

use blosc2_sys as ffi;
use bloscpack::blosc::{Blosc2Encoder, Blosc2Settings, ChunkDecoder, Compressor};

use testkit::oracle as data;
#[path = "chunk/measure.rs"]
mod measure;

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
struct Blosc2 {
    encoder: Blosc2Encoder,
    decoder: ChunkDecoder,
    compressing: *mut ffi::blosc2_context,
    decompressing: *mut ffi::blosc2_context,
}

impl Blosc2 {
    fn new(cell: Cell) -> Self {
        let settings = Blosc2Settings::default()
            .compressor(cell.compressor)
            .level(cell.level)
            .filters(cell.filter.into())
            .typesize(cell.typesize);
        let numbers = COMPRESSORS.into_iter().zip(NUMBERS);
        let number = numbers.into_iter().find(|of| of.0 == cell.compressor);
        // SAFETY: both functions return values and have no preconditions.
        let (mut params, to_decode) = unsafe {
            (
                ffi::blosc2_get_blosc2_cparams_defaults(),
                ffi::blosc2_get_blosc2_dparams_defaults(),
            )
        };
        params.compcode = number.unwrap().1;
        params.clevel = cell.level;
        params.typesize = cell.typesize.into();
        params.filters = settings.filters.ids();
        assert_eq!((params.nthreads, to_decode.nthreads), (1, 1));
        // SAFETY: every field has the value of the library's own defaults or one that it knows, and
        // the pointers are null; the contexts copy what they need.
        let contexts = unsafe {
            [
                ffi::blosc2_create_cctx(params),
                ffi::blosc2_create_dctx(to_decode),
            ]
        };
        assert!(contexts.iter().all(|context| !context.is_null()));
        let [compressing, decompressing] = contexts;
        Self {
            encoder: Blosc2Encoder::new(settings).unwrap(),
            decoder: ChunkDecoder::new(),
            compressing,
            decompressing,
        }
    }
}

impl Drop for Blosc2 {
    fn drop(&mut self) {
        for context in [self.compressing, self.decompressing] {
            // SAFETY: made by the library and not shared.
            unsafe { ffi::blosc2_free_ctx(context) };
        }
    }
}

impl Engines for Blosc2 {
    fn encode(&mut self, data: &[u8], out: &mut Vec<u8>) {
        self.encoder.encode(data, out).unwrap();
    }

    fn decode(&mut self, chunk: &[u8], data: &mut [u8]) {
        self.decoder.decode(chunk, data).unwrap();
    }

    fn encode_theirs(&mut self, data: &[u8], room: &mut [u8]) -> usize {
        let room = &mut room[..data.len() + 32];
        // SAFETY: the context is one for compressing; both pointers are valid for the lengths given
        // with them, and do not overlap; with one filter at most, nothing is written to `data`.
        let len = unsafe {
            ffi::blosc2_compress_ctx(
                self.compressing,
                data.as_ptr().cast(),
                data.len().try_into().unwrap(),
                room.as_mut_ptr().cast(),
                room.len().try_into().unwrap(),
            )
        };
        assert!(len > 0, "C-Blosc2 returned {len}");
        len as usize
    }

    fn decode_theirs(&mut self, chunk: &[u8], data: &mut [u8]) {
        // SAFETY: the context is one for decompressing; both pointers are valid for the lengths given
        // with them, and do not overlap; the chunk was made by C-Blosc2.
        let len = unsafe {
            ffi::blosc2_decompress_ctx(
                self.decompressing,
                chunk.as_ptr().cast(),
                chunk.len().try_into().unwrap(),
                data.as_mut_ptr().cast(),
                data.len().try_into().unwrap(),
            )
        };
        assert_eq!(len.try_into(), Ok(data.len()));
    }
}

fn main() {
    // SAFETY: called once, before any other function of the library.
    unsafe { ffi::blosc2_init() };
    measure::run("C-Blosc2", &COMPRESSORS, Blosc2::new);
}
