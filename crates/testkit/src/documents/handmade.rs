//! Datasets as the documents describe them, put together from the text, since no program ever wrote
//! one. Their chunks are pure copies.

use super::digest::{crc32, digest};
use super::{Leaf, Read, size};
use serde_json::{Value, json};
use std::path::Path;

/// A dataset, and its content.
pub struct Handmade {
    pub name: &'static str,
    /// Paths below its root.
    pub files: Vec<(String, Vec<u8>)>,
    pub read: Read,
}

impl Handmade {
    /// Writes it into a folder that is made for it.
    pub fn write(&self, root: &Path) {
        std::fs::create_dir_all(root.join("data")).unwrap();
        for (path, bytes) in &self.files {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
    }
}

/// All there are.
pub fn all() -> Vec<Handmade> {
    let mut all = blz();
    all.extend(carray());
    all
}

/// A chunk that holds its data as it is.
pub fn chunk(typesize: u8, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(data.len()).unwrap();
    let mut chunk = vec![2, 1, 0x02, typesize];
    for number in [len, len, len + 16] {
        chunk.extend(number.to_le_bytes());
    }
    chunk.extend(data);
    chunk
}

fn int32(number: usize) -> [u8; 4] {
    i32::try_from(number).unwrap().to_le_bytes()
}

fn int64(number: usize) -> [u8; 8] {
    i64::try_from(number).unwrap().to_le_bytes()
}

/// Chunks, each followed by its digest and spare room, and their positions if the first is at `at`.
fn body(chunks: &[Vec<u8>], checksum: u8, room: usize, mut at: usize) -> (Vec<u8>, Vec<usize>) {
    let (mut body, mut offsets) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let whole = [&chunk[..], &digest(checksum, chunk), &vec![0; room]].concat();
        offsets.push(at);
        at += whole.len();
        body.extend(whole);
    }
    (body, offsets)
}

/// How a superchunk of BLZ's document is written.
#[derive(Clone, Copy, Default)]
pub struct Front {
    pub checksum: u8,
    pub offsets: bool,
    pub metadata: &'static str,
    pub sealed: bool,
    pub room: usize,
}

/// A superchunk of BLZ's document with chunks of `chunk_size`, the last perhaps shorter.
pub fn blz_superchunk(front: Front, typesize: u8, chunk_size: usize, data: &[u8]) -> Vec<u8> {
    let chunks: Vec<_> = data
        .chunks(chunk_size)
        .map(|data| chunk(typesize, data))
        .collect();
    let last = chunks.last().map_or(0, |chunk| chunk.len() - 16);
    let metadata = !front.metadata.is_empty();
    let options = u8::from(front.offsets) | u8::from(metadata) << 1 | u8::from(front.sealed) << 3;
    let mut file = b"blpk".to_vec();
    file.extend([2, options, front.checksum, typesize]);
    file.extend(int32(chunk_size));
    file.extend(int32(last));
    file.extend(int64(chunks.len()));
    file.extend(int32(front.metadata.len()));
    file.extend([0; 4]);
    file.extend(front.metadata.as_bytes());
    let table = if front.offsets { 8 * chunks.len() } else { 0 };
    let (body, offsets) = body(&chunks, front.checksum, front.room, file.len() + table);
    if front.offsets {
        file.extend(offsets.into_iter().flat_map(int64));
    }
    if front.sealed {
        let seal = crc32(&file).to_le_bytes();
        file[28..32].copy_from_slice(&seal);
    }
    [file, body].concat()
}

/// A superchunk of the proposal for carray.
pub fn carray_superchunk(checksum: u8, index: bool, room: usize, chunks: &[Vec<u8>]) -> Vec<u8> {
    let table = if index { 8 * chunks.len() } else { 0 };
    let (body, offsets) = body(chunks, checksum, room, 32 + table);
    let mut file = b"blpk".to_vec();
    file.extend([4, checksum, u8::from(index), 0]);
    file.extend(int32(chunks[0].len() - 16));
    file.extend([0; 4]);
    file.extend(int64(32 + table + body.len()));
    file.extend(int64(chunks.len()));
    if index {
        file.extend(offsets.into_iter().flat_map(int64));
    }
    [file, body].concat()
}

fn line(value: &Value) -> Vec<u8> {
    format!("{value}\n").into_bytes()
}

