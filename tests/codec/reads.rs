//! Tests that readers make few and large reads: counts calls and bytes for each kind of input and of work.
//!
//! `cargo test --test codec reads -- --nocapture` prints the figures of `docs/reads.md`.
#![allow(
    clippy::cast_possible_truncation,
    reason = "made-up data may be cut as it likes"
)]

use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordWriter};
use bloscpack::storage::{Memory, SourceReader};
use bloscpack::survey::Survey;
use bloscpack::{Decoder, Encoder, EncoderBuilder, FormatVersion, Options, verify};
use bloscpack_open::datasets::{CArray, CTable, DatasetLayout};
use bloscpack_open::frames::{Frame, NdArray};
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::sync::{Arc, LazyLock};
use testkit::counted::{Counted, Reads};
use testkit::golden::Random;

const MIB: u64 = 1 << 20;

/// Values of two random bytes in four: half of them is left when they are compressed.
fn values(len: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    let values = std::iter::repeat_with(|| (random.next() as u16).into());
    values.take(len / 4).flat_map(u32::to_le_bytes).collect()
}

/// Compressed by half, with chunks of a MiB.
fn content() -> Vec<u8> {
    values(64 << 20)
}

fn encode(builder: EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = builder
        .typesize(4)
        .write_to_file(io::Cursor::new(Vec::new()))
        .unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn stream(builder: EncoderBuilder, data: &[u8]) -> Vec<u8> {
    let mut encoder = builder.typesize(4).write_to(Vec::new()).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// 1,024 chunks of 80 kB.
fn many() -> EncoderBuilder {
    Encoder::builder().chunk_size(80_000).level(1)
}

static FILE: LazyLock<Vec<u8>> = LazyLock::new(|| encode(Encoder::builder().level(1), &content()));
static STREAM: LazyLock<Vec<u8>> =
    LazyLock::new(|| stream(Encoder::builder().level(1), &content()));

/// Checks the calls, of which there may be one for each MiB and so many more, and the bytes, a tenth more than wanted and a
/// bit more than a window.
fn row(what: &str, reads: Reads, wanted: u64, calls: u64) {
    println!(
        "| {what} | {wanted} | {} | {} | {} | {} | {} |",
        reads.calls, reads.ranges, reads.own, reads.opens, reads.bytes
    );
    let most = wanted.div_ceil(MIB) + calls;
    assert!(reads.calls <= most, "{what}: {reads:?}, not {most}");
    let most = wanted + wanted / 10 + MIB + MIB / 4;
    assert!(reads.bytes <= most, "{what}: {reads:?}, not {most}");
}

fn len(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

#[test]
fn opening() {
    let data = values(80_000 * 1024);
    let v2 = many().version(FormatVersion::V2);
    let files = [
        ("open V3 with a table", encode(many(), &data), 8 * 1024, 8),
        (
            "open V2 with table and seal",
            encode(v2, &data),
            8 * 1024,
            8,
        ),
        ("open a stream", stream(many(), &data), 512 * 1024, 1024 + 8),
    ];
    for (what, file, wanted, calls) in files {
        let source = Counted::new(file);
        let reader = IndexedReader::open(&source).unwrap();
        assert_eq!(reader.chunks(), 1024);
        row(what, source.take(), wanted, calls);
        let survey = Survey::of_file(SourceReader::new(&source), &Options::new()).unwrap();
        assert_eq!(survey.members.len(), 1);
        row(
            &format!("{what}: survey"),
            source.take(),
            512 * 1024,
            1024 + 8,
        );
    }
}

#[test]
fn content_by_position() {
    for (kind, file) in [("file", &*FILE), ("stream", &*STREAM)] {
        let (source, all) = (Counted::new(file.as_slice()), len(file));
        let row = |what: &str, reads, wanted| row(&format!("{kind}: {what}"), reads, wanted, 4);
        let reader = IndexedReader::open(&source).unwrap();
        source.take();
        let read = io::copy(&mut reader.cursor(), &mut io::sink()).unwrap();
        assert_eq!(read, 64 * MIB);
        row("a cursor over 64 MiB", source.take(), all);
        let mut buf = vec![0; 16 << 20];
        reader.read_exact_at(10 * MIB + 5, &mut buf).unwrap();
        row("16 MiB of the content", source.take(), all / 4);
        let range = 5 * MIB..21 * MIB;
        reader.copy_range(range, &mut io::sink()).unwrap();
        row("16 MiB, copied", source.take(), all / 4);
        reader.read_exact_at(33 * MIB, &mut [0; 100]).unwrap();
        row("100 bytes", source.take(), all / 64);
    }
}

/// Other threads read, too, however many reads there are: with more threads it goes faster. Of a file, the parser's thread reads
/// its share; of a stream, it only waits.
#[test]
fn content_in_order() {
    for (kind, file) in [("file", &*FILE), ("stream", &*STREAM)] {
        for threads in [1, 4, 16] {
            let row = |what: &str, reads, calls| {
                row(
                    &format!("{kind}: {what}, {threads} threads"),
                    reads,
                    len(file),
                    calls,
                );
            };
            let source = Counted::new(Arc::<[u8]>::from(file.as_slice()));
            let builder = Options::new().threads(threads);
            let mut decoder = Decoder::from_source(Arc::new(source.clone()), 0, builder).unwrap();
            io::copy(&mut decoder, &mut io::sink()).unwrap();
            let reads = source.take();
            row("Decoder::from_source", reads, 4);
            let most = if kind == "file" { reads.calls - 1 } else { 4 };
            assert!(threads == 1 || reads.own <= most, "{reads:?}");
            verify::verify_at(&source, &Options::new().threads(threads), |_| Ok(())).unwrap();
            row("verify_at", source.take(), 8);
        }
    }
}

#[test]
fn records() {
    for (kind, builder) in [
        ("records, one a chunk", RecordWriter::builder()),
        ("packed records", RecordWriter::builder().packed(1 << 16)),
    ] {
        let mut random = Random::new(3);
        let mut writer = builder.write_to_file(io::Cursor::new(Vec::new())).unwrap();
        for number in 0..100_000 {
            let record = std::iter::repeat_with(|| random.next() as u8).take(100 + number % 7);
            writer.push(record.collect::<Vec<_>>()).unwrap();
        }
        let file = writer.finish().unwrap().into_inner();
        let source = Counted::new(file.as_slice());
        let row = |what: &str, reads, wanted, calls| {
            row(&format!("{kind}: {what}"), reads, wanted, calls);
        };
        let open = || IndexedRecordReader::open(&source).unwrap();
        let reader = open();
        row("open", source.take(), 8 * 100_000, 16);
        let found = reader.range(0..100_000).map(Result::unwrap).count();
        assert_eq!(found, 100_000);
        row("a range of 100,000", source.take(), len(&file), 16);
        let reader = open();
        source.take();
        reader.get(77_777).unwrap();
        row("one", source.take(), 1 << 16, 3);
    }
}

#[test]
fn arrays_in_directories() {
    let superchunk = NonZeroU64::new(16).unwrap();
    for (kind, layout, files) in [
        ("carray", DatasetLayout::Bcolz, 64),
        ("carray, 16 chunks a file", DatasetLayout::BlzDocument, 4),
    ] {
        let store = Counted::new(Memory::new());
        let mut array = CArray::of::<u32>().chunk_rows(1 << 18).layout(layout);
        if layout == DatasetLayout::BlzDocument {
            array = array.superchunk(superchunk);
        }
        let mut array = array.create_in(store.clone()).unwrap();
        array.append(&values(64 << 20)).unwrap();
        array.flush().unwrap();
        drop(array);
        store.take();
        let row = |what: &str, reads, wanted, calls| {
            row(&format!("{kind}: {what}"), reads, wanted, calls);
        };
        let array = CArray::open_in(store.clone()).unwrap();
        row("open", store.take(), 0, 12);
        array.read_rows(5..6).unwrap();
        row("a point", store.take(), MIB / 2, 2);
        array.read_rows(MIB..4 * MIB).unwrap();
        row("12 chunks", store.take(), 6 * MIB, 12 + files / 4);
        array.read_rows(0..16 * MIB).unwrap();
        row("all 64 chunks", store.take(), 32 * MIB, 64 + files);
    }
}

#[test]
fn tables() {
    let store = Counted::new(Memory::new());
    let mut builder = CTable::builder();
    for column in 0..20 {
        let array = CArray::of::<u32>().chunk_rows(1 << 18);
        builder = builder.column(format!("c{column}"), array);
    }
    let mut table = builder.create_in(store.clone()).unwrap();
    table.append(&[values(4 << 20).as_slice(); 20]).unwrap();
    table.flush().unwrap();
    drop(table);
    store.take();
    let table = CTable::open_in(store.clone()).unwrap();
    row("ctable of 20 columns: open", store.take(), 0, 8);
    assert_eq!(table.rows().unwrap(), MIB);
    row("ctable: rows()", store.take(), 0, 20);
    let table = CTable::open_in(store.clone()).unwrap();
    store.take();
    table.read_rows(&["c3", "c7"], 0..MIB).unwrap();
    row("ctable: 2 columns", store.take(), 4 * MIB, 8 + 2 * 5 + 18);
}

/// A cube of 64 MiB, with chunks of 64 and blocks of 16 elements along each axis.
fn cube() -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube");
    let mut array = NdArray::of_type::<u32>(&[256, 256, 256])
        .chunk_shape(&[64, 64, 64])
        .block_shape(&[16, 16, 16])
        .create(&path)
        .unwrap();
    let all = [0..256, 0..256, 0..256];
    array.write_slice(&all, &values(64 << 20)).unwrap();
    array.flush().unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn frames() {
    let file = cube();
    let source = Counted::new(file.clone());
    let array = NdArray::read_from(source.clone()).unwrap();
    row("array: open", source.take(), 0, 8);
    // Each of 16 chunks: its head, and then its blocks, wherever they are.
    for (axis, name) in ["first", "second", "third"].iter().enumerate() {
        let mut slice = [0..256, 0..256, 0..256];
        slice[axis] = 40..41;
        array.read_slice(&slice).unwrap();
        row(
            &format!("array: a plane, {name} axis"),
            source.take(),
            2 * MIB,
            2 * 16,
        );
    }
    array.read_slice(&[0..256, 0..256, 0..256]).unwrap();
    // Every part of the slice that a thread reads has a window of its own.
    let reads = source.take();
    row("array: all", reads, len(&file), 32);
    array.read_slice(&[4..5, 5..6, 6..7]).unwrap();
    row("array: a point", source.take(), 8192, 2);
    let frame = Frame::read_with(source.clone(), &Options::new()).unwrap();
    source.take();
    for chunk in 0..frame.chunks() {
        frame.chunk(chunk).unwrap();
    }
    row("frame: each of 64 chunks", source.take(), len(&file), 64);
    assert!(frame.verify(|_| ()).is_sound());
    row("frame: verify", source.take(), len(&file), 64);
}
