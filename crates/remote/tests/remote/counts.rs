//! How many requests each kind of work takes, and how many of them wait for each other. The table of `docs/remote.md`.

use crate::bucket::{Bucket, Seen};
use bloscpack::indexed::IndexedReader;
use bloscpack::storage::ReadAt as _;
use bloscpack::{Encoder, Options, records::RecordWriter};
use bloscpack_open::datasets::{CArray, CTable, Dataset};
use bloscpack_open::frames::NdArray;
use bloscpack_remote::{Remote, RemoteOptions, WriteOptions};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;
use testkit::golden::Random;

/// Values of two random bytes in four: half of them is left when they are compressed.
fn values(len: usize) -> Vec<u8> {
    let mut random = Random::new(7);
    let values = std::iter::repeat_with(|| u32::from(random.next() as u16));
    values.take(len / 4).flat_map(u32::to_le_bytes).collect()
}

fn slow() -> (Arc<Bucket>, Remote) {
    let bucket = Bucket::new(Duration::from_millis(200));
    let remote = bucket.remote();
    (bucket, remote)
}

/// Checks the figures, and prints a row of the table.
fn row(what: &str, seen: Seen, requests: usize, rounds: usize) {
    println!(
        "| {what} | {} | {} | {} | {} |",
        seen.requests, seen.rounds, seen.at_once, seen.bytes
    );
    assert!(
        seen.requests <= requests,
        "{what}: {seen:?}, not {requests} requests"
    );
    assert!(
        seen.rounds <= rounds,
        "{what}: {seen:?}, not {rounds} rounds"
    );
}

/// 64 MiB in chunks of 256 KiB.
fn file() -> Vec<u8> {
    let builder = Encoder::builder()
        .chunk_size(256 << 10)
        .level(1)
        .typesize(4);
    let mut encoder = builder.write_to_file(io::Cursor::new(Vec::new())).unwrap();
    encoder.write_all(&values(64 << 20)).unwrap();
    encoder.finish().unwrap().into_inner()
}

#[test]
fn a_bloscpack_file() {
    let (bucket, remote) = slow();
    bucket.put(&remote, "file.blp", file());
    let reader = IndexedReader::open(remote.object("memory://bucket/file.blp").unwrap()).unwrap();
    row("open V3 with a table of 256 chunks", bucket.take(), 2, 2);
    reader.read_exact_at(40 << 20, &mut [0; 4]).unwrap();
    row("a point", bucket.take(), 2, 1);
    let mut ten = vec![0; 10 * (256 << 10)];
    reader.read_exact_at(8 << 20, &mut ten).unwrap();
    row("a slice of ten chunks", bucket.take(), 12, 1);
    assert!(ten == values(64 << 20)[8 << 20..][..ten.len()]);
    let reader = IndexedReader::open(remote.object("memory://bucket/file.blp").unwrap()).unwrap();
    bucket.take();
    reader.copy_range(0..64 << 20, &mut io::sink()).unwrap();
    let seen = bucket.take();
    row("all 64 MiB", seen, 40, 40);
    assert!(seen.at_once >= 8, "{seen:?}");
    bucket
        .remote()
        .open("memory://bucket/file.blp", &Options::new())
        .unwrap();
    row("open by URL", bucket.take(), 2, 2);
}

#[test]
fn records() {
    let (bucket, remote) = slow();
    let mut writer = RecordWriter::builder()
        .packed(1 << 16)
        .write_to_file(io::Cursor::new(Vec::new()))
        .unwrap();
    for number in 0..100_000u32 {
        writer.push(number.to_le_bytes().repeat(25)).unwrap();
    }
    bucket.put(&remote, "r.blp", writer.finish().unwrap().into_inner());
    let object = remote.object("memory://bucket/r.blp").unwrap();
    let reader = bloscpack::records::IndexedRecordReader::open(object).unwrap();
    row("open 100,000 packed records", bucket.take(), 3, 3);
    assert_eq!(
        reader.get(77_777).unwrap().get(..4),
        Some(77_777u32.to_le_bytes().as_slice())
    );
    row("one of them", bucket.take(), 2, 1);
}

