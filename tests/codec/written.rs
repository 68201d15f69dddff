//! Tests that what a writer accepts, a reader with the same limits reads: over all options, with limits so small that
//! they are often reached, and for the default limits at their borders.

use bloscpack::edit::Editor;
use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordReader, RecordWriter};
use bloscpack::storage::Memory;
use bloscpack::survey::Survey;
use bloscpack::verify::verify;
use bloscpack::{
    Category, Checksum, Compressor, Decoder, Encoder, EncoderBuilder, Filter, FormatVersion,
    Limits, Metadata, Options, Result,
};
use proptest::prelude::*;
use std::io::{Cursor, Write};
use testkit::effort;

#[derive(Debug, Clone)]
struct Setup {
    limits: Limits,
    layout: FormatVersion,
    target: Target,
    checksum: Checksum,
    compressor: Compressor,
    filter: Filter,
    level: u8,
    typesize: u8,
    chunk_size: u32,
    metadata: Option<usize>,
    offsets: bool,
    spare: Option<u64>,
    spare_space: u32,
    is_size_known: bool,
    interactive: bool,
    threads: usize,
    /// Lengths of the pieces or records, each flushed.
    pieces: Vec<usize>,
    packed: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
enum Target {
    Stream,
    File,
    Seek,
}

fn options() -> impl Strategy<Value = Setup> {
    let limits = (60_u32..6000, 20_u32..400, 1_u64..12).prop_map(|(chunk, metadata, chunks)| {
        let limits = Limits::new().chunk(chunk).metadata(metadata);
        limits.offsets(chunks * 8)
    });
    let layouts = [FormatVersion::V1, FormatVersion::V2, FormatVersion::V3];
    let format = (
        prop_oneof![Just(Limits::new()), limits],
        prop::sample::select(layouts.to_vec()),
        prop::sample::select(vec![Target::Stream, Target::File, Target::Seek]),
        prop::sample::select(Checksum::ALL.to_vec()),
        prop::option::of(7_usize..250),
        any::<(bool, bool)>(),
        prop::option::of(0_u64..20),
        prop_oneof![4 => Just(0_u32), 1 => 1_u32..20],
        prop::bool::weighted(0.2),
    );
    let chunks = (
        prop::sample::select(vec![Compressor::Blosclz, Compressor::Lz4, Compressor::Zstd]),
        prop::sample::select(vec![Filter::None, Filter::Byte, Filter::Bit]),
        0_u8..=9,
        1_u8..=20,
        1_u32..4000,
        1_usize..4,
        prop::collection::vec(prop_oneof![3 => 0_usize..60, 1 => 0_usize..4000], 0..12),
        prop::option::of(60_u32..4000),
    );
    (format, chunks).prop_map(|(format, chunks)| Setup {
        limits: format.0,
        layout: format.1,
        target: format.2,
        checksum: format.3,
        metadata: format.4,
        offsets: format.5.0,
        is_size_known: format.5.1,
        spare: format.6,
        spare_space: format.7,
        interactive: format.8,
        compressor: chunks.0,
        filter: chunks.1,
        level: chunks.2,
        typesize: chunks.3,
        chunk_size: chunks.4,
        threads: chunks.5,
        pieces: chunks.6,
        packed: chunks.7,
    })
}

/// A JSON text of this length, an object for records.
fn metadata(len: usize) -> Metadata {
    Metadata::from_json(format!("{{\"\":\"{}\"}}", "a".repeat(len - 7))).unwrap()
}

impl Setup {
    fn encoder(&self) -> EncoderBuilder {
        let mut builder = Encoder::builder()
            .limits(self.limits)
            .version(self.layout)
            .compressor(self.compressor)
            .filter(self.filter)
            .level(self.level)
            .typesize(self.typesize)
            .chunk_size(self.chunk_size)
            .offsets(self.offsets)
            .interactive(self.interactive)
            .spare_space(self.spare_space)
            .threads(self.threads);
        if self.layout != FormatVersion::V1 {
            builder = builder.checksum(self.checksum);
        }
        if let Some(spare) = self.spare {
            builder = builder.max_app_chunks(spare);
        }
        if let Some(len) = self.metadata {
            builder = builder.metadata(metadata(len));
        }
        if self.is_size_known {
            builder = builder.size(self.pieces.iter().sum::<usize>() as u64);
        }
        builder
    }

    fn pieces(&self) -> Vec<Vec<u8>> {
        let piece = |(number, len): (u8, &usize)| vec![number; *len];
        (0..).zip(&self.pieces).map(piece).collect()
    }

