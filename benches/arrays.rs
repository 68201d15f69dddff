//! Times arrays, columns and tables against caterva, python-blosc2 and bcolz: a server of tasks, so that `benches/arrays.py` can
//! run each task with all programs in turn.
//!
//! `arrays FOLDER` reads lines `TASK FILE THREADS CODEC SHAPES` and answers each with the cost of the task and the sum of all
//! values read, as 64-bit words. The folder contains `values.f64`, the float64 values that all programs use; arrays take the
//! first of them, in [`SHAPE`].
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init,
    reason = "a benchmark"
)]

use bloscpack::Options;
use bloscpack_open::datasets::{CArray, CTable, Dataset};
use bloscpack_open::frames::NdArray;
use clock::Took;
use std::io::{BufRead, stdin};
use std::ops::Range;
use std::path::Path;

mod clock;

const SHAPE: [u64; 3] = [300, 300, 278];
const CHUNK: [u32; 3] = [75, 75, 70];
const BLOCK: [u32; 3] = [25, 25, 24];
/// Planes that are read along an axis.
const PLANES: usize = 20;
/// Boxes that are read, and their length along each axis.
const BOXES: usize = 1000;
const BOX: u64 = 10;
/// Columns of the table.
const COLUMNS: usize = 16;

/// Random positions, the same for all programs.
struct Places(u64);

