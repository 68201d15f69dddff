//! Times arrays against caterva and python-blosc2: a server of tasks, so that `benches/arrays.py` can run each task
//! with all programs in turn.
//!
//! `arrays FOLDER` reads lines `TASK FILE THREADS CODEC SHAPES` and answers each with the wall seconds and CPU seconds of
//! the task and the sum of all values read, as 64-bit words. The folder contains `values.f64`, the float64 values of
//! [`SHAPE`] that all programs use.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "a benchmark"
)]

use bloscpack::Options;
use bloscpack_open::frames::NdArray;
use rustix::time::{ClockId, clock_gettime};
use std::io::{BufRead, stdin};
use std::ops::Range;
use std::path::Path;
use std::time::Instant;

const SHAPE: [u64; 3] = [300, 300, 278];
const CHUNK: [u32; 3] = [75, 75, 70];
const BLOCK: [u32; 3] = [25, 25, 24];
/// Planes that are read along an axis.
const PLANES: usize = 20;
/// Boxes that are read, and their length along each axis.
const BOXES: usize = 1000;
const BOX: u64 = 10;

/// The cost of some work: wall seconds, and CPU seconds of all threads.
#[derive(Clone, Copy, Default)]
struct Took {
    clock: f64,
    cpu: f64,
}

impl Took {
    /// Runs something and adds its cost.
    fn add<T>(&mut self, act: impl FnOnce() -> T) -> T {
        let cpu = || {
            let time = clock_gettime(ClockId::ProcessCPUTime);
            time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
        };
        let (begun, used) = (Instant::now(), cpu());
        let done = act();
        self.clock += begun.elapsed().as_secs_f64();
        self.cpu += cpu() - used;
        done
    }
}

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
    let mut sum = 0u64;
    if let (Some(into), [slice]) = (into, slices) {
        took.add(|| array.read(slice, into)).unwrap();
        let words = into.iter().map(|value| value.to_bits());
        return (took, words.fold(sum, u64::wrapping_add));
    }
    for slice in slices {
        let values: Vec<f64> = took.add(|| array.to_vec(slice)).unwrap();
        let words = values.iter().map(|value| value.to_bits());
        sum = words.fold(sum, u64::wrapping_add);
    }
    (took, sum)
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
    for line in stdin().lock().lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        let [task, file, threads, codec, shapes] = words[..] else {
            panic!("expected five words, found {line:?}");
        };
        let (path, threads) = (Path::new(&folder).join(file), threads.parse().unwrap());
        let (took, sum) = match task {
            "write" => (write(&path, &values, threads, codec, shapes), 0),
            _ => {
                let into = (task == "read_into").then_some(reused.as_mut_slice());
                read(&path, threads, &slices(task), into)
            }
        };
        println!("{} {} {sum}", took.clock, took.cpu);
    }
}
