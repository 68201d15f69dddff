//! Tests of thousands of damages to files of records: each record comes back under its number, or an empty one takes
//! its place and is reported; or the recovery says that numbers are uncertain.

use crate::recovery::golden::{Field, Random, chunk, parts, u32_at};
use crate::recovery::random::{case, judge};
use bloscpack::blosc::ChunkDecoder;
use bloscpack::{
    Category, Checksum, Compressor, FormatVersion, Metadata, Options,
    records::{IndexedRecordReader, RecordWriter, RecordWriterBuilder},
    survey::Survey,
    verify::{verify, verify_at},
    wire::Hashers,
};
use std::collections::BTreeSet;
use std::io::Cursor;
use std::ops::Range;
use testkit::damages::{Recovered, damages, recover};
use testkit::effort;

const OWN: &str = r#"{"dtype": "varchar", "unit": "words"}"#;

/// A file, its content, and its current state.
#[derive(Clone)]
struct File {
    name: String,
    sound: Vec<u8>,
    records: Vec<Vec<u8>>,
    /// The position of each chunk, digest included, and the records in it.
    chunks: Vec<(Range<usize>, Range<usize>)>,
    is_packed: bool,
    /// Each byte, and which of the sound file's it was.
    bytes: Vec<(u8, Option<usize>)>,
}

impl File {
    fn of(name: String, sound: Vec<u8>, records: Vec<Vec<u8>>, is_packed: bool) -> Self {
        let (mut chunks, mut next) = (Vec::<(Range<usize>, Range<usize>)>::new(), 0);
        for part in parts(&sound) {
            match part.field {
                Field::Chunk => {
                    let content = content(&sound[part.at.clone()]);
                    let count = if is_packed {
                        u32_at(&content, 8) as usize
                    } else {
                        1
                    };
                    chunks.push((part.at, next..next + count));
                    next += count;
                }
                Field::Digest
                    if !chunks.is_empty() && chunks.last().unwrap().0.end == part.at.start =>
                {
                    chunks.last_mut().unwrap().0.end = part.at.end;
                }
                _ => {}
            }
        }
        assert_eq!(next, records.len(), "{name}");
        let bytes = sound.iter().copied().zip((0..).map(Some)).collect();
        Self {
            name,
            sound,
            records,
            chunks,
            is_packed,
            bytes,
        }
    }

    fn now(&self) -> Vec<u8> {
        self.bytes.iter().map(|(byte, _)| *byte).collect()
    }

    fn overwrite(&mut self, range: Range<usize>, mut with: impl FnMut() -> u8) {
        for (byte, _) in &mut self.bytes[range] {
            *byte = with();
        }
    }

    /// Whether all bytes of a range remain, one after the other.
    fn is_intact(&self, range: &Range<usize>) -> bool {
        let from = self
            .bytes
            .iter()
            .position(|(_, was)| *was == Some(range.start));
        from.and_then(|from| self.bytes.get(from..from + range.len()))
            .is_some_and(|bytes| {
                let mut all = bytes.iter().zip(range.clone());
                all.all(|((byte, was), at)| *was == Some(at) && *byte == self.sound[at])
            })
    }

    /// The records in chunks that were not touched.
    fn intact(&self) -> Vec<bool> {
        let mut intact = vec![false; self.records.len()];
        for (place, records) in &self.chunks {
            intact[records.clone()].fill(self.is_intact(place));
        }
        intact
    }

    /// Recovers it, compares, and gives the report; nothing if nothing could be recovered.
    fn check(&self) -> Option<Recovered> {
        let (file, intact, name) = (self.now(), self.intact(), &self.name);
        let mut target = Cursor::new(Vec::new());
        let recovery = match recover(&file, &mut target, &Options::new()) {
            Ok(recovery) => recovery,
            Err(error) => {
                assert!(!intact.contains(&true), "{name}: {error}");
                assert!(target.get_ref().is_empty(), "{name}: written");
                return None;
            }
        };
        let out = target.into_inner();
        let report = verify(out.as_slice(), &Options::new(), |_| Ok(())).unwrap();
        assert!(report.is_sound(), "{name}: {report:?}");
        let Ok(reader) = IndexedRecordReader::open(out) else {
            // Without header and metadata, chunks of one length look like those of one content.
            let is_lost = recovery.header_lost && recovery.records == 0;
            let found = self
                .chunks
                .iter()
                .filter(|(place, _)| self.is_intact(place))
                .count();
            assert!(is_lost && found < 4, "{name}: {recovery:#?}");
            return Some(recovery);
        };
        assert_eq!(
            reader.packing().is_some(),
            self.is_packed,
            "{name}: {recovery:#?}"
        );
        let got: Vec<Vec<u8>> = reader
            .iter()
            .map(|record| record.unwrap().to_vec())
            .collect();
        self.compare(&got, &intact, &recovery);
        Some(recovery)
    }

