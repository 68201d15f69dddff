//! The size of a whole file with chunks and blocks of several sizes, against zstd and Parquet.

use bloscpack::blosc::Compressor;

use crate::Result;
use crate::clock::Took;
use crate::data::Records;
use crate::packings::{Layout, Packed, settings};
use crate::peers::{parquet, zstd_lines};
use crate::table::{Table, binary, bytes};

/// Chunks of so many KiB, with blocks as large as the chunk or as chosen by the level.
const OURS: [(u8, usize, bool); 6] = [
    (4, 64, false),
    (4, 1024, false),
    (4, 1024, true),
    (9, 64, false),
    (9, 1024, false),
    (9, 4096, true),
];

/// Prints the table of one data set.
pub fn run(name: &str, records: &Records) -> Result<()> {
    let total = records.values.len();
    println!(
        "## {name}: {} records, {} bytes",
        bytes(records.len()),
        bytes(total)
    );
    println!();
    let mut table = Table::new(["what", "size", "of bytes", "write s"]);
    let mut add = |what: String, size: &dyn Fn() -> Result<usize>| {
        let mut took = Took::default();
        let size = took.add(size)?;
        table.row([
            what,
            bytes(size),
            format!("{:.4}", size as f64 / total as f64),
            format!("{:.1}", took.cpu),
        ]);
        Result::Ok(())
    };
    let lines = records.lines();
    for level in [3, 9, 19] {
        let size = || Ok(zstd_lines::compress(&lines, level)?.len());
        add(format!("zstd -{level} of the lines"), &size)?;
    }
    for encoding in parquet::Encoding::ALL {
        for level in [1, 3, 7, 9, 19] {
            let what = format!("parquet {}, zstd {level}", encoding.name());
            add(what, &|| {
                Ok(parquet::write(records, parquet::Settings::zstd(encoding, level)?)?.len())
            })?;
        }
    }
    for layout in [Layout::Lengths, Layout::Marks, Layout::Fronts] {
        for (level, kib, whole) in OURS {
            let blocksize = whole.then_some((kib << 11) as u32);
            let settings = settings(Compressor::Zstd, level, blocksize);
            let chunk = binary(kib << 10);
            let block = if whole { ", one block" } else { "" };
            let what = format!("{}, zstd {level}, {chunk}{block}", layout.name());
            let size = || Ok(Packed::new(records, layout, kib << 10, settings)?.size());
            add(what, &size)?;
        }
    }
    table.print();
    Ok(())
}
