//! Datasets that are created and changed in a bucket: after any failed request and next to any other writer, the old or the
//! new content is found.

use crate::bucket::{Bucket, FAULTS, Fault};
use bloscpack::storage::Store;
use bloscpack_open::datasets::{CArray, CTable};
use bloscpack_remote::{ChangedByAnotherWriter, Remote};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::Duration;

const URL: &str = "memory://bucket/dir/array";

/// The rows below the URL; `None` if there is no dataset.
fn rows(remote: &Remote) -> Result<Option<Vec<i32>>, String> {
    let store = match remote.store(URL) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        store => store.map_err(|error| error.to_string())?,
    };
    let array = match CArray::open_in(store) {
        // Neither of the two is a dataset yet.
        Err(error) if error.to_string().contains("not a dataset") => return Ok(None),
        Err(error) if error.to_string().contains("meta/sizes") => return Ok(None),
        array => array.map_err(|error| error.to_string())?,
    };
    let rows = array.rows();
    array
        .to_vec(0..rows)
        .map(Some)
        .map_err(|error| error.to_string())
}

fn create(store: impl Store + 'static, values: &[i32]) -> bloscpack::Result<()> {
    let mut array = CArray::of::<i32>().chunk_rows(1000).create_in(store)?;
    array.append_values(values)?;
    array.flush()
}

fn append(store: impl Store + 'static, values: &[i32]) -> bloscpack::Result<()> {
    let mut array = CArray::edit_in(store)?;
    array.append_values(values)?;
    array.flush()
}

fn values(count: i32) -> Vec<i32> {
    (0..count).collect()
}

/// Makes a change with each request failing in each way, alone and with all that follow. The bucket then has the old or the
/// new content, and the same change succeeds once the bucket works again.
fn try_all(
    before: &Arc<Bucket>,
    old: Option<&[i32]>,
    new: &[i32],
    change: impl Fn(&Remote) -> bloscpack::Result<()>,
) {
    let good = before.copy(None);
    change(&good.remote()).unwrap();
    let requests = good.take().requests;
    assert_eq!(rows(&good.remote()).unwrap().as_deref(), Some(new));
    let ways = FAULTS
        .into_iter()
        .flat_map(|fault| [(fault, false), (fault, true)]);
    for (fault, goes_on) in ways {
        let mut errors = 0;
        for number in 0..requests {
            let bucket = before.copy(Some((number, goes_on, fault)));
            let done = change(&bucket.remote());
            errors += usize::from(done.is_err());
            let after = bucket.again(None);
            let found = rows(&after.remote());
            let what = format!("{fault:?}, {goes_on}, of request {number}: {done:?}, {found:?}");
            let found = found.unwrap_or_else(|error| panic!("{what}: {error}"));
            let is_new = found.as_deref() == Some(new);
            assert!(
                is_new || (done.is_err() && found.as_deref() == old),
                "{what}"
            );
            if !is_new && old.is_some() {
                let again = change(&after.remote());
                assert!(again.is_ok(), "{what}: {again:?}");
                assert_eq!(
                    rows(&after.remote()).unwrap().as_deref(),
                    Some(new),
                    "{what}"
                );
            }
        }
        println!("{fault:?}, {goes_on}: {errors} errors of {requests}");
        assert!(
            errors > 0 || fault == Fault::Long,
            "{fault:?} is never noticed"
        );
    }
}

#[test]
fn new_arrays() {
    let bucket = Bucket::new(Duration::ZERO);
    let new = values(2500);
    try_all(&bucket, None, &new, |remote| {
        create(remote.edit(URL)?, &values(2500))
    });
}

#[test]
fn appended_rows() {
    for (before, after) in [(2500i32, 5100), (2500, 2600), (2000, 2001), (0, 10)] {
        let bucket = Bucket::new(Duration::ZERO);
        create(bucket.remote().edit(URL).unwrap(), &values(before)).unwrap();
        let (old, new) = (values(before), values(after));
        let added: Vec<i32> = (before..after).collect();
        try_all(&bucket, Some(&old), &new, |remote| {
            append(remote.edit(URL)?, &added)
        });
    }
}

