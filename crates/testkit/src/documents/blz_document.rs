//! BLZ as its document describes it, with what the decisions settle.

use super::digest::crc32;
use super::element::{Element, is_big_endian};
use super::superchunks::{
    Column, Front, chunks, evenly_filled, folder_name, only_columns, superchunks,
};
use super::{
    Leaf, Read, count, has_keys, int32, int64, json_line, lists_only, number, numbers, product,
    size,
};
use serde_json::{Value, json};
use std::path::Path;

const HEADER: usize = 32;
const OFFSETS: u8 = 0x01;
const METADATA: u8 = 0x02;
/// Ours: the reserved word holds the crc32 of all before the chunks, with itself zero.
const SEALED: u8 = 0x08;

/// Panics where the dataset is not as the document says.
pub fn read(root: &Path) -> Read {
    lists_only(root, &["data", "meta"]);
    lists_only(&root.join("meta"), &["sizes", "storage", "attributes"]);
    let (sizes, storage) = (
        json_line(&root.join("meta/sizes")),
        json_line(&root.join("meta/storage")),
    );
    let of = root.display().to_string();
    has_keys(&sizes, &["shape", "nbytes", "cbytes"], &of);
    has_keys(
        &storage,
        &["dtype", "cparams", "chunklen", "dflt", "expectedlen"],
        &of,
    );
    check_params(&storage["cparams"], &of);
    number(&storage, "expectedlen");
    number(&sizes, "cbytes");
    let shape = numbers(&sizes["shape"]);
    let chunklen = number(&storage, "chunklen");
    assert!(
        !shape.is_empty() && chunklen > 0,
        "{of}: shape and chunklen"
    );
    let columns = columns(&storage["dtype"], &shape[1..]);
    only_columns(&root.join("data"), &columns);
    let column = |column| leaf(&root.join("data"), column, shape[0], chunklen);
    let leaves: Vec<Leaf> = columns.iter().map(column).collect();
    let nbytes: usize = leaves.iter().map(|leaf| leaf.bytes.len()).sum();
    assert_eq!(number(&sizes, "nbytes"), count(nbytes), "{of}: nbytes");
    Read {
        dtype: storage["dtype"].clone(),
        shape,
        attributes: json_line(&root.join("meta/attributes")),
        leaves,
    }
}

/// The document's example has two keys; the other two are bcolz's.
fn check_params(params: &Value, of: &str) {
    let known = ["clevel", "shuffle", "cname", "quantize"];
    let keys = params.as_object().unwrap().keys();
    assert!(
        keys.clone().all(|key| known.contains(&key.as_str())),
        "{of}: {params}"
    );
    assert!(number(params, "clevel") <= 9, "{of}: {params}");
    let shuffle = &params["shuffle"];
    let filter = shuffle.is_boolean() || shuffle.as_u64().is_some_and(|filter| filter <= 2);
    assert!(filter, "{of}: shuffle: {params}");
}

/// The leaves of a dtype: text, or a nested list of `[name, dtype]` and perhaps a shape.
fn columns(dtype: &Value, row: &[u64]) -> Vec<Column> {
    let (path, shape) = (Vec::new(), row.to_vec());
    match dtype {
        Value::String(dtype) => {
            let dtype = dtype.clone();
            vec![Column { path, dtype, shape }]
        }
        _ => {
            assert!(row.is_empty(), "rows of fields have a shape: {row:?}");
            fields(dtype, &path)
        }
    }
}

fn fields(dtype: &Value, above: &[String]) -> Vec<Column> {
    let fields = dtype.as_array().unwrap_or_else(|| panic!("dtype {dtype}"));
    assert!(!fields.is_empty(), "no fields");
    let mut columns = Vec::new();
    for field in fields {
        let mut path = above.to_vec();
        path.push(folder_name(&field[0]));
        let shape = field.get(2).map_or(Vec::new(), numbers);
        match &field[1] {
            Value::String(dtype) => columns.push(Column {
                path,
                dtype: dtype.clone(),
                shape,
            }),
            nested => columns.extend(self::fields(nested, &path)),
        }
    }
    columns
}

