//! Compresses arrays with bytedelta beside the other filters of Blosc 2, and with pco, and prints a table.
//!
//!     benches/filters/arrays.py FOLDER
//!     cargo run --release --manifest-path benches/filters/Cargo.toml -- FOLDER
//!
//! The chunks are those of a `b2nd` array: 4 MiB, Zstandard at level 5. pco is at level 8, its default. Sizes are shares of the raw
//! data; speeds are in MB of raw data per second of processor time on one thread, medians of five rounds in turn.

use std::env;
use std::fs;
use std::path::PathBuf;

use blosc1::{Blosc2Encoder, Blosc2Settings, ChunkDecoder, Compressor, FilterPipeline, FilterStep};
use pco::ChunkConfig;
use pco::standalone::{simple_compress, simple_decompress};

#[path = "../../clock/mod.rs"]
mod clock;

const CHUNK: usize = 4 << 20;
const ROUNDS: usize = 5;
const PCO_LEVEL: usize = 8;

/// The elements of a `.npy` file.
struct Array {
    name: String,
    code: String,
    itemsize: u8,
    data: Vec<u8>,
}

impl Array {
    fn read(path: &PathBuf) -> Self {
        let bytes = fs::read(path).expect("a file");
        let header_len = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let header = String::from_utf8_lossy(&bytes[10..10 + header_len]).into_owned();
        let code = header
            .split('\'')
            .nth(3)
            .expect("a dtype")
            .trim_start_matches(['<', '|'])
            .to_owned();
        Self {
            name: path
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .replace('_', " "),
            itemsize: code[1..].parse().expect("a plain dtype"),
            code,
            data: bytes[10 + header_len..].to_vec(),
        }
    }
}

/// One way to compress an array: its compressed pieces, and back.
type Encode<'a> = Box<dyn FnMut() -> Vec<Vec<u8>> + 'a>;
type Decode<'a> = Box<dyn FnMut(&[Vec<u8>]) -> Vec<u8> + 'a>;

fn blosc<'a>(array: &'a Array, steps: &[FilterStep]) -> (Encode<'a>, Decode<'a>) {
    let settings = Blosc2Settings::default()
        .compressor(Compressor::Zstd)
        .level(5)
        .typesize(array.itemsize)
        .filters(FilterPipeline::new(steps).expect("two filters"));
    let mut encoder = Blosc2Encoder::new(settings).expect("sound settings");
    let mut decoder = ChunkDecoder::new();
    let encode = move || {
        let chunks = array.data.chunks(CHUNK).map(|data| {
            let mut chunk = Vec::new();
            encoder.encode(data, &mut chunk).expect("a chunk");
            chunk
        });
        chunks.collect()
    };
    let decode = move |chunks: &[Vec<u8>]| {
        let data = chunks
            .iter()
            .flat_map(|chunk| decoder.decode_to_vec(chunk).expect("a chunk"));
        data.collect()
    };
    (Box::new(encode), Box::new(decode))
}

macro_rules! pco_of {
    ($type:ty, $array:expr) => {{
        let size = size_of::<$type>();
        let of_bytes = |bytes: &[u8]| <$type>::from_le_bytes(bytes.try_into().expect("an element"));
        let numbers: Vec<$type> = $array.data.chunks_exact(size).map(of_bytes).collect();
        let config = ChunkConfig::default().with_compression_level(PCO_LEVEL);
        let encode = move || {
            let pieces = numbers.chunks(CHUNK / size);
            pieces
                .map(|numbers| simple_compress(numbers, &config).expect("numbers"))
                .collect()
        };
        let decode = |pieces: &[Vec<u8>]| {
            let numbers = pieces
                .iter()
                .flat_map(|piece| simple_decompress::<$type>(piece).expect("a piece"));
            numbers.flat_map(<$type>::to_le_bytes).collect()
        };
        (
            Box::new(encode) as Encode<'_>,
            Box::new(decode) as Decode<'_>,
        )
    }};
}

fn pco(array: &Array) -> (Encode<'_>, Decode<'_>) {
    match array.code.as_str() {
        "f8" => pco_of!(f64, array),
        "f4" => pco_of!(f32, array),
        "i2" => pco_of!(i16, array),
        "i4" => pco_of!(i32, array),
        other => panic!("{}: {other}", array.name),
    }
}

/// Size in percent, and the two speeds.
fn measured(array: &Array, ways: Vec<(Encode<'_>, Decode<'_>)>) -> Vec<String> {
    let mut ways: Vec<_> = ways
        .into_iter()
        .map(|way| (way, Vec::new(), [Vec::new(), Vec::new()]))
        .collect();
    for _ in 0..ROUNDS {
        for ((encode, decode), pieces, times) in &mut ways {
            let start = clock::seconds();
            *pieces = encode();
            times[0].push(clock::seconds() - start);
            let start = clock::seconds();
            let data = decode(pieces);
            times[1].push(clock::seconds() - start);
            assert!(data == array.data, "{}: other data", array.name);
        }
    }
    let cells = ways.into_iter().map(|(_, pieces, times)| {
        let len: usize = pieces.iter().map(Vec::len).sum();
        let [encode, decode] = times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            array.data.len() as f64 / times[ROUNDS / 2] / 1e6
        });
        format!(
            "{:.1} % ({encode:.0}, {decode:.0})",
            len as f64 * 100.0 / array.data.len() as f64
        )
    });
    cells.collect()
}

fn main() {
    use FilterStep::{Bitshuffle, Shuffle};
    let folder = env::args_os().nth(1).expect("a folder of .npy files");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    println!(
        "| array | | MB | shuffle | bitshuffle | shuffle, bytedelta | bitshuffle, bytedelta | pco |"
    );
    println!("|---|---|--:|--:|--:|--:|--:|--:|");
    for file in files {
        let array = Array::read(&file);
        let bytedelta = FilterStep::Bytedelta {
            streams: array.itemsize,
        };
        let ways = vec![
            blosc(&array, &[Shuffle]),
            blosc(&array, &[Bitshuffle]),
            blosc(&array, &[Shuffle, bytedelta]),
            blosc(&array, &[Bitshuffle, bytedelta]),
            pco(&array),
        ];
        let cells = measured(&array, ways);
        println!(
            "| {} | {} | {:.1} | {} |",
            array.name,
            array.code,
            array.data.len() as f64 / 1e6,
            cells.join(" | ")
        );
    }
}
