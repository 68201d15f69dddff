//! Tests that chunks read in runs, by the places that a table states, give what reading in order gives, whatever is damaged.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made-up data may be cut as it likes"
)]

use super::positions::{at_positions, in_order};
use bloscpack::records::{RecordReader, RecordWriter};
use bloscpack::verify::{Damage, Report, verify_at, verify_source};
use bloscpack::{Checksum, Encoder, FormatVersion, Options};
use std::io::{Cursor, Read, Write};
use std::sync::Arc;
use testkit::golden::Random;

/// Noise, and between it stretches that compress to nothing.
fn content(random: &mut Random, len: usize) -> Vec<u8> {
    let mut data = Vec::with_capacity(len);
    while data.len() < len {
        data.extend((0..50_000).map(|_| random.next() as u8));
        data.extend(std::iter::repeat_n(random.next() as u8, 20_000));
    }
    data.truncate(len);
    data
}

fn file(version: FormatVersion, checksum: Checksum, chunk: u32, data: &[u8]) -> Vec<u8> {
    let mut builder = Encoder::builder()
        .version(version)
        .chunk_size(chunk)
        .level(1)
        .typesize(1);
    if version != FormatVersion::V1 {
        builder = builder.checksum(checksum);
    }
    let mut encoder = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap().into_inner()
}

/// Files of many chunks beyond the first read, which takes 256 KiB.
fn files() -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut random = Random::new(3);
    let mut files = Vec::new();
    for (version, checksum) in [
        (FormatVersion::V1, Checksum::None),
        (FormatVersion::V2, Checksum::Crc32),
        (FormatVersion::V3, Checksum::None),
        (FormatVersion::V3, Checksum::Crc32),
        (FormatVersion::V3, Checksum::Sha512),
    ] {
        for (chunk, len) in [(7000, 900_000), (40_000, 900_001), (1_500_000, 7_000_000)] {
            let data = content(&mut random, len);
            files.push((file(version, checksum, chunk, &data), data));
        }
    }
    files
}

#[test]
fn sound_files_are_the_same() {
    for (file, data) in files() {
        for threads in [1, 2, 5] {
            let found = at_positions(Options::new().threads(threads), &file);
            assert_eq!(found.1, Ok(vec![]));
            assert!(found.0 == data, "{threads} threads");
            let thrice = [file.as_slice(), &file, &file].concat();
            let (content, result) = at_positions(Options::new().threads(threads), &thrice);
            assert_eq!((result, content.len()), (Ok(vec![]), 3 * data.len()));
        }
    }
}

#[test]
fn damaged_and_cut_files_are_the_same() {
    let (mut random, mut errors) = (Random::new(5), 0);
    for (file, data) in files() {
        // Longer files are read for the borders of runs above.
        if data.len() > 1_000_000 {
            continue;
        }
        let len = file.len() as u64;
        for round in 0..120 {
            let mut file = file.clone();
            let at = match round % 4 {
                // Sizes and places.
                0 => random.next() % 400,
                _ => random.next() % len,
            };
            if round % 8 == 7 {
                file.truncate(at as usize);
            } else {
                file[at as usize] ^= 1 << (random.next() % 8);
            }
            let options = || Options::new().allow_unterminated(round % 3 == 0);
            let found = at_positions(options().threads(2), &file);
            errors += usize::from(found.1.is_err());
            let expected = in_order(options(), &file);
            assert_eq!(found.1, expected.1, "byte {at}");
            assert!(found.0 == expected.0, "byte {at}");
            let reports = [
                report(&file, |file, take| verify_at(file, &Options::new(), take)),
                report(&file, |file, take| {
                    let file = Arc::new(file.clone());
                    verify_source(&file, &Options::new().threads(2), take)
                }),
            ];
            assert_eq!(reports[0], reports[1], "byte {at}");
        }
    }
    assert!(errors > 300, "only {errors} errors");
}

type Verify =
    fn(&Vec<u8>, &mut dyn FnMut(Damage) -> bloscpack::Result<()>) -> bloscpack::Result<Report>;

fn report(file: &Vec<u8>, verify: Verify) -> (String, Vec<String>) {
    let mut damages = Vec::new();
    let report = verify(file, &mut |damage| {
        damages.push(format!("{damage:?}"));
        Ok(())
    });
    (format!("{report:?}"), damages)
}

/// Records of their own chunks, some of which have far more content than a run may have.
#[test]
fn records_of_any_length_are_the_same() {
    let mut random = Random::new(9);
    let mut writer = RecordWriter::builder()
        .write_to_file(Cursor::new(Vec::new()))
        .unwrap();
    for number in 0..400 {
        let len = (random.next() % 9000) as usize;
        let record = match number % 40 {
            39 => vec![number as u8; 3 << 20],
            _ => content(&mut random, len),
        };
        writer.push(&record).unwrap();
    }
    let file = writer.finish().unwrap().into_inner();
    let all = |records: &mut dyn FnMut() -> bloscpack::Result<Option<Vec<u8>>>| {
        let mut all = Vec::new();
        loop {
            match records() {
                Ok(Some(record)) => all.push(record),
                Ok(None) => return (all, None),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
    };
    fn next<R: Read>(reader: &mut RecordReader<R>) -> bloscpack::Result<Option<Vec<u8>>> {
        Ok(reader.next_record()?.map(<[u8]>::to_vec))
    }
    for round in 0..60 {
        let mut file = file.clone();
        if round > 0 {
            let at = (random.next() % file.len() as u64) as usize;
            file[at] ^= 1 << (random.next() % 8);
        }
        let mut plain = RecordReader::new(file.as_slice());
        let expected = all(&mut || next(&mut plain));
        for threads in [1, 3] {
            let options = Options::new().threads(threads);
            let source = Arc::new(file.clone());
            let mut reader = RecordReader::from_source(source, options).unwrap();
            let found = all(&mut || next(&mut reader));
            assert_eq!((found.0.len(), &found.1), (expected.0.len(), &expected.1));
            assert!(found == expected, "round {round}");
        }
    }
}
