//! Tests of the two layouts that are only described in documents, with all choices that these leave to the writer:
//! readers built from the documents alone see the written data after every change.

use crate::dataset_model::sample;
use crate::disk::{Wanted, change, folder, seen_by};
use crate::documents::{Read, blz_document, carray_document, handmade};
use blosc1::{Compressor, Filter};
use bloscpack_datasets::{CArray, CTable, Dataset, DatasetLayout};
use bloscpack_dtype::DType;
use bloscpack_wire::Checksum;
use serde_json::{Value, json};
use std::num::NonZeroU64;
use std::path::Path;

const LAYOUTS: [DatasetLayout; 2] = [DatasetLayout::BlzDocument, DatasetLayout::CarrayDocument];

fn read(layout: DatasetLayout, root: &Path) -> Read {
    let reader = match layout {
        DatasetLayout::BlzDocument => blz_document::read,
        _ => carray_document::read,
    };
    seen_by(reader, root)
}

/// How chunks are put into a superchunk.
#[derive(Debug, Clone, Copy)]
struct Framing {
    checksum: Checksum,
    offsets: bool,
    spare: u32,
    chunks: u64,
}

/// Framings with all kinds of checksums, with and without a table, with and without space, one chunk and several.
fn framings() -> Vec<Framing> {
    let mut all = Vec::new();
    for checksum in Checksum::ALL {
        for (offsets, spare) in [(false, 0), (true, 0), (true, 1), (true, 200)] {
            let chunks = [1, 2, 5][all.len() % 3];
            all.push(Framing {
                checksum,
                offsets,
                spare,
                chunks,
            });
        }
    }
    all
}

/// Checksum, table and number of chunks, by the bytes of a superchunk's header.
fn header(layout: DatasetLayout, file: &[u8]) -> (u8, bool, u64) {
    let count = |at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    match layout {
        DatasetLayout::BlzDocument => (file[6], file[5] & 1 != 0, count(16)),
        _ => (file[5], file[6] != 0, count(24)),
    }
}

#[test]
fn what_the_documents_leave_open_is_as_it_was_chosen() {
    for layout in LAYOUTS {
        for framing in framings() {
            framed(layout, framing);
        }
    }
}

fn framed(layout: DatasetLayout, framing: Framing) {
    let folder = folder();
    let root = folder.path().join("array");
    let mut array = CArray::of::<i16>()
        .layout(layout)
        .chunk_rows(8)
        .checksum(framing.checksum)
        .offsets(framing.offsets)
        .spare(framing.spare)
        .superchunk(NonZeroU64::new(framing.chunks).unwrap())
        .create(&root)
        .unwrap();
    let mut wanted = Wanted::new(vec![0, 0]);
    change(&mut array, &mut wanted, &mut |wanted| {
        let read = read(layout, &root);
        assert!(read.bytes() == wanted.bytes, "{layout:?}, {framing:?}");
        if wanted.rows() == 0 {
            return;
        }
        let first = std::fs::read(root.join("data/__1__.bin")).unwrap();
        let chunks = wanted.rows().div_ceil(8).min(framing.chunks);
        let expected = (framing.checksum.id(), framing.offsets, chunks);
        assert_eq!(header(layout, &first), expected, "{layout:?}, {framing:?}");
        let spare = usize::try_from(framing.spare).unwrap();
        assert!(first.ends_with(&vec![0; spare]), "{layout:?}, {framing:?}");
    });
    // An editor that opens it later continues in the same way.
    drop(array);
    let mut array = CArray::edit(&root).unwrap();
    let new = sample::data(60, 1);
    array.append(&new).unwrap();
    array.flush().unwrap();
    drop(array);
    wanted.bytes.extend(new);
    assert!(read(layout, &root).bytes() == wanted.bytes);
    let chunks = wanted.rows().div_ceil(8);
    let last = chunks.div_ceil(framing.chunks);
    let last = std::fs::read(root.join(format!("data/__{last}__.bin"))).unwrap();
    let chunks = (chunks - 1) % framing.chunks + 1;
    let expected = (framing.checksum.id(), framing.offsets, chunks);
    assert_eq!(header(layout, &last), expected, "{layout:?}, {framing:?}");
}

