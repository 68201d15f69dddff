//! Tests of wrong shapes and counts: work on them ends soon, and takes no more memory than the files justify.

use crate::counting::peak_of;
use bloscpack::Options;
use bloscpack_datasets::{CArray, CTable, Dataset, DatasetLayout};
use bloscpack_error::{Category, Result};
use bloscpack_storage::{Key, Memory, Store};
use testkit::stopwatch::HANG;

/// Runs what must not hang.
fn hurried<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, result) = std::sync::mpsc::channel();
    std::thread::spawn(move || done.send(work()));
    result.recv_timeout(HANG).unwrap()
}

/// A chunk that claims to be a copy of `bytes` bytes.
fn copied(bytes: u32) -> Vec<u8> {
    let mut chunk = vec![2, 1, 2, 8];
    for size in [bytes, bytes, bytes + 16] {
        chunk.extend_from_slice(&size.to_le_bytes());
    }
    chunk.resize(bytes as usize + 16, 1);
    chunk
}

/// A superchunk of the carray proposal with one chunk that claims `bytes` bytes.
fn superchunk(bytes: u32) -> Vec<u8> {
    let chunk = copied(bytes);
    let mut file = b"blpk\x04\0\0\0".to_vec();
    file.extend_from_slice(&bytes.to_le_bytes());
    file.extend_from_slice(&[0; 4]);
    file.extend_from_slice(&(32 + chunk.len() as u64).to_le_bytes());
    file.extend_from_slice(&1u64.to_le_bytes());
    [file, chunk].concat()
}

/// An array of the carray proposal of 8-byte integers, with its first superchunk.
fn proposal(shape: &str, chunk: &str, superchunk_len: u64, first: Vec<u8>) -> Memory {
    let storage = format!("dtype: int64\nchunkshape: {chunk}\nsuperchunksize: {superchunk_len}\n");
    Memory::from([
        ("meta/shape", format!("{shape}\n").into_bytes()),
        ("meta/storage", storage.into_bytes()),
        ("data/__1__.bin", first),
    ])
}

fn edit(store: &Memory) -> Result<CArray> {
    Dataset::edit_in(store.clone(), &Options::new().threads(1))?.into_array()
}

#[test]
fn a_superchunk_that_should_have_more_chunks_than_can_be_is_cut_off() {
    let shape = format!("({},)", 1u64 << 58);
    let store = proposal(&shape, "(1,)", 1 << 60, superchunk(8));
    let rows = hurried(move || {
        let mut array = edit(&store)?;
        array.trim(0)?;
        array.flush()?;
        Ok::<_, bloscpack_error::Error>(CArray::open_in(store)?.rows())
    });
    match usize::try_from(1u64 << 60) {
        Ok(_) => assert_eq!(rows.unwrap(), 0),
        // A chunk has more bytes than there are addresses.
        Err(_) => assert_eq!(rows.unwrap_err().category(), Category::Usage),
    }
}

/// A bcolz array of one row of `row` bytes.
fn bcolz(row: u64) -> Memory {
    let sizes = format!("{{\"shape\": [1, {row}], \"nbytes\": 0, \"cbytes\": 0}}");
    let storage = "{\"dtype\": \"int8\", \"cparams\": {\"clevel\": 5, \"shuffle\": 1, \"cname\": \"lz4\", \
        \"quantize\": 0}, \"chunklen\": 1, \"expectedlen\": 1, \"dflt\": 0}";
    Memory::from([
        ("meta/sizes", sizes.into_bytes()),
        ("meta/storage", storage.as_bytes().to_vec()),
        ("__attrs__", b"{}".to_vec()),
        ("data/.keep", Vec::new()),
    ])
}

#[test]
fn rows_of_which_nothing_is_there_take_no_memory() {
    let array = CArray::open_in(bcolz(1_000_000_000)).unwrap();
    let (read, peak) = peak_of(|| array.read_rows(0..1));
    assert_eq!(read.unwrap_err().category(), Category::Damaged);
    assert!(peak < 1 << 20, "{peak}");

    // Half a band of a million chunks, only one of which exists.
    let store = proposal("(5, 16777216)", "(10, 16)", 16, superchunk(1280));
    let (trimmed, peak) = peak_of(|| edit(&store)?.trim(4));
    assert_eq!(trimmed.unwrap_err().category(), Category::Damaged);
    assert!(peak < 16 << 20, "{peak}");
}

#[test]
fn what_lies_behind_the_chunk_of_a_superchunk_is_told() {
    let store = Memory::new();
    let mut array = CArray::of::<i64>()
        .chunk_rows(100)
        .create_in(store.clone())
        .unwrap();
    array.append_values(&[7i64; 250]).unwrap();
    array.flush().unwrap();
    drop(array);
    let report = CArray::open_in(store.clone()).unwrap().verify(|_| {});
    assert!(report.warnings.is_empty());
    let at = Key::parse("data/__1.blp").unwrap();
    let mut bytes = store.bytes("data/__1.blp").unwrap();
    bytes.extend_from_slice(b"more");
    store.remove(&at).unwrap();
    store.create(&at, &bytes).unwrap();
    let report = CArray::open_in(store).unwrap().verify(|_| {});
    assert!(report.is_sound(), "{:?}", report.damages);
    assert_eq!(
        report.warnings,
        ["data/__1.blp: 4 unexpected bytes follow the chunk"]
    );
}

/// Otherwise each column would keep its own compressor.
#[test]
fn a_wide_table_takes_little_for_each_of_its_columns() {
    let columns = 300;
    let one = || CArray::of::<i64>().chunk_rows(1 << 13);
    let builder = (0..columns).fold(CTable::builder(), |table, column| {
        table.column(format!("c{column}"), one())
    });
    let options = Options::new().threads(1);
    // Chunks of the carray proposal are as long as the longest, however few rows there are.
    let mut table = builder
        .layout(DatasetLayout::CarrayDocument)
        .options(options)
        .create_in(Memory::new())
        .unwrap();
    let row = [7; 8];
    let rows = vec![&row[..]; columns];
    let (done, peak) = peak_of(|| {
        table.append(&rows)?;
        table.flush()
    });
    done.unwrap();
    assert!(peak < columns << 14, "{}", peak / columns);
}

/// Each column has its part of the cache, however many there are.
#[test]
fn the_cache_of_a_table_is_for_all_of_its_columns() {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let store = Memory::new();
    let builder = names.iter().fold(CTable::builder(), |table, name| {
        table.column(*name, CArray::of::<u64>().chunk_rows(1 << 19))
    });
    let mut table = builder.create_in(store.clone()).unwrap();
    // Incompressible data: 4 MiB.
    let noise = (1..=1u64 << 19).scan(0, |state: &mut u64, step| {
        *state = (*state ^ step)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(23);
        Some(*state)
    });
    let noise: Vec<u8> = noise.flat_map(u64::to_le_bytes).collect();
    table.append(&[&noise[..]; 8]).unwrap();
    table.flush().unwrap();
    drop(table);
    let options = Options::new().threads(1).cache(8 << 20);
    let table = Dataset::open_in(store, &options)
        .unwrap()
        .into_table()
        .unwrap();
    let (read, peak) = peak_of(|| table.read_rows(&names, 0..1));
    assert!(read.unwrap().iter().all(|row| row[..] == noise[..8]));
    assert!(peak < 16 << 20, "{peak}");
}
