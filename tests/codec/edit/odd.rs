//! Tests of files that our encoders do not write, but that readers accept: empty chunks, sizes known only in part, a
//! last chunk longer than the others, a table of unknown length.

use crate::edit::golden::{Random, sensor};
use crate::edit::{NAME, append, check, name};
use bloscpack::blosc::{ChunkEncoder, ChunkHeader, ChunkSettings};
use bloscpack::storage::Memory;
use bloscpack::{
    Category, Checksum, FormatVersion, Metadata,
    edit::Editor,
    wire::{Hashers, Header},
};
use std::io::Write;
use testkit::effort;

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
        (FormatVersion::V2, false),
        (FormatVersion::V2, true),
        (FormatVersion::V3, false),
        (FormatVersion::V3, true),
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
        for layout in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
            let (first, last) = (
                chunks[0].len() as u32,
                chunks[chunks.len() - 1].len() as u32,
            );
            if layout == FormatVersion::V3 && last > first {
                continue;
            }
            let known = layout != FormatVersion::V1;
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
        (FormatVersion::V1, false, false),
        (FormatVersion::V2, true, false),
        (FormatVersion::V2, true, true),
        (FormatVersion::V3, false, true),
    ] {
        let header = || Header {
            chunk_size: known.then_some(100),
            last_chunk: known.then_some(350),
            offsets,
            ..Header::new(layout)
        };
        change(&file(header(), &chunks), &chunks, 120);
        if layout == FormatVersion::V1 {
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
    for layout in [FormatVersion::V2, FormatVersion::V3] {
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
            assert_eq!(error.category(), Category::Unsupported, "{error}");
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
            ..Header::new(FormatVersion::V3)
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
            let settings = ChunkSettings::default()
                .typesize(typesize.max(1))
                .blocksize(blocksize);
            let header = Header {
                chunk_size: Some(2000),
                last_chunk: Some(1000),
                typesize: Some(typesize),
                offsets: true,
                ..Header::new(FormatVersion::V3)
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
                ..Header::new(FormatVersion::V3)
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
    let reader = bloscpack::indexed::IndexedReader::open(folder.bytes(NAME).unwrap()).unwrap();
    let mut content = Vec::new();
    reader.copy_range(0..u64::MAX, &mut content).unwrap();
    content
}

#[test]
fn files_and_streams_without_a_chunk_grow() {
    for layout in [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3] {
        for (offsets, is_stream, spare, size) in [
            (false, false, 0, None),
            (false, false, 0, Some(0)),
            (false, false, 0, Some(1000)),
            (true, false, 0, Some(1000)),
            (true, false, 0, None),
            (true, false, 3, Some(0)),
            (false, true, 0, Some(1000)),
            (false, true, 0, None),
            (false, true, 0, Some(0)),
        ] {
            if layout == FormatVersion::V1 && (offsets || is_stream || size.is_some()) {
                continue;
            }
            let header = Header {
                checksum: Checksum::None,
                nchunks: (!is_stream).then_some(0),
                max_app_chunks: if layout == FormatVersion::V3 {
                    spare
                } else {
                    0
                },
                chunk_size: size,
                offsets,
                ..Header::new(layout)
            };
            let mut bytes = header.encode().unwrap();
            bytes.resize(bytes.len() + 8 * header.max_app_chunks as usize, 0xff);
            if is_stream {
                bytes.extend_from_slice(&ChunkHeader::END_MARK);
            }
            for more in [1, 700, 3_000_000] {
                change(&Memory::from([(NAME, bytes.clone())]), &[], more);
            }
        }
    }
}

/// Streams of a few chunks whose headers declare different combinations of their sizes.
#[test]
fn streams_grow_and_change_whatever_their_header_tells() {
    let data = sensor(2500, 1);
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        for chunks in [1, 2, 3] {
            let chunks: Vec<_> = data.chunks(1000).take(chunks).collect();
            let last = chunks[chunks.len() - 1].len() as u32;
            for chunk_size in [None, Some(1000)] {
                for last_chunk in [None, Some(last)] {
                    let header = Header {
                        chunk_size,
                        last_chunk,
                        ..Header::new(layout)
                    };
                    let mut bytes = file(header, &chunks).bytes(NAME).unwrap();
                    bytes[16..24].fill(0xff);
                    let bytes = [bytes, ChunkHeader::END_MARK.to_vec()].concat();
                    if bloscpack::decompress(&bytes).is_err() {
                        continue;
                    }
                    for more in [10, 5000] {
                        let folder = Memory::from([(NAME, bytes.clone())]);
                        let mut editor = open(&folder);
                        let metadata = Metadata::from_json("[1]").unwrap();
                        editor.set_metadata(&metadata).unwrap();
                        check(&folder, &chunks.concat(), Some("[1]"));
                        editor.set_metadata(&metadata).unwrap();
                        let more = sensor(more, 1);
                        append(&mut editor, &more).unwrap();
                        check(&folder, &[chunks.concat(), more].concat(), Some("[1]"));
                        let folder = Memory::from([(NAME, bytes.clone())]);
                        change(&folder, &chunks, 800);
                    }
                }
            }
        }
    }
}

/// A file of any layout with chunks of any lengths, whose header declares as many sizes as it may, and its content.
fn any_file(random: &mut Random) -> (Header, Vec<u8>, Vec<u8>) {
    let layout = [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3][random.below(3)];
    let full = random.below(900);
    let count = random.below(7);
    let mut lens: Vec<_> = (0..count).map(|_| full).collect();
    let uneven = layout == FormatVersion::V1 || random.below(3) == 0;
    for len in lens.iter_mut().filter(|_| uneven) {
        *len = random.below(900) * random.below(2);
    }
    if let Some(last) = lens.last_mut() {
        *last = random.below(if layout == FormatVersion::V3 && !uneven {
            full + 1
        } else {
            1500
        });
    }
    let last = lens.last().map(|len| *len as u32);
    let known = |random: &mut Random, size| (random.below(3) > 0).then_some(size);
    let header = if layout == FormatVersion::V1 {
        Header {
            nchunks: Some(count as u64),
            ..Header::new(layout)
        }
    } else {
        let offsets = random.below(3) > 0;
        Header {
            checksum: Checksum::ALL[random.below(9)],
            typesize: Some([0, 1, 2, 8, 255][random.below(5)]),
            chunk_size: if uneven {
                None
            } else {
                known(random, full as u32)
            },
            last_chunk: known(random, last.unwrap_or(0)),
            nchunks: Some(count as u64),
            max_app_chunks: if layout == FormatVersion::V3 && offsets {
                random.below(6) as u64
            } else {
                0
            },
            offsets,
            ..Header::new(layout)
        }
    };
    let (data, table) = (
        sensor(lens.iter().sum(), random.next()),
        header.table_len().unwrap_or(0),
    );
    let (mut bytes, mut chunks, mut from) = (header.encode().unwrap(), Vec::new(), 0);
    let at = bytes.len() + 8 * table as usize;
    let has_spare = layout == FormatVersion::V2 && header.offsets && random.below(2) > 0;
    let filled = has_spare || random.below(4) > 0;
    for len in &lens {
        let settings = ChunkSettings::default().level(random.below(10) as u8);
        let mut chunk = Vec::new();
        let mut encoder = ChunkEncoder::new(settings).unwrap();
        encoder.encode(&data[from..from + len], &mut chunk).unwrap();
        let digest = Hashers::default().digest(header.checksum, &chunk);
        chunk.extend_from_slice(digest.as_bytes());
        chunk.resize(
            chunk.len() + if has_spare { random.below(200) } else { 0 },
            0,
        );
        if header.offsets {
            let entry = if filled {
                (at + chunks.len()) as u64
            } else {
                u64::MAX
            };
            bytes.extend_from_slice(&entry.to_le_bytes());
        }
        chunks.extend(chunk);
        from += len;
    }
    bytes.resize(at, 0xff);
    bytes.extend(chunks);
    (header, bytes, data)
}

#[test]
fn files_of_any_chunks_are_as_a_vec() {
    for seed in 0..effort::cases(4000, 10) as u64 {
        let mut random = Random::new(seed);
        let (header, bytes, mut model) = any_file(&mut random);
        let folder = Memory::from([(NAME, bytes)]);
        let (mut editor, mut metadata) = (open(&folder), None);
        check(&folder, &model, None);
        for _ in 0..1 + random.below(5) {
            let (len, at) = (random.below(1500), random.below(model.len() + 1));
            let data = sensor(len, random.next());
            match random.below(6) {
                0 | 1 => {
                    append(&mut editor, &data).unwrap();
                    model.extend_from_slice(&data);
                }
                2 | 3 => {
                    let data = &data[..len.min(model.len() - at)];
                    editor.patch(at as u64, data).unwrap();
                    model[at..at + data.len()].copy_from_slice(data);
                }
                4 if header.version != FormatVersion::V1 => {
                    let text = format!("\"{}\"", "x".repeat(len));
                    let new = Metadata::from_json(text.clone()).unwrap();
                    if random.below(2) > 0 {
                        editor.set_metadata(&new).unwrap();
                    } else {
                        let mut appender = editor.append().unwrap();
                        appender.set_metadata(&new).unwrap();
                        let data = &data[..len * random.below(2)];
                        appender.write_all(data).unwrap();
                        appender.finish().unwrap();
                        model.extend_from_slice(data);
                    }
                    metadata = Some(text);
                }
                _ if editor.header().offsets => {
                    editor.reindex().unwrap();
                }
                _ => {
                    drop(editor);
                    editor = open(&folder);
                }
            }
            assert_eq!(editor.content_len(), model.len() as u64, "seed {seed}");
            check(&folder, &model, metadata.as_deref());
        }
    }
}
