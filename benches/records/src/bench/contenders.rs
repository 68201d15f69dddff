//! The contenders and their settings.

use std::path::Path;

use bloscpack::{
    Compressor,
    records::{RecordWriter, RecordWriterBuilder},
};

use crate::Result;
use crate::data::Records;
use crate::peers::parquet::Encoding;
use crate::peers::sqlite::Pages;
use crate::peers::{Store, ours, parquet, sqlite, zstd_lines};
use crate::table::binary;

/// Number of gets for files made for single records.
const GETS: usize = 1_000_000;
/// Number of gets where each decodes a chunk or a page.
const FEW: usize = 1_000;
/// Number of gets of *small*, which are as slow where not all records fit in the cache.
const SOME: usize = 20_000;
/// Bytes that caches may hold: the default of SQLite, our default, and more than all records here
/// take.
const SMALL_CACHE: usize = 2 << 20;
const CACHE: usize = 64 << 20;
const LARGE_CACHE: usize = 128 << 20;

type Pack = Box<dyn Fn(&Records, &Path) -> Result<()>>;
type Open = Box<dyn Fn(&Path) -> Result<Box<dyn Store>>>;

use Source::{File, Mapped};

/// A way to write a file, and the ways in which it is read.
pub struct Contender {
    pub pack: Pack,
    /// The same without compression, where possible.
    pub store: Option<Pack>,
    pub views: Vec<View>,
}

pub struct View {
    pub name: String,
    /// The number of records fetched by number.
    pub gets: usize,
    pub open: Open,
}

impl View {
    fn new(name: impl Into<String>, gets: usize, open: Open) -> Self {
        let name = name.into();
        Self { name, gets, open }
    }
}

/// Levels of zstd for Parquet: the default of the crate, the default of zstd, and the levels of *small*
/// and of its highest setting.
const PARQUET_LEVELS: [i32; 4] = [1, 3, 11, 22];

/// All contenders.
pub fn all() -> Result<Vec<Contender>> {
    let builder = RecordWriter::builder;
    let quick = [SMALL_CACHE, CACHE, LARGE_CACHE].map(|cache| (File(cache), GETS));
    let quick = quick.into_iter().chain([(Mapped(CACHE), GETS)]);
    let mut all = vec![
        of_ours("one a chunk", builder(), [(File(CACHE), GETS)]),
        of_ours("small", builder().small(), [(File(CACHE), SOME)]),
        of_ours(
            "small, level 9",
            builder().small().level(9),
            [(File(CACHE), SOME)],
        ),
        of_ours("quick", builder().quick(), quick),
    ];
    all.extend([3, 9, 19].map(of_zstd));
    for encoding in [Encoding::Default, Encoding::DeltaLength, Encoding::Delta] {
        for level in PARQUET_LEVELS {
            let name = format!("parquet {}, zstd {level}", encoding.name());
            let settings = parquet::Settings::zstd(encoding, level)?;
            all.push(of_parquet(&name, settings, &[None]));
        }
    }
    all.push(of_parquet(
        "parquet plain, LZ4, pages of 8 KiB",
        parquet::Settings::small_pages(8 << 10),
        &[None, Some(CACHE), Some(LARGE_CACHE)],
    ));
    all.push(of_sqlite());
    Ok(all)
}

/// Ours with chunks of several sizes, and SQLite, to choose the settings.
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
            of_ours(&name, options, [(File(CACHE), GETS), (File(0), uncached)])
        })
    });
    let fixed = [
        of_ours(
            "quick",
            RecordWriter::builder().quick(),
            [(File(CACHE), GETS)],
        ),
        of_sqlite(),
    ];
    fixed.into_iter().chain(codecs).collect()
}

/// How a file of ours is read, and the bytes of its cache.
#[derive(Clone, Copy, Debug)]
enum Source {
    File(usize),
    Mapped(usize),
}

/// Read in each of these ways, with so many gets.
fn of_ours(
    name: &str,
    options: RecordWriterBuilder,
    ways: impl IntoIterator<Item = (Source, usize)>,
) -> Contender {
    let views = ways.into_iter().map(|(source, gets)| {
        let name = match source {
            File(CACHE) => name.to_owned(),
            File(0) => format!("{name}, no cache"),
            File(bytes) => format!("{name}, cache of {}", binary(bytes)),
            Mapped(_) => format!("{name}, mapped"),
        };
        let open: Open = Box::new(move |path| {
            Ok(match source {
                File(cache) => Box::new(ours::Reader::open(path, cache)?),
                Mapped(cache) => Box::new(ours::Reader::map(path, cache)?),
            })
        });
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

fn of_parquet(name: &str, settings: parquet::Settings, caches: &[Option<usize>]) -> Contender {
    let views = caches.iter().map(|&cache| {
        let open: Open = Box::new(move |path| {
            Ok(Box::new(parquet::Reader::open(
                std::fs::read(path)?,
                cache,
            )?))
        });
        match cache {
            None => View::new(name, FEW, open),
            Some(bytes) => View::new(format!("{name}, kept in {}", binary(bytes)), GETS, open),
        }
    });
    Contender {
        views: views.collect(),
        store: None,
        pack: Box::new(move |records, path| {
            Ok(std::fs::write(path, parquet::write(records, settings)?)?)
        }),
    }
}

fn of_sqlite() -> Contender {
    let pages = [
        ("sqlite".to_owned(), Pages::Default),
        (
            format!("sqlite, cache of {}", binary(CACHE)),
            Pages::Cache(CACHE >> 10),
        ),
        (
            format!("sqlite, cache of {}", binary(LARGE_CACHE)),
            Pages::Cache(LARGE_CACHE >> 10),
        ),
        ("sqlite, mapped".to_owned(), Pages::Mapped),
    ];
    let views = pages.map(|(name, pages)| {
        let open: Open = Box::new(move |path| Ok(Box::new(sqlite::Reader::open(path, pages)?)));
        View::new(name, GETS, open)
    });
    Contender {
        pack: Box::new(sqlite::write),
        store: Some(Box::new(sqlite::write)),
        views: views.into(),
    }
}
