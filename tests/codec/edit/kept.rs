//! Tests that a change keeps settings, layout, and all chunks that it does not touch.

use crate::edit::golden::sensor;
use crate::edit::{NAME, append, check, name};
use bloscpack::storage::Memory;
use bloscpack::wire::Offsets;
use bloscpack::{
    Compressor, Encoder, Filter, FormatVersion, Options,
    edit::Editor,
    survey::{Member, Survey},
};
use std::io::{Cursor, Write};

fn file(options: bloscpack::EncoderBuilder, data: &[u8]) -> Memory {
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(data).unwrap();
    Memory::from([(NAME, encoder.finish().unwrap().into_inner())])
}

fn open(folder: &Memory) -> Editor<Memory> {
    Editor::open_in(folder.clone(), name()).unwrap()
}

fn member(folder: &Memory) -> Member {
    let file = folder.bytes(NAME).unwrap();
    let survey = Survey::of(file.as_slice(), &Options::new()).unwrap();
    survey.members[0].clone()
}

/// A file that was appended to is as long as one that was written at once: codec, filter and typesize are the same, and so is
/// the level if it is given, or the default.
#[test]
fn what_is_appended_is_compressed_as_what_is_there() {
    let data = sensor(200_000, 3);
    for compressor in Compressor::ALL {
        for (level, filter, typesize) in [
            (Some(1), Filter::Byte, 2),
            (None, Filter::Bit, 2),
            (Some(9), Filter::None, 4),
        ] {
            let options = || {
                let options = Encoder::builder()
                    .compressor(compressor)
                    .filter(filter)
                    .typesize(typesize)
                    .chunk_size(20_000)
                    .max_app_chunks(100);
                level
                    .into_iter()
                    .fold(options, bloscpack::EncoderBuilder::level)
            };
            let whole = file(options(), &data);
            let grown = file(options(), &data[..50_000]);
            let mut appending = level
                .into_iter()
                .fold(Editor::builder(), bloscpack::edit::EditorBuilder::level);
            if compressor == Compressor::Lz4hc {
                // Its chunks are those of LZ4.
                appending = appending.compressor(compressor);
            }
            let mut editor = appending.open_in(grown.clone(), name()).unwrap();
            append(&mut editor, &data[50_000..]).unwrap();
            check(&grown, &data, None);
            let (whole, grown) = (member(&whole), member(&grown));
            assert_eq!(
                whole.compressed, grown.compressed,
                "{compressor} {level:?} {filter}"
            );
            assert_eq!(whole.filters, grown.filters);
            assert_eq!(whole.header.typesize, grown.header.typesize);
        }
    }
}

#[test]
fn told_settings_are_taken() {
    let data = sensor(60_000, 4);
    let folder = file(Encoder::builder().chunk_size(10_000), &data[..30_000]);
    let options = Editor::builder()
        .compressor(Compressor::Zstd)
        .filter(Filter::Bit)
        .typesize(2);
    let mut editor = options.open_in(folder.clone(), name()).unwrap();
    append(&mut editor, &data[30_000..]).unwrap();
    check(&folder, &data, None);
    let member = member(&folder);
    assert!(member.filters.contains(&Filter::Bit) && member.filters.contains(&Filter::Byte));
    assert_eq!(member.compressors.len(), 2);
}

#[test]
fn a_table_that_is_full_grows() {
    let data = sensor(40_000, 5);
    let options = Encoder::builder().chunk_size(1000).max_app_chunks(2);
    let folder = file(options, &data[..5000]);
    let mut editor = open(&folder);
    for (number, piece) in data[5000..].chunks(1000).enumerate() {
        append(&mut editor, piece).unwrap();
        let end = 6000 + 1000 * number;
        check(&folder, &data[..end], None);
        let member = member(&folder);
        assert!(matches!(&member.offsets, Offsets::Filled(table) if table.len() == end / 1000));
        assert_eq!(member.state, bloscpack::survey::State::Complete);
    }
    // It grew once, with eight chunks, and now has room for ten times as many more.
    assert_eq!(editor.header().max_app_chunks, 8 + 80 - 40);
}

