//! The common part of bcolz, BLZ and carray: one row after the other, in files of one chunk each.

use super::chunk::Chunk;
use super::element::{Element, is_big_endian};
use super::{
    Leaf, Read, content, count, has_keys, json_line, listed, lists_only, number, numbers, product,
    size,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// In what the programs differ.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    /// The key of `meta/storage` for how chunks are compressed.
    pub params: &'static str,
    pub shuffle: Shuffle,
    /// Whether compressor and quantization are among the params.
    pub compressor: bool,
    /// Whether the default of an array of rows is as nested as a row.
    pub nested_default: bool,
    /// Bytes counted in `cbytes` for each full chunk in addition to its own.
    pub overhead: i64,
    pub dirs: Dirs,
    /// Whether a text's length is its typesize, where later programs have 1.
    pub long_typesize: bool,
    /// Whether chunks are for C-Blosc 1.3.
    pub old_blosc: bool,
}

/// How `shuffle` is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shuffle {
    Truth,
    Number,
    Either,
}

/// The entries of `__rootdirs__` besides `names`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dirs {
    Absent,
    /// The name of each column's folder.
    Names,
    /// Where each folder was when it was written.
    Paths,
}

/// Deviations that a program is known to leave in existing files, but would not write itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Relaxed {
    /// Superchunks that `meta/sizes` does not count: trimmed away, or appended without a flush.
    pub superchunks: bool,
    /// A last chunk of more rows than are left.
    pub long_chunk: bool,
    /// `cbytes` of chunks that have been trimmed since.
    pub cbytes: bool,
    /// Columns that a table had once: in its folder, or in its `dirs`.
    pub columns: bool,
}

pub fn read(root: &Path, rules: Rules, relaxed: Relaxed) -> Read {
    if root.join("__rootdirs__").symlink_metadata().is_err() {
        return array(root, "", rules, relaxed);
    }
    let names = column_names(root, rules.dirs, relaxed);
    let mut entries = vec!["__rootdirs__", "__attrs__"];
    entries.extend(names.iter().map(String::as_str));
    if !relaxed.columns {
        lists_only(root, &entries);
    }
    let column = |name: &String| array(&root.join(name), name, rules, relaxed);
    let columns: Vec<Read> = names.iter().map(column).collect();
    let rows = columns.first().map_or(0, |column| column.shape[0]);
    for column in &columns {
        assert_eq!(column.shape[0], rows, "rows of {:?}", column.names());
    }
    let leaves: Vec<_> = columns
        .into_iter()
        .flat_map(|column| column.leaves)
        .collect();
    Read {
        dtype: leaves
            .iter()
            .map(|leaf| json!([leaf.name, leaf.dtype]))
            .collect(),
        shape: vec![rows],
        attributes: json_line(&root.join("__attrs__")),
        leaves,
    }
}

fn column_names(root: &Path, dirs: Dirs, relaxed: Relaxed) -> Vec<String> {
    let of = root.display().to_string();
    let rootdirs = json_line(&root.join("__rootdirs__"));
    let keys: &[&str] = match dirs {
        Dirs::Absent => &["names"],
        Dirs::Names | Dirs::Paths => &["names", "dirs"],
    };
    has_keys(&rootdirs, keys, &of);
    let names = rootdirs["names"].as_array().unwrap().iter();
    let names: Vec<_> = names
        .map(|name| name.as_str().unwrap().to_owned())
        .collect();
    let different: BTreeSet<_> = names.iter().collect();
    assert_eq!(
        different.len(),
        names.len(),
        "{of}: a name twice: {names:?}"
    );
    for name in &names {
        let hidden = [".", "..", "", "__attrs__", "__rootdirs__"].contains(&name.as_str());
        assert!(
            !hidden && !name.contains(['/', '\0']),
            "{of}: column {name:?}"
        );
    }
    if dirs != Dirs::Absent {
        check_dirs(&rootdirs["dirs"], &names, dirs, relaxed, &of);
    }
    names
}