#[test]
fn single_objects() {
    let bucket = Bucket::new(Duration::ZERO);
    create(bucket.remote().edit(URL).unwrap(), &values(2500)).unwrap();
    let mut new = values(2500);
    new[1500] = -1;
    try_all(&bucket, Some(&values(2500)), &new, |remote| {
        let mut array = CArray::edit_in(remote.edit(URL)?)?;
        array.set(std::slice::from_ref(&(1500..1501)), &[-1])?;
        array.flush()
    });
}

/// Many flushes of one editor, and what is refused.
#[test]
fn one_editor_many_changes() {
    let bucket = Bucket::new(Duration::ZERO);
    let remote = bucket.remote();
    let mut array = CArray::of::<i32>()
        .chunk_rows(1000)
        .create_in(remote.edit(URL).unwrap())
        .unwrap();
    let mut all = Vec::new();
    for part in 0..12 {
        let new = values(part * 50);
        all.extend(&new);
        array.append_values(&new).unwrap();
        array.flush().unwrap();
        assert_eq!(rows(&remote).unwrap(), Some(all.clone()));
    }
    array.set_attribute("unit", &"mm".into()).unwrap();
    array.flush().unwrap();
    drop(array);
    let mut array = CArray::edit_in(remote.edit(URL).unwrap()).unwrap();
    assert_eq!(array.attributes().len(), 1);
    // Change the last existing chunk, and append rows after it.
    let last = array.rows() - 1;
    array
        .set(std::slice::from_ref(&(last..last + 1)), &[-7])
        .unwrap();
    array.append_values(&[1]).unwrap();
    let error = array.flush().unwrap_err().to_string();
    assert!(
        error.contains("flush in between") && error.contains(URL),
        "{error}"
    );
    assert_eq!(rows(&remote).unwrap(), Some(all.clone()));
    let again = array.append_values(&[1]).and_then(|()| array.flush());
    assert!(again.is_err());
    drop(array);
    let mut array = CArray::edit_in(remote.edit(URL).unwrap()).unwrap();
    array.trim(10).unwrap();
    let error = array.flush().unwrap_err().to_string();
    assert!(error.contains("under another URL"), "{error}");
    drop(array);
    let replaced = CArray::of::<i32>()
        .replace(true)
        .create_in(remote.edit(URL).unwrap());
    let error = replaced
        .and_then(|mut array| array.flush())
        .unwrap_err()
        .to_string();
    assert!(error.contains("under another URL"), "{error}");
    assert_eq!(rows(&remote).unwrap(), Some(all));
    // The file is as bcolz writes it.
    let count = bucket.bytes(&remote, "dir/array/meta/sizes").unwrap();
    assert!(!String::from_utf8(count).unwrap().contains("writer"));
}

#[test]
fn tables_are_made_and_not_appended_to() {
    let bucket = Bucket::new(Duration::ZERO);
    let remote = bucket.remote();
    let mut table = CTable::builder()
        .column("a", CArray::of::<i32>())
        .column("b", CArray::of::<u8>())
        .create_in(remote.edit(URL).unwrap())
        .unwrap();
    table.append(&[&[1, 0, 0, 0, 2, 0, 0, 0], &[3, 4]]).unwrap();
    table.flush().unwrap();
    drop(table);
    let open = || CTable::open_in(remote.store(URL).unwrap()).unwrap();
    assert_eq!(
        open().column("a").unwrap().to_vec::<i32>(0..2).unwrap(),
        [1, 2]
    );
    let mut table = CTable::edit_in(remote.edit(URL).unwrap()).unwrap();
    table.append(&[&[5, 0, 0, 0], &[6]]).unwrap();
    let error = table.flush().unwrap_err().to_string();
    assert!(error.contains("under another URL"), "{error}");
    assert_eq!(open().rows().unwrap(), 2);
}

