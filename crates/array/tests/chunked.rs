//! Slices of arrays in chunks, compared with the elements that they were made of.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    reason = "a test may fail, and its numbers are small"
)]

use blosc1::{Blosc2Encoder, Blosc2Settings, ChunkEncoder, ChunkHeader, ChunkSettings, Compressor};
use bloscpack::Options;
use bloscpack_array::{
    Buffer, ChunkStore, Chunked, Geometry, Loaded, Positions, Region, Resources, Want, lens,
};
use bloscpack_error::{Category, Error, Result};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// A chunk in memory.
enum Stored {
    Fill,
    Data(Vec<u8>),
    Blosc(Vec<u8>),
}

/// Chunks in memory, and how often one was read.
struct Store {
    chunks: Vec<Stored>,
    loads: AtomicU64,
}

/// The element of chunks that are not stored.
const FILL: u16 = 7;

impl ChunkStore for Store {
    fn load(&self, chunk: u64, _: Want<'_>, buffer: &mut Buffer<'_>) -> Result<Loaded> {
        self.loads.fetch_add(1, Ordering::Relaxed);
        let (loaded, bytes) = match &self.chunks[chunk as usize] {
            Stored::Fill => (Loaded::Fill, &FILL.to_le_bytes()[..]),
            Stored::Data(data) => (Loaded::Data, &data[..]),
            Stored::Blosc(bytes) => {
                let header = ChunkHeader::parse(bytes.first_chunk().unwrap())?;
                let is_complete = true;
                let loaded = Loaded::Blosc {
                    header,
                    is_complete,
                };
                (loaded, &bytes[..])
            }
        };
        let to = buffer.vec();
        to.clear();
        to.extend_from_slice(bytes);
        Ok(loaded)
    }

    fn located(&self, _: u64, error: Error) -> Error {
        error
    }
}

/// The order of the elements of a chunk.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Order {
    Clipped,
    Padded,
    Blocks,
}

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }

    fn slice(&mut self, shape: &[u64]) -> Vec<Range<u64>> {
        let range = |len: &u64| {
            let (one, other) = (self.below(len + 1), self.below(len + 1));
            one.min(other)..one.max(other)
        };
        shape.iter().map(range).collect()
    }
}

struct Case {
    array: Chunked<Store>,
    elements: Vec<u16>,
    shape: Vec<u64>,
}

/// The number of a position in C order.
fn number(at: &[u64], shape: &[u64]) -> usize {
    at.iter()
        .zip(shape)
        .fold(0, |number, (at, len)| number * *len as usize + *at as usize)
}

impl Case {
    fn new(order: Order, shape: &[u64], chunk: &[u64], block: &[u64], options: &Options) -> Self {
        let geometry = match order {
            Order::Clipped => Geometry::clipped(shape, chunk, 2),
            Order::Padded => Geometry::padded(shape, chunk, 2),
            Order::Blocks => Geometry::in_blocks(shape, chunk, block, 2),
        };
        let geometry = geometry.unwrap();
        let mut elements = vec![0; shape.iter().product::<u64>() as usize];
        let mut chunks = Vec::new();
        for at in geometry.chunks.positions(&geometry.chunks.whole()) {
            let extent = geometry.chunks.extent(&at);
            let kind = chunks.len() % 5;
            for at in Positions::new(extent.ranges.clone()) {
                let number = number(&at, shape);
                elements[number] = if kind == 0 { FILL } else { (number / 3) as u16 };
            }
            let value = |at: &[u64]| -> u16 {
                let is_inside = extent.iter().zip(at).all(|(range, at)| range.contains(at));
                if is_inside {
                    elements[number(at, shape)]
                } else {
                    0xdead
                }
            };
            let origin = geometry.chunks.origin(&at);
            let mut data = Vec::new();
            let stored = match order {
                Order::Clipped => {
                    Region::from(lens(&extent).iter().map(|len| 0..*len).collect::<Vec<_>>())
                }
                _ => Region::all(geometry.blocks.shape()),
            };
            // Block by block; a chunk in C order is one block.
            let blocks =
                bloscpack_array::Grid::new(stored.shape(), geometry.blocks.chunk_shape().to_vec());
            for block in blocks.positions(&blocks.whole()) {
                for within in Positions::new(blocks.extent(&block).ranges) {
                    let at: Vec<u64> = within
                        .iter()
                        .zip(&origin)
                        .map(|(at, begin)| at + begin)
                        .collect();
                    data.extend_from_slice(&value(&at).to_le_bytes());
                }
            }
            chunks.push(match kind {
                0 => Stored::Fill,
                1 => Stored::Data(data),
                _ => Stored::Blosc(compressed(&data, order, &geometry)),
            });
        }
        let store = Store {
            chunks,
            loads: AtomicU64::new(0),
        };
        Self {
            array: Chunked::new(store, geometry, &Resources::new(options)),
            elements,
            shape: shape.to_vec(),
        }
    }

