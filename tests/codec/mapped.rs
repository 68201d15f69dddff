//! Tests that a file mapped into memory gives the same as the file.
#![cfg(feature = "mmap")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::indexed::IndexedReader;
use bloscpack::storage::{Map, ReadAt};
use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;

/// Everything that a reader returns: all content at once, and chunk by chunk.
fn read(source: impl ReadAt) -> (Vec<u8>, Vec<Vec<u8>>, usize, usize) {
    let reader = IndexedReader::open(source).unwrap();
    let mut whole = vec![0; usize::try_from(reader.content_len()).unwrap()];
    reader.read_exact_at(0, &mut whole).unwrap();
    let chunks = 0..reader.chunks();
    let chunks = chunks.map(|chunk| reader.read_chunk(chunk).unwrap());
    (
        whole,
        chunks.collect(),
        reader.members(),
        reader.warnings().len(),
    )
}

#[test]
fn files_of_real_tools_read_alike_mapped_and_by_position() {
    let folder = testkit::testdata("bloscpack");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "blp") {
            continue;
        }
        let map = Map::open(&File::open(&path).unwrap()).unwrap();
        assert!(map.as_ref() == std::fs::read(&path).unwrap());
        let file = File::open(&path).unwrap();
        assert!(read(&map) == read(file), "{}", path.display());
        files += 1;
    }
    assert!(files > 200, "{files}");
}

#[test]
fn reads_end_where_the_file_ends() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    std::io::Write::write_all(&mut file, b"0123456789").unwrap();
    let map = Map::open(file.as_file()).unwrap();
    // It needs neither the open file nor its name.
    drop(file);
    assert_eq!(map.size().unwrap(), 10);
    let mut buf = [0; 4];
    assert_eq!(map.read_at(8, &mut buf).unwrap(), 2);
    assert_eq!(&buf[..2], b"89");
    for at in [10, 11, u64::MAX] {
        assert_eq!(map.read_at(at, &mut buf).unwrap(), 0);
    }
    let error = map.read_exact_at(7, &mut buf).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn an_empty_file_is_an_empty_map() {
    let map = Map::open(&tempfile::tempfile().unwrap()).unwrap();
    assert!(map.as_ref().is_empty());
    assert_eq!(map.size().unwrap(), 0);
}

#[test]
fn several_threads_share_a_map() {
    let path = testkit::testdata("bloscpack/a_lz4_byte_t12.blp");
    let map = Map::open(&File::open(path).unwrap()).unwrap();
    let expected = read(&map);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(read(&map) == expected));
        }
    });
}

#[cfg(unix)]
#[test]
fn what_is_no_regular_file_is_refused() {
    for path in [Path::new("/dev/null"), &testkit::root()] {
        let error = Map::open(&File::open(path).unwrap()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{}", path.display());
    }
}
