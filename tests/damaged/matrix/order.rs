//! Tests of sound chunks in other places than written, and of tables that point elsewhere.
//!
//! Each change has a model: either an error, or the content that the changed container describes. Chunks of files in
//! every order are in `tests/damaged/hostile/order.rs`.

use crate::matrix::frame_parts::{Parts, sparse};
use crate::matrix::golden::{Field, Random, Recipe, i64_at, parts};
use crate::matrix::records_by_hand::{Hostile, chunk, pack, packing};
use crate::matrix::samples::{Files, Reader, array_of, files_of, numbers, read, store};
use crate::matrix::tally::{Came, Table};
use bloscpack::{
    Category, Checksum, Decoder, FormatVersion, Result,
    records::{IndexedRecordReader, RecordReader},
};
use bloscpack_open::datasets::DatasetLayout;
use bloscpack_open::frames::Frame;
use std::io::Read;

/// One thing moved, copied, lost or put in among some.
fn rearranged<T: Clone>(random: &mut Random, items: &[T]) -> Vec<T> {
    let mut items = items.to_vec();
    let (a, b) = (random.below(items.len()), random.below(items.len()));
    match random.below(5) {
        0 => items.swap(a, b),
        1 => items.insert(a, items[b].clone()),
        2 => drop(items.remove(a)),
        3 => items[a] = items[b].clone(),
        _ => items.reverse(),
    }
    items
}

/// A number for a table that has others.
fn entry(random: &mut Random, table: &[i64]) -> i64 {
    let other = table[random.below(table.len())];
    match random.below(9) {
        0 => -1,
        1 => 0,
        2 => 31,
        3 => other,
        4 => other + 1 + random.below(20) as i64,
        5 => other - 1 - random.below(20) as i64,
        6 => -2 - random.below(1000) as i64,
        7 => i64::MAX - random.below(1000) as i64,
        _ => random.below(2000) as i64,
    }
}

fn decode(file: &[u8]) -> Result<Vec<u8>> {
    let mut data = Vec::new();
    Decoder::new(file).read_to_end(&mut data)?;
    Ok(data)
}

#[test]
fn tables_that_point_anywhere_give_the_data_or_an_error() {
    let (mut random, mut table) = (Random::new(41), Table::default());
    for round in 0..800 {
        let layout = [FormatVersion::V3, FormatVersion::V2][round % 2];
        let chunks = 2 + random.below(5);
        let recipe = Recipe {
            layout,
            len: 200 * chunks - random.below(200),
            chunk_size: 200,
            metadata: random.below(2) == 0,
            spare: random.below(3) as u64,
            ..Recipe::new(Checksum::Crc32)
        };
        let (mut file, data) = (recipe.make(), recipe.data());
        let map = parts(&file);
        let places: Vec<_> = map
            .iter()
            .filter(|part| part.field == Field::Offset)
            .collect();
        let before: Vec<i64> = places
            .iter()
            .map(|part| i64_at(&file, part.at.start))
            .collect();
        let mut offsets = before.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(offsets.len());
            match random.below(4) {
                0 => offsets.swap(at, 0),
                1 if random.below(4) == 0 => offsets.fill(-1),
                _ => offsets[at] = entry(&mut random, &before),
            }
        }
        for (part, offset) in places.iter().zip(&offsets) {
            file[part.at.clone()].copy_from_slice(&offset.to_le_bytes());
        }
        if layout == FormatVersion::V2 {
            // A seal that is right: the table is to be seen through, not the seal.
            file[28..32].fill(0);
            let first = map.iter().find(|part| part.field == Field::Chunk).unwrap();
            let seal = crc32fast::hash(&file[..first.at.start]);
            file[28..32].copy_from_slice(&seal.to_le_bytes());
        }
        let is_open = offsets.iter().all(|offset| *offset == -1);
        let came = match decode(&file) {
            Ok(found) => {
                assert!(found == data, "round {round}, {layout}: {offsets:?}");
                assert!(
                    offsets == before || is_open,
                    "round {round}, {layout}: {offsets:?} for {before:?}"
                );
                Came::Same
            }
            Err(error) => {
                let known = [Category::Damaged, Category::CutShort].contains(&error.category());
                assert!(known && offsets != before, "round {round}: {error}");
                assert!(error.position().is_some(), "round {round}: {error}");
                Came::Error
            }
        };
        table.add(&format!("file {layout} with offsets, table changed"), came);
    }
    table.print("cases");
}

