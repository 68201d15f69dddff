//! Files that no encoder of ours writes, but that readers take: chunks of no bytes, sizes known by
//! half, a last chunk longer than the others, a table of unknown length.

use crate::golden::sensor;
use crate::{NAME, append, check, name};
use bloscpack::blosc::{ChunkEncoder, ChunkHeader, ChunkSettings};
use bloscpack::storage::Memory;
use bloscpack::{Category, Checksum, Editor, Header, Layout, Metadata};
use std::io::Write;

/// A file with this header and these chunks, whose table, if there is one, has no spare entries.
fn file(header: Header, chunks: &[&[u8]]) -> Memory {
    file_with(ChunkSettings::default(), header, chunks)
}

fn file_with(settings: ChunkSettings, header: Header, chunks: &[&[u8]]) -> Memory {
    let header = Header {
        checksum: Checksum::None,
        nchunks: header.nchunks.or(Some(chunks.len() as u64)),
        ..header
    };
    let mut encoder = ChunkEncoder::new(settings).unwrap();
    let mut packed = Vec::new();
    for chunk in chunks {
        let mut bytes = Vec::new();
        encoder.encode(chunk, &mut bytes).unwrap();
        packed.push(bytes);
    }
    let mut bytes = header.encode().unwrap();
    let mut at = bytes.len() + 8 * packed.len();
    for chunk in packed.iter().filter(|_| header.offsets) {
        bytes.extend_from_slice(&(at as u64).to_le_bytes());
        at += chunk.len();
    }
    bytes.extend(packed.concat());
    Memory::from([(NAME, bytes)])
}

fn open(folder: &Memory) -> Editor<Memory> {
    Editor::open_in(folder.clone(), name()).unwrap()
}

/// Appends to a file, patches it where it was and where it is new, and checks it after each step.
fn change(folder: &Memory, chunks: &[&[u8]], more: usize) {
    let mut model = chunks.concat();
    check(folder, &model, None);
    let mut editor = open(folder);
    for seed in [1, 2] {
        let more = sensor(more, seed);
        append(&mut editor, &more).unwrap();
        model.extend_from_slice(&more);
        check(folder, &model, None);
    }
    let patch = vec![7; model.len() / 2];
    let at = model.len() / 4;
    editor.patch(at as u64, patch.as_slice()).unwrap();
    model[at..at + patch.len()].copy_from_slice(&patch);
    check(folder, &model, None);
}

#[test]
fn sizes_known_by_half_stay_true() {
    let (long, short) = (sensor(1000, 1), sensor(300, 2));
    for (layout, offsets) in [
        (Layout::V2, false),
        (Layout::V2, true),
        (Layout::V3, false),
        (Layout::V3, true),
    ] {
        for (chunk_size, last_chunk) in [(Some(1000), None), (None, Some(300)), (None, None)] {
            for more in [10, 5000] {
                let header = Header {
                    chunk_size,
                    last_chunk,
                    offsets,
                    ..Header::new(layout)
                };
                let chunks = [long.as_slice(), &long, &short];
                change(&file(header, &chunks), &chunks, more);
            }
        }
    }
}

#[test]
fn chunks_of_no_bytes_stay_where_they_are() {
    let data = sensor(1000, 1);
    let layouts: [&[&[u8]]; 6] = [
        &[&[], &[]],
        &[&[], &[], &[]],
        &[&[], &data],
        &[&data, &[]],
        &[&data, &data, &[]],
        &[&[], &[], &data],
    ];
    for chunks in layouts {
        for layout in [Layout::V1, Layout::V2, Layout::V3] {
            let (first, last) = (
                chunks[0].len() as u32,
                chunks[chunks.len() - 1].len() as u32,
            );
            if layout == Layout::V3 && last > first {
                continue;
            }
            let known = layout != Layout::V1;
            for offsets in [false, known] {
                let header = Header {
                    chunk_size: known.then_some(first),
                    last_chunk: known.then_some(last),
                    offsets,
                    ..Header::new(layout)
                };
                change(&file(header, chunks), chunks, 700);
            }
        }
    }
}

#[test]
fn a_last_chunk_longer_than_the_others_is_cut_up() {
    let (short, long) = (sensor(100, 1), sensor(350, 2));
    let chunks = [short.as_slice(), &short, &long];
    for (layout, known, offsets) in [
        (Layout::V1, false, false),
        (Layout::V2, true, false),
        (Layout::V2, true, true),
        (Layout::V3, false, true),
    ] {
        let header = || Header {
            chunk_size: known.then_some(100),
            last_chunk: known.then_some(350),
            offsets,
            ..Header::new(layout)
        };
        change(&file(header(), &chunks), &chunks, 120);
        if layout == Layout::V1 {
            continue;
        }
        // Metadata and not a byte more.
        let folder = file(header(), &chunks);
        let mut editor = open(&folder);
        for metadata in ["[1]", "[2]", "[1, 2, 3]"] {
            let mut appender = editor.append().unwrap();
            let new = Metadata::from_json(metadata).unwrap();
            appender.set_metadata(&new).unwrap();
            assert_eq!(appender.finish().unwrap(), 0);
            check(&folder, &chunks.concat(), Some(metadata));
        }
    }
}