    fn compare(&self, got: &[Vec<u8>], intact: &[bool], recovery: &Recovered) {
        let name = &self.name;
        let mut is_empty = vec![false; got.len()];
        for lost in &recovery.lost {
            assert_eq!(lost.filled, lost.records.is_some(), "{name}");
            for number in lost.records.clone().into_iter().flatten() {
                let number = usize::try_from(number).unwrap();
                assert!(
                    got[number].is_empty() && !is_empty[number],
                    "{name}: {number}"
                );
                is_empty[number] = true;
            }
        }
        let all: u64 = is_empty.iter().map(|is_empty| u64::from(*is_empty)).sum();
        assert_eq!(recovery.records + all, got.len() as u64, "{name}");
        let is_known = recovery.lost.iter().all(|lost| lost.records.is_some());
        assert_eq!(recovery.records_lost, is_known.then_some(all), "{name}");
        if is_known {
            assert_eq!(got.len(), self.records.len(), "{name}: {recovery:#?}");
            for (number, record) in got.iter().enumerate() {
                let is_right = *record == self.records[number] && !is_empty[number];
                let is_told = is_empty[number] && !intact[number];
                assert!(
                    is_right || is_told,
                    "{name}: record {number}; {recovery:#?}"
                );
            }
            return;
        }
        let kept = got
            .iter()
            .zip(&is_empty)
            .filter(|(_, is_empty)| !**is_empty);
        let kept: Vec<_> = kept.map(|(record, _)| record).collect();
        let mut ends = BTreeSet::from([0]);
        for (record, must) in self.records.iter().zip(intact) {
            let mut next = BTreeSet::new();
            for end in ends {
                if kept.get(end).is_some_and(|kept| *kept == record) {
                    next.insert(end + 1);
                }
                if !must {
                    next.insert(end);
                }
            }
            ends = next;
        }
        assert!(ends.contains(&kept.len()), "{name}: {recovery:#?}");
    }
}

fn content(chunk: &[u8]) -> Vec<u8> {
    let mut data = vec![0; u32_at(chunk, 4) as usize];
    ChunkDecoder::new().decode(chunk, &mut data).unwrap();
    data
}

/// Records of nothing, of single bytes, of words, of noise.
fn records(count: usize, seed: u64) -> Vec<Vec<u8>> {
    let mut random = Random::new(seed);
    let mut one = || {
        let len = [0, 1, 7, 30, 120, 700][random.below(6)];
        let len = random.below(len + 1);
        let is_noise = random.below(2) == 0;
        let byte = |_| match random.next() as u8 {
            byte if is_noise => byte,
            byte => b"etaoin shrdlu"[usize::from(byte) % 13],
        };
        (0..len).map(byte).collect()
    };
    (0..count).map(|_| one()).collect()
}

fn to_file(builder: RecordWriterBuilder, records: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    records
        .iter()
        .for_each(|record| writer.push(record).unwrap());
    writer.finish().unwrap().into_inner()
}

fn to_stream(builder: RecordWriterBuilder, records: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = builder.write_to(Vec::new()).unwrap();
    records
        .iter()
        .for_each(|record| writer.push(record).unwrap());
    writer.finish().unwrap()
}

fn builder(seed: u64) -> RecordWriterBuilder {
    let checksums = [Checksum::Crc32, Checksum::Sha1, Checksum::Adler32];
    let compressors = [Compressor::Lz4, Compressor::Zstd];
    RecordWriter::builder()
        .checksum(checksums[seed as usize % 3])
        .compressor(compressors[seed as usize % 2])
        .metadata(Metadata::from_json(OWN).unwrap())
        .max_app_chunks(3)
}

