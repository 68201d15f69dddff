//! Tests that readers beside a writer see a complete state of the file, and never an older one after a newer.
#![cfg(unix)]

use crate::edit::{NAME, golden::sensor};
use bloscpack::storage::{Snapshot, SourceReader};
use bloscpack::{Decoder, Encoder, edit::Editor, indexed::IndexedReader};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const VERSIONS: usize = 30;
/// The number of bytes that each version appends. It also writes its number over the beginning of every thousand bytes.
const STEP: usize = 1700;

fn version(number: usize) -> Vec<u8> {
    let mut content = sensor(3000 + STEP * number, 1);
    for piece in content.chunks_mut(1000) {
        piece[0] = number as u8;
    }
    content
}

fn in_order(path: &Path) -> Vec<u8> {
    let mut content = Vec::new();
    let source = SourceReader::new(Snapshot::open(path).unwrap());
    Decoder::new(source).read_to_end(&mut content).unwrap();
    content
}

fn at_any_place(path: &Path) -> Vec<u8> {
    let reader = IndexedReader::open(Snapshot::open(path).unwrap()).unwrap();
    let mut content = vec![0; reader.content_len() as usize];
    // From the last to the first, so that a change in between would show.
    for (number, piece) in content.chunks_mut(700).enumerate().rev() {
        reader.read_exact_at(700 * number as u64, piece).unwrap();
    }
    content
}

fn watch(path: &Path, done: &AtomicBool, read: fn(&Path) -> Vec<u8>) -> usize {
    let (mut last, mut seen) = (0, 0);
    while !done.load(Ordering::Relaxed) {
        let content = read(path);
        // Between the two changes of a version only the length is new.
        let number = usize::from(content[0]);
        let grown = (content.len() - 3000) / STEP;
        assert!(grown == number || grown == number + 1, "{grown} {number}");
        assert!(grown >= last, "an older state after a newer one");
        let mut expected = version(number);
        expected.extend_from_slice(&sensor(content.len(), 1)[expected.len()..]);
        assert!(content == expected, "a mixture");
        (last, seen) = (grown, seen + 1);
    }
    seen
}

#[test]
fn readers_see_whole_states_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(NAME);
    let options = Encoder::builder().chunk_size(1000).max_app_chunks(9);
    let file = std::fs::File::create_new(&path).unwrap();
    drop(file);
    let file = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    let mut encoder = options.write_to_file(file).unwrap();
    encoder.write_all(&version(0)).unwrap();
    drop(encoder.finish().unwrap());
    let done = AtomicBool::new(false);
    let (path, done) = (path.as_path(), &done);
    std::thread::scope(|scope| {
        let readers: Vec<_> = [in_order, at_any_place, in_order]
            .map(|read| scope.spawn(move || watch(path, done, read)))
            .into();
        let mut editor = Editor::open(path).unwrap();
        for number in 1..VERSIONS {
            let content = version(number);
            let mut appender = editor.append().unwrap();
            let from = content.len() - STEP;
            appender
                .write_all(&sensor(content.len(), 1)[from..])
                .unwrap();
            appender.finish().unwrap();
            editor.patch(0, content.as_slice()).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for reader in readers {
            assert!(reader.join().unwrap() > 0);
        }
    });
    assert!(in_order(path) == version(VERSIONS - 1));
}
