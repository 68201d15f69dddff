//! Blosc2 frames, and the n-dimensional arrays in them.

pub mod new;

use std::path::Path;

use bloscpack::dtype::DType;
use bloscpack_open::{
    Family,
    frames::{ArrayKind, FrameOptions, NdArray, NdArrayBuilder},
    probe_source,
};

use crate::failure::Failure;
use crate::input::{self, Input};
use crate::session::Session;
use crate::status::Status;
use crate::url;

/// Advice for a frame where a Bloscpack file is needed.
pub const READ: &str = "blpk cat prints its bytes, and blpk export converts its array to .npy";

/// The options by which frames are opened.
pub fn options(session: &Session) -> FrameOptions {
    FrameOptions::new()
        .threads(session.threads)
        .limits(session.limits)
}

/// Refuses a frame where a Bloscpack file is needed; `hint` says what can be done with a frame instead.
pub fn refuse(path: &Path, hint: &str) -> Result<(), Failure> {
    if url::is_url(path) || !input::is_frame(path)? {
        return Ok(());
    }
    Err(refusal(&input::name(path), hint))
}

/// Refuses a frame at a URL, which only its bytes show.
pub fn refuse_object(input: &Input, hint: &str) -> Result<(), Failure> {
    let Some(object) = input.by_position().filter(|_| input.is_remote()) else {
        return Ok(());
    };
    let probed = probe_source(object).map_err(|error| Failure::io(input.name(), &error))?;
    if probed.family == Some(Family::Frame) {
        return Err(refusal(&input.name(), hint));
    }
    Ok(())
}

fn refusal(name: &str, hint: &str) -> Failure {
    let title = format!("{name} is a Blosc2 frame, which this command does not support");
    Failure::new(Status::Unsupported, title).hint(hint)
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