const DTYPES: [&str; 12] = [
    "int8",
    "uint16",
    "int32",
    "float64",
    "bool",
    ">i2",
    ">i4",
    ">f8",
    "complex128",
    "|S5",
    "<U3",
    "datetime64[ns]",
];
const COMPRESSORS: [Compressor; 6] = [
    Compressor::Blosclz,
    Compressor::Lz4,
    Compressor::Lz4hc,
    Compressor::Snappy,
    Compressor::Zlib,
    Compressor::Zstd,
];

#[test]
fn elements_of_any_type_are_as_the_documents_say() {
    let mut number = 0;
    for layout in LAYOUTS {
        for dtype in DTYPES {
            for compressor in COMPRESSORS {
                number += 1;
                if !testkit::effort::is_whole() && number % 7 != 0 {
                    continue;
                }
                let filter = [Filter::None, Filter::Byte, Filter::Bit][number / 5 % 3];
                elements(layout, dtype, compressor, filter, number);
            }
        }
    }
}

fn elements(
    layout: DatasetLayout,
    dtype: &str,
    compressor: Compressor,
    filter: Filter,
    number: usize,
) {
    let dtype = DType::parse(dtype).unwrap();
    let row_shape: &[u64] = [&[][..], &[3], &[5, 4]][number % 3];
    let rows = [1, 3, 16, 5000][number / 3 % 4];
    let folder = folder();
    let root = folder.path().join("array");
    let array = CArray::builder(dtype.clone())
        .layout(layout)
        .row_shape(row_shape)
        .compressor(compressor)
        .filter(filter)
        .superchunk(NonZeroU64::new(4).unwrap());
    // Chunks that have a part of a row, and do not fit into it.
    let array = match layout {
        DatasetLayout::CarrayDocument => {
            let sides = row_shape.iter().map(|side| side.div_ceil(2) + 1 - side % 2);
            array.chunk_shape(&[vec![rows], sides.collect()].concat())
        }
        _ => array.chunk_rows(rows),
    };
    let mut array = array.create(&root).unwrap();
    let row = dtype.itemsize() * row_shape.iter().product::<u64>();
    let mut wanted = Wanted::new(vec![0; row as usize]);
    change(&mut array, &mut wanted, &mut |wanted| {
        let read = read(layout, &root);
        let of = format!("{layout:?} {dtype} {row_shape:?} {rows}");
        assert_eq!(read.shape[..1], [wanted.rows()], "{of}");
        assert_eq!(read.shape[1..], *row_shape, "{of}");
        let big_endian = dtype.to_string().starts_with('>');
        assert_eq!(read.leaves[0].big_endian, big_endian, "{of}");
        assert!(read.bytes() == wanted.bytes, "{of}");
    });
}

/// Padding beyond the edges has this value, which the reader compares.
#[test]
fn chunks_at_the_edges_are_padded_with_the_default() {
    let folder = folder();
    let root = folder.path().join("array");
    let mut array = CArray::of::<i32>()
        .layout(DatasetLayout::CarrayDocument)
        .row_shape(&[5])
        .chunk_shape(&[4, 3])
        .default_element(&(-7i32).to_le_bytes())
        .create(&root)
        .unwrap();
    let mut wanted = Wanted::new((-7i32).to_le_bytes().repeat(5));
    change(&mut array, &mut wanted, &mut |wanted| {
        let read = read(DatasetLayout::CarrayDocument, &root);
        assert!(read.bytes() == wanted.bytes);
    });
}

/// A name, and an element's bytes.
const COLUMNS: [(&str, &str, usize); 5] = [
    ("id", "uint16", 2),
    ("place.at.lat", ">f8", 8),
    ("place.at.lon", ">f8", 8),
    ("place.name", "|S3", 3),
    ("end", "bool", 1),
];

