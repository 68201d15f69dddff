//! Tests of plugged hashers: with a state of their own, wherever digests are written or checked, and with digests of a
//! wrong length, which are refused before anything is written.

use bloscpack::edit::Editor;
use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordReader, RecordWriter};
use bloscpack::storage::Memory;
use bloscpack::survey::Survey;
use bloscpack::verify::{Damage, verify, verify_at};
use bloscpack::wire::{Digest, FormatError, Hasher, Hashers};
use bloscpack::{
    Category, Checksum, Decoder, Encoder, EncoderBuilder, Error, FormatVersion, Metadata, Options,
    Result,
};
use bloscpack_open::{Selection, open_source};
use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use testkit::damages::recover;

/// Another hasher after bytes that are its key.
struct Keyed(Arc<[u8]>, Checksum, Box<dyn Hasher>);

impl Keyed {
    fn new(key: Arc<[u8]>, kind: Checksum) -> Self {
        let mut hasher = Hashers::default().hasher(kind);
        hasher.update(&key);
        Self(key, kind, hasher)
    }
}

impl Hasher for Keyed {
    fn update(&mut self, bytes: &[u8]) {
        self.2.update(bytes);
    }

    fn finish(&mut self) -> Digest {
        let digest = self.2.finish();
        *self = Self::new(self.0.clone(), self.1);
        digest
    }
}

/// Hashers with this key for all kinds.
fn keyed(key: &[u8]) -> Hashers {
    let key: Arc<[u8]> = key.into();
    let kinds = Checksum::ALL.into_iter().skip(1);
    kinds.fold(Hashers::default(), |hashers, kind| {
        let key = key.clone();
        hashers.with(kind, move || Box::new(Keyed::new(key.clone(), kind)))
    })
}

fn data() -> Vec<u8> {
    (0..50_000_u32).flat_map(u32::to_le_bytes).collect()
}

