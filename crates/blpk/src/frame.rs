//! Blosc2 frames, and the n-dimensional arrays in them.

pub mod new;

use std::path::Path;

use bloscpack::dtype::DType;
use bloscpack_open::frames::{ArrayKind, FrameOptions, NdArray, NdArrayBuilder};

use crate::failure::Failure;
use crate::input;
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
    let title = format!(
        "{} is a Blosc2 frame, which this command does not support",
        input::name(path)
    );
    Err(Failure::new(Status::Unsupported, title).hint(hint))
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
