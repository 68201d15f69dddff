//! The field that each byte of a sample belongs to, by the documents and not by the crate's parsers.

use crate::matrix::golden::{Field, parts, u32_at};
use crate::matrix::samples::{Reader, Sample};
use bloscpack_open::datasets::DatasetLayout;
use std::ops::Range;

/// A run of bytes of one file.
#[derive(Debug, Clone)]
pub struct Place {
    pub file: usize,
    pub at: Range<usize>,
    pub field: String,
}

/// All places of a sample, in order and without gaps.
pub fn places(sample: &Sample) -> Vec<Place> {
    let mut places = Vec::new();
    for (number, (path, bytes)) in sample.files.iter().enumerate() {
        let found = match sample.reader {
            Reader::Dataset(layout) => of_dataset(layout, path, bytes),
            Reader::Contiguous => frame(bytes),
            Reader::Sparse if path == "chunks.b2frame" => frame(bytes),
            Reader::Sparse => chunk(bytes, 0, "chunk"),
        };
        let mut at = 0;
        for (range, field) in found {
            assert_eq!(range.start, at, "{path}, {field}");
            at = range.end;
            places.push(Place {
                file: number,
                at: range,
                field,
            });
        }
        assert_eq!(at, bytes.len(), "{path}");
    }
    places
}

type Found = Vec<(Range<usize>, String)>;

/// Fields one after the other, with their lengths.
struct Run {
    at: usize,
    found: Found,
}

impl Run {
    fn new(at: usize) -> Self {
        let found = Vec::new();
        Self { at, found }
    }

    fn take(&mut self, len: usize, field: impl Into<String>) {
        if len > 0 {
            self.found.push((self.at..self.at + len, field.into()));
        }
        self.at += len;
    }

    fn all(&mut self, fields: &[(usize, &str)], of: &str) {
        for (len, field) in fields {
            self.take(*len, format!("{of}: {field}"));
        }
    }

    fn chunk(&mut self, bytes: &[u8], of: &str) {
        let found = chunk(bytes, self.at, of);
        self.at += bytes.len();
        self.found.extend(found);
    }
}

/// A Blosc chunk that begins at `at`.
fn chunk(bytes: &[u8], at: usize, of: &str) -> Found {
    let mut run = Run::new(at);
    run.all(
        &[
            (1, "version"),
            (1, "version of the compressor"),
            (1, "flags"),
            (1, "typesize"),
            (4, "nbytes"),
            (4, "blocksize"),
            (4, "ctbytes"),
        ],
        of,
    );
    let (nbytes, blocksize) = (u32_at(bytes, 4) as usize, u32_at(bytes, 8) as usize);
    let (flags, mut head) = (bytes[2], 16);
    if bytes[0] >= 4 && flags & 5 == 5 {
        run.all(
            &[
                (6, "filters"),
                (1, "compressor of a user"),
                (1, "meta of the compressor"),
                (6, "meta of the filters"),
                (1, "room"),
                (1, "flags of Blosc2"),
            ],
            of,
        );
        head = 32;
        if bytes[31] >> 4 & 7 != 0 {
            run.take(bytes.len() - head, format!("{of}: special value"));
            return run.found;
        }
    }
    let mut left = bytes.len() - head;
    if flags & 2 == 0 {
        let starts = 4 * nbytes.div_ceil(blocksize.max(1));
        run.take(starts, format!("{of}: starts of blocks"));
        left -= starts;
    }
    run.take(left, format!("{of}: data"));
    run.found
}

fn of_dataset(layout: DatasetLayout, path: &str, bytes: &[u8]) -> Found {
    let (_, name) = path.rsplit_once('/').unwrap_or(("", path));
    let is_superchunk = name.ends_with(".blp") || name.ends_with(".bin");
    match layout {
        _ if !is_superchunk && bytes.starts_with(b"{") => json(bytes, name),
        _ if !is_superchunk => lines(bytes, name),
        DatasetLayout::CarrayDocument => proposal(bytes),
        _ => superchunk(bytes),
    }
}