/// One chunk of a file says nothing of how long chunks are to be.
#[test]
fn small_and_empty_files_do_not_stay_with_small_chunks() {
    for len in [0, 1, 100] {
        let data = sensor(3_000_000, 6);
        let folder = file(Encoder::builder().size(len as u64), &data[..len]);
        append(&mut open(&folder), &data[len..]).unwrap();
        check(&folder, &data, None);
        assert_eq!(member(&folder).header.chunk_size, Some(1 << 20));
        assert_eq!(member(&folder).chunks, 3);
    }
}

#[test]
fn a_patch_leaves_all_other_chunks_alone() {
    let data = sensor(100_000, 7);
    let folder = file(Encoder::builder().chunk_size(10_000), &data);
    let before = folder.bytes(NAME).unwrap();
    let member = member(&folder);
    let Offsets::Filled(table) = &member.offsets else {
        return assert!(member.header.offsets, "{member:?}");
    };
    open(&folder).patch(34_000, [1u8; 5000].as_slice()).unwrap();
    let after = folder.bytes(NAME).unwrap();
    let mut model = data;
    model[34_000..39_000].fill(1);
    check(&folder, &model, None);
    let (from, to) = (table[3] as usize, table[4] as usize);
    // Less data is shorter, so that the chunk keeps its room.
    assert_eq!(before.len(), after.len());
    assert_eq!(before[..from], after[..from]);
    assert_eq!(before[to..], after[to..]);
    assert_ne!(before[from..to], after[from..to]);
}

#[test]
fn spare_space_takes_a_chunk_that_grows() {
    let data = vec![7u8; 50_000];
    let options = |spare| {
        Encoder::builder()
            .version(FormatVersion::V2)
            .chunk_size(10_000)
            .spare_space(spare)
    };
    let noise = sensor(300, 8);
    for (spare, stays) in [(400, true), (10, false)] {
        let folder = file(options(spare), &data);
        let before = folder.bytes(NAME).unwrap();
        open(&folder).patch(21_000, noise.as_slice()).unwrap();
        let mut model = data.clone();
        model[21_000..21_300].copy_from_slice(&noise);
        check(&folder, &model, None);
        assert_eq!(folder.bytes(NAME).unwrap().len() == before.len(), stays);
        assert!(member(&folder).header.seal.is_some());
    }
}

#[test]
fn a_stream_becomes_a_file_with_offsets() {
    let data = sensor(30_000, 9);
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        let options = Encoder::builder().version(layout).chunk_size(4000);
        let mut encoder = options.write_to(Vec::new()).unwrap();
        encoder.write_all(&data[..9000]).unwrap();
        let folder = Memory::from([(NAME, encoder.finish().unwrap())]);
        append(&mut open(&folder), &data[9000..]).unwrap();
        check(&folder, &data, None);
        let member = member(&folder);
        assert_eq!(member.header.nchunks, Some(8));
        assert!(matches!(member.offsets, Offsets::Filled(_)));
    }
}

#[test]
fn offsets_of_minus_one_are_filled_in() {
    let data = sensor(30_000, 10);
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        let folder = file(Encoder::builder().version(layout).chunk_size(4000), &data);
        let whole = folder.bytes(NAME).unwrap();
        let (mut blank, entries) = (whole.clone(), 8);
        blank[32..32 + 8 * entries].fill(0xff);
        // Without its seal, nothing shows that the table was once filled.
        if layout == FormatVersion::V2 {
            blank[5] &= !8;
            blank[28..32].fill(0);
        }
        let folder = Memory::from([(NAME, blank)]);
        assert_eq!(member(&folder).state, bloscpack::survey::State::Unindexed);
        assert!(open(&folder).reindex().unwrap());
        assert!(!open(&folder).reindex().unwrap());
        check(&folder, &data, None);
        let found = folder.bytes(NAME).unwrap();
        assert_eq!(found[32..], whole[32..]);
    }
}
