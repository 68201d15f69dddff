//! Anything with content or an array into a Bloscpack file.

use std::io::Read;

use bloscpack::{
    Code, Compressor, Decoder, Encoder, EncoderBuilder, Error, FormatVersion, Metadata,
    blosc::Aim,
    dtype::{
        DType,
        npy::{NpyError, NpyHeader},
    },
    error::IoSide as _,
    storage::SourceReader,
    survey::Survey,
};
use bloscpack_open::{
    Kind,
    datasets::{Attributes, CArray},
    exchange::{Format, OneArray},
};

use super::{Convert, codec_for, codec_of};
use crate::args::with_given;
use crate::command::bloscpack_file::has_records;
use crate::command::bloscpack_file::{Content, encode, numpy_metadata};
use crate::container::Opened;
use crate::dataset::source::ElementReader;
use crate::failure::{About as _, Failure};
use crate::input::Input;
use crate::output::{MadeFrom, Replaces, Target};
use crate::session::Session;
use crate::status::Status;
use crate::store::warn_about_zones;
use crate::text::count;
use bloscpack::wire::internal::to_u64;
use bloscpack_open::internal::size;

/// The facts of an array that a file has to know.
struct Array {
    dtype: DType,
    shape: Vec<u64>,
    attributes: Attributes,
    typesize: u8,
    /// The codec of its chunks, where it is known.
    codec: Option<Compressor>,
    bytes: u64,
}

impl Array {
    fn of(array: &CArray) -> Self {
        Self {
            dtype: array.dtype().clone(),
            shape: array.shape().to_vec(),
            attributes: array.attributes().clone(),
            typesize: array.typesize(),
            codec: Some(codec_of(array)),
            bytes: array.nbytes(),
        }
    }
}

impl Convert {
    /// Makes a Bloscpack file, and returns its name and its size.
    pub(super) fn file(&self, opened: &mut Opened, session: &Session) -> Result<String, Failure> {
        self.check_dtype(opened)?;
        let is_same =
            opened.container.kind() == Kind::Bloscpack && self.is_whole() && self.column.is_none();
        let is_npy = opened.container.kind() == Kind::File(Format::Npy) && self.is_whole();
        match opened.input.take_if(|_| is_same || is_npy) {
            Some(input) => {
                let input = input.readable_twice(session)?;
                let made = if is_npy {
                    self.file_from_npy(&input, opened, session)
                } else {
                    self.file_from_file(&input, opened, session)
                };
                opened.input = Some(input);
                made
            }
            None => self.file_from_rows(opened, session),
        }
    }

    /// The elements as they are in a `.npy` file, also in Fortran's order.
    fn file_from_npy(
        &self,
        input: &Input,
        opened: &Opened,
        session: &Session,
    ) -> Result<String, Failure> {
        let name = &opened.origin.name;
        input.rewind().about(name)?;
        let mut reader = input.reader(&opened.progress);
        let header = read_npy_header(&mut reader).about(name)?;
        let origin = MadeFrom::Input(input);
        let mut output = Target::file(self.output(), Replaces::Compressed, origin, session)?;
        let builder = self.npy_encoder(&header, session).about(name)?;
        let done = encode(builder, Content::Reader(&mut reader), &mut output);
        let (_, tuned) = done.about(&output.made_from(&opened.origin))?;
        if let Some(tuned) = tuned {
            session.verbose(tuned);
        }
        let made = output.commit(session)?;
        Ok(format!("{}, {},", made.name, size::pretty(made.length)))
    }

