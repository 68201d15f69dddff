//! Tests of C-Blosc's other ways to split blocks. They are separate from the other tests since C-Blosc has one
//! setting per process.
#![allow(unsafe_code, reason = "calls into the C library")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use blosc1::{ChunkDecoder, ChunkHeader, ChunkSettings, Compressor, Filter};

use oracle::{Kind, Random};
use testkit::oracle;

/// `BLOSC_NEVER_SPLIT`, `BLOSC_AUTO_SPLIT` and `BLOSC_FORWARD_COMPAT_SPLIT` of `blosc.h`.
const MODES: [(i32, &str); 3] = [(2, "never"), (3, "auto"), (4, "as before the flag")];

#[test]
fn blocks_are_read_however_they_are_split() {
    let mut random = Random::new(41);
    let mut decoder = ChunkDecoder::new();
    let mut split = [0, 0];
    for (mode, name) in MODES {
        // SAFETY: sets a number; no other thread of this process calls C-Blosc.
        unsafe { blosc_src::blosc_set_splitmode(mode) };
        for compressor in Compressor::ALL {
            for filter in Filter::ALL {
                for typesize in [1, 2, 7, 8, 16, 17] {
                    let settings = ChunkSettings::default()
                        .compressor(compressor)
                        .level(4)
                        .filter(filter)
                        .typesize(typesize);
                    let len = 20_000 + random.below(150_000);
                    let data = Kind::Sparse.data(&mut random, len);
                    let chunk = oracle::compress(&settings, &data, 0);
                    let header = ChunkHeader::parse(chunk.first_chunk().unwrap()).unwrap();
                    split[usize::from(header.is_split())] += 1;
                    let mut out = vec![0; len];
                    decoder.decode(&chunk, &mut out).unwrap();
                    assert!(out == data, "{name}: {settings:?} {len}");
                }
            }
        }
    }
    // Never: 108 unsplit. Auto: blosclz and snappy split up to 16, 30 of 108. As before the flag:
    // all but zstd, 75 of 108.
    assert_eq!(split, [324 - 105, 105]);
}
