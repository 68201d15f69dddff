//! Objects that are written: whole or not at all, whatever request fails.

use crate::bucket::{Bucket, FAULTS, Fault};
use crate::servers;
use bloscpack::storage::ReadAt as _;
use bloscpack_remote::{Remote, RemoteOptions, WriteOptions};
use std::io::{self, ErrorKind, Write as _};
use std::sync::{Arc, Barrier};
use std::time::Duration;

const URL: &str = "memory://bucket/dir/object";
const PATH: &str = "dir/object";

fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut random = testkit::golden::Random::new(seed);
    std::iter::repeat_with(|| random.next() as u8)
        .take(len)
        .collect()
}

fn small_parts() -> WriteOptions {
    WriteOptions::new().part_size(5 << 20).at_once(2)
}

fn write(remote: &Remote, bytes: &[u8], options: &WriteOptions) -> io::Result<u64> {
    let mut writer = remote.create(URL, options)?;
    writer.write_all(bytes)?;
    writer.finish()
}

/// Each request fails in each way: the object is the old one or the new one, and no parts stay.
fn try_all(len: usize, old: Option<&[u8]>) {
    let bytes = noise(len, 7);
    let empty = Bucket::new(Duration::ZERO);
    if let Some(old) = old {
        empty.put(&empty.remote(), PATH, old.to_vec());
    }
    let good = empty.copy(None);
    assert_eq!(
        write(&good.remote(), &bytes, &small_parts()).unwrap(),
        len as u64
    );
    let requests = good.take().requests;
    assert_eq!(good.bytes(&good.remote(), PATH), Some(bytes.clone()));
    let ways = FAULTS
        .into_iter()
        .flat_map(|fault| [(fault, false), (fault, true)]);
    for (fault, goes_on) in ways {
        let mut errors = 0;
        for number in 0..requests {
            let bucket = empty.copy(Some((number, goes_on, fault)));
            let remote = bucket.remote();
            let done = write(&remote, &bytes, &small_parts());
            errors += usize::from(done.is_err());
            let found = bucket.bytes(&remote, PATH);
            let what = format!("{len} bytes: {fault:?}, {goes_on}, of request {number}: {done:?}");
            let is_new = found.as_ref() == Some(&bytes);
            // Where a store lies about what it has kept, there is no object.
            let lies = matches!(fault, Fault::Cut | Fault::ChangedLength);
            let is_old = found.as_deref() == old || (lies && found.is_none());
            assert!(is_new || (done.is_err() && is_old), "{what}");
            // One that cannot even be aborted is left to the rules of the bucket.
            let is_aborted = bucket.open_uploads() <= 0 || goes_on;
            assert!(done.is_ok() || is_aborted, "{what}");
        }
        println!("{len} bytes: {fault:?}, {goes_on}: {errors} errors of {requests}");
        assert!(errors > 0, "{fault:?} is never noticed");
    }
}

#[test]
fn small_objects() {
    try_all(1000, None);
    try_all(1000, Some(b"old"));
}

#[test]
fn objects_in_parts() {
    try_all(17 << 20, None);
    try_all(17 << 20, Some(b"old"));
}

#[test]
fn what_is_not_finished_is_not_there() {
    let bucket = Bucket::new(Duration::ZERO);
    let remote = bucket.remote();
    for len in [1000, 17 << 20] {
        let mut writer = remote.create(URL, &small_parts()).unwrap();
        writer.write_all(&noise(len, 1)).unwrap();
        drop(writer);
        assert_eq!(bucket.bytes(&remote, PATH), None);
        assert_eq!(bucket.open_uploads(), 0);
    }
    // As many parts at once as were asked for, and one request for what is small.
    let bucket = Bucket::new(Duration::from_millis(5));
    let remote = bucket.remote();
    write(&remote, b"a", &WriteOptions::new().create_new(true)).unwrap();
    assert_eq!(bucket.take().requests, 1);
    write(&remote, &noise(36 << 20, 2), &small_parts()).unwrap();
    let seen = bucket.take();
    // Begin, eight parts, complete, and a look at the length.
    assert_eq!((seen.requests, seen.at_once), (11, 2), "{seen:?}");
}