#[test]
fn a_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.b2nd");
    let builder = NdArray::of_type::<u32>(&[256, 256, 256]);
    let mut array = builder
        .chunk_shape(&[64, 64, 64])
        .block_shape(&[16, 16, 16])
        .create(&path)
        .unwrap();
    let all = [0..256, 0..256, 0..256];
    array.write_slice(&all, &values(64 << 20)).unwrap();
    array.flush().unwrap();
    let (bucket, remote) = slow();
    bucket.put(&remote, "cube.b2nd", std::fs::read(&path).unwrap());
    let object = || remote.object("memory://bucket/cube.b2nd").unwrap();
    let cube = NdArray::read_from(object()).unwrap();
    row("open an array in a frame", bucket.take(), 2, 1);
    cube.read_slice(&[200..201, 205..206, 206..207]).unwrap();
    row("a point", bucket.take(), 2, 1);
    let plane = [0..256, 0..256, 40..41];
    let found = cube.read_slice(&plane).unwrap();
    row("a plane: 16 chunks", bucket.take(), 17, 1);
    assert!(found == array.read_slice(&plane).unwrap());
    let cube = NdArray::read_from(object()).unwrap();
    bucket.take();
    cube.read_slice(&all).unwrap();
    let seen = bucket.take();
    row("all 64 chunks", seen, 70, 70);
    assert!(seen.at_once >= 8, "{seen:?}");
    bucket
        .remote()
        .open("memory://bucket/cube.b2nd", &Options::new())
        .unwrap();
    row("open by URL", bucket.take(), 2, 2);
}

#[test]
fn a_carray() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let mut array = CArray::of::<u32>()
        .chunk_rows(1 << 14)
        .create(&path)
        .unwrap();
    array.append(&values(64 << 20)).unwrap();
    array.flush().unwrap();
    let (bucket, remote) = slow();
    bucket.put_all(&remote, "array", &path);
    let open = || {
        let store = bucket.remote().store("memory://bucket/array").unwrap();
        Dataset::open_in(store, &Options::new())
            .unwrap()
            .into_array()
            .unwrap()
    };
    let found = open();
    row("open a carray", bucket.take(), 4, 2);
    assert_eq!(found.chunks(), 1024);
    found.read_rows(5..6).unwrap();
    row("a point", bucket.take(), 1, 1);
    let rows = (1 << 16)..(1 << 16) + 10 * (1 << 14);
    assert!(found.read_rows(rows.clone()).unwrap() == array.read_rows(rows).unwrap());
    row("a slice of ten chunks", bucket.take(), 10, 1);
    let found = open();
    bucket.take();
    assert!(found.read_rows(0..16 << 20).unwrap() == array.read_rows(0..16 << 20).unwrap());
    let seen = bucket.take();
    row("all 1,024 superchunks", seen, 1024, 1024 / 8);
    assert!(seen.at_once >= 8, "{seen:?}");
    // In blocks, as an export reads them.
    let found = Options::new().cache(0);
    let found = Dataset::open_in(remote.store("memory://bucket/array").unwrap(), &found)
        .unwrap()
        .into_array()
        .unwrap();
    bucket.take();
    for block in found.blocks(0..16 << 20, 1 << 20) {
        block.unwrap();
    }
    let seen = bucket.take();
    row("the same in blocks of 1 MiB", seen, 1024, 1024 / 8);
    bucket
        .remote()
        .open("memory://bucket/array", &Options::new())
        .unwrap();
    row("open by URL", bucket.take(), 4, 2);
}