    fn npy_encoder(
        &self,
        header: &NpyHeader,
        session: &Session,
    ) -> bloscpack::Result<EncoderBuilder> {
        let (codec, filter) = (&self.storage.codec, self.storage.filter.filter());
        let is_given = codec.codec.is_some() || codec.level().is_some() || filter.is_some();
        let (dtype, shape) = (&header.dtype, &header.shape);
        let metadata = numpy_metadata(dtype, shape, header.fortran_order, &Attributes::default())?;
        let mut builder = Encoder::builder()
            .metadata(metadata)
            .threads(session.threads)
            .limits(session.write_limits());
        if !is_given {
            builder = builder.auto(Aim::Balance);
        }
        // As Bloscpack: longer elements are compressed as bytes.
        let typesize = u8::try_from(header.dtype.itemsize()).ok();
        let typesize = typesize.filter(|bytes| *bytes > 0);
        Ok(with_given!(builder,
            version: self.format,
            chunk_size: self.chunk_size,
            typesize: typesize,
            level: codec.level(),
            filter: filter,
            compressor: codec.codec,
            checksum: self.storage.checksum,
            size: header.content_len(),
        ))
    }

    fn file_from_file(
        &self,
        input: &Input,
        opened: &Opened,
        session: &Session,
    ) -> Result<String, Failure> {
        let name = &opened.origin.name;
        let Some(bytes) = input.by_position() else {
            let title =
                format!("{name}: only a regular file, read from its beginning, can be converted");
            return Err(Failure::usage(title).hint("use blpk decompress | blpk compress for pipes"));
        };
        let survey = Survey::of_file(SourceReader::new(bytes), &session.options());
        let survey = survey.about(&opened.origin)?;
        let builder = self.file_builder(&survey, name, session)?;
        input.rewind().about(name)?;
        let mut output = Target::file(
            self.output(),
            Replaces::Compressed,
            MadeFrom::Input(input),
            session,
        )?;
        let options = session.options().threads(session.threads);
        let mut decoder = Decoder::with_options(input.reader(&opened.progress), options);
        let done = encode(builder, Content::Reader(&mut decoder), &mut output);
        opened.progress.finish();
        session.warnings(name, decoder.warnings());
        done.about(&output.made_from(&opened.origin))?;
        let made = output.commit(session)?;
        Ok(format!("{}, {},", made.name, size::pretty(made.length)))
    }

    /// An encoder with the settings of the file, unless others are given.
    fn file_builder(
        &self,
        survey: &Survey,
        name: &str,
        session: &Session,
    ) -> Result<EncoderBuilder, Failure> {
        let Some(first) = survey.members.first() else {
            return Err(Failure::new(Status::CutShort, format!("{name} is empty")));
        };
        if survey.members.iter().any(|member| member.header.varlen) {
            return Err(has_records(name)
                .hint("use blpk records unpack, then blpk records pack --format 2 or 3"));
        }
        if survey.members.len() > 1 {
            session.warning(format_args!(
                "{name}: its {} become one, with the settings and the metadata of the first",
                count(to_u64(survey.members.len()), "member")
            ));
        }
        let (header, format) = (&first.header, self.header_format());
        if first.metadata.is_some() && format == FormatVersion::V1 {
            let title = format!("{name} has metadata, which --format 1 does not support");
            return Err(Failure::usage(title).hint("use --format 2 or 3"));
        }
        let codec = self.storage.codec.codec;
        let codec = codec.unwrap_or_else(|| codec_for(first.compressors.first().copied()));
        let lens = survey.members.iter().map(|member| member.uncompressed);
        let builder = Encoder::builder()
            .version(format)
            .compressor(codec)
            .level(self.storage.codec.level().unwrap_or(codec.default_level()))
            .threads(session.threads)
            .limits(session.write_limits())
            .size(lens.sum());
        let checksum = match (format, self.storage.checksum) {
            (FormatVersion::V1, _) => None,
            (_, Some(checksum)) => Some(checksum),
            // Version 1 has no checksums, so their absence was not a choice.
            (_, None) => (header.version != FormatVersion::V1).then_some(header.checksum),
        };
        let chunk_size = header.chunk_size.filter(|bytes| *bytes > 0);
        Ok(with_given!(builder,
            filter: self.storage.filter.filter().or(first.filters.first().copied()),
            typesize: header.typesize.filter(|typesize| *typesize > 0),
            chunk_size: self.chunk_size.or(chunk_size),
            checksum: checksum,
            metadata: first.metadata.clone(),
        ))
    }

