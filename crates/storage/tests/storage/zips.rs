//! Tests of ZIP archives as stores. Archives of other programs are in the tests of the Python module.
#![allow(
    clippy::unwrap_used,
    clippy::cast_possible_truncation,
    reason = "a test fails by panicking"
)]

use bloscpack_storage::{Below, EntryKind, Key, LockMode, ReadAt, Store, ZipStore};
use std::io::{self, ErrorKind};
use std::sync::Arc;

fn key(text: &str) -> Key {
    Key::parse(text).unwrap()
}

/// A file to be put into an archive, with what its headers say of it.
#[derive(Clone)]
struct File {
    name: Vec<u8>,
    /// The name in the header before the file.
    local_name: Vec<u8>,
    packed: Vec<u8>,
    method: u16,
    flags: u16,
    len: u32,
    crc: u32,
    attributes: u32,
    /// The position that the directory says, if not the true one.
    at: Option<u32>,
}

impl File {
    fn stored(name: &str, content: &[u8]) -> Self {
        Self {
            name: name.into(),
            local_name: name.into(),
            packed: content.to_vec(),
            method: 0,
            flags: 0,
            len: content.len() as u32,
            crc: crc32fast::hash(content),
            attributes: 0o100_644 << 16,
            at: None,
        }
    }

    fn deflated(name: &str, content: &[u8]) -> Self {
        let mut packer = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut packed = vec![0; packer.deflate_compress_bound(content.len())];
        let len = packer.deflate_compress(content, &mut packed).unwrap();
        packed.truncate(len);
        Self {
            packed,
            method: 8,
            ..Self::stored(name, content)
        }
    }

    fn fields(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(20u16.to_le_bytes());
        out.extend(self.flags.to_le_bytes());
        out.extend(self.method.to_le_bytes());
        out.extend([0; 4]);
        out.extend(self.crc.to_le_bytes());
        out.extend((self.packed.len() as u32).to_le_bytes());
        out.extend(self.len.to_le_bytes());
        out
    }
}

fn archive(files: &[File]) -> Vec<u8> {
    archive_with(files, b"", files.len() as u16)
}

fn archive_with(files: &[File], comment: &[u8], count: u16) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for file in files {
        let at = file.at.unwrap_or(out.len() as u32);
        out.extend(b"PK\x03\x04");
        out.extend(file.fields());
        out.extend((file.local_name.len() as u16).to_le_bytes());
        out.extend([0; 2]);
        out.extend(&file.local_name);
        out.extend(&file.packed);
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(file.fields());
        directory.extend((file.name.len() as u16).to_le_bytes());
        directory.extend([0; 8]);
        directory.extend(file.attributes.to_le_bytes());
        directory.extend(at.to_le_bytes());
        directory.extend(&file.name);
    }
    let at = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count.to_le_bytes());
    out.extend(count.to_le_bytes());
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend((comment.len() as u16).to_le_bytes());
    out.extend(comment);
    out
}

fn content(store: &dyn Store, name: &str) -> io::Result<Vec<u8>> {
    let file = store.open(&key(name))?;
    let mut bytes = vec![0; file.size()? as usize];
    file.read_exact_at(0, &mut bytes)?;
    Ok(bytes)
}

fn text() -> Vec<u8> {
    b"the same again, ".repeat(50)
}

fn sample() -> Vec<File> {
    vec![
        File::stored("set/meta/sizes", b"{}"),
        File::deflated("set/data/__0.blp", &text()),
        File::stored("set/data-2", b""),
    ]
}

#[test]
fn files_and_folders_are_found() {
    let store = ZipStore::open(archive(&sample())).unwrap();
    assert_eq!(store.only_folder(), key("set"));
    let store = Below::new(Arc::new(store), key("set"));
    let names = |at: &Key| -> Vec<_> {
        let entries = store.list(at).unwrap().into_iter();
        entries
            .map(|entry| (entry.name.into_string().unwrap(), entry.kind))
            .collect()
    };
    let (file, folder) = (EntryKind::File, EntryKind::Folder);
    let expected = [
        ("data".into(), folder),
        ("data-2".into(), file),
        ("meta".into(), folder),
    ];
    assert_eq!(names(&Key::root()), expected);
    assert_eq!(names(&key("data")), [("__0.blp".to_owned(), file)]);
    assert_eq!(store.kind(&key("data")).unwrap(), Some(folder));
    assert_eq!(store.kind(&key("nothing/here")).unwrap(), None);
    assert_eq!(content(&store, "meta/sizes").unwrap(), b"{}");
    assert_eq!(content(&store, "data/__0.blp").unwrap(), text());
    let mut part = [0; 4];
    let open = store.open(&key("data/__0.blp")).unwrap();
    open.read_exact_at(16 * 49 + 4, &mut part).unwrap();
    assert_eq!(&part, b"same");
    assert_eq!(open.read_at(16 * 50, &mut part).unwrap(), 0);
    assert_eq!(
        store.open(&key("data")).err().unwrap().kind(),
        ErrorKind::InvalidInput
    );
    assert_eq!(
        store.open(&key("no")).err().unwrap().kind(),
        ErrorKind::NotFound
    );
    assert!(store.list(&key("data-2")).is_err());
}

