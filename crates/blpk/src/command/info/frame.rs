//! `blpk info` of Blosc2 frames.

use std::path::Path;

use bloscpack::{
    DType, Error,
    blosc::{FilterPipeline, FilterStep},
    frame::{ArrayMeta, Frame, FrameHeader, FrameKind},
};
use serde_json::{Map, Value, json};

use super::array::MOST_CHUNKS;
use super::distinct;
use super::people::{BOLD, line, list, sizes};
use crate::dataset::{INTERRUPTED, shape_text};
use crate::frame::{failure, open};
use crate::message::{Failure, shown};
use crate::output;
use crate::session::Session;
use crate::size::pretty;
use crate::status::Status;

/// Tells what the frame at `path` is.
pub fn run(path: &Path, as_json: bool, session: &Session) -> Result<Status, Failure> {
    let frame = open(path, session)?;
    let about = About::look(&frame).map_err(|error| failure(path, &error))?;
    let text = match as_json {
        true => format!("{:#}\n", about.json(&path.to_string_lossy())),
        false => about.text(&shown(path)),
    };
    output::print(&text)?;
    Ok(Status::Done)
}

/// A frame with all that is told of it.
struct About<'a> {
    frame: &'a Frame,
    meta: Option<ArrayMeta>,
    codecs: Vec<&'static str>,
    vlmetalayers: Vec<(&'a str, usize)>,
    notes: Vec<String>,
}

impl<'a> About<'a> {
    fn look(frame: &'a Frame) -> Result<Self, Error> {
        let mut about = Self {
            frame,
            meta: frame.array_meta()?,
            codecs: Vec::new(),
            vlmetalayers: Vec::new(),
            notes: Vec::new(),
        };
        if frame.was_interrupted() {
            about.notes.push(format!(
                "{INTERRUPTED}: it is read through its journal, and the next who writes to it completes the change"
            ));
        }
        if let Some(meta) = &about.meta {
            meta.check(frame.header())?;
        }
        about.look_at_chunks();
        for name in frame.vlmetalayers() {
            match frame.vlmetalayer(name) {
                Ok(bytes) => {
                    let len = bytes.map_or(0, |bytes| bytes.len());
                    about.vlmetalayers.push((name, len));
                }
                Err(error) => about.notes.push(error.to_string()),
            }
        }
        Ok(about)
    }

    fn look_at_chunks(&mut self) {
        let (frame, mut codecs) = (self.frame, Vec::new());
        let all = frame.chunks();
        for number in 0..all.min(MOST_CHUNKS) {
            match frame.chunk_header(number) {
                Ok(Some(header)) if !header.is_pure_copy() => {
                    codecs.extend(header.compressor_format().map(|format| format.name()));
                }
                Ok(_) => {}
                Err(error) => {
                    self.notes.push(error.to_string());
                    break;
                }
            }
        }
        if all > MOST_CHUNKS {
            self.notes.push(format!(
                "the codecs are those of the first {MOST_CHUNKS} chunks of {all}"
            ));
        }
        self.codecs = distinct(codecs.into_iter());
    }