/// Records, one or many per chunk: the content of a chunk, the chunk, and the number of its first record.
#[derive(Clone)]
struct Piece {
    records: Vec<Vec<u8>>,
    chunk: Vec<u8>,
    first: Option<usize>,
}

fn pieces(random: &mut Random, is_packed: bool) -> Vec<Piece> {
    let (mut pieces, mut first) = (Vec::new(), 0);
    for _ in 0..2 + random.below(4) {
        let count = if is_packed { 1 + random.below(3) } else { 1 };
        let record = |_| {
            let len = 5 + random.below(3);
            (0..len).map(|_| random.below(256) as u8).collect()
        };
        let records: Vec<Vec<u8>> = (0..count).map(record).collect();
        let lengths = records.iter().map(|record| record.len() as u8);
        let rest: Vec<u8> = lengths.chain(records.concat()).collect();
        let content = if is_packed {
            pack(first as u64, count as u32, 1, &rest)
        } else {
            records.concat()
        };
        pieces.push(Piece {
            chunk: chunk(&content),
            records,
            first: is_packed.then_some(first),
        });
        first += count;
    }
    pieces
}

fn in_order(file: &[u8]) -> Result<Vec<Vec<u8>>> {
    let (mut reader, mut records) = (RecordReader::new(file), Vec::new());
    while let Some(record) = reader.next_record()? {
        records.push(record.to_vec());
    }
    Ok(records)
}

fn by_number(file: &[u8]) -> Result<Vec<Vec<u8>>> {
    let reader = IndexedRecordReader::open(file)?;
    (0..reader.len())
        .map(|number| Ok(reader.get(number)?.to_vec()))
        .collect()
}

#[test]
fn records_in_another_order_are_those_of_the_file_or_an_error() {
    let (mut random, mut table) = (Random::new(42), Table::default());
    for round in 0..800 {
        let is_packed = round % 2 == 0;
        let before = pieces(&mut random, is_packed);
        let after = rearranged(&mut random, &before);
        if after.is_empty() {
            continue;
        }
        let by_hand = |pieces: &[Piece]| {
            let chunks = pieces.iter().map(|piece| piece.chunk.clone()).collect();
            let metadata = if is_packed {
                packing("65536")
            } else {
                "{}".to_owned()
            };
            Hostile::new(&metadata, chunks)
        };
        let ends = |pieces: &[Piece]| {
            let text = by_hand(pieces).metadata.unwrap().len();
            let mut at = (32 + text + 8 * pieces.len()) as i64;
            let begin = |piece: &Piece| {
                at += piece.chunk.len() as i64 + 4;
                at - piece.chunk.len() as i64 - 4
            };
            pieces.iter().map(begin).collect::<Vec<_>>()
        };
        // A table made for the current chunks, one made for the previous ones, and none.
        let (kind, fits, file) = match random.below(3) {
            0 => ("table rewritten", true, by_hand(&after).file()),
            1 => {
                let mut file = by_hand(&after);
                file.offsets = Some(ends(&before));
                file.nchunks = Some(before.len() as i64);
                let fits = before.len() == after.len() && ends(&before) == ends(&after);
                ("table as it was", fits, file.file())
            }
            _ => ("stream", true, by_hand(&after).stream().file()),
        };
        let mut next = 0;
        let numbered = after.iter().all(|piece| {
            let fits = piece.first.is_none_or(|first| first == next);
            next += piece.records.len();
            fits
        });
        let expected: Vec<_> = after
            .iter()
            .flat_map(|piece| piece.records.clone())
            .collect();
        let unchanged: Vec<_> = before
            .iter()
            .flat_map(|piece| piece.records.clone())
            .collect();
        for (reader, found) in [
            ("in order", in_order(&file)),
            ("by number", by_number(&file)),
        ] {
            let place = format!("round {round}, packed {is_packed}, {kind}, {reader}");
            let came = match found {
                Ok(found) if fits && numbered => {
                    assert_eq!(found, expected, "{place}");
                    if found == unchanged {
                        Came::Same
                    } else {
                        Came::Wrong
                    }
                }
                // A reader by number may miss a repeated chunk, but never returns a record with another number.
                Ok(found) => {
                    assert!(reader == "by number" && is_packed, "{place}");
                    assert!(unchanged.starts_with(&found), "{place}: {found:?}");
                    Came::Same
                }
                Err(error) => {
                    assert!(!(fits && numbered), "{place}: {error}");
                    Came::Error
                }
            };
            let packed = if is_packed { "packed" } else { "one a chunk" };
            table.add(&format!("records {packed}, {kind}"), came);
        }
    }
    table.print("cases");
}

