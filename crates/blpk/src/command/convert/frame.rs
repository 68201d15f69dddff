//! Anything with an array into a Blosc2 frame.

use std::ops::Range;
use std::path::Path;

use bloscpack::{Category, Compressor, Error, error::IoSide as _, wire::internal::to_u64};
use bloscpack_open::{
    Inner, Region,
    array::Array as _,
    datasets::{Attributes, CArray},
    exchange::{OneArray, UserAttributes},
    frames::{ArrayKind, NdArray, NdArrayBuilder},
};

use super::{Convert, codec_of};
use crate::container::Opened;
use crate::failure::{About as _, Failure};
use crate::frame::{self, BAND, array_builder};
use crate::interrupt;
use crate::output::Target;
use crate::session::Session;
use crate::store::{NO_LAYER, warn_about_lost, warn_about_zones};

impl Convert {
    /// Makes a frame, and returns its name.
    pub(super) fn frame(
        &self,
        opened: &Opened,
        kind: ArrayKind,
        session: &Session,
    ) -> Result<String, Failure> {
        if let Inner::Frame(_) = opened.container.inner() {
            // It says what is wrong with the array in the frame.
            let missing = opened.container.columns(&self.selection()).err();
            let missing = missing.unwrap_or_else(|| Error::bug("a frame without an array"));
            return Err(missing).about(&opened.origin);
        }
        let (output, sparse) = (self.output(), self.storage.sparse);
        let new = frame::new_target(output, self.path(), sparse, session)?;
        let filled = self.fill_frame((&new, new.path()), opened, kind, session);
        filled.about(&new.made_from(&opened.origin))?;
        Ok(new.commit(session)?.name)
    }

    /// Writes the array into a new frame at a path: that of the target, or one in it.
    pub(super) fn fill_frame(
        &self,
        (new, path): (&Target, &Path),
        opened: &Opened,
        kind: ArrayKind,
        session: &Session,
    ) -> Result<(), Failure> {
        let name = &opened.origin.name;
        let builder = match (opened.container.inner(), self.carray(opened)?) {
            (Inner::NdArray(source), _) if self.is_whole() => {
                self.like_frame(source, kind, opened, session)?
            }
            (_, Some(source)) => self.of_array(source, kind, opened, session)?,
            _ => {
                let Some(source) = self.array(opened)? else {
                    return self.of_rows((new, path), kind, opened, session);
                };
                let (dtype, shape) = (source.dtype(), source.grid().shape());
                let builder = array_builder(kind, dtype, shape, name, session)?;
                let attributes = self.attributes(opened, session)?;
                let builder = with_attributes(builder, &attributes, name, session)?;
                self.storage.frame(builder, shape)?
            }
        };
        let source = self.array(opened)?;
        let source = source.ok_or_else(|| Error::bug("an array that is none any more"))?;
        let read = &mut |region: &[Range<u64>]| source.read_slice(region);
        frame::fill(new, path, builder, read, session)?;
        Ok(())
    }

    /// A new array with the settings of this one, unless others are given.
    fn like_frame(
        &self,
        source: &NdArray,
        kind: ArrayKind,
        opened: &Opened,
        session: &Session,
    ) -> Result<NdArrayBuilder, Failure> {
        let name = &opened.origin.name;
        let builder = match source.like() {
            Err(error) if error.category() == Category::Unsupported => {
                session.warning(format_args!(
                    "{name}: {error}; using the default compression"
                ));
                source.like_plain()
            }
            builder => builder,
        };
        let mut builder = builder?.kind(kind).options(session.array_options());
        match (kind, &self.dtype) {
            (ArrayKind::B2nd, Some(given)) => {
                self.dtype_of(source, name)?;
                builder = builder.dtype(given.clone());
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

    /// A new array with the settings of the array of a dataset, unless others are given.
    fn of_array(
        &self,
        source: &CArray,
        kind: ArrayKind,
        opened: &Opened,
        session: &Session,
    ) -> Result<NdArrayBuilder, Failure> {
        let name = &opened.origin.name;
        let builder = array_builder(kind, source.dtype(), source.shape(), name, session)?;
        let mut builder = with_attributes(builder, source.attributes(), name, session)?;
        // Blosc2 has no Snappy, so those arrays get its default codec.
        let codec = codec_of(source);
        if codec != Compressor::Snappy {
            builder = builder.compressor(codec).level(codec.default_level());
        }
        self.storage.frame(builder, source.shape())
    }

    /// Makes a frame from the rows of any other input.
    fn of_rows(
        &self,
        (new, path): (&Target, &Path),
        kind: ArrayKind,
        opened: &Opened,
        session: &Session,
    ) -> Result<(), Failure> {
        let attributes = self.attributes(opened, session)?;
        let name = &opened.origin.name;
        let mut source = self.fixed(&*opened.container).about(name)?;
        let mut source = OneArray::new(&mut *source).about(name)?;
        warn_about_zones(source.schema(), name, session);
        let (dtype, shape) = (&source.column().dtype, source.shape());
        let builder = array_builder(kind, dtype, shape, name, session)?;
        let builder = with_attributes(builder, &attributes, name, session)?;
        let builder = self.storage.frame(builder, shape)?;
        let mut made = frame::create(new, path, builder)?;
        Ok(copy_rows(&mut made, &mut source)?)
    }
}

/// A new array with these attributes as metalayers, which python-blosc2 shows as `vlmeta`.
fn with_attributes(
    builder: NdArrayBuilder,
    attributes: &Attributes,
    name: &str,
    session: &Session,
) -> Result<NdArrayBuilder, Failure> {
    let (values, lost) = UserAttributes::values(attributes);
    warn_about_lost(&lost, NO_LAYER, name, session);
    values.iter().try_fold(builder, |builder, (key, value)| {
        let mut bytes = Vec::new();
        let encoded = value.encode(&mut bytes);
        encoded.map_err(|error| Failure::usage(format!("{name}: attribute {key:?}: {error}")))?;
        Ok(builder.vlmetalayer(key, bytes))
    })
}

/// Fills a new array with rows in order: as many at a time as whole chunks have.
fn copy_rows(made: &mut NdArray, source: &mut OneArray<'_>) -> Result<(), Error> {
    let chunk = made.chunk_shape().first().copied().unwrap_or(1).max(1);
    let row = source.column().row_bytes().max(1);
    // A chunk of more bytes than memory can have is an error where it is read.
    let chunk = usize::try_from(u64::from(chunk).saturating_mul(row)).unwrap_or(usize::MAX);
    let at_once = chunk.saturating_mul((BAND / chunk).max(1));
    let shape = source.shape().to_vec();
    let mut begin = 0;
    while let Some(elements) = source.next_elements(at_once).reading()? {
        interrupt::check()?;
        let rows = begin..begin + to_u64(elements.len()) / row;
        begin = rows.end;
        made.write_slice(&Region::of_rows(rows, &shape).ranges, &elements)?;
    }
    made.flush()
}
