//! A new frame, which appears under its name only when it is complete.

use std::ops::Range;
use std::path::{Path, PathBuf};

use bloscpack::{Error, error::Side};
use bloscpack_open::frames::{NdArray, NdArrayBuilder};

use crate::dataset::new::{NewDataset, file_permissions, refuse_within};
use crate::failure::Failure;
use crate::interrupt;
use crate::output::{Output, Replaces, WorkDir};
use crate::progress::Progress;
use crate::session::Session;
use crate::store::new::NewStore;
use bloscpack::wire::internal::to_u64;

/// Bytes of elements that are in memory at once, unless a chunk has more.
pub const BAND: usize = 64 << 20;
/// The name of a file while it is made.
const FILE: &str = "frame";

/// Reads the elements of a region, in C order.
pub type ReadRegion<'a> = dyn FnMut(&[Range<u64>]) -> bloscpack::Result<Vec<u8>> + 'a;

/// A frame that is being made.
pub enum NewFrame<'a> {
    /// A file.
    Contiguous(Box<Output>, WorkDir),
    /// A directory.
    Sparse(NewDataset<'a>),
    /// A file of a new store.
    Member(&'a NewStore<'a>, PathBuf),
}

impl<'a> NewFrame<'a> {
    /// Begins a frame at `path`, made from what is at `input`. If that is private, so is the frame.
    pub fn begin(
        path: &'a Path,
        input: &Path,
        sparse: bool,
        session: &Session,
    ) -> Result<Self, Failure> {
        if sparse {
            return NewDataset::begin_frame(path, input, session).map(Self::Sparse);
        }
        refuse_within(path, input)?;
        let output = Output::create_with(
            file_permissions(input),
            Replaces::Compressed,
            path,
            &[],
            session,
        )?;
        let output = output.spare_terminal(session)?;
        let work_dir = output.work_dir();
        let work_dir = work_dir.map_err(|error| Failure::io(output.name(), &error))?;
        Ok(Self::Contiguous(Box::new(output), work_dir))
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        match self {
            Self::Contiguous(output, _) => output.name().to_owned(),
            Self::Sparse(new) => new.name(),
            Self::Member(store, _) => store.name(),
        }
    }

    /// The path at which it is made.
    fn path(&self) -> PathBuf {
        match self {
            Self::Contiguous(_, work_dir) => work_dir.path().join(FILE),
            Self::Sparse(new) => new.folder().to_owned(),
            Self::Member(_, path) => path.clone(),
        }
    }

    /// Creates the array in it.
    pub fn create(&self, builder: NdArrayBuilder) -> Result<NdArray, Failure> {
        let made = match self {
            Self::Contiguous(..) | Self::Member(..) => builder.create(self.path()),
            Self::Sparse(_) => builder.create_sparse(self.path()),
        };
        let name = self.name();
        made.map_err(|error| self.failed_from(&name, &error))
    }

    /// Creates the array, and fills it in regions of whole chunks, which `read` reads from `source`.
    pub fn fill(
        &self,
        builder: NdArrayBuilder,
        source: &str,
        read: &mut ReadRegion<'_>,
        session: &Session,
    ) -> Result<NdArray, Failure> {
        let mut array = self.create(builder)?;
        let progress = Progress::new(session, Some(array.nbytes()));
        let done = array.boxes(BAND).into_iter().try_for_each(|part| {
            interrupt::check()?;
            let bytes = read(&part).map_err(|error| error.on(Side::Source))?;
            array.write_slice(&part, &bytes)?;
            progress.advance(to_u64(bytes.len()));
            Ok(())
        });
        let done = done.and_then(|()| array.flush());
        done.map_err(|error| self.failed_from(source, &error))?;
        Ok(array)
    }

    /// The failure to make it from `source`, by the side of the error.
    pub fn failed_from(&self, source: &str, error: &Error) -> Failure {
        self.unfinished(Failure::between(error, source, &self.name()))
    }

    /// Adds to a failure what has become of the output.
    pub fn unfinished(&self, failure: Failure) -> Failure {
        match self {
            Self::Contiguous(output, _) => output.unfinished(failure),
            Self::Sparse(new) => new.unfinished(failure),
            Self::Member(store, _) => store.unfinished(failure),
        }
    }

    /// Gives it its name, since it is complete.
    pub fn commit(self, session: &Session) -> Result<(), Failure> {
        let path = self.path();
        match self {
            Self::Sparse(new) => new.commit(session),
            // It becomes part of the store.
            Self::Member(..) => Ok(()),
            Self::Contiguous(mut output, _work_dir) => {
                if interrupt::is_requested() {
                    return Err(output.unfinished(Failure::interrupted()));
                }
                if let Err(error) = output.adopt(&path) {
                    return Err(output.failed(&error));
                }
                output.commit().map(|_| ())
            }
        }
    }
}
