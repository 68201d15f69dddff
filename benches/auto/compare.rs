//! Compares the cost of the automatic settings with that of the best fixed ones.

use bloscpack::blosc::{
    Aim, ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter, Tuned, Tuner,
};

use super::clock::seconds;
use super::data::{self, Data};

const CHUNK: usize = 1 << 20;
const CHUNKS: usize = 4;
/// Runs longer than this many seconds are not repeated.
const LONG: f64 = 0.2;
const THREADS: f64 = 2.0;

/// Measured settings: seconds and compressed bytes per byte of data.
#[derive(Clone, Copy)]
struct Run {
    settings: ChunkSettings,
    encode: f64,
    decode: f64,
    size: f64,
}

impl Run {
    /// The quantity that the aim minimizes, by its formula: seconds per gigabyte, or compressed bytes per byte.
    fn score(&self, aim: Aim) -> f64 {
        let disk = match aim {
            Aim::Speed => 1e9,
            Aim::Balance => 0.2e9,
            Aim::Size => return self.size,
        };
        1e9 * ((self.encode + self.decode) / THREADS + 2.0 * self.size / disk)
    }
}

pub fn run() {
    println!(
        "| data | aim | auto | its ratio | its score | best fixed | its ratio | its score | auto / best | tuning |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|");
    let wanted = std::env::var("DATA").unwrap_or_default();
    let all = data::all(CHUNK * CHUNKS).into_iter();
    for data in all.filter(|data| data.name.contains(&wanted)) {
        let tuned = Aim::ALL.map(|aim| tune(aim, &data.bytes));
        let mut grid: Vec<_> = grid(data.typesize).map(|one| measure(one, &data)).collect();
        for (tuned, _) in &tuned {
            if !grid.iter().any(|run| run.settings == *tuned.settings()) {
                grid.push(measure(*tuned.settings(), &data));
            }
        }
        for (tuned, took) in &tuned {
            print(&data, tuned, *took, &grid);
        }
    }
}

fn print(data: &Data, tuned: &Tuned, took: f64, grid: &[Run]) {
    let aim = tuned.aim();
    let auto = grid
        .iter()
        .find(|run| run.settings == *tuned.settings())
        .unwrap();
    let by_score = |a: &&Run, b: &&Run| a.score(aim).total_cmp(&b.score(aim));
    let best = grid.iter().min_by(by_score).unwrap();
    println!(
        "| {} | {aim} | {} | {:.2} | {:.3} | {} | {:.2} | {:.3} | {:.3} | {:.0} ms |",
        data.name,
        words(&auto.settings),
        1.0 / auto.size,
        auto.score(aim),
        words(&best.settings),
        1.0 / best.size,
        best.score(aim),
        auto.score(aim) / best.score(aim),
        took * 1e3,
    );
    if std::env::args().any(|arg| arg == "reckoned") {
        for trial in tuned.trials() {
            let Some(run) = grid.iter().find(|run| run.settings == *trial.settings()) else {
                continue;
            };
            println!(
                "    {}: ratio {:.2} ({:.2}) encode {:.0} ({:.0}) decode {:.0} ({:.0}) score {:.3} ({:.3})",
                words(trial.settings()),
                trial.ratio(),
                1.0 / run.size,
                trial.encode_speed(),
                1e-6 / run.encode,
                trial.decode_speed(),
                1e-6 / run.decode,
                trial.score(aim),
                run.score(aim),
            );
        }
    }
}

fn words(settings: &ChunkSettings) -> String {
    let ChunkSettings {
        compressor,
        level,
        filter,
        typesize,
        ..
    } = settings;
    format!("{compressor} {level} {filter} {typesize}")
}

/// The automatic choice, and the seconds it took.
fn tune(aim: Aim, data: &[u8]) -> (Tuned, f64) {
    let start = seconds();
    let tuned = Tuner::new(aim).tune(data).unwrap();
    (tuned, seconds() - start)
}

/// Every compressor, level and filter, with the true typesize, with 1 and with the default.
fn grid(typesize: u8) -> impl Iterator<Item = ChunkSettings> {
    let mut typesizes = vec![1, typesize, ChunkSettings::default().typesize];
    typesizes.sort_unstable();
    typesizes.dedup();
    let levels = Compressor::ALL
        .into_iter()
        .flat_map(|compressor| (1..=9).map(move |level| (compressor, level)));
    let stored = (Compressor::Lz4, 0);
    levels.chain([stored]).flat_map(move |(compressor, level)| {
        let typesizes = typesizes.clone().into_iter();
        typesizes.flat_map(move |typesize| {
            Filter::ALL.into_iter().map(move |filter| {
                ChunkSettings::default()
                    .compressor(compressor)
                    .level(level)
                    .filter(filter)
                    .typesize(typesize)
            })
        })
    })
}

fn measure(settings: ChunkSettings, data: &Data) -> Run {
    let (mut encoder, mut decoder) = (ChunkEncoder::new(settings).unwrap(), ChunkDecoder::new());
    let mut chunks = vec![Vec::new(); CHUNKS];
    let mut back = vec![0; CHUNK];
    let (mut encode, mut decode) = (f64::MAX, f64::MAX);
    let rounds = std::env::var("ROUNDS").map_or(7, |rounds| rounds.parse().unwrap());
    for _ in 0..rounds {
        let start = seconds();
        for (chunk, data) in chunks.iter_mut().zip(data.bytes.chunks(CHUNK)) {
            chunk.clear();
            encoder.encode(data, chunk).unwrap();
        }
        let took = seconds() - start;
        encode = encode.min(took);
        let start = seconds();
        for chunk in &chunks {
            decoder.decode(chunk, &mut back).unwrap();
        }
        decode = decode.min(seconds() - start);
        if took > LONG {
            break;
        }
    }
    let each = data.bytes.len() as f64;
    Run {
        settings,
        encode: encode / each,
        decode: decode / each,
        size: chunks.iter().map(Vec::len).sum::<usize>() as f64 / each,
    }
}
