//! Tiny datasets with nothing wrong with them, one for each layout.

use std::path::Path;

/// Names of columns, of an array none, and the elements of each in C order as they are stored.
pub type Leaves = Vec<(String, Vec<u8>)>;

/// Which dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sound {
    /// bcolz: int32, seven rows in three superchunks.
    Array,
    /// bcolz: columns `a` of int32 and `b` of float64, five rows in two superchunks each.
    Table,
    /// BLZ 0.6, with the same columns.
    BlzTable,
    /// BLZ as documented: int16, seven rows in chunks of two, two a superchunk.
    Document,
    /// BLZ as documented: columns `a` of int16 and `b.c` of int32, three rows in chunks of two.
    Nested,
    /// The proposal for carray: int16, three by three in chunks of two by two, two a superchunk.
    Proposal,
    /// The proposal for carray: columns `a` of int16 and `b.c` of int32, three rows in chunks of two.
    NestedProposal,
    /// An empty folder.
    Nothing,
}

fn int16(count: i16) -> Vec<u8> {
    (0..count)
        .flat_map(|n| (100 * n + 1).to_le_bytes())
        .collect()
}

fn int32(count: i32) -> Vec<u8> {
    (0..count)
        .flat_map(|n| (1000 * n + 7).to_le_bytes())
        .collect()
}

fn float64(count: i32) -> Vec<u8> {
    (0..count)
        .flat_map(|n| (f64::from(n) / 2.0).to_le_bytes())
        .collect()
}

impl Sound {
    /// The expected content of each leaf.
    pub fn leaves(self) -> Leaves {
        let leaf = |name: &str, bytes| (name.to_owned(), bytes);
        match self {
            Self::Array => vec![leaf("", int32(7))],
            Self::Table | Self::BlzTable => vec![leaf("a", int32(5)), leaf("b", float64(5))],
            Self::Document => vec![leaf("", int16(7))],
            Self::Nested | Self::NestedProposal => {
                vec![leaf("a", int16(3)), leaf("b.c", int32(3))]
            }
            Self::Proposal => vec![leaf("", int16(9))],
            Self::Nothing => Vec::new(),
        }
    }

    /// Writes it into a folder, which is made if it is not there.
    pub fn write(self, root: &Path) {
        std::fs::create_dir_all(root).unwrap();
        for (path, bytes) in self.files() {
            let file = root.join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, bytes).unwrap();
        }
    }

    /// Paths below its root, and their bytes.
    pub fn files(self) -> Vec<(String, Vec<u8>)> {
        match self {
            Self::Array => array("", "int32", 4, &int32(7), 3, "cparams"),
            Self::Table => table("cparams", "{\"names\": [\"a\", \"b\"]}\n"),
            Self::BlzTable => {
                let dirs = "{\"dirs\": {\"a\": \"a\", \"b\": \"b\"}, \"names\": [\"a\", \"b\"]}\n";
                table("bparams", dirs)
            }
            Self::Document => document(),
            Self::Nested => nested(),
            Self::Proposal => proposal(),
            Self::NestedProposal => nested_proposal(),
            Self::Nothing => Vec::new(),
        }
    }
}

/// A chunk that holds its data as it is.
pub fn chunk(typesize: u8, data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(data.len()).unwrap();
    let numbers = [len, len, len + 16].map(u32::to_le_bytes).concat();
    [&[2, 1, 0x02, typesize], &numbers[..], data].concat()
}

/// bcolz's superchunk: 16 bytes and a chunk.
pub fn superchunk(typesize: u8, data: &[u8]) -> Vec<u8> {
    let header = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0";
    [&header[..], &chunk(typesize, data)].concat()
}

/// `chunklen` elements a superchunk. `params` has a key for each of the two programs.
pub fn array(
    at: &str,
    dtype: &str,
    size: u8,
    data: &[u8],
    chunklen: usize,
    params: &str,
) -> Vec<(String, Vec<u8>)> {
    let (rows, nbytes) = (data.len() / usize::from(size), data.len());
    let sizes = format!("{{\"shape\": [{rows}], \"nbytes\": {nbytes}, \"cbytes\": {nbytes}}}\n");
    let inside = match params {
        "cparams" => "{\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", \"quantize\": 0}",
        _ => "{\"shuffle\": true, \"clevel\": 5}",
    };
    let storage = format!(
        "{{\"dtype\": \"{dtype}\", \"{params}\": {inside}, \"chunklen\": {chunklen}, \
         \"expectedlen\": 100, \"dflt\": 0}}\n"
    );
    let mut files = vec![
        (format!("{at}__attrs__"), b"{}\n".to_vec()),
        (format!("{at}meta/sizes"), sizes.into_bytes()),
        (format!("{at}meta/storage"), storage.into_bytes()),
    ];
    let chunks = data.chunks(chunklen * usize::from(size)).enumerate();
    files.extend(chunks.map(|(number, data)| {
        let path = format!("{at}data/__{number}.blp");
        (path, superchunk(size, data))
    }));
    files
}

fn table(params: &str, rootdirs: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![
        ("__attrs__".to_owned(), b"{}\n".to_vec()),
        ("__rootdirs__".to_owned(), rootdirs.into()),
    ];
    files.extend(array("a/", "int32", 4, &int32(5), 4, params));
    files.extend(array("b/", "float64", 8, &float64(5), 4, params));
    files
}

