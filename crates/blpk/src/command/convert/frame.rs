//! Blosc2 frames into others, datasets into frames, and back.

use std::ops::Range;

use bloscpack::{
    Category, Compressor, Error,
    dataset::{Attributes, DatasetLayout},
    error::Side,
    exchange::{NdSource, Source},
    frame::{ArrayKind, Frame, NdArray, NdArrayBuilder},
};

use super::{Convert, codec_of};
use crate::dataset;
use crate::dataset::new::NewDataset;
use crate::dataset::selection::Selection;
use crate::dataset::slice::Region;
use crate::failure::{Failure, RECOVER, VERIFY};
use crate::frame::new::{BAND, NewFrame, ReadRegion};
use crate::frame::{array, array_builder, dtype, failure, options};
use crate::input::{self, Input};
use crate::interrupt;
use crate::session::Session;
use crate::text::quoted;

impl Convert {
    /// Makes a frame from another one, with its metadata, and returns its name.
    pub(super) fn frame(
        &self,
        kind: Option<ArrayKind>,
        session: &Session,
    ) -> Result<String, Failure> {
        let source = array(&self.path, session)?;
        let new = self.begin(session)?;
        let builder = self.like_frame(&source, kind.unwrap_or(source.kind()), session)?;
        self.fill(
            new,
            builder,
            &mut |region| source.read_slice(region),
            session,
        )
    }

    fn begin(&self, session: &Session) -> Result<NewFrame<'_>, Failure> {
        NewFrame::begin(&self.output, &self.path, self.storage.sparse, session)
    }

    /// Fills a new frame with the regions that `read` reads, and returns its name.
    fn fill(
        &self,
        new: NewFrame<'_>,
        builder: NdArrayBuilder,
        read: &mut ReadRegion<'_>,
        session: &Session,
    ) -> Result<String, Failure> {
        let filled = new.fill(builder, &quoted(&self.path), read, session);
        filled.map_err(|failure| failure.if_damaged(VERIFY))?;
        let name = new.name();
        new.commit(session)?;
        Ok(name)
    }

    /// A new array with the settings of this one, unless others are given.
    fn like_frame(
        &self,
        source: &NdArray,
        kind: ArrayKind,
        session: &Session,
    ) -> Result<NdArrayBuilder, Failure> {
        let name = quoted(&self.path);
        let builder = match source.like() {
            Err(error) if error.category() == Category::Unsupported => {
                session.warning(format_args!(
                    "{name}: {error}; using the default compression"
                ));
                source.like_plain()
            }
            builder => builder,
        };
        let builder = builder.map_err(|error| failure(&self.path, &error))?;
        let mut builder = builder.kind(kind).options(options(session));
        match (kind, &self.dtype) {
            (ArrayKind::B2nd, Some(_)) => {
                let given = dtype(source, self.dtype.as_ref(), &self.path, session)?;
                builder = builder.dtype(given);
            }
            (ArrayKind::Caterva, Some(_)) => {
                let title = "the layout caterva cannot store a dtype";
                return Err(Failure::usage(title).hint("omit --dtype, or use --layout b2nd"));
            }
            (ArrayKind::Caterva, None) if source.dtype_text().is_some() => {
                session.warning(format_args!(
                    "{name}: its dtype is dropped: the layout caterva cannot store it"
                ));
            }
            _ => {}
        }
        self.storage.frame(builder, source.shape())
    }

    /// Makes a frame from an array of a dataset, and returns its name.
    pub(super) fn array_to_frame(
        &self,
        kind: Option<ArrayKind>,
        session: &Session,
    ) -> Result<String, Failure> {
        let (kind, name) = (kind.unwrap_or(ArrayKind::B2nd), quoted(&self.path));
        let dataset = dataset::open(&self.path, session)?;
        let source = dataset::array(&self.path, &dataset, self.column.as_deref())?;
        let new = self.begin(session)?;
        if !source.attributes().is_empty() {
            session.warning(format_args!(
                "{name}: its attributes are dropped: a frame cannot store them"
            ));
        }
        let mut builder = array_builder(kind, source.dtype(), source.shape(), &name, session)?;
        // Blosc2 has no Snappy, so those arrays get its default codec.
        let codec = codec_of(source);
        if codec != Compressor::Snappy {
            builder = builder.compressor(codec).level(codec.default_level());
        }
        let builder = self.storage.frame(builder, source.shape())?;
        self.fill(
            new,
            builder,
            &mut |region| source.read_slice(region),
            session,
        )
    }

    /// Makes a frame from the array in a Bloscpack file, and returns its name.
    pub(super) fn file_to_frame(
        &self,
        kind: Option<ArrayKind>,
        session: &Session,
    ) -> Result<String, Failure> {
        let input = Input::open_binary(&self.path, session)?;
        let kind = kind.unwrap_or(ArrayKind::B2nd);
        let new = self.begin(session)?;
        Selection::ALL.of_file(&input, session, |source| {
            let (shape, builder) = self.like_source(source, kind, &input.name(), session)?;
            let mut made = new.create(builder)?;
            copy_rows(&mut made, &shape, source).map_err(|error| {
                let failure = new.failed_from(&input.name(), &error);
                failure.if_damaged(RECOVER)
            })
        })?;
        let name = new.name();
        new.commit(session)?;
        Ok(name)
    }

    fn like_source(
        &self,
        source: &dyn Source,
        kind: ArrayKind,
        name: &str,
        session: &Session,
    ) -> Result<(Vec<u64>, NdArrayBuilder), Failure> {
        let Some(column) = source.schema().columns.first() else {
            return Err(Failure::usage(format!("{name} contains no array")));
        };
        let mut shape = vec![source.rows()];
        shape.extend(&column.row_shape);
        let builder = array_builder(kind, &column.dtype, &shape, name, session)?;
        let builder = self.storage.frame(builder, &shape)?;
        Ok((shape, builder))
    }

    /// Makes an array of a dataset from the one in a frame, and returns its name.
    pub(super) fn frame_to_array(
        &self,
        layout: Option<DatasetLayout>,
        session: &Session,
    ) -> Result<String, Failure> {
        let name = input::name(&self.path);
        let source = array(&self.path, session)?;
        if source.dtype().is_none() && self.dtype.is_none() {
            let title = format!("{name} does not store the dtype of its elements");
            return Err(Failure::usage(title).hint("add --dtype DTYPE"));
        }
        let dtype = dtype(&source, self.dtype.as_ref(), &self.path, session)?;
        warn_about_metadata(source.frame(), &name, session);
        let new = NewDataset::begin(&self.output, &self.path, session)?;
        let rows = NdSource::new(&source).and_then(|rows| rows.dtype(dtype));
        let mut rows = rows.map_err(|error| failure(&self.path, &error))?;
        let attributes = Attributes::default();
        let done = self.source_to_array(&mut rows, attributes, layout, &new, session);
        done.map_err(|failure| failure.if_damaged(VERIFY))?;
        let name = new.name();
        new.commit(session)?;
        Ok(name)
    }
}

