//! The summary of a Blosc2 frame.

use crate::MAX_CHUNKS;
use crate::summary::{Line, Summary, distinct};
use crate::text::{plain, pretty, shape};
use crate::{Kind, Region};
use blosc1::{FilterPipeline, FilterStep};
use bloscpack_dtype::DType;
use bloscpack_error::Result;
use bloscpack_frames::{ArrayMeta, Frame, FrameHeader, FrameKind, Tensor, Virtual};
use bloscpack_wire::internal::to_u64;
use serde_json::{Map, Value, json};

/// A frame, with everything that its summary reports.
struct Survey<'a> {
    frame: &'a Frame,
    meta: Option<ArrayMeta>,
    tensor: Option<Tensor<'a>>,
    codecs: Vec<&'static str>,
    /// Name and length of each variable-length metalayer.
    vlmetalayers: Vec<(&'a str, usize)>,
    notes: Vec<String>,
}

pub(crate) fn summary(frame: &Frame) -> Result<Summary> {
    let survey = Survey::of(frame)?;
    let mut summary = Summary::new(Kind::Frame);
    summary.add(survey.json());
    survey.add_lines(&mut summary);
    Ok(summary)
}

impl<'a> Survey<'a> {
    fn of(frame: &'a Frame) -> Result<Self> {
        let mut survey = Self {
            frame,
            meta: frame.array_meta()?,
            tensor: None,
            codecs: Vec::new(),
            vlmetalayers: Vec::new(),
            notes: Vec::new(),
        };
        if frame.was_interrupted() {
            survey.notes.push(crate::interrupted());
        }
        if let Some(meta) = &survey.meta {
            meta.check(frame.header())?;
        }
        if survey.meta.is_none() {
            match Tensor::of(frame) {
                Ok(tensor) => survey.tensor = tensor,
                Err(error) => survey.notes.push(error.to_string()),
            }
        }
        survey.survey_chunks();
        for name in frame.vlmetalayers() {
            match frame.vlmetalayer(name) {
                Ok(bytes) => {
                    let len = bytes.map_or(0, |bytes| bytes.len());
                    survey.vlmetalayers.push((name, len));
                }
                Err(error) => survey.notes.push(error.to_string()),
            }
        }
        Ok(survey)
    }

    /// Collects the codecs from the headers of the first chunks.
    fn survey_chunks(&mut self) {
        let (frame, mut codecs) = (self.frame, Vec::new());
        let all = frame.chunks();
        for number in 0..all.min(MAX_CHUNKS) {
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
        if all > MAX_CHUNKS {
            self.notes.push(format!(
                "the codecs are those of the first {MAX_CHUNKS} of {all} chunks"
            ));
        }
        self.codecs = distinct(codecs.into_iter());
    }

    fn layout(&self) -> &'static str {
        match (&self.meta, &self.tensor) {
            (Some(meta), _) => meta.kind.name(),
            (None, Some(_)) => "tensor",
            (None, None) => "frame",
        }
    }

    fn is_contiguous(&self) -> bool {
        self.frame.kind() == FrameKind::Contiguous
    }

    /// The dtype in NumPy's notation, or as stored if it is unknown.
    fn dtype(&self) -> Option<String> {
        if let Some(tensor) = &self.tensor {
            return Some(tensor.dtype().to_string());
        }
        let dtype = self.meta.as_ref()?.dtype.as_ref()?;
        let known = DType::parse(&dtype.text).map(|dtype| dtype.to_string());
        Some(known.unwrap_or_else(|_| dtype.text.clone()))
    }

    fn shape(&self) -> Option<&[u64]> {
        let tensor = self.tensor.as_ref().map(Tensor::shape);
        tensor.or(self.meta.as_ref().map(|meta| &*meta.shape))
    }

    /// Uncompressed bytes of the array, or of all chunks if there is no array.
    fn content_len(&self) -> u64 {
        let itemsize = self.frame.typesize().into();
        match &self.meta {
            Some(meta) => Region::all(&meta.shape).bytes(itemsize),
            None => self.frame.content_len(),
        }
    }

    /// Uncompressed bytes of the last chunk, if there are chunks.
    fn last_chunk(&self) -> Option<u64> {
        let before = self.frame.chunks().checked_sub(1)? * u64::from(self.frame.chunk_size());
        // A frame may claim fewer bytes than its chunks have.
        Some(self.frame.content_len().saturating_sub(before))
    }

