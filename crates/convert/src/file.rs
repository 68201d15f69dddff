//! Writes Bloscpack files with content or with a NumPy array.

use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;

use bloscpack::{Compressor, FormatVersion};
use bloscpack::{
    Decoder, Encoder, EncoderBuilder,
    blosc::{Aim, ChunkSettings, CompressorFormat},
    dtype::{
        DType,
        npy::{NpyError, NpyHeader},
    },
    survey::Survey,
};
use bloscpack_error::{Code, Error, IoSide as _, Result};
use bloscpack_open::{
    Kind,
    datasets::{Attributes, CArray},
    exchange::{Format, OneArray},
    internal::{count, numpy_metadata},
};
use bloscpack_storage::{SharedSource, SourceReader};
use bloscpack_wire::internal::to_u64;

use crate::{ElementReader, Made, Work, with_given};

/// The target of [`Conversion::write`](crate::Conversion::write).
pub enum Output<'a> {
    /// A target that is written in order, such as a pipe. A Bloscpack file whose length is not known beforehand becomes a
    /// stream with an end mark.
    Stream(&'a mut (dyn Write + Send)),
    /// A file that can be read back and written at any position. Its header and offset table are completed at the end.
    File(&'a mut dyn Seekable),
}

/// A target that can be read, written and sought.
pub trait Seekable: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> Seekable for T {}

impl fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stream(_) => "Stream",
            Self::File(_) => "File",
        })
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Stream(stream) => stream.write(bytes),
            Self::File(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Stream(stream) => stream.flush(),
            Self::File(file) => file.flush(),
        }
    }
}

/// What a Bloscpack file states about its array.
struct Facts {
    dtype: DType,
    shape: Vec<u64>,
    attributes: Attributes,
    typesize: u8,
    /// The codec of the source's chunks, if it is known.
    codec: Option<Compressor>,
    bytes: u64,
}

