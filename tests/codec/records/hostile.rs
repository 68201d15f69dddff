//! Tests that hostile files of records are refused for the right reason, in little memory.
//!
//! The bound is 64 MiB and twice the bytes of the file, counted by an allocator that takes every byte
//! asked for as used.

use crate::records::counting::peak_of;
use crate::records::records_by_hand::{Hostile, chunk, pack, packing};
use bloscpack::storage::ReadAt;
use bloscpack::{
    Category, Error, Limits, Options,
    records::{IndexedRecordReader, RecordReader},
    verify::verify,
};
use std::sync::atomic::{AtomicUsize, Ordering};

const MIB: usize = 1 << 20;

/// The results of both readers: in order to the end, and by number, the last record first.
fn readers(name: &str, file: &[u8]) -> [Result<usize, Error>; 2] {
    let bound = 64 * MIB + 2 * file.len();
    let (in_order, peak) = peak_of(|| {
        let (mut reader, mut count) = (RecordReader::new(file), 0);
        loop {
            match reader.next_record() {
                Ok(Some(_)) => count += 1,
                Ok(None) => break Ok(count),
                Err(error) => {
                    assert!(reader.next_record().is_err(), "{name}: an error stays");
                    break Err(error);
                }
            }
        }
    });
    assert!(peak <= bound, "{name}: {peak} bytes in order");
    let (by_number, peak) = peak_of(|| {
        let reader = IndexedRecordReader::with_options(file, Options::new().cache(MIB))?;
        // If there are very many numbers, only those at both ends are read.
        let last = reader.len();
        let ends = (0..last.min(1000)).chain(last.saturating_sub(1000)..last);
        for number in ends.rev() {
            reader.get(number)?;
        }
        for record in reader.iter().take(1000) {
            record?;
        }
        Ok(last as usize)
    });
    assert!(peak <= bound, "{name}: {peak} bytes by number");
    let (_, peak) = peak_of(|| verify(file, &Options::new(), |_| Ok(())).unwrap());
    assert!(peak <= bound, "{name}: verify took {peak} bytes");
    [in_order, by_number]
}

#[track_caller]
fn refused(name: &str, file: &[u8], category: Category, says: &str) {
    for (reader, result) in ["in order", "by number"].iter().zip(readers(name, file)) {
        let error = result.expect_err(&format!("{name}, {reader}"));
        assert_eq!(error.category(), category, "{name}, {reader}: {error}");
        let text = error.to_string();
        assert!(text.contains(says), "{name}, {reader}: {text}");
    }
}

#[track_caller]
fn fine(name: &str, file: &[u8], count: usize) {
    for result in readers(name, file) {
        assert_eq!(result.expect(name), count, "{name}");
    }
}

use Category::{CutShort, Damaged, OverLimit, Unsupported};

#[test]
fn what_is_made_here_is_fine_where_nothing_is_wrong() {
    let plain = || Hostile::new("{}", vec![chunk(b"one"), chunk(b""), chunk(b"two")]);
    fine("plain", &plain().file(), 3);
    fine("stream", &plain().stream().file(), 3);
    let contents = [pack(0, 2, 1, b"\x01\x02abb"), pack(2, 1, 4, b"\x01\0\0\0c")];
    fine("packed", &Hostile::packed(&contents).file(), 3);
    fine(
        "packed stream",
        &Hostile::packed(&contents).stream().file(),
        3,
    );
}

#[test]
fn counts_of_the_header_cost_nothing() {
    for nchunks in [1 << 60, i64::MAX, 1 << 40, 1 << 30, 4, 100] {
        for metadata in ["{}", &packing("65536")] {
            let content = [b"\0\0\0\0\0\0\0\0\x01\0\0\0\x01\0\0\0".as_slice(), b"\x01x"].concat();
            let mut hostile = Hostile::new(metadata, vec![chunk(&content); 3]);
            hostile.nchunks = Some(nchunks);
            for options in [4, 5, 12, 13] {
                hostile.options = options;
                let [in_order, by_number] = readers("count", &hostile.file());
                assert!(in_order.is_err() && by_number.is_err(), "{nchunks}");
            }
        }
    }
    for nchunks in [-2, i64::MIN] {
        let mut hostile = Hostile::new("{}", vec![chunk(b"x")]);
        hostile.nchunks = Some(nchunks);
        refused("negative", &hostile.file(), Damaged, "number of chunks");
    }
}

