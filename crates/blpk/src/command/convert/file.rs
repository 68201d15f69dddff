//! One Bloscpack file into another.

use bloscpack::{Decoder, Encoder, EncoderBuilder, FormatVersion, survey::Survey};

use super::{Convert, codec_for};
use crate::args::with_given;
use crate::command::bloscpack_file::{failed_to_read, has_records};
use crate::command::encoding::{Content, encode};
use crate::failure::Failure;
use crate::input::Input;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::count;
use bloscpack::wire::internal::to_u64;

impl Convert {
    /// Makes a file from another, and returns its name.
    pub(super) fn file(&self, session: &Session) -> Result<String, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let name = input.name();
        if input.by_position().is_none() {
            let title =
                format!("{name}: only a regular file, read from its beginning, can be converted");
            return Err(Failure::usage(title).hint("use blpk decompress | blpk compress for pipes"));
        }
        let progress = Progress::new(session, input.length());
        let survey = input.survey(&progress, &session.limits);
        let survey = survey.map_err(|error| Failure::library(&name, &error))?;
        let builder = self.file_builder(&survey, &name, session)?;
        input.rewind().map_err(|error| Failure::io(&name, &error))?;
        let mut output = Output::create_binary(&self.output, &[&input], session)?;
        let mut decoder = Decoder::builder()
            .threads(session.threads)
            .limits(session.limits)
            .read_from(input.reader(&progress));
        let done = encode(builder, Content::Reader(&mut decoder), &mut output);
        progress.finish();
        session.warnings(&name, decoder.warnings());
        done.map_err(|error| failed_to_read(&error, &input, &output))?;
        let name = output.name().to_owned();
        output.commit()?;
        Ok(name)
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
            .layout(format)
            .compressor(codec)
            .level(self.storage.codec.level.unwrap_or(codec.default_level()))
            .threads(session.threads)
            .size(lens.sum());
        let checksum = match (format, self.storage.checksum) {
            (FormatVersion::V1, _) => None,
            (_, Some(checksum)) => Some(checksum),
            // Version 1 has no checksums, so their absence was not a choice.
            (_, None) => (header.layout != FormatVersion::V1).then_some(header.checksum),
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
}