type Columns = Vec<(String, Vec<u8>)>;

fn compare(table: &mut CTable, layout: DatasetLayout, root: &Path, columns: &Columns) {
    table.flush().unwrap();
    let read = read(layout, root);
    let names: Vec<&str> = columns.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(read.names(), names);
    for (name, bytes) in columns {
        assert!(read.leaf(name).bytes == *bytes, "column {name}");
    }
}

#[test]
fn columns_lie_within_columns() {
    for layout in LAYOUTS {
        let folder = folder();
        let root = folder.path().join("table");
        let framed = |array: bloscpack_datasets::CArrayBuilder| {
            array.spare(30).superchunk(NonZeroU64::new(3).unwrap())
        };
        let mut table = CTable::builder().layout(layout).chunk_rows(4);
        for (name, dtype, _) in COLUMNS {
            let array = CArray::builder(DType::parse(dtype).unwrap());
            table = table.column(name, framed(array));
        }
        let mut table = table.create(&root).unwrap();
        let mut columns: Columns = COLUMNS.map(|(name, ..)| (name.to_owned(), vec![])).into();
        compare(&mut table, layout, &root, &columns);
        assert_eq!(read(layout, &root).dtype, nested(layout), "{layout:?}");
        changes(&mut table, layout, &root, &mut columns);
        let attributes = [
            ("scale", json!("Celsius")),
            ("coords", json!({"lat": 40.5, "lon": [1, 0.5, true, null]})),
            ("\u{e9}", json!("yes")),
        ];
        for (key, value) in &attributes {
            table.set_attribute(key, value).unwrap();
        }
        table.flush().unwrap();
        assert!(table.remove_attribute("scale").unwrap());
        table.flush().unwrap();
        drop(table);
        let expected: Value = attributes[1..].iter().cloned().map(pair).collect();
        assert_eq!(read(layout, &root).attributes, expected, "{layout:?}");
    }
}

fn pair((key, value): (&str, Value)) -> (String, Value) {
    (key.to_owned(), value)
}

/// The dtype of a table with nested columns, in the spelling of each document.
fn nested(layout: DatasetLayout) -> Value {
    let names = match layout {
        DatasetLayout::BlzDocument => ["<u2", ">f8", "|S3", "|b1"],
        // One byte order is said for all; the first column's is little.
        _ => ["uint16", ">f8", "|S3", "bool"],
    };
    let [id, at, name, end] = names;
    json!([
        ["id", id],
        [
            "place",
            [["at", [["lat", at], ["lon", at]]], ["name", name]]
        ],
        ["end", end]
    ])
}

fn changes(table: &mut CTable, layout: DatasetLayout, root: &Path, columns: &mut Columns) {
    for rows in [1, 3, 30] {
        let new = COLUMNS.map(|(_, _, row)| sample::data(rows * row, (rows + row) as u8));
        table.append(&new.each_ref().map(Vec::as_slice)).unwrap();
        for ((_, column), new) in columns.iter_mut().zip(new) {
            column.extend(new);
        }
        compare(table, layout, root, columns);
    }
    table.set_slice("place.at.lon", &[2..5], &[7; 24]).unwrap();
    columns[2].1[16..40].fill(7);
    compare(table, layout, root, columns);
    for rows in [32, 20, 41, 0, 9] {
        table.resize(rows).unwrap();
        for ((_, column), (_, _, row)) in columns.iter_mut().zip(COLUMNS) {
            column.resize(rows as usize * row, 0);
        }
        compare(table, layout, root, columns);
    }
    let new = sample::data(36, 8);
    let four = CArray::of::<f32>();
    table
        .add_column("place.at.height", four, &new, Some(3))
        .unwrap();
    columns.insert(3, ("place.at.height".to_owned(), new));
    compare(table, layout, root, columns);
    let new = sample::data(18, 9);
    table.replace_column("id", &new).unwrap();
    columns[0].1 = new;
    compare(table, layout, root, columns);
    for name in ["place.at.lat", "place.at.lon", "place.at.height"] {
        table.delete_column(name, false).unwrap();
        columns.retain(|(found, _)| found != name);
        compare(table, layout, root, columns);
    }
}