/// A file or a stream of each layout, with metadata.
fn files(hashers: &Hashers) -> Vec<Vec<u8>> {
    let mut files = Vec::new();
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        for checksum in [Checksum::Crc32, Checksum::Sha512] {
            let builder = || {
                Encoder::builder()
                    .version(layout)
                    .checksum(checksum)
                    .chunk_size(30_000)
                    .metadata(Metadata::from_json(r#"{"a": 1}"#).unwrap())
                    .hashers(hashers.clone())
            };
            let mut stream = builder().write_to(Vec::new()).unwrap();
            stream.write_all(&data()).unwrap();
            files.push(stream.finish().unwrap());
            let mut file = builder().write_to_file(Cursor::new(Vec::new())).unwrap();
            file.write_all(&data()).unwrap();
            files.push(file.finish().unwrap().into_inner());
        }
    }
    files
}

/// The content of a file, or the error, by each way of reading.
fn read_all(file: &[u8], hashers: &Hashers) -> Vec<(&'static str, Result<Vec<u8>>)> {
    let h = || hashers.clone();
    let source = file.to_vec();
    let options = Options::new().hashers(h());
    // The first damage is the error.
    let verified = |at_any_position: bool| {
        let take = |damage: Damage| Err(damage.error);
        let report = if at_any_position {
            verify_at(&source, &options, take)
        } else {
            verify(file, &options, take)
        };
        report.map(|_| data())
    };
    let mut decoded = Vec::new();
    let decoder = Options::new().hashers(h()).threads(2);
    let decoder = Decoder::with_options(file, decoder)
        .read_to_end(&mut decoded)
        .map_err(Error::from);
    let indexed = || {
        let reader = IndexedReader::with_options(&source, Options::new().hashers(h()))?;
        let mut all = vec![0; data().len()];
        reader.read_exact_at(0, &mut all)?;
        Ok(all)
    };
    let opened = || {
        let options = Options::new().hashers(h());
        let container = open_source(source.clone(), &options)?;
        let mut all = Vec::new();
        container.copy(&Selection::default(), &mut all)?;
        container.summary()?;
        let report = container.verify()?;
        assert!(report.is_sound());
        Ok(all)
    };
    let saved = || {
        let mut saved = Cursor::new(Vec::new());
        let recovery = recover(&source, &mut saved, &Options::new().hashers(h()))?;
        let metadata_lost = recovery.metadata_lost;
        let lost = recovery.damages.into_iter().next();
        lost.map_or(Ok(()), |damage| Err(damage.error))?;
        assert!(!metadata_lost);
        let mut all = Vec::new();
        let decoder = Options::new().hashers(h());
        Decoder::with_options(saved.get_ref().as_slice(), decoder).copy_to(&mut all)?;
        Ok(all)
    };
    vec![
        ("decoder", decoder.map(|_| decoded)),
        ("indexed", indexed()),
        ("verify", verified(false)),
        ("verify_at", verified(true)),
        ("open", opened()),
        ("recover", saved()),
    ]
}

#[test]
fn a_hasher_with_a_key_is_used_by_everything_that_reads() {
    let (right, wrong) = (keyed(b"key"), keyed(b"other"));
    for (number, file) in files(&right).into_iter().enumerate() {
        for (name, read) in read_all(&file, &right) {
            assert!(read.unwrap() == data(), "{number} {name}");
        }
        let options = |hashers: &Hashers| Options::new().hashers(hashers.clone());
        Survey::of(file.as_slice(), &options(&right)).unwrap();
        Survey::of_file(Cursor::new(&file), &options(&right)).unwrap();
        for other in [&wrong, &Hashers::default()] {
            for (name, read) in read_all(&file, other) {
                let error = read.map(|_| ()).unwrap_err();
                assert_eq!(error.category(), Category::Damaged, "{number} {name}");
            }
            // The metadata of V3, and an end mark.
            if number > 3 || number.is_multiple_of(2) {
                assert!(
                    Survey::of(file.as_slice(), &options(other)).is_err(),
                    "{number}"
                );
            }
        }
        // Damage is found where it is, and all around it is sound.
        let mut damaged = file.clone();
        damaged[file.len() / 2] ^= 1;
        let report = verify_at(&damaged, &options(&right), |_| Ok(())).unwrap();
        assert_eq!((report.damage_count, report.chunks), (1, 7), "{number}");
    }
}

#[test]
fn a_hasher_with_a_key_is_used_by_editors() {
    let hashers = keyed(b"key");
    for (number, file) in files(&hashers).into_iter().enumerate() {
        let folder = Memory::from([("a", file)]);
        let open = |hashers: &Hashers| {
            let builder = Editor::builder().options(Options::new().hashers(hashers.clone()));
            builder.open_in(folder.clone(), "a".as_ref())
        };
        if number > 3 {
            assert!(open(&Hashers::default()).is_err(), "{number}");
        }
        let mut editor = open(&hashers).unwrap();
        editor.patch(5, &b"patched"[..]).unwrap();
        let more = Metadata::from_json(format!("[{:5000}]", 1)).unwrap();
        editor.set_metadata(&more).unwrap();
        let mut appender = editor.append().unwrap();
        appender.write_all(b"appended").unwrap();
        appender.finish().unwrap();
        drop(editor);
        let edited = folder.bytes("a").unwrap();
        let mut all = Vec::new();
        let decoder = Options::new().hashers(hashers.clone());
        let mut decoder = Decoder::with_options(edited.as_slice(), decoder);
        decoder.copy_to(&mut all).unwrap();
        assert_eq!(decoder.read_metadata().unwrap(), Some(&more), "{number}");
        let mut expected = [&data()[..], b"appended"].concat();
        expected[5..12].copy_from_slice(b"patched");
        assert!(all == expected, "{number}");
        assert!(Decoder::new(edited.as_slice()).copy_to(&mut all).is_err());
        let reader = open(&hashers).unwrap();
        let options = Options::new().hashers(hashers.clone());
        assert!(verify_at(&edited, &options, |_| Ok(())).unwrap().is_sound());
        drop(reader);
    }
}

#[test]
fn a_hasher_with_a_key_is_used_for_records() {
    let hashers = keyed(b"key");
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        for small in [false, true] {
            let builder = RecordWriter::builder().version(layout);
            let builder = builder.hashers(hashers.clone());
            let builder = if small { builder.small() } else { builder };
            let mut writer = builder.write_to(Vec::new()).unwrap();
            for record in ["one", "", "three"] {
                writer.push(record).unwrap();
            }
            let stream = writer.finish().unwrap();
            let reader = Options::new().hashers(hashers.clone());
            assert_eq!(
                RecordReader::with_options(stream.as_slice(), reader)
                    .map(Result::unwrap)
                    .count(),
                3
            );
            assert!(RecordReader::new(stream.as_slice()).any(|record| record.is_err()));
            let reader = Options::new().hashers(hashers.clone());
            assert_eq!(
                IndexedRecordReader::with_options(&stream, reader)
                    .unwrap()
                    .get(2)
                    .unwrap(),
                "three"
            );
            let folder = Memory::from([("a", stream)]);
            let editor = Editor::builder().options(Options::new().hashers(hashers.clone()));
            let mut editor = editor
                .open_records_in(folder.clone(), "a".as_ref())
                .unwrap();
            let mut appender = editor.append().unwrap();
            appender.push("four").unwrap();
            appender.finish().unwrap();
            drop(editor);
            let stream = folder.bytes("a").unwrap();
            let reader = Options::new().hashers(hashers.clone());
            assert_eq!(
                IndexedRecordReader::with_options(&stream, reader)
                    .unwrap()
                    .get(3)
                    .unwrap(),
                "four"
            );
            let options = Options::new().hashers(hashers.clone());
            let container = open_source(stream, &options).unwrap();
            let mut all = Vec::new();
            container.copy(&Selection::default(), &mut all).unwrap();
            container.summary().unwrap();
        }
    }
}

