//! An array of NumPy in a Bloscpack file into a dataset, and back.

use std::path::Path;

use bloscpack::{
    Compressor, Encoder, Error, Metadata,
    dataset::{Attributes, CArray, DatasetLayout},
    exchange::{ArraySource, Source, import_array},
};
use serde_json::json;

use super::Convert;
use crate::dataset::new::{New, file_permissions, refuse_within};
use crate::dataset::selection::Selection;
use crate::dataset::source::{Elements, Watched};
use crate::dataset::{Array, failure, options};
use crate::input::Input;
use crate::message::{Failure, quoted};
use crate::output::{Output, spare_terminal};
use crate::session::Session;
use crate::status::Status;

/// Where the attributes of an array stand among the metadata, beside what NumPy's are.
const ATTRIBUTES: &str = "attributes";

impl Convert {
    /// A Bloscpack file into an array.
    pub(super) fn file_to_array(
        &self,
        layout: Option<DatasetLayout>,
        session: &Session,
    ) -> Result<Status, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let new = New::begin(&self.output, &self.path, session)?;
        let attributes = attributes(&input, session);
        Selection::ALL.of_file(&input, session, |source| {
            let read = |error: &Error| Failure::library(input.name(), error).or_recover();
            self.source_to_array(source, attributes, layout, (&new, &read), session)
        })?;
        new.commit(session)?;
        Ok(Status::Done)
    }

    /// Rows into an array of a dataset; `read` tells why they could not be read.
    pub(super) fn source_to_array(
        &self,
        source: &mut dyn Source,
        attributes: Attributes,
        layout: Option<DatasetLayout>,
        (new, read): (&New<'_>, &dyn Fn(&Error) -> Failure),
        session: &Session,
    ) -> Result<(), Failure> {
        let builder = source.schema().array_builder();
        let (rows, mut watched) = (source.rows(), Watched::new(source, session));
        let done = builder.and_then(|builder| {
            let builder = builder.expected_rows(rows).attributes(attributes);
            let builder = self
                .making
                .array(builder)
                .layout(layout.unwrap_or_default());
            let builder = builder.replace(new.replaces()).options(options(session));
            let mut array = builder.create(new.folder())?;
            import_array(&mut watched, &mut array, &mut |_| ())
        });
        done.map_err(|error| new.explain(&error, watched.has_failed().then(|| read(&error))))
    }

    /// An array into a Bloscpack file.
    pub(super) fn array_to_file(&self, session: &Session) -> Result<Status, Failure> {
        refuse_within(&self.output, &self.path)?;
        let array = Array::open(&self.path, self.column.as_deref(), session)?;
        let array = array.get(&self.path)?;
        let metadata = self.metadata(array, &self.path)?;
        let like = file_permissions(&self.path);
        let mut output = Output::create_like(&self.output, &[], like, session)?;
        if output.is_terminal() && !session.force {
            return Err(spare_terminal("compressed data"));
        }
        let codec = self.making.codec.unwrap_or_else(|| codec_of(array));
        let mut builder = Encoder::builder()
            .layout(self.header())
            .compressor(codec)
            .level(self.making.level.unwrap_or(codec.default_level()))
            .typesize(array.typesize())
            .threads(session.threads)
            .size(array.nbytes());
        if let Some(metadata) = metadata {
            builder = builder.metadata(metadata);
        }
        if let Some(filter) = self.making.filter() {
            builder = builder.filter(filter);
        }
        if let Some(checksum) = self.making.checksum {
            builder = builder.checksum(checksum);
        }
        if let Some(bytes) = self.chunk_size {
            builder = builder.chunk_size(bytes);
        }
        let mut source = ArraySource::new(array);
        let mut watched = Watched::new(&mut source, session);
        let mut elements = Elements::new(&mut watched);
        let done = super::file::encode(builder, &mut elements, &mut output);
        done.map_err(|error| match output.has_failed() {
            true => output.explain(Failure::library(output.name(), &error)),
            false => output.explain(failure(&self.path, &error)),
        })?;
        output.commit()?;
        Ok(Status::Done)
    }

    /// What tells NumPy of the array, as Bloscpack's `pack_ndarray` writes it.
    fn metadata(&self, array: &CArray, path: &Path) -> Result<Option<Metadata>, Failure> {
        if self.format == Some(1) {
            let title = format!(
                "{}: --format 1 has no place for the shape of an array",
                quoted(path)
            );
            return Err(Failure::usage(title).hint("--format 2 or 3"));
        }
        let descr = array.dtype().descr();
        let descr = descr.map_err(|error| Failure::library(quoted(path), &error.into()))?;
        let mut object = json!({
            "dtype": descr,
            "shape": array.shape(),
            "order": "C",
            "container": "numpy",
        });
        if !array.attributes().is_empty() {
            object[ATTRIBUTES] = array.attributes().to_value();
        }
        let metadata = Metadata::from_json(object.to_string());
        metadata
            .map(Some)
            .map_err(|error| Failure::library(quoted(path), &Error::from(error)))
    }
}

/// The attributes that [`Convert::array_to_file`] wrote among the metadata.
fn attributes(input: &Input, session: &Session) -> Attributes {
    let found = input.at_positions().and_then(|file| {
        let reader = bloscpack::IndexedReader::builder()
            .limits(session.limits)
            .open(file);
        let reader = reader.ok()?;
        let text = reader.metadata()?.get_text(ATTRIBUTES)?;
        Attributes::parse(text.as_bytes()).ok()
    });
    found.unwrap_or_default()
}

/// What its first chunks were compressed by.
pub fn codec_of(array: &CArray) -> Compressor {
    let survey = array.survey(100).ok();
    let format = survey.and_then(|survey| survey.compressors.first().copied());
    super::file::compressor(format)
}
