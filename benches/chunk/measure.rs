//! Measures two chunk engines in turn, in every cell of compressor, filter and data.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Duration;

use bloscpack::blosc::{Compressor, Filter};

use crate::{Kind, Random};

#[path = "../auto/clock.rs"]
mod clock;

const CHUNK: usize = 1 << 20;
const CHUNKS: usize = 4;
/// Work is repeated until a measurement takes at least this long.
const STRETCH: Duration = Duration::from_millis(4);

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

/// Whether both sides call the same C library, so that only the code around it is compared.
fn is_shared(compressor: Compressor) -> bool {
    matches!(
        compressor,
        Compressor::Lz4 | Compressor::Lz4hc | Compressor::Zstd
    )
}

/// Seconds for one run of `work`, repeated `times` times.
fn seconds(times: u32, work: &mut dyn FnMut()) -> f64 {
    let start = clock::seconds();
    for _ in 0..times {
        work();
    }
    (clock::seconds() - start) / f64::from(times)
}

/// Median seconds of both, and the median of the rounds' ratios theirs / ours. The argument of `run`
/// says whether it is our turn.
fn compare(rounds: usize, run: &mut dyn FnMut(bool)) -> [f64; 3] {
    run(true);
    let once = seconds(1, &mut || run(false)).max(1e-7);
    let times = (STRETCH.as_secs_f64() / once).ceil().clamp(1.0, 1e6) as u32;
    let mut rows = [vec![], vec![], vec![]];
    for round in 0..rounds {
        // The order alternates, so that neither always finds warm caches.
        let first = round % 2 == 0;
        let one = seconds(times, &mut || run(first));
        let other = seconds(times, &mut || run(!first));
        let (our, their) = if first { (one, other) } else { (other, one) };
        rows[0].push(our);
        rows[1].push(their);
        rows[2].push(their / our);
    }
    rows.map(|mut row| {
        row.sort_by(f64::total_cmp);
        row[row.len() / 2]
    })
}

/// One row of the table: encode, decode and sizes.
fn measure(engines: &mut dyn Engines, data: &[u8], rounds: usize) -> [[f64; 3]; 3] {
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
    let size = |of: &[Vec<u8>]| of.iter().map(Vec::len).sum::<usize>() as f64;
    let sizes = [size(&ours), size(&theirs), size(&ours) / size(&theirs)];

    let mut out = Vec::new();
    let encode = compare(rounds, &mut |is_ours| {
        for part in data.chunks(CHUNK) {
            if is_ours {
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
    let decode = compare(rounds, &mut |is_ours| {
        let chunks = if is_ours { &ours } else { &theirs };
        for (chunk, part) in chunks.iter().zip(decoded.chunks_mut(CHUNK)) {
            if is_ours {
                engines.decode(chunk, part);
            } else {
                engines.decode_theirs(chunk, part);
            }
        }
        black_box(&decoded);
    });
    [encode, decode, sizes]
}

/// Logarithms of ratios by name, for their geometric mean.
type Means = BTreeMap<String, Vec<f64>>;

/// Summary of the ratios of all cells.
struct Summary {
    means: Means,
    /// The lowest ratios, with the names of their cells.
    least: BTreeMap<&'static str, (f64, String)>,
    largest_size: (f64, String),
    /// Cells that are not counted, because only one side compresses there.
    one_sided: Vec<String>,
}

impl Summary {
    fn note(&mut self, cell: &Cell, name: &str, [encode, decode, size]: [f64; 3]) {
        let Cell {
            compressor, filter, ..
        } = cell;
        let set = if is_shared(*compressor) {
            "shared libraries"
        } else {
            "own code"
        };
        for (what, ratio) in [("encode", encode), ("decode", decode)] {
            let names = ["all", set, compressor.name(), filter.name()];
            for of in names {
                let logs = self.means.entry(format!("{what} {of}")).or_default();
                logs.push(ratio.ln());
            }
            let least = self.least.entry(what).or_insert((f64::MAX, String::new()));
            if ratio < least.0 {
                *least = (ratio, name.to_string());
            }
        }
        if size > self.largest_size.0 {
            self.largest_size = (size, name.to_string());
        }
    }

    fn mean(&self, name: &str) -> Option<f64> {
        let logs = self.means.get(name)?;
        Some((logs.iter().sum::<f64>() / logs.len() as f64).exp())
    }

    fn print(&self) {
        println!("\ngeometric means of the ratios");
        for (name, logs) in &self.means {
            let mean = self.mean(name).unwrap_or(f64::NAN);
            println!("{name:27} {mean:.3}  ({} cells)", logs.len());
        }
        println!(
            "shared libraries: lz4, lz4hc and zstd, for which both sides call the same C library; \
             own code: the others"
        );
        if !self.one_sided.is_empty() {
            let names = self.one_sided.join(", ");
            println!("not counted, because only one side compresses: {names}");
        }
        println!("\ntargets");
        for (what, aim, floor) in [("decode", 1.25, 0.85), ("encode", 1.1, 0.8)] {
            if let Some(mean) = self.mean(&format!("{what} own code")) {
                let says = verdict(mean >= aim);
                println!("{what}, own code, mean at least {aim}: {mean:.3}, {says}");
            }
            if let Some((least, name)) = self.least.get(what) {
                let says = verdict(*least >= floor);
                println!("{what}, no cell below {floor}: {least:.3} ({name}), {says}");
            }
        }
        let (largest, name) = &self.largest_size;
        let says = verdict(*largest <= 1.02);
        println!("size at most 1.02 times: {largest:.3} ({name}), {says}");
    }
}

fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "NOT MET" }
}

/// A number from the environment.
fn number(name: &str, default: u8) -> u8 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

/// Measures and prints all cells whose names contain all words of the command line.
pub fn run<E: Engines>(peer: &str, compressors: &[Compressor], engines: impl Fn(Cell) -> E) {
    let (level, rounds) = (number("LEVEL", 5), usize::from(number("ROUNDS", 9)));
    let arguments = std::env::args().skip(1);
    let words: Vec<String> = arguments.filter(|word| !word.starts_with('-')).collect();
    let mut summary = Summary {
        means: Means::new(),
        least: BTreeMap::new(),
        largest_size: (0.0, String::new()),
        one_sided: Vec::new(),
    };
    println!("level {level}, {CHUNKS} chunks of {CHUNK} bytes; MB/s ours / {peer}, ratio");
    for kind in KINDS {
        let data = kind.data(&mut Random::new(31), CHUNK * CHUNKS);
        for &compressor in compressors {
            for filter in Filter::ALL {
                let name = format!("{kind:?} {compressor} {filter}");
                if !words.iter().all(|word| name.contains(word.as_str())) {
                    continue;
                }
                let cell = Cell {
                    compressor,
                    filter,
                    typesize: kind.typesize(),
                    level,
                };
                let rows = measure(&mut engines(cell), &data, rounds);
                print(&name, data.len(), &rows);
                // Storing a chunk takes a fraction of the time on either side.
                let is_stored = |size: f64| size >= data.len() as f64;
                if is_stored(rows[2][0]) == is_stored(rows[2][1]) {
                    summary.note(&cell, &name, rows.map(|row| row[2]));
                } else {
                    summary.one_sided.push(name);
                }
            }
        }
    }
    summary.print();
}

fn print(name: &str, len: usize, [encode, decode, size]: &[[f64; 3]; 3]) {
    let speed = |seconds: f64| len as f64 / seconds / 1e6;
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
}