fn check_dirs(found: &Value, names: &[String], dirs: Dirs, relaxed: Relaxed, of: &str) {
    let found = found.as_object().unwrap();
    let missing = names.iter().find(|name| !found.contains_key(*name));
    assert_eq!(missing, None, "{of}: dirs");
    assert!(
        relaxed.columns || found.len() == names.len(),
        "{of}: dirs: {found:?}"
    );
    for (name, dir) in found {
        let dir = dir.as_str().unwrap();
        let base = Path::new(dir).file_name().unwrap().to_str().unwrap();
        assert_eq!(base, name, "{of}: dirs");
        assert!(dirs == Dirs::Paths || dir == base, "{of}: dirs: {dir}");
    }
}

/// `meta/sizes` and `meta/storage` of one array.
struct Meta {
    dtype: String,
    element: Element,
    shape: Vec<u64>,
    chunklen: u64,
    nbytes: i64,
    cbytes: i64,
}

fn array(root: &Path, name: &str, rules: Rules, relaxed: Relaxed) -> Read {
    lists_only(root, &["__attrs__", "data", "meta"]);
    lists_only(&root.join("meta"), &["sizes", "storage"]);
    let attributes = json_line(&root.join("__attrs__"));
    let meta = Meta::read(root, rules);
    let of = root.display();
    let (bytes, compressed) = if meta.element.kind == 'O' {
        objects(root, &meta, rules)
    } else {
        rows(root, &meta, rules, relaxed)
    };
    let nbytes = i64::try_from(bytes.len()).unwrap();
    assert_eq!(meta.nbytes, nbytes, "{of}: nbytes");
    assert!(
        relaxed.cbytes || meta.cbytes == compressed,
        "{of}: cbytes {}, expected {compressed}",
        meta.cbytes
    );
    let leaf = Leaf {
        name: name.to_owned(),
        big_endian: is_big_endian(&meta.dtype),
        dtype: meta.dtype.clone(),
        shape: meta.shape.clone(),
        bytes,
        attributes: attributes.clone(),
    };
    Read {
        dtype: meta.dtype.into(),
        shape: meta.shape,
        attributes,
        leaves: vec![leaf],
    }
}

impl Meta {
    fn read(root: &Path, rules: Rules) -> Self {
        let (sizes_at, storage_at) = (root.join("meta/sizes"), root.join("meta/storage"));
        let (sizes, storage) = (json_line(&sizes_at), json_line(&storage_at));
        has_keys(
            &sizes,
            &["shape", "nbytes", "cbytes"],
            &sizes_at.display().to_string(),
        );
        let of = storage_at.display().to_string();
        has_keys(
            &storage,
            &["dtype", rules.params, "chunklen", "expectedlen", "dflt"],
            &of,
        );
        check_params(&storage[rules.params], rules, &of);
        let dtype = storage["dtype"].as_str().unwrap().to_owned();
        let shape = numbers(&sizes["shape"]);
        assert!(!shape.is_empty(), "{of}: no shape");
        number(&storage, "expectedlen");
        let element = Element::of(&dtype);
        let default = &storage["dflt"];
        let row = if rules.nested_default {
            &shape[1..]
        } else {
            &[]
        };
        assert!(is_default(default, row, element), "{of}: dflt {default}");
        let meta = Self {
            element,
            dtype,
            shape,
            chunklen: number(&storage, "chunklen"),
            nbytes: sizes["nbytes"].as_i64().unwrap(),
            cbytes: sizes["cbytes"].as_i64().unwrap(),
        };
        assert!(meta.chunklen > 0, "{of}: chunklen 0");
        meta
    }

    fn row(&self) -> u64 {
        product(&self.shape[1..]) * count(self.element.size)
    }
}

