//! Finds the damage in a file, and saves what is sound.
//!
//! `cargo run --example recovery`

use bloscpack::recover::recover;
use bloscpack::verify::verify;
use bloscpack::{Encoder, Options, decompress};
use std::io::{Cursor, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<u8> = (0..10_000_u32).flat_map(u32::to_le_bytes).collect();
    let mut encoder = Encoder::builder()
        .chunk_size(8000)
        .write_to_file(Cursor::new(Vec::new()))?;
    encoder.write_all(&numbers)?;
    let mut file = encoder.finish()?.into_inner();

    let at = file.len() / 2;
    file[at] ^= 1; // one bit
    verify(file.as_slice(), &Options::new(), |damage| {
        println!(
            "{}; lost: bytes {:?} of the content",
            damage.error, damage.content
        );
        Ok(())
    })?;

    let mut saved = Cursor::new(Vec::new());
    let report = recover(&file, &mut saved, &Options::new().fill(true), |_| Ok(()))?;
    println!(
        "{} chunks saved, {} bytes filled with zeros",
        report.chunks, report.filled
    );
    assert_eq!(decompress(saved.get_ref())?.len(), numbers.len());
    Ok(())
}