fn leaf(name: &str, dtype: &str, shape: &[u64], bytes: Vec<u8>) -> Leaf {
    Leaf {
        name: name.to_owned(),
        dtype: dtype.to_owned(),
        big_endian: false,
        shape: shape.to_vec(),
        bytes,
        attributes: json!({}),
    }
}

/// `meta/` of BLZ's document.
fn blz_meta(
    dtype: &Value,
    shape: &[u64],
    nbytes: usize,
    chunklen: u64,
    attributes: &Value,
) -> Vec<(String, Vec<u8>)> {
    let cparams = json!({"shuffle": true, "clevel": 5});
    let storage = json!({"dtype": dtype, "cparams": cparams, "chunklen": chunklen,
        "dflt": 0, "expectedlen": shape[0]});
    let sizes = json!({"shape": shape, "nbytes": nbytes, "cbytes": nbytes});
    vec![
        ("meta/sizes".to_owned(), line(&sizes)),
        ("meta/storage".to_owned(), line(&storage)),
        ("meta/attributes".to_owned(), line(attributes)),
    ]
}

/// An array of BLZ's document, whose data is cut into superchunks here and there.
fn blz_array(name: &'static str, leaf: Leaf, chunklen: u64, superchunks: Vec<Vec<u8>>) -> Handmade {
    let attributes =
        json!({"temperature": 11.4, "scale": "Celsius", "coords": {"lat": 40.1, "lon": 0.5}});
    let dtype = json!(leaf.dtype);
    let mut files = blz_meta(&dtype, &leaf.shape, leaf.bytes.len(), chunklen, &attributes);
    let numbered = superchunks.into_iter().zip(1..);
    files.extend(numbered.map(|(file, number)| (format!("data/__{number}__.bin"), file)));
    let shape = leaf.shape.clone();
    let read = Read {
        dtype,
        shape,
        attributes,
        leaves: vec![leaf],
    };
    Handmade { name, files, read }
}

fn blz() -> Vec<Handmade> {
    let ints: Vec<u8> = (0..10_i32)
        .flat_map(|value| (value * 1000 - 3).to_le_bytes())
        .collect();
    let crc32 = Front {
        checksum: 2,
        offsets: true,
        ..Front::default()
    };
    let two = [&ints[..24], &ints[24..]];
    let two = two.map(|data| blz_superchunk(crc32, 4, 12, data)).to_vec();

    let floats: Vec<u8> = (0..10)
        .flat_map(|value| (f64::from(value) / 4.0).to_le_bytes())
        .collect();
    let metadata = r#"{"dtype": "float64", "shape": [5, 2], "others": []}"#;
    let roomy = Front {
        checksum: 1,
        offsets: true,
        metadata,
        sealed: true,
        room: 24,
    };
    let one = vec![blz_superchunk(roomy, 8, 32, &floats)];

    let bytes: Vec<u8> = (0..36).collect();
    let each = |checksum: u8| {
        let front = Front {
            checksum,
            ..Front::default()
        };
        blz_superchunk(front, 1, 4, &bytes[4 * usize::from(checksum)..][..4])
    };
    let nine = (0..9).map(each).collect();
    vec![
        blz_array("blz_vector", leaf("", "int32", &[10], ints), 3, two),
        blz_array("blz_room", leaf("", "float64", &[5, 2], floats), 2, one),
        blz_array("blz_checksums", leaf("", "uint8", &[36], bytes), 4, nine),
        blz_array(
            "blz_empty",
            leaf("", "int64", &[0], Vec::new()),
            16,
            Vec::new(),
        ),
        blz_nested(),
    ]
}

