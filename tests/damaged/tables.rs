//! Tests that a changed table of offsets never makes a reader return another chunk: every entry and every pair of
//! neighbours is changed in many ways, and readers return the right bytes or an error.

use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordReader, RecordWriter};
use bloscpack::{Checksum, Decoder, Encoder, Filter, FormatVersion};
use std::io::{Cursor, Read, Write};
use std::ops::Range;
use testkit::effort;
use testkit::golden::{Random, sensor};
use testkit::map::{Field, i64_at, parts};

const CHUNK: usize = 64;

/// A file with a table, and the content of each of its chunks.
struct Sound {
    name: String,
    file: Vec<u8>,
    chunks: Vec<Vec<u8>>,
    has_records: bool,
    /// Where each entry is in the file.
    entries: Vec<Range<usize>>,
}

impl Sound {
    fn new(layout: FormatVersion, checksum: Checksum, chunks: Vec<Vec<u8>>, records: bool) -> Self {
        let file = if records {
            records_of(layout, checksum, &chunks)
        } else {
            content_of(layout, checksum, &chunks)
        };
        let parts = parts(&file);
        let entries = parts.iter().filter(|part| part.field == Field::Offset);
        let entries: Vec<_> = entries.map(|part| part.at.clone()).collect();
        assert_eq!(entries.len(), chunks.len());
        Self {
            name: format!("{layout} {checksum:?} {} {records}", chunks.len()),
            file,
            chunks,
            has_records: records,
            entries,
        }
    }

    fn value(&self, entry: usize) -> i64 {
        i64_at(&self.file, self.entries[entry].start)
    }

    /// The values that an entry gets: those of other chunks near and far, small shifts, and nonsense.
    fn wrong_values(&self, entry: usize) -> Vec<i64> {
        let others = (0..self.chunks.len()).filter(|other| {
            let distance = other.abs_diff(entry);
            distance > 0 && (self.chunks.len() < 20 || distance < 4 || distance % 50 == 0)
        });
        let mut values: Vec<_> = others.map(|other| self.value(other)).collect();
        let own = self.value(entry);
        values.extend([1, -1, 4, 8, -8, 16, 20, -20].map(|by| own + by));
        let len = i64::try_from(self.file.len()).unwrap();
        values.extend([-1, 0, 32, len, len - 16, i64::MAX, i64::MIN]);
        values.retain(|value| *value != own);
        values
    }

    /// The values that a pair of neighbours gets.
    fn wrong_pairs(&self, entry: usize) -> Vec<[i64; 2]> {
        let (one, two) = (self.value(entry), self.value(entry + 1));
        let mut pairs = vec![[two, one], [one, one], [two, two], [-1, -1]];
        pairs.extend([1, -1, 8, -8, 16, two - one].map(|by| [one + by, two + by]));
        let others = 0..self.chunks.len() - 1;
        let others = others.filter(|other| *other != entry);
        pairs.extend(others.map(|other| [self.value(other), self.value(other + 1)]));
        pairs.retain(|pair| *pair != [one, two]);
        pairs
    }

    /// The file with other entries from this one on, if they are the right or wrong ones.
    fn check(&self, entry: usize, values: &[i64]) {
        let mut file = self.file.clone();
        for (value, at) in values.iter().zip(&self.entries[entry..]) {
            file[at.clone()].copy_from_slice(&value.to_le_bytes());
        }
        let near = entry.saturating_sub(2)..(entry + 4).min(self.chunks.len());
        let read = near.chain([0, self.chunks.len() - 1]);
        let found = if self.has_records {
            records(&file, read)
        } else {
            content(&file, read)
        };
        for (chunk, found) in found {
            let name = &self.name;
            assert!(
                found == self.chunks[chunk],
                "{name}: entries {entry}.. are {values:?}: chunk {chunk} by position"
            );
        }
        let in_order = if self.has_records {
            records_in_order(&file)
        } else {
            content_in_order(&file)
        };
        if let Some(found) = in_order {
            assert!(found == self.chunks.concat(), "{}: in order", self.name);
        }
    }
}

fn content_of(layout: FormatVersion, checksum: Checksum, chunks: &[Vec<u8>]) -> Vec<u8> {
    let encoder = Encoder::builder()
        .version(layout)
        .checksum(checksum)
        .chunk_size(u32::try_from(CHUNK).unwrap())
        .filter(Filter::None);
    let mut encoder = encoder.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(&chunks.concat()).unwrap();
    encoder.finish().unwrap().into_inner()
}

