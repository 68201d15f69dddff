//! Blosc2 frames, and the n-dimensional arrays in them.

pub mod new;

use std::path::Path;

use bloscpack::{
    Error,
    dtype::DType,
    frame::{ArrayKind, Frame, FrameOptions, NdArray, NdArrayBuilder},
};

use crate::dataset::is_directory;
use crate::failure::{Failure, VERIFY};
use crate::input::{self, FROM_JOURNAL, INTERRUPTED, Input, InputKind};
use crate::session::Session;
use crate::status::Status;

/// Advice for a frame where a Bloscpack file is needed.
pub const READ: &str = "blpk cat prints its bytes, and blpk export converts its array to .npy";

/// The options by which frames are opened.
pub fn options(session: &Session) -> FrameOptions {
    FrameOptions::new()
        .threads(session.threads)
        .limits(session.limits)
}

/// Opens a frame for reading, and warns about an interrupted change.
pub fn open(path: &Path, session: &Session) -> Result<Frame, Failure> {
    let opened = match is_directory(path) {
        true => options(session).open(path),
        false => options(session).read(Input::open_binary(path, session)?.into_bytes()),
    };
    let frame = opened.map_err(|error| failure(path, &error))?;
    if frame.was_interrupted() {
        let name = input::name(path);
        session.warning(format_args!("{name}: {INTERRUPTED}; {FROM_JOURNAL}"));
    }
    Ok(frame)
}

/// Opens the array in a frame for reading.
pub fn array(path: &Path, session: &Session) -> Result<NdArray, Failure> {
    NdArray::of(open(path, session)?).map_err(|error| failure(path, &error))
}

/// The failure to read a frame.
pub fn failure(path: &Path, error: &Error) -> Failure {
    Failure::library(input::name(path), error).if_damaged(VERIFY)
}

/// Refuses a frame where a Bloscpack file is needed; `hint` says what can be done with a frame instead.
pub fn refuse(path: &Path, hint: &str) -> Result<(), Failure> {
    if InputKind::of(path)? != InputKind::Frame {
        return Ok(());
    }
    let title = format!(
        "{} is a Blosc2 frame, which this command does not support",
        input::name(path)
    );
    Err(Failure::new(Status::Unsupported, title).hint(hint))
}

/// The dtype of an array: by `--dtype`, by its file, or else void.
pub fn dtype(
    array: &NdArray,
    given: Option<&DType>,
    path: &Path,
    session: &Session,
) -> Result<DType, Failure> {
    let (name, itemsize) = (input::name(path), u64::from(array.itemsize()));
    if let Some(given) = given {
        if given.itemsize() == itemsize {
            return Ok(given.clone());
        }
        let found = given.itemsize();
        let title =
            format!("--dtype {given} has {found} bytes, but an element of {name} has {itemsize}");
        return Err(Failure::usage(title));
    }
    if let Some(dtype) = array.dtype() {
        return Ok(dtype.clone());
    }
    if let Some(text) = array.dtype_text() {
        session.warning(format_args!(
            "{name}: unknown dtype {text:?}; its elements are treated as {itemsize} raw bytes each"
        ));
    }
    DType::void(itemsize).map_err(|error| Failure::library(name, &error.into()))
}

/// The failure to set the dtype of something that stores it.
pub fn has_dtype(name: &str) -> Failure {
    Failure::usage(format!("{name} already has a dtype"))
        .hint("--dtype is only for Blosc2 frames without one")
}

/// A new array of this kind.
pub fn array_builder(
    kind: ArrayKind,
    dtype: &DType,
    shape: &[u64],
    name: &str,
    session: &Session,
) -> Result<NdArrayBuilder, Failure> {
    let itemsize = u32::try_from(dtype.itemsize()).ok();
    let itemsize = itemsize.filter(|bytes| *bytes > 0).ok_or_else(|| {
        let found = dtype.itemsize();
        let title = format!("{name}: a frame cannot contain elements of {found} bytes");
        Failure::new(Status::Unsupported, title)
    })?;
    let builder = NdArray::builder(shape, itemsize)
        .kind(kind)
        .options(options(session));
    Ok(match kind {
        ArrayKind::Caterva => builder,
        ArrayKind::B2nd => builder.dtype(dtype.clone()),
    })
}
