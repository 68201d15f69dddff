//! Some bytes out of a large file, without reading the rest: `range FILE BEGIN END`.
//!
//! Prints the seconds that opening and reading took, and the bytes as hexadecimal digits.

use bloscpack::{indexed::IndexedReader, storage::Snapshot};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(path), Some(begin), Some(end)) =
        (arguments.next(), arguments.next(), arguments.next())
    else {
        return Err("usage: range FILE BEGIN END".into());
    };
    let (begin, end): (u64, u64) = (begin.parse()?, end.parse()?);
    let begun = Instant::now();
    let reader = IndexedReader::open(Snapshot::open(path)?)?;
    let mut part = Vec::new();
    reader.copy_range(begin..end, &mut part)?;
    let seconds = begun.elapsed().as_secs_f64();
    let digits: String = part.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{seconds} {digits}");
    Ok(())
}
