//! Who takes part, and with which settings.

use std::path::Path;

use bloscpack::{Compressor, RecordWriter, RecordWriterBuilder};

use crate::Result;
use crate::data::Records;
use crate::peers::sqlite::Pages;
use crate::peers::{Store, ours, parquet, sqlite, zstd_lines};
use crate::table::binary;

/// Gets of all that are made for single records.
const GETS: usize = 1_000_000;
/// Gets of those that decode a chunk or a page for each.
const FEW: usize = 1_000;
/// Bytes that every cache may hold, but where a name says otherwise: what ours may by default.
const CACHE: usize = 64 << 20;

type Pack = Box<dyn Fn(&Records, &Path) -> Result<()>>;
type Open = Box<dyn Fn(&Path) -> Result<Box<dyn Store>>>;

/// A way to write a file, and the ways in which it is read.
pub struct Contender {
    pub pack: Pack,
    /// The same without compression, where that is possible.
    pub store: Option<Pack>,
    pub views: Vec<View>,
}

pub struct View {
    pub name: String,
    /// How many records are got by number.
    pub gets: usize,
    pub open: Open,
}

impl View {
    fn new(name: impl Into<String>, gets: usize, open: Open) -> Self {
        let name = name.into();
        Self { name, gets, open }
    }
}

/// All of them.
pub fn all() -> Result<Vec<Contender>> {
    use parquet::{Encoding, Settings};
    let builder = RecordWriter::builder;
    Ok(vec![
        of_ours("one a chunk", builder(), &[(None, GETS)]),
        of_ours("small", builder().small(), &[(None, GETS)]),
        of_ours(
            "quick",
            builder().quick(),
            &[(None, GETS), (Some(2 << 20), GETS), (Some(128 << 20), GETS)],
        ),
        of_zstd(3),
        of_zstd(9),
        of_zstd(19),
        of_parquet(
            "parquet, zstd 3",
            Settings::zstd(Encoding::Default, 3)?,
            false,
        ),
        of_parquet(
            "parquet, zstd 22",
            Settings::zstd(Encoding::Default, 22)?,
            false,
        ),
        of_parquet(
            "parquet, delta-length, zstd 22",
            Settings::zstd(Encoding::DeltaLength, 22)?,
            false,
        ),
        of_parquet(
            "parquet, delta, zstd 22",
            Settings::zstd(Encoding::Delta, 22)?,
            false,
        ),
        of_parquet(
            "parquet, LZ4, small pages",
            Settings::small_pages(8 << 10),
            true,
        ),
        of_sqlite(),
    ])
}

/// Ours with chunks of several sizes, beside SQLite, to choose the settings by.
pub fn sweep() -> Vec<Contender> {
    let codecs = [
        (Compressor::Lz4, 9, [2, 4, 8, 16, 32, 64]),
        (Compressor::Zstd, 4, [4, 16, 64, 256, 1024, 4096]),
        (Compressor::Zstd, 9, [4, 16, 64, 256, 1024, 4096]),
    ];
    let codecs = codecs.into_iter().flat_map(|(compressor, level, sizes)| {
        sizes.map(|kib| {
            let options = RecordWriter::builder().packed(kib << 10);
            let options = options.compressor(compressor).level(level);
            let name = format!("{compressor} {level}, {}", binary(kib as usize * 1024));
            // As many gets as decode 256 MiB.
            let uncached = ((256 << 10) / kib as usize).min(GETS / 10);
            of_ours(&name, options, &[(None, GETS), (Some(0), uncached)])
        })
    });
    let fixed = [
        of_ours("quick", RecordWriter::builder().quick(), &[(None, GETS)]),
        of_sqlite(),
    ];
    fixed.into_iter().chain(codecs).collect()
}

/// With each of these caches, `None` being the usual one, and as many gets.
fn of_ours(
    name: &str,
    options: RecordWriterBuilder,
    caches: &[(Option<usize>, usize)],
) -> Contender {
    let views = caches.iter().map(|&(cache, gets)| {
        let name = match cache {
            None => name.to_owned(),
            Some(0) => format!("{name}, no cache"),
            Some(bytes) => format!("{name}, cache of {}", binary(bytes)),
        };
        let open: Open = Box::new(move |path| Ok(Box::new(ours::Reader::open(path, cache)?)));
        View::new(name, gets, open)
    });
    let stored = options.clone().level(0);
    Contender {
        views: views.collect(),
        store: Some(Box::new(move |records, path| {
            ours::write(records, path, stored.clone())
        })),
        pack: Box::new(move |records, path| ours::write(records, path, options.clone())),
    }
}

fn of_zstd(level: i32) -> Contender {
    let open: Open = Box::new(|path| Ok(Box::new(zstd_lines::Reader(std::fs::read(path)?))));
    Contender {
        pack: Box::new(move |records, path| {
            let compressed = zstd_lines::compress(&records.lines(), level)?;
            Ok(std::fs::write(path, compressed)?)
        }),
        store: None,
        views: vec![View::new(format!("zstd -{level} of the lines"), 0, open)],
    }
}

fn of_parquet(name: &str, settings: parquet::Settings, with_cache: bool) -> Contender {
    let open = |cache| -> Open {
        Box::new(move |path| {
            Ok(Box::new(parquet::Reader::open(
                std::fs::read(path)?,
                cache,
            )?))
        })
    };
    let mut views = vec![View::new(name, FEW, open(None))];
    if with_cache {
        let name = format!("{name}, cache of {}", binary(CACHE));
        views.push(View::new(name, GETS, open(Some(CACHE))));
    }
    Contender {
        pack: Box::new(move |records, path| {
            Ok(std::fs::write(path, parquet::write(records, settings)?)?)
        }),
        store: None,
        views,
    }
}

fn of_sqlite() -> Contender {
    let open =
        |pages| -> Open { Box::new(move |path| Ok(Box::new(sqlite::Reader::open(path, pages)?))) };
    let cache = format!("sqlite, cache of {}", binary(CACHE));
    Contender {
        pack: Box::new(sqlite::write),
        store: Some(Box::new(sqlite::write)),
        views: vec![
            View::new("sqlite", GETS, open(Pages::Default)),
            View::new(cache, GETS, open(Pages::Cache(CACHE >> 10))),
            View::new("sqlite, mapped", GETS, open(Pages::Mapped)),
        ],
    }
}