impl Work<'_> {
    /// Writes a Bloscpack file. A copy of a Bloscpack file keeps its settings and metadata.
    pub(crate) fn file(&self, output: Output<'_>) -> Result<Made> {
        let is_whole = self.settings.is_whole();
        match (self.source.kind(), self.source.source()) {
            (Kind::Bloscpack, Some(source)) if is_whole && self.settings.column.is_none() => {
                self.file_from_file(source, output)
            }
            (Kind::Bloscpack, None) if is_whole => {
                let message = "only a file that can be read at any position can be converted";
                Err(Error::new(Code::NeedsFile, message))
            }
            (Kind::File(Format::Npy), Some(source)) if is_whole => {
                self.file_from_npy(source, output)
            }
            _ => self.file_from_rows(output),
        }
    }

    /// Copies the elements of a `.npy` file, even in Fortran order.
    fn file_from_npy(&self, source: &SharedSource, output: Output<'_>) -> Result<Made> {
        let mut reader = SourceReader::new(Arc::clone(source));
        let header = read_npy_header(&mut reader)?;
        let storage = &self.settings.storage;
        let codec = storage.compressor.is_some() || storage.level.is_some();
        let (dtype, shape) = (&header.dtype, &header.shape);
        let metadata = numpy_metadata(dtype, shape, header.fortran_order, &Attributes::default())?;
        let mut builder = Encoder::builder().metadata(metadata);
        if !codec && storage.filter.is_none() {
            builder = builder.auto(Aim::Balance);
        }
        // As in Bloscpack for Python: longer elements are compressed as bytes.
        let typesize = u8::try_from(header.dtype.itemsize()).ok();
        let builder = with_given!(builder,
            version: self.settings.version,
            typesize: typesize.filter(|bytes| *bytes > 0),
            level: storage.level,
            compressor: storage.compressor,
            size: header.content_len(),
        );
        self.encode(builder, &mut reader, output)
    }

    /// Compresses the content of a Bloscpack file again.
    fn file_from_file(&self, source: &SharedSource, output: Output<'_>) -> Result<Made> {
        let options = &self.settings.options;
        let survey = Survey::of_file(SourceReader::new(Arc::clone(source)), options)?;
        let builder = self.like_file(&survey)?;
        let mut decoder =
            Decoder::with_options(SourceReader::new(Arc::clone(source)), options.clone());
        let made = self.encode(builder, &mut decoder, output);
        for warning in decoder.warnings() {
            (self.warn)(&warning.to_string());
        }
        made
    }

    /// An encoder with the settings of an existing file, unless others are given.
    fn like_file(&self, survey: &Survey) -> Result<EncoderBuilder> {
        let Some(first) = survey.members.first() else {
            return Err(Error::new(Code::CutShort, "it is empty"));
        };
        if survey.members.iter().any(|member| member.header.varlen) {
            let message = "it contains records, whose boundaries would be lost";
            let hint = "use blpk records unpack, then blpk records pack --format 2 or 3";
            return Err(Error::new(Code::Unsupported, message).with_hint(hint));
        }
        if survey.members.len() > 1 {
            (self.warn)(&format!(
                "its {} become one, with the settings and the metadata of the first",
                count(to_u64(survey.members.len()), "member")
            ));
        }
        let (header, version) = (&first.header, self.version());
        if first.metadata.is_some() && version == FormatVersion::V1 {
            let message = "it has metadata, which version 1 does not support";
            return Err(Error::usage(message).with_hint("use version 2 or 3"));
        }
        let storage = &self.settings.storage;
        let codec = storage.compressor;
        let codec = codec.unwrap_or_else(|| codec_for(first.compressors.first().copied()));
        let checksum = match (version, storage.checksum) {
            (FormatVersion::V1, _) => None,
            (_, Some(checksum)) => Some(checksum),
            // Version 1 has no checksums, so their absence was not a choice.
            (_, None) => (header.version != FormatVersion::V1).then_some(header.checksum),
        };
        let lens = survey.members.iter().map(|member| member.uncompressed);
        let builder = Encoder::builder()
            .version(version)
            .compressor(codec)
            .level(storage.level.unwrap_or(codec.default_level()))
            .size(lens.sum());
        Ok(with_given!(builder,
            filter: first.filters.first().copied(),
            typesize: header.typesize.filter(|typesize| *typesize > 0),
            chunk_size: header.chunk_size.filter(|bytes| *bytes > 0),
            checksum: checksum,
            metadata: first.metadata.clone(),
        ))
    }

    /// Writes the elements of an array, with NumPy metadata.
    fn file_from_rows(&self, output: Output<'_>) -> Result<Made> {
        let facts = match self.carray()? {
            Some(array) => Facts {
                dtype: array.dtype().clone(),
                shape: array.shape().to_vec(),
                attributes: array.attributes().clone(),
                typesize: array.typesize(),
                codec: Some(codec_of(array)),
                bytes: array.nbytes(),
            },
            None => self.facts_of_rows()?,
        };
        if self.version() == FormatVersion::V1 {
            let message = "version 1 cannot store the shape of an array";
            return Err(Error::usage(message).with_hint("use version 2 or 3"));
        }
        // As `pack_ndarray` of Bloscpack for Python writes it.
        let metadata = numpy_metadata(&facts.dtype, &facts.shape, false, &facts.attributes)?;
        let storage = &self.settings.storage;
        let codec = storage.compressor.or(facts.codec);
        let codec = codec.unwrap_or(codec_for(None));
        let builder = Encoder::builder()
            .version(self.version())
            .compressor(codec)
            .level(storage.level.unwrap_or(codec.default_level()))
            .typesize(facts.typesize)
            .size(facts.bytes)
            .metadata(metadata);
        let mut source = self.fixed()?;
        let mut elements = ElementReader::new(OneArray::new(&mut *source)?);
        self.encode(builder, &mut elements, output)
    }

    /// The facts of an array that is not in a dataset.
    fn facts_of_rows(&self) -> Result<Facts> {
        let attributes = self.attributes()?;
        let mut source = self.fixed()?;
        let rows = source.known_rows()?;
        let source = OneArray::new(&mut *source)?;
        self.warn_about_zones(source.schema());
        let column = source.column();
        Ok(Facts {
            dtype: column.dtype.clone(),
            shape: source.shape().to_vec(),
            attributes,
            typesize: u8::try_from(column.dtype.itemsize()).unwrap_or(1).max(1),
            codec: None,
            bytes: rows.saturating_mul(column.row_bytes()),
        })
    }

    /// Compresses everything that a reader returns. `builder` has the settings of the source; the given ones replace them.
    fn encode(
        &self,
        builder: EncoderBuilder,
        content: &mut dyn Read,
        output: Output<'_>,
    ) -> Result<Made> {
        macro_rules! encoded {
            ($encoder:expr) => {{
                // If the encoder is dropped before `finish`, no reader takes the file for complete.
                let mut encoder = $encoder;
                encoder.read_from(content)?;
                let tuned = encoder.tune()?.cloned();
                encoder.finish()?;
                tuned
            }};
        }
        let storage = &self.settings.storage;
        let builder = builder
            .threads(self.settings.options.workers())
            .limits(self.settings.write_limits());
        let builder = with_given!(builder,
            filter: storage.filter,
            checksum: storage.checksum,
            chunk_size: self.settings.chunk_size,
        );
        let tuned = match output {
            Output::Stream(stream) => encoded!(builder.write_to(stream)?),
            Output::File(file) => encoded!(builder.write_to_file(file)?),
        };
        Ok(Made {
            tuned,
            ..Made::default()
        })
    }

    /// The version of a new file.
    fn version(&self) -> FormatVersion {
        self.settings.version.unwrap_or(FormatVersion::V3)
    }
}

/// The codec that writes this format, or the default one.
fn codec_for(format: Option<CompressorFormat>) -> Compressor {
    let mut all = Compressor::ALL.into_iter();
    let found = all.find(|codec| Some(codec.format()) == format && codec.is_available());
    found.unwrap_or(ChunkSettings::default().compressor)
}

/// The codec of the first chunks of an array.
pub(crate) fn codec_of(array: &CArray) -> Compressor {
    let survey = array.survey(100).ok();
    codec_for(survey.and_then(|survey| survey.compressors.first().copied()))
}

/// Reads the header, and nothing after it.
fn read_npy_header(reader: &mut impl Read) -> Result<NpyHeader> {
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
