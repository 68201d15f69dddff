//! A new frame, which appears under its name only when it is whole.

use std::ops::Range;
use std::path::{Path, PathBuf};

use bloscpack::{
    Error,
    frame::{NdArray, NdArrayBuilder},
};

use crate::dataset::edit::is_ended;
use crate::dataset::new::{New, file_permissions, refuse_within};
use crate::interrupt;
use crate::message::Failure;
use crate::output::{Output, Workplace, spare_terminal};
use crate::progress::Progress;
use crate::session::Session;

/// Bytes of elements that are in memory at once, unless a chunk has more.
pub const BAND: usize = 64 << 20;
/// What a file is called while it is made.
const FILE: &str = "frame";

/// What went wrong, and whether it was in reading.
pub type Halt = (Error, bool);

/// Gives the elements of a box, in C order.
pub type ReadBox<'a> = dyn FnMut(&[Range<u64>]) -> bloscpack::Result<Vec<u8>> + 'a;

/// A frame on its way to its place.
pub enum NewFrame<'a> {
    /// A file.
    Contiguous(Box<Output>, Workplace),
    /// A directory.
    Sparse(New<'a>),
}

impl<'a> NewFrame<'a> {
    /// Begins a frame at `path`, made of what is at `input`: what is made of something private is private.
    pub fn begin(
        path: &'a Path,
        input: &Path,
        sparse: bool,
        session: &Session,
    ) -> Result<Self, Failure> {
        if sparse {
            return Ok(Self::Sparse(New::begin_frame(path, input, session)?));
        }
        refuse_within(path, input)?;
        let output = Output::create_like(path, &[], file_permissions(input), session)?;
        if output.is_terminal() && !session.force {
            return Err(spare_terminal("compressed data"));
        }
        let workplace = output.workplace();
        let workplace = workplace.map_err(|error| Failure::io(output.name(), &error))?;
        Ok(Self::Contiguous(Box::new(output), workplace))
    }

    /// How messages call it.
    pub fn name(&self) -> String {
        match self {
            Self::Contiguous(output, _) => output.name().to_owned(),
            Self::Sparse(new) => new.name(),
        }
    }

    /// Where it is made.
    fn place(&self) -> PathBuf {
        match self {
            Self::Contiguous(_, workplace) => workplace.path().join(FILE),
            Self::Sparse(new) => new.folder().to_owned(),
        }
    }

    /// Makes the array that all goes into.
    pub fn create(&self, builder: NdArrayBuilder) -> Result<NdArray, Halt> {
        let made = match self {
            Self::Contiguous(..) => builder.create(self.place()),
            Self::Sparse(_) => builder.create_sparse(self.place()),
        };
        made.map_err(|error| (error, false))
    }

    /// Why nothing came of it: the fault of what was read, or else of what was written.
    pub fn explain(&self, error: &Error, read: Option<Failure>) -> Failure {
        if interrupt::is_asked() && is_ended(error) {
            return self.undone(Failure::interrupted());
        }
        self.undone(read.unwrap_or_else(|| Failure::library(self.name(), error)))
    }

    /// Adds that nothing came of it.
    pub fn undone(&self, failure: Failure) -> Failure {
        match self {
            Self::Contiguous(output, _) => output.explain(failure),
            Self::Sparse(new) => new.undone(failure),
        }
    }

    /// Gives it its name, since all of it is there.
    pub fn commit(self, session: &Session) -> Result<(), Failure> {
        let place = self.place();
        match self {
            Self::Sparse(new) => new.commit(session),
            Self::Contiguous(mut output, _workplace) => {
                if interrupt::is_asked() {
                    return Err(output.explain(Failure::interrupted()));
                }
                if let Err(error) = output.adopt(&place) {
                    return Err(output.explain(Failure::io(output.name(), &error)));
                }
                output.commit().map(|_| ())
            }
        }
    }
}

/// Writes all of an array, in boxes of whole chunks, each of which `read` gives.
pub fn fill(array: &mut NdArray, session: &Session, read: &mut ReadBox<'_>) -> Result<(), Halt> {
    let progress = Progress::new(session, Some(array.nbytes()));
    for part in array.boxes(BAND) {
        interrupt::check().map_err(|error| (error.into(), false))?;
        let bytes = read(&part).map_err(|error| (error, true))?;
        let written = array.write_slice(&part, &bytes);
        written.map_err(|error| (error, false))?;
        progress.advance(u64::try_from(bytes.len()).unwrap_or(0));
    }
    array.flush().map_err(|error| (error, false))
}