    fn write(&self) -> Result<Vec<u8>> {
        fn all(encoder: &mut impl Write, pieces: &[Vec<u8>]) -> Result<()> {
            for piece in pieces {
                encoder.write_all(piece)?;
                encoder.flush()?;
            }
            Ok(())
        }
        let (builder, target) = (self.encoder(), Cursor::new(Vec::new()));
        match self.target {
            Target::Stream => {
                let mut encoder = builder.write_to(Vec::new())?;
                all(&mut encoder, &self.pieces())?;
                encoder.finish()
            }
            Target::File => {
                let mut encoder = builder.write_to_file(target)?;
                all(&mut encoder, &self.pieces())?;
                Ok(encoder.finish()?.into_inner())
            }
            Target::Seek => {
                let mut encoder = builder.write_to_seek(target)?;
                all(&mut encoder, &self.pieces())?;
                Ok(encoder.finish()?.into_inner())
            }
        }
    }

    fn write_records(&self) -> Result<Vec<u8>> {
        let mut builder = RecordWriter::builder()
            .limits(self.limits)
            .version(self.layout)
            .compressor(self.compressor)
            .filter(self.filter)
            .level(self.level)
            .typesize(self.typesize)
            .checksum(self.checksum)
            .threads(self.threads);
        if let Some(len) = self.metadata {
            builder = builder.metadata(metadata(len));
        }
        if let Some(packed) = self.packed {
            builder = builder.packed(packed);
        }
        if self.is_size_known {
            builder = builder.count(self.pieces.len() as u64);
        }
        let target = Cursor::new(Vec::new());
        if matches!(self.target, Target::Stream) {
            let mut writer = builder.write_to(Vec::new())?;
            for piece in self.pieces() {
                writer.push(piece)?;
                writer.flush()?;
            }
            return writer.finish();
        }
        let mut writer = builder.write_to_file(target)?;
        for piece in self.pieces() {
            writer.push(piece)?;
            writer.flush()?;
        }
        Ok(writer.finish()?.into_inner())
    }

    /// Reads a file with every reader under these limits.
    fn read(&self, file: &[u8]) -> Result<()> {
        let content = self.pieces().concat();
        let mut decoded = Vec::new();
        let decoder = Options::new().limits(self.limits);
        Decoder::with_options(file, decoder).copy_to(&mut decoded)?;
        assert_eq!(decoded, content);
        let indexed = Options::new().limits(self.limits);
        let indexed = IndexedReader::with_options(file.to_vec(), indexed)?;
        assert_eq!(indexed.content_len(), content.len() as u64);
        let mut all = vec![0; content.len()];
        indexed.read_exact_at(0, &mut all)?;
        assert_eq!(all, content);
        self.look(file)
    }

    fn read_records(&self, file: &[u8]) -> Result<()> {
        let reader = Options::new().limits(self.limits);
        let records = RecordReader::with_options(file, reader).collect::<Result<Vec<_>>>()?;
        assert_eq!(records, self.pieces());
        let reader = Options::new().limits(self.limits);
        let reader = IndexedRecordReader::with_options(file.to_vec(), reader)?;
        for (number, piece) in (0..).zip(self.pieces()) {
            assert_eq!(reader.get(number)?, piece);
        }
        self.look(file)
    }

