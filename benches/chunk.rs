//! Chunks by our engine and by C-Blosc 1.21, in one process, on one thread, in turn.
//!
//! `cargo bench --bench chunk [-- WORD..]` prints, for each kind of data, compressor and filter
//! whose names contain all words, MB/s of both and the median ratio of paired rounds (above 1:
//! ours is faster), then geometric means. `LEVEL=n` changes the level from 5, `ROUNDS=n` the
//! number of rounds from 9. C-Blosc is built with the SIMD that `RUSTFLAGS` allows: give
//! `-C target-feature=+avx2` for a fair comparison of the filters.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a bench fails by panicking"
)]

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter};

#[path = "../tests/oracle/mod.rs"]
mod oracle;
use oracle::{Kind, Random};

const CHUNK: usize = 1 << 20;
const CHUNKS: usize = 4;
/// A measured stretch is repeated until it takes at least this long.
const STRETCH: Duration = Duration::from_millis(4);

const KINDS: [Kind; 5] = [
    Kind::Walk,
    Kind::Ramp,
    Kind::Sensor,
    Kind::Text,
    Kind::Noise,
];

/// Seconds for one run of `work`, repeated `times` times.
fn seconds(times: u32, work: &mut dyn FnMut()) -> f64 {
    let start = Instant::now();
    for _ in 0..times {
        work();
    }
    start.elapsed().as_secs_f64() / f64::from(times)
}

/// Median seconds of both and median of the rounds' ratios theirs / ours.
fn compare(rounds: usize, ours: &mut dyn FnMut(), theirs: &mut dyn FnMut()) -> [f64; 3] {
    ours();
    let once = seconds(1, theirs).max(1e-7);
    let times = (STRETCH.as_secs_f64() / once).ceil().clamp(1.0, 1e6) as u32;
    let mut rows = [vec![], vec![], vec![]];
    for round in 0..rounds {
        // Who goes first alternates, so that neither always finds the caches warm.
        let (our, their) = if round % 2 == 0 {
            let our = seconds(times, ours);
            (our, seconds(times, theirs))
        } else {
            let their = seconds(times, theirs);
            (seconds(times, ours), their)
        };
        rows[0].push(our);
        rows[1].push(their);
        rows[2].push(their / our);
    }
    rows.map(|mut row| {
        row.sort_by(f64::total_cmp);
        row[row.len() / 2]
    })
}

/// One line of the table: encode and decode.
fn case(settings: ChunkSettings, data: &[u8], rounds: usize) -> [[f64; 3]; 3] {
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    let mut decoder = ChunkDecoder::new();
    let chunks = || data.chunks(CHUNK);
    let ours: Vec<Vec<u8>> = chunks()
        .map(|chunk| {
            let mut out = Vec::new();
            encoder.encode(chunk, &mut out).unwrap();
            out
        })
        .collect();
    let theirs: Vec<Vec<u8>> = chunks()
        .map(|chunk| oracle::compress(&settings, chunk, 0))
        .collect();
    let size = |of: &[Vec<u8>]| of.iter().map(Vec::len).sum::<usize>() as f64;
    let sizes = [size(&ours), size(&theirs), size(&ours) / size(&theirs)];

    let mut out = Vec::new();
    let mut room = vec![0; CHUNK + 16];
    let encode = compare(
        rounds,
        &mut || {
            for chunk in chunks() {
                out.clear();
                encoder.encode(chunk, &mut out).unwrap();
                black_box(&out);
            }
        },
        &mut || {
            for chunk in chunks() {
                oracle::compress_into(&settings, chunk, &mut room);
                black_box(&room);
            }
        },
    );

    let (mut our_data, mut their_data) = (data.to_vec(), data.to_vec());
    let decode = compare(
        rounds,
        &mut || {
            for (chunk, data) in ours.iter().zip(our_data.chunks_mut(CHUNK)) {
                decoder.decode(chunk, data).unwrap();
            }
            black_box(&our_data);
        },
        &mut || {
            for (chunk, data) in theirs.iter().zip(their_data.chunks_mut(CHUNK)) {
                oracle::decompress_into(chunk, data);
            }
            black_box(&their_data);
        },
    );
    assert!(our_data == data && their_data == data);
    [encode, decode, sizes]
}

/// Ratios under a name, for their geometric mean.
type Means = BTreeMap<String, Vec<f64>>;

fn note(means: &mut Means, name: String, ratio: f64) {
    means.entry(name).or_default().push(ratio.ln());
}

fn main() {
    let number = |name: &str, default: u8| {
        std::env::var(name).map_or(default, |value| value.parse().unwrap())
    };
    let (level, rounds) = (number("LEVEL", 5), usize::from(number("ROUNDS", 9)));
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    let mut means = Means::new();
    println!("level {level}, {CHUNKS} chunks of {CHUNK} bytes; MB/s ours / C-Blosc, ratio");
    for kind in KINDS {
        let data = kind.data(&mut Random::new(31), CHUNK * CHUNKS);
        for compressor in Compressor::ALL {
            for filter in Filter::ALL {
                let name = format!("{kind:?} {compressor} {filter}");
                if !words.iter().all(|word| name.contains(word.as_str())) {
                    continue;
                }
                let settings = ChunkSettings {
                    compressor,
                    level,
                    filter,
                    typesize: kind.typesize(),
                    blocksize: None,
                };
                let [encode, decode, size] = case(settings, &data, rounds);
                let speed = |seconds: f64| data.len() as f64 / seconds / 1e6;
                println!(
                    "{name:22} encode {:6.0} / {:6.0} {:5.2}   decode {:6.0} / {:6.0} {:5.2}   \
                     size {:8.0} / {:8.0} {:5.3}",
                    speed(encode[0]),
                    speed(encode[1]),
                    encode[2],
                    speed(decode[0]),
                    speed(decode[1]),
                    decode[2],
                    size[0],
                    size[1],
                    size[2],
                );
                for (what, ratio) in [("encode", encode[2]), ("decode", decode[2])] {
                    note(&mut means, format!("{what} {compressor}"), ratio);
                    note(&mut means, format!("{what} {filter}"), ratio);
                    note(&mut means, format!("{what} all"), ratio);
                }
            }
        }
    }
    println!("geometric means of the ratios");
    for (name, logs) in means {
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        println!("{name:16} {:.3}  ({} cases)", mean.exp(), logs.len());
    }
}
