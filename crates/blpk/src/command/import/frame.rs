//! `blpk import` into Blosc2 frames.

use std::time::Instant;

use bloscpack::{
    DType,
    exchange::{Format, NpyFile},
    frame::{ArrayKind, NdArray, NdArrayBuilder},
    storage::ReadAt,
};

use super::Import;
use crate::dataset::source;
use crate::frame::new::{Halt, NewFrame, fill};
use crate::frame::{itemsize, options};
use crate::input;
use crate::message::Failure;
use crate::session::Session;
use crate::size;
use crate::status::Status;

impl Import {
    /// Makes a frame of an array of NumPy.
    pub(super) fn frame(&self, kind: ArrayKind, session: &Session) -> Result<Status, Failure> {
        let (begun, name) = (Instant::now(), input::name(&self.input));
        self.fit_frame(kind, &name)?;
        let new = NewFrame::begin(&self.output, &self.input, self.making.sparse, session)?;
        let npy = source::open_npy(&self.input, session);
        let npy = npy.map_err(|failure| new.undone(failure))?;
        let builder = self.builder(kind, &npy, &name, session);
        let builder = builder.map_err(|failure| new.undone(failure))?;
        let bytes = copy(builder, &npy, &new, session).map_err(|(error, is_read)| {
            let read = || source::failure(&name, Format::Npy, &error);
            new.explain(&error, is_read.then(read))
        })?;
        let made = new.name();
        new.commit(session)?;
        session.verbose(format_args!(
            "{name}, shape {:?}, {}, imported into {made} in {:.2?}",
            npy.shape(),
            size::pretty(bytes),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// Refuses what only tables have.
    fn fit_frame(&self, kind: ArrayKind, name: &str) -> Result<(), Failure> {
        let layout = kind.name();
        let format = source::format_of(&self.input, self.reading.from)?;
        if format != Format::Npy {
            let title =
                format!("{name} is {format}: only .npy is imported into the layout {layout}");
            return Err(Failure::usage(title).hint(format!(
                "blpk import makes a table of it; then blpk convert --column NAME --layout {layout}"
            )));
        }
        if self.table || self.expected_rows.is_some() {
            let title = format!("the layout {layout} does not go with --table or --expected-rows");
            return Err(Failure::usage(title).hint("they are for datasets"));
        }
        Ok(())
    }

    fn builder(
        &self,
        kind: ArrayKind,
        npy: &NpyFile<impl ReadAt>,
        name: &str,
        session: &Session,
    ) -> Result<NdArrayBuilder, Failure> {
        let builder = describe(kind, npy.dtype(), npy.shape(), name)?;
        self.making
            .frame(builder.options(options(session)), npy.shape())
    }
}

/// A new array of such elements.
pub fn describe(
    kind: ArrayKind,
    dtype: &DType,
    shape: &[u64],
    name: &str,
) -> Result<NdArrayBuilder, Failure> {
    let builder = NdArray::builder(shape, itemsize(dtype, name)?).kind(kind);
    Ok(match kind {
        ArrayKind::Caterva => builder,
        ArrayKind::B2nd => builder.dtype(dtype.clone()),
    })
}

fn copy(
    builder: NdArrayBuilder,
    npy: &NpyFile<impl ReadAt>,
    new: &NewFrame<'_>,
    session: &Session,
) -> Result<u64, Halt> {
    let mut array = new.create(builder)?;
    fill(&mut array, session, &mut |part| npy.read_slice(part))?;
    Ok(array.nbytes())
}