#[test]
fn nothing_is_written() {
    let store = ZipStore::open(archive(&sample())).unwrap();
    let set = key("set");
    let read_only =
        |done: io::Result<()>| done.unwrap_err().kind() == ErrorKind::ReadOnlyFilesystem;
    assert!(read_only(store.create(&key("new"), b"")));
    assert!(read_only(store.patch(&key("set/data-2"), 0, b"x")));
    assert!(read_only(store.rename(&key("set/data-2"), &key("set/b"))));
    assert!(read_only(store.remove(&key("set/data-2"))));
    assert!(read_only(store.make_folder(&key("new"))));
    assert!(read_only(store.remove_folder(&set)));
    assert!(read_only(
        store.try_lock(&set, LockMode::Exclusive).map(drop)
    ));
    assert!(store.try_lock(&set, LockMode::Shared).unwrap().is_some());
}

#[test]
fn names_that_lead_elsewhere_are_refused() {
    for names in [
        &["../out"][..],
        &["a/../../out"],
        &["/etc/passwd"],
        &["a//b"],
        &["a\\b"],
        &["./a"],
        &[""],
        &["/"],
        &["a\0b"],
        &["a", "a/b"],
        &["a/b", "a"],
    ] {
        let files: Vec<_> = names.iter().map(|name| File::stored(name, b"")).collect();
        let error = ZipStore::open(archive(&files)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData, "{names:?}: {error}");
        assert!(error.to_string().contains("byte"), "{error}");
    }
    let mut latin = File::stored("a", b"");
    latin.name = vec![0xe9];
    assert!(ZipStore::open(archive(&[latin])).is_err());
    // A folder may have a record of its own, before or after what is in it.
    let folders = [
        File::stored("a/", b""),
        File::stored("a/b", b"1"),
        File::stored("a/", b""),
    ];
    assert!(ZipStore::open(archive(&folders)).is_ok());
}

#[test]
fn the_last_of_several_files_with_one_name_counts() {
    // As in Python's zipfile, by which zarr-python changes attributes.
    let files = [
        File::stored("a/b", b"1"),
        File::stored("c", b"2"),
        File::deflated("a/b", &text()),
    ];
    let store = ZipStore::open(archive(&files)).unwrap();
    assert_eq!(content(&store, "a/b").unwrap(), text());
    assert_eq!(store.list(&key("a")).unwrap().len(), 1);
    assert!(store.verify(&Key::root()).is_empty());
    // Programs that deflate all they write deflate the nothing of a folder, too.
    let folder = File::deflated("a/", b"");
    assert!(ZipStore::open(archive(&[folder])).is_ok());
}

#[test]
fn a_directory_that_lies_is_refused() {
    let one = || File::deflated("a", &text());
    let lies: Vec<(&str, Vec<File>)> = vec![
        (
            "two of the same bytes",
            vec![
                one(),
                File {
                    at: Some(0),
                    ..File::deflated("b", &text())
                },
            ],
        ),
        (
            "outside",
            vec![File {
                at: Some(1 << 20),
                ..one()
            }],
        ),
        ("a folder with bytes", vec![File::stored("a/", b"1")]),
    ];
    for (what, files) in lies {
        assert_eq!(
            ZipStore::open(archive(&files)).unwrap_err().kind(),
            ErrorKind::InvalidData,
            "{what}"
        );
    }
    for count in [0, 2, 4, u16::MAX] {
        assert!(
            ZipStore::open(archive_with(&sample(), b"", count)).is_err(),
            "{count}"
        );
    }
    let whole = archive(&sample());
    for len in 0..whole.len() {
        assert!(
            ZipStore::open(whole[..len].to_vec()).is_err(),
            "{len} bytes"
        );
    }
}