    fn layout(&self) -> &'static str {
        self.meta.as_ref().map_or("frame", |meta| meta.kind.name())
    }

    fn is_contiguous(&self) -> bool {
        self.frame.kind() == FrameKind::Contiguous
    }

    /// The type of the elements as datasets tell it, or in the words of the file.
    fn dtype(&self) -> Option<String> {
        let dtype = self.meta.as_ref()?.dtype.as_ref()?;
        let known = DType::parse(&dtype.text).map(|dtype| dtype.to_string());
        Some(known.unwrap_or_else(|_| dtype.text.clone()))
    }

    /// Bytes of the elements; of a frame without an array, of its data.
    fn content_len(&self) -> u64 {
        let Some(meta) = &self.meta else {
            return self.frame.content_len();
        };
        let itemsize = u64::from(self.frame.typesize());
        meta.shape
            .iter()
            .fold(itemsize, |bytes, len| bytes.saturating_mul(*len))
    }

    /// Bytes of the data of the last chunk, where there is one.
    fn last_chunk(&self) -> Option<u64> {
        let before = self.frame.chunks().checked_sub(1)?;
        let before = before.saturating_mul(self.frame.chunk_size().into());
        Some(self.frame.content_len().saturating_sub(before))
    }

    fn json(&self, path: &str) -> Value {
        let (frame, header) = (self.frame, self.frame.header());
        let meta = self.meta.as_ref();
        let before = frame.metalayers().iter();
        let before = before.map(|(name, bytes)| (name, bytes.len()));
        json!({
            "path": path,
            "kind": "frame",
            "layout": self.layout(),
            "format_version": header.flags & VERSION,
            "contiguous": self.is_contiguous(),
            "checksum": null,
            "typesize": header.typesize,
            "chunk_size": header.chunk_size,
            "last_chunk": self.last_chunk(),
            "blocksize": header.blocksize,
            "nchunks": frame.chunks(),
            "max_app_chunks": null,
            "metadata": {
                "metalayers": lengths(before),
                "vlmetalayers": lengths(self.vlmetalayers.iter().copied()),
            },
            "uncompressed_bytes": self.content_len(),
            "compressed_bytes": header.section_len,
            "file_bytes": self.is_contiguous().then_some(header.frame_len),
            "codecs": self.codecs,
            "filters": filters(header),
            "state": "complete",
            "interrupted": frame.was_interrupted(),
            "dtype": self.dtype(),
            "shape": meta.map(|meta| &meta.shape),
            "chunkshape": meta.map(|meta| &meta.chunk_shape),
            "blockshape": meta.map(|meta| &meta.block_shape),
            "attributes": {},
            "columns": null,
            "notes": self.notes,
        })
    }

    fn text(&self, path: &str) -> String {
        let (frame, header) = (self.frame, self.frame.header());
        let mut text = format!("{BOLD}{path}{BOLD:#}\n");
        line(&mut text, "kind", "frame");
        line(&mut text, "layout", self.layout());
        line(&mut text, "state", "complete");
        let place = match self.is_contiguous() {
            true => "in one file",
            false => "a file for each",
        };
        line(&mut text, "chunks", format!("{}, {place}", frame.chunks()));
        line(&mut text, "chunk size", pretty(frame.chunk_size().into()));
        line(&mut text, "typesize", header.typesize);
        if let Some(meta) = &self.meta {
            self.about_array(&mut text, meta);
        }
        line(&mut text, "checksum", "None");
        line(&mut text, "codecs", list(&self.codecs));
        line(&mut text, "filters", list(&filters(header)));
        sizes(&mut text, self.content_len(), header.section_len);
        for (name, bytes) in frame.metalayers().iter() {
            line(&mut text, "metalayer", layer(name, bytes.len()));
        }
        for (name, len) in &self.vlmetalayers {
            line(&mut text, "vlmetalayer", layer(name, *len));
        }
        for note in &self.notes {
            line(&mut text, "note", shown(Path::new(note)));
        }
        text
    }

    fn about_array(&self, text: &mut String, meta: &ArrayMeta) {
        let wide =
            |shape: &[u32]| -> Vec<u64> { shape.iter().map(|len| u64::from(*len)).collect() };
        let dtype = self.dtype();
        let dtype = dtype.map_or_else(
            || "the file does not say".to_owned(),
            |dtype| shown(Path::new(&dtype)),
        );
        line(text, "dtype", dtype);
        line(text, "shape", shape_text(&meta.shape));
        line(text, "chunk shape", shape_text(&wide(&meta.chunk_shape)));
        line(text, "block shape", shape_text(&wide(&meta.block_shape)));
    }
}

/// The bits of the flags that are the version of the format.
const VERSION: u8 = 0x0f;

fn layer(name: &str, len: usize) -> String {
    format!(
        "{}, {}",
        shown(Path::new(name)),
        pretty(u64::try_from(len).unwrap_or(u64::MAX))
    )
}

fn lengths<'a>(layers: impl Iterator<Item = (&'a str, usize)>) -> Value {
    let members: Map<String, Value> = layers
        .map(|(name, len)| (name.to_owned(), json!(len)))
        .collect();
    members.into()
}

/// What is done to the blocks of new chunks, in this order.
fn filters(header: &FrameHeader) -> Vec<&'static str> {
    let Ok(pipeline) = FilterPipeline::from_ids(header.filters, header.filters_meta) else {
        return vec!["unknown"];
    };
    let steps = pipeline.steps();
    let names = steps.filter_map(|step| match step {
        FilterStep::None => None,
        FilterStep::Shuffle => Some("byte"),
        FilterStep::Bitshuffle => Some("bit"),
        FilterStep::Delta => Some("delta"),
        FilterStep::TruncatePrecision { .. } => Some("truncate"),
        _ => Some("unknown"),
    });
    let names: Vec<_> = names.collect();
    match names.is_empty() {
        true => vec!["none"],
        false => names,
    }
}