/// Columns two levels deep, five rows in chunks of three, one chunk a superchunk.
fn blz_nested() -> Handmade {
    let dtype = json!([
        ["id", "<u2"],
        ["at", [["x", "<f4"], ["tag", "|S3"], ["pair", "|i1", [2]]]]
    ]);
    let ids = (1..=5_u16).flat_map(u16::to_le_bytes).collect();
    let places = (0..5_u8)
        .flat_map(|value| (f32::from(value) * 1.5).to_le_bytes())
        .collect();
    let tags = b"a\0\0bb\0ccc\0\0\0e\0\0".to_vec();
    let pairs = (0..10_u8).collect();
    let leaves = vec![
        leaf("id", "<u2", &[5], ids),
        leaf("at.x", "<f4", &[5], places),
        leaf("at.tag", "|S3", &[5], tags),
        leaf("at.pair", "|i1", &[5, 2], pairs),
    ];
    let attributes = json!({});
    let nbytes = leaves.iter().map(|leaf| leaf.bytes.len()).sum();
    let mut files = blz_meta(&dtype, &[5], nbytes, 3, &attributes);
    let typesizes = [2, 4, 1, 1];
    for (leaf, typesize) in leaves.iter().zip(typesizes) {
        let chunk_size = leaf.bytes.len() / 5 * 3;
        let folder = leaf.name.replace('.', "/");
        for (number, data) in (1..).zip(leaf.bytes.chunks(chunk_size)) {
            let front = Front {
                sealed: number == 2,
                ..Front::default()
            };
            let file = blz_superchunk(front, typesize, chunk_size, data);
            files.push((format!("data/{folder}/__{number}__.bin"), file));
        }
    }
    let read = Read {
        dtype,
        shape: vec![5],
        attributes,
        leaves,
    };
    Handmade {
        name: "blz_nested",
        files,
        read,
    }
}

/// The chunks of a box of elements in C order: each as long as the others, zero beyond the edges.
fn cut(data: &[u8], item: usize, shape: [u64; 3], chunk: [u64; 3]) -> Vec<Vec<u8>> {
    let mut chunks = Vec::new();
    let steps = |axis: usize| (0..shape[axis]).step_by(size(chunk[axis]));
    for a in steps(0) {
        for b in steps(1) {
            for c in steps(2) {
                let mut one = Vec::new();
                for x in a..a + chunk[0] {
                    for y in b..b + chunk[1] {
                        for z in c..c + chunk[2] {
                            let inside = x < shape[0] && y < shape[1] && z < shape[2];
                            let at = size((x * shape[1] + y) * shape[2] + z) * item;
                            let element = if inside {
                                &data[at..at + item]
                            } else {
                                &[0; 16][..item]
                            };
                            one.extend_from_slice(element);
                        }
                    }
                }
                chunks.push(one);
            }
        }
    }
    chunks
}

fn carray() -> Vec<Handmade> {
    vec![carray_line(), carray_grid(), carray_deep(), carray_empty()]
}

fn carray_files(shape: &str, storage: &str, attributes: &str) -> Vec<(String, Vec<u8>)> {
    vec![
        ("meta/shape".to_owned(), shape.into()),
        ("meta/storage".to_owned(), storage.into()),
        ("meta/attributes".to_owned(), attributes.into()),
    ]
}

/// One dimension, one chunk per superchunk, and nothing besides the chunks.
fn carray_line() -> Handmade {
    let storage = "dtype: int16\nchunkshape: (2,)\nsuperchunksize: 1\ncompression:\n  library: lz4\n  level: 0\n  filters: []\n";
    let mut files = carray_files("(5,)\n", storage, "{}\n");
    let bytes: Vec<u8> = (0..5_i16)
        .flat_map(|value| (-7 * value).to_le_bytes())
        .collect();
    for (number, data) in (1..).zip(cut(&bytes, 2, [1, 1, 5], [1, 1, 2])) {
        let file = carray_superchunk(0, false, 0, &[chunk(2, &data)]);
        files.push((format!("data/__{number}__.bin"), file));
    }
    let leaves = vec![leaf("", "int16", &[5], bytes)];
    let read = Read {
        dtype: json!("int16"),
        shape: vec![5],
        attributes: json!({}),
        leaves,
    };
    Handmade {
        name: "carray_line",
        files,
        read,
    }
}

