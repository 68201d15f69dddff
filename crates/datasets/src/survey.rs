//! [`ArraySurvey`]: what the superchunks of an array are, told by names, lengths and headers.

use super::leaf::Leaf;
use super::{CArray, Dataset};
use blosc1::{ChunkHeader, CompressorFormat, Filter, HEADER_LEN};
use bloscpack_error::{Category, Error, Result};
use bloscpack_storage::{EntryKind, Object};
use bloscpack_wire::Checksum;
use std::collections::BTreeSet;

/// What the superchunks of an array are; see [`CArray::survey`].
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ArraySurvey {
    /// Superchunks that there should be.
    pub superchunks: u64,
    /// How many of them are not there.
    pub missing: u64,
    /// Bytes of those that are, with all that is in them.
    pub bytes: u64,
    /// Files with names of superchunks behind the last, which nobody reads.
    pub stale: u64,
    /// Other files in their folder, which nobody reads either.
    pub foreign: u64,
    /// Chunks whose headers were looked at.
    pub chunks: u64,
    /// What the streams of these chunks were made by, each once; pure copies have none.
    pub compressors: Vec<CompressorFormat>,
    /// The filters of these chunks, each once; without those of Blosc 2, which has up to six a chunk.
    pub filters: Vec<Filter>,
    /// The first thing that is wrong with any of them.
    pub trouble: Option<Error>,
}

impl CArray {
    /// Looks at all of its superchunks, and at the headers of so many chunks at most. Nothing is decompressed, and no digest
    /// compared.
    ///
    /// ```
    /// # use bloscpack_datasets::CArray;
    /// # use blosc1::CompressorFormat;
    /// let array = CArray::open("../../testdata/datasets/bcolz/codec_zlib_bitshuffle_cl5")?;
    /// let survey = array.survey(1000)?;
    /// assert_eq!(survey.missing, 0);
    /// assert_eq!(survey.compressors, [CompressorFormat::Zlib]);
    /// # Ok::<(), bloscpack_error::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the store; what is wrong with the superchunks is [told](ArraySurvey::trouble).
    pub fn survey(&self, chunks: u64) -> Result<ArraySurvey> {
        let leaf = self.leaf();
        let mut survey = ArraySurvey {
            superchunks: leaf.files(),
            ..ArraySurvey::default()
        };
        // Only names that are there are counted, however many a shape makes one expect.
        for number in survey.list(leaf)? {
            survey.look(leaf, number, chunks)?;
        }
        Ok(survey)
    }

    /// What is computed over each chunk, in the layouts that have a place for it.
    #[must_use]
    pub fn checksum(&self) -> Checksum {
        let framing = self.leaf().spec().container.framing();
        framing.map_or(Checksum::None, |framing| framing.checksum)
    }

    /// Bytes of an element, as its chunks are told.
    #[must_use]
    pub fn typesize(&self) -> u8 {
        self.leaf().spec().typesize()
    }

    /// Chunks of a superchunk; the last may have fewer.
    #[must_use]
    pub fn superchunk(&self) -> u64 {
        self.leaf().spec().per_file.get()
    }

    /// Number of superchunks.
    #[must_use]
    pub fn superchunks(&self) -> u64 {
        self.leaf().files()
    }

    /// How many rows its writer expected, which the length of its chunks was chosen by.
    #[must_use]
    pub fn expected_rows(&self) -> u64 {
        self.leaf().spec().expected_rows
    }
}

impl Dataset {
    /// Whether its last writer was interrupted in a change, which was completed now, or is read through its journal.
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        let home = match self {
            Self::Array(array) => array.home(),
            Self::Table(table) => table.home(),
        };
        home.root.was_interrupted()
    }

    /// What is not as it should be, and does not keep it from being read: where, and what.
    #[must_use]
    pub fn notes(&self) -> Vec<(&str, &str)> {
        match self {
            Self::Array(array) => array.notes().collect(),
            Self::Table(table) => table.notes().collect(),
        }
    }
}

impl ArraySurvey {
    /// The numbers of the superchunks that are there, in order.
    fn list(&mut self, leaf: &Leaf) -> Result<BTreeSet<u64>> {
        let mut there = BTreeSet::new();
        for entry in leaf.list()? {
            let number = entry
                .name
                .to_str()
                .and_then(|name| leaf.spec().naming.number(name));
            match number {
                // What is no file is in the way of one, which is told when it is looked at.
                Some(number) if number < self.superchunks => {
                    there.insert(number);
                }
                Some(_) if entry.kind == EntryKind::File => {
                    self.stale = self.stale.saturating_add(1);
                }
                _ if entry.kind == EntryKind::Folder => {}
                _ => self.foreign = self.foreign.saturating_add(1),
            }
        }
        let count = u64::try_from(there.len()).unwrap_or(u64::MAX);
        self.missing = self.superchunks.saturating_sub(count);
        Ok(there)
    }

    /// Looks at a superchunk.
    fn look(&mut self, leaf: &Leaf, number: u64, most: u64) -> Result<()> {
        let key = leaf.key(number)?;
        let first = number.saturating_mul(leaf.spec().per_file.get());
        let file = match leaf.open(number, first) {
            Err(error) if error.category() == Category::Damaged => {
                self.trouble.get_or_insert(error.in_file(&key));
                return Ok(());
            }
            file => file?,
        };
        self.bytes = self.bytes.saturating_add(file.size()?);
        if self.chunks >= most {
            return Ok(());
        }
        if let Err(error) = self.look_into(leaf, number, file.as_ref(), most) {
            self.trouble.get_or_insert(error.in_file(&key));
        }
        Ok(())
    }

    fn look_into(&mut self, leaf: &Leaf, number: u64, file: &dyn Object, most: u64) -> Result<()> {
        for place in &leaf.contents(number, file)?.places {
            if self.chunks >= most {
                break;
            }
            let mut head = [0; HEADER_LEN];
            file.read_exact_at(place.at, &mut head)?;
            let header = ChunkHeader::parse(&head)?;
            self.chunks = self.chunks.saturating_add(1);
            self.count(&header);
        }
        Ok(())
    }

    fn count(&mut self, header: &ChunkHeader) {
        if let Some(format) = header.compressor_format()
            && header.may_have_streams()
            && !self.compressors.contains(&format)
        {
            self.compressors.push(format);
        }
        // An extended header of Blosc 2 has its filters in the half that is not looked at.
        if !header.is_extended() && !self.filters.contains(&header.filter()) {
            self.filters.push(header.filter());
        }
    }
}
