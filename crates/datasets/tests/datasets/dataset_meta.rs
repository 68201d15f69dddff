//! Tests of the small files of every dataset that bcolz, BLZ and carray wrote, if the corpus is unpacked: their
//! content, their spelling, and the formulas by which their writers chose numbers.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

use blosc1::Filter;
use bloscpack_datasets::wire::{
    Attributes, ChunkBase, ChunkOverhead, DtypeText, ParamsKey, RootDirs, Sizes, Storage,
    StorageStyle, counted_bytes, default_chunk_rows,
};
use bloscpack_wire::Metadata;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The folders of the corpus, and how many arrays are in each; columns of tables are arrays, too.
const FOLDERS: [(&str, usize); 4] = [
    ("bcolz", 304),
    ("bcolz-legacy", 67),
    ("blz", 134),
    ("carray05", 81),
];

/// An array, or a column of a table.
struct Array {
    folder: PathBuf,
    name: String,
    writer: String,
    python: String,
    manifest: Value,
}

/// A table.
struct Table {
    folder: PathBuf,
    manifest: Value,
}

#[derive(Default)]
struct Corpus {
    arrays: Vec<Array>,
    tables: Vec<Table>,
}

impl Corpus {
    /// Nothing where the corpus is not unpacked.
    fn read() -> Option<Self> {
        let root = testkit::corpus::parts(FOLDERS.map(|(name, _)| name))?;
        let mut corpus = Self::default();
        for (name, arrays) in FOLDERS {
            let folder = root.join(name);
            let before = corpus.arrays.len();
            corpus.read_folder(&folder);
            assert_eq!(corpus.arrays.len() - before, arrays, "{name}");
        }
        assert_eq!(corpus.tables.len(), 38);
        Some(corpus)
    }

    fn read_folder(&mut self, folder: &Path) {
        // The manifests have numbers that only Python knows, too.
        let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
        let manifest = Metadata::from_json(manifest).unwrap();
        for dataset in manifest.value()["datasets"].as_array().unwrap() {
            if dataset.get("writer_error").is_some() {
                continue;
            }
            let name = dataset["name"].as_str().unwrap();
            let array = |folder: PathBuf, manifest: &Value| Array {
                folder,
                name: name.to_owned(),
                writer: dataset["writer"].as_str().unwrap().to_owned(),
                python: dataset["python"].as_str().unwrap_or("3.7").to_owned(),
                manifest: manifest.clone(),
            };
            let Some(columns) = dataset.get("columns") else {
                self.arrays.push(array(folder.join(name), dataset));
                continue;
            };
            for column in columns.as_array().unwrap() {
                let path = folder.join(name).join(column["name"].as_str().unwrap());
                self.arrays.push(array(path, column));
            }
            self.tables.push(Table {
                folder: folder.join(name),
                manifest: dataset.clone(),
            });
        }
    }
}

impl Array {
    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.folder.join(name)).unwrap()
    }

    fn sizes(&self) -> Sizes {
        let parsed = Sizes::parse(&self.file("meta/sizes"));
        parsed.unwrap_or_else(|error| panic!("{}: {error}", self.folder.display()))
    }

    fn storage(&self) -> Storage {
        let parsed = Storage::parse(&self.file("meta/storage"));
        parsed.unwrap_or_else(|error| panic!("{}: {error}", self.folder.display()))
    }

    /// Bytes of a row, where there are any rows.
    fn row_bytes(&self) -> Option<u64> {
        self.manifest["nbytes"]
            .as_u64()?
            .checked_div(self.sizes().rows())
    }

    /// The spelling in which the writer's file comes out as it was, if there is one. bcolz on Python 2
    /// wrote keys in the order of their hashes; up to 1.0 it wrote no compressor.
    fn style(&self) -> Option<StorageStyle> {
        match self.writer.as_str() {
            "blz 0.6.3.dev" => Some(StorageStyle::Blz),
            "carray 0.5" => Some(StorageStyle::Document),
            "bcolz 0.12.1" | "bcolz 1.0.0" => None,
            _ => (self.python != "2.7").then_some(StorageStyle::Bcolz),
        }
    }
}

#[test]
fn sizes_are_what_their_writers_knew() {
    for array in Corpus::read().unwrap_or_default().arrays {
        let (sizes, expected) = (array.sizes(), &array.manifest["sizes"]);
        let found = serde_json::json!({
            "shape": sizes.shape, "nbytes": sizes.nbytes, "cbytes": sizes.cbytes,
        });
        let path = array.folder.display();
        assert_eq!(&found, expected, "{path}");
        assert_eq!(sizes.encode(), array.file("meta/sizes"), "{path}");
    }
}

#[test]
fn storage_is_what_its_writer_knew() {
    let mut unchanged = 0;
    for array in Corpus::read().unwrap_or_default().arrays {
        let (storage, expected) = (array.storage(), &array.manifest["storage"]);
        let path = array.folder.display();
        let key = storage.params_key.name();
        let blz = array.writer.starts_with("blz");
        assert_eq!(key == ParamsKey::Bparams.name(), blz, "{path}");
        let params = &expected[key];
        let dtype = DtypeText::Text(expected["dtype"].as_str().unwrap().to_owned());
        assert_eq!(storage.dtype, dtype, "{path}");
        assert_eq!(storage.chunk_rows, expected["chunklen"], "{path}");
        assert_eq!(storage.expected_rows, expected["expectedlen"], "{path}");
        assert_eq!(&storage.default_value(), &expected["dflt"], "{path}");
        assert_eq!(
            storage.level,
            u8::try_from(params["clevel"].as_u64().unwrap()).unwrap(),
            "{path}"
        );
        let number = params["shuffle"].as_u64();
        let number = number.unwrap_or(u64::from(params["shuffle"] == true));
        assert_eq!(
            storage.filter,
            Filter::ALL[usize::try_from(number).unwrap()],
            "{path}"
        );
        let name = params["cname"].as_str().unwrap_or("blosclz");
        assert_eq!(storage.compressor().unwrap().name(), name, "{path}");
        assert_eq!(storage.quantize, params["quantize"].as_i64(), "{path}");
        if let Some(style) = array.style() {
            let text = String::from_utf8(storage.encode(style).unwrap()).unwrap();
            assert_eq!(
                text.as_bytes(),
                array.file("meta/storage"),
                "{path}: {text}"
            );
            unchanged += 1;
        }
        // In whatever spelling, nothing that matters is lost.
        let again = storage.encode(StorageStyle::Bcolz).unwrap();
        let again = Storage::parse(&again).unwrap();
        let (params_key, quantize) = (storage.params_key, storage.quantize);
        assert_eq!(
            Storage {
                params_key,
                quantize,
                ..again
            },
            storage,
            "{path}"
        );
    }
    println!("{unchanged} files come out as they were");
}