#[test]
fn new_objects_replace_nothing() {
    for len in [10, 12 << 20] {
        let bucket = Bucket::new(Duration::ZERO);
        let remote = bucket.remote();
        let new = small_parts().create_new(true);
        write(&remote, &noise(len, 1), &new).unwrap();
        let error = write(&remote, &noise(len, 2), &new).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
        assert_eq!(bucket.open_uploads(), 0);
        assert_eq!(bucket.bytes(&remote, PATH), Some(noise(len, 1)));
        write(&remote, &noise(len, 2), &small_parts()).unwrap();
        assert_eq!(bucket.bytes(&remote, PATH), Some(noise(len, 2)));
    }
}

/// Two make the same new object: one of them does.
#[test]
fn one_of_two_creators_wins() {
    for race in 0..200u64 {
        let bucket = Bucket::new(Duration::ZERO);
        let start = Arc::new(Barrier::new(2));
        let racers: Vec<_> = (0..2u64)
            .map(|racer| {
                let (remote, start) = (bucket.remote(), Arc::clone(&start));
                std::thread::spawn(move || {
                    start.wait();
                    let bytes = noise(100, 2 * race + racer);
                    write(&remote, &bytes, &WriteOptions::new().create_new(true)).is_ok()
                })
            })
            .collect();
        let won: Vec<bool> = racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect();
        let winner = won.iter().position(|won| *won).unwrap() as u64;
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        let found = bucket.bytes(&bucket.remote(), PATH);
        assert_eq!(found, Some(noise(100, 2 * race + winner)));
    }
}

pub fn s3(endpoint: &str) -> Remote {
    let options = RemoteOptions::new()
        .environment(false)
        .set("endpoint", endpoint)
        .set("allow_http", "true")
        .set("access_key_id", servers::KEY)
        .set("secret_access_key", servers::SECRET);
    Remote::new(options).unwrap()
}

/// On a socket, in one request and in parts.
#[test]
fn over_s3() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bucket")).unwrap();
    let remote = s3(&servers::s3(folder.path()));
    for (len, is_new) in [(0, true), (1000, true), (17 << 20, true), (6 << 20, false)] {
        let url = format!("s3://bucket/dir/object{len}");
        let mut writer = remote
            .create(&url, &small_parts().create_new(is_new))
            .unwrap();
        writer.write_all(&noise(len, 3)).unwrap();
        assert_eq!(writer.finish().unwrap(), len as u64);
        let object = remote.object(&url).unwrap();
        let mut found = vec![0; len];
        object.read_exact_at(0, &mut found).unwrap();
        assert!(found == noise(len, 3) && object.size().unwrap() == len as u64);
        let mut again = remote
            .create(&url, &small_parts().create_new(true))
            .unwrap();
        let error = again
            .write_all(&noise(len, 4))
            .and_then(|()| again.finish());
        assert_eq!(error.unwrap_err().kind(), ErrorKind::AlreadyExists, "{len}");
    }
    let mut dropped = remote
        .create("s3://bucket/dropped", &small_parts())
        .unwrap();
    dropped.write_all(&noise(11 << 20, 5)).unwrap();
    drop(dropped);
    assert!(!remote.exists("s3://bucket/dropped").unwrap());
    let left = std::fs::read_dir(folder.path()).unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    let parts = left
        .iter()
        .filter(|name| name.to_string_lossy().contains("upload"));
    assert_eq!(parts.count(), 0, "{left:?}");
}

#[test]
fn urls_that_take_no_objects() {
    let remote = Remote::new(RemoteOptions::new()).unwrap();
    for (url, part) in [
        ("https://host/a.blp", "a web server takes no objects"),
        ("memory://bucket/dir/", "add the name of the object"),
        ("s4://bucket/a", "is s3:// meant?"),
    ] {
        let error = remote.create(url, &WriteOptions::new()).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
    }
}
