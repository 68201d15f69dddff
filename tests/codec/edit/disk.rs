//! Tests of conditions that only a file system has: several names of one file, long names, files moved while they are
//! being changed, and foreign entries at the paths that an editor needs.
#![cfg(unix)]

use crate::edit::golden::sensor;
use crate::edit::{JOURNAL, NAME};
use bloscpack::storage::Snapshot;
use bloscpack::{Category, Encoder, edit::Editor};
use std::fs;
use std::io::{Cursor, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

fn file(data: &[u8]) -> Vec<u8> {
    let options = Encoder::builder().chunk_size(1000).max_app_chunks(1);
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn folder_with(name: &str, data: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, file(data)).unwrap();
    (folder, path)
}

fn append(path: &Path, data: &[u8]) -> bloscpack::Result<u64> {
    let mut editor = Editor::open(path)?;
    let mut appender = editor.append()?;
    appender.write_all(data)?;
    appender.finish()
}

fn content(path: &Path) -> Vec<u8> {
    bloscpack::decompress(&fs::read(path).unwrap()).unwrap()
}

fn count(folder: &tempfile::TempDir) -> usize {
    fs::read_dir(folder.path()).unwrap().count()
}

/// Each name would have a journal of its own, and the one writer would not know of the other.
#[test]
fn a_file_of_two_names_is_not_changed_through_either() {
    let data = sensor(2500, 1);
    let (folder, path) = folder_with(NAME, &data);
    let other = folder.path().join("other.blp");
    fs::hard_link(&path, &other).unwrap();
    for name in [&path, &other] {
        let error = Editor::open(name).unwrap_err();
        assert_eq!(error.category(), Category::Failed);
        assert!(error.to_string().contains("link"), "{error}");
    }
    assert!(Snapshot::open(&other).is_ok());
    assert_eq!((content(&path), count(&folder)), (data, 2));
    fs::remove_file(&other).unwrap();
    append(&path, b"more").unwrap();
}

/// A success would mean a change to a file that can no longer be found; and the file that now has the name must not
/// be replaced.
#[test]
fn a_file_that_was_moved_or_replaced_meanwhile_is_not_changed() {
    let (data, theirs) = (sensor(2500, 1), sensor(1700, 2));
    for more in [100, 50_000] {
        for replaced in [false, true] {
            let (folder, path) = folder_with(NAME, &data);
            let aside = folder.path().join("aside.blp");
            let mut editor = Editor::open(&path).unwrap();
            let mut appender = editor.append().unwrap();
            appender.write_all(&sensor(more, 3)).unwrap();
            fs::rename(&path, &aside).unwrap();
            if replaced {
                fs::write(&path, file(&theirs)).unwrap();
            }
            let error = appender.finish().unwrap_err();
            assert_eq!(error.category(), Category::Failed, "{error}");
            drop(editor);
            assert_eq!(content(&aside), data);
            assert_eq!(path.exists(), replaced);
            if replaced {
                assert_eq!(content(&path), theirs);
                append(&path, b"more").unwrap();
            }
        }
    }
}

/// A name of 255 bytes is the longest; those of journal and replacement are made from it.
#[test]
fn long_names_work_or_are_refused_at_once() {
    let data = sensor(2500, 1);
    for len in [200, 213, 214, 230, 242, 243, 255] {
        let name = format!("{}.blp", "n".repeat(len - 4));
        let (folder, path) = folder_with(&name, &data);
        let opened = Editor::open(&path);
        if len > 242 {
            let error = opened.unwrap_err().to_string();
            assert!(error.contains("journal"), "{error}");
            assert_eq!(count(&folder), 1);
            continue;
        }
        let mut editor = opened.unwrap();
        let mut appender = editor.append().unwrap();
        appender.write_all(b"given up").unwrap();
        drop(appender);
        drop(editor);
        assert_eq!(count(&folder), 1, "{len}");
        // The table has to grow, so that the file is replaced.
        append(&path, &data).unwrap();
        assert_eq!(content(&path), [data.clone(), data.clone()].concat());
        assert_eq!(count(&folder), 1, "{len}");
    }
}

/// A process that has it open could read the written data, and change it before it is applied.
#[test]
fn a_journal_that_was_there_is_not_written_to() {
    let data = sensor(2500, 1);
    for planted in [b"".as_slice(), b"blpkjrnl", &[0; 100]] {
        let (folder, path) = folder_with(NAME, &data);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let journal = folder.path().join(JOURNAL);
        fs::write(&journal, planted).unwrap();
        fs::set_permissions(&journal, fs::Permissions::from_mode(0o666)).unwrap();
        let theirs = fs::File::open(&journal).unwrap();
        let editor = Editor::open(&path).unwrap();
        let ours = fs::metadata(&journal).unwrap();
        assert_eq!(ours.mode() & 0o777, 0o600);
        assert_ne!(ours.ino(), theirs.metadata().unwrap().ino());
        drop(editor);
        assert_eq!(count(&folder), 1);
    }
}

/// The name is a second one of a valuable file.
#[test]
fn a_journal_that_is_a_second_name_is_left_alone() {
    let (folder, path) = folder_with(NAME, b"data");
    let victim = folder.path().join("victim");
    fs::write(&victim, [0; 100]).unwrap();
    fs::hard_link(&victim, folder.path().join(JOURNAL)).unwrap();
    let _ = Editor::open(&path).map(|_| ());
    assert_eq!(fs::read(&victim).unwrap(), [0; 100]);
}
