//! The container of Bloscpack files, with content or with records.

use super::members::{
    self, codecs, filters, form, header, is_complete, is_indexed, lines, records, state,
};
use crate::bytes::Bytes;
use crate::elements;
use crate::error::{needs_file, no_chunk};
use crate::exchange::{
    BoxedSource, ImportOptions, NextLine, NumpyFile, PartSource, UserAttributes, open_records,
};
use crate::selection::refuse_column;
use crate::summary::{MEMBERS, Summary, distinct};
use crate::{Container, Kind, Outline, Part, Report, Selection, text};
use bloscpack::indexed::IndexedReader;
use bloscpack::records::{IndexedRecordReader, RecordReader};
use bloscpack::survey::{Member, each_member, each_member_of_file};
use bloscpack::verify::{Damage, verify, verify_source};
use bloscpack::{Decoder, Watch};
use bloscpack_array::{Array, Attributes};
use bloscpack_error::{Error, Result};
use bloscpack_storage::SharedSource;
use bloscpack_storage::{ReadAt as _, SourceReader};
use bloscpack_wire::{Form, Offsets};
use serde_json::json;
use std::io::{Read, Write};
use std::sync::{Arc, OnceLock};

/// Ranges of more bytes are read in order with several threads, if they begin early enough in the file.
const LONG: u64 = 64 << 20;

/// A Bloscpack file, read from a source or a stream.
pub(crate) struct BloscpackFile {
    bytes: Bytes,
    /// The NumPy array in the file, parsed when it is first needed.
    array: OnceLock<NumpyFile<SharedSource>>,
    /// A watch without a function: progress is counted where bytes of the file are read.
    unwatched: Watch,
}

impl BloscpackFile {
    pub(crate) fn new(bytes: Bytes) -> Self {
        Self {
            bytes,
            array: OnceLock::new(),
            unwatched: Watch::default(),
        }
    }

    /// A reader that finds chunks by the offset table, with a cache of this many bytes.
    fn indexed(&self, cache: usize) -> Result<IndexedReader<SharedSource>> {
        let source = self.bytes.source().ok_or_else(needs_file)?;
        let options = self.bytes.options.clone().cache(cache);
        IndexedReader::with_options(source.clone(), options)
    }

    /// The metadata without the keys that describe the records.
    fn attributes_of_records(&self) -> Result<UserAttributes> {
        let source = self.bytes.source().ok_or_else(needs_file)?;
        let options = self.bytes.options.clone();
        let reader = IndexedRecordReader::with_options(source.clone(), options)?;
        let metadata = reader.metadata().filter(|metadata| metadata.is_object());
        let text = metadata.map_or("{}", |metadata| metadata.text());
        let mut attributes = Attributes::parse(text.as_bytes())?;
        for key in ["dtype", "packing", "shape"] {
            attributes.remove(key);
        }
        Ok(UserAttributes::new(attributes))
    }

    /// Copies a part of the content, and returns the number of bytes.
    fn copy_content(&self, part: &Part, to: &mut dyn Write) -> Result<u64> {
        if let Some(copied) = self.copy_by_position(part, to)? {
            return Ok(copied);
        }
        let mut options = self.bytes.options.clone();
        if let Part::Bytes(bounds) = part {
            options = options.range(bounds.range());
        }
        match self.bytes.source() {
            Some(source) => {
                let source = Arc::new(Arc::clone(source));
                self.copy_decoded(Decoder::from_source(source, 0, options)?, part, to)
            }
            None => {
                let decoder = Decoder::with_options(self.bytes.reader()?, options);
                self.copy_decoded(decoder, part, to)
            }
        }
    }

    fn copy_decoded<R: Read>(
        &self,
        mut decoder: Decoder<R>,
        part: &Part,
        to: &mut dyn Write,
    ) -> Result<u64> {
        let done = decoder.copy_to(to);
        self.bytes.warn(decoder.warnings());
        part.check(done?, decoder.passed())
    }

    /// Reads a part without what precedes it. `None` if reading in order is faster, or possible where this is not.
    fn copy_by_position(&self, part: &Part, to: &mut dyn Write) -> Result<Option<u64>> {
        let bounds = match part {
            Part::Bytes(bounds) if self.bytes.source().is_some() => Some(*bounds),
            Part::Chunk(_) => None,
            _ => return Ok(None),
        };
        let reader = match self.indexed(0) {
            Ok(reader) => reader,
            // The sound part before the damage can still be read in order.
            Err(_) if bounds.is_some() => return Ok(None),
            Err(error) => return Err(error),
        };
        self.bytes.warn(reader.warnings());
        let (range, is_chunk) = match part {
            Part::Chunk(chunk) => (chunk_range(&reader, *chunk)?, true),
            _ => (bounds.unwrap_or_default().range(), false),
        };
        let end = range.end.min(reader.content_len());
        // A range may begin past the end.
        let len = end.saturating_sub(range.start);
        if !is_chunk && len > LONG && len >= range.start {
            return Ok(None);
        }
        let copied = reader.copy_range(range.start..end, to)?;
        part.check(copied, reader.content_len()).map(Some)
    }
}