/// Files written in each way, packed and not.
fn files() -> Vec<File> {
    let mut files = Vec::new();
    for seed in 0..4 {
        for packed in [None, Some(400), Some(64 << 8)] {
            let count = packed.map_or(15, |size| size as usize / 8 + 40);
            let records = records(count.min(400), 100 + seed);
            let builder = packed
                .into_iter()
                .fold(builder(seed), RecordWriterBuilder::packed);
            let known = builder.clone().count(records.len() as u64);
            let v3 = builder.clone().version(FormatVersion::V3);
            let ways = [
                ("V2 file", to_file(builder.clone(), &records)),
                ("V3 file", to_file(v3.clone(), &records)),
                ("stream", to_stream(builder, &records)),
                ("V3 stream", to_stream(v3, &records)),
                ("stream of known number", to_stream(known, &records)),
            ];
            for (way, file) in ways {
                let name = format!("{way}, packed {packed:?}, {seed}");
                files.push(File::of(name, file, records.clone(), packed.is_some()));
            }
        }
    }
    files
}

/// Does something to a file, and says what.
fn damage(file: &mut File, random: &mut Random) -> String {
    let len = file.bytes.len();
    let (chunk, _) = file.chunks[random.below(file.chunks.len())].clone();
    let at = match random.below(6) {
        0 => chunk.start,
        1 => chunk.start + random.below(16),
        2 => chunk.end - 1 - random.below(5),
        3 => random.below(file.chunks[0].0.start),
        _ => random.below(len),
    };
    let at = at.min(len - 1);
    let most = [1, 4, 16, 100, 1500][random.below(5)];
    let range = at..(at + 1 + random.below(most)).min(len);
    match random.below(8) {
        0 => {
            let bit = random.below(8);
            file.bytes[at].0 ^= 1 << bit;
            format!("bit {bit} of {at} flipped")
        }
        1 | 2 => {
            file.overwrite(range.clone(), || 0);
            format!("zeros {range:?}")
        }
        3 => {
            file.overwrite(range.clone(), || random.next() as u8);
            format!("noise {range:?}")
        }
        4 => {
            file.bytes.truncate(at);
            format!("cut at {at}")
        }
        5 => {
            let noise: Vec<_> = range.clone().map(|_| (random.next() as u8, None)).collect();
            file.bytes.splice(at..at, noise);
            format!("inserted {range:?}")
        }
        6 => {
            file.bytes.drain(range.clone());
            format!("deleted {range:?}")
        }
        _ => {
            let chunk = chunk.start.min(len)..chunk.end.min(len);
            file.overwrite(chunk.clone(), || 0);
            format!("zeros {chunk:?}, a chunk")
        }
    }
}

/// Whether chunks are gone without a trace where nothing counts them.
fn has_lost_a_chunk_unseen(file: &File) -> bool {
    !file.is_packed
        && file.chunks.iter().any(|(place, _)| {
            let is_gone = |at: usize| !file.bytes.iter().any(|(_, was)| *was == Some(at));
            place.clone().all(is_gone)
        })
}

#[test]
fn sound_files_come_out_as_they_are() {
    for file in files() {
        let recovery = file.check().unwrap();
        let name = &file.name;
        assert!(recovery.is_complete(), "{name}: {recovery:#?}");
        assert!(recovery.damages.is_empty(), "{name}: {recovery:#?}");
        assert_eq!(recovery.records, file.records.len() as u64, "{name}");
        assert_eq!(recovery.records_lost, Some(0), "{name}");
        assert_eq!(recovery.chunks, file.chunks.len() as u64, "{name}");

        let mut out = Cursor::new(Vec::new());
        recover(&file.sound, &mut out, &Options::new().threads(2)).unwrap();
        let old = Survey::of(file.sound.as_slice(), &Options::new()).unwrap();
        let new = Survey::of(out.get_ref().as_slice(), &Options::new()).unwrap();
        let (old, new) = (&old.members[0], &new.members[0]);
        assert_eq!(new.header.version, FormatVersion::V3, "{name}");
        assert!(new.header.varlen && new.header.offsets, "{name}");
        assert_eq!(new.header.checksum, old.header.checksum, "{name}");
        assert_eq!(new.compressors, old.compressors, "{name}");
        assert_eq!(new.chunks, old.chunks, "{name}");
        let metadata = new.metadata.as_ref().unwrap().text();
        let count = format!("\"shape\": [{}]", file.records.len());
        for words in [r#""dtype": "varchar""#, r#""unit": "words""#, &count] {
            assert!(metadata.contains(words), "{name}: {metadata}");
        }
    }
}

