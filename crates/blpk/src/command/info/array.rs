//! What `info` says of an array in a directory, be it a dataset or a column.

use bloscpack::dataset::{ArraySurvey, CArray};
use serde_json::{Value, json};

use super::distinct;
use super::json::PLACE;
use crate::command::verify::count;

/// Chunks whose headers are looked at, of each array.
pub const MOST_CHUNKS: u64 = 10_000;

/// An array, and what its superchunks are.
pub struct Found<'a> {
    pub array: &'a CArray,
    pub survey: ArraySurvey,
}

impl<'a> Found<'a> {
    pub fn look(array: &'a CArray) -> bloscpack::Result<Self> {
        let survey = array.survey(MOST_CHUNKS)?;
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
        let axes = self.array.chunk_shape().iter();
        axes.fold(self.array.dtype().itemsize(), |bytes, len| {
            bytes.saturating_mul(*len)
        })
    }

    /// Bytes of the elements that the last chunk has, where there is one.
    fn last_chunk(&self) -> Option<u64> {
        let last = self.array.chunks().checked_sub(1)?;
        let ranges =
            crate::dataset::read::chunk(last, self.array.shape(), self.array.chunk_shape());
        let lens = ranges
            .iter()
            .map(|range| range.end.saturating_sub(range.start));
        Some(lens.fold(self.array.dtype().itemsize(), u64::saturating_mul))
    }

    /// What is not as it should be.
    pub fn notes(&self, of: &str) -> Vec<String> {
        let survey = &self.survey;
        let mut notes: Vec<String> = Vec::new();
        let mut note = |text: String| notes.push(format!("{of}{text}"));
        if survey.missing > 0 {
            let (missing, all) = (survey.missing, survey.superchunks);
            note(format!("{missing} of {all} superchunks are missing"));
        }
        if let Some(error) = &survey.trouble {
            note(error.to_string());
        }
        if survey.stale > 0 {
            note(format!(
                "{} behind the last, with rows that were cut off or never counted",
                count(survey.stale, "stale superchunk")
            ));
        }
        if survey.foreign > 0 {
            note(format!(
                "{} among the superchunks, which nobody reads",
                count(survey.foreign, "other file")
            ));
        }
        let seen = survey.chunks;
        if seen >= MOST_CHUNKS && seen < self.array.chunks() {
            note(format!(
                "the codecs are those of the first {seen} chunks of {}",
                self.array.chunks()
            ));
        }
        notes
    }

    /// The answer for programs, but for what only the dataset knows.
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
            "attributes": PLACE,
        })
    }
}

/// Zeros are shown as the dtype has them up to this many bytes.
const MOST_ZEROS: u64 = 4096;

/// What new elements are: one, or the elements of a row; zero for a long one of zeros.
pub fn default(array: &CArray) -> Value {
    let dtype = array.dtype();
    let itemsize = usize::try_from(dtype.itemsize()).unwrap_or(0);
    let zeros;
    let bytes = match array.default_element() {
        Some(bytes) => bytes,
        None if dtype.itemsize() > MOST_ZEROS => return 0.into(),
        None => {
            zeros = vec![0; itemsize];
            &zeros
        }
    };
    if itemsize == 0 || bytes.len() == itemsize {
        return dtype.value(bytes);
    }
    bytes.chunks(itemsize).map(|one| dtype.value(one)).collect()
}