/// The range of the content that a chunk holds.
fn chunk_range(reader: &IndexedReader<SharedSource>, chunk: u64) -> Result<std::ops::Range<u64>> {
    let chunks = reader.chunks();
    let range = reader.chunk_range(chunk)?;
    range.ok_or_else(|| no_chunk(chunk, chunks))
}

impl Container for BloscpackFile {
    fn kind(&self) -> Kind {
        if self.bytes.form.is_some_and(|form| form.has_records()) {
            Kind::Records
        } else {
            Kind::Bloscpack
        }
    }

    fn outline(&self) -> Result<Outline> {
        let mut outline = Outline::new(self.kind());
        if self.kind() == Kind::Bloscpack && self.bytes.source().is_some() {
            outline.bytes = Some(self.indexed(0)?.content_len());
        }
        Ok(outline)
    }

    fn summary(&self) -> Result<Summary> {
        let mut members = Vec::new();
        let mut summary = self.summary_with(&mut |member| {
            members.push(member);
            Ok(())
        })?;
        summary.set_members(members);
        Ok(summary)
    }

    fn summary_with(&self, take: &mut dyn FnMut(Summary) -> Result<()>) -> Result<Summary> {
        let options = self.bytes.options.clone();
        let mut totals = Totals::new(take);
        let take = |member| totals.add(member);
        let (len, (_, warnings)) = match self.bytes.source() {
            Some(source) => {
                let file = SourceReader::new(source.clone());
                (
                    source.size().ok(),
                    each_member_of_file(file, &options, take)?,
                )
            }
            None => (None, each_member(self.bytes.reader()?, &options, take)?),
        };
        self.bytes.warn(&warnings);
        totals.end(&self.bytes)?;
        Ok(totals.summary(self.kind(), len, &warnings))
    }

    fn verify(&self) -> Result<Report> {
        let mut damages = Vec::new();
        let mut report = self.verify_with(&mut |damage| {
            damages.push(damage);
            Ok(())
        })?;
        report.damages = damages;
        Ok(report)
    }

    fn verify_with(&self, take: &mut dyn FnMut(Damage) -> Result<()>) -> Result<Report> {
        let options = self.bytes.options.clone();
        let report = match self.bytes.source() {
            Some(source) => verify_source(&Arc::new(Arc::clone(source)), &options, take),
            None => verify(self.bytes.reader()?, &options, take),
        };
        report.map(Report::from)
    }

    fn copy(&self, selection: &Selection, to: &mut dyn Write) -> Result<u64> {
        selection.refuse_columns()?;
        match (&selection.part, self.bytes.form) {
            (part @ (Part::Rows(_) | Part::Slice(_)), _) => {
                if self.kind() == Kind::Records {
                    return Err(
                        Error::usage("rows or a slice of records, which have neither")
                            .with_hint("blpk records get FILE A..B prints records"),
                    );
                }
                let array = self.array(None)?.ok_or_else(needs_file)?;
                elements::copy(&*array, part, to, &self.unwatched)
            }
            (part, Some(Form::Packed { .. })) => super::records::copy(&self.bytes, part, to),
            (part, _) => self.copy_content(part, to),
        }
    }

    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        if self.kind() == Kind::Records {
            return Ok(None);
        }
        refuse_column(column)?;
        let array = match self.array.get() {
            Some(array) => array,
            None => {
                let reader = self.indexed(bloscpack_array::BATCH)?;
                self.bytes.warn(reader.warnings());
                let array = NumpyFile::new(reader)?;
                self.array.get_or_init(|| array)
            }
        };
        Ok(Some(Box::new(array)))
    }

    /// Records are rows: of a table if they are JSON objects, otherwise of a column of text.
    fn columns(&self, selection: &Selection) -> Result<BoxedSource<'_>> {
        if self.kind() != Kind::Records {
            return crate::columns_of_arrays(self, selection);
        }
        let open = || -> Result<NextLine> {
            let mut records =
                RecordReader::with_options(self.bytes.reader()?, self.bytes.options.clone());
            Ok(Box::new(move |line| {
                line.clear();
                let record = records.next_record()?;
                Ok(record
                    .map(|record| line.extend_from_slice(record))
                    .is_some())
            }))
        };
        // Records are converted to anything, also to formats without lists.
        let options = ImportOptions::new().keep_missing().lists_as_text();
        let source = open_records(open, &options)?;
        let region = selection.part.region(&[source.known_rows()?])?;
        let rows = region.ranges.first().cloned().unwrap_or(0..0);
        Ok(Box::new(PartSource::new(source, &selection.columns, rows)?))
    }

    fn attributes(&self, _: Option<&str>) -> Result<UserAttributes> {
        if self.bytes.source().is_none() {
            return Ok(UserAttributes::default());
        }
        if self.kind() == Kind::Records {
            return self.attributes_of_records();
        }
        let reader = self.indexed(0)?;
        let metadata = reader.metadata().filter(|metadata| metadata.is_object());
        let attributes = metadata.map(crate::numpy_file::attributes_of_metadata);
        let attributes = attributes.transpose()?.unwrap_or_default();
        Ok(UserAttributes::new(attributes))
    }

    fn take_warnings(&self) -> Vec<String> {
        self.bytes.warnings.take()
    }

    fn watch(&self) -> &Watch {
        // Progress is counted where bytes of the file are read.
        &self.unwatched
    }

    fn source(&self) -> Option<&SharedSource> {
        self.bytes.source()
    }
}