/// Everything that was made by hand from the text of a document.
#[test]
fn what_the_documents_show_is_read() {
    let testdata = testkit::testdata("datasets/documents");
    for document in handmade::all() {
        // Git keeps no empty folders, so it is made here.
        let folder = folder();
        document.write(folder.path());
        let roots = [folder.path().to_owned(), testdata.join(document.name)];
        for root in roots {
            let dataset = Dataset::open(&root).unwrap();
            assert_eq!(dataset.attributes().to_value(), document.read.attributes);
            match dataset {
                Dataset::Array(array) => leaf(&array, &document, ""),
                Dataset::Table(table) => {
                    assert_eq!(table.names(), document.read.names(), "{}", document.name);
                    for name in table.names() {
                        leaf(table.column(name).unwrap(), &document, name);
                    }
                }
            }
        }
    }
}

fn leaf(array: &CArray, document: &handmade::Handmade, name: &str) {
    let leaf = document.read.leaf(name);
    let of = format!("{} {name}", document.name);
    assert_eq!(array.shape(), leaf.shape, "{of}");
    let found = array.read_rows(0..array.rows()).unwrap();
    assert!(found == leaf.bytes, "{of}");
    let big_endian = array.dtype().to_string().starts_with('>') && array.dtype().itemsize() > 1;
    assert_eq!(
        big_endian,
        leaf.big_endian && array.dtype().itemsize() > 1,
        "{of}"
    );
    for row in 0..array.rows() {
        let at = row as usize * array.row_bytes();
        let expected = &leaf.bytes[at..at + array.row_bytes()];
        assert_eq!(
            array.read_rows(row..row + 1).unwrap(),
            expected,
            "{of} {row}"
        );
    }
}

/// Datasets made by hand can be changed, and their reader sees the change.
#[test]
fn what_the_documents_show_is_changed() {
    for document in handmade::all() {
        let layout = if document.name.starts_with("blz") {
            DatasetLayout::BlzDocument
        } else {
            DatasetLayout::CarrayDocument
        };
        let folder = folder();
        let root = folder.path().join("dataset");
        document.write(&root);
        let mut expected = document.read.clone();
        match Dataset::edit(&root).unwrap() {
            Dataset::Array(mut array) => {
                let new = sample::data(array.row_bytes() * 7, 3);
                array.append(&new).unwrap();
                expected.leaves[0].bytes.extend(new);
                array.flush().unwrap();
            }
            Dataset::Table(mut table) => {
                let mut new = Vec::new();
                for (leaf, name) in expected.leaves.iter_mut().zip(table.names()) {
                    new.push(sample::data(table.column(name).unwrap().row_bytes() * 7, 3));
                    leaf.bytes.extend_from_slice(new.last().unwrap());
                }
                let new: Vec<&[u8]> = new.iter().map(Vec::as_slice).collect();
                table.append(&new).unwrap();
                table.flush().unwrap();
            }
        }
        expected.shape[0] += 7;
        for leaf in &mut expected.leaves {
            leaf.shape[0] += 7;
        }
        let read = read(layout, &root);
        assert_eq!(read.shape, expected.shape, "{}", document.name);
        for (found, leaf) in read.leaves.iter().zip(&expected.leaves) {
            let of = format!("{} {}", document.name, leaf.name);
            assert_eq!(found.name, leaf.name, "{of}");
            assert_eq!(found.shape, leaf.shape, "{of}");
            assert!(found.bytes == leaf.bytes, "{of}");
        }
        assert_eq!(read.dtype, expected.dtype, "{}", document.name);
    }
}