#[test]
fn superchunks_in_another_order_are_those_of_the_directory_or_an_error() {
    use DatasetLayout::{Bcolz, Blz, BlzDocument, CarrayDocument};
    let (mut random, mut table) = (Random::new(43), Table::default());
    for round in 0..600 {
        let layout = [Bcolz, Blz, BlzDocument, CarrayDocument][round % 4];
        let is_document = [BlzDocument, CarrayDocument].contains(&layout);
        let checksum = [Checksum::None, Checksum::Crc32][random.below(2)];
        let rows = 170 + random.below(120);
        let files = array_of(layout, is_document.then_some(checksum), rows as u32);
        let (data, per_file) = (numbers(rows as u32), if is_document { 80 } else { 40 });
        let names: Vec<String> = files.iter().map(|(path, _)| path.clone()).collect();
        let is_superchunk = |path: &&String| path.starts_with("data/");
        let mut paths: Vec<_> = names.iter().filter(is_superchunk).cloned().collect();
        paths.sort_by_key(|path| (path.len(), path.clone()));
        assert_eq!(paths.len(), rows.div_ceil(per_file));
        let bytes_of = |path: &String| files.iter().find(|file| file.0 == *path).unwrap().1.clone();
        // The content of each file; for the proposal, with the rows that fill the last chunk.
        let mut padded = data.clone();
        if layout == CarrayDocument {
            padded.resize(rows.div_ceil(40) * 160, 0);
        }
        let held: Vec<_> = padded.chunks(per_file * 4).map(<[u8]>::to_vec).collect();
        let contents: Vec<_> = paths.iter().map(bytes_of).zip(held.clone()).collect();
        let after = rearranged(&mut random, &contents);
        let mut changed: Files = files
            .iter()
            .filter(|(path, _)| !is_superchunk(&path))
            .cloned()
            .collect();
        let first = usize::from(is_document);
        for (number, (bytes, _)) in after.iter().enumerate() {
            let number = number + first;
            let path = if is_document {
                format!("data/__{number}__.bin")
            } else {
                format!("data/__{number}.blp")
            };
            changed.push((path, bytes.clone()));
        }
        // Each needed file must exist with its old length, except that the last may be longer, as after a crash.
        // Files beyond that are not part of the array.
        let fits = held.iter().enumerate().all(|(number, held_before)| {
            let found = after.get(number).map_or(0, |(_, found)| found.len());
            let is_last = number + 1 == held.len();
            found == held_before.len() || (is_last && found > held_before.len())
        });
        let mut expected: Vec<u8> = after.iter().flat_map(|(_, held)| held.clone()).collect();
        expected.truncate(data.len());
        let name = if is_document {
            format!("dataset, {layout}, {checksum:?}")
        } else {
            format!("dataset, {layout}")
        };
        let came = match read(Reader::Dataset(layout), &changed) {
            Ok(told) => {
                assert!(
                    fits && told.holds[0] == expected,
                    "round {round}, {name}: fits {fits}, {rows} rows, {:?} {:?} now {:?}",
                    held.iter().map(Vec::len).collect::<Vec<_>>(),
                    after.iter().map(|(_, held)| held.len()).collect::<Vec<_>>(),
                    told.says
                );
                if told.holds[0] == data {
                    Came::Same
                } else {
                    Came::Wrong
                }
            }
            Err(error) => {
                assert!(!fits, "round {round}, {name}: {error}");
                Came::Error
            }
        };
        table.add(&name, came);
    }
    table.print("cases");
}

