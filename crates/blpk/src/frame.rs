//! Blosc2 frames, and the n-dimensional arrays in them.

use std::ops::Range;
use std::path::Path;

use bloscpack::{dtype::DType, error::IoSide as _, wire::internal::to_u64};
use bloscpack_open::{
    Family,
    frames::{ArrayKind, NdArray, NdArrayBuilder},
    probe_source,
};

use crate::failure::{About as _, Failure};
use crate::input::{self, Input};
use crate::interrupt;
use crate::output::{FolderKind, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::text::is_url;

/// Bytes of elements that are in memory at once, unless a chunk has more.
pub const BAND: usize = 64 << 20;

/// Advice for a frame where a Bloscpack file is needed.
pub const READ: &str = "blpk cat prints its bytes, and blpk export converts its array to .npy";

/// Refuses a frame where a Bloscpack file is needed; `hint` says what can be done with a frame instead.
pub fn refuse(path: &Path, hint: &str) -> Result<(), Failure> {
    if is_url(path) || !input::is_frame(path)? {
        return Ok(());
    }
    Err(refusal(&input::name(path), hint))
}

/// Refuses a frame at a URL, which only its bytes show.
pub fn refuse_object(input: &Input, hint: &str) -> Result<(), Failure> {
    let Some(object) = input.by_position().filter(|_| input.is_remote()) else {
        return Ok(());
    };
    let probed = probe_source(object).about(&input.name())?;
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
        .options(session.array_options());
    Ok(match kind {
        ArrayKind::Caterva => builder,
        ArrayKind::B2nd => builder.dtype(dtype.clone()),
    })
}

/// Reads the elements of a region, in C order.
pub type ReadRegion<'a> = dyn FnMut(&[Range<u64>]) -> bloscpack::Result<Vec<u8>> + 'a;

/// Begins a frame at `path`, made from what is at `input`: a file, or a folder if it is sparse.
pub fn new_target(
    path: &Path,
    input: &Path,
    sparse: bool,
    session: &Session,
) -> Result<Target, Failure> {
    if sparse {
        Target::folder(path, FolderKind::Frame, input, session)
    } else {
        Target::file_at_path(path, input, session)
    }
}

/// Creates an array in a new frame at `path`, in or at that of the target.
pub fn create(target: &Target, path: &Path, builder: NdArrayBuilder) -> Result<NdArray, Failure> {
    let made = if path.is_dir() {
        builder.create_sparse(path)
    } else {
        builder.create(path)
    };
    made.about(target)
}

/// The same, filled in regions of whole chunks, which `read` reads from the source.
pub fn fill(
    target: &Target,
    path: &Path,
    builder: NdArrayBuilder,
    read: &mut ReadRegion<'_>,
    session: &Session,
) -> Result<NdArray, Failure> {
    let mut array = create(target, path, builder)?;
    let progress = Progress::new(session, Some(array.nbytes()));
    for part in array.boxes(BAND) {
        interrupt::check()?;
        let bytes = read(&part).reading()?;
        array.write_slice(&part, &bytes)?;
        progress.advance(to_u64(bytes.len()));
    }
    array.flush()?;
    Ok(array)
}