#[test]
fn one_damage() {
    let (mut cases, mut certain, mut failures) = (0, 0, Vec::new());
    for (seed, file) in files().into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        for _ in 0..effort::cases(80, 5) {
            let mut damaged = file.clone();
            let what = damage(&mut damaged, &mut random);
            damaged.name = format!("{}: {what}", file.name);
            if has_lost_a_chunk_unseen(&damaged) && !damaged.name.contains("cut") {
                continue;
            }
            cases += case(&mut failures, || {
                let Some(recovery) = damaged.check() else {
                    return false;
                };
                certain += usize::from(recovery.records_lost.is_some());
                let report = verify_at(&damaged.now(), &Options::new(), |_| Ok(())).unwrap();
                let is_told = !report.is_sound() || recovery.is_complete();
                assert!(is_told, "{}: {recovery:#?}", damaged.name);
                true
            });
        }
    }
    judge(cases, effort::cases(4000, 6), &failures);
    // Little else is uncertain than streams with missing bytes.
    assert!(certain * 4 > cases * 3, "{certain} of {cases}");
}

#[test]
fn two_damages() {
    let (mut cases, mut failures) = (0, Vec::new());
    for (seed, file) in files().into_iter().enumerate() {
        let mut random = Random::new(1000 + seed as u64);
        for _ in 0..effort::cases(60, 5) {
            let mut damaged = file.clone();
            let mut name = file.name.clone();
            for _ in 0..2 {
                if damaged.bytes.len() > 10 {
                    name = format!("{name}: {}", damage(&mut damaged, &mut random));
                }
            }
            damaged.name = name;
            if !has_lost_a_chunk_unseen(&damaged) {
                cases += case(&mut failures, || damaged.check().is_some());
            }
        }
    }
    judge(cases, effort::cases(2000, 5), &failures);
}

/// The content of a packed chunk.
fn pack(first: u64, records: &[&[u8]]) -> Vec<u8> {
    let mut content = first.to_le_bytes().to_vec();
    content.extend(u32::try_from(records.len()).unwrap().to_le_bytes());
    content.extend([1, 0, 0, 0]);
    content.extend(records.iter().map(|record| record.len() as u8));
    content.extend(records.concat());
    content
}

/// A V2 file without offsets, put together by hand.
fn by_hand(json: &str, contents: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"blpk\x02\x06\x02\x01".to_vec();
    file.extend([0xff; 8]);
    file.extend((contents.len() as u64).to_le_bytes());
    file.extend(u32::try_from(json.len()).unwrap().to_le_bytes());
    file.extend([0; 4]);
    file.extend(json.as_bytes());
    for content in contents {
        let chunk = chunk(content);
        file.extend(&chunk);
        file.extend(
            Hashers::default()
                .digest(Checksum::Crc32, &chunk)
                .as_bytes(),
        );
    }
    file
}

fn packed_json(name: &str, count: u64, chunk_size: u32) -> String {
    format!(
        r#"{{"shape": [{count}], "packing": {{"name": "{name}", "version": 1, "chunk_size": {chunk_size}}}}}"#
    )
}

fn recovered(file: &[u8]) -> (Recovered, Vec<Vec<u8>>) {
    let mut target = Cursor::new(Vec::new());
    let recovery = recover(file, &mut target, &Options::new()).unwrap();
    let reader = IndexedRecordReader::open(target.into_inner()).unwrap();
    let records = reader.iter().map(|record| record.unwrap().to_vec());
    let records = records.collect();
    (recovery, records)
}

#[test]
fn an_unknown_packing_is_refused_and_verified_as_chunks() {
    let file = by_hand(
        &packed_json("braided", 3, 4096),
        &[pack(0, &[b"a", b"b", b"c"])],
    );
    let mut target = Cursor::new(Vec::new());
    let error = recover(&file, &mut target, &Options::new()).unwrap_err();
    assert_eq!(error.category(), Category::Unsupported);
    assert!(error.to_string().contains("braided"), "{error}");
    assert!(target.get_ref().is_empty());
    for report in [
        verify(file.as_slice(), &Options::new(), |_| Ok(())).unwrap(),
        verify_at(&file, &Options::new(), |_| Ok(())).unwrap(),
    ] {
        assert!(report.is_sound(), "{report:?}");
        let [warning] = report.warnings.as_slice() else {
            panic!("{report:?}");
        };
        assert!(warning.to_string().contains("braided"), "{warning}");
        assert_eq!((report.chunks, report.records), (1, 0));
    }
    let mut damaged = file;
    let end = damaged.len();
    damaged[end - 10] ^= 1;
    let report = verify_at(&damaged, &Options::new(), |_| Ok(())).unwrap();
    assert_eq!(report.damage_count, 1);
}