/// A superchunk of BLZ's document: 32 bytes, offsets, chunks.
pub fn blz_superchunk(typesize: u8, chunk_size: usize, data: &[u8]) -> Vec<u8> {
    let chunks: Vec<_> = data
        .chunks(chunk_size)
        .map(|d| chunk(typesize, d))
        .collect();
    let last = chunks[chunks.len() - 1].len() - 16;
    let mut file = b"blpk".to_vec();
    file.extend([2, 0x01, 0, typesize]);
    file.extend(u32::try_from(chunk_size).unwrap().to_le_bytes());
    file.extend(u32::try_from(last).unwrap().to_le_bytes());
    file.extend((chunks.len() as u64).to_le_bytes());
    file.extend([0; 8]);
    with_offsets(file, &chunks)
}

/// A superchunk of the proposal: 32 bytes, index, chunks.
fn carray_superchunk(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"blpk".to_vec();
    let len = 32 + chunks.iter().map(|chunk| chunk.len() + 8).sum::<usize>();
    file.extend([4, 0, 1, 0]);
    file.extend(u32::try_from(chunks[0].len() - 16).unwrap().to_le_bytes());
    file.extend([0; 4]);
    file.extend((len as u64).to_le_bytes());
    file.extend((chunks.len() as u64).to_le_bytes());
    with_offsets(file, chunks)
}

fn with_offsets(mut file: Vec<u8>, chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut at = file.len() + 8 * chunks.len();
    for chunk in chunks {
        file.extend((at as u64).to_le_bytes());
        at += chunk.len();
    }
    file.extend(chunks.concat());
    file
}

fn document() -> Vec<(String, Vec<u8>)> {
    let mut files = blz_meta("\"int16\"", 7, 14);
    let superchunks = int16(7);
    for (number, data) in (1..).zip(superchunks.chunks(8)) {
        let path = format!("data/__{number}__.bin");
        files.push((path, blz_superchunk(2, 4, data)));
    }
    files
}

fn nested() -> Vec<(String, Vec<u8>)> {
    let mut files = blz_meta("[[\"a\", \"<i2\"], [\"b\", [[\"c\", \"<i4\"]]]]", 3, 18);
    let (a, c) = (
        blz_superchunk(2, 4, &int16(3)),
        blz_superchunk(4, 8, &int32(3)),
    );
    files.push(("data/a/__1__.bin".to_owned(), a));
    files.push(("data/b/c/__1__.bin".to_owned(), c));
    files
}

fn blz_meta(dtype: &str, rows: u64, nbytes: u64) -> Vec<(String, Vec<u8>)> {
    let sizes = format!("{{\"shape\": [{rows}], \"nbytes\": {nbytes}, \"cbytes\": {nbytes}}}\n");
    let storage = format!(
        "{{\"dtype\": {dtype}, \"cparams\": {{\"shuffle\": true, \"clevel\": 5}}, \
         \"chunklen\": 2, \"dflt\": 0, \"expectedlen\": 100}}\n"
    );
    vec![
        ("meta/sizes".to_owned(), sizes.into_bytes()),
        ("meta/storage".to_owned(), storage.into_bytes()),
        ("meta/attributes".to_owned(), b"{}\n".to_vec()),
    ]
}

fn carray_meta(shape: &str, dtype: &str, chunkshape: &str) -> Vec<(String, Vec<u8>)> {
    let storage = format!(
        "dtype:{dtype}\nchunkshape: {chunkshape}\nsuperchunksize: 2\ncompression:\n  \
         library: blosclz\n  level: 5\n  filters: [shuffle]\n"
    );
    vec![
        ("meta/shape".to_owned(), format!("{shape}\n").into_bytes()),
        ("meta/storage".to_owned(), storage.into_bytes()),
        ("meta/attributes".to_owned(), b"{}\n".to_vec()),
    ]
}

fn proposal() -> Vec<(String, Vec<u8>)> {
    let mut files = carray_meta("(3, 3)", " int16", "(2, 2)");
    let all = int16(9);
    let element = |at: usize| &all[2 * at..2 * at + 2];
    let chunk_of = |elements: [Option<usize>; 4]| {
        let zero: &[u8] = &[0, 0];
        chunk(2, &elements.map(|at| at.map_or(zero, element)).concat())
    };
    let chunks = [
        chunk_of([Some(0), Some(1), Some(3), Some(4)]),
        chunk_of([Some(2), None, Some(5), None]),
        chunk_of([Some(6), Some(7), None, None]),
        chunk_of([Some(8), None, None, None]),
    ];
    files.push(("data/__1__.bin".to_owned(), carray_superchunk(&chunks[..2])));
    files.push(("data/__2__.bin".to_owned(), carray_superchunk(&chunks[2..])));
    files
}

fn nested_proposal() -> Vec<(String, Vec<u8>)> {
    let mut files = carray_meta("(3,)", "\n  a: int16\n  b:\n    c: int32", "(2,)");
    for (path, typesize, mut data) in [("a", 2, int16(3)), ("b/c", 4, int32(3))] {
        data.resize(data.len() / 3 * 4, 0);
        let chunks: Vec<_> = data
            .chunks(data.len() / 2)
            .map(|data| chunk(typesize, data))
            .collect();
        files.push((format!("data/{path}/__1__.bin"), carray_superchunk(&chunks)));
    }
    files
}
