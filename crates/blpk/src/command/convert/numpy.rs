//! The NumPy array in a Bloscpack file into a dataset, and back.

use bloscpack::{
    Encoder, EncoderBuilder, Error, FormatVersion, Metadata,
    dataset::{Attributes, CArray, DatasetLayout},
    exchange::{ArraySource, Source, import_array},
};
use serde_json::json;

use super::{Convert, codec_of};
use crate::args::with_given;
use crate::command::encoding::{Content, encode};
use crate::dataset::new::{NewDataset, file_permissions, refuse_within};
use crate::dataset::selection::Selection;
use crate::dataset::source::{ElementReader, ProgressSource};
use crate::dataset::{array, open, options};
use crate::failure::{Failure, RECOVER, VERIFY};
use crate::input::{self, Input};
use crate::output::Output;
use crate::session::Session;
use crate::text::quoted;

/// The key of an array's attributes in the metadata, beside the keys of NumPy.
const ATTRIBUTES: &str = "attributes";

impl Convert {
    /// Makes an array from a Bloscpack file, and returns its name.
    pub(super) fn file_to_array(
        &self,
        layout: Option<DatasetLayout>,
        session: &Session,
    ) -> Result<String, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let new = NewDataset::begin(&self.output, &self.path, session)?;
        let attributes = attributes(&input, session);
        Selection::ALL.of_file(&input, session, |source| {
            let done = self.source_to_array(source, attributes, layout, &new, session);
            done.map_err(|failure| failure.if_damaged(RECOVER))
        })?;
        let name = new.name();
        new.commit(session)?;
        Ok(name)
    }

    /// Rows into an array of a dataset.
    pub(super) fn source_to_array(
        &self,
        source: &mut dyn Source,
        attributes: Attributes,
        layout: Option<DatasetLayout>,
        new: &NewDataset<'_>,
        session: &Session,
    ) -> Result<(), Failure> {
        let created = |error| new.failed(&error);
        let builder = source.schema().array_builder().map_err(created)?;
        let builder = builder.expected_rows(source.rows()).attributes(attributes);
        let builder = self.storage.array(builder);
        let builder = builder.layout(layout.unwrap_or_default());
        let builder = builder.replace(new.replaces()).options(options(session));
        let mut array = builder.create(new.folder()).map_err(created)?;
        let mut source = ProgressSource::new(source, session);
        import_array(&mut source, &mut array, &mut |_| ())
            .map_err(|error| new.failed_from(&input::name(&self.path), &error))
    }

    /// Makes a Bloscpack file from an array, and returns its name.
    pub(super) fn array_to_file(&self, session: &Session) -> Result<String, Failure> {
        refuse_within(&self.output, &self.path)?;
        let dataset = open(&self.path, session)?;
        let array = array(&self.path, &dataset, self.column.as_deref())?;
        let builder = self.array_builder(array, session)?;
        let permissions = file_permissions(&self.path);
        let output = Output::create_with(permissions, &self.output, &[], session)?;
        let mut output = output.spare_terminal(session)?;
        let mut source = ArraySource::new(array);
        let mut source = ProgressSource::new(&mut source, session);
        let mut elements = ElementReader::new(&mut source);
        encode(builder, Content::Reader(&mut elements), &mut output).map_err(|error| {
            let failure = output.failed_from(&quoted(&self.path), &error);
            failure.if_damaged(VERIFY)
        })?;
        let name = output.name().to_owned();
        output.commit()?;
        Ok(name)
    }

    /// An encoder for the elements of an array.
    fn array_builder(&self, array: &CArray, session: &Session) -> Result<EncoderBuilder, Failure> {
        let metadata = self.metadata(array)?;
        let codec = self.storage.codec.codec;
        let codec = codec.unwrap_or_else(|| codec_of(array));
        let builder = Encoder::builder()
            .layout(self.header_format())
            .compressor(codec)
            .level(self.storage.codec.level.unwrap_or(codec.default_level()))
            .typesize(array.typesize())
            .threads(session.threads)
            .size(array.nbytes())
            .metadata(metadata);
        Ok(with_given!(builder,
            filter: self.storage.filter.filter(),
            checksum: self.storage.checksum,
            chunk_size: self.chunk_size,
        ))
    }

    /// The metadata that describes the array for NumPy, as `pack_ndarray` of the Python tool writes it.
    fn metadata(&self, array: &CArray) -> Result<Metadata, Failure> {
        let name = quoted(&self.path);
        if self.header_format() == FormatVersion::V1 {
            let title = format!("{name}: --format 1 cannot store the shape of an array");
            return Err(Failure::usage(title).hint("use --format 2 or 3"));
        }
        let failed = |error: Error| Failure::library(&name, &error);
        let descr = array.dtype().descr();
        let descr = descr.map_err(|error| failed(error.into()))?;
        let mut object = json!({
            "dtype": descr,
            "shape": array.shape(),
            "order": "C",
            "container": "numpy",
        });
        if !array.attributes().is_empty() {
            object[ATTRIBUTES] = array.attributes().to_value();
        }
        Metadata::from_json(object.to_string()).map_err(|error| failed(error.into()))
    }
}

/// The attributes that [`Convert::array_to_file`] has stored in the metadata.
fn attributes(input: &Input, session: &Session) -> Attributes {
    let found = input.by_position().and_then(|file| {
        let reader = bloscpack::indexed::IndexedReader::builder()
            .limits(session.limits)
            .open(file);
        let reader = reader.ok()?;
        let text = reader.metadata()?.get_text(ATTRIBUTES)?;
        Attributes::parse(text.as_bytes()).ok()
    });
    found.unwrap_or_default()
}
