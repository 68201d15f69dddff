//! Tests that readers make few and large reads: their number, and the bytes, for each kind of input and of work.
//!
//! `cargo test --test codec reads -- --nocapture` prints the table of `docs/reads.md`.
#![allow(
    clippy::cast_possible_truncation,
    reason = "made-up data may be cut as it likes"
)]

use bloscpack::dataset::{CArray, CTable};
use bloscpack::frame::{Frame, NdArray};
use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordWriter};
use bloscpack::storage::{Cursor, Memory};
use bloscpack::survey::Survey;
use bloscpack::{
    Checksum, Decoder, Encoder, EncoderBuilder, Filter, FormatVersion, Limits, verify,
};
use std::io::{self, Read, Write};
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

fn row(what: &str, reads: Reads, wanted: u64) -> Reads {
    let Reads {
        calls,
        bytes,
        own,
        opens,
    } = reads;
    println!("| {what} | {wanted} | {calls} | {bytes} | {own} | {opens} |");
    reads
}

fn len(bytes: &[u8]) -> u64 {
    bytes.len() as u64
}

#[test]
fn opening() {
    let data = values(80_000 * 1024);
    let v2 = many().layout(FormatVersion::V2);
    let files = [
        ("open V3 with a table", encode(many(), &data), 8 * 1024),
        ("open V2 with table and seal", encode(v2, &data), 8 * 1024),
        ("open a stream", stream(many(), &data), 16 * 1024),
    ];
    for (what, file, wanted) in files {
        let source = Counted::new(file);
        let reader = IndexedReader::open(&source).unwrap();
        assert_eq!(reader.chunks(), 1024);
        row(what, source.take(), wanted);
        let survey = Survey::of_file(Cursor::new(&source), &Limits::default()).unwrap();
        assert_eq!(survey.members.len(), 1);
        row(&format!("{what}: survey"), source.take(), 16 * 1024);
    }
}

#[test]
fn content_by_position() {
    for (kind, file) in [("file", &*FILE), ("stream", &*STREAM)] {
        let source = Counted::new(file.as_slice());
        let reader = IndexedReader::open(&source).unwrap();
        source.take();
        let all = io::copy(&mut reader.cursor(), &mut io::sink()).unwrap();
        assert_eq!(all, 64 * MIB);
        row(&format!("{kind}: cursor, all"), source.take(), len(file));
        let mut buf = vec![0; 16 << 20];
        reader.read_exact_at(10 * MIB + 5, &mut buf).unwrap();
        row(&format!("{kind}: 16 MiB"), source.take(), len(file) / 4);
        reader
            .copy_range(5 * MIB..21 * MIB, &mut io::sink())
            .unwrap();
        row(
            &format!("{kind}: copy 16 MiB"),
            source.take(),
            len(file) / 4,
        );
        reader.read_exact_at(33 * MIB, &mut [0; 100]).unwrap();
        row(&format!("{kind}: 100 bytes"), source.take(), len(file) / 64);
    }
}

#[test]
fn content_in_order() {
    for (kind, file) in [("file", &*FILE), ("stream", &*STREAM)] {
        for threads in [1, 4, 16] {
            let builder = || Decoder::builder().threads(threads);
            let source = Counted::new(file.as_slice());
            io::copy(
                &mut builder().read_from(Cursor::new(&source)),
                &mut io::sink(),
            )
            .unwrap();
            row(
                &format!("{kind}: decoder, {threads} threads"),
                source.take(),
                len(file),
            );
            let owned = Counted::new(Arc::<[u8]>::from(file.as_slice()));
            let mut decoder = builder().read_at(Arc::new(owned.clone()), 0).unwrap();
            io::copy(&mut decoder, &mut io::sink()).unwrap();
            row(
                &format!("{kind}: decoder by position, {threads} threads"),
                owned.take(),
                len(file),
            );
            verify::verify_at(&source, Limits::default(), threads).unwrap();
            row(
                &format!("{kind}: verify, {threads} threads"),
                source.take(),
                len(file),
            );
        }
    }
}