impl Places {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// The slices that a task reads; none if the task writes.
fn slices(task: &str) -> Vec<[Range<u64>; 3]> {
    let whole = SHAPE.map(|len| 0..len);
    let mut places = Places(1);
    let axis = match task {
        "read" | "read_into" => return vec![whole],
        "boxes" => {
            let mut begin = |len| places.next(len - BOX);
            let boxes = (0..BOXES).map(|_| {
                SHAPE.map(|len| {
                    let at = begin(len);
                    at..at + BOX
                })
            });
            return boxes.collect();
        }
        "planes0" => 0,
        "planes1" => 1,
        "planes2" => 2,
        _ => return Vec::new(),
    };
    let planes = (0..PLANES).map(|_| {
        let at = places.next(SHAPE[axis]);
        let mut slice = whole.clone();
        slice[axis] = at..at + 1;
        slice
    });
    planes.collect()
}

/// The sum of values, as words.
fn sum(values: &[f64]) -> u64 {
    let words = values.iter().map(|value| value.to_bits());
    words.fold(0, u64::wrapping_add)
}

/// With `into`, reads into existing memory.
fn read(
    path: &Path,
    threads: usize,
    slices: &[[Range<u64>; 3]],
    into: Option<&mut [f64]>,
) -> (Took, u64) {
    let mut took = Took::default();
    let options = Options::new().threads(threads);
    let array = took.add(|| NdArray::open_with(path, &options)).unwrap();
    if let (Some(into), [slice]) = (into, slices) {
        took.add(|| array.read(slice, into)).unwrap();
        return (took, sum(into));
    }
    let mut total = 0u64;
    for slice in slices {
        let values: Vec<f64> = took.add(|| array.to_vec(slice)).unwrap();
        total = total.wrapping_add(sum(&values));
    }
    (took, total)
}

fn write(path: &Path, values: &[f64], threads: usize, codec: &str, shapes: &str) -> Took {
    if path.exists() {
        std::fs::remove_file(path).unwrap();
    }
    let mut builder = NdArray::of_type::<f64>(&SHAPE)
        .compressor(codec.parse().unwrap())
        .level(5)
        .options(Options::new().threads(threads));
    if shapes == "same" {
        builder = builder.chunk_shape(&CHUNK).block_shape(&BLOCK);
    }
    let mut took = Took::default();
    let written = took.add(|| {
        let mut array = builder.create(path)?;
        array.write(&SHAPE.map(|len| 0..len), values)?;
        array.flush()
    });
    written.unwrap();
    took
}

/// A new array of bcolz.
fn create(path: &Path, values: &[f64]) -> Took {
    let mut took = Took::default();
    let builder = CArray::of::<f64>().expected_rows(values.len() as u64);
    let created = took.add(|| {
        let mut array = builder.replace(true).create(path)?;
        array.append_values(values)?;
        array.flush()
    });
    created.unwrap();
    took
}

/// Slices of an array of bcolz, into existing memory.
fn rows(path: &Path, count: usize, len: Option<u64>, into: &mut [f64]) -> (Took, u64) {
    let (mut took, mut places, mut total) = (Took::default(), Places(1), 0u64);
    let array = took.add(|| CArray::open(path)).unwrap();
    let len = len.unwrap_or(array.rows());
    let begins = (0..count).map(|_| places.next(array.rows() - len + 1));
    let begins: Vec<u64> = begins.collect();
    let into = &mut into[..len as usize];
    took.add(|| {
        for at in begins {
            array.read(&[at..at + len], into).unwrap();
            total = total.wrapping_add(into[0].to_bits());
        }
    });
    (took, total)
}

fn table(path: &Path, values: &[f64]) -> Took {
    let rows = values.len() / COLUMNS;
    let mut builder = CTable::builder().replace(true);
    for column in 0..COLUMNS {
        let array = CArray::of::<f64>().expected_rows(rows as u64);
        builder = builder.column(format!("c{column}"), array);
    }
    let columns = values.chunks_exact(rows).map(bytemuck::cast_slice);
    let columns: Vec<&[u8]> = columns.collect();
    let mut took = Took::default();
    let written = took.add(|| {
        let mut table = builder.create(path)?;
        table.append(&columns)?;
        table.flush()
    });
    written.unwrap();
    took
}

/// Sums all values of a table, block by block, and counts them.
fn scan(path: &Path) -> (Took, u64) {
    let (mut took, mut sum, mut count) = (Took::default(), 0.0, 0);
    took.add(|| {
        let table = Dataset::open_with(path, &Options::new()).unwrap();
        let table = table.into_table().unwrap();
        let all = 0..table.rows().unwrap();
        for block in table.blocks(table.names(), all, 16 << 20).unwrap() {
            for column in block.unwrap().1 {
                let values = column.as_chunks().0;
                count += values.len() as u64;
                let values = values.iter().map(|bytes| f64::from_le_bytes(*bytes));
                sum += values.sum::<f64>();
            }
        }
    });
    assert!(sum.is_finite());
    (took, count)
}

fn main() {
    let Some(folder) = std::env::args()
        .nth(1)
        .filter(|argument| !argument.starts_with('-'))
    else {
        // `cargo bench` and `cargo test --benches` run it without a task.
        return;
    };
    let bytes = std::fs::read(Path::new(&folder).join("values.f64")).unwrap();
    let words = bytes.as_chunks().0.iter();
    let values: Vec<f64> = words.map(|bytes| f64::from_le_bytes(*bytes)).collect();
    let mut reused = values.clone();
    let small = std::env::var("SMALL").map_or(100_000, |count| count.parse().unwrap());
    for line in stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [task, file, threads, codec, shapes] = words[..] else {
            panic!("expected five words, found {line:?}");
        };
        let (path, threads) = (Path::new(&folder).join(file), threads.parse().unwrap());
        let count = SHAPE.iter().product::<u64>() as usize;
        let all = &values[..count.min(values.len())];
        let (took, sum) = match task {
            "write" | "synced" => (write(&path, all, threads, codec, shapes), 0),
            "create" => (create(&path, &values), 0),
            "rows" => rows(&path, 1, None, &mut reused),
            "slices" => rows(&path, 200, Some(100_000), &mut reused),
            "small" => rows(&path, small, Some(10), &mut reused),
            "table" => (table(&path, &values), 0),
            "scan" => scan(&path),
            _ => {
                let into = (task == "read_into").then_some(&mut reused[..all.len()]);
                read(&path, threads, &slices(task), into)
            }
        };
        println!(r#"{{{took}, "sum": {sum}}}"#);
    }
}
