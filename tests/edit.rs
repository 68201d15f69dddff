//! A file that is created, appended to, patched and given other metadata in any order holds what a
//! plain `Vec<u8>` would.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bloscpack::storage::{Memory, Snapshot};
use bloscpack::{
    Checksum, Compressor, Editor, Encoder, Filter, IndexedReader, Layout, Limits, Metadata, Survey,
};
use proptest::prelude::*;
use std::ffi::OsStr;
use std::io::{Cursor, Write};

const NAME: &str = "a.blp";

fn name() -> &'static OsStr {
    NAME.as_ref()
}

/// How a file is made, and what is done to it.
#[derive(Clone, Debug)]
struct Making {
    layout: Layout,
    offsets: bool,
    stream: bool,
    metadata: bool,
    checksum: Checksum,
    compressor: Compressor,
    filter: Filter,
    typesize: u8,
    chunk_size: u32,
    max_app_chunks: Option<u64>,
    data: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Step {
    Append(Vec<u8>),
    Patch(prop::sample::Index, Vec<u8>),
    Metadata(usize),
    Reopen,
}

/// Bytes that compress now well, now not at all.
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
    let layout = prop::sample::select(vec![Layout::V1, Layout::V2, Layout::V3, Layout::V3]);
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
    (kind, chunks, prop::option::of(0..6u64), data(3000)).prop_map(
        |(
            (layout, offsets, stream, metadata, checksum),
            (compressor, filter, typesize, chunk_size),
            max_app_chunks,
            data,
        )| {
            let is_v1 = layout == Layout::V1;
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
            .layout(self.layout)
            .offsets(self.offsets)
            .checksum(self.checksum)
            .compressor(self.compressor)
            .filter(self.filter)
            .typesize(self.typesize)
            .chunk_size(self.chunk_size);
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

/// What all readers say of the file.
fn check(folder: &Memory, model: &[u8], metadata: Option<&str>) {
    let file = folder.bytes(NAME).unwrap();
    assert_eq!(bloscpack::decompress(&file).unwrap(), model);
    let report = bloscpack::verify(file.as_slice(), Limits::default(), 1).unwrap();
    assert!(
        report.is_sound() && report.warnings.is_empty(),
        "{report:?}"
    );
    let survey = Survey::of(file.as_slice(), &Limits::default()).unwrap();
    let found = survey.members[0].metadata.as_ref();
    assert_eq!(found.map(|metadata| metadata.text().trim_end()), metadata);
    let reader = IndexedReader::open(Snapshot::open_in(folder, name()).unwrap()).unwrap();
    let mut content = vec![0; model.len()];
    reader.read_exact_at(0, &mut content).unwrap();
    assert_eq!(content, model);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

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
                    prop_assert_eq!(done.is_ok(), making.layout != Layout::V1);
                    if making.layout != Layout::V1 {
                        metadata = Some(text);
                    }
                }
                Step::Reopen => {
                    drop(editor);
                    prop_assert_eq!(folder_names(&folder), vec![NAME]);
                    editor = Editor::open_in(folder.clone(), name()).unwrap();
                }
            }
            prop_assert_eq!(editor.content_len(), model.len() as u64);
            check(&folder, &model, metadata.as_deref());
        }
    }
}

fn folder_names(folder: &Memory) -> Vec<String> {
    use bloscpack::storage::Folder;
    let names = folder.list().unwrap();
    names
        .into_iter()
        .map(|name| name.into_string().unwrap())
        .collect()
}

/// Files of some content and metadata, and the folder that they are in.
fn with_metadata(content: &[u8], metadata: &str) -> Memory {
    let metadata = Metadata::from_json(metadata.as_bytes().to_vec()).unwrap();
    let options = Encoder::builder().metadata(metadata).chunk_size(1000);
    let mut encoder = options.write_to_file(Cursor::new(Vec::new())).unwrap();
    encoder.write_all(content).unwrap();
    Memory::from([(NAME, encoder.finish().unwrap().into_inner())])
}

fn metadata_and_content(folder: &Memory) -> (String, Vec<u8>) {
    let file = folder.bytes(NAME).unwrap();
    let survey = Survey::of(file.as_slice(), &Limits::default()).unwrap();
    let metadata = survey.members[0].metadata.as_ref().unwrap();
    (
        metadata.text().to_owned(),
        bloscpack::decompress(&file).unwrap(),
    )
}

#[test]
fn metadata_and_content_change_together_or_not_at_all() {
    let array = r#"{"dtype":"'<f8'","shape":[3],"order":"C","container":"numpy"}"#;
    for new in ["{}".to_owned(), format!("[{}0]", "0,".repeat(3000))] {
        for more in [0, 1, 5000] {
            let folder = with_metadata(&[7; 24], array);
            let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
            let metadata = Metadata::from_json(new.clone().into_bytes()).unwrap();

            let mut dropped = editor.append().unwrap();
            dropped.set_metadata(&metadata).unwrap();
            dropped.write_all(&vec![8; more]).unwrap();
            drop(dropped);
            assert_eq!(
                metadata_and_content(&folder),
                (array.to_owned(), vec![7; 24])
            );

            let mut appender = editor.append().unwrap();
            appender.set_metadata(&metadata).unwrap();
            appender.write_all(&vec![8; more]).unwrap();
            // What is said stands, also where it is no whole row of what the array was.
            assert_eq!(appender.finish().unwrap(), more as u64);
            assert_eq!(editor.metadata(), Some(&metadata));
            let model = [vec![7; 24], vec![8; more]].concat();
            assert_eq!(metadata_and_content(&folder), (new.clone(), model));
        }
    }
}

#[test]
fn who_waits_for_readers_is_asked_and_may_give_up() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    let folder = with_metadata(b"some bytes", "{}");
    let asked = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&asked);
    let builder = Editor::builder()
        .patience(std::time::Duration::MAX)
        .while_waiting(move |_| count.fetch_add(1, Ordering::Relaxed) < 3);
    let mut editor = builder.open_in(folder.clone(), name()).unwrap();
    let reader = Snapshot::open_in(&folder, name()).unwrap();
    let error = editor.patch(0, b"SOME".as_slice()).unwrap_err();
    assert!(error.to_string().contains("reading this file"), "{error}");
    assert_eq!(asked.load(Ordering::Relaxed), 4);
    assert_eq!(metadata_and_content(&folder).1, b"some bytes");
    drop(reader);
    drop(editor);
    let mut editor = Editor::open_in(folder.clone(), name()).unwrap();
    editor.patch(0, b"SOME".as_slice()).unwrap();
    assert_eq!(metadata_and_content(&folder).1, b"SOME bytes");
}
