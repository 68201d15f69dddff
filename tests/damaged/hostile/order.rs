//! Tests of sound chunks in another number or order than written.

use super::{Fields, MIB, PLAIN, bounded};
use crate::hostile::golden::{Random, chunk, sensor};
use bloscpack::wire::FormatError;
use bloscpack::{Category, Checksum, Decoder, wire::Hashers};
use std::io::Read;

/// A chunk with its digest, and the bytes of data in it.
type Item = (Vec<u8>, usize);

/// How a generated file counts and places its chunks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Offsets,
    Counted,
    Stream,
}

/// The expected result of reading these items after a header and table that were made for others: the number of items
/// delivered, and the error then.
fn model(kind: Kind, made_for: &[Item], items: &[Item], chunk: usize) -> (usize, &'static str) {
    let mut short = false;
    let (mut at, mut offset) = (0, 0);
    for number in 0.. {
        if kind != Kind::Stream && number == made_for.len() {
            return (
                number,
                if number < items.len() {
                    "UncountedChunk"
                } else {
                    ""
                },
            );
        }
        if kind == Kind::Offsets && at != offset {
            return (number, "Offset");
        }
        let Some((bytes, data)) = items.get(number) else {
            return (
                number,
                if kind == Kind::Stream {
                    ""
                } else {
                    "MissingChunks"
                },
            );
        };
        let fits = match (kind, made_for.get(number)) {
            (Kind::Stream, _) => !short && *data <= chunk,
            (_, Some((_, expected))) => data == expected,
            _ => true,
        };
        if !fits {
            return (number, "ChunkSize");
        }
        short |= *data < chunk;
        at += bytes.len();
        offset += made_for.get(number).map_or(0, |(bytes, _)| bytes.len());
    }
    (0, "")
}

fn assemble(kind: Kind, made_for: &[Item], items: &[Item], chunk: usize) -> Vec<u8> {
    let last = made_for.last().unwrap().1 as i32;
    let stream = kind == Kind::Stream;
    let fields = Fields {
        options: u8::from(kind == Kind::Offsets),
        checksum: 6,
        chunk_size: chunk as i32,
        last_chunk: if stream { -1 } else { last },
        nchunks: if stream { -1 } else { made_for.len() as i64 },
        ..PLAIN
    };
    let mut file = fields.header();
    if kind == Kind::Offsets {
        let mut at = 32 + 8 * made_for.len() as i64;
        for (bytes, _) in made_for {
            file.extend_from_slice(&at.to_le_bytes());
            at += bytes.len() as i64;
        }
    }
    items
        .iter()
        .for_each(|(bytes, _)| file.extend_from_slice(bytes));
    if stream {
        let mark = bloscpack::blosc::ChunkHeader::END_MARK;
        file.extend_from_slice(&mark);
        file.extend_from_slice(
            Hashers::default()
                .digest(Checksum::Sha256, &mark)
                .as_bytes(),
        );
    }
    file
}

#[test]
fn chunks_that_were_swapped_copied_lost_or_slipped_in_are_told_where_the_format_can() {
    let mut random = Random::new(77);
    let mut outcomes = std::collections::BTreeMap::<_, u32>::new();
    for round in 0..2400 {
        let kind = [Kind::Offsets, Kind::Counted, Kind::Stream][round % 3];
        let size = 400 + 8 * random.below(100);
        let item = |data: &[u8]| {
            let mut bytes = chunk(data);
            let digest = Hashers::default().digest(Checksum::Sha256, &bytes);
            bytes.extend_from_slice(digest.as_bytes());
            (bytes, data.len())
        };
        let len = size * (1 + random.below(5)) + random.below(size) + 1;
        let sound: Vec<_> = sensor(len, random.next()).chunks(size).map(item).collect();
        let mut items = sound.clone();
        let (a, b) = (random.below(items.len()), random.below(items.len()));
        match round / 3 % 5 {
            0 => items.swap(a, b),
            1 => items.insert(a, sound[b].clone()),
            2 => drop(items.remove(a)),
            3 => {
                let len = if random.below(2) == 0 {
                    size
                } else {
                    random.below(size) + 1
                };
                items.insert(a, item(&sensor(len, random.next())));
            }
            _ => items[a] = item(&sensor(sound[a].1, random.next())),
        }
        let file = assemble(kind, &sound, &items, size);
        let (delivered, error) = model(kind, &sound, &items, size);
        let mut data = Vec::new();
        let result = Decoder::new(file.as_slice()).read_to_end(&mut data);
        let expected: usize = items[..delivered].iter().map(|(_, len)| len).sum();
        let place = format!("round {round}, {kind:?}, {a} and {b}: {result:?}");
        assert_eq!(data.len(), expected, "{place}");
        let found = result.as_ref().err().map_or(String::new(), |_| {
            let error = bounded("shuffled", &file, 64 * MIB).unwrap_err();
            let category = if matches!(
                error.format_error(),
                Some(FormatError::MissingChunks { .. })
            ) {
                Category::CutShort
            } else {
                Category::Damaged
            };
            assert_eq!(error.category(), category, "{place}");
            let Some(format) = error.format_error() else {
                panic!("{place}")
            };
            format!("{format:?}")
        });
        assert!(
            found.starts_with(error) && found.is_empty() == error.is_empty(),
            "{place}, expected {error}"
        );
        *outcomes.entry((format!("{kind:?}"), error)).or_default() += 1;
    }
    println!("{outcomes:?}");
}
