//! Waiting for a file to change.

use bloscpack_storage::{FileWatch, StopSignal};
use std::fs::{self, File};
use std::io::Write;
use std::thread;
use std::time::{Duration, Instant};
use testkit::stopwatch::HANG;

const LONG: Option<Duration> = Some(HANG);

/// Reports everything that was done before, so that what comes is new.
fn settle(watch: &mut FileWatch) {
    let quiet = Some(Duration::from_millis(500));
    while watch.wait(quiet).unwrap() {}
}

#[test]
fn changes_and_other_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("log"), "one").unwrap();
    let mut watch = FileWatch::new(path("log"), StopSignal::default()).unwrap();
    assert!(!watch.wait(Some(Duration::ZERO)).unwrap());

    let write = |name: &str| {
        let mut file = File::options().write(true).open(path(name)).unwrap();
        file.write_all(b"two").unwrap();
    };
    let actions: [(&str, &(dyn Fn() + Sync)); 7] = [
        ("written over", &|| write("log")),
        ("cut", &|| fs::write(path("log"), "").unwrap()),
        ("moved away", &|| {
            fs::rename(path("log"), path("old")).unwrap()
        }),
        ("created", &|| fs::write(path("log"), "new").unwrap()),
        ("replaced", &|| {
            fs::rename(path("old"), path("log")).unwrap()
        }),
        ("written after that", &|| write("log")),
        ("removed", &|| fs::remove_file(path("log")).unwrap()),
    ];
    for (what, act) in actions {
        settle(&mut watch);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(50));
                act();
            });
            assert!(watch.wait(LONG).unwrap(), "{what}");
        });
    }
}

#[test]
fn files_beside_it_are_not_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    fs::write(&path, "one").unwrap();
    let mut watch = FileWatch::new(&path, StopSignal::default()).unwrap();
    settle(&mut watch);
    for number in 0..5000 {
        fs::write(folder.path().join(format!("log.{number}")), "other").unwrap();
    }
    assert!(!watch.wait(Some(Duration::from_millis(300))).unwrap());
}

#[test]
fn a_wait_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    assert!(FileWatch::new(&path, StopSignal::default()).is_err());
    fs::write(&path, "one").unwrap();
    let stop = StopSignal::default();
    let mut watch = FileWatch::new(&path, stop.clone()).unwrap();
    settle(&mut watch);
    let waiting = thread::spawn(move || watch.wait(None).unwrap());
    thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    stop.stop();
    assert!(!waiting.join().unwrap());
    assert!(begun.elapsed() < HANG);
}
