//! Tests of the limits on all of the content, and on the expansion per byte: content at the limit is read, and one
//! byte more is refused.

use crate::matrix::by_fields::Count;
use crate::matrix::samples::{self, Reader};
use bloscpack::storage::Memory;
use bloscpack::{
    Category, Decoder, Encoder, Error, Limits, Options,
    indexed::IndexedReader,
    records::{IndexedRecordReader, RecordReader, RecordWriter},
};
use bloscpack_open::datasets::{CArray, Dataset, DatasetLayout};
use bloscpack_open::frames::Frame;
use std::io::Write;

const LAYOUTS: [DatasetLayout; 4] = [
    DatasetLayout::Bcolz,
    DatasetLayout::Blz,
    DatasetLayout::BlzDocument,
    DatasetLayout::CarrayDocument,
];

const LEN: usize = 100_000;

/// Data of one kind, which compresses well and does not become special chunks.
fn alike() -> Vec<u8> {
    (0..LEN).map(|at| (at % 250) as u8).collect()
}

fn total(bytes: u64) -> Limits {
    Limits::new().total(bytes)
}

fn ratio(ratio: u32) -> Limits {
    Limits::new().ratio(ratio)
}

fn is_over(outcome: Result<(), Error>, what: &str) {
    let error = outcome.expect_err(what);
    assert_eq!(error.category(), Category::OverLimit, "{what}: {error}");
}

/// Three members, each with several chunks.
fn file() -> Vec<u8> {
    let member = |data: &[u8]| {
        let builder = Encoder::builder().chunk_size(10_000);
        let mut encoder = builder.write_to(Vec::new()).unwrap();
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    };
    let data = alike();
    let parts = [&data[..30_000], &data[30_000..40_000], &data[40_000..]];
    parts.map(member).concat()
}

fn decode(file: &[u8], limits: Limits, threads: usize) -> (Result<(), Error>, u64) {
    let builder = Options::new().limits(limits).threads(threads);
    let mut count = Count(0);
    let result = Decoder::with_options(file, builder)
        .copy_to(&mut count)
        .map(drop);
    (result, count.0)
}

fn by_position(file: &[u8], limits: Limits) -> Result<(), Error> {
    let reader = IndexedReader::with_options(file, Options::new().limits(limits))?;
    reader.read_exact_at(LEN as u64 - 1, &mut [0])
}

#[test]
fn no_more_is_handed_on_than_the_total() {
    let file = file();
    for threads in [1, 3] {
        let (result, handed) = decode(&file, total(LEN as u64), threads);
        result.unwrap();
        assert_eq!(handed, LEN as u64);
        for less in [1, 9999, 10_000, 10_001, 65_000, LEN as u64] {
            let most = LEN as u64 - less;
            let (result, handed) = decode(&file, total(most), threads);
            is_over(result, "in order");
            // All chunks before the one that goes beyond it.
            assert_eq!(handed, most / 10_000 * 10_000);
        }
    }
    by_position(&file, total(LEN as u64)).unwrap();
    is_over(by_position(&file, total(LEN as u64 - 1)), "by position");
}

#[test]
fn a_byte_becomes_no_more_than_the_ratio() {
    let file = file();
    let all = LEN as u32;
    for threads in [1, 3] {
        decode(&file, ratio(all), threads).0.unwrap();
        is_over(decode(&file, ratio(2), threads).0, "in order");
    }
    by_position(&file, ratio(all)).unwrap();
    is_over(by_position(&file, ratio(2)), "by position");
}

#[test]
fn records_keep_to_both() {
    let mut writer = RecordWriter::new(Vec::new()).unwrap();
    for record in alike().chunks(10_000) {
        writer.push(record).unwrap();
    }
    let file = writer.finish().unwrap();
    let in_order = |limits| {
        let mut reader = RecordReader::with_options(&file[..], Options::new().limits(limits));
        let mut records = 0;
        while let Some(record) = reader.next_record()? {
            assert_eq!(record.len(), 10_000);
            records += 1;
        }
        assert_eq!(records, 10);
        Ok(())
    };
    let by_number = |limits| {
        let builder = Options::new().limits(limits);
        IndexedRecordReader::with_options(&file[..], builder)?
            .get(3)
            .map(drop)
    };
    in_order(total(LEN as u64)).unwrap();
    is_over(in_order(total(LEN as u64 - 1)), "total");
    in_order(ratio(LEN as u32)).unwrap();
    is_over(in_order(ratio(2)), "ratio");
    by_number(ratio(LEN as u32)).unwrap();
    is_over(by_number(ratio(2)), "ratio, by number");
}

#[test]
fn arrays_of_datasets_keep_to_both() {
    for layout in LAYOUTS {
        let store = Memory::new();
        let builder = CArray::of::<u8>().layout(layout).chunk_rows(10_000);
        let mut array = builder.create_in(store.clone()).unwrap();
        array.append(&alike()).unwrap();
        array.flush().unwrap();
        drop(array);
        let read = |limits| {
            let options = Options::new().limits(limits);
            match Dataset::open_in(store.clone(), &options)? {
                Dataset::Array(array) => array.read_rows(0..LEN as u64).map(drop),
                Dataset::Table(_) => panic!("a table"),
            }
        };
        read(total(LEN as u64)).unwrap();
        is_over(read(total(LEN as u64 - 1)), "total");
        read(ratio(LEN as u32)).unwrap();
        is_over(read(ratio(2)), "ratio");
    }
}

#[test]
fn frames_keep_to_both() {
    for store in [None, Some(Memory::new())] {
        let builder = Frame::builder(1, 10_000);
        let mut frame = match &store {
            None => builder.in_memory().unwrap(),
            Some(store) => builder.create_in_store(store.clone()).unwrap(),
        };
        for chunk in alike().chunks(10_000) {
            frame.append(chunk).unwrap();
        }
        frame.flush().unwrap();
        let (reader, files) = match &store {
            None => {
                let bytes = frame.to_bytes().unwrap();
                (Reader::Contiguous, vec![("frame".to_owned(), bytes)])
            }
            Some(store) => (Reader::Sparse, samples::files_of(store)),
        };
        drop(frame);
        let read = |limits| {
            let options = Options::new().limits(limits);
            let frame = match reader {
                Reader::Sparse => Frame::open_store(samples::store(&files), &options)?,
                _ => Frame::read_with(files[0].1.clone(), &options)?,
            };
            frame.chunk(9).map(drop)
        };
        read(total(LEN as u64)).unwrap();
        is_over(read(total(LEN as u64 - 1)), "total");
        read(ratio(LEN as u32)).unwrap();
        is_over(read(ratio(2)), "ratio");
    }
}
