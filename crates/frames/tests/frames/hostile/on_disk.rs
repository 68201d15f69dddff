//! Tests of invalid frames in files and folders.

use super::WHOLE;
use crate::frame_parts::{Parts, options, sparse};
use bloscpack_frames::{Frame, NdArray};
use bloscpack_storage::Memory;
use std::path::Path;
use std::sync::mpsc;
use testkit::stopwatch::HANG;

/// Runs what must not hang.
fn hurried<T: Send + 'static>(act: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || drop(done.send(act())));
    wait.recv_timeout(HANG).expect("it hangs")
}

fn write(store: &Memory, folder: &Path) {
    for key in store.keys() {
        std::fs::write(folder.join(key.as_str()), store.bytes(key).unwrap()).unwrap();
    }
}

fn fifo(path: &Path) {
    let made = std::process::Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// The replacements for a file.
const HARMS: [&str; 7] = [
    "link", "missing", "folder", "fifo", "device", "empty", "loop",
];

fn harm(path: &Path, outside: &Path, how: &str) {
    if how != "link" {
        std::fs::remove_file(path).unwrap();
    }
    match how {
        "link" => {
            std::fs::rename(path, outside).unwrap();
            std::os::unix::fs::symlink(outside, path).unwrap();
        }
        "folder" => std::fs::create_dir(path).unwrap(),
        "fifo" => fifo(path),
        "device" => std::os::unix::fs::symlink("/dev/zero", path).unwrap(),
        "empty" => std::fs::write(path, b"").unwrap(),
        "loop" => std::os::unix::fs::symlink(path, path).unwrap(),
        _ => {}
    }
}

#[test]
fn files_of_a_directory_that_are_none_are_refused() {
    for name in ["chunks.b2frame", "00000001.chunk"] {
        for how in HARMS {
            let why = format!("{name}: {how}");
            let temp = tempfile::tempdir().unwrap();
            let (root, outside) = (temp.path().join("array"), temp.path().join("outside"));
            std::fs::create_dir(&root).unwrap();
            write(&sparse(&Parts::sound().bytes()), &root);
            harm(&root.join(name), &outside, how);
            let before = std::fs::read(&outside).ok();
            let path = root.clone();
            let read = hurried(move || NdArray::open(path)?.read_slice(&WHOLE));
            let error = read.expect_err(&why);
            let path = root.clone();
            let verified = hurried(move || Frame::open(path).map(|frame| frame.verify(|_| {})));
            assert!(verified.is_err() || verified.is_ok_and(|report| !report.is_sound()));
            // Overwriting a name does not follow it elsewhere.
            let path = root.clone();
            let written = hurried(move || {
                let mut array = NdArray::edit_with(path, &options())?;
                array.fill_slice(&WHOLE, &[1; 4])?;
                array.flush()
            });
            assert_eq!(
                std::fs::read(&outside).ok(),
                before,
                "{why}: {error}, {written:?}"
            );
            if written.is_ok() {
                let array = NdArray::open(&root).unwrap();
                assert!(array.read_slice(&WHOLE).unwrap() == [1; 240], "{why}");
            }
        }
    }
}

#[test]
fn files_that_are_none_are_refused() {
    for how in HARMS.into_iter().filter(|how| *how != "link") {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("array");
        std::fs::write(&path, Parts::sound().bytes()).unwrap();
        harm(&path, &temp.path().join("outside"), how);
        let one = path.clone();
        assert!(hurried(move || Frame::open(one).is_err()), "{how}");
        assert!(hurried(move || Frame::edit(path).is_err()), "{how}");
    }
}

/// Names that lead elsewhere are none of a frame's.
#[test]
fn strange_names_are_told_and_left() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    write(&sparse(&Parts::sound().bytes()), root);
    let strange = [
        "..chunk",
        "-0000001.chunk",
        "+0000001.chunk",
        "0000000a.chunk",
        "100000000.chunk",
    ];
    for name in strange {
        std::fs::write(root.join(name), b"strange").unwrap();
    }
    let mut array = NdArray::edit_with(root, &options()).unwrap();
    let report = array.frame().verify(|_| {});
    assert!(report.is_sound());
    assert_eq!(
        report.warnings.len(),
        strange.len(),
        "{:?}",
        report.warnings
    );
    array.append(0, &[7; 40]).unwrap();
    array.flush().unwrap_or_else(|error| panic!("{error}"));
    drop(array);
    for name in strange {
        assert_eq!(
            std::fs::read(root.join(name)).unwrap(),
            b"strange",
            "{name}"
        );
    }
}