#[test]
fn records() {
    let record = |number: u32| values(100 + number as usize % 7);
    for (kind, builder) in [
        ("records, one a chunk", RecordWriter::builder()),
        ("records, packed", RecordWriter::builder().packed(1 << 16)),
    ] {
        let mut writer = builder.write_to_file(io::Cursor::new(Vec::new())).unwrap();
        (0..100_000).for_each(|number| writer.push(record(number)).unwrap());
        let file = writer.finish().unwrap().into_inner();
        let source = Counted::new(file.as_slice());
        let reader = IndexedRecordReader::open(&source).unwrap();
        row(&format!("{kind}: open"), source.take(), 8);
        assert_eq!(
            reader.range(0..100_000).map(Result::unwrap).count(),
            100_000
        );
        row(&format!("{kind}: range of all"), source.take(), len(&file));
        let reader = IndexedRecordReader::open(&source).unwrap();
        source.take();
        reader.get(77_777).unwrap();
        row(&format!("{kind}: one"), source.take(), 100);
    }
}

#[test]
fn datasets() {
    let store = Counted::new(Memory::new());
    let mut array = CArray::of::<u32>()
        .chunk_rows(1 << 18)
        .create_in(store.clone())
        .unwrap();
    let data = values(64 << 20);
    array.append(&data).unwrap();
    array.flush().unwrap();
    drop(array);
    store.take();
    let array = CArray::open_in(store.clone()).unwrap();
    row("carray: open", store.take(), 0);
    array.read_rows(5..6).unwrap();
    row("carray: a point", store.take(), MIB / 2);
    array.read_rows(MIB..4 * MIB).unwrap();
    row("carray: 12 chunks", store.take(), 6 * MIB);
    array.read_rows(0..16 * MIB).unwrap();
    row("carray: all, 64 chunks", store.take(), 32 * MIB);

    let store = Counted::new(Memory::new());
    let mut builder = CTable::builder();
    for column in 0..20 {
        let array = CArray::of::<u32>().chunk_rows(1 << 18);
        builder = builder.column(format!("c{column}"), array);
    }
    let mut table = builder.create_in(store.clone()).unwrap();
    let data = values(4 << 20);
    table.append(&[data.as_slice(); 20]).unwrap();
    table.flush().unwrap();
    drop(table);
    store.take();
    let table = CTable::open_in(store.clone()).unwrap();
    row("ctable of 20 columns: open", store.take(), 0);
    table.rows().unwrap();
    row("ctable: rows()", store.take(), 0);
    let table = CTable::open_in(store.clone()).unwrap();
    store.take();
    table.read_rows(&["c3", "c7"], 0..MIB).unwrap();
    row("ctable: all rows of 2 columns", store.take(), 4 * MIB);
}

#[test]
fn frames() {
    let path = tempfile::tempdir().unwrap();
    let at = path.path().join("array");
    let shape = [256, 256, 256];
    let mut array = NdArray::of_type::<u32>(&shape)
        .chunk_shape(&[64, 64, 64])
        .block_shape(&[16, 16, 16])
        .create(&at)
        .unwrap();
    let data = values(64 << 20);
    array.write_slice(&[0..256, 0..256, 0..256], &data).unwrap();
    array.flush().unwrap();
    drop(array);
    let file = std::fs::read(&at).unwrap();
    let source = Counted::new(file.clone());
    let array = NdArray::read_from(source.clone()).unwrap();
    row("array: open", source.take(), 0);
    for (axis, name) in ["first", "second", "third"].iter().enumerate() {
        let mut slice = [0..256, 0..256, 0..256];
        slice[axis] = 40..41;
        array.read_slice(&slice).unwrap();
        row(
            &format!("array: plane, {name} axis"),
            source.take(),
            2 * MIB,
        );
    }
    array.read_slice(&[0..256, 0..256, 0..256]).unwrap();
    row("array: all", source.take(), len(&file));
    array.read_slice(&[4..5, 5..6, 6..7]).unwrap();
    row("array: a point", source.take(), 8192);
    let frame = Frame::read_from(source.clone()).unwrap();
    source.take();
    for chunk in 0..frame.chunks() {
        frame.chunk(chunk).unwrap();
    }
    row("frame: all chunks", source.take(), len(&file));
    frame.verify(|_| ());
    row("frame: verify", source.take(), len(&file));
}
