//! The container of an array in a directory, and the summary of such an array, which columns of tables share.

use super::dataset::Common;
use crate::selection::refuse_column;
use crate::summary::{Summary, distinct};
use crate::text::{count, pretty, shape};
use crate::{Container, Inner, Kind, MAX_CHUNKS, Outline, Region, Report, watch};
use bloscpack::Watch;
use bloscpack_array::Grid;
use bloscpack_datasets::{ArraySurvey, CArray};
use bloscpack_error::Result;
use serde_json::{Value, json};

/// An array in a directory of bcolz, BLZ or carray.
pub(crate) struct Array {
    array: CArray,
    common: Common,
}

impl Array {
    pub(crate) fn new(array: CArray, common: Common) -> Self {
        Self { array, common }
    }
}

impl Container for Array {
    fn kind(&self) -> Kind {
        Kind::Array
    }

    fn outline(&self) -> Result<Outline> {
        let array = &self.array;
        Ok(Outline {
            layout: Some(array.layout().name()),
            dtype: Some(array.dtype().to_string()),
            shape: Some(array.shape().to_vec()),
            bytes: Some(array.nbytes()),
            ..Outline::new(Kind::Array)
        })
    }

    fn summary(&self) -> Result<Summary> {
        let array = &self.array;
        let mut notes = self.common.notes(array.warnings());
        let surveyed = SurveyedArray::of(array)?;
        notes.extend(surveyed.notes(""));
        let mut summary = Summary::new(Kind::Array);
        summary.is_complete = surveyed.survey.missing == 0;
        let state = state(summary.is_complete);
        summary.add(json!({
            "kind": Kind::Array.name(),
            "layout": array.layout().name(),
            "format_version": null,
            "rows": array.rows(),
        }));
        surveyed.add_to(&mut summary);
        summary.add(ending(state, self.common.is_interrupted, &notes));
        summary.line("kind", Kind::Array);
        summary.line("layout", array.layout());
        summary.line("state", state);
        surveyed.add_lines(&mut summary);
        summary.line("checksum", array.checksum().name());
        summary.names("codecs", &surveyed.codecs());
        summary.names("filters", &surveyed.filters());
        summary.sizes(array.nbytes(), surveyed.survey.bytes);
        summary.attributes(array.attributes().text());
        summary.notes(&notes);
        Ok(summary)
    }

    fn verify(&self) -> Result<Report> {
        let (watch, total) = (&self.common.watch, self.array.nbytes());
        let report = self.array.verify(|bytes| watch::show(watch, bytes, total));
        Ok(self.common.report(report))
    }

    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn bloscpack_array::Array + '_>>> {
        refuse_column(column)?;
        Ok(Some(Box::new(&self.array)))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.common.warnings.take()
    }

    fn inner(&self) -> Inner<'_> {
        Inner::Array(&self.array)
    }

    fn watch(&self) -> &Watch {
        &self.common.watch
    }
}

/// The state in reports: `complete`, or `unfinished` if superchunks (the files in `data/`) are missing.
pub(crate) fn state(is_complete: bool) -> &'static str {
    if is_complete {
        "complete"
    } else {
        "unfinished"
    }
}

/// The last fields of a summary.
pub(crate) fn ending(state: &str, is_interrupted: bool, notes: &[String]) -> Value {
    json!({
        "max_app_chunks": null,
        "metadata": null,
        "state": state,
        "interrupted": is_interrupted,
        "notes": notes,
    })
}

/// An array with a survey of its superchunks (the files in `data/`).
pub(crate) struct SurveyedArray<'a> {
    pub array: &'a CArray,
    pub survey: ArraySurvey,
}

impl<'a> SurveyedArray<'a> {
    pub(crate) fn of(array: &'a CArray) -> Result<Self> {
        let survey = array.survey(MAX_CHUNKS)?;
        Ok(Self { array, survey })
    }