fn check_params(params: &Value, rules: Rules, of: &str) {
    let keys: &[&str] = if rules.compressor {
        &["clevel", "shuffle", "cname", "quantize"]
    } else {
        &["clevel", "shuffle"]
    };
    has_keys(params, keys, of);
    assert!(number(params, "clevel") <= 9, "{of}: {params}");
    let truth = params["shuffle"].is_boolean() && rules.shuffle != Shuffle::Number;
    let filter = params["shuffle"].as_u64().is_some_and(|filter| filter <= 2);
    let filter = filter && rules.shuffle != Shuffle::Truth;
    assert!(truth || filter, "{of}: shuffle: {params}");
    if rules.compressor {
        let names = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];
        let name = params["cname"].as_str().unwrap();
        assert!(names.contains(&name), "{of}: {params}");
        number(params, "quantize");
    }
}

fn is_default(value: &Value, row: &[u64], element: Element) -> bool {
    let Some((side, within)) = row.split_first() else {
        return element.may_be(value);
    };
    let values = value.as_array();
    values.is_some_and(|values| {
        count(values.len()) == *side && values.iter().all(|one| is_default(one, within, element))
    })
}

/// All rows, and the `cbytes` that the program would have counted.
fn rows(root: &Path, meta: &Meta, rules: Rules, relaxed: Relaxed) -> (Vec<u8>, i64) {
    let (rows, chunk_bytes) = (meta.shape[0], size(meta.chunklen * meta.row()));
    let chunks = rows.div_ceil(meta.chunklen);
    only_chunks(&root.join("data"), chunks, relaxed);
    let mut typesize = meta.element.typesize();
    if rules.long_typesize && meta.element.kind == 'S' && meta.element.size <= 255 {
        typesize = meta.element.size.try_into().unwrap();
    }
    let mut bytes = Vec::new();
    let mut compressed = i64::try_from(chunk_bytes).unwrap();
    for number in 0..chunks {
        let file = root.join(format!("data/__{number}.blp"));
        let of = file.display();
        let (data, len) = superchunk(&file, typesize, rules);
        let left = size((rows - number * meta.chunklen).min(meta.chunklen) * meta.row());
        let long = left < data.len() && data.len() <= chunk_bytes && relaxed.long_chunk;
        assert!(
            long || data.len() == left,
            "{of}: {} bytes of rows, expected {left}",
            data.len()
        );
        bytes.extend_from_slice(&data[..left]);
        if left == chunk_bytes {
            compressed += len + rules.overhead;
        }
    }
    (bytes, compressed)
}

/// Objects have a file each.
fn objects(root: &Path, meta: &Meta, rules: Rules) -> (Vec<u8>, i64) {
    only_chunks(&root.join("data"), meta.shape[0], Relaxed::default());
    let file = |number: u64| root.join(format!("data/__{number}.blp"));
    let pickles = (0..meta.shape[0]).map(|number| superchunk(&file(number), 1, rules).0);
    let pickles: Vec<u8> = pickles.flatten().collect();
    (pickles, meta.cbytes)
}

fn only_chunks(folder: &Path, chunks: u64, relaxed: Relaxed) {
    let listed = listed(folder);
    let of = folder.display();
    assert!(chunks <= count(listed.len()), "{of}: {chunks} superchunks");
    let names: Vec<String> = (0..chunks).map(|n| format!("__{n}.blp")).collect();
    let expected: BTreeSet<String> = names.into_iter().collect();
    let known = expected.is_subset(&listed) && relaxed.superchunks;
    assert!(
        known || expected == listed,
        "{}: {listed:?}, expected {chunks} superchunks",
        folder.display()
    );
}

/// The data of the only chunk of a superchunk, and the chunk's length.
fn superchunk(file: &Path, typesize: u8, rules: Rules) -> (Vec<u8>, i64) {
    const HEADER: [u8; 16] = *b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";
    let of = file.display().to_string();
    let bytes = content(file);
    assert!(bytes.starts_with(&HEADER), "{of}: header");
    let chunk = Chunk::at(&bytes, HEADER.len(), &of);
    assert_eq!(
        chunk.bytes.len() + HEADER.len(),
        bytes.len(),
        "{of}: length"
    );
    assert_eq!(chunk.typesize, typesize, "{of}: typesize");
    if rules.old_blosc {
        chunk.suits_blosc_1_3(&of);
    }
    (chunk.data(), chunk.bytes.len().try_into().unwrap())
}