/// The totals over all members (concatenated files). Each member's summary is passed on.
struct Totals<'a> {
    take: &'a mut dyn FnMut(Summary) -> Result<()>,
    count: u64,
    first: Option<Member>,
    /// The number of records in all members, if it is known.
    records: Option<u64>,
    chunks: u64,
    uncompressed: u64,
    compressed: u64,
    codecs: Vec<&'static str>,
    filters: Vec<&'static str>,
    /// The state of the first member that is not complete.
    broken: Option<&'static str>,
    is_indexed: bool,
}

impl<'a> Totals<'a> {
    fn new(take: &'a mut dyn FnMut(Summary) -> Result<()>) -> Self {
        Self {
            take,
            count: 0,
            first: None,
            records: Some(0),
            chunks: 0,
            uncompressed: 0,
            compressed: 0,
            codecs: Vec::new(),
            filters: Vec::new(),
            broken: None,
            is_indexed: true,
        }
    }

    fn add(&mut self, mut member: Member) -> Result<()> {
        member.offsets = Offsets::Absent;
        let records = records(&member);
        // Saturates: the sums are only shown, and hostile members may claim any number.
        let sum = self.records.zip(records);
        self.records = sum.map(|(sum, more)| sum.saturating_add(more));
        self.chunks = self.chunks.saturating_add(member.chunks);
        self.uncompressed = self.uncompressed.saturating_add(member.uncompressed);
        self.compressed = self.compressed.saturating_add(member.compressed);
        self.codecs = distinct(self.codecs.drain(..).chain(codecs(&member)));
        self.filters = distinct(self.filters.drain(..).chain(filters(&member)));
        self.is_indexed &= is_indexed(&member);
        if self.broken.is_none() && !is_complete(&member) {
            self.broken = Some(state(&member));
        }
        self.count += 1;
        let Some(first) = &self.first else {
            // If it is the only member, its packed records are counted later.
            self.first = Some(member);
            return Ok(());
        };
        if self.count == 2 {
            (self.take)(members::summary(first, members::records(first)))?;
        }
        (self.take)(members::summary(&member, records))
    }

    /// Passes on the summary of an only member, and counts its packed records if no header states their number.
    fn end(&mut self, file: &Bytes) -> Result<()> {
        let Some(first) = self.first.as_ref().filter(|_| self.count == 1) else {
            return Ok(());
        };
        let is_packed = matches!(form(first), Some(Form::Packed { .. }));
        if let (true, None, Some(source)) = (is_packed, self.records, file.source()) {
            let options = file.options.clone().allow_unterminated(true);
            let records = IndexedRecordReader::with_options(source.clone(), options).ok();
            self.records = records.map(|records| records.len());
        }
        (self.take)(members::summary(first, self.records))
    }

    /// The summary of the whole file, with an empty list of members.
    fn summary<T: ToString>(self, kind: Kind, len: Option<u64>, warnings: &[T]) -> Summary {
        let mut summary = match &self.first {
            Some(first) => header(first, self.records),
            None => Summary::new(kind),
        };
        summary.is_complete = self.broken.is_none();
        match &self.first {
            Some(first) if self.count == 1 => summary.lines = lines(first, self.records),
            _ => {
                if let Some(records) = self.records {
                    summary.line("records", records);
                }
                summary.line("chunks", self.chunks);
                summary.sizes(self.uncompressed, Some(self.compressed));
            }
        }
        if let Some(len) = len {
            summary.line("file_bytes", text::pretty(len));
        }
        summary.add(json!({
            "chunks": self.chunks,
            "uncompressed_bytes": self.uncompressed,
            "compressed_bytes": self.compressed,
            "file_bytes": len,
            "codecs": self.codecs,
            "filters": self.filters,
            "state": self.broken.unwrap_or("complete"),
            "indexed": self.is_indexed,
        }));
        summary.add_parts(MEMBERS, Vec::new());
        let warnings: Vec<_> = warnings.iter().map(T::to_string).collect();
        summary.append("warnings", warnings);
        summary
    }
}