    pub(crate) fn codecs(&self) -> Vec<&'static str> {
        distinct(self.survey.compressors.iter().map(|codec| codec.name()))
    }

    pub(crate) fn filters(&self) -> Vec<&'static str> {
        distinct(self.survey.filters.iter().map(|filter| filter.name()))
    }

    /// Uncompressed bytes of a full chunk.
    fn chunk_bytes(&self) -> u64 {
        Region::all(self.array.chunk_shape()).bytes(self.array.dtype().itemsize())
    }

    /// Uncompressed bytes of the last chunk, if there are chunks.
    fn last_chunk(&self) -> Option<u64> {
        let last = self.array.chunks().checked_sub(1)?;
        let (shape, chunk) = (self.array.shape(), self.array.chunk_shape());
        let grid = Grid::new(shape.to_vec(), chunk.to_vec());
        Some(
            grid.extent(&grid.position(last))
                .bytes(self.array.dtype().itemsize()),
        )
    }

    /// Notes on everything unusual, each with this prefix.
    pub(crate) fn notes(&self, prefix: &str) -> Vec<String> {
        let survey = &self.survey;
        let mut notes: Vec<String> = Vec::new();
        let mut note = |text: String| notes.push(format!("{prefix}{text}"));
        if survey.missing > 0 {
            let all = count(survey.superchunks, "superchunk");
            note(format!("{} of {all} missing", survey.missing));
        }
        if let Some(error) = &survey.trouble {
            note(error.to_string());
        }
        if survey.stale > 0 {
            note(format!(
                "{} after the last one, with rows that were removed or never counted",
                count(survey.stale, "stale superchunk")
            ));
        }
        if survey.foreign > 0 {
            note(format!(
                "{} among the superchunks, not part of the dataset",
                count(survey.foreign, "other file")
            ));
        }
        let (seen, all) = (survey.chunks, self.array.chunks());
        if seen >= MAX_CHUNKS && seen < all {
            note(format!(
                "the codecs are those of the first {seen} of {all} chunks"
            ));
        }
        notes
    }

    /// Adds the JSON fields of the array, without those that describe the whole dataset.
    pub(crate) fn add_to(&self, summary: &mut Summary) {
        let array = self.array;
        summary.add(json!({
            "dtype": array.dtype().to_string(),
            "shape": array.shape(),
            "chunkshape": array.chunk_shape(),
            "blockshape": null,
            "columns": null,
            "default": default(array),
            "expected_rows": array.expected_rows(),
            "checksum": array.checksum().name(),
            "typesize": array.typesize(),
            "chunk_size": self.chunk_bytes(),
            "last_chunk": self.last_chunk(),
            "nchunks": array.chunks(),
            "chunks_per_superchunk": array.superchunk(),
            "superchunks": array.superchunks(),
            "indexed_superchunks": self.survey.indexed,
            "uncompressed_bytes": array.nbytes(),
            "compressed_bytes": self.survey.bytes,
            "stated_cbytes": array.stated_cbytes(),
            "codecs": self.codecs(),
            "filters": self.filters(),
        }));
        summary.add_json("attributes", array.attributes().text());
    }

    /// Adds the text lines of the array.
    fn add_lines(&self, summary: &mut Summary) {
        let array = self.array;
        summary.line("dtype", array.dtype());
        summary.line("shape", shape(array.shape()));
        summary.line("chunk shape", shape(array.chunk_shape()));
        summary.line("chunk_size", pretty(self.chunk_bytes()));
        summary.line("chunks", array.chunks());
        let chunks = count(array.superchunk(), "chunk");
        let superchunks = format_args!("{}, of {chunks}", array.superchunks()).to_string();
        summary.line("superchunks", superchunks);
        summary.line("default", default(array));
        if let Some(index) = self.index() {
            summary.line("index", index);
        }
    }

    /// The state of the index; `None` without an index.
    pub(crate) fn index(&self) -> Option<String> {
        let (indexed, all) = (self.survey.indexed?, self.array.superchunks());
        let counted = count(all, "superchunk");
        Some(if indexed == all {
            format!("of {counted}")
        } else {
            format!("out of date: of {indexed} of {counted}")
        })
    }
}

/// The largest element of zeros, in bytes, that is shown in the notation of its dtype.
const MAX_ZEROS: u64 = 4096;

/// The value of elements that were never set: one element, the elements of a row, or 0 for zeros of more than [`MAX_ZEROS`]
/// bytes.
fn default(array: &CArray) -> Value {
    let dtype = array.dtype();
    let zeros = match usize::try_from(dtype.itemsize()) {
        Ok(itemsize) if dtype.itemsize() <= MAX_ZEROS => vec![0; itemsize],
        _ => Vec::new(),
    };
    let bytes = match array.default_element() {
        Some(bytes) => bytes,
        None if dtype.itemsize() > MAX_ZEROS => return 0.into(),
        None => &zeros,
    };
    match usize::try_from(dtype.itemsize()) {
        Ok(itemsize) if itemsize > 0 && bytes.len() != itemsize => {
            bytes.chunks(itemsize).map(|one| dtype.value(one)).collect()
        }
        _ => dtype.value(bytes),
    }
}
