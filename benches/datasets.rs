//! Times datasets against bcolz: one task per call, so that `benches/datasets.py` can run both in turn.
//!
//! `datasets TASK FOLDER` runs a task and prints the seconds it took. The folder contains `values.f64`, the float64 values
//! that both programs use, and the output of `create` and `table`.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init,
    reason = "a benchmark of an array of one axis"
)]

use bloscpack::Options;
use bloscpack_open::datasets::{CArray, CTable, Dataset};
use std::path::Path;
use std::time::Instant;

/// Columns of the table.
const COLUMNS: usize = 16;

fn values(folder: &Path) -> Vec<f64> {
    let bytes = std::fs::read(folder.join("values.f64")).unwrap();
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|bytes| f64::from_le_bytes(*bytes))
        .collect()
}

/// Random positions, the same for both programs.
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

fn slices(folder: &Path, count: usize, len: u64) -> f64 {
    let array = CArray::open(folder.join("ours")).unwrap();
    let (mut places, rows) = (Places(1), array.rows());
    let mut out = vec![0f64; len as usize];
    let begun = Instant::now();
    let mut sum = 0.0;
    for _ in 0..count {
        let at = places.next(rows - len);
        array.read(&[at..at + len], &mut out).unwrap();
        sum += out[0];
    }
    let took = begun.elapsed().as_secs_f64();
    assert!(sum.is_finite());
    took
}

fn create(folder: &Path) -> f64 {
    let values = values(folder);
    let begun = Instant::now();
    let mut array = CArray::of::<f64>()
        .expected_rows(values.len() as u64)
        .replace(true)
        .create(folder.join("ours"))
        .unwrap();
    array.append_values(&values).unwrap();
    array.flush().unwrap();
    begun.elapsed().as_secs_f64()
}

fn read(folder: &Path) -> f64 {
    let begun = Instant::now();
    let array = CArray::open(folder.join("ours")).unwrap();
    let values = array.to_vec::<f64>(0..array.rows()).unwrap();
    let took = begun.elapsed().as_secs_f64();
    assert!(!values.is_empty());
    took
}

fn table(folder: &Path) -> f64 {
    let values = values(folder);
    let rows = values.len() / COLUMNS;
    let mut builder = CTable::builder().replace(true);
    for column in 0..COLUMNS {
        builder = builder.column(
            format!("c{column}"),
            CArray::of::<f64>().expected_rows(rows as u64),
        );
    }
    let begun = Instant::now();
    let mut table = builder.create(folder.join("ours-table")).unwrap();
    let columns: Vec<&[u8]> = values
        .chunks_exact(rows)
        .map(bytemuck::cast_slice)
        .collect();
    table.append(&columns).unwrap();
    table.flush().unwrap();
    begun.elapsed().as_secs_f64()
}

/// Sums all values of a table, block by block.
fn scan(folder: &Path) -> f64 {
    let begun = Instant::now();
    let table = Dataset::open_with(folder.join("ours-table"), &Options::new())
        .unwrap()
        .into_table()
        .unwrap();
    let mut sum = 0.0;
    for block in table
        .blocks(table.names(), 0..table.rows().unwrap(), 16 << 20)
        .unwrap()
    {
        for column in block.unwrap().1 {
            sum += column
                .as_chunks()
                .0
                .iter()
                .map(|bytes| f64::from_le_bytes(*bytes))
                .sum::<f64>();
        }
    }
    let took = begun.elapsed().as_secs_f64();
    println!("# {sum}");
    took
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, task, folder, ..] = arguments.as_slice() else {
        // `cargo bench` and `cargo test --benches` run it without a task.
        return;
    };
    let folder = Path::new(folder);
    let took = match task.as_str() {
        "create" => create(folder),
        "read" => read(folder),
        "slices" => slices(folder, 200, 100_000),
        "small" => slices(folder, 100_000, 10),
        "table" => table(folder),
        "scan" => scan(folder),
        _ => return,
    };
    println!("{took}");
}