#[test]
fn chunks_that_are_packed_wrongly_are_damage() {
    let json = packed_json("lengths", 6, 4096);
    let mut longer = pack(2, &[b"three", b"four"]);
    longer.push(0);
    let right = |first| pack(first, &[b"x", b"y"]);
    for (wrong, lost) in [
        (longer, Some(2..4)),
        (right(1), Some(2..4)),
        (b"no head, and no records".to_vec(), Some(2..4)),
        (vec![], Some(2..4)),
    ] {
        let file = by_hand(&json, &[right(0), wrong, right(4)]);
        let two = Options::new().threads(2);
        for report in [
            damages(|take| verify(file.as_slice(), &two, take)),
            damages(|take| verify_at(&file, &Options::new(), take)),
        ] {
            let (report, found) = report.unwrap();
            let [damage] = found.as_slice() else {
                panic!("{report:#?}");
            };
            assert_eq!(damage.records, lost, "{report:#?}");
            assert_eq!(damage.error.position().unwrap().chunk, Some(1));
            assert_eq!(damage.error.category(), Category::Damaged);
            assert_eq!((report.chunks, report.records), (3, 4));
        }
        let (recovery, records) = recovered(&file);
        assert_eq!(
            records,
            [&b"x"[..], b"y", b"", b"", b"x", b"y"],
            "{recovery:#?}"
        );
        assert_eq!((recovery.records, recovery.records_lost), (4, Some(2)));
    }
    // Too few records for the shape, and a hole between two sound chunks.
    let file = by_hand(&packed_json("lengths", 9, 4096), &[right(0), right(4)]);
    let report = verify(file.as_slice(), &Options::new(), |_| Ok(())).unwrap();
    assert!(!report.is_sound());
    let (recovery, records) = recovered(&file);
    assert_eq!(records.len(), 9, "{recovery:#?}");
    assert_eq!(recovery.records_lost, Some(5));
    assert!(!recovery.damages.is_empty() && !recovery.is_complete());
}

#[test]
fn numbers_that_cannot_be_fill_no_disk() {
    let right = |first| pack(first, &[b"x", b"y"]);
    for first in [1 << 20, 1 << 40, u64::MAX - 2] {
        let file = by_hand(
            &packed_json("lengths", u64::MAX, 4096),
            &[right(0), right(first)],
        );
        let mut target = Cursor::new(Vec::new());
        let recovery = recover(&file, &mut target, &Options::new()).unwrap();
        assert!(target.get_ref().len() < 8192, "{}", target.get_ref().len());
        assert_eq!(
            (recovery.records, recovery.records_lost),
            (4, None),
            "{recovery:#?}"
        );
        assert!(!recovery.is_complete());
        let (_, records) = recovered(&file);
        assert_eq!(records, [b"x", b"y", b"x", b"y"]);
    }
    // Where each record is a chunk, and the header counts any number of them.
    let mut file = by_hand("{}", &[b"one".to_vec(), b"two".to_vec()]);
    file[16..24].copy_from_slice(&(1u64 << 40).to_le_bytes());
    let (recovery, records) = recovered(&file);
    assert_eq!(records, [b"one", b"two"]);
    assert_eq!(recovery.records_lost, None);
}

#[test]
fn packed_chunks_are_known_without_header_and_metadata() {
    for file in files().into_iter().filter(|file| file.is_packed) {
        let mut bare = file.clone();
        let head = 0..file.chunks[0].0.start;
        bare.overwrite(head, || 0xa5);
        bare.name = format!("{}: no head", file.name);
        let recovery = bare.check().unwrap();
        assert_eq!(recovery.records, file.records.len() as u64, "{}", bare.name);
        assert!(
            recovery.header_lost && recovery.metadata_lost,
            "{}",
            bare.name
        );
        assert!(!recovery.is_complete(), "{}", bare.name);
    }
}