/// The keys of a JSON object and their values.
fn json(bytes: &[u8], file: &str) -> Found {
    let (mut run, mut depth, mut text) = (Run::new(0), 0, false);
    let (mut begin, mut key): (usize, Option<String>) = (0, None);
    for (at, byte) in bytes.iter().enumerate() {
        let is_escaped = at > 0 && bytes[at - 1] == b'\\';
        match byte {
            b'"' if !is_escaped => {
                text = !text;
                if depth == 1 && key.is_none() && !text {
                    let name = String::from_utf8_lossy(&bytes[begin + 1..at]).into_owned();
                    run.take(at + 1 - begin, format!("{file}: key {name}"));
                    key = Some(name);
                } else if depth == 1 && key.is_none() {
                    run.take(at - begin, format!("{file}: marks"));
                    begin = at;
                    continue;
                } else {
                    continue;
                }
                begin = at + 1;
            }
            _ if text => {}
            b':' if depth == 1 => {
                run.take(at + 1 - begin, format!("{file}: marks"));
                begin = at + 1;
            }
            b',' | b'}' if depth == 1 => {
                if let Some(name) = key.take() {
                    run.take(at - begin, format!("{file}: {name}"));
                    begin = at;
                }
                depth -= i32::from(*byte == b'}');
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
    }
    run.take(bytes.len() - begin, format!("{file}: marks"));
    run.found
}

/// The lines of YAML or a tuple; those that are indented belong to the one above.
fn lines(bytes: &[u8], file: &str) -> Found {
    let (mut run, mut name) = (Run::new(0), String::new());
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let text = String::from_utf8_lossy(line);
        match text.split_once(':') {
            Some((key, value)) if line[0] != b' ' => {
                name = key.to_owned();
                run.take(key.len(), format!("{file}: key {name}"));
                run.take(1 + value.len(), format!("{file}: {name}"));
            }
            _ => run.take(line.len(), format!("{file}: {name}")),
        }
    }
    run.found
}

/// A superchunk that is a Bloscpack file: of bcolz and BLZ, and of BLZ's document.
fn superchunk(bytes: &[u8]) -> Found {
    let mut run = Run::new(0);
    for part in parts(bytes) {
        let field = match part.field {
            Field::Chunk => {
                run.chunk(&bytes[part.at.clone()], "chunk");
                continue;
            }
            // Eight bytes of which the layout says nothing else.
            Field::Options if part.at.len() == 3 => "reserved bytes".to_owned(),
            other => format!("{other:?}"),
        };
        run.take(part.at.len(), format!("superchunk: {field}"));
    }
    run.found
}

/// A superchunk of the carray proposal.
fn proposal(bytes: &[u8]) -> Found {
    let mut run = Run::new(0);
    run.all(
        &[
            (4, "Magic"),
            (1, "Version"),
            (1, "Checksum"),
            (1, "Index"),
            (1, "reserved bytes"),
            (4, "ChunkSize"),
            (4, "reserved bytes"),
            (8, "length"),
            (8, "Nchunks"),
        ],
        "superchunk",
    );
    let digest = crate::matrix::golden::DIGEST_LEN[usize::from(bytes[5])];
    let count = u32_at(bytes, 24) as usize;
    if bytes[6] != 0 {
        run.take(8 * count, "superchunk: Offset");
    }
    for number in 0..count {
        let at = match bytes[6] {
            0 => run.at,
            _ => u32_at(bytes, 32 + 8 * number) as usize,
        };
        run.take(at - run.at, "superchunk: Spare");
        let len = u32_at(bytes, at + 12) as usize;
        run.chunk(&bytes[at..at + len], "chunk");
        run.take(digest, "superchunk: Digest");
    }
    run.take(bytes.len() - run.at, "superchunk: Spare");
    run.found
}

fn be_u32(bytes: &[u8], at: usize) -> usize {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
}

/// A frame in one file, or the outline of a sparse one.
fn frame(bytes: &[u8]) -> Found {
    let header_len = be_u32(bytes, 11);
    let section_len = be_u32(bytes, 43);
    let trailer_len = be_u32(bytes, bytes.len() - 22);
    let mut run = Run::new(0);
    run.all(
        &[
            (10, "magic"),
            (5, "header_len"),
            (9, "frame_len"),
            (1, "marker of flags"),
            (1, "flags"),
            (1, "kind"),
            (1, "compressor"),
            (1, "split mode"),
            (9, "content_len"),
            (9, "section_len"),
            (5, "typesize"),
            (5, "blocksize"),
            (5, "chunk_size"),
            (6, "threads"),
            (1, "has vlmetalayers"),
            (2, "marker of filters"),
            (6, "filters"),
            (2, "compressor of a user"),
            (6, "meta of the filters"),
            (2, "room of the filters"),
            (header_len - 87, "metalayers"),
        ],
        "frame",
    );
    let section = if bytes[26] == 0 { section_len } else { 0 };
    let chunks_end = run.at + section;
    while run.at < chunks_end {
        let len = u32_at(bytes, run.at + 12) as usize;
        let at = run.at;
        run.chunk(&bytes[at..at + len], "chunk");
    }
    let trailer_at = bytes.len() - trailer_len;
    let at = run.at;
    run.chunk(&bytes[at..trailer_at], "index");
    run.all(
        &[
            (2, "version"),
            (trailer_len - 25, "vlmetalayers"),
            (5, "length"),
            (2, "marker of the fingerprint"),
            (16, "fingerprint"),
        ],
        "trailer",
    );
    run.found
}