#[test]
fn numbers_of_records_that_differ_are_told() {
    for count in ["0", "1", "4", "18446744073709551615"] {
        let text = format!("{{\"shape\": [{count}]}}");
        let plain = || Hostile::new(&text, vec![chunk(b"one"), chunk(b""), chunk(b"two")]);
        refused("plain", &plain().file(), Damaged, "shape");
        refused("plain stream", &plain().stream().file(), Damaged, "shape");
        let text = packing("65536").replacen('{', &format!("{{\"shape\": [{count}], "), 1);
        let contents = [pack(0, 2, 1, b"\x01\x02abb"), pack(2, 1, 4, b"\x01\0\0\0c")];
        let packed = || Hostile {
            metadata: Some(text.clone()),
            ..Hostile::packed(&contents)
        };
        refused("packed", &packed().file(), Damaged, "shape");
        refused("packed stream", &packed().stream().file(), Damaged, "shape");
    }
    for text in [
        r#"{"shape": [3]}"#.to_owned(),
        packing("64").replacen('{', r#"{"shape": [3], "#, 1),
    ] {
        let none = || Hostile::new(&text, Vec::new());
        refused("nothing", &none().file(), Damaged, "shape");
        refused(
            "nothing in a stream",
            &none().stream().file(),
            Damaged,
            "shape",
        );
        // A member that has nothing, between others that have.
        let one = Hostile::new("{}", vec![chunk(b"one")]).file();
        let three = [one.clone(), none().stream().file(), one].concat();
        let (records, end) = crate::records::in_order(three.as_slice());
        assert_eq!(records, [b"one"]);
        assert_eq!(end.unwrap_err().category(), Damaged);
        assert!(IndexedRecordReader::open(&three).is_err());
    }
}

#[test]
fn tables_that_point_anywhere_are_told() {
    let chunks = || vec![chunk(b"one"), chunk(b"two"), chunk(b"three")];
    let sound = Hostile::new("{}", chunks()).file();
    let at = |entry: usize| {
        let from = 34 + 8 * entry;
        i64::from_le_bytes(sound[from..from + 8].try_into().unwrap())
    };
    let own = [at(0), at(1), at(2)];
    let end = sound.len() as i64;
    for entry in 0..3 {
        for to in [
            0,
            1,
            31,
            34,
            end - 1,
            end,
            end + 1,
            1 << 40,
            i64::MAX,
            i64::MIN,
            -1,
            -2,
        ] {
            let mut offsets = own.to_vec();
            offsets[entry] = to;
            for options in [5, 13] {
                let hostile = Hostile {
                    offsets: Some(offsets.clone()),
                    options,
                    ..Hostile::new("{}", chunks())
                };
                let [in_order, by_number] = readers("offset", &hostile.file());
                assert!(in_order.is_err(), "{entry} to {to}");
                assert!(by_number.is_err(), "{entry} to {to}");
            }
        }
    }
    for order in [
        [1, 0, 2],
        [2, 1, 0],
        [0, 2, 1],
        [0, 0, 2],
        [0, 1, 1],
        [1, 1, 1],
    ] {
        for metadata in ["{}", &packing("64")] {
            let contents: Vec<_> = (0..3)
                .map(|n| chunk(&pack(n, 1, 1, &[2, b'x', n as u8])))
                .collect();
            let sound = Hostile::new(metadata, contents.clone());
            let file = sound.file();
            let table = 32 + metadata.len();
            let own: Vec<_> = (0..3)
                .map(|n| i64::from_le_bytes(file[table + 8 * n..][..8].try_into().unwrap()))
                .collect();
            let hostile = Hostile {
                offsets: Some(order.iter().map(|n| own[*n]).collect()),
                ..sound
            };
            let [in_order, by_number] = readers("order", &hostile.file());
            assert!(in_order.is_err() && by_number.is_err(), "{order:?}");
        }
    }
    let none = Hostile {
        offsets: Some(vec![-1; 3]),
        ..Hostile::new("{}", chunks())
    };
    fine("a table that was never filled in", &none.file(), 3);
}

#[test]
fn heads_of_packed_chunks_that_cannot_be_are_refused() {
    let says = "packed records";
    let wrong = |name: &str, contents: &[Vec<u8>]| {
        refused(name, &Hostile::packed(contents).file(), Damaged, says);
        refused(
            name,
            &Hostile::packed(contents).stream().file(),
            Damaged,
            says,
        );
    };
    for len in 0..16 {
        wrong("no head", &[vec![0; len]]);
    }
    wrong("no records", &[pack(0, 0, 1, b"")]);
    wrong("no records and bytes", &[pack(0, 0, 1, b"abc")]);
    for width in [0, 3, 5, 8, 255] {
        wrong("width", &[pack(0, 1, width, &[1, 0, 0, 0, 0, 0, 0, 0, 7])]);
    }
    for at in 13..16 {
        let mut content = pack(0, 1, 1, b"\x01x");
        content[at] = 1;
        wrong("reserved", &[content]);
    }
    for first in [1, 2, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX] {
        wrong("first", &[pack(first, 1, 1, b"\x01x")]);
    }
    for first in [0, 1, 3, 1 << 60, u64::MAX - 1, u64::MAX] {
        let next = pack(first, 1, 1, b"\x01x");
        wrong("first of the second", &[pack(0, 2, 1, b"\x01\x01ab"), next]);
    }
    for count in [2, 3, 255, 1 << 16, 1 << 31, u32::MAX] {
        for width in [1, 2, 4] {
            wrong("count", &[pack(0, count, width, b"\x01\0\0\0xy")]);
        }
    }
    for lengths in [
        [0_u32, 0],
        [1, 0],
        [2, 1],
        [u32::MAX, 3],
        [u32::MAX, u32::MAX],
        [1 << 31, 1 << 31],
        [3, u32::MAX],
        [0x8000_0000, 0x8000_0002],
    ] {
        let rest: Vec<u8> = lengths.iter().flat_map(|len| len.to_le_bytes()).collect();
        wrong("lengths", &[pack(0, 2, 4, &[&rest[..], b"ab"].concat())]);
    }
    wrong(
        "more than one in a large chunk",
        &[pack(0, 2, 1, &vec![0; 70_000])],
    );
}

#[test]
fn very_many_records_that_are_wrong_take_no_memory() {
    let count = (16 << 20) - 16;
    let mut lengths = vec![0; count];
    lengths[count - 1] = 1;
    let content = pack(0, count as u32, 1, &lengths);
    let hostile = Hostile::new(&packing("16777216"), vec![chunk(&content)]);
    refused("16 million", &hostile.file(), Damaged, "packed records");
    // A chunk that is too large for more than one record is not even unpacked by number.
    let content = pack(0, 1 << 26, 1, &vec![0; 1 << 26]);
    let hostile = Hostile::new(&packing("16777216"), vec![chunk(&content)]);
    let name = "64 million";
    refused(name, &hostile.file(), Damaged, "more than one may have");
}

#[test]
fn chunk_sizes_of_metadata_that_cannot_be_are_refused() {
    let content = [pack(0, 1, 1, b"\x01x")];
    for size in [
        "0",
        "1",
        "63",
        "16777217",
        "4294967296",
        "4294967360",
        "18446744073709551616",
        "-1",
        "-64",
        "\"64\"",
        "64.0",
        "1e3",
        "null",
        "true",
        "[64]",
        "{}",
        "NaN",
        "1e999",
    ] {
        for hostile in [
            Hostile::packed(&content),
            Hostile::packed(&content).stream(),
        ] {
            let hostile = Hostile {
                metadata: Some(packing(size)),
                ..hostile
            };
            refused(size, &hostile.file(), Unsupported, "packed in a way");
        }
    }
    for size in ["64", "16777216"] {
        let hostile = Hostile {
            metadata: Some(packing(size)),
            ..Hostile::packed(&content)
        };
        fine(size, &hostile.file(), 1);
    }
}

#[test]
fn packings_that_are_not_known_are_refused() {
    let content = [pack(0, 1, 1, b"\x01x")];
    let long = format!("{{\"name\": \"{}\"}}", "x".repeat(100_000));
    let deep = format!("{}{}", "[".repeat(120), "]".repeat(120));
    let lengths = r#"{"name": "lengths", "version": 1, "chunk_size": 64}"#;
    for value in [
        "null",
        "1",
        "[]",
        "{}",
        "\"lengths\"",
        "NaN",
        &long,
        &deep,
        r#"{"name": "braided", "version": 1, "chunk_size": 64}"#,
        r#"{"name": "Lengths", "version": 1, "chunk_size": 64}"#,
        r#"{"name": "lengths", "version": 2, "chunk_size": 64}"#,
        r#"{"name": "lengths", "version": "1", "chunk_size": 64}"#,
        r#"{"name": "lengths", "version": -1, "chunk_size": 64}"#,
        r#"{"name": ["lengths"], "version": 1, "chunk_size": 64}"#,
        r#"{"version": 1, "chunk_size": 64}"#,
        r#"{"name": "lengths", "chunk_size": 64}"#,
        r#"{"name": "lengths", "version": 1}"#,
    ] {
        let texts = [
            format!("{{\"packing\": {value}}}"),
            // However it is written, and although another reader might take the first.
            format!("{{\"\\u0070acking\": {value}}}"),
            format!("{{\"packing\": {lengths}, \"packing\": {value}}}"),
        ];
        for text in texts {
            let hostile = Hostile {
                metadata: Some(text),
                ..Hostile::packed(&content)
            };
            refused(value, &hostile.file(), Unsupported, "packed in a way");
        }
    }
}

#[test]
fn a_packing_without_records_is_refused() {
    let mut hostile = Hostile::packed(&[pack(0, 1, 1, b"\x01x")]);
    for options in [0, 1, 8, 9] {
        hostile.options = options;
        refused(
            "bit 2 is clear",
            &hostile.file(),
            Damaged,
            "declares packed records",
        );
        let result = bloscpack::decompress(&hostile.file());
        assert_eq!(result.unwrap_err().category(), Damaged);
    }
    // Bit 2 prevents a reader of content from getting heads and lengths instead.
    hostile.options = 13;
    let result = bloscpack::decompress(&hostile.file());
    assert_eq!(result.unwrap_err().category(), Unsupported);
    let content = Hostile {
        options: 9,
        ..Hostile::new("{}", vec![chunk(b"no record")])
    };
    refused("content", &content.file(), Unsupported, "no records");
}

/// A Blosc header with these sizes.
fn blosc(flags: u8, nbytes: u32, blocksize: u32, ctbytes: u32) -> Vec<u8> {
    let mut header = vec![2, 1, flags, 1];
    for size in [nbytes, blocksize, ctbytes] {
        header.extend(size.to_le_bytes());
    }
    header
}

#[test]
fn a_few_bytes_that_claim_to_be_2_gib_take_no_memory() {
    // Blocks that begin where there is nothing sound.
    for compressor in [0x20_u8, 0x60, 0x80, 0] {
        for nbytes in [2_147_483_631_u32, 1 << 30, (64 << 20) + 1] {
            for block in [1 << 20, 32 << 20] {
                let blocks = nbytes.div_ceil(block);
                let len = 16 + 4 * blocks + 100;
                let mut chunk = blosc(compressor | 0x10, nbytes, block, len);
                for _ in 0..blocks {
                    chunk.extend((16 + 4 * blocks).to_le_bytes());
                }
                chunk.resize(len as usize, 3);
                for hostile in [
                    Hostile::new("{}", vec![chunk.clone()]),
                    Hostile::new("{}", vec![chunk.clone()]).stream(),
                    Hostile::new(&packing("65536"), vec![chunk.clone()]),
                ] {
                    let [in_order, by_number] = readers("2 GiB", &hostile.file());
                    assert_eq!(in_order.unwrap_err().category(), Damaged);
                    assert_eq!(by_number.unwrap_err().category(), Damaged);
                }
            }
        }
    }
    let copy = blosc(2, 2_147_483_631, 1 << 20, 2_147_483_647);
    let hostile = Hostile::new("{}", vec![copy]);
    let [in_order, by_number] = readers("a copy of 2 GiB", &hostile.file());
    assert_eq!(in_order.unwrap_err().category(), CutShort);
    assert_eq!(by_number.unwrap_err().category(), CutShort);
}

#[test]
fn limits_are_kept() {
    let limits = Limits::new().chunk(1000);
    let file = Hostile::new("{}", vec![chunk(b"one"), chunk(&[7; 1001])]).file();
    let reader = IndexedRecordReader::with_options(&file, Options::new().limits(limits)).unwrap();
    assert_eq!(reader.get(0).unwrap(), "one");
    assert_eq!(reader.get(1).unwrap_err().category(), OverLimit);
    let mut reader = RecordReader::with_options(file.as_slice(), Options::new().limits(limits));
    assert_eq!(reader.next_record().unwrap().unwrap(), b"one");
    assert_eq!(reader.next_record().unwrap_err().category(), OverLimit);

    let limits = Limits::new().offsets(8);
    for hostile in [
        Hostile::new("{}", vec![chunk(b"one"), chunk(b"two")]),
        Hostile::packed(&[pack(0, 1, 1, b"\x01x"), pack(1, 1, 1, b"\x01x")]),
    ] {
        let options = [5, 13];
        for file in options.map(|options| {
            Hostile {
                options,
                ..hostile.clone()
            }
            .file()
        }) {
            let result = IndexedRecordReader::with_options(&file, Options::new().limits(limits));
            assert_eq!(result.unwrap_err().category(), OverLimit);
            let mut reader = RecordReader::with_options(&file[..], Options::new().limits(limits));
            assert_eq!(reader.next_record().unwrap_err().category(), OverLimit);
        }
    }
}

#[test]
fn an_unsealed_table_with_an_entry_twice_gives_no_record_under_another_number() {
    let begin = 32 + 2 + 3 * 8;
    let chunks: Vec<_> = [b"aaaa", b"bbbb", b"cccc"]
        .iter()
        .map(|r| chunk(*r))
        .collect();
    let last = begin
        + chunks
            .iter()
            .take(2)
            .map(|c| c.len() as i64 + 4)
            .sum::<i64>();
    let hostile = Hostile {
        options: 1 | 4,
        offsets: Some(vec![begin, begin, last]),
        ..Hostile::new("{}", chunks)
    };
    refused("entry 1 is entry 0", &hostile.file(), Damaged, "entry 1");
}

#[test]
fn two_small_chunks_count_no_more_records_than_they_have_room_for() {
    let file =
        Hostile::packed(&[pack(0, 1, 1, b"\x01x"), pack(u64::MAX - 2, 1, 1, b"\x01x")]).file();
    let error = IndexedRecordReader::open(&file[..]).unwrap_err();
    assert_eq!(error.category(), Damaged);
}

struct Counting<'a>(&'a [u8], &'a AtomicUsize);

impl ReadAt for Counting<'_> {
    fn read_at(&self, at: u64, buf: &mut [u8]) -> std::io::Result<usize> {
        let len = self.0.read_at(at, buf)?;
        self.1.fetch_add(len, Ordering::Relaxed);
        Ok(len)
    }

    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }
}