/// The examples of the proposal, smaller.
fn carray_grid() -> Handmade {
    let storage = "dtype: \n  col1: int8\n  col2: float32\nchunkshape: (3, 2)\nsuperchunksize: 3  # max. number of chunks in a single file\nendianness: big  # default: little\norder: C         # default: C\ncompression:\n  library: blosclz   # could be zlib, fastlz or others\n  level: 5\n  filters: [shuffle, truncate]  # order matters\n";
    let attributes = "temperature:\n  value: 23.5\n  type: scalar\n  dtype: float32\npressure:\n  value: 225.5\n  type: scalar\n  dtype: float32\nids:\n  value: [1,3,6,10]\n  type: array\n  dtype: int32\n";
    let mut files = carray_files("(4, 3)\n", storage, attributes);
    let bytes: Vec<u8> = (100..112).collect();
    let floats: Vec<u8> = (0..12_u8)
        .flat_map(|value| (f32::from(value) - 0.5).to_be_bytes())
        .collect();
    for (name, data, typesize) in [("col1", &bytes, 1), ("col2", &floats, 4)] {
        let chunks = cut(data, typesize, [1, 4, 3], [1, 3, 2]);
        let chunks: Vec<_> = chunks
            .iter()
            .map(|data| chunk(typesize.try_into().unwrap(), data))
            .collect();
        for (number, chunks) in (1..).zip(chunks.chunks(3)) {
            let file = carray_superchunk(2, true, 0, chunks);
            files.push((format!("data/{name}/__{number}__.bin"), file));
        }
    }
    let mut leaves = vec![
        leaf("col1", "int8", &[4, 3], bytes),
        leaf("col2", "float32", &[4, 3], floats),
    ];
    leaves.iter_mut().for_each(|leaf| leaf.big_endian = true);
    let read = Read {
        dtype: json!([["col1", "int8"], ["col2", "float32"]]),
        shape: vec![4, 3],
        attributes: json!({
            "temperature": {"value": 23.5, "type": "scalar", "dtype": "float32"},
            "pressure": {"value": 225.5, "type": "scalar", "dtype": "float32"},
            "ids": {"value": [1, 3, 6, 10], "type": "array", "dtype": "int32"},
        }),
        leaves,
    };
    Handmade {
        name: "carray_grid",
        files,
        read,
    }
}

/// Columns two levels deep, three dimensions, room after each chunk.
fn carray_deep() -> Handmade {
    let storage = "dtype:\n  col1: int32\n  col2:\n    sc1: float64\n    sc3: uint8\nchunkshape: (1, 2, 3)\nsuperchunksize: 5\ncompression:\n  library: zlib\n  level: 9\n  filters: [shuffle]\n";
    let mut files = carray_files("(2, 3, 4)\n", storage, "note: 'two: # deep'\n");
    let shape = [2, 3, 4];
    let ints: Vec<u8> = (0..24)
        .flat_map(|value| (1_i32 << value).to_le_bytes())
        .collect();
    let floats: Vec<u8> = (0..24)
        .flat_map(|value| f64::from(value).to_le_bytes())
        .collect();
    let bytes: Vec<u8> = (0..24).collect();
    let leaves = vec![
        leaf("col1", "int32", &shape, ints),
        leaf("col2.sc1", "float64", &shape, floats),
        leaf("col2.sc3", "uint8", &shape, bytes),
    ];
    for (leaf, typesize) in leaves.iter().zip([4_u8, 8, 1]) {
        let chunks = cut(&leaf.bytes, typesize.into(), shape, [1, 2, 3]);
        let chunks: Vec<_> = chunks.iter().map(|data| chunk(typesize, data)).collect();
        let folder = leaf.name.replace('.', "/");
        for (number, chunks) in (1..).zip(chunks.chunks(5)) {
            let file = carray_superchunk(3, true, 10, chunks);
            files.push((format!("data/{folder}/__{number}__.bin"), file));
        }
    }
    let read = Read {
        dtype: json!([
            ["col1", "int32"],
            ["col2", [["sc1", "float64"], ["sc3", "uint8"]]]
        ]),
        shape: shape.to_vec(),
        attributes: json!({"note": "two: # deep"}),
        leaves,
    };
    Handmade {
        name: "carray_deep",
        files,
        read,
    }
}

fn carray_empty() -> Handmade {
    let storage = "dtype: float64\nchunkshape: (4, 3)\nsuperchunksize: 8\ncompression:\n  library: blosclz\n  level: 5\n  filters: [shuffle]\n";
    let files = carray_files("(0, 3)\n", storage, "");
    let leaves = vec![leaf("", "float64", &[0, 3], Vec::new())];
    let read = Read {
        dtype: json!("float64"),
        shape: vec![0, 3],
        attributes: json!({}),
        leaves,
    };
    Handmade {
        name: "carray_empty",
        files,
        read,
    }
}