/// A new table is there with all of its columns, or not there.
#[test]
fn new_tables() {
    let make = |remote: &Remote| {
        let mut table = CTable::builder()
            .column("a", CArray::of::<i32>())
            .column("b", CArray::of::<u8>())
            .create_in(remote.edit(URL)?)?;
        table.append(&[&[1, 0, 0, 0, 2, 0, 0, 0], &[3, 4]])?;
        table.flush()
    };
    let empty = Bucket::new(Duration::ZERO);
    let good = empty.copy(None);
    make(&good.remote()).unwrap();
    let requests = good.take().requests;
    for number in 0..requests {
        for fault in [Fault::Error, Fault::Torn] {
            let bucket = empty.copy(Some((number, true, fault)));
            assert!(make(&bucket.remote()).is_err());
            let remote = bucket.again(None).remote();
            let Ok(store) = remote.store(URL) else {
                continue;
            };
            match CTable::open_in(store) {
                Ok(table) => {
                    assert!(fault == Fault::Torn && number == requests - 1, "{number}");
                    assert_eq!(table.rows().unwrap(), 2);
                }
                Err(error) => assert!(error.to_string().contains("not a dataset"), "{error}"),
            }
        }
    }
}

/// A store that cannot replace on a condition makes datasets, and changes none.
#[test]
fn folders_as_buckets() {
    let folder = tempfile::tempdir().unwrap();
    let url = format!("file://{}/array", folder.path().display());
    let remote = Remote::new(bloscpack_remote::RemoteOptions::new()).unwrap();
    create(remote.edit(&url).unwrap(), &values(2500)).unwrap();
    let error = append(remote.edit(&url).unwrap(), &[1]).unwrap_err();
    assert_eq!(error.category(), bloscpack::Category::Failed);
    assert!(error.to_string().contains("cannot do that"), "{error}");
    let array = CArray::open(folder.path().join("array")).unwrap();
    assert_eq!(array.to_vec::<i32>(0..2500).unwrap(), values(2500));
}

/// Two writers that have seen the same array: one of them appends, the other is told so.
#[test]
fn one_of_two_writers_wins() {
    for race in 0..200 {
        let bucket = Bucket::new(Duration::ZERO);
        create(bucket.remote().edit(URL).unwrap(), &values(500)).unwrap();
        let start = Arc::new(Barrier::new(2));
        let racers: Vec<_> = (0..2)
            .map(|racer| {
                let (remote, start) = (bucket.remote(), Arc::clone(&start));
                std::thread::spawn(move || {
                    let mut array = CArray::edit_in(remote.edit(URL).unwrap()).unwrap();
                    array.append_values(&vec![racer; 700]).unwrap();
                    start.wait();
                    array.flush()
                })
            })
            .collect();
        let done: Vec<_> = racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect();
        let won: Vec<usize> = (0..2).filter(|racer| done[*racer].is_ok()).collect();
        assert_eq!(won.len(), 1, "race {race}: {done:?}");
        for error in done.into_iter().filter_map(Result::err) {
            assert!(
                ChangedByAnotherWriter::is_cause(&error),
                "race {race}: {error:?}"
            );
        }
        let mut expected = values(500);
        expected.extend(vec![i32::try_from(won[0]).unwrap(); 700]);
        assert_eq!(
            rows(&bucket.remote()).unwrap(),
            Some(expected),
            "race {race}"
        );
    }
}

/// Two writers without any order, each of which tries again: nothing of any is lost.
#[test]
fn writers_that_try_again_lose_nothing() {
    let bucket = Bucket::new(Duration::from_micros(50));
    create(bucket.remote().edit(URL).unwrap(), &values(0)).unwrap();
    let racers: Vec<_> = (0..2)
        .map(|racer: i32| {
            let remote = bucket.remote();
            std::thread::spawn(move || {
                let mut tries = 0;
                for number in 0..40 {
                    let value = vec![racer * 1000 + number; 130];
                    loop {
                        tries += 1;
                        match append(remote.edit(URL).unwrap(), &value) {
                            Ok(()) => break,
                            Err(error) => {
                                assert!(ChangedByAnotherWriter::is_cause(&error), "{error:?}");
                                std::thread::sleep(Duration::from_micros(
                                    300 * u64::from(racer.unsigned_abs()) + 10,
                                ));
                            }
                        }
                    }
                }
                tries
            })
        })
        .collect();
    let tries: Vec<i32> = racers
        .into_iter()
        .map(|racer| racer.join().unwrap())
        .collect();
    let found = rows(&bucket.remote()).unwrap().unwrap();
    println!("{tries:?} tries");
    let mut runs: Vec<i32> = found.chunks(130).map(|run| run[0]).collect();
    assert!(found.chunks(130).all(|run| run == vec![run[0]; 130]));
    let of = |racer: i32| {
        runs.iter()
            .copied()
            .filter(|run| run / 1000 == racer)
            .collect::<Vec<_>>()
    };
    assert!(of(0).is_sorted() && of(1).is_sorted());
    runs.sort_unstable();
    let expected: Vec<i32> = (0..40).chain(1000..1040).collect();
    assert_eq!(runs, expected);
}