#[test]
fn a_damaged_chunk_is_not_read_again_for_each_of_its_records() {
    let lengths = [0; 50_000];
    let damaged = pack(0, 50_000, 3, &lengths);
    let mut file = Hostile::packed(&[damaged, pack(50_000, 1, 1, b"\x01x")]);
    file.options &= !8;
    let file = file.file();
    let read = AtomicUsize::new(0);
    let reader = IndexedRecordReader::open(Counting(&file, &read)).unwrap();
    assert_eq!(reader.len(), 50_001);
    let mut found = reader.iter();
    for number in 0..50_000 {
        let error = found.next().unwrap().unwrap_err();
        assert_eq!(error.category(), Damaged, "{number}");
        assert_eq!(error.position().unwrap().chunk, Some(0), "{number}");
    }
    assert_eq!(found.next().unwrap().unwrap(), "x");
    assert!(found.next().is_none());
    assert!(read.load(Ordering::Relaxed) < 10 * file.len() + 10_000);
}

/// The number of records comes from the last chunk or, if that is damaged, from the metadata, unless the chunks have
/// no room for so many.
#[test]
fn a_damaged_last_chunk_leaves_the_others_and_no_hostile_number() {
    let builder = bloscpack::records::RecordWriter::builder().packed(64);
    let mut writer = builder
        .write_to_file(std::io::Cursor::new(Vec::new()))
        .unwrap();
    for _ in 0..100 {
        writer.push("x").unwrap();
    }
    let mut file = writer.finish().unwrap().into_inner();
    // No seal, so that the metadata can be another one.
    file[5] &= !8;
    file[28..32].fill(0);
    *file.last_mut().unwrap() ^= 1;
    let reader = IndexedRecordReader::open(file.as_slice()).unwrap();
    assert_eq!(reader.len(), 100);
    assert_eq!(reader.get(0).unwrap(), "x");
    assert_eq!(reader.get(99).unwrap_err().category(), Damaged);

    let shape = file.windows(5).position(|text| text == b"[100]").unwrap();
    file[shape..shape + 5].copy_from_slice(b"[999]");
    let error = IndexedRecordReader::open(file.as_slice()).unwrap_err();
    assert_eq!(error.category(), Damaged);
}

