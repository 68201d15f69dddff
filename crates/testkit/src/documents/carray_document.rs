//! The proposal for carray, with what the decisions settle.

use super::element::{Element, is_big_endian};
use super::superchunks::{
    Column, Front, chunks, evenly_filled, folder_name, only_columns, superchunks,
};
use super::{
    Leaf, Read, content, count, int32, int64, lists_only, number, numbers, product, python, size,
    yaml,
};
use serde_json::{Value, json};
use std::path::Path;

const HEADER: usize = 32;
/// The version that we decided to write; the proposal does not specify a number.
const VERSION: u8 = 4;

/// Panics where the dataset is not as the proposal says, or the version of a superchunk is not 4.
pub fn read(root: &Path) -> Read {
    read_version(root, Some(VERSION))
}

/// Any version if none is given: readers take all.
pub fn read_version(root: &Path, version: Option<u8>) -> Read {
    lists_only(root, &["data", "meta"]);
    lists_only(&root.join("meta"), &["shape", "storage", "attributes"]);
    let storage = Storage::read(root);
    let shape = shape(&root.join("meta/shape"));
    assert_eq!(
        shape.len(),
        storage.chunkshape.len(),
        "dimensions of shape and chunkshape"
    );
    only_columns(&root.join("data"), &storage.columns);
    let column = |column| leaf(&root.join("data"), column, &shape, &storage, version);
    let leaves = storage.columns.iter().map(column).collect();
    let attributes = String::from_utf8(content(&root.join("meta/attributes"))).unwrap();
    Read {
        dtype: nested(&storage.dtype),
        attributes: yaml::map(&attributes),
        shape,
        leaves,
    }
}

/// A tuple of Python's, perhaps with a newline.
fn shape(file: &Path) -> Vec<u64> {
    let text = String::from_utf8(content(file)).unwrap();
    let tuple = text.strip_suffix('\n').unwrap_or(&text);
    assert!(
        tuple.starts_with('(') && tuple.ends_with(')'),
        "shape {text:?}"
    );
    let shape = numbers(&python::literal(tuple));
    assert!(!shape.is_empty(), "shape {text:?}");
    shape
}

/// `meta/storage`.
struct Storage {
    dtype: Value,
    columns: Vec<Column>,
    chunkshape: Vec<u64>,
    superchunksize: u64,
    big_endian: bool,
    default: Option<Value>,
}

impl Storage {
    fn read(root: &Path) -> Self {
        let text = String::from_utf8(content(&root.join("meta/storage"))).unwrap();
        let storage = yaml::map(&text);
        // The proposal has no place for the default, which pads the chunks at the edges.
        let known = [
            "dtype",
            "chunkshape",
            "superchunksize",
            "endianness",
            "order",
            "compression",
            "dflt",
        ];
        let mut keys = storage.as_object().unwrap().keys();
        assert!(
            keys.all(|key| known.contains(&key.as_str())),
            "storage: {storage}"
        );
        let or = |key: &str, default: &str| match &storage[key] {
            Value::Null => default.to_owned(),
            value => value.as_str().unwrap().to_owned(),
        };
        let endianness = or("endianness", "little");
        assert!(
            ["little", "big"].contains(&endianness.as_str()),
            "storage: {storage}"
        );
        assert_eq!(or("order", "C"), "C", "storage: {storage}");
        check_compression(&storage["compression"]);
        let chunkshape = storage["chunkshape"].as_str().unwrap();
        let chunkshape = numbers(&python::literal(chunkshape));
        let superchunksize = number(&storage, "superchunksize");
        assert!(
            superchunksize > 0 && product(&chunkshape) > 0,
            "storage: {storage}"
        );
        let dtype = storage["dtype"].clone();
        Self {
            columns: columns(&dtype, &[]),
            dtype,
            chunkshape,
            superchunksize,
            big_endian: endianness == "big",
            default: storage.get("dflt").cloned(),
        }
    }
}

fn check_compression(compression: &Value) {
    super::has_keys(compression, &["library", "level", "filters"], "compression");
    let libraries = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
    let library = compression["library"].as_str().unwrap();
    assert!(libraries.contains(&library), "{compression}");
    assert!(number(compression, "level") <= 9, "{compression}");
    let filters = compression["filters"].as_array().unwrap().iter();
    let mut filters = filters.map(|filter| filter.as_str().unwrap());
    let known = ["shuffle", "bitshuffle", "truncate"];
    assert!(
        filters.all(|filter| known.contains(&filter)),
        "{compression}"
    );
}

/// A dtype is a name, or a map of columns.
fn columns(dtype: &Value, above: &[String]) -> Vec<Column> {
    let Value::Object(columns) = dtype else {
        let dtype = dtype.as_str().unwrap_or_else(|| panic!("dtype {dtype}"));
        let (path, dtype, shape) = (above.to_vec(), dtype.to_owned(), Vec::new());
        return vec![Column { path, dtype, shape }];
    };
    let below = |(name, dtype): (&String, &Value)| {
        let mut path = above.to_vec();
        path.push(folder_name(&json!(name)));
        self::columns(dtype, &path)
    };
    columns.iter().flat_map(below).collect()
}

/// As a list of `[name, dtype]`.
fn nested(dtype: &Value) -> Value {
    match dtype {
        Value::Object(columns) => {
            let pairs = columns
                .iter()
                .map(|(name, dtype)| json!([name, nested(dtype)]));
            pairs.collect()
        }
        name => name.clone(),
    }
}

