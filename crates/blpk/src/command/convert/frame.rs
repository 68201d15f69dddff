//! Blosc2 frames into others, datasets into frames, and back.

use std::ops::Range;
use std::time::Instant;

use bloscpack::{
    Category, Error,
    dataset::{Attributes, CArray, DatasetLayout},
    exchange::{NdSource, Source},
    frame::{ArrayKind, Frame, NdArray, NdArrayBuilder},
};

use super::Convert;
use super::numpy::codec_of;
use crate::command::import::describe;
use crate::dataset::new::New;
use crate::dataset::selection::Selection;
use crate::dataset::{self, Array};
use crate::frame::new::{BAND, Halt, NewFrame, ReadBox, fill};
use crate::frame::{array, dtype, failure, options};
use crate::input::{self, Input};
use crate::interrupt;
use crate::message::{Failure, quoted};
use crate::session::Session;
use crate::status::Status;

impl Convert {
    /// A frame into another one, whose metadata goes along.
    pub(super) fn frame(
        &self,
        kind: Option<ArrayKind>,
        session: &Session,
    ) -> Result<Status, Failure> {
        let begun = Instant::now();
        let source = array(&self.path, session)?;
        let sparse = self.making.sparse;
        let new = NewFrame::begin(&self.output, &self.path, sparse, session)?;
        let builder = self.anew(&source, kind.unwrap_or(source.kind()), session)?;
        copy(builder, &new, session, &mut |part| source.read_slice(part)).map_err(
            |(error, is_read)| new.explain(&error, is_read.then(|| failure(&self.path, &error))),
        )?;
        self.done(new, begun, session)
    }

    /// As the array is, but for what is said.
    fn anew(
        &self,
        source: &NdArray,
        kind: ArrayKind,
        session: &Session,
    ) -> Result<NdArrayBuilder, Failure> {
        let name = quoted(&self.path);
        let builder = match source.like() {
            Err(error) if error.category() == Category::Unsupported => {
                session.warning(format_args!(
                    "{name}: {error}; it is compressed as new arrays are"
                ));
                source.like_plain()
            }
            builder => builder,
        };
        let builder = builder.map_err(|error| failure(&self.path, &error))?;
        let mut builder = builder.kind(kind).options(options(session));
        match (kind, &self.dtype) {
            (ArrayKind::B2nd, Some(_)) => {
                let said = dtype(source, self.dtype.as_ref(), &self.path, session)?;
                builder = builder.dtype(said);
            }
            (ArrayKind::Caterva, Some(_)) => {
                let title = "the layout caterva has no place for --dtype";
                return Err(Failure::usage(title).hint("--layout b2nd"));
            }
            (ArrayKind::Caterva, None) if source.dtype_text().is_some() => {
                session.warning(format_args!(
                    "{name}: its dtype is left out: the layout caterva has no place for it"
                ));
            }
            _ => {}
        }
        self.making.frame(builder, source.shape())
    }

    /// An array of a dataset into a frame.
    pub(super) fn array_to_frame(
        &self,
        kind: Option<ArrayKind>,
        session: &Session,
    ) -> Result<Status, Failure> {
        let begun = Instant::now();
        let source = Array::open(&self.path, self.column.as_deref(), session)?;
        let source = source.get(&self.path)?;
        let sparse = self.making.sparse;
        let new = NewFrame::begin(&self.output, &self.path, sparse, session)?;
        if !source.attributes().is_empty() {
            session.warning(format_args!(
                "{}: its attributes are left out: a frame has no place for them",
                quoted(&self.path)
            ));
        }
        let builder = self.of_array(source, kind, session)?;
        copy(builder, &new, session, &mut |part| source.read_slice(part)).map_err(
            |(error, is_read)| {
                let read = || dataset::failure(&self.path, &error);
                new.explain(&error, is_read.then(read))
            },
        )?;
        self.done(new, begun, session)
    }

    fn of_array(
        &self,
        source: &CArray,
        kind: Option<ArrayKind>,
        session: &Session,
    ) -> Result<NdArrayBuilder, Failure> {
        let (kind, name) = (kind.unwrap_or(ArrayKind::B2nd), quoted(&self.path));
        let codec = codec_of(source);
        let builder = describe(kind, source.dtype(), source.shape(), &name)?;
        // What Blosc2 has no place for becomes what it has by default.
        let builder = match codec == bloscpack::Compressor::Snappy {
            true => builder,
            false => builder.compressor(codec).level(codec.default_level()),
        };
        self.making
            .frame(builder.options(options(session)), source.shape())
    }

