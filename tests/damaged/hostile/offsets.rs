//! Tests of tables of offsets that do not fit, and of bytes after the last chunk.

use super::{Fields, MIB, PLAIN, bounded, refused};
use crate::hostile::golden::{self, ByHand, Field, Recipe, chunk, parts, sensor};
use bloscpack::{
    Category, Checksum, FormatVersion,
    wire::{Hashers, Section},
};

/// A file with three chunks whose table can be overwritten.
fn with_table(layout: FormatVersion, change: impl Fn(&mut Vec<i64>)) -> Vec<u8> {
    let mut file = match layout {
        FormatVersion::V3 => Recipe::new(Checksum::Crc32).make(),
        _ => {
            let pieces = sensor(700, 3).chunks(256).map(<[u8]>::to_vec).collect();
            ByHand::v2(Checksum::Crc32, pieces).make()
        }
    };
    let map = parts(&file);
    let entries = map
        .iter()
        .filter(|part| matches!(part.field, Field::Offset | Field::SpareOffset));
    let places: Vec<_> = entries.map(|part| part.at.clone()).collect();
    let mut table = places
        .iter()
        .map(|at| golden::i64_at(&file, at.start))
        .collect();
    change(&mut table);
    for (at, entry) in places.into_iter().zip(table) {
        file[at].copy_from_slice(&entry.to_le_bytes());
    }
    file
}

#[test]
fn tables_of_offsets_that_do_not_fit_are_damaged() {
    use Category::Damaged;
    use Section::{Chunk, Offsets, Spare};
    for layout in [FormatVersion::V3, FormatVersion::V2] {
        let sound = with_table(layout, |_| {});
        assert_eq!(bounded("sound", &sound, 64 * MIB).unwrap(), 700);
        let in_table = |name, change: &dyn Fn(&mut Vec<i64>)| {
            let file = with_table(layout, change);
            refused(name, &file, Damaged, Offsets, "Offset {");
        };
        for entry in 0..3 {
            in_table("into the header", &|table| table[entry] = 8);
            in_table("into the table", &|table| table[entry] = 32);
            in_table("below zero", &|table| table[entry] = -2);
            in_table("far below zero", &|table| table[entry] = i64::MIN);
            in_table("partly -1", &|table| table[entry] = -1);
            in_table("partly -1", &|table| {
                (0..3)
                    .filter(|other| *other != entry)
                    .for_each(|other| table[other] = -1);
            });
        }
        in_table("all the same", &|table| {
            let first = table[0];
            table[..3].fill(first);
        });
        in_table("overlapping", &|table| table[1] = table[0] + 15);
        in_table("overlapping", &|table| table[2] = table[1] + 15);
        in_table("descending", &|table| table.swap(1, 2));
        in_table("first too late", &|table| table[0] += 1);
        in_table("first outside", &|table| table[0] = i64::MAX);
        if layout == FormatVersion::V3 {
            for spare in 3..6 {
                for entry in [0, 1, 100_000, i64::MAX, i64::MIN, -2] {
                    in_table("spare", &|table| table[spare] = entry);
                }
            }
        }
        // Errors that the table alone does not show appear in the chunks.
        for entry in 1..3 {
            for (name, change) in [("a byte late", 1), ("far outside", 1 << 40)] {
                let file = with_table(layout, |table| {
                    table[entry..3]
                        .iter_mut()
                        .for_each(|entry| *entry += change);
                });
                if layout == FormatVersion::V3 {
                    refused(name, &file, Damaged, Chunk, "Offset {");
                } else {
                    // There might be spare space, but that would be zeros.
                    refused(name, &file, Damaged, Spare, "Spare {");
                }
            }
            let file = with_table(layout, |table| table[entry] -= 1);
            refused("a byte early", &file, Damaged, Chunk, "Offset {");
        }
        let outside = with_table(layout, |table| table[2] = i64::MAX);
        let error = bounded("outside", &outside, 64 * MIB).unwrap_err();
        assert_eq!(error.category(), Damaged, "{error}");
    }
}

#[test]
fn what_follows_the_last_chunk_belongs_to_nothing() {
    use Category::Damaged;
    use Section::Trailer;
    let v3 = Recipe {
        seek: Some(false),
        ..Recipe::new(Checksum::Crc32)
    }
    .make();
    let v2 = Recipe {
        layout: FormatVersion::V2,
        ..Recipe::new(Checksum::Crc32)
    }
    .make();
    let stream = Recipe {
        seek: None,
        size_known: false,
        ..Recipe::new(Checksum::Crc32)
    }
    .make();
    for file in [&v3, &v2, &stream] {
        for tail in [
            b"x".as_slice(),
            b"junk",
            &[7; 5000],
            b"blpx and more",
            &[0x1f, 0x8b],
        ] {
            let input = [file.as_slice(), tail].concat();
            let error = bounded("tail", &input, 64 * MIB).unwrap_err();
            assert_eq!(error.category(), Damaged, "{tail:?}: {error}");
        }
        let mut extra = chunk(&sensor(100, 3));
        extra.extend_from_slice(
            Hashers::default()
                .digest(Checksum::Crc32, &extra)
                .as_bytes(),
        );
        let input = [file.as_slice(), &extra].concat();
        refused("a chunk more", &input, Damaged, Trailer, "UncountedChunk");
        let torn = [file.as_slice(), b"blp"].concat();
        refused(
            "torn member",
            &torn,
            Category::CutShort,
            Trailer,
            "TornHeader",
        );
        for bit in 0..32 {
            let mut member = b"blpk".to_vec();
            member[bit / 8] ^= 1 << (bit % 8);
            let input = [file.as_slice(), &member, &v3[4..]].concat();
            refused(
                "nearly a member",
                &input,
                Damaged,
                Section::Header,
                "MemberMagic",
            );
        }
    }
    // Without a checksum, trailing bytes are passed over as the reference does, but not a chunk.
    let bare = PLAIN.with(&chunk(&[1; 100]));
    let input = [bare.as_slice(), b"junk"].concat();
    assert_eq!(bounded("junk", &input, 64 * MIB).unwrap(), 100);
    let input = [bare.as_slice(), &chunk(&[2; 20])].concat();
    refused("a chunk more", &input, Damaged, Trailer, "UncountedChunk");
    let mark = [2, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0];
    let early = Fields {
        nchunks: 2,
        ..PLAIN
    }
    .with(&[chunk(&[1; 100]), mark.to_vec()].concat());
    refused("early end", &early, Damaged, Section::Chunk, "EarlyEndMark");
}
