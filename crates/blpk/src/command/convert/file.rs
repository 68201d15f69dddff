//! One Bloscpack file into another.

use std::io::Read;
use std::time::Instant;

use bloscpack::{
    Compressor, Decoder, Encoder, EncoderBuilder, FormatVersion, Survey,
    blosc::{ChunkSettings, CompressorFormat},
};

use super::Convert;
use crate::command::decompress::blame;
use crate::input::Input;
use crate::message::Failure;
use crate::output::{Output, spare_terminal};
use crate::progress::Progress;
use crate::session::Session;
use crate::size;
use crate::status::Status;

impl Convert {
    pub(super) fn file(&self, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        let input = Input::open_binary(&self.path, session)?;
        let name = input.name();
        if input.at_positions().is_none() {
            let title =
                format!("{name}: only a regular file, read from its beginning, can be converted");
            return Err(Failure::usage(title).hint("blpk decompress | blpk compress takes pipes"));
        }
        let progress = Progress::new(session, input.length());
        let survey = input.survey(&progress, &session.limits);
        let survey = survey.map_err(|error| Failure::library(&name, &error))?;
        let builder = self.builder(&survey, &name, session)?;
        input.rewind().map_err(|error| Failure::io(&name, &error))?;
        let mut output = Output::create(&self.output, &[&input], session)?;
        if output.is_terminal() && !session.force {
            return Err(spare_terminal("compressed data"));
        }
        let mut decoder = Decoder::builder()
            .threads(session.threads)
            .limits(session.limits)
            .read_from(input.source(&progress));
        let done = encode(builder, &mut decoder, &mut output);
        progress.finish();
        for warning in decoder.warnings() {
            session.warning(format_args!("{name}: {warning}"));
        }
        done.map_err(|error| blame(&error, &input, &output))?;
        let to = output.name().to_owned();
        let length = output.commit()?;
        session.verbose(format_args!(
            "{name}, {}, converted into {to}, {}, in {:.2?}",
            size::pretty(decoder.total_in()),
            size::pretty(length),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// The settings of the file, but for what is said.
    fn builder(
        &self,
        survey: &Survey,
        name: &str,
        session: &Session,
    ) -> Result<EncoderBuilder, Failure> {
        let Some(first) = survey.members.first() else {
            return Err(Failure::new(Status::CutShort, format!("{name} is empty")));
        };
        if survey.members.iter().any(|member| member.header.varlen) {
            let title = format!("{name}: it holds records, whose ends would be lost");
            let failure = Failure::new(Status::Unsupported, title);
            return Err(failure.hint("blpk records unpack, then blpk records pack --format 2 or 3"));
        }
        if survey.members.len() > 1 {
            session.warning(format_args!(
                "{name}: its {} members become one, with the settings and the metadata of the first",
                survey.members.len()
            ));
        }
        let header = &first.header;
        let codec = self.making.codec;
        let codec = codec.unwrap_or_else(|| compressor(first.compressors.first().copied()));
        let sum = survey.members.iter().map(|member| member.uncompressed);
        let mut builder = Encoder::builder()
            .layout(self.header())
            .compressor(codec)
            .level(self.making.level.unwrap_or(codec.default_level()))
            .threads(session.threads)
            .size(sum.fold(0, u64::saturating_add));
        if let Some(filter) = self.making.filter().or(first.filters.first().copied()) {
            builder = builder.filter(filter);
        }
        if let Some(typesize) = header.typesize.filter(|typesize| *typesize > 0) {
            builder = builder.typesize(typesize);
        }
        if let Some(bytes) = self
            .chunk_size
            .or(header.chunk_size.filter(|bytes| *bytes > 0))
        {
            builder = builder.chunk_size(bytes);
        }
        match (self.header(), self.making.checksum) {
            (FormatVersion::V1, _) => {}
            (_, Some(checksum)) => builder = builder.checksum(checksum),
            // The first layout had none, which is no choice.
            (_, None) if header.layout == FormatVersion::V1 => {}
            (_, None) => builder = builder.checksum(header.checksum),
        }
        match (&first.metadata, self.header()) {
            (Some(_), FormatVersion::V1) => {
                let title = format!("{name} has metadata, for which --format 1 has no place");
                Err(Failure::usage(title).hint("--format 2 or 3"))
            }
            (Some(metadata), _) => Ok(builder.metadata(metadata.clone())),
            (None, _) => Ok(builder),
        }
    }
}

/// Compresses all of the content.
pub fn encode(
    builder: EncoderBuilder,
    content: &mut impl Read,
    output: &mut Output,
) -> bloscpack::Result<()> {
    // An encoder that is dropped, not finished, leaves nothing that looks whole.
    if let Some(file) = output.seekable() {
        let mut encoder = builder.write_to_file(file)?;
        encoder.read_from(content)?;
        encoder.finish()?;
        return Ok(());
    }
    let mut encoder = builder.write_to(output)?;
    encoder.read_from(content)?;
    encoder.finish()?;
    Ok(())
}

/// What writes this format.
pub fn compressor(format: Option<CompressorFormat>) -> Compressor {
    let mut all = Compressor::ALL.into_iter();
    let found = all.find(|codec| Some(codec.format()) == format && codec.is_available());
    found.unwrap_or(ChunkSettings::default().compressor)
}