#[test]
fn chunks_of_frames_are_where_the_index_says_or_an_error() {
    let (mut random, mut table) = (Random::new(44), Table::default());
    let sound = Parts::sound();
    let before: Vec<i64> = sound.places().into_iter().map(|at| at as i64).collect();
    let chunks: Vec<_> = (0..4)
        .map(|number| sound.frame().unwrap().chunk(number).unwrap())
        .collect();
    for round in 0..400 {
        let mut places = before.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(4);
            places[at] = match random.below(3) {
                0 => before[random.below(4)],
                _ => entry(&mut random, &before),
            };
        }
        let raw: Vec<u8> = places.iter().flat_map(|at| at.to_le_bytes()).collect();
        let mut parts = sound.clone();
        parts.index = crate::matrix::frame_parts::index(&raw);
        let came = match parts.frame() {
            Err(error) => {
                let all_sound = places.iter().all(|at| before.contains(at));
                assert!(
                    error.category() == Category::Damaged && !all_sound,
                    "round {round}: {error}"
                );
                Came::Error
            }
            Ok(frame) => {
                let mut came = if places == before {
                    Came::Same
                } else {
                    Came::Wrong
                };
                for (number, at) in places.iter().enumerate() {
                    let expected = before
                        .iter()
                        .position(|place| place == at)
                        .map(|number| &chunks[number]);
                    match frame.chunk(number as u64) {
                        Ok(found) => assert_eq!(
                            Some(&found),
                            expected,
                            "round {round}, chunk {number}: {places:?}"
                        ),
                        Err(error) => {
                            assert!(expected.is_none(), "round {round}, chunk {number}: {error}");
                            came = Came::Error;
                        }
                    }
                }
                // Two chunks at one place were not written so.
                let is_sound = frame.verify(|_| {}).is_sound();
                let mut sorted = places.clone();
                sorted.sort_unstable();
                assert_eq!(is_sound, sorted == before, "round {round}: {places:?}");
                if !is_sound { Came::Error } else { came }
            }
        };
        table.add("frame, contiguous, index changed", came);
    }
    let files = files_of(&sparse(&sound.bytes()));
    let is_chunk = |path: &str| path.ends_with(".chunk");
    let (chunk_files, outline): (Files, Files) =
        files.into_iter().partition(|(path, _)| is_chunk(path));
    assert_eq!(chunk_files.len(), 4);
    let held: Vec<_> = chunk_files
        .iter()
        .map(|(_, bytes)| bytes.clone())
        .zip(chunks.clone())
        .collect();
    for round in 0..400 {
        let after = rearranged(&mut random, &held);
        let named = after
            .iter()
            .enumerate()
            .map(|(number, (bytes, _))| (format!("{number:08X}.chunk"), bytes.clone()));
        let files: Files = outline.iter().cloned().chain(named).collect();
        let frame =
            Frame::open_store(store(&files), &crate::matrix::samples::frame_options()).unwrap();
        let mut came = Came::Same;
        for (number, chunk) in chunks.iter().enumerate() {
            match (frame.chunk(number as u64), after.get(number)) {
                (Ok(found), Some((_, expected))) => {
                    assert_eq!(found, *expected, "round {round}");
                    if found != *chunk && came == Came::Same {
                        came = Came::Wrong;
                    }
                }
                (Err(_), None) => came = Came::Error,
                (found, _) => panic!("round {round}, chunk {number}: {found:?}"),
            }
        }
        table.add("frame, sparse, files of chunks", came);
    }
    table.print("cases");
}