fn leaf(data: &Path, column: &Column, rows: u64, chunklen: u64) -> Leaf {
    let row = size(product(&column.shape)) * Element::of(&column.dtype).size;
    let mut folder = data.to_owned();
    folder.extend(&column.path);
    let mut left = rows;
    let (mut bytes, mut counts) = (Vec::new(), Vec::new());
    for (name, file) in superchunks(&folder) {
        let found = superchunk(&file, &name, size(chunklen) * row);
        counts.push(found.len());
        for data in found {
            let expected = left.min(chunklen);
            assert_eq!(data.len(), size(expected) * row, "{name}: rows of a chunk");
            left -= expected;
            bytes.extend(data);
        }
    }
    assert_eq!(left, 0, "{}: rows without a chunk", folder.display());
    // A dataset without rows may have a first superchunk without chunks.
    if counts != [0] {
        evenly_filled(&counts, &folder);
    }
    let mut shape = vec![rows];
    shape.extend(&column.shape);
    Leaf {
        name: column.name(),
        dtype: column.dtype.clone(),
        big_endian: is_big_endian(&column.dtype),
        shape,
        bytes,
        attributes: json!({}),
    }
}

/// The data of each chunk.
fn superchunk(file: &[u8], of: &str, chunk_size: usize) -> Vec<Vec<u8>> {
    assert!(file.len() >= HEADER, "{of}: header cut");
    let [version, options, checksum, typesize] = file[4..8] else {
        unreachable!()
    };
    assert_eq!(
        (&file[..4], version),
        (&b"blpk"[..], 2),
        "{of}: magic and version"
    );
    assert_eq!(
        options & !(OFFSETS | METADATA | SEALED),
        0,
        "{of}: options {options:#x}"
    );
    let known = |value: i64, what: &str| {
        usize::try_from(value).unwrap_or_else(|_| panic!("{of}: {what} is {value}"))
    };
    let stated = known(int32(file, 8).into(), "chunk-size");
    let last = known(int32(file, 12).into(), "last-chunk");
    let nchunks = known(int64(file, 16), "nchunks");
    let meta_size = known(int32(file, 24).into(), "meta-size");
    let at = HEADER + meta_size;
    let offsets = options & OFFSETS != 0;
    check_metadata(file, of, options, meta_size);
    check_seal(
        file,
        of,
        options,
        at + if offsets { 8 * nchunks } else { 0 },
    );

    let front = Front {
        checksum,
        nchunks,
        at,
        offsets,
    };
    let check =
        |chunk: &super::chunk::Chunk| assert_eq!(chunk.typesize, typesize, "{of}: typesize");
    let found = chunks(file, of, &front, check);
    assert_eq!(found.last().map_or(0, Vec::len), last, "{of}: last-chunk");
    let alone = nchunks <= 1 && stated == last;
    assert!(
        alone || stated == chunk_size,
        "{of}: chunk-size {stated}, expected {chunk_size}"
    );
    found
}

fn check_metadata(file: &[u8], of: &str, options: u8, meta_size: usize) {
    if options & METADATA == 0 {
        assert_eq!(meta_size, 0, "{of}: meta-size without metadata");
        return;
    }
    let metadata = file.get(HEADER..HEADER + meta_size);
    let metadata = metadata.unwrap_or_else(|| panic!("{of}: metadata cut"));
    super::python::json(std::str::from_utf8(metadata).unwrap());
}

fn check_seal(file: &[u8], of: &str, options: u8, end: usize) {
    let mut front = file[..end].to_vec();
    front[28..32].fill(0);
    let sealed = options & SEALED != 0;
    let expected = if sealed { crc32(&front) } else { 0 };
    assert_eq!(file[28..32], expected.to_le_bytes(), "{of}: reserved word");
}