#[test]
fn writing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let mut array = CArray::of::<u32>()
        .chunk_rows(1 << 14)
        .create(&path)
        .unwrap();
    array.append(&values(16 << 20)).unwrap();
    array.flush().unwrap();
    let (bucket, remote) = slow();
    let mut file = remote
        .create("memory://bucket/small", &WriteOptions::new())
        .unwrap();
    file.write_all(&[1; 1 << 20]).unwrap();
    file.finish().unwrap();
    row("write an object of 1 MiB", bucket.take(), 1, 1);
    let mut file = remote
        .create("memory://bucket/large", &WriteOptions::new())
        .unwrap();
    file.write_all(&vec![1; 64 << 20]).unwrap();
    file.finish().unwrap();
    // A part is sent while the next one is filled, which may take longer than an answer.
    row("write an object of 64 MiB", bucket.take(), 11, 11);
    remote.upload(&path, "memory://bucket/array").unwrap();
    row("upload a carray of 256 superchunks", bucket.take(), 260, 40);
    let mut edit = CArray::edit_in(remote.edit("memory://bucket/array").unwrap()).unwrap();
    row("open it for changes", bucket.take(), 4, 2);
    edit.append(&values(4)).unwrap();
    edit.flush().unwrap();
    row("append a row", bucket.take(), 3, 3);
    edit.append(&values(4 << 20)).unwrap();
    edit.flush().unwrap();
    row("append 64 superchunks", bucket.take(), 68, 12);
    edit.set_attribute("unit", &"mm".into()).unwrap();
    edit.flush().unwrap();
    row("set an attribute", bucket.take(), 1, 1);
}

#[test]
fn a_ctable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table");
    let mut builder = CTable::builder();
    for column in 0..20 {
        builder = builder.column(
            format!("c{column}"),
            CArray::of::<u32>().chunk_rows(1 << 16),
        );
    }
    let mut table = builder.create(&path).unwrap();
    table.append(&[values(4 << 20).as_slice(); 20]).unwrap();
    table.flush().unwrap();
    let (bucket, remote) = slow();
    bucket.put_all(&remote, "table", &path);
    let store = remote.store("memory://bucket/table").unwrap();
    let found = Dataset::open_in(store, &Options::new())
        .unwrap()
        .into_table()
        .unwrap();
    for column in found.names() {
        found.column(column).unwrap();
    }
    row(
        "open a ctable of 20 columns, and each of them",
        bucket.take(),
        63,
        3,
    );
    let names = ["c3", "c7"];
    assert!(
        found.read_rows(&names, 0..1 << 20).unwrap()
            == table.read_rows(&names, 0..1 << 20).unwrap()
    );
    row("all rows of two columns", bucket.take(), 32, 4);
}

#[test]
fn what_was_read_is_kept_as_long_as_there_is_room() {
    let bucket = Bucket::new(Duration::ZERO);
    let remote = Remote::new(RemoteOptions::new().cache(8 << 20)).unwrap();
    remote
        .register("memory://bucket", Arc::clone(&bucket) as _)
        .unwrap();
    bucket.put(&remote, "file", values(32 << 20));
    let object = remote.object("memory://bucket/file").unwrap();
    bucket.take();
    let mut part = vec![0; 1 << 20];
    object.read_exact_at(3 << 20, &mut part).unwrap();
    let first = bucket.take();
    object.read_exact_at(3 << 20, &mut part).unwrap();
    assert_eq!((bucket.take().requests, first.bytes), (0, 1 << 20));
    // Another handle of the same version finds it, too, after its first answer.
    let again = remote.object("memory://bucket/file").unwrap();
    again.read_exact_at(3 << 20, &mut part).unwrap();
    assert_eq!(bucket.take().requests, 1);
    let mut all = vec![0; 32 << 20];
    object.read_exact_at(0, &mut all).unwrap();
    assert!(all == values(32 << 20));
    bucket.take();
    object.read_exact_at(3 << 20, &mut part).unwrap();
    assert!(bucket.take().requests > 0);
}