    /// Makes a file from the rows of an array.
    fn file_from_rows(&self, opened: &mut Opened, session: &Session) -> Result<String, Failure> {
        let array = match self.carray(opened)? {
            Some(array) => Array::of(array),
            None => self.other_array(opened, session)?,
        };
        let builder = self.array_builder(&array, &opened.origin.name, session)?;
        let origin = MadeFrom::Path(self.path());
        let mut output = Target::file(self.output(), Replaces::Compressed, origin, session)?;
        let source = self.fixed(&*opened.container);
        let done = source.and_then(|mut source| {
            let mut elements = ElementReader::new(OneArray::new(&mut *source)?);
            encode(builder, Content::Reader(&mut elements), &mut output)
        });
        done.about(&output.made_from(&opened.origin))?;
        let made = output.commit(session)?;
        Ok(format!("{}, {},", made.name, size::pretty(made.length)))
    }

    /// The array of an input that is not a dataset.
    fn other_array(&self, opened: &Opened, session: &Session) -> Result<Array, Failure> {
        let attributes = self.attributes(opened, session)?;
        let Opened {
            container, origin, ..
        } = opened;
        let mut source = self.fixed(&**container).about(origin)?;
        let rows = source.known_rows()?;
        let source = OneArray::new(&mut *source).about(origin)?;
        warn_about_zones(source.schema(), &origin.name, session);
        let column = source.column();
        Ok(Array {
            dtype: column.dtype.clone(),
            shape: source.shape().to_vec(),
            attributes,
            typesize: u8::try_from(column.dtype.itemsize()).unwrap_or(1).max(1),
            codec: None,
            bytes: rows.saturating_mul(column.row_bytes()),
        })
    }

    /// An encoder for the elements of an array.
    fn array_builder(
        &self,
        array: &Array,
        name: &str,
        session: &Session,
    ) -> Result<EncoderBuilder, Failure> {
        let metadata = self.metadata(array, name)?;
        let codec = self.storage.codec.codec;
        let codec = codec.or(array.codec).unwrap_or(codec_for(None));
        let builder = Encoder::builder()
            .version(self.header_format())
            .compressor(codec)
            .level(self.storage.codec.level().unwrap_or(codec.default_level()))
            .typesize(array.typesize)
            .threads(session.threads)
            .limits(session.write_limits())
            .size(array.bytes)
            .metadata(metadata);
        Ok(with_given!(builder,
            filter: self.storage.filter.filter(),
            checksum: self.storage.checksum,
            chunk_size: self.chunk_size,
        ))
    }

    /// The metadata that describes the array for NumPy, as `pack_ndarray` of the Python tool writes it.
    fn metadata(&self, array: &Array, name: &str) -> Result<Metadata, Failure> {
        if self.header_format() == FormatVersion::V1 {
            let title = format!("{name}: --format 1 cannot store the shape of an array");
            return Err(Failure::usage(title).hint("use --format 2 or 3"));
        }
        numpy_metadata(&array.dtype, &array.shape, false, &array.attributes).about(name)
    }
}

/// Reads the header, and nothing after it.
fn read_npy_header(reader: &mut impl Read) -> bloscpack::Result<NpyHeader> {
    let mut start = Vec::new();
    let mut read_to = |len: usize, start: &mut Vec<u8>| {
        let more = to_u64(len.saturating_sub(start.len()));
        reader.by_ref().take(more).read_to_end(start).reading()
    };
    read_to(NpyHeader::START, &mut start)?;
    let damaged = |error: NpyError| Error::new(Code::Header, error.to_string());
    let len = NpyHeader::len_of(&start).map_err(damaged)?;
    read_to(len, &mut start)?;
    Ok(NpyHeader::parse(&start).map_err(damaged)?.0)
}