    fn look(&self, file: &[u8]) -> Result<()> {
        Survey::of(file, &Options::new().limits(self.limits))?;
        let options = Options::new().limits(self.limits);
        verify(file, &options, |damage| Err(damage.error)).map(drop)
    }
}

/// An error of a writer: wrong usage, or over a limit that the error names.
fn assert_refused(error: &bloscpack::Error) {
    match error.category() {
        Category::Usage | Category::Failed => {}
        Category::OverLimit => {
            let hint = error.hint().unwrap();
            assert!(hint.contains("of the writer and of every reader"), "{hint}");
        }
        other => panic!("{other:?}: {error}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(effort::models(2000)))]

    #[test]
    fn what_an_encoder_accepts_is_read_with_the_same_limits(options in options()) {
        match options.write() {
            Ok(file) => options.read(&file).unwrap(),
            Err(error) => assert_refused(&error),
        }
    }

    #[test]
    fn what_a_record_writer_accepts_is_read_with_the_same_limits(options in options()) {
        match options.write_records() {
            Ok(file) => options.read_records(&file).unwrap(),
            Err(error) => assert_refused(&error),
        }
    }

    #[test]
    fn what_an_editor_accepts_is_read_with_the_same_limits(options in options(), more in 0..5000_usize) {
        let builder = || Editor::builder().options(Options::new().limits(options.limits));
        if let Ok(file) = options.write() {
            let folder = Memory::from([("a", file)]);
            let change = || -> Result<()> {
                let mut editor = builder().open_in(folder.clone(), "a".as_ref())?;
                let mut appender = editor.append()?;
                appender.write_all(&vec![7; more])?;
                appender.finish()?;
                editor.set_metadata(&metadata(7 + more % 250))
            };
            let changed = change();
            let mut expected = options.clone();
            let file = folder.bytes("a").unwrap();
            if let Err(error) = changed {
                assert_refused_change(&error);
            }
            let mut content = Vec::new();
            let decoder = Options::new().limits(options.limits);
            Decoder::with_options(&file[..], decoder).copy_to(&mut content).unwrap();
            let len = options.pieces.iter().sum::<usize>();
            assert!([len, len + more].contains(&content.len()));
            expected.pieces = vec![];
            expected.look(&file).unwrap();
        }
        if let Ok(file) = options.write_records() {
            let folder = Memory::from([("a", file)]);
            let change = || -> Result<()> {
                let mut editor = builder().open_records_in(folder.clone(), "a".as_ref())?;
                let mut appender = editor.append()?;
                for len in [0, more, 3] {
                    appender.push(vec![7; len])?;
                }
                appender.finish()?;
                editor.set_metadata(&metadata(7 + more % 250))
            };
            if let Err(error) = change() {
                assert_refused_change(&error);
            }
            let file = folder.bytes("a").unwrap();
            let reader = Options::new().limits(options.limits);
            RecordReader::with_options(&file[..], reader).for_each(|record| drop(record.unwrap()));
            let reader = Options::new().limits(options.limits);
            IndexedRecordReader::with_options(file, reader).unwrap();
        }
    }
}

fn assert_refused_change(error: &bloscpack::Error) {
    match error.category() {
        // V1 and spare space cannot have everything.
        Category::Unsupported => {}
        _ => assert_refused(error),
    }
}

#[test]
fn metadata_up_to_the_default_limit_is_written_and_read_and_more_is_refused() {
    let most = 64 << 20;
    for layout in effort::sample([FormatVersion::V3, FormatVersion::V2], 2) {
        for (len, fits) in [(most, true), (most + 1, false)] {
            let encoder = Encoder::builder().version(layout).metadata(metadata(len));
            let mut target = Vec::new();
            match encoder
                .write_to(&mut target)
                .and_then(|encoder| encoder.finish().map(drop))
            {
                Ok(()) => {
                    assert!(fits, "{layout} {len}");
                    let mut decoder = Decoder::new(&target[..]);
                    let read = decoder.read_metadata().unwrap().unwrap();
                    assert_eq!(read.text().len(), len);
                }
                Err(error) => {
                    assert!(!fits && target.is_empty(), "{layout} {len}: {error}");
                    assert_refused(&error);
                }
            }
            // Chunks of records have members of their own.
            for small in effort::sample([true, false], 2) {
                let writer = RecordWriter::builder()
                    .version(layout)
                    .metadata(metadata(len));
                let writer = if small { writer.small() } else { writer };
                let mut target = Cursor::new(Vec::new());
                let error = writer.clone().write_to_file(&mut target).unwrap_err();
                assert_refused(&error);
                assert!(target.get_ref().is_empty());
                let raised = writer.limits(Limits::new().metadata(65 << 20));
                let mut writer = raised.write_to_file(&mut target).unwrap();
                writer.push("one").unwrap();
                writer.finish().unwrap();
            }
        }
        let folder = Memory::from([("a", bloscpack::compress(b"a").unwrap())]);
        let mut editor = Editor::open_in(folder, "a".as_ref()).unwrap();
        let error = editor.set_metadata(&metadata(most + 1)).unwrap_err();
        assert_refused(&error);
    }
}

#[test]
fn tables_up_to_the_default_limit_are_written_and_read_and_more_is_refused() {
    let most: u64 = (256 << 20) / 8;
    for layout in [FormatVersion::V2, FormatVersion::V3] {
        let mut target = Cursor::new(Vec::new());
        let builder = Encoder::builder().version(layout).chunk_size(1);
        let refused = builder.size(most + 1).write_to_seek(&mut target);
        assert_refused(&refused.map(drop).unwrap_err());
        let records = RecordWriter::builder().version(layout).count(most + 1);
        let refused = records.write_to(&mut target);
        assert_refused(&refused.map(drop).unwrap_err());
        assert!(target.get_ref().is_empty());
    }
}
