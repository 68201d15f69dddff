//! Tests that the bytes shown in `docs/format.md` are the ones that we write, and match their description there.

use crate::records::map::{Field, parts};
use bloscpack::blosc::ChunkDecoder;
use bloscpack::records::{IndexedRecordReader, RecordWriter, RecordWriterBuilder};
use std::io::Cursor;

const DOCUMENT: &str = include_str!("../../../docs/format.md");

/// The three records of the document.
fn records() -> [Vec<u8>; 3] {
    [b"varlen".to_vec(), Vec::new(), b"ha".repeat(100)]
}

fn file(builder: RecordWriterBuilder) -> Vec<u8> {
    let mut writer = builder.write_to_file(Cursor::new(Vec::new())).unwrap();
    records().iter().for_each(|one| writer.push(one).unwrap());
    writer.finish().unwrap().into_inner()
}

/// A run of bytes and what the document calls it.
#[derive(Debug, PartialEq)]
struct Run {
    at: usize,
    len: usize,
    name: String,
}

/// The dump after this mark of the document: its bytes, and its runs. A line is a position, bytes, and a name up to a
/// colon; one without a name continues the run before it.
fn dump(mark: &str) -> (Vec<u8>, Vec<Run>) {
    let from = DOCUMENT.find(mark).unwrap_or_else(|| panic!("no {mark}"));
    let block = DOCUMENT[from..].split("```").nth(1).unwrap();
    let (mut bytes, mut runs) = (Vec::new(), Vec::<Run>::new());
    for line in block.lines().skip(1) {
        let (at, rest) = line.split_once("  ").unwrap();
        let (hex, text) = rest.split_once("  ").unwrap_or((rest, ""));
        let at = usize::from_str_radix(at, 16).unwrap();
        assert_eq!(at, bytes.len(), "{line}");
        bytes.extend(
            hex.split(' ')
                .map(|byte| u8::from_str_radix(byte, 16).unwrap()),
        );
        let name = text.split(':').next().unwrap().trim();
        if name.is_empty() {
            runs.last_mut().unwrap().len += bytes.len() - at;
        } else {
            runs.push(Run {
                at,
                len: bytes.len() - at,
                name: name.to_owned(),
            });
        }
    }
    (bytes, runs)
}

/// The document's name of each part of a file.
fn name(field: Field) -> &'static str {
    match field {
        Field::Magic => "magic",
        Field::Version => "version",
        Field::Options => "options",
        Field::Checksum => "checksum",
        Field::Typesize => "typesize",
        Field::ChunkSize => "chunk size",
        Field::LastChunk => "last chunk",
        Field::Nchunks => "number of chunks",
        Field::MetaSize => "meta size",
        Field::Seal => "seal",
        Field::RawMetadata => "metadata",
        other => panic!("{other:?}"),
    }
}

/// The runs of a file by the map of the format, the headers of chunks apart.
fn runs_of(file: &[u8]) -> Vec<Run> {
    let (mut runs, mut offsets, mut chunks) = (Vec::new(), 0, 0);
    let mut run = |at: usize, len: usize, name: String| {
        if len > 0 {
            runs.push(Run { at, len, name });
        }
    };
    for part in parts(file) {
        let (at, len) = (part.at.start, part.at.len());
        match part.field {
            Field::Offset => {
                run(at, len, format!("offset of chunk {offsets}"));
                offsets += 1;
            }
            Field::Chunk => {
                run(at, 16, format!("chunk {chunks}, header"));
                run(at + 16, len - 16, format!("chunk {chunks}, data"));
            }
            Field::Digest => {
                run(at, len, format!("chunk {chunks}, digest"));
                chunks += 1;
            }
            field => run(at, len, name(field).to_owned()),
        }
    }
    runs
}

#[test]
fn the_file_of_the_document_is_what_is_written() {
    let (bytes, runs) = dump("<!-- records: a file -->");
    assert_eq!(runs, runs_of(&bytes));
    let written = file(RecordWriter::builder().dtype("varchar"));
    assert_eq!(bytes, written, "{:02x?}", written);
    let reader = IndexedRecordReader::open(bytes).unwrap();
    let found: Vec<_> = reader.iter().map(Result::unwrap).collect();
    assert_eq!(found, records());
}

#[test]
fn the_packed_chunk_of_the_document_is_what_is_written() {
    let (content, runs) = dump("<!-- records: a packed chunk -->");
    let file = file(RecordWriter::builder().packed(4096));
    let chunk = parts(&file)
        .into_iter()
        .find(|part| part.field == Field::Chunk)
        .unwrap();
    let mut written = vec![0; content.len()];
    let mut decoder = ChunkDecoder::new();
    decoder.decode(&file[chunk.at], &mut written).unwrap();
    assert_eq!(written, content);
    let expected = [
        ("first", 8),
        ("count", 4),
        ("width", 1),
        ("reserved", 3),
        ("lengths", 3),
        ("record 0", 6),
        ("record 2", 200),
    ];
    let mut at = 0;
    let expected = expected.map(|(name, len)| {
        at += len;
        Run {
            at: at - len,
            len,
            name: name.to_owned(),
        }
    });
    assert_eq!(runs, expected);
}