#[test]
fn a_file_that_lies_is_refused_when_it_is_opened_or_read() {
    let one = || File::deflated("a", &text());
    let lies = [
        ("longer", File { len: 801, ..one() }),
        ("shorter", File { len: 799, ..one() }),
        (
            "a bomb",
            File {
                len: u32::MAX - 1,
                ..one()
            },
        ),
        ("another checksum", File { crc: 7, ..one() }),
        (
            "another name",
            File {
                local_name: b"b".to_vec(),
                ..one()
            },
        ),
        (
            "a longer name",
            File {
                local_name: b"aa".to_vec(),
                ..one()
            },
        ),
        ("encrypted", File { flags: 1, ..one() }),
        (
            "another method",
            File {
                method: 12,
                ..one()
            },
        ),
        (
            "two lengths",
            File {
                len: 1,
                ..File::stored("a", b"12")
            },
        ),
        (
            "a link",
            File {
                attributes: 0o120_777 << 16,
                ..one()
            },
        ),
    ];
    for (what, file) in lies {
        let error = ZipStore::open(archive(&[file])).and_then(|store| content(&store, "a"));
        assert!(error.is_err(), "{what}");
    }
    assert_eq!(
        content(&ZipStore::open(archive(&[one()])).unwrap(), "a").unwrap(),
        text()
    );
}

#[test]
fn what_unpacks_to_too_much_is_not_unpacked() {
    let zeros = vec![0; 1 << 20];
    let bomb = archive(&[File::deflated("a", &zeros), File::stored("b", &zeros)]);
    let store = ZipStore::open(bomb).unwrap().max_file_len(1000);
    let error = content(&store, "a").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(
        error.to_string().contains("over the limit of 1000"),
        "{error}"
    );
    assert_eq!(content(&store, "b").unwrap(), zeros);
}

#[test]
fn no_flipped_bit_gives_other_bytes_of_a_deflated_file() {
    let whole = archive(&[
        File::deflated("a", &text()),
        File::deflated("b/c", b"other"),
    ]);
    for at in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[at / 8] ^= 1 << (at % 8);
        let read = ZipStore::open(flipped).and_then(|store| content(&store, "a"));
        assert!(read.is_err() || read.unwrap() == text(), "bit {at}");
    }
}

#[test]
fn the_end_is_found_before_a_comment() {
    let trap = b"a comment with PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0 in it";
    let store = ZipStore::open(archive_with(&sample(), trap, 3)).unwrap();
    assert_eq!(content(&store, "set/meta/sizes").unwrap(), b"{}");
}

#[test]
fn ends_of_large_archives_are_read() {
    let small = archive(&sample());
    let end = small.len() - 22;
    let number = |at: usize| u64::from(u32::from_le_bytes(small[at..at + 4].try_into().unwrap()));
    let (len, at) = (number(end + 12), number(end + 16));
    let large = |at: u64| {
        let mut out = small[..end].to_vec();
        out.extend(b"PK\x06\x06");
        out.extend(44u64.to_le_bytes());
        out.extend([45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        [3, 3, len, at]
            .iter()
            .for_each(|number| out.extend(number.to_le_bytes()));
        out.extend(b"PK\x06\x07\0\0\0\0");
        out.extend((end as u64).to_le_bytes());
        out.extend(1u32.to_le_bytes());
        out.extend(b"PK\x05\x06\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0\0");
        ZipStore::open(out)
    };
    assert_eq!(
        content(&large(at).unwrap(), "set/data/__0.blp").unwrap(),
        text()
    );
    assert!(large(at + 1).is_err());
}

#[test]
fn a_stored_file_is_compared_once_all_of_it_was_read() {
    let files = [File::stored("a/x", &text()), File::stored("b/x", b"two")];
    let mut bytes = archive(&files);
    let at = bytes.windows(3).rposition(|part| part == b"two").unwrap();
    let len = text().len();
    let first = 30 + "a/x".len();
    for flipped in [first, first + len / 2, first + len - 1] {
        bytes[flipped] ^= 4;
        let store = ZipStore::open(bytes.clone()).unwrap();
        let file = store.open(&key("a/x")).unwrap();
        let mut part = vec![0; len / 3];
        // Nothing is known of a part; the read that completes the file fails, and every later one.
        file.read_exact_at(len as u64 / 2, &mut part).unwrap();
        file.read_exact_at(0, &mut part).unwrap();
        let again = store.open(&key("a/x")).unwrap();
        let error = again.read_exact_at(0, &mut vec![0; len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert!(error.to_string().contains("\"a/x\" crc32 "), "{error}");
        assert!(file.read_exact_at(0, &mut part).is_err());
        assert_eq!(content(&store, "b/x").unwrap(), b"two");
        for (below, damages) in [("", 1), ("a", 1), ("a/x", 1), ("b", 0), ("c", 0)] {
            let below = if below.is_empty() {
                Key::root()
            } else {
                key(below)
            };
            assert_eq!(store.verify(&below).len(), damages, "{below:?}");
        }
        bytes[flipped] ^= 4;
    }
    bytes[at] ^= 1;
    let store = ZipStore::open(bytes).unwrap();
    assert!(content(&store, "b/x").is_err());
    assert_eq!(content(&store, "a/x").unwrap(), text());
}
