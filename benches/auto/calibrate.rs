//! The figures of the cost model: the cost of a stream's byte for each compressor and level, depending on
//! how far the stream shrinks, and the cost of the filters.

use std::hint::black_box;

use bloscpack::blosc::{ChunkDecoder, ChunkEncoder, ChunkSettings, Compressor, Filter};

use super::clock::seconds;
use super::data::{self, Data};

/// Bytes of a stream.
const STREAM: usize = 128 << 10;
/// Bytes that the filters are measured with.
const CHUNK: usize = 1 << 20;
const ROUNDS: usize = 7;
/// Fractions that the model has figures for; it interpolates linearly between them.
const KNOTS: [f64; 8] = [0.005, 0.015, 0.04, 0.1, 0.25, 0.5, 0.75, 1.0];

/// One compressed stream: the fraction that is left, and picoseconds per byte.
#[derive(Clone, Copy)]
struct Point {
    fraction: f64,
    stored: bool,
    constant: bool,
    encode: f64,
    decode: f64,
}

pub fn run(raw: bool) {
    let streams = streams();
    println!("// {} streams", streams.len());
    for compressor in Compressor::ALL {
        for level in 1..=9 {
            let settings = ChunkSettings::default()
                .compressor(compressor)
                .level(level)
                .filter(Filter::None)
                .typesize(1)
                .blocksize(Some(STREAM as u32));
            let points: Vec<_> = streams.iter().map(|s| point(settings, &s.1)).collect();
            if raw {
                for (point, stream) in points.iter().zip(&streams) {
                    println!(
                        "{compressor}\t{level}\t{}\t{:.4}\t{}\t{:.0}\t{:.0}",
                        stream.0, point.fraction, point.stored, point.encode, point.decode
                    );
                }
            } else {
                row(compressor, level, &points);
            }
        }
    }
    filters();
}

/// A row of the table: picoseconds per byte of constant streams, at each knot, and of streams that are
/// stored.
fn row(compressor: Compressor, level: u8, points: &[Point]) {
    let line = |of: fn(&Point) -> f64| {
        let of_all = |kind: fn(&&Point) -> bool| {
            let points = points.iter().filter(kind);
            points.map(|point| (point.fraction, of(point))).collect()
        };
        let shrunk: Vec<_> = of_all(|point| !point.stored && !point.constant);
        let costs = |points: Vec<(f64, f64)>| points.into_iter().map(|point| point.1).collect();
        let mut figures = vec![median(costs(of_all(|point| point.constant)))];
        figures.extend(KNOTS.iter().map(|knot| at(*knot, &shrunk)));
        figures.push(median(costs(of_all(|point| point.stored))));
        let figures: Vec<_> = figures.iter().map(|f| format!("{f:.0}")).collect();
        figures.join(", ")
    };
    println!(
        "    line(Compressor::{compressor:?}, {level}, [{}], [{}]),",
        line(|point| point.encode),
        line(|point| point.decode)
    );
}

/// The mean cost near a fraction; nearer points count more.
fn at(fraction: f64, points: &[(f64, f64)]) -> f64 {
    let width = 0.004 + fraction * 0.12;
    let weigh = |x: f64| (-((x - fraction) / width).powi(2) / 2.0).exp() + 1e-9;
    let (mut sum, mut weights) = (0.0, 0.0);
    for (x, cost) in points {
        sum += weigh(*x) * cost;
        weights += weigh(*x);
    }
    sum / weights
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

fn point(settings: ChunkSettings, stream: &[u8]) -> Point {
    let (encode, decode, len) = time(settings, stream);
    let each = stream.len() as f64 / 1e12;
    Point {
        fraction: len as f64 / stream.len() as f64,
        stored: len >= stream.len(),
        constant: stream.iter().all(|byte| *byte == stream[0]),
        encode: encode / each,
        decode: decode / each,
    }
}

/// Best seconds to encode and to decode, and the compressed length.
fn time(settings: ChunkSettings, data: &[u8]) -> (f64, f64, usize) {
    let (mut encoder, mut decoder) = (ChunkEncoder::new(settings).unwrap(), ChunkDecoder::new());
    let mut chunk = Vec::with_capacity(data.len() + 16);
    let mut back = vec![0; data.len()];
    let (mut encode, mut decode) = (f64::MAX, f64::MAX);
    for _ in 0..ROUNDS {
        chunk.clear();
        let start = seconds();
        encoder.encode(black_box(data), &mut chunk).unwrap();
        encode = encode.min(seconds() - start);
        let start = seconds();
        decoder.decode(black_box(&chunk), &mut back).unwrap();
        decode = decode.min(seconds() - start);
    }
    (encode, decode, chunk.len())
}

/// The streams of all data, plain and filtered.
fn streams() -> Vec<(String, Vec<u8>)> {
    let mut streams = Vec::new();
    for Data {
        name,
        typesize,
        bytes,
    } in data::for_calibration(8 * STREAM)
    {
        let typesize = usize::from(typesize);
        streams.push((name.to_owned(), bytes[..STREAM].to_vec()));
        for rank in 0..typesize {
            let plane: Vec<u8> = bytes.iter().skip(rank).step_by(typesize).copied().collect();
            let plane = &plane[..STREAM];
            if typesize > 1 {
                streams.push((format!("{name} byte {rank}"), plane.to_vec()));
            }
            // In narrow bytes, bit planes are either noise or zeros.
            if name != data::NARROW {
                streams.push((format!("{name} bit {rank}"), bits(plane)));
            }
        }
    }
    streams
}

/// Groups the bits of equal rank.
fn bits(plane: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(plane.len());
    for rank in 0..8 {
        for bytes in plane.chunks(8) {
            let bit = |(at, byte): (usize, &u8)| (byte >> rank & 1) << at;
            out.push(bytes.iter().enumerate().map(bit).sum());
        }
    }
    out
}

/// The cost of the filters: chunks of zeros with and without them.
fn filters() {
    let data = vec![0; CHUNK];
    for typesize in [1, 2, 3, 4, 5, 6, 8, 12, 16, 20, 24, 32] {
        let costs = [Filter::None, Filter::Byte, Filter::Bit].map(|filter| {
            let settings = ChunkSettings::default()
                .compressor(Compressor::Lz4)
                .level(1)
                .filter(filter)
                .typesize(typesize)
                .blocksize(Some(128 << 10));
            let (encode, decode, _) = time(settings, &data);
            let each = CHUNK as f64 / 1e12;
            (encode / each, decode / each)
        });
        let [none, byte, bit] = costs;
        println!(
            "// typesize {typesize}: byte {:.0} and {:.0}, bit {:.0} and {:.0}",
            byte.0 - none.0,
            byte.1 - none.1,
            bit.0 - none.0,
            bit.1 - none.1
        );
    }
}
