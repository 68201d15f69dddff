//! Opens an array in a frame at a URL and reads slices of it: `remote_slices URL SLICE...`, where a slice is `all` or ranges such
//! as `0..10,5..6`. Prints a line for each slice: seconds, and the sum of the bytes. The first one includes opening.
//! `benches/remote.py` runs it beside other readers.

use bloscpack_open::frames::NdArray;
use bloscpack_remote::{Remote, RemoteOptions};
use std::error::Error;
use std::ops::Range;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let url = words.next().ok_or("usage: slices URL SLICE...")?;
    let mut begun = Instant::now();
    let remote = Remote::new(RemoteOptions::new())?;
    let array = NdArray::read_from(remote.object(&url)?)?;
    for slice in words {
        let ranges = ranges(&slice, array.shape())?;
        let bytes = array.read_slice(&ranges)?;
        let seconds = begun.elapsed().as_secs_f64();
        let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
        println!("{seconds} {sum}");
        begun = Instant::now();
    }
    Ok(())
}

/// The range of each dimension.
fn ranges(slice: &str, shape: &[u64]) -> Result<Vec<Range<u64>>, Box<dyn Error>> {
    if slice == "all" {
        return Ok(shape.iter().map(|len| 0..*len).collect());
    }
    let mut ranges = Vec::new();
    for part in slice.split(',') {
        let (start, end) = part.split_once("..").ok_or("a range is START..END")?;
        ranges.push(start.parse()?..end.parse()?);
    }
    Ok(ranges)
}
