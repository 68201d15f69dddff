//! Reads parts of a file and of an n-dimensional array, without reading the rest.
//!
//! `cargo run --example slices`

use bloscpack::indexed::IndexedReader;
use bloscpack::storage::Snapshot;
use bloscpack_open::frames::NdArray;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;

    // Bytes 4,000,000 to 4,000,007 of the content of a file.
    let path = folder.path().join("numbers.blp");
    let numbers: Vec<u8> = (0..2_000_000_u64).flat_map(u64::to_le_bytes).collect();
    std::fs::write(&path, bloscpack::compress(&numbers)?)?;
    let reader = IndexedReader::open(Snapshot::open(&path)?)?; // the file may change meanwhile
    let mut number = [0; 8];
    reader.read_exact_at(4_000_000, &mut number)?;
    println!("number 500000 is {}", u64::from_le_bytes(number));

    // One column of a matrix: only the blocks that contain it are decompressed.
    let path = folder.path().join("matrix.b2nd");
    let mut matrix = NdArray::of_type::<i32>(&[1000, 1000]).create(&path)?;
    let row: Vec<i32> = (0..1000).collect();
    for i in 0..1000 {
        matrix.write(&[i..i + 1, 0..1000], &row)?;
    }
    matrix.flush()?; // until here, nobody else sees the values
    let column = NdArray::open(&path)?.to_vec::<i32>(&[0..1000, 77..78])?;
    println!("column 77 has {} values, all {}", column.len(), column[0]);
    Ok(())
}
