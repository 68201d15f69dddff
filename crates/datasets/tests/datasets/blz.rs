//! Tests that our BLZ datasets are exactly as BLZ 0.6 would have written them, after every change.

use crate::dataset_model::sample;
use crate::disk::{Wanted, change, folder, seen_by};
use crate::documents::{Read, blz};
use blosc1::{Compressor, Filter};
use bloscpack_datasets::{CArray, CTable, Dataset, DatasetLayout};
use bloscpack_dtype::DType;
use serde_json::json;
use std::path::Path;

/// Nothing of these is younger than BLZ.
const DTYPES: [&str; 20] = [
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
    "bool",
    ">i4",
    ">f8",
    "|S5",
    "|S300",
    "<U3",
    ">U2",
    "datetime64[ns]",
    "|V7",
];
const COMPRESSORS: [Compressor; 5] = [
    Compressor::Blosclz,
    Compressor::Lz4,
    Compressor::Lz4hc,
    Compressor::Snappy,
    Compressor::Zlib,
];
const ROW_SHAPES: [&[u64]; 3] = [&[], &[3], &[2, 2]];

fn read(root: &Path) -> Read {
    seen_by(blz::read, root)
}

#[test]
fn arrays_are_as_blz_writes_them() {
    let mut number = 0;
    for dtype in DTYPES {
        for compressor in COMPRESSORS {
            number += 1;
            let filter = [Filter::None, Filter::Byte][number / 2 % 2];
            array(dtype, compressor, filter, number);
        }
    }
}

fn array(dtype: &str, compressor: Compressor, filter: Filter, number: usize) {
    let row_shape = ROW_SHAPES[number % 3];
    let elements: u64 = row_shape.iter().product();
    let dtype = DType::parse(dtype).unwrap();
    let item = dtype.itemsize() as usize;
    // Chunks of a row, of some, and of several blocks.
    let chunk = [1, 7, 64, 300_000 / (item as u64 * elements)][number / 3 % 4];
    let mut default = vec![0; item];
    if number % 2 == 1 && dtype.parse_text("1", &mut default).is_err() {
        default.fill(0);
    }
    let folder = folder();
    let root = folder.path().join("array");
    let mut array = CArray::builder(dtype.clone())
        .layout(DatasetLayout::Blz)
        .row_shape(row_shape)
        .chunk_rows(chunk)
        .compressor(compressor)
        .filter(filter)
        .level((number % 10) as u8)
        .default_element(&default)
        .create(&root)
        .unwrap();
    let mut wanted = Wanted::new(default.repeat(elements as usize));
    change(&mut array, &mut wanted, &mut |wanted| {
        let read = read(&root);
        assert_eq!(read.dtype, json!(dtype.to_string()));
        assert_eq!(read.shape[..1], [wanted.rows()]);
        assert_eq!(read.shape[1..], *row_shape);
        assert!(
            read.bytes() == wanted.bytes,
            "{dtype}: {} rows",
            wanted.rows()
        );
    });
    array
        .set_attribute("unit", &json!({"m": [1, null]}))
        .unwrap();
    array.flush().unwrap();
    drop(array);
    assert_eq!(
        blz::read(&root).attributes,
        json!({"unit": {"m": [1, null]}})
    );
}

/// Columns as they have to be.
type Columns = Vec<(&'static str, Vec<u8>)>;

fn compare(table: &mut CTable, root: &Path, columns: &Columns) {
    table.flush().unwrap();
    let read = read(root);
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    assert_eq!(read.names(), names);
    for (name, bytes) in columns {
        assert!(read.leaf(name).bytes == *bytes, "column {name}");
    }
}

#[test]
fn tables_are_as_blz_writes_them() {
    let folder = folder();
    let root = folder.path().join("table");
    let mut table = CTable::builder()
        .layout(DatasetLayout::Blz)
        .column("id", CArray::of::<u32>().chunk_rows(5))
        .column(
            "no identifier",
            CArray::of::<f64>().row_shape(&[2]).chunk_rows(8),
        )
        .column("\u{e9}", CArray::builder(DType::parse("|S3").unwrap()))
        .create(&root)
        .unwrap();
    let mut columns: Columns = vec![
        ("id", vec![]),
        ("no identifier", vec![]),
        ("\u{e9}", vec![]),
    ];
    compare(&mut table, &root, &columns);
    for rows in [10, 0, 23] {
        let rows = [4, 16, 3].map(|row| sample::data(rows * row, row as u8));
        table.append(&rows.each_ref().map(Vec::as_slice)).unwrap();
        for ((_, column), new) in columns.iter_mut().zip(rows) {
            column.extend(new);
        }
        compare(&mut table, &root, &columns);
    }
    table.set_slice("id", &[3..5], &[9; 8]).unwrap();
    columns[0].1[12..20].fill(9);
    compare(&mut table, &root, &columns);
    for rows in [30, 10, 40, 0, 6] {
        table.resize(rows).unwrap();
        for ((_, column), row) in columns.iter_mut().zip([4, 16, 3]) {
            column.resize(rows as usize * row, 0);
        }
        compare(&mut table, &root, &columns);
    }
    let new = sample::data(6, 3);
    table
        .add_column("first", CArray::of::<u8>(), &new, Some(0))
        .unwrap();
    columns.insert(0, ("first", new));
    compare(&mut table, &root, &columns);
    let new = sample::data(24, 5);
    table.replace_column("id", &new).unwrap();
    columns[1].1 = new;
    compare(&mut table, &root, &columns);
    // BLZ itself left the column in `dirs`, and could not open the table any more.
    table.delete_column("no identifier", false).unwrap();
    columns.remove(2);
    compare(&mut table, &root, &columns);
    table.set_attribute("a", &json!(1)).unwrap();
    table
        .set_column_attribute("id", "b", &json!("\u{e9}"))
        .unwrap();
    compare(&mut table, &root, &columns);
    drop(table);
    let read = blz::read(&root);
    assert_eq!(read.attributes, json!({"a": 1}));
    assert_eq!(read.leaf("id").attributes, json!({"b": "\u{e9}"}));
}

#[test]
fn what_blz_cannot_open_is_refused() {
    let folder = folder();
    let of = |name: &str| folder.path().join(name);
    let array = CArray::of::<i32>().layout(DatasetLayout::Blz);
    let zstd = array.clone().compressor(Compressor::Zstd);
    assert!(zstd.create(of("zstd")).is_err());
    let bits = array.clone().filter(Filter::Bit);
    assert!(bits.create(of("bits")).is_err());
    let mut sound = array.create(of("sound")).unwrap();
    sound.flush().unwrap();
    assert!(
        matches!(Dataset::open(of("sound")), Ok(found) if found.layout() == DatasetLayout::Blz)
    );
}