#[test]
fn a_member_that_counts_records_and_has_none_is_damaged() {
    let plain = r#"{"dtype": "varbinary", "shape": [5]}"#;
    let packed = packing("65536").replacen('{', r#"{"shape": [5], "#, 1);
    for metadata in [plain, &packed] {
        let file = Hostile::new(metadata, Vec::new()).stream().file();
        refused("none of five", &file, Damaged, "5 records");
        let report = verify(file.as_slice(), &Options::new(), |_| Ok(())).unwrap();
        assert!(!report.is_sound(), "{metadata}");
    }
}

#[test]
fn an_end_mark_is_no_record() {
    let mark = vec![2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
    let chunks = vec![chunk(b"one"), mark, chunk(b"three")];
    let file = Hostile::new(r#"{"dtype": "varbinary"}"#, chunks).file();
    refused("an end mark among three", &file, Damaged, "end mark");
}

/// Where many chunks in a row are damaged, each is read for the first record that may be in it.
#[test]
fn damaged_chunks_are_not_read_again_for_each_record_beside_them() {
    let builder = bloscpack::records::RecordWriter::builder().packed(64);
    let mut writer = builder
        .write_to_file(std::io::Cursor::new(Vec::new()))
        .unwrap();
    for _ in 0..5000 {
        writer.push("x").unwrap();
    }
    let mut file = writer.finish().unwrap().into_inner();
    let (from, to) = (file.len() / 2, file.len() - 500);
    file[from..to]
        .iter_mut()
        .step_by(20)
        .for_each(|byte| *byte ^= 1);
    let read = AtomicUsize::new(0);
    let reader = IndexedRecordReader::open(Counting(&file, &read)).unwrap();
    assert!(reader.len() == 5000 && reader.chunks() > 150);
    let found: Vec<_> = reader.iter().map(|record| record.is_ok()).collect();
    let sound = found.iter().filter(|is_ok| **is_ok).count();
    assert!(found[0] && found[4999] && found.len() == 5000);
    assert!((500..4500).contains(&sound), "{sound}");
    let read = read.load(Ordering::Relaxed);
    assert!(read < 10 * file.len() + 10_000, "{read} of {}", file.len());
}