    /// The array in a Bloscpack file into a frame.
    pub(super) fn file_to_frame(
        &self,
        kind: Option<ArrayKind>,
        session: &Session,
    ) -> Result<Status, Failure> {
        let begun = Instant::now();
        let input = Input::open_binary(&self.path, session)?;
        let (kind, sparse) = (kind.unwrap_or(ArrayKind::B2nd), self.making.sparse);
        let new = NewFrame::begin(&self.output, &self.path, sparse, session)?;
        Selection::ALL.of_file(&input, session, |source| {
            let (shape, builder) = self.of_source(source, kind, &input.name(), session)?;
            let made = new.create(builder);
            let done = made.and_then(|mut made| rows(&mut made, &shape, source));
            done.map_err(|(error, is_read)| {
                let read = || Failure::library(input.name(), &error).or_recover();
                new.explain(&error, is_read.then(read))
            })
        })?;
        self.done(new, begun, session)
    }

    fn of_source(
        &self,
        source: &dyn Source,
        kind: ArrayKind,
        name: &str,
        session: &Session,
    ) -> Result<(Vec<u64>, NdArrayBuilder), Failure> {
        let Some(column) = source.schema().columns.first() else {
            return Err(Failure::usage(format!("{name} holds no array")));
        };
        let mut shape = vec![source.rows()];
        shape.extend(&column.row_shape);
        let builder = describe(kind, &column.dtype, &shape, name)?;
        let builder = self
            .making
            .frame(builder.options(options(session)), &shape)?;
        Ok((shape, builder))
    }

    /// The array in a frame into one of a dataset.
    pub(super) fn frame_to_array(
        &self,
        layout: Option<DatasetLayout>,
        session: &Session,
    ) -> Result<Status, Failure> {
        let begun = Instant::now();
        let source = array(&self.path, session)?;
        if source.dtype().is_none() && self.dtype.is_none() {
            let title = format!(
                "{} does not tell what its elements are",
                input::name(&self.path)
            );
            return Err(Failure::usage(title).hint("--dtype tells it"));
        }
        let dtype = dtype(&source, self.dtype.as_ref(), &self.path, session)?;
        warn_of_metadata(source.frame(), &input::name(&self.path), session);
        let new = New::begin(&self.output, &self.path, session)?;
        let failed = |error: &Error| failure(&self.path, error);
        let mut rows = NdSource::new(&source)
            .dtype(dtype)
            .map_err(|error| failed(&error))?;
        let attributes = Attributes::default();
        self.source_to_array(&mut rows, attributes, layout, (&new, &failed), session)?;
        let name = new.name();
        new.commit(session)?;
        self.tell(&name, begun, session);
        Ok(Status::Done)
    }

    fn done(
        &self,
        new: NewFrame<'_>,
        begun: Instant,
        session: &Session,
    ) -> Result<Status, Failure> {
        let name = new.name();
        new.commit(session)?;
        self.tell(&name, begun, session);
        Ok(Status::Done)
    }

    fn tell(&self, made: &str, begun: Instant, session: &Session) {
        session.verbose(format_args!(
            "{} converted into {made} in {:.2?}",
            input::name(&self.path),
            begun.elapsed(),
        ));
    }
}

/// Fills a new array with what `read` gives.
fn copy(
    builder: NdArrayBuilder,
    new: &NewFrame<'_>,
    session: &Session,
    read: &mut ReadBox<'_>,
) -> Result<(), Halt> {
    fill(&mut new.create(builder)?, session, read)
}

/// Fills a new array with rows as they come: as many at a time as whole chunks have.
fn rows(made: &mut NdArray, shape: &[u64], source: &mut dyn Source) -> Result<(), Halt> {
    let chunk = made.chunk_shape().first().copied().unwrap_or(1).max(1);
    let rows = u64::from(chunk)
        .saturating_mul(source.schema().row_bytes())
        .max(1);
    let rows = usize::try_from(rows).unwrap_or(usize::MAX);
    let at_once = rows.saturating_mul((BAND / rows).max(1));
    let mut begin = 0_u64;
    let whole: Vec<Range<u64>> = shape.iter().map(|len| 0..*len).collect();
    while let Some(batch) = source.next_batch(at_once).map_err(|error| (error, true))? {
        interrupt::check().map_err(|error| (error.into(), false))?;
        let mut part = whole.clone();
        let end = begin.saturating_add(batch.rows);
        if let Some(first) = part.first_mut() {
            *first = begin..end;
        }
        for bytes in &batch.columns {
            made.write_slice(&part, bytes)
                .map_err(|error| (error, false))?;
        }
        begin = end;
    }
    made.flush().map_err(|error| (error, false))
}

/// Says what is lost of a frame's metadata in a dataset.
fn warn_of_metadata(frame: &Frame, name: &str, session: &Session) {
    let own = [ArrayKind::Caterva.name(), ArrayKind::B2nd.name()];
    let before = frame.metalayers().iter().map(|(name, _)| name);
    let layers = before
        .filter(|name| !own.contains(name))
        .chain(frame.vlmetalayers());
    let layers: Vec<String> = layers.map(|name| format!("{name:?}")).collect();
    if !layers.is_empty() {
        session.warning(format_args!(
            "{name}: its metadata {} is left out: a dataset has no place for it",
            layers.join(", ")
        ));
    }
}