    fn json(&self) -> Value {
        let (frame, header) = (self.frame, self.frame.header());
        let meta = self.meta.as_ref();
        let before = frame.metalayers().iter();
        let before = before.map(|(name, bytes)| (name, bytes.len()));
        json!({
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
            "virtual": frame.virtual_data().map(|found| self.virtual_json(found)),
            "dtype": self.dtype(),
            "shape": self.shape(),
            "chunkshape": meta.map(|meta| &meta.chunk_shape),
            "blockshape": meta.map(|meta| &meta.block_shape),
            "attributes": {},
            "columns": null,
            "notes": self.notes,
        })
    }

    fn virtual_json(&self, found: &Virtual) -> Value {
        let operands = found
            .operands()
            .map(|(name, place)| (name.to_owned(), json!(place)));
        json!({
            "kind": found.kind().name(),
            "name": found.name(),
            "definition": found.definition(),
            "operands": operands.collect::<Map<String, Value>>(),
            "present_chunks": self.frame.present_chunks(),
        })
    }

    fn add_virtual_lines(&self, found: &Virtual, lines: &mut Summary) {
        let name = found
            .name()
            .map_or_else(String::new, |name| format!(" {}", plain(name)));
        lines.line("virtual", format_args!("{}{name}", found.kind()));
        for line in found.definition().into_iter().flat_map(str::lines) {
            lines.lines.push(Line::More(plain(line)));
        }
        for (name, place) in found.operands() {
            lines
                .lines
                .push(Line::More(format!("{} = {}", plain(name), plain(place))));
        }
        let (present, all) = (self.frame.present_chunks(), self.frame.chunks());
        lines.line("present", format_args!("{present} of {all} chunks"));
    }

    fn add_lines(&self, lines: &mut Summary) {
        let (frame, header) = (self.frame, self.frame.header());
        lines.line("kind", "frame");
        lines.line("layout", self.layout());
        lines.line("state", "complete");
        if let Some(found) = frame.virtual_data() {
            self.add_virtual_lines(found, lines);
        }
        let files = if self.is_contiguous() {
            "in one file"
        } else {
            "one per file"
        };
        lines.line("chunks", format_args!("{}, {files}", frame.chunks()));
        lines.line("chunk_size", pretty(frame.chunk_size().into()));
        lines.line("typesize", header.typesize);
        if let Some(found) = self.shape() {
            let dtype = self.dtype();
            lines.line(
                "dtype",
                dtype.unwrap_or_else(|| "not stated in the file".to_owned()),
            );
            lines.line("shape", shape(found));
        }
        if let Some(meta) = &self.meta {
            let wide = |lens: &[u32]| lens.iter().copied().map(u64::from).collect::<Vec<_>>();
            lines.line("chunk shape", shape(&wide(&meta.chunk_shape)));
            lines.line("block shape", shape(&wide(&meta.block_shape)));
        }
        lines.line("checksum", "None");
        lines.names("codecs", &self.codecs);
        lines.names("filters", &filters(header));
        lines.sizes(self.content_len(), Some(header.section_len));
        for (name, bytes) in frame.metalayers().iter() {
            lines.line("metalayer", layer(name, bytes.len()));
        }
        for (name, len) in &self.vlmetalayers {
            lines.line("vlmetalayer", layer(name, *len));
        }
        lines.notes(&self.notes);
    }
}

/// The bits of the flags that hold the format version.
const VERSION: u8 = 0x0f;

fn layer(name: &str, len: usize) -> String {
    format!("{name}, {}", pretty(to_u64(len)))
}

fn lengths<'a>(layers: impl Iterator<Item = (&'a str, usize)>) -> Value {
    let members: Map<String, Value> = layers
        .map(|(name, len)| (name.to_owned(), json!(len)))
        .collect();
    members.into()
}

/// The names of the filters that new blocks get, in order.
fn filters(header: &FrameHeader) -> Vec<&'static str> {
    let Ok(pipeline) = FilterPipeline::from_ids(header.filters, header.filters_meta) else {
        return vec!["unknown"];
    };
    let steps = pipeline.steps();
    let names: Vec<_> = steps
        .filter_map(|step| match step {
            FilterStep::None => None,
            FilterStep::Shuffle => Some("byte"),
            FilterStep::Bitshuffle => Some("bit"),
            FilterStep::Delta => Some("delta"),
            FilterStep::TruncatePrecision { .. } => Some("truncate"),
            FilterStep::TruncateInteger { .. } => Some("truncate-integer"),
            FilterStep::Bytedelta { .. } => Some("bytedelta"),
            FilterStep::BytedeltaFirst { .. } => Some("bytedelta-1"),
            FilterStep::Cells { .. } => Some("ndcell"),
            FilterStep::CellMeans { .. } => Some("ndmean"),
            _ => Some("unknown"),
        })
        .collect();
    if names.is_empty() {
        vec!["none"]
    } else {
        names
    }
}
