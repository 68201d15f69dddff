//! `import IN.npy OUT.blp`: a Bloscpack file as Bloscpack's own `pack_ndarray_to_file` makes it.

use std::io::Read;
use std::path::Path;

use bloscpack::{
    Code, Encoder, EncoderBuilder, Error, Metadata,
    blosc::Aim,
    dtype::npy::{NpyError, NpyHeader},
    error::IoSide as _,
    wire::internal::to_u64,
};
use bloscpack_open::exchange::Format;
use serde_json::json;

use crate::args::with_given;
use crate::command::encoding::{Content, encode};
use crate::dataset::source::Imported;
use crate::dataset::storage_args::StorageArgs;
use crate::failure::{About as _, Failure};
use crate::input::Input;
use crate::output::{MadeFrom, Replaces, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use bloscpack_open::internal::size;

/// Compresses the elements of a `.npy` file, and describes the array in the metadata.
pub fn import(
    (from, to): (&Path, &Path),
    storage: &StorageArgs,
    session: &Session,
) -> Result<Status, Failure> {
    let input = Input::open(from, session)?;
    let progress = Progress::new(session, input.length());
    let mut reader = input.reader(&progress);
    let header = read_header(&mut reader).about(&Imported::new(from, Format::Npy))?;
    let mut output = Target::file(
        to,
        Replaces::Compressed,
        MadeFrom::Inputs(&[&input]),
        session,
    )?;
    let builder = builder(&header, storage, session).about(&input.name())?;
    let done = encode(builder, Content::Reader(&mut reader), &mut output);
    let (plain, tuned) = done.about(&output.made_from(&input))?;
    if let Some(tuned) = tuned {
        session.verbose(tuned);
    }
    let made = output.commit(session)?;
    session.done(format_args!(
        "{}, shape {:?}, {}, imported into {}, {},",
        input.name(),
        header.shape,
        size::pretty(plain),
        made.name,
        size::pretty(made.length),
    ));
    Ok(Status::Done)
}

/// Reads the header, and nothing after it.
fn read_header(reader: &mut impl Read) -> bloscpack::Result<NpyHeader> {
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

fn builder(
    header: &NpyHeader,
    storage: &StorageArgs,
    session: &Session,
) -> bloscpack::Result<EncoderBuilder> {
    let (codec, filter) = (&storage.codec, storage.filter.filter());
    let is_given = codec.codec.is_some() || codec.level().is_some() || filter.is_some();
    let mut builder = Encoder::builder()
        .metadata(metadata(header)?)
        .threads(session.threads)
        .limits(session.write_limits());
    if !is_given {
        builder = builder.auto(Aim::Balance);
    }
    // As Bloscpack: longer elements are compressed as bytes.
    let typesize = u8::try_from(header.dtype.itemsize()).ok();
    let typesize = typesize.filter(|bytes| *bytes > 0);
    let builder = with_given!(builder,
        typesize: typesize,
        level: codec.level(),
        filter: filter,
        compressor: codec.codec,
        checksum: storage.checksum,
        size: header.content_len(),
    );
    Ok(builder)
}

/// The description that `pack_ndarray` writes.
fn metadata(header: &NpyHeader) -> bloscpack::Result<Metadata> {
    let order = if header.fortran_order { "F" } else { "C" };
    let json = json!({
        "dtype": header.dtype.descr()?,
        "shape": header.shape,
        "order": order,
        "container": "numpy",
    });
    Ok(Metadata::from_json(json.to_string())?)
}
