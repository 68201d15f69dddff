//! Reads the float64 array in the directory FROM and writes it, with the same metadata, to the directory TO; or, with
//! `--times`, prints the seconds that reading it takes, the median of several rounds.
//!
//! usage: copy_array FROM TO | copy_array --times FROM

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use zarrs::array::Array;
use zarrs::filesystem::FilesystemStore;

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [first, second] = words.as_slice() else {
        return Err("usage: copy_array FROM TO | copy_array --times FROM".into());
    };
    let from = if first == "--times" { second } else { first };
    let array = Array::open(Arc::new(FilesystemStore::new(from)?), "/")?;
    if first == "--times" {
        let mut seconds = Vec::new();
        for _ in 0..15 {
            let start = Instant::now();
            let _: Vec<f64> = array.retrieve_array_subset(&array.subset_all())?;
            seconds.push(start.elapsed().as_secs_f64());
        }
        seconds.sort_by(f64::total_cmp);
        println!("{:.4}", seconds[seconds.len() / 2]);
        return Ok(());
    }
    let data: Vec<f64> = array.retrieve_array_subset(&array.subset_all())?;
    let to = Arc::new(FilesystemStore::new(second)?);
    let copy = Array::new_with_metadata(to, "/", array.metadata().clone())?;
    copy.store_metadata()?;
    copy.store_array_subset(&copy.subset_all(), &data)?;
    Ok(())
}
