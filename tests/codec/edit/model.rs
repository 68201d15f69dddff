//! Tests that a file created, appended to, patched and given other metadata in any order has the content of a plain
//! `Vec<u8>`.

use crate::edit::{NAME, check, name, names};
use bloscpack::storage::Memory;
use bloscpack::{Checksum, Compressor, Encoder, Filter, FormatVersion, Metadata, edit::Editor};
use proptest::prelude::*;
use std::io::{Cursor, Write};

/// The creation of a file, and the operations on it.
#[derive(Clone, Debug)]
struct Making {
    layout: FormatVersion,
    offsets: bool,
    stream: bool,
    metadata: bool,
    checksum: Checksum,
    compressor: Compressor,
    filter: Filter,
    typesize: u8,
    chunk_size: u32,
    max_app_chunks: Option<u64>,
    spare_space: u32,
    data: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<u8>),
    Patch(prop::sample::Index, Vec<u8>),
    Metadata(usize),
    Reopen,
}

/// Bytes that may or may not compress well.
fn data(most: usize) -> impl Strategy<Value = Vec<u8>> {
    let run = (any::<u8>(), 1..400usize).prop_map(|(byte, len)| vec![byte; len]);
    let count = (any::<u16>(), 1..100u16).prop_map(|(from, len)| {
        (0..len)
            .flat_map(move |i| from.wrapping_add(i).to_le_bytes())
            .collect()
    });
    let noise = prop::collection::vec(any::<u8>(), 0..300);
    let piece = prop_oneof![run, count, noise];
    prop::collection::vec(piece, 0..12).prop_map(move |pieces: Vec<Vec<u8>>| {
        let mut all = pieces.concat();
        all.truncate(most);
        all
    })
}

fn making() -> impl Strategy<Value = Making> {
    let layout = prop::sample::select(vec![
        FormatVersion::V1,
        FormatVersion::V2,
        FormatVersion::V3,
        FormatVersion::V3,
    ]);
    let checksum = prop::sample::select(Checksum::ALL.to_vec());
    let compressor = prop::sample::select(vec![
        Compressor::Lz4,
        Compressor::Blosclz,
        Compressor::Zlib,
        Compressor::Snappy,
        Compressor::Zstd,
    ]);
    let filter = prop::sample::select(vec![Filter::None, Filter::Byte, Filter::Bit]);
    let kind = (
        layout,
        any::<bool>(),
        prop::bool::weighted(0.2),
        any::<bool>(),
        checksum,
    );
    let chunks = (
        compressor,
        filter,
        prop::sample::select(vec![1u8, 2, 4, 8, 17]),
        1..900u32,
    );
    (
        kind,
        chunks,
        (prop::option::of(0..6u64), 0..60u32),
        data(3000),
    )
        .prop_map(
            |(
                (layout, offsets, stream, metadata, checksum),
                (compressor, filter, typesize, chunk_size),
                (max_app_chunks, spare_space),
                data,
            )| {
                let is_v1 = layout == FormatVersion::V1;
                Making {
                    layout,
                    offsets: offsets && !is_v1,
                    stream: stream && !is_v1,
                    metadata: metadata && !is_v1,
                    checksum: if is_v1 { Checksum::None } else { checksum },
                    compressor,
                    filter,
                    typesize,
                    chunk_size,
                    max_app_chunks,
                    spare_space: if layout == FormatVersion::V2 && offsets && !stream {
                        spare_space
                    } else {
                        0
                    },
                    data,
                }
            },
        )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => data(2500).prop_map(Step::Append),
        3 => (any::<prop::sample::Index>(), data(700)).prop_map(|(at, data)| Step::Patch(at, data)),
        1 => (0..800usize).prop_map(Step::Metadata),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..8)
}

impl Making {
    fn file(&self) -> Vec<u8> {
        let mut options = Encoder::builder()
            .version(self.layout)
            .offsets(self.offsets)
            .checksum(self.checksum)
            .compressor(self.compressor)
            .filter(self.filter)
            .typesize(self.typesize)
            .chunk_size(self.chunk_size)
            .spare_space(self.spare_space);
        if self.metadata {
            options = options.metadata(Metadata::from_json(r#"{"a": [1, 2], "b": "c"}"#).unwrap());
        }
        if let Some(spare) = self.max_app_chunks {
            options = options.max_app_chunks(spare);
        }
        if self.stream {
            let mut encoder = options.write_to(Vec::new()).unwrap();
            encoder.write_all(&self.data).unwrap();
            return encoder.finish().unwrap();
        }
        let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
        encoder.write_all(&self.data).unwrap();
        encoder.finish().unwrap().into_inner()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(testkit::effort::models(2500)))]

    #[test]
    fn a_file_is_as_a_vec(making in making(), steps in steps()) {
        let folder = Memory::from([(NAME, making.file())]);
        let mut model = making.data.clone();
        let mut metadata = making.metadata.then(|| r#"{"a": [1, 2], "b": "c"}"#.to_owned());
        check(&folder, &model, metadata.as_deref());
        let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
        for step in &steps {
            match step {
                Step::Append(data) => {
                    let mut appender = editor.append().unwrap();
                    appender.write_all(data).unwrap();
                    prop_assert_eq!(appender.finish().unwrap(), data.len() as u64);
                    model.extend_from_slice(data);
                }
                Step::Patch(at, data) => {
                    let at = at.index(model.len() + 1);
                    let fits = at + data.len() <= model.len();
                    let done = editor.patch(at as u64, data.as_slice());
                    prop_assert_eq!(done.is_ok(), fits);
                    if fits {
                        model[at..at + data.len()].copy_from_slice(data);
                    }
                }
                Step::Metadata(len) => {
                    let text = format!("\"{}\"", "x".repeat(*len));
                    let new = Metadata::from_json(text.clone()).unwrap();
                    let done = editor.set_metadata(&new);
                    prop_assert_eq!(done.is_ok(), making.layout != FormatVersion::V1);
                    if making.layout != FormatVersion::V1 {
                        metadata = Some(text);
                    }
                }
                Step::Reopen => {
                    drop(editor);
                    prop_assert_eq!(names(&folder), vec![NAME]);
                    editor = Editor::open_in(folder.clone(), name()).unwrap();
                }
            }
            prop_assert_eq!(editor.content_len(), model.len() as u64);
            check(&folder, &model, metadata.as_deref());
        }
    }
}
