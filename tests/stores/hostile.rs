use super::{bytes, exported, opened};
use bloscpack_open::exchange::Format;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use testkit::stopwatch::HANG;

/// The outcome of reading a changed store.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Error,
    Same,
    /// The format has no digests, so that a change may go unnoticed.
    Changed,
}

/// Reads all that is in a store, as text.
fn content(bytes: Vec<u8>) -> bloscpack::Result<String> {
    let mut store = opened(bytes)?;
    let mut all = String::new();
    store.members(&mut |path, outline| {
        all += &format!("{path} {:?}\n", outline?);
        Ok(())
    })?;
    let report = store.verify()?;
    if let Some(damage) = report.damages.into_iter().next() {
        return Err(damage.error);
    }
    if store.kind() == bloscpack_open::Kind::Table {
        all += &exported(&mut *store, Format::JsonLines)?;
    }
    Ok(all)
}

fn outcome(bytes: Vec<u8>, sound: &str) -> Outcome {
    let begun = Instant::now();
    let outcome = match content(bytes) {
        Err(_) => Outcome::Error,
        Ok(found) if found == sound => Outcome::Same,
        Ok(_) => Outcome::Changed,
    };
    assert!(begun.elapsed() < HANG, "too long");
    outcome
}

/// Counts the outcomes of these changed stores, with several threads.
fn count(changed: &[Vec<u8>], sound: &str) -> [usize; 3] {
    let (next, counts) = (AtomicUsize::new(0), [const { AtomicUsize::new(0) }; 3]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(bytes) = changed.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let at = match outcome(bytes.clone(), sound) {
                        Outcome::Error => 0,
                        Outcome::Same => 1,
                        Outcome::Changed => 2,
                    };
                    counts[at].fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    counts.map(AtomicUsize::into_inner)
}

/// Every bit flip and every cut ends in an error or in data, never in a panic or a hang.
#[test]
fn no_bit_flip_or_cut_is_fatal() {
    for name in ["tree.b2e", "tree.b2z", "small.b2z", "table.b2e"] {
        let whole = bytes(name);
        let sound = content(whole.clone()).unwrap();
        let flips = testkit::effort::sample(0..whole.len() * 8, 31).map(|bit| {
            let mut flipped = whole.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            flipped
        });
        let [errors, same, silent] = count(&flips.collect::<Vec<_>>(), &sound);
        println!("{name}: {errors} errors, {same} without effect, {silent} silent changes");
        assert!(
            errors > silent,
            "{name}: {errors} errors, {silent} silent changes"
        );
        let cuts = testkit::effort::sample(0..whole.len(), 31).map(|len| whole[..len].to_vec());
        let cuts: Vec<_> = cuts.collect();
        let [errors, ..] = count(&cuts, &sound);
        assert_eq!(errors, cuts.len(), "{name}: cuts");
    }
}

/// The bytes of a member's name, wherever they are in an archive, replaced by others of the same length.
fn renamed(name: &str, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut archive = bytes(name);
    let mut replaced = 0;
    for at in 0..archive.len() - from.len() {
        if archive[at..].starts_with(from.as_bytes()) {
            archive[at..at + to.len()].copy_from_slice(to.as_bytes());
            replaced += 1;
        }
    }
    assert!(replaced >= 2, "{replaced}");
    archive
}

#[test]
fn names_that_climb_or_occur_twice_are_refused() {
    for to in ["../b.b2n", "/b2b.b2n", "a/../b2n", "./b.b2nd", "a//b2.nd"] {
        let archive = renamed("small.b2z", "_cols/n.", to);
        assert!(content(archive).is_err(), "{to}");
    }
    let twice = renamed("small.b2z", "_cols/n.b2nd", "_valid_rows.");
    assert!(content(twice).is_err());
}

#[cfg(unix)]
#[test]
fn links_out_of_a_directory_are_not_followed() {
    use bloscpack_open::{Options, Selection, open};
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("tree.b2d");
    std::fs::create_dir(&root).unwrap();
    let secret = temp.path().join("secret");
    std::fs::create_dir(&secret).unwrap();
    std::fs::copy(super::path("tree.b2e"), root.join("embed.b2e")).unwrap();
    std::fs::copy(super::path("tree.b2e"), secret.join("x.b2f")).unwrap();
    std::os::unix::fs::symlink(&secret, root.join("folder")).unwrap();
    std::os::unix::fs::symlink(secret.join("x.b2f"), root.join("file.b2f")).unwrap();
    let mut tree = open(&root, &Options::new()).unwrap();
    assert_eq!(super::members(&mut *tree), ["a/x"]);
    let copied = tree.copy(&Selection::default(), &mut Vec::new());
    assert!(copied.is_err());
}

/// Bytes that a hostile archive of two kilobytes may take.
const MAX_MEMORY: usize = 16 << 20;

/// A small archive of this library without its digest, which would report every lie at once.
fn unsealed() -> Vec<u8> {
    let mut bytes = super::written::archive("nullable");
    let comment = bytes.len() - 37;
    bytes.truncate(comment);
    bytes[comment - 2..].fill(0);
    bytes
}

/// Where the records of the directory begin.
fn records(archive: &[u8]) -> Vec<usize> {
    let places = 0..archive.len() - 4;
    places
        .filter(|at| archive[*at..].starts_with(b"PK\x01\x02"))
        .collect()
}

fn put(archive: &mut [u8], at: usize, value: u32, len: usize) {
    archive[at..at + len].copy_from_slice(&value.to_le_bytes()[..len]);
}

/// Reads it in bounded memory and time, and finds an error, or the same as in the sound one.
fn check_lie(archive: Vec<u8>, sound: &str, what: &str) {
    let (outcome, peak) = testkit::counting::peak_of(|| outcome(archive, sound));
    assert_ne!(outcome, Outcome::Changed, "{what}");
    assert!(peak < MAX_MEMORY, "{what}: {peak} bytes of memory");
}

/// Fields of a record: what they are, where, and of how many bytes.
const FIELDS: [(&str, usize, usize); 8] = [
    ("flags", 8, 2),
    ("method", 10, 2),
    ("crc", 16, 4),
    ("packed", 20, 4),
    ("length", 24, 4),
    ("name", 28, 2),
    ("extra", 30, 2),
    ("offset", 42, 4),
];

#[test]
fn lies_in_a_directory_are_errors_in_little_memory() {
    let whole = unsealed();
    let sound = content(whole.clone()).unwrap();
    for (number, record) in records(&whole).into_iter().enumerate() {
        for (field, at, len) in FIELDS {
            for value in [0, 1, 8, 100, 0xffff, 0x7fff_ffff, 0xffff_fffe, u32::MAX] {
                let mut archive = whole.clone();
                put(&mut archive, record + at, value, len);
                check_lie(
                    archive,
                    &sound,
                    &format!("{field} of file {number}: {value}"),
                );
            }
        }
        // Both lengths, so that they agree; and deflated, to as much as that can be.
        for (method, packed, len) in [
            (0, 10, 10),
            (0, u32::MAX - 1, u32::MAX - 1),
            (8, 200, 200_000),
            (8, 100, u32::MAX - 1),
        ] {
            let mut archive = whole.clone();
            put(&mut archive, record + 10, method, 2);
            put(&mut archive, record + 20, packed, 4);
            put(&mut archive, record + 24, len, 4);
            check_lie(
                archive,
                &sound,
                &format!("file {number}: {method} {packed} {len}"),
            );
        }
    }
}

#[test]
fn files_that_share_bytes_are_refused() {
    let whole = unsealed();
    let sound = content(whole.clone()).unwrap();
    let records = records(&whole);
    for (one, first) in records.iter().enumerate() {
        for (other, second) in records
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != one)
        {
            let mut archive = whole.clone();
            archive.copy_within(second + 42..second + 46, first + 42);
            assert!(content(archive).is_err(), "{one} is where {other} is");
        }
    }
    let end = whole.len() - 22;
    for (field, at, len) in [("count", 10, 2), ("length", 12, 4), ("offset", 16, 4)] {
        for value in [0, 1, 0xffff, u32::MAX] {
            let mut archive = whole.clone();
            put(&mut archive, end + at, value, len);
            check_lie(
                archive,
                &sound,
                &format!("{field} of the directory: {value}"),
            );
        }
    }
}

