//! Small datasets and frames of every kind, and all that can be read of them.

use bloscpack::blosc::Compressor;
use bloscpack::storage::{Key, Memory, Store};
use bloscpack::{Checksum, Filter, Options, Result};
use bloscpack_open::datasets::wire::Attributes;
use bloscpack_open::datasets::{CArray, CTable, Dataset, DatasetLayout};
use bloscpack_open::frames::{ArrayKind, Frame, NdArray};
use std::num::NonZeroU64;
use std::ops::Range;

/// The kind of reader for a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Dataset(DatasetLayout),
    /// A frame in one file.
    Contiguous,
    /// A frame in a directory.
    Sparse,
}

/// Paths and their bytes; of a frame in one file, that one.
pub type Files = Vec<(String, Vec<u8>)>;

pub struct Sample {
    /// The name of this kind of samples in the table.
    pub container: &'static str,
    pub name: String,
    pub reader: Reader,
    pub files: Files,
}

impl Sample {
    /// Bytes of all files.
    pub fn len(&self) -> usize {
        self.files.iter().map(|(_, bytes)| bytes.len()).sum()
    }

    pub fn read(&self, files: &Files) -> Result<Told> {
        read(self.reader, files)
    }
}

/// The content of a container: descriptions, and bytes.
#[derive(Debug, Default, PartialEq)]
pub struct Told {
    pub says: Vec<String>,
    pub holds: Vec<Vec<u8>>,
}

pub fn read(reader: Reader, files: &Files) -> Result<Told> {
    match reader {
        Reader::Dataset(_) => dataset(&Dataset::open_in(store(files), &Options::new().threads(1))?),
        Reader::Contiguous => frame(Frame::read_with(files[0].1.clone(), &frame_options())?),
        Reader::Sparse => frame(Frame::open_store(store(files), &frame_options())?),
    }
}

pub fn frame_options() -> Options {
    Options::new().threads(1)
}

pub fn store(files: &Files) -> Memory {
    let store = Memory::new();
    for (path, bytes) in files {
        let key = Key::parse(path).unwrap();
        if let Some((folder, _)) = path.rsplit_once('/') {
            let mut way = Key::root();
            for name in folder.split('/') {
                way = way.join(name).unwrap();
                if store.kind(&way).unwrap().is_none() {
                    store.make_folder(&way).unwrap();
                }
            }
        }
        store.create(&key, bytes).unwrap();
    }
    store
}

/// A header with more elements than this is wrong; samples are small.
const MOST: u64 = 16 << 20;

/// The first rows of an array, as many as its table has.
fn array(array: &CArray, rows: u64, told: &mut Told) -> Result<()> {
    let (dtype, shape) = (array.dtype(), array.shape().get(1..).unwrap_or_default());
    let text = format!(
        "{dtype:?} {rows} {shape:?} {:?} {}",
        array.default_element(),
        array.attributes().to_value()
    );
    told.says.push(text);
    if array.nbytes() > MOST {
        told.holds.push(array.read_rows(0..rows.min(1))?);
        told.holds
            .push(array.read_rows(rows.saturating_sub(1)..rows)?);
    } else {
        told.holds.push(array.read_rows(0..rows)?);
    }
    Ok(())
}

fn dataset(dataset: &Dataset) -> Result<Told> {
    let mut told = Told::default();
    match dataset {
        Dataset::Array(one) => array(one, one.rows(), &mut told)?,
        Dataset::Table(table) => {
            let says = format!("{:?} {}", table.names(), table.attributes().to_value());
            told.says.push(says);
            // The rows of the shortest column.
            let rows = table.rows()?;
            for name in table.names() {
                array(table.column(name)?, rows, &mut told)?;
            }
        }
    }
    Ok(told)
}

/// A frame as far as `verify` finds nothing wrong with it.
fn frame(frame: Frame) -> Result<Told> {
    let mut told = Told::default();
    if let Some(error) = frame.verify(|_| {}).damages.into_iter().next() {
        return Err(error);
    }
    let metalayers: Vec<_> = frame.metalayers().iter().collect();
    told.says.push(format!("{metalayers:?}"));
    for name in frame.vlmetalayers() {
        let value = frame.vlmetalayer(name)?;
        told.says.push(format!("{name} {value:?}"));
    }
    let (typesize, len) = (frame.typesize(), frame.content_len());
    told.says
        .push(format!("{typesize} {len} {}", frame.chunk_size()));
    if frame.array_meta()?.is_none() {
        let few = frame.content_len() <= MOST;
        for number in 0..if few { frame.chunks() } else { 1 } {
            told.holds.push(frame.chunk(number)?);
        }
        return Ok(told);
    }
    let array = NdArray::of(frame)?;
    let (shape, dtype) = (array.shape().to_vec(), array.dtype_text());
    told.says
        .push(format!("{shape:?} {dtype:?} {}", array.itemsize()));
    let whole: Vec<Range<u64>> = if array.nbytes() > MOST {
        shape.iter().map(|len| 0..1.min(*len)).collect()
    } else {
        shape.iter().map(|len| 0..*len).collect()
    };
    told.holds.push(array.read_slice(&whole)?);
    Ok(told)
}

/// Numbers that compress, but not to nothing.
pub fn numbers(count: u32) -> Vec<u8> {
    let number = |at: u32| 1000 + 3 * at + (at * at * 7919) % 16;
    (0..count).flat_map(|at| number(at).to_le_bytes()).collect()
}

fn attributes() -> Attributes {
    Attributes::parse(b"{\"unit\": \"dBm\"}\n").unwrap()
}

/// All files of a store that was written.
pub fn files_of(store: &Memory) -> Files {
    let keys = store.keys().into_iter();
    let files = keys.filter_map(|key| Some((key.as_str().to_owned(), store.bytes(&key)?)));
    files.collect()
}

