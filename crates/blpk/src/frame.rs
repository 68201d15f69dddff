//! Blosc2 frames, and the n-dimensional arrays in them.

pub mod new;

use std::path::Path;

use bloscpack::{
    Category, DType, Error,
    frame::{Frame, FrameOptions, NdArray},
};

use crate::dataset::{INTERRUPTED, is_directory};
use crate::input::{self, Input};
use crate::message::Failure;
use crate::session::Session;
use crate::status::Status;
use crate::what::What;

/// How a frame is read.
pub const READ: &str = "blpk cat prints its bytes, blpk export makes .npy of its array";

/// How frames are opened.
pub fn options(session: &Session) -> FrameOptions {
    FrameOptions::new()
        .threads(session.threads)
        .limits(session.limits)
}

/// Opens a frame for reading, and warns of what is odd.
pub fn open(path: &Path, session: &Session) -> Result<Frame, Failure> {
    let opened = match is_directory(path) {
        true => options(session).open(path),
        false => options(session).read(Input::open_binary(path, session)?.into_bytes()),
    };
    let frame = opened.map_err(|error| failure(path, &error))?;
    if frame.was_interrupted() {
        session.warning(format_args!(
            "{}: {INTERRUPTED}; what is read is the changed frame, partly from its journal",
            input::name(path)
        ));
    }
    Ok(frame)
}

/// Opens the array in a frame for reading.
pub fn array(path: &Path, session: &Session) -> Result<NdArray, Failure> {
    NdArray::of(open(path, session)?).map_err(|error| failure(path, &error))
}

/// Why something could not be done with a frame, and what might help.
pub fn failure(path: &Path, error: &Error) -> Failure {
    let failure = Failure::library(input::name(path), error);
    match error.category() {
        Category::Damaged => failure.hint("blpk verify tells all that is wrong with it"),
        Category::OverLimit => {
            failure.hint("if you trust the input, raise the limit: --limit NAME=SIZE")
        }
        _ => failure,
    }
}

/// Refuses a frame where only other files are of use; `hint` tells what is done with frames instead.
pub fn refuse(path: &Path, hint: &str) -> Result<(), Failure> {
    match What::of(path)? {
        What::Frame => {
            let title = format!(
                "{} is a Blosc2 frame, which this does not take",
                input::name(path)
            );
            Err(Failure::new(Status::Unsupported, title).hint(hint))
        }
        What::Directory | What::File => Ok(()),
    }
}

/// What the elements of an array are: as `--dtype` says, as the file does, or else void.
pub fn dtype(
    array: &NdArray,
    said: Option<&DType>,
    path: &Path,
    session: &Session,
) -> Result<DType, Failure> {
    let (name, itemsize) = (input::name(path), u64::from(array.itemsize()));
    if let Some(said) = said {
        if said.itemsize() == itemsize {
            return Ok(said.clone());
        }
        let found = said.itemsize();
        let title =
            format!("--dtype {said} has {found} bytes, but the elements of {name} have {itemsize}");
        return Err(Failure::usage(title));
    }
    if let Some(dtype) = array.dtype() {
        return Ok(dtype.clone());
    }
    if let Some(text) = array.dtype_text() {
        session.warning(format_args!(
            "{name}: its dtype {text:?} is not known here: its elements are taken for {itemsize} bytes of anything"
        ));
    }
    DType::void(itemsize).map_err(|error| Failure::library(name, &error.into()))
}

/// The bytes of an element, as many as a frame can tell.
pub fn itemsize(dtype: &DType, name: &str) -> Result<u32, Failure> {
    let bytes = u32::try_from(dtype.itemsize()).ok();
    bytes.filter(|bytes| *bytes > 0).ok_or_else(|| {
        let found = dtype.itemsize();
        let title = format!("{name}: elements of {found} bytes, which a frame cannot have");
        Failure::new(Status::Unsupported, title)
    })
}

/// Parses `--dtype`.
pub fn parse_dtype(text: &str) -> Result<DType, String> {
    DType::parse(text).map_err(|error| error.to_string())
}