fn records_of(layout: FormatVersion, checksum: Checksum, chunks: &[Vec<u8>]) -> Vec<u8> {
    let writer = RecordWriter::builder().version(layout).checksum(checksum);
    let mut writer = writer.write_to_file(Cursor::new(Vec::new())).unwrap();
    for chunk in chunks {
        writer.push(chunk).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// The chunks that a reader by position returns, of those that are asked for.
fn content(file: &[u8], chunks: impl Iterator<Item = usize>) -> Vec<(usize, Vec<u8>)> {
    let Ok(reader) = IndexedReader::open(file) else {
        return Vec::new();
    };
    let read = |chunk: usize| Some((chunk, reader.read_chunk(chunk as u64).ok()?));
    chunks.filter_map(read).collect()
}

fn records(file: &[u8], records: impl Iterator<Item = usize>) -> Vec<(usize, Vec<u8>)> {
    let Ok(reader) = IndexedRecordReader::open(file) else {
        return Vec::new();
    };
    let get = |record: usize| Some((record, reader.get(record as u64).ok()?.to_vec()));
    records.filter_map(get).collect()
}

fn content_in_order(file: &[u8]) -> Option<Vec<u8>> {
    let mut data = Vec::new();
    Decoder::new(file).read_to_end(&mut data).ok()?;
    Some(data)
}

fn records_in_order(file: &[u8]) -> Option<Vec<u8>> {
    let mut reader = RecordReader::new(file);
    let mut data = Vec::new();
    while let Some(record) = reader.next_record().ok()? {
        data.extend_from_slice(record);
    }
    Some(data)
}

/// Chunks that all have the same length, compressed and not: an entry for another one leads to a chunk of the right size.
fn noise(count: usize) -> Vec<Vec<u8>> {
    let mut random = Random::new(5);
    let mut byte = || u8::try_from(random.below(256)).unwrap();
    let chunk = |_| (0..CHUNK).map(|_| byte()).collect();
    (0..count).map(chunk).collect()
}

fn files(count: usize) -> Vec<Sound> {
    let smooth = sensor(count * CHUNK, 3);
    let smooth: Vec<_> = smooth.chunks(CHUNK).map(<[u8]>::to_vec).collect();
    let mut files = Vec::new();
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        for checksum in [Checksum::None, Checksum::Crc32] {
            for records in [false, true] {
                for chunks in [noise(count), smooth.clone()] {
                    files.push(Sound::new(layout, checksum, chunks, records));
                }
            }
        }
    }
    files
}

fn check_all(count: usize) {
    for file in files(count) {
        // The sound file is read; otherwise nothing below would mean anything.
        let found = if file.has_records {
            records(&file.file, 0..count)
        } else {
            content(&file.file, 0..count)
        };
        assert_eq!(found.len(), count, "{}", file.name);
        file.check(0, &[]);
        // A prime: each kind of entry is in the sample of a normal run.
        for entry in effort::sample(0..count, if count > 20 { 29 } else { 1 }) {
            for value in file.wrong_values(entry) {
                file.check(entry, &[value]);
            }
            if entry + 1 < count {
                for pair in file.wrong_pairs(entry) {
                    file.check(entry, &pair);
                }
            }
        }
    }
}

#[test]
fn entries_of_eleven_chunks_never_lead_to_another_chunk() {
    check_all(11);
}

#[test]
fn entries_of_three_hundred_chunks_never_lead_to_another_chunk() {
    check_all(300);
}

/// Tables that are too long to be checked as a whole: entries are checked with their neighbours.
#[test]
fn entries_of_a_long_table_never_lead_to_another_chunk() {
    for count in [(1 << 16) + 700, (2 << 20) + 3] {
        check_long(count);
    }
}

fn check_long(count: u64) {
    let mut random = Random::new(9);
    let mut byte = || u8::try_from(random.below(256)).unwrap();
    let data: Vec<u8> = (0..count).map(|_| byte()).collect();
    let encoder = Encoder::builder().chunk_size(1).filter(Filter::None);
    let encoder = encoder.checksum(Checksum::None).size(count);
    let mut encoder = encoder.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(&data).unwrap();
    let mut file = encoder.finish().unwrap().into_inner();

    let at = |entry: u64| 32 + 8 * usize::try_from(entry).unwrap();
    let read = |file: &[u8], chunk: u64| {
        let reader = IndexedReader::open(file).unwrap();
        reader.read_chunk(chunk).ok().map(|chunk| chunk[0])
    };
    let right = |chunk: u64| data[usize::try_from(chunk).unwrap()];
    // Also the first and the last of a page.
    for chunk in [1, 2, 500, 511, 512, 513, 1023, count / 2, count - 4] {
        assert_eq!(read(&file, chunk), Some(right(chunk)));
        let others = [chunk - 1, chunk + 1, chunk + 2, chunk + 600, count - 3, 7];
        for other in others.into_iter().filter(|other| *other < count - 1) {
            let (here, there) = (at(chunk), at(other));
            let old = file[here..here + 16].to_vec();
            file.copy_within(there..there + 16, here);
            for near in chunk.saturating_sub(2)..chunk + 3 {
                let found = read(&file, near);
                let is_right = found.is_none_or(|found| found == right(near));
                assert!(is_right, "entries of {other} at {chunk}: chunk {near}");
            }
            let is_same = file[here..here + 16] == old;
            assert_eq!(read(&file, chunk).is_some(), is_same, "{other} at {chunk}");
            file[here..here + 16].copy_from_slice(&old);
        }
    }
    // A damaged neighbour alone makes no chunk unreadable.
    let middle = count / 2;
    let neighbour = i64_at(&file, at(middle - 1));
    file[usize::try_from(neighbour).unwrap()] ^= 0xff;
    assert_eq!(read(&file, middle), Some(right(middle)));
    assert_eq!(read(&file, middle - 1), None);
}
