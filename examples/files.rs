//! Writes a compressed file, reads it back, and prints its size.
//!
//! `cargo run --example files`

use bloscpack::{Checksum, Compressor, Decoder, Encoder, Options};
use std::fs::File;
use std::io::{Read, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("walk.blp");
    let samples: Vec<u8> = (0..1_000_000_u32)
        .flat_map(|i| f64::from(i / 3).to_le_bytes())
        .collect();

    let mut encoder = Encoder::builder()
        .typesize(8) // float64
        .compressor(Compressor::Zstd)
        .checksum(Checksum::Sha256)
        .threads(2)
        .write_to_file(File::create_new(&path)?)?;
    encoder.write_all(&samples)?;
    encoder.finish()?.sync_all()?; // without `finish`, readers report that the file was cut

    let mut decoder = Decoder::with_options(File::open(&path)?, Options::new().threads(2));
    let mut back = Vec::new();
    decoder.read_to_end(&mut back)?; // each chunk is checked before its data is returned
    assert_eq!(back, samples);

    let size = path.metadata()?.len();
    println!("{} bytes became {size}", samples.len());
    Ok(())
}