/// Fills a new array with rows in order: as many at a time as whole chunks have.
fn copy_rows(made: &mut NdArray, shape: &[u64], source: &mut dyn Source) -> Result<(), Error> {
    let chunk = made.chunk_shape().first().copied().unwrap_or(1).max(1);
    let row = source.schema().row_bytes().max(1);
    // A chunk of more bytes than there can be does not fit, and is an error where it is read.
    let chunk = usize::try_from(u64::from(chunk).saturating_mul(row)).unwrap_or(usize::MAX);
    let at_once = chunk.saturating_mul((BAND / chunk).max(1));
    let mut begin = 0;
    while let Some(batch) = source
        .next_batch(at_once)
        .map_err(|error| error.on(Side::Source))?
    {
        interrupt::check()?;
        let rows: Range<u64> = begin..begin + batch.rows;
        begin = rows.end;
        let region = Region::of_rows(rows, shape);
        for bytes in &batch.columns {
            made.write_slice(&region.ranges, bytes)?;
        }
    }
    made.flush()
}

/// Warns about metadata of a frame that a dataset cannot store.
fn warn_about_metadata(frame: &Frame, name: &str, session: &Session) {
    let own = [ArrayKind::Caterva.name(), ArrayKind::B2nd.name()];
    let fixed = frame.metalayers().iter().map(|(name, _)| name);
    let layers = fixed
        .filter(|name| !own.contains(name))
        .chain(frame.vlmetalayers());
    let layers: Vec<String> = layers.map(|name| format!("{name:?}")).collect();
    if !layers.is_empty() {
        session.warning(format_args!(
            "{name}: its metadata {} is dropped: a dataset cannot store it",
            layers.join(", ")
        ));
    }
}