#[test]
fn records_and_content_do_not_mix() {
    let content = bloscpack::compress(&[7; 100]).unwrap();
    let records = to_file(builder(0), &[b"a".to_vec(), b"b".to_vec()]);
    let mut target = Cursor::new(Vec::new());
    let file = [content.clone(), records.clone()].concat();
    let recovery = recover(&file, &mut target, &Options::new()).unwrap();
    assert!(!recovery.is_complete());
    assert_eq!(bloscpack::decompress(target.get_ref()).unwrap(), [7; 100]);

    let (recovery, got) = recovered(&[records.clone(), content].concat());
    assert!(!recovery.is_complete());
    assert_eq!(got, [b"a", b"b"]);

    let packed = to_file(builder(1).packed(100), &[b"c".to_vec()]);
    let (recovery, got) = recovered(&[records, packed].concat());
    assert!(recovery.is_complete(), "{recovery:#?}");
    assert_eq!(got, [b"a", b"b", b"c"]);
}

/// Incompressible records, as chunks of their own, with a table and a count: 15 of 60 bytes with header and digest,
/// and 15 of 30. Returns the file, and the position of each chunk.
fn stored() -> (Vec<u8>, Vec<Range<usize>>) {
    let mut random = Random::new(17);
    let mut noise = |len: usize| -> Vec<u8> { (0..len).map(|_| random.next() as u8).collect() };
    let records: Vec<_> = (0..30)
        .map(|number| noise(if number < 15 { 40 } else { 10 }))
        .collect();
    let builder = RecordWriter::builder()
        .checksum(Checksum::Crc32)
        .version(FormatVersion::V2);
    let file = File::of(
        "stored".to_owned(),
        to_file(builder, &records),
        records,
        false,
    );
    let places = file.chunks.into_iter().map(|(place, _)| place).collect();
    (file.sound, places)
}

/// Records in the place of others, which only the table shows.
#[test]
fn records_that_were_written_over_others_are_uncertain() {
    let (sound, places) = stored();
    assert_eq!((places[10].len(), places[20].len()), (60, 30));
    let (recovery, _) = recovered(&sound);
    assert!(recovery.is_complete(), "{recovery:#?}");
    // One chunk and parts of its neighbours, once more: there are more than are counted.
    let mut twice = sound.clone();
    let some = sound[places[5].start + 20..places[7].start + 20].to_vec();
    twice.splice(places[8].start + 30..places[8].start + 30, some);
    // Two of 60 bytes are gone, two of 30 are there twice.
    let mut over = sound.clone();
    over.copy_within(
        places[20].start + 15..places[23].start + 25,
        places[10].start + 10,
    );
    // As many are gone as are there twice, and damage that was known to be one record.
    let mut known = sound.clone();
    known[places[2].end - 10] ^= 1;
    let again = sound[places[5].clone()].to_vec();
    known.splice(places[7].start..places[7].start, again);
    for (name, file) in [("twice", twice), ("over", over), ("known", known)] {
        let mut target = Cursor::new(Vec::new());
        let recovery = recover(&file, &mut target, &Options::new()).unwrap();
        assert_eq!(recovery.records_lost, None, "{name}: {recovery:#?}");
        assert!(!recovery.is_complete(), "{name}: {recovery:#?}");
        let report = verify_at(&file, &Options::new(), |_| Ok(())).unwrap();
        assert!(!report.is_sound(), "{name}: {report:#?}");
    }
    // Bytes put between two records lose neither of them.
    let mut more = sound.clone();
    more.splice(places[10].start..places[10].start, [0xee; 100]);
    let (recovery, records) = recovered(&more);
    assert_eq!(recovery.records_lost, Some(0), "{recovery:#?}");
    assert_eq!(records.len(), 30);
}

/// Which records came back under their numbers, before the first loss of an unknown number of records.
fn certain(recovery: &Recovered) -> Option<u64> {
    let unknown = recovery.lost.iter().find(|lost| lost.records.is_none());
    unknown.map(|lost| lost.at)
}