/// Rows of a chunk of an array.
pub const CHUNK_ROWS: u32 = 40;
/// Rows of a sample.
pub const ROWS: u32 = 100;

/// An array in chunks of 40 rows, of which documented layouts have two in a file.
pub fn array_of(layout: DatasetLayout, checksum: Option<Checksum>, rows: u32) -> Files {
    let mut builder = CArray::of::<u32>()
        .layout(layout)
        .chunk_rows(CHUNK_ROWS.into())
        .compressor(Compressor::Lz4)
        .filter(Filter::Byte)
        .attributes(attributes());
    if let Some(checksum) = checksum {
        builder = builder
            .checksum(checksum)
            .spare(8)
            .superchunk(NonZeroU64::new(2).unwrap());
    }
    let store = Memory::new();
    let mut array = builder.create_in(store.clone()).unwrap();
    array.append(&numbers(rows)).unwrap();
    array.flush().unwrap();
    drop(array);
    files_of(&store)
}

fn ctable(layout: DatasetLayout, checksum: Option<Checksum>) -> Files {
    let column = |mut builder: bloscpack_open::datasets::CArrayBuilder| {
        builder = builder.compressor(Compressor::Blosclz);
        match checksum {
            Some(checksum) => builder.checksum(checksum),
            None => builder,
        }
    };
    let store = Memory::new();
    let mut table = CTable::builder()
        .layout(layout)
        .chunk_rows(40)
        .column("a", column(CArray::of::<u32>()))
        .column("b", column(CArray::of::<u16>()))
        .attributes(attributes())
        .create_in(store.clone())
        .unwrap();
    let (a, b) = (numbers(60), numbers(30));
    table.append(&[&a, &b]).unwrap();
    table.flush().unwrap();
    drop(table);
    files_of(&store)
}

/// An array of 10 x 18 elements of 4 bytes, in chunks of 5 x 9 and blocks of 3 x 9.
pub fn nd(kind: ArrayKind, store: Option<Memory>) -> Files {
    let builder = NdArray::builder(&[10, 18], 4)
        .kind(kind)
        .chunk_shape(&[5, 9])
        .block_shape(&[3, 9])
        .compressor(Compressor::Lz4)
        .vlmetalayer("unit", *b"\xa3dBm")
        .options(frame_options());
    let mut array = match &store {
        Some(store) => builder.create_in_store(store.clone()).unwrap(),
        None => builder.in_memory().unwrap(),
    };
    array.write_slice(&[0..10, 0..18], &numbers(180)).unwrap();
    array.flush().unwrap();
    match store {
        Some(store) => {
            drop(array);
            files_of(&store)
        }
        None => vec![("frame".to_owned(), array.to_bytes().unwrap())],
    }
}

/// Chunks of bytes and no array; the last chunk is shorter.
pub fn plain(store: Option<Memory>) -> Files {
    let builder = Frame::builder(4, 160)
        .compressor(Compressor::Zstd)
        .metalayer("note", *b"\xa5plain")
        .unwrap()
        .options(frame_options());
    let mut frame = match &store {
        Some(store) => builder.create_in_store(store.clone()).unwrap(),
        None => builder.in_memory().unwrap(),
    };
    for chunk in numbers(100).chunks(160) {
        frame.append(chunk).unwrap();
    }
    frame.flush().unwrap();
    match store {
        Some(store) => {
            drop(frame);
            files_of(&store)
        }
        None => vec![("frame".to_owned(), frame.to_bytes().unwrap())],
    }
}

/// One of each kind and more.
pub fn samples() -> Vec<Sample> {
    use DatasetLayout::{Bcolz, Blz, BlzDocument, CarrayDocument};
    let sample = |container, name: &str, reader, files| Sample {
        container,
        name: name.to_owned(),
        reader,
        files,
    };
    let mut all = Vec::new();
    for (layout, container) in [(Bcolz, "dataset, bcolz"), (Blz, "dataset, BLZ")] {
        let reader = Reader::Dataset(layout);
        all.push(sample(
            container,
            "array",
            reader,
            array_of(layout, None, ROWS),
        ));
        all.push(sample(container, "table", reader, ctable(layout, None)));
    }
    for (layout, bare, guarded) in [
        (
            BlzDocument,
            "dataset, BLZ document, no checksum",
            "dataset, BLZ document, checksum",
        ),
        (
            CarrayDocument,
            "dataset, carray proposal, no checksum",
            "dataset, carray proposal, checksum",
        ),
    ] {
        let reader = Reader::Dataset(layout);
        let none = Some(Checksum::None);
        all.push(sample(bare, "array", reader, array_of(layout, none, ROWS)));
        for checksum in [Checksum::Crc32, Checksum::Sha1] {
            let files = array_of(layout, Some(checksum), ROWS);
            let name = format!("array, {checksum:?}");
            all.push(sample(guarded, &name, reader, files));
        }
        let files = ctable(layout, Some(Checksum::Adler32));
        all.push(sample(guarded, "table, Adler32", reader, files));
    }
    let fresh = || Some(Memory::new());
    let (one, many) = (Reader::Contiguous, Reader::Sparse);
    let frame = "frame, contiguous";
    let sparse = "frame, sparse";
    all.push(sample(frame, "chunks of bytes", one, plain(None)));
    all.push(sample(sparse, "chunks of bytes", many, plain(fresh())));
    for (kind, name) in [(ArrayKind::B2nd, "b2nd"), (ArrayKind::Caterva, "Caterva")] {
        let array = "array in a frame";
        all.push(sample(array, name, one, nd(kind, None)));
        let array = "array in a sparse frame";
        all.push(sample(array, name, many, nd(kind, fresh())));
    }
    all
}