/// Two make the same new array: one of them does.
#[test]
fn one_of_two_creators_wins() {
    for race in 0..200 {
        let bucket = Bucket::new(Duration::ZERO);
        let start = Arc::new(Barrier::new(2));
        let racers: Vec<_> = (0..2)
            .map(|racer| {
                let (remote, start) = (bucket.remote(), Arc::clone(&start));
                std::thread::spawn(move || {
                    let editor = remote.edit(URL).unwrap();
                    start.wait();
                    create(editor, &vec![racer; 1500])
                })
            })
            .collect();
        let done: Vec<_> = racers
            .into_iter()
            .map(|racer| racer.join().unwrap())
            .collect();
        let won: Vec<usize> = (0..2).filter(|racer| done[*racer].is_ok()).collect();
        assert_eq!(won.len(), 1, "race {race}: {done:?}");
        for error in done.into_iter().filter_map(Result::err) {
            assert!(
                ChangedByAnotherWriter::is_cause(&error),
                "race {race}: {error:?}"
            );
        }
        let found = rows(&bucket.remote()).unwrap().unwrap();
        assert_eq!(found, vec![i32::try_from(won[0]).unwrap(); 1500]);
    }
}

/// A folder that was made on the disk.
#[test]
fn uploads() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let mut array = CArray::of::<i32>().chunk_rows(1000).create(&path).unwrap();
    array.append_values(&values(2500)).unwrap();
    array.flush().unwrap();
    drop(array);
    let bucket = Bucket::new(Duration::ZERO);
    let new = values(2500);
    try_all(&bucket, None, &new, |remote| {
        Ok(remote.upload(&path, URL).map(drop)?)
    });
    let remote = bucket.remote();
    let (sent, total) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let watch = {
        let (sent, total) = (Arc::clone(&sent), Arc::clone(&total));
        move |bytes, all| {
            sent.fetch_add(bytes, Ordering::Relaxed);
            total.store(all, Ordering::Relaxed);
            Ok(())
        }
    };
    let bytes = remote.upload_watched(&path, URL, watch).unwrap();
    assert!(bytes > 1000 && sent.load(Ordering::Relaxed) == bytes);
    assert_eq!(total.load(Ordering::Relaxed), bytes);
    let error = remote.upload(&path, URL).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    let stopped = remote.upload_watched(&path, "memory://bucket/stopped", |_, _| {
        Err(std::io::Error::other("asked to stop"))
    });
    assert!(stopped.unwrap_err().to_string().contains("asked to stop"));
    let left = remote.store("memory://bucket/stopped").unwrap();
    assert!(CArray::open_in(left).is_err());
}

/// On a socket.
#[test]
fn over_s3() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("bucket")).unwrap();
    let remote = crate::writes::s3(&crate::servers::s3(folder.path()));
    let url = "s3://bucket/dir/array";
    create(remote.edit(url).unwrap(), &values(2500)).unwrap();
    append(remote.edit(url).unwrap(), &values(700)).unwrap();
    let mut late = CArray::edit_in(remote.edit(url).unwrap()).unwrap();
    append(remote.edit(url).unwrap(), &[5]).unwrap();
    late.append_values(&[6]).unwrap();
    let error = late.flush().unwrap_err();
    assert!(ChangedByAnotherWriter::is_cause(&error), "{error}");
    let array = CArray::open_in(remote.store(url).unwrap()).unwrap();
    let expected: Vec<i32> = (0..2500).chain(0..700).chain([5]).collect();
    assert_eq!(array.to_vec::<i32>(0..3201).unwrap(), expected);
}