#[test]
fn a_table_of_unknown_length_is_left_alone() {
    let chunk = |data: &[u8]| {
        let mut bytes = Vec::new();
        let mut encoder = ChunkEncoder::new(ChunkSettings::default()).unwrap();
        encoder.encode(data, &mut bytes).unwrap();
        bytes
    };
    let data = sensor(3000, 1);
    for layout in [Layout::V2, Layout::V3] {
        for entries in [1, 3, 9] {
            let header = Header {
                offsets: true,
                checksum: Checksum::None,
                chunk_size: Some(1000),
                ..Header::new(layout)
            };
            let mut bytes = header.encode().unwrap();
            bytes.extend_from_slice(&vec![0xff; 8 * entries]);
            for piece in data.chunks(1000) {
                bytes.extend(chunk(piece));
            }
            bytes.extend_from_slice(&ChunkHeader::END_MARK);
            assert_eq!(bloscpack::decompress(&bytes).unwrap(), data);
            let folder = Memory::from([(NAME, bytes.clone())]);
            let error = Editor::open_in(folder.clone(), name()).and_then(|mut editor| {
                editor.reindex()?;
                editor.set_metadata(&Metadata::from_json("1")?)?;
                append(&mut editor, b"more")
            });
            let Err(error) = error else {
                panic!("{layout} {entries}: changed to {:?}", folder.bytes(NAME));
            };
            assert_eq!(error.category(), Category::Usage, "{error}");
            assert_eq!(folder.bytes(NAME).unwrap(), bytes);
        }
    }
}

#[test]
fn spare_offsets_that_no_memory_holds_are_refused() {
    let data = sensor(2000, 1);
    for spare in [1 << 40, 1 << 61, u64::MAX] {
        let header = Header {
            chunk_size: Some(1000),
            last_chunk: Some(1000),
            offsets: true,
            ..Header::new(Layout::V3)
        };
        let folder = file(header, &[&data[..1000], &data[1000..]]);
        let before = folder.bytes(NAME);
        let options = Editor::builder().max_app_chunks(spare);
        let done = options
            .open_in(folder.clone(), name())
            .and_then(|mut editor| {
                let mut appender = editor.append()?;
                appender.write_all(b"more")?;
                appender.finish()
            });
        assert_eq!(done.unwrap_err().category(), Category::Usage);
        assert_eq!(folder.bytes(NAME), before);
    }
}

#[test]
fn typesizes_and_block_sizes_of_all_kinds_go_on() {
    let data = sensor(5000, 1);
    let chunks = [&data[..2000], &data[2000..4000], &data[4000..]];
    for typesize in [0, 1, 2, 17, 255] {
        for blocksize in [None, Some(128), Some(1000), Some(1 << 20)] {
            let settings = ChunkSettings {
                typesize: typesize.max(1),
                blocksize,
                ..ChunkSettings::default()
            };
            let header = Header {
                chunk_size: Some(2000),
                last_chunk: Some(1000),
                typesize: Some(typesize),
                offsets: true,
                ..Header::new(Layout::V3)
            };
            change(&file_with(settings, header, &chunks), &chunks, 9000);
        }
    }
}

/// The reference's append leaves such bytes; a change may cut them off, and never takes them in.
#[test]
fn bytes_behind_the_end_never_become_content() {
    let data = sensor(2500, 1);
    let chunks = [&data[..1000], &data[1000..2000], &data[2000..]];
    let stale = sensor(700, 2);
    for (offsets, filled) in [(true, true), (true, false), (false, false)] {
        for more in [0, 1, 100, 600, 5000] {
            let header = Header {
                chunk_size: Some(1000),
                last_chunk: Some(500),
                offsets,
                ..Header::new(Layout::V3)
            };
            let mut bytes = file(header, &chunks).bytes(NAME).unwrap();
            if offsets && !filled {
                bytes[32..56].fill(0xff);
            }
            bytes.extend_from_slice(&stale);
            let folder = Memory::from([(NAME, bytes)]);
            let mut model = data.clone();
            let mut editor = open(&folder);
            let check = |model: &[u8]| {
                let now = folder.bytes(NAME).unwrap();
                assert!(bloscpack::decompress(&now).unwrap() == model);
                let open = open_at(&folder);
                assert!(open == model);
            };
            editor.patch(2400, [1; 100].as_slice()).unwrap();
            model[2400..].fill(1);
            check(&model);
            for text in ["1", "[1, 2]"] {
                let metadata = Metadata::from_json(text).unwrap();
                editor.set_metadata(&metadata).unwrap();
                check(&model);
            }
            let more = sensor(more, 3);
            append(&mut editor, &more).unwrap();
            model.extend_from_slice(&more);
            check(&model);
            assert_eq!(editor.content_len(), model.len() as u64);
        }
    }
}

/// The content through a reader that goes by the table.
fn open_at(folder: &Memory) -> Vec<u8> {
    let reader = bloscpack::IndexedReader::open(folder.bytes(NAME).unwrap()).unwrap();
    let mut content = Vec::new();
    reader.copy_range(0..u64::MAX, &mut content).unwrap();
    content
}
