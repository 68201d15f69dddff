//! Every request of an operation fails, in every way: right bytes or an error.

use crate::bucket::{Bucket, FAULTS, Fault};
use crate::servers::{self, Requests, WRONG, Wrong};
use bloscpack_open::{Options, Selection};
use bloscpack_remote::{Remote, RemoteOptions};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Opens, and reads all bytes or rows. The error is the text of what failed.
fn read(remote: &Remote, url: &str) -> Result<Vec<u8>, String> {
    let shown = |error: bloscpack::Error| error.to_string();
    let container = remote
        .open(url, &Options::new().threads(2))
        .map_err(shown)?;
    let mut out = Vec::new();
    match container.kind() {
        bloscpack_open::Kind::Table => {
            let format = bloscpack_open::exchange::Format::JsonLines;
            container
                .export(&Selection::default(), format, &mut out)
                .map_err(shown)?;
        }
        _ => drop(
            container
                .copy(&Selection::default(), &mut out)
                .map_err(shown)?,
        ),
    }
    Ok(out)
}

fn try_all(name: &str, fill: impl Fn(&Arc<Bucket>, &Remote)) {
    let url = format!("memory://bucket/{name}");
    let bucket = Bucket::new(Duration::ZERO);
    fill(&bucket, &bucket.remote());
    let bucket = bucket.again(None);
    let expected = read(&bucket.remote(), &url).unwrap();
    assert!(!expected.is_empty());
    let requests = bucket.take().requests;
    assert!(requests >= 2, "{name}: {requests}");
    for (fault, goes_on) in FAULTS
        .into_iter()
        .flat_map(|fault| [(fault, false), (fault, true)])
    {
        let mut errors = 0;
        for number in 0..requests {
            let bucket = bucket.again(Some((number, goes_on, fault)));
            match read(&bucket.remote(), &url) {
                Ok(found) => assert!(found == expected, "{name}: {fault:?} of request {number}"),
                Err(error) => {
                    errors += 1;
                    let is_change = matches!(
                        fault,
                        Fault::Changed | Fault::ChangedLength | Fault::Precondition
                    );
                    // The first answer of all has nothing that it could differ from.
                    let says = error.contains("changed") || number == 0;
                    assert!(
                        !is_change || says,
                        "{name}: {fault:?} of request {number}: {error}"
                    );
                }
            }
        }
        println!("{name}: {fault:?}, {goes_on}: {errors} errors of {requests}");
        // Bytes that were fetched ahead are asked for again where one answer was bad.
        assert!(errors > 0, "{name}: {fault:?} is never noticed");
        assert!(
            !goes_on || 2 * errors >= requests,
            "{name}: {fault:?}: {errors} of {requests}"
        );
    }
}

fn noise(len: usize) -> Vec<u8> {
    let mut random = testkit::golden::Random::new(5);
    std::iter::repeat_with(|| random.next() as u8)
        .take(len)
        .collect()
}

#[test]
fn files() {
    try_all("file.blp", |bucket, remote| {
        let mut encoder = bloscpack::Encoder::builder()
            .chunk_size(200_000)
            .checksum(bloscpack::Checksum::None)
            .write_to_file(std::io::Cursor::new(Vec::new()))
            .unwrap();
        std::io::Write::write_all(&mut encoder, &noise(5_000_000)).unwrap();
        bucket.put(remote, "file.blp", encoder.finish().unwrap().into_inner());
    });
}

#[test]
fn frames() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cube.b2nd");
    let builder = bloscpack_open::frames::NdArray::of_type::<u8>(&[100, 100, 200]);
    let mut array = builder.chunk_shape(&[50, 50, 100]).create(&path).unwrap();
    array
        .write_slice(&[0..100, 0..100, 0..200], &noise(2_000_000))
        .unwrap();
    array.flush().unwrap();
    try_all("cube.b2nd", |bucket, remote| {
        bucket.put(remote, "cube.b2nd", std::fs::read(&path).unwrap())
    });
}

#[test]
fn datasets() {
    let root = testkit::testdata("datasets/bcolz/table_mixed");
    try_all("table", |bucket, remote| {
        bucket.put_all(remote, "table", &root)
    });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("array");
    let mut array = bloscpack_open::datasets::CArray::of::<u8>()
        .chunk_rows(50_000)
        .create(&path)
        .unwrap();
    array.append(&noise(500_000)).unwrap();
    array.flush().unwrap();
    try_all("array", |bucket, remote| {
        bucket.put_all(remote, "array", &path)
    });
}

/// The same on a socket, with the retries of the client: what one wrong answer spoils is asked for again.
#[test]
fn answers_of_a_web_server() {
    let folder = tempfile::tempdir().unwrap();
    let mut encoder = bloscpack::Encoder::builder()
        .chunk_size(200_000)
        .write_to_file(std::fs::File::create(folder.path().join("file.blp")).unwrap())
        .unwrap();
    std::io::Write::write_all(&mut encoder, &noise(3_000_000)).unwrap();
    encoder.finish().unwrap();
    let requests = Arc::<Mutex<Requests>>::default();
    let url = format!(
        "{}/file.blp",
        servers::http_with(folder.path(), Arc::clone(&requests))
    );
    let remote = || {
        let options = RemoteOptions::new().retries(2, Duration::from_secs(2));
        Remote::new(options).unwrap()
    };
    let expected = read(&remote(), &url).unwrap();
    let count = requests.lock().unwrap().count;
    assert!(expected == noise(3_000_000) && count > 3, "{count}");
    for (wrong, goes_on) in WRONG
        .into_iter()
        .flat_map(|wrong| [(wrong, false), (wrong, true)])
    {
        let mut errors = Vec::new();
        for number in [0, 1, count / 2, count - 1] {
            *requests.lock().unwrap() = Requests {
                count: 0,
                wrong: Some((number, goes_on, wrong)),
                ..Requests::default()
            };
            match read(&remote(), &url) {
                Ok(found) => assert!(found == expected, "{wrong:?} of request {number}"),
                Err(error) => errors.push(error),
            }
        }
        let first = errors.first().cloned().unwrap_or_default();
        println!(
            "{wrong:?}, {goes_on}: {} errors of 4: {first}",
            errors.len()
        );
        let is_repaired = matches!(wrong, Wrong::Broken | Wrong::Busy | Wrong::Silent) && !goes_on;
        assert!(
            !(is_repaired || wrong == Wrong::Slow) || errors.is_empty(),
            "{wrong:?}: {first}"
        );
        assert!(
            !goes_on || wrong == Wrong::Slow || !errors.is_empty(),
            "{wrong:?} is never noticed"
        );
    }
}

/// An object that is replaced between two reads is an error, whatever was kept.
#[test]
fn what_changes_is_never_mixed() {
    use bloscpack::storage::ReadAt as _;
    let bucket = Bucket::new(Duration::ZERO);
    let remote = bucket.remote();
    bucket.put(&remote, "file", vec![1; 4 << 20]);
    let object = remote.object("memory://bucket/file").unwrap();
    let mut part = vec![0; 1000];
    object.read_exact_at(0, &mut part).unwrap();
    bucket.put(&remote, "file", vec![2; 4 << 20]);
    let error = object.read_exact_at(3 << 20, &mut part).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("memory://bucket/file: the object has changed"),
        "{error}"
    );
    let object = remote.object("memory://bucket/file").unwrap();
    object.read_exact_at(3 << 20, &mut part).unwrap();
    assert_eq!(part, [2; 1000]);
}
