//! Tests that changes that break an invariant are errors, and leave the file unchanged.

use super::JournaledFile;
use crate::{Error, LockTimeout, Memory};
use std::io::ErrorKind;
use std::time::Duration;

const NAME: &str = "data";

fn folder() -> Memory {
    Memory::from([(NAME, b"old data".to_vec())])
}

fn open(folder: &Memory) -> JournaledFile<Memory> {
    let timeout = LockTimeout::new(Duration::ZERO);
    JournaledFile::open(folder.clone(), NAME.as_ref(), &timeout).unwrap()
}

/// Asserts that the file has its old content and nothing is beside it once it was opened again.
fn assert_unchanged(folder: &Memory) {
    drop(open(folder));
    assert_eq!(folder.bytes(NAME).as_deref(), Some(&b"old data"[..]));
    assert_eq!(crate::Folder::list(folder).unwrap(), [NAME]);
}

#[test]
fn a_change_that_leaves_a_hole_is_a_bug() {
    for (at, new_len) in [(8, 100), (20, 24), (0, 9)] {
        let folder = folder();
        let mut file = open(&folder);
        let mut change = file.change(None).unwrap();
        change.put(at, b"more").unwrap();
        let error = change.commit(new_len).map(drop).unwrap_err();
        assert!(matches!(Error::from(error), Error::Bug { .. }));
        // The state of the file is not trusted any more.
        assert!(file.change(None).is_err());
        drop(file);
        assert_unchanged(&folder);
    }
}

#[test]
fn a_file_cannot_become_empty() {
    let folder = folder();
    let mut file = open(&folder);
    let error = file.change(None).unwrap().commit(0).map(drop).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    drop(file);
    assert_unchanged(&folder);
}

#[test]
fn bytes_past_the_last_position_are_refused() {
    let folder = folder();
    let mut file = open(&folder);
    let mut change = file.change(Some(8)).unwrap();
    for at in [u64::MAX, u64::MAX - 2] {
        let error = change.put(at, b"more").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    drop(file);
    assert_unchanged(&folder);
}