#[test]
fn attributes_are_what_users_gave() {
    let corpus = Corpus::read().unwrap_or_default();
    let arrays = corpus
        .arrays
        .iter()
        .map(|array| (&array.folder, &array.manifest));
    let tables = corpus
        .tables
        .iter()
        .map(|table| (&table.folder, &table.manifest));
    for (folder, manifest) in arrays.chain(tables) {
        let file = std::fs::read(folder.join("__attrs__")).unwrap();
        let attributes = Attributes::parse(&file).unwrap();
        assert_eq!(
            attributes.to_value(),
            manifest["attrs"],
            "{}",
            folder.display()
        );
        assert_eq!(attributes.encode(), file);
        // Set one by one, they are spelled as Python spelled them.
        let (mut anew, value) = (Attributes::default(), attributes.to_value());
        for key in attributes.keys() {
            anew.set(&key, &value[&key]).unwrap();
        }
        assert_eq!(anew.encode(), file);
    }
}

#[test]
fn tables_have_the_columns_that_their_writers_gave() {
    for table in Corpus::read().unwrap_or_default().tables {
        let file = std::fs::read(table.folder.join("__rootdirs__")).unwrap();
        let dirs = RootDirs::parse(&file).unwrap();
        assert_eq!(Value::from(dirs.names.clone()), table.manifest["names"]);
        let expected = &table.manifest["rootdirs"];
        assert_eq!(dirs.dirs.is_some(), expected.get("dirs").is_some());
        for (name, path) in dirs.dirs.iter().flatten() {
            assert_eq!(expected["dirs"][name], path.as_str());
        }
        for name in &dirs.names {
            let column = table.folder.join(dirs.folder_of(name));
            assert!(column.join("meta/sizes").is_file(), "{}", column.display());
        }
        assert_eq!(dirs.encode(), file);
    }
}

/// Arrays whose chunks their writers chose.
#[test]
fn chunks_are_as_long_as_the_formula_says() {
    let mut checked = 0;
    for array in Corpus::read().unwrap_or_default().arrays {
        let by_default = ["default_chunk", "expectedlen", "zipline"];
        let by_default = by_default.iter().any(|part| array.name.contains(part));
        let (storage, Some(row_bytes)) = (array.storage(), array.row_bytes()) else {
            continue;
        };
        if !by_default {
            continue;
        }
        let base = if array.writer.starts_with("bcolz") {
            ChunkBase::Base4096
        } else {
            ChunkBase::Base1024
        };
        let expected = default_chunk_rows(base, storage.expected_rows, row_bytes);
        assert_eq!(storage.chunk_rows, expected, "{}", array.folder.display());
        checked += 1;
    }
    println!("{checked} arrays");
}

/// Arrays that were written once and never changed: from then on `cbytes` is wrong in real files.
#[test]
fn compressed_bytes_are_counted_as_the_formula_says() {
    const CHANGED: [&str; 7] = [
        "append", "trim", "resize", "setitem", "crash", "object", "minute",
    ];
    let mut checked = 0;
    for array in Corpus::read().unwrap_or_default().arrays {
        let changed = CHANGED.iter().any(|part| array.name.contains(part));
        let (sizes, storage, Some(row_bytes)) = (array.sizes(), array.storage(), array.row_bytes())
        else {
            continue;
        };
        if changed {
            continue;
        }
        let chunk = |number: u64| array.file(&format!("data/__{number}.blp")).len() as u64 - 16;
        let full = (0..sizes.rows() / storage.chunk_rows).map(chunk);
        let overhead = match array.writer.as_str() {
            "blz 0.6.3.dev" | "carray 0.5" | "bcolz 0.12.1" | "bcolz 1.0.0" => {
                ChunkOverhead::Header
            }
            _ => ChunkOverhead::None,
        };
        let expected = counted_bytes(full, storage.chunk_rows, row_bytes, overhead);
        assert_eq!(sizes.cbytes, expected, "{}", array.folder.display());
        checked += 1;
    }
    println!("{checked} arrays");
}

/// Stale superchunks are included, and those not counted yet.
#[test]
fn superchunks_have_nothing_odd() {
    let mut checked = 0;
    for array in Corpus::read().unwrap_or_default().arrays {
        for entry in std::fs::read_dir(array.folder.join("data")).unwrap() {
            let path = entry.unwrap().path();
            let file = std::fs::read(&path).unwrap();
            let (head, chunk) = file.split_at(16);
            assert_eq!(
                head,
                b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0",
                "{}",
                path.display()
            );
            let header = blosc1::read_header(chunk);
            let header = header.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(header.ctbytes as usize, chunk.len(), "{}", path.display());
            checked += 1;
        }
    }
    println!("{checked} superchunks");
}
