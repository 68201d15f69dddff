//! Measures two chunk engines in turn, in every cell of compressor, filter and data.

use std::hint::black_box;

use bloscpack::blosc::{Compressor, Filter};

use crate::{Kind, Random};

#[path = "../clock/mod.rs"]
mod clock;

const CHUNK: usize = 1 << 20;
const CHUNKS: usize = 4;
const WORKS: [&str; 2] = ["encode", "decode"];

const KINDS: [Kind; 5] = [
    Kind::Walk,
    Kind::Ramp,
    Kind::Sensor,
    Kind::Text,
    Kind::Noise,
];

/// The settings of a cell.
#[derive(Clone, Copy)]
pub struct Cell {
    pub compressor: Compressor,
    pub filter: Filter,
    pub typesize: u8,
    pub level: u8,
}

/// Our engine and a peer, set up for a cell.
pub trait Engines {
    /// Appends `data` to `out` as one chunk.
    fn encode(&mut self, data: &[u8], out: &mut Vec<u8>);
    fn decode(&mut self, chunk: &[u8], data: &mut [u8]);
    /// Writes `data` to the beginning of `room` as one chunk and returns its length.
    fn encode_theirs(&mut self, data: &[u8], room: &mut [u8]) -> usize;
    fn decode_theirs(&mut self, chunk: &[u8], data: &mut [u8]);
}

/// Encodes and decodes with both.
fn measure(works: &[String; 2], peer: &str, engines: &mut dyn Engines, data: &[u8]) {
    let mut room = vec![0; CHUNK + 64];
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for part in data.chunks(CHUNK) {
        let mut out = Vec::new();
        engines.encode(part, &mut out);
        // Both are copied, so that they are in the same kind of memory.
        ours.push(out.clone());
        let len = engines.encode_theirs(part, &mut room);
        theirs.push(room[..len].to_vec());
    }
    let size = |of: &[Vec<u8>]| of.iter().map(Vec::len).sum::<usize>();
    let sizes = format!(
        r#", "raw": {}, "sizes": [{}, {}]"#,
        data.len(),
        size(&ours),
        size(&theirs)
    );
    let programs = ["ours", peer];

    let mut out = Vec::new();
    clock::in_turn(&works[0], &programs, &sizes, &mut |at| {
        for part in data.chunks(CHUNK) {
            if at == 0 {
                out.clear();
                engines.encode(part, &mut out);
                black_box(&out);
            } else {
                engines.encode_theirs(part, &mut room);
                black_box(&room);
            }
        }
    });

    // One buffer for both, because the speed of a copy depends on where the memory is.
    let mut decoded = data.to_vec();
    let mut is_same = true;
    for (our, (their, part)) in ours.iter().zip(theirs.iter().zip(data.chunks(CHUNK))) {
        let room = &mut decoded[..part.len()];
        engines.decode(our, room);
        is_same &= room == part;
        room.fill(0xA5);
        engines.decode_theirs(their, room);
        is_same &= room == part;
    }
    assert!(is_same);
    clock::in_turn(&works[1], &programs, &sizes, &mut |at| {
        let chunks = if at == 0 { &ours } else { &theirs };
        for (chunk, part) in chunks.iter().zip(decoded.chunks_mut(CHUNK)) {
            if at == 0 {
                engines.decode(chunk, part);
            } else {
                engines.decode_theirs(chunk, part);
            }
        }
        black_box(&decoded);
    });
}

/// Measures all cells whose names contain all words of the command line. The environment variable `LEVEL` changes the level
/// from 5.
pub fn run<E: Engines>(peer: &str, compressors: &[Compressor], engines: impl Fn(Cell) -> E) {
    let level = std::env::var("LEVEL").map_or(5, |level| level.parse().unwrap());
    for kind in KINDS {
        let data = kind.data(&mut Random::new(31), CHUNK * CHUNKS);
        for &compressor in compressors {
            for filter in Filter::ALL {
                let name = format!("{kind:?} {compressor} {filter}");
                let works = WORKS.map(|work| format!("{name} {work}"));
                if works.iter().any(|work| clock::is_wanted(work)) {
                    let cell = Cell {
                        compressor,
                        filter,
                        typesize: kind.typesize(),
                        level,
                    };
                    measure(&works, peer, &mut engines(cell), &data);
                }
            }
        }
    }
}
