//! The part of `info` about an array in a directory: a dataset or a column.

use bloscpack::dataset::{ArraySurvey, CArray};
use serde_json::{Value, json};

use super::distinct;
use super::json::PLACEHOLDER;
use crate::dataset::parts;
use crate::dataset::slice::Region;
use crate::text::count;

/// Chunks of each array whose headers are read.
pub const MAX_CHUNKS: u64 = 10_000;

/// An array with a survey of its superchunks.
pub struct SurveyedArray<'a> {
    pub array: &'a CArray,
    pub survey: ArraySurvey,
}

impl<'a> SurveyedArray<'a> {
    pub fn of(array: &'a CArray) -> bloscpack::Result<Self> {
        let survey = array.survey(MAX_CHUNKS)?;
        Ok(Self { array, survey })
    }

    pub fn codecs(&self) -> Vec<&'static str> {
        distinct(self.survey.compressors.iter().map(|codec| codec.name()))
    }

    pub fn filters(&self) -> Vec<&'static str> {
        distinct(self.survey.filters.iter().map(|filter| filter.name()))
    }

    /// Bytes of a full chunk.
    pub fn chunk_bytes(&self) -> u64 {
        Region::all(self.array.chunk_shape()).bytes(self.array.dtype().itemsize())
    }

    /// Bytes of the last chunk, if there is one.
    fn last_chunk(&self) -> Option<u64> {
        let last = self.array.chunks().checked_sub(1)?;
        let ranges = parts::chunk(last, self.array.shape(), self.array.chunk_shape());
        Some(Region { ranges }.bytes(self.array.dtype().itemsize()))
    }

    /// Notes on everything unusual, each after this prefix.
    pub fn notes(&self, prefix: &str) -> Vec<String> {
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

    /// The report for scripts, except for what only the dataset knows.
    pub fn json(&self) -> Value {
        let array = self.array;
        json!({
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
            "uncompressed_bytes": array.nbytes(),
            "compressed_bytes": self.survey.bytes,
            "stated_cbytes": array.stated_cbytes(),
            "codecs": self.codecs(),
            "filters": self.filters(),
            "attributes": PLACEHOLDER,
        })
    }
}

/// Zeros of up to this many bytes are shown as the dtype writes them.
const MAX_ZEROS: u64 = 4096;

/// The value of new elements: a single one, those of a row, or 0 for a long one of zeros.
pub fn default(array: &CArray) -> Value {
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