/// An archive of `embed.b2e` and a deflated file, made by a writer of its own.
fn bomb(name: &str, len: u64) -> Vec<u8> {
    use std::io::Write as _;
    let packed = |content: &mut dyn std::io::Read| {
        let mut deflated =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        let mut crc = flate2::CrcWriter::new(&mut deflated);
        std::io::copy(content, &mut crc).unwrap();
        crc.flush().unwrap();
        let sum = crc.crc().sum();
        (deflated.finish().unwrap(), sum)
    };
    let embed = bytes("tree.b2e");
    let stored = (embed.clone(), flate2_crc(&embed), embed.len() as u64, 0u16);
    let (zeros, crc) = packed(&mut std::io::Read::take(std::io::repeat(0), len));
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, (content, crc, len, method)) in [("embed.b2e", stored), (name, (zeros, crc, len, 8))]
    {
        let at = u32::try_from(archive.len()).unwrap();
        let mut fields = vec![0u8, 0];
        fields.extend(method.to_le_bytes());
        fields.extend([0, 0, 0x21, 0]);
        let packed = content.len() as u64;
        for number in [u64::from(crc), packed, len] {
            fields.extend(u32::try_from(number).unwrap().to_le_bytes());
        }
        fields.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        fields.extend([0, 0]);
        archive.extend(b"PK\x03\x04\x14\0");
        archive.extend(&fields);
        archive.extend(name.as_bytes());
        archive.extend(content);
        directory.extend(b"PK\x01\x02\x14\0\x14\0");
        directory.extend(&fields);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = u32::try_from(archive.len()).unwrap();
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\0\0\0\0\x02\0\x02\0");
    archive.extend(u32::try_from(directory.len()).unwrap().to_le_bytes());
    archive.extend(at.to_le_bytes());
    archive.extend([0, 0]);
    archive
}

fn flate2_crc(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// A file that unpacks to far more than the archive has is not unpacked.
#[test]
fn a_bomb_is_not_unpacked() {
    let archive = bomb("x.b2nd", 300 << 20);
    assert!(archive.len() < 1 << 20);
    let (read, peak) = testkit::counting::peak_of(|| content(archive));
    assert!(read.is_err());
    assert!(peak < MAX_MEMORY, "{peak} bytes of memory");
}

/// In a directory, too, a file is no longer than it is, whatever its frame says.
#[cfg(unix)]
#[test]
fn a_hole_in_a_file_takes_no_memory() {
    use bloscpack_open::{Options, open};
    let temp = tempfile::tempdir().unwrap();
    std::fs::copy(super::path("tree.b2e"), temp.path().join("embed.b2e")).unwrap();
    let hole = std::fs::File::create(temp.path().join("x.b2nd")).unwrap();
    hole.set_len(1 << 40).unwrap();
    let (sound, peak) = testkit::counting::peak_of(|| {
        let store = open(temp.path(), &Options::new().threads(1)).unwrap();
        store.verify().unwrap().is_sound()
    });
    assert!(!sound);
    assert!(peak < MAX_MEMORY, "{peak} bytes of memory");
}