/// A sound table, or a single gap, gives every record its number; a damaged table and two gaps give none after the first gap.
#[test]
fn numbers_need_a_sound_table_or_a_single_gap() {
    let layouts = [FormatVersion::V2, FormatVersion::V3];
    for (seed, layout) in (0..).zip(layouts) {
        let all: Vec<_> = (0..30)
            .map(|n| format!("record {n}").into_bytes())
            .collect();
        let sound = to_file(builder(seed).version(layout), &all);
        let file = File::of(layout.to_string(), sound, all.clone(), false);
        let place = |number: usize| file.chunks[number].0.clone();
        // The entry of chunk 20, as it leads to the chunk.
        let at = (place(20).start as u64).to_le_bytes();
        let entry = file.sound.windows(8).position(|bytes| bytes == at).unwrap();

        for (has_table, gaps) in [
            (true, &[5][..]),
            (true, &[5, 12, 13, 25]),
            (true, &[0, 29]),
            (false, &[5]),
            (false, &[11, 12, 13]),
            (false, &[5, 12]),
        ] {
            let mut damaged = file.clone();
            damaged.name = format!("{layout}, table {has_table}, {gaps:?}");
            for number in gaps {
                damaged.overwrite(place(*number), || 0xa5);
            }
            if !has_table {
                damaged.overwrite(entry..entry + 2, || 0x11);
            }
            let recovery = damaged.check().unwrap();
            let name = &damaged.name;
            assert_eq!(recovery.records, 30 - gaps.len() as u64, "{name}");
            let is_row = gaps.windows(2).all(|pair| pair[0] + 1 == pair[1]);
            if has_table || is_row {
                let lost = gaps.len() as u64;
                assert_eq!(recovery.records_lost, Some(lost), "{name}: {recovery:#?}");
            } else {
                assert_eq!(certain(&recovery), Some(5), "{name}: {recovery:#?}");
                let (_, got) = recovered(&damaged.now());
                let kept = (0..30).filter(|number| !gaps.contains(number));
                let kept: Vec<_> = kept.map(|number| all[number].clone()).collect();
                assert_eq!(got, kept, "{name}");
            }
        }
    }
}

/// Where all chunks are of one length, bytes that are removed or added can put each into the place of another.
#[test]
fn no_record_of_equal_length_gets_the_number_of_another() {
    let mut random = Random::new(23);
    let mut noise = |len: usize| -> Vec<u8> { (0..len).map(|_| random.next() as u8).collect() };
    let all: Vec<_> = (0..30).map(|_| noise(40)).collect();
    let (mut cases, mut known, mut failures) = (0, 0, Vec::new());
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        let builder = RecordWriter::builder()
            .version(layout)
            .checksum(Checksum::Crc32);
        let file = File::of(
            layout.to_string(),
            to_file(builder, &all),
            all.clone(),
            false,
        );
        let (first, len) = (file.chunks[0].0.start, file.chunks[0].0.len());
        assert!(file.chunks.iter().all(|(place, _)| place.len() == len));
        let mut random = Random::new(29);
        for _ in 0..effort::cases(400, 4) {
            let mut damaged = file.clone();
            let mut name = layout.to_string();
            // Bytes are removed or added once, and behind the headers, which are all alike.
            let moved = random.below(2);
            for turn in 0..1 + random.below(3) {
                let some = [1, len / 2, len, len, 2 * len, 5 * len][random.below(6)];
                let at = first + len * random.below(20) + 16 + random.below(len - 16);
                let range = at..at + some;
                match random.below(4) {
                    0 if turn == moved => {
                        name = format!("{name}, deleted {range:?}");
                        damaged.bytes.drain(range);
                    }
                    1 if turn == moved => {
                        name = format!("{name}, inserted {range:?}");
                        let noise: Vec<_> = range.map(|_| (random.next() as u8, None)).collect();
                        damaged.bytes.splice(at..at, noise);
                    }
                    2 if turn == moved => {
                        let at = at + 5 * len + random.below(2) * (first + len - at % len);
                        let at = at.min(damaged.bytes.len());
                        name = format!("{name}, cut at {at}");
                        damaged.bytes.truncate(at);
                    }
                    3 => {
                        let entry = first - 8 * (1 + random.below(30));
                        name = format!("{name}, table at {entry}");
                        damaged.overwrite(entry..entry + 2, || random.next() as u8);
                    }
                    _ => {
                        let size = damaged.bytes.len();
                        let range = range.start.min(size)..range.end.min(size);
                        name = format!("{name}, overwritten {range:?}");
                        damaged.overwrite(range, || random.next() as u8);
                    }
                }
            }
            damaged.name = name;
            // A chunk of which no byte is left, as if the file had never had it.
            if has_lost_a_chunk_unseen(&damaged) && !damaged.name.contains("cut") {
                continue;
            }
            cases += case(&mut failures, || {
                let recovery = damaged.check();
                known += usize::from(recovery.is_some_and(|r| r.records_lost.is_some()));
                true
            });
        }
    }
    judge(cases, effort::cases(500, 4), &failures);
    assert!(known * 4 > cases, "{known} of {cases}");
}