fn leaf(
    data: &Path,
    column: &Column,
    shape: &[u64],
    storage: &Storage,
    version: Option<u8>,
) -> Leaf {
    let element = Element::of(&column.dtype);
    let mut folder = data.to_owned();
    folder.extend(&column.path);
    let chunk_size = size(product(&storage.chunkshape)) * element.size;
    let (mut found, mut counts) = (Vec::new(), Vec::new());
    for (name, file) in superchunks(&folder) {
        let chunks = superchunk(&file, &name, chunk_size, version);
        counts.push(chunks.len());
        found.extend(chunks);
    }
    let sides = shape.iter().zip(&storage.chunkshape);
    let grid: Vec<u64> = sides.map(|(side, chunk)| side.div_ceil(*chunk)).collect();
    assert_eq!(
        count(found.len()),
        product(&grid),
        "{}: chunks",
        folder.display()
    );
    if counts != [0] {
        evenly_filled(&counts, &folder);
        let first = counts.first().map(|first| count(*first));
        let full = storage.superchunksize.min(product(&grid));
        assert!(
            first.is_none_or(|first| first == full),
            "{}: {counts:?} chunks",
            folder.display()
        );
    }
    let big_endian = storage.big_endian || is_big_endian(&column.dtype);
    let padding = padding(storage, &column.path, element, big_endian);
    Leaf {
        name: column.name(),
        dtype: column.dtype.clone(),
        big_endian,
        shape: shape.to_vec(),
        bytes: assembled(&found, shape, &storage.chunkshape, &grid, &padding),
        attributes: json!({}),
    }
}

/// The bytes of the padding element: the default if there is one, else zero. Elements that are not numbers are not
/// specified, and not compared.
fn padding(storage: &Storage, path: &[String], element: Element, big_endian: bool) -> Vec<u8> {
    let step = |value: Option<Value>, name: &String| value.map(|value| value[name].clone());
    let default = match &storage.default {
        Some(Value::Object(map)) => path.iter().fold(Some(json!(map)), step),
        other => other.clone(),
    };
    let value = default.unwrap_or(json!(0));
    let mut bytes = match (element.kind, element.size) {
        ('b', _) => vec![u8::from(value.as_bool() == Some(true))],
        ('i' | 'M' | 'm', size) => value.as_i64().unwrap().to_le_bytes()[..size].to_vec(),
        ('u', size) => value.as_u64().unwrap().to_le_bytes()[..size].to_vec(),
        ('f', 4 | 8) if value.is_string() => return Vec::new(),
        ('f', 8) => value.as_f64().unwrap().to_le_bytes().to_vec(),
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the value nearest to it is meant"
        )]
        ('f', 4) => (value.as_f64().unwrap() as f32).to_le_bytes().to_vec(),
        (_, size) if value == 0 || value == "" => vec![0; size],
        _ => return Vec::new(),
    };
    if big_endian {
        bytes.reverse();
    }
    bytes
}

/// Takes the chunks of the grid apart, row by row of the last dimension.
fn assembled(
    chunks: &[Vec<u8>],
    shape: &[u64],
    chunkshape: &[u64],
    grid: &[u64],
    padding: &[u8],
) -> Vec<u8> {
    let elements = product(chunkshape);
    let mut bytes = Vec::new();
    if let Some(first) = chunks.first() {
        let item = first.len() / size(elements);
        bytes.resize(size(product(shape)) * item, 0);
        for (number, chunk) in chunks.iter().enumerate() {
            let corner = position(count(number), grid);
            for (at, element) in chunk.chunks(item).enumerate() {
                let within = position(count(at), chunkshape);
                let place = corner.iter().zip(&within).zip(chunkshape);
                let place: Vec<u64> = place.map(|((c, w), side)| c * side + w).collect();
                if place.iter().zip(shape).any(|(at, side)| at >= side) {
                    let pads = padding.is_empty() || element == padding;
                    assert!(
                        pads,
                        "chunk {number}: {element:?} pads, expected {padding:?}"
                    );
                    continue;
                }
                let index = |index: u64, (at, side): (&u64, &u64)| index * side + at;
                let to = size(place.iter().zip(shape).fold(0, index)) * item;
                bytes[to..to + item].copy_from_slice(element);
            }
        }
    }
    bytes
}

/// The coordinates of the element with this number, in C order.
fn position(mut number: u64, sides: &[u64]) -> Vec<u64> {
    let mut place = vec![0; sides.len()];
    for (at, side) in place.iter_mut().zip(sides).rev() {
        (*at, number) = (number % side, number / side);
    }
    place
}

/// The data of each chunk.
fn superchunk(file: &[u8], of: &str, chunk_size: usize, version: Option<u8>) -> Vec<Vec<u8>> {
    assert!(file.len() >= HEADER, "{of}: header cut");
    assert_eq!(&file[..4], b"blpk", "{of}: magic");
    assert!(
        version.is_none_or(|version| file[4] == version),
        "{of}: version {}",
        file[4]
    );
    let [checksum, index, reserved] = file[5..8] else {
        unreachable!()
    };
    assert!(
        index <= 1 && reserved == 0,
        "{of}: index {index}, reserved {reserved}"
    );
    assert_eq!(
        int32(file, 8),
        i32::try_from(chunk_size).unwrap(),
        "{of}: chunk-size"
    );
    assert_eq!(int32(file, 12), 0, "{of}: reserved");
    assert_eq!(
        int64(file, 16),
        i64::try_from(file.len()).unwrap(),
        "{of}: file-size"
    );
    let nchunks = int64(file, 24);
    let nchunks = nchunks
        .try_into()
        .unwrap_or_else(|_| panic!("{of}: nchunks {nchunks}"));
    let (at, offsets) = (HEADER, index == 1);
    let front = Front {
        checksum,
        nchunks,
        at,
        offsets,
    };
    let check = |chunk: &super::chunk::Chunk| assert_eq!(chunk.nbytes, chunk_size, "{of}: nbytes");
    chunks(file, of, &front, check)
}