    fn check(&self, slice: &[Range<u64>], what: &str) {
        let mut expected = Vec::new();
        for at in Positions::new(slice.to_vec()) {
            expected.extend_from_slice(&self.elements[number(&at, &self.shape)].to_le_bytes());
        }
        assert!(
            self.array.read(slice).unwrap() == expected,
            "{what}: {slice:?}"
        );
    }
}

fn compressed(data: &[u8], order: Order, geometry: &Geometry) -> Vec<u8> {
    let mut chunk = Vec::new();
    if order == Order::Blocks {
        let blocksize = u32::try_from(geometry.block_len).unwrap();
        let settings = Blosc2Settings::default()
            .compressor(Compressor::Lz4)
            .typesize(2)
            .blocksize(Some(blocksize));
        Blosc2Encoder::new(settings)
            .unwrap()
            .encode(data, &mut chunk)
            .unwrap();
    } else {
        let settings = ChunkSettings::default().typesize(2).blocksize(Some(64));
        ChunkEncoder::new(settings)
            .unwrap()
            .encode(data, &mut chunk)
            .unwrap();
    }
    chunk
}

/// Options of few and of several threads, without a cache, with one that is too small, and with one for everything.
fn options() -> impl Iterator<Item = (String, Options)> {
    [(1, 0), (1, 2000), (3, 1 << 20), (3, 0)]
        .into_iter()
        .map(|(threads, cache)| {
            let name = format!("{threads} threads, cache of {cache}");
            (name, Options::new().threads(threads).cache(cache))
        })
}

#[test]
fn any_slice_has_the_elements_of_the_array() {
    let mut random = Random(1);
    for (name, options) in options() {
        for order in [Order::Clipped, Order::Padded, Order::Blocks] {
            for _ in 0..20 {
                let axes = random.below(3) + 1;
                let lens = |random: &mut Random, most: u64| -> Vec<u64> {
                    (0..axes).map(|_| random.below(most) + 1).collect()
                };
                let shape = lens(&mut random, 20);
                let mut chunk = lens(&mut random, 9);
                if order == Order::Clipped {
                    // Chunks have whole rows.
                    chunk.truncate(1);
                    chunk.extend(&shape[1..]);
                }
                let block: Vec<u64> = lens(&mut random, 4);
                let block: Vec<u64> = block
                    .iter()
                    .zip(&chunk)
                    .map(|(block, chunk)| *block.min(chunk))
                    .collect();
                let case = Case::new(order, &shape, &chunk, &block, &options);
                let what = format!("{name}, {order:?}, {shape:?} in {chunk:?} in {block:?}");
                case.check(&Region::all(&shape), &what);
                for _ in 0..30 {
                    case.check(&random.slice(&shape), &what);
                }
            }
        }
    }
}

#[test]
fn threads_share_slices_however_they_are_cut() {
    let shape = [600, 600];
    for (name, options) in options() {
        for (order, chunk) in [
            (Order::Clipped, [40, 600]),
            (Order::Clipped, [600, 600]),
            (Order::Padded, [40, 600]),
            // One chunk along the axis that is cut first.
            (Order::Padded, [600, 40]),
            (Order::Padded, [70, 70]),
            (Order::Blocks, [70, 70]),
            (Order::Blocks, [600, 600]),
        ] {
            let case = Case::new(order, &shape, &chunk, &[32, 16], &options);
            let what = format!("{name}, {order:?}, {chunk:?}");
            for slice in [
                [0..600, 0..600],
                [5..599, 3..577],
                [0..600, 7..8],
                [9..10, 0..600],
            ] {
                case.check(&slice, &what);
                case.check(&slice, &what);
            }
        }
    }
}

#[test]
fn chunks_that_are_read_in_part_are_kept() {
    let options = Options::new().threads(1);
    for order in [Order::Clipped, Order::Padded, Order::Blocks] {
        let case = Case::new(order, &[100, 30], &[50, 30], &[10, 10], &options);
        for row in 0..100 {
            case.check(&[row..row + 1, 0..30], "a row");
        }
        let loads = case.array.store().loads.load(Ordering::Relaxed);
        assert_eq!(loads, 2, "{order:?}");
        // A chunk that has changed is read again.
        case.array.forget(0..1);
        case.check(&[0..100, 3..4], "a column");
        assert_eq!(case.array.store().loads.load(Ordering::Relaxed), 3);
    }
}

#[test]
fn a_wrong_slice_is_refused() {
    let case = Case::new(Order::Padded, &[10, 10], &[4, 4], &[], &Options::new());
    let one = 0..1;
    for wrong in [&[0..11, 0..10][..], &[], std::slice::from_ref(&one)] {
        let error = case.array.read(wrong).unwrap_err();
        assert_eq!(error.category(), Category::Usage);
    }
    let error = case
        .array
        .read_into(&[0..1, 0..1], &mut [0; 3])
        .unwrap_err();
    assert_eq!(error.category(), Category::Usage);
}