/// A digest of this many bytes, or of another number once there was some data.
struct Long(usize, usize, usize);

impl Hasher for Long {
    fn update(&mut self, bytes: &[u8]) {
        self.2 += bytes.len();
    }

    fn finish(&mut self) -> Digest {
        let len = if self.2 > 0 { self.1 } else { self.0 };
        self.2 = 0;
        Digest::from_bytes(&vec![7; len]).unwrap()
    }
}

#[track_caller]
fn assert_refused<T>(result: Result<T>) {
    let error = result.map(|_| ()).unwrap_err();
    assert_eq!(error.category(), Category::Usage, "{error}");
    let Some(FormatError::Hasher { .. }) = error.format_error() else {
        panic!("{error:?}");
    };
}

#[test]
fn a_digest_of_a_wrong_length_is_an_error_before_the_first_byte() {
    let sound = files(&Hashers::default());
    for kind in Checksum::ALL {
        for len in [0, 3, 4, 5, 8, 16, 20, 32, 64] {
            if len == kind.digest_len() {
                continue;
            }
            let hashers = Hashers::default().with(kind, move || Box::new(Long(len, len, 0)));
            assert!(hashers.check().is_err());
            let options = || -> EncoderBuilder {
                let options = Encoder::builder().checksum(kind);
                options.hashers(hashers.clone())
            };
            let mut target = Vec::new();
            assert_refused(options().write_to(&mut target));
            let sized = options().size(5).version(FormatVersion::V2);
            assert_refused(sized.write_to(&mut target));
            assert!(target.is_empty());
            let mut target = Cursor::new(Vec::new());
            assert_refused(options().write_to_file(&mut target));
            assert_refused(options().size(5).write_to_seek(&mut target));
            let records = RecordWriter::builder().hashers(hashers.clone());
            assert_refused(records.clone().write_to(Vec::new()));
            assert_refused(records.write_to_file(&mut target));
            let recovery = Options::new().hashers(hashers.clone());
            if kind != Checksum::Crc32 {
                assert_refused(recover(&sound[5], &mut target, &recovery));
            }
            assert!(target.get_ref().is_empty());
            let folder = Memory::from([("a", sound[5].clone())]);
            let editor = Editor::builder().options(Options::new().hashers(hashers.clone()));
            assert_refused(editor.open_in(folder.clone(), "a".as_ref()));
            let options = Options::new().hashers(hashers);
            assert_refused(verify(sound[5].as_slice(), &options, |_| Ok(())));
        }
    }
}

#[test]
fn a_digest_whose_length_changes_never_reaches_the_target() {
    let hashers = Hashers::default().with(Checksum::Crc32, || Box::new(Long(4, 8, 0)));
    for threads in [1, 3] {
        let builder = Encoder::builder().threads(threads).hashers(hashers.clone());
        let mut encoder = builder.chunk_size(100).write_to(Vec::new()).unwrap();
        let begun = encoder.get_ref().len();
        let _ = encoder.write_all(&[7; 100_000]);
        assert!(encoder.flush().is_err());
        assert_eq!(encoder.get_ref().len(), begun);
        assert!(encoder.finish().is_err());
    }
    // A reader that is given such a hasher says so, and does not call the file damaged.
    let file = bloscpack::compress(b"sound").unwrap();
    let decoder = Options::new().hashers(hashers);
    assert_refused(Decoder::with_options(file.as_slice(), decoder).copy_to(&mut Vec::new()));
}
