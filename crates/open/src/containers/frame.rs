//! Blosc2 frames, and the n-dimensional arrays in them.

use crate::elements::{self, cut, within, write};
use crate::error::no_chunk;
use crate::summary::Summary;
use crate::{
    Container, INTERRUPTED, Inner, Kind, Options, Outline, Part, Report, Selection, watch,
};
use bloscpack_error::{Code, Error, Result};
use bloscpack_frames::{Frame, NdArray};
use bloscpack_storage::SharedSource;
use bloscpack_storage::Store;
use bloscpack_wire::internal::to_u64;
use std::io::Write;
use std::ops::Range;
use std::path::Path;

/// A frame.
struct FrameContainer {
    contents: Contents,
    /// Opens the same frame again.
    open: Box<dyn Fn() -> Result<Frame> + Send + Sync>,
    options: Options,
    warnings: Vec<String>,
    /// Compares the bytes with a digest that a store has of them.
    place: Option<VerifyPlace>,
}

type VerifyPlace = Box<dyn Fn() -> Vec<Error> + Send + Sync>;

/// The content of a frame.
enum Contents {
    Array(Box<NdArray>),
    Chunks(Box<Frame>),
    /// An array whose description is damaged.
    Broken(Box<Frame>),
}

/// Opens a contiguous frame.
pub(crate) fn open_source(
    source: SharedSource,
    options: &Options,
    warnings: Vec<String>,
) -> Result<Box<dyn Container>> {
    let opener = options.clone();
    let open = move || Frame::read_with(source.clone(), &opener);
    Ok(Box::new(new(Box::new(open), options, warnings)?))
}

/// Opens a frame in a store, whose bytes `place` compares with what the store has of them.
pub(crate) fn open_member(
    source: SharedSource,
    options: &Options,
    place: impl Fn() -> Vec<Error> + Send + Sync + 'static,
) -> Result<Box<dyn Container>> {
    let opener = options.clone();
    let open = move || Frame::read_with(source.clone(), &opener);
    let mut frame = new(Box::new(open), options, Vec::new())?;
    frame.place = Some(Box::new(place));
    Ok(Box::new(frame))
}

/// Opens the sparse frame in a directory.
pub(crate) fn open_sparse(path: &Path, options: &Options) -> Result<Box<dyn Container>> {
    let (opener, path) = (options.clone(), path.to_owned());
    let open = move || Frame::open_with(&path, &opener);
    Ok(Box::new(new(Box::new(open), options, Vec::new())?))
}

/// Opens the sparse frame at the root of a store.
pub(crate) fn open_store(
    store: impl Store + Clone + 'static,
    options: &Options,
) -> Result<Box<dyn Container>> {
    let opener = options.clone();
    let open = move || Frame::open_store(store.clone(), &opener);
    Ok(Box::new(new(Box::new(open), options, Vec::new())?))
}

fn new(
    open: Box<dyn Fn() -> Result<Frame> + Send + Sync>,
    options: &Options,
    mut warnings: Vec<String>,
) -> Result<FrameContainer> {
    let frame = open()?;
    warnings.extend(frame.was_interrupted().then(|| INTERRUPTED.to_owned()));
    let contents = match frame.array_meta() {
        Ok(None) => Contents::Chunks(Box::new(frame)),
        Ok(Some(_)) => match NdArray::of(frame) {
            Ok(array) => Contents::Array(Box::new(array)),
            Err(_) => Contents::Broken(Box::new(open()?)),
        },
        Err(_) => Contents::Broken(Box::new(frame)),
    };
    Ok(FrameContainer {
        contents,
        open,
        options: options.clone(),
        warnings,
        place: None,
    })
}

impl FrameContainer {
    fn frame(&self) -> &Frame {
        match &self.contents {
            Contents::Array(array) => array.frame(),
            Contents::Chunks(frame) | Contents::Broken(frame) => frame,
        }
    }

    /// The array, if there is one.
    fn array(&self) -> Result<Option<&NdArray>> {
        match &self.contents {
            Contents::Array(array) => Ok(Some(array)),
            Contents::Chunks(_) => Ok(None),
            Contents::Broken(_) => self.require_array().map(Some),
        }
    }

    /// The array. If there is none, the error says why.
    fn require_array(&self) -> Result<&NdArray> {
        match &self.contents {
            Contents::Array(array) => Ok(array),
            Contents::Chunks(_) | Contents::Broken(_) => match NdArray::of((self.open)()?) {
                Ok(_) => Err(Error::usage("the frame has changed since it was opened")),
                Err(error) => Err(error),
            },
        }
    }

    /// Copies chunks of a frame without an array.
    fn copy_chunks(&self, part: &Part, to: &mut dyn Write) -> Result<u64> {
        let frame = self.frame();
        let (numbers, wanted) = self.numbers(part)?;
        let size = u64::from(frame.chunk_size());
        // A frame may claim any number of chunks. This total is only shown.
        let total = (numbers.end - numbers.start).saturating_mul(size);
        let mut copied = 0;
        for number in numbers {
            let data = frame.chunk(number)?;
            let len = to_u64(data.len());
            copied += write(to, cut(&data, within(&wanted, number * size, len))?)?;
            watch::advance(&self.options.watch, len, Some(total))?;
        }
        part.check(copied, frame.content_len())
    }

    /// The chunks to read, and the range of the frame's bytes to copy.
    fn numbers(&self, part: &Part) -> Result<(Range<u64>, Range<u64>)> {
        let chunks = self.frame().chunks();
        let bytes = match part {
            Part::Rows(_) | Part::Slice(_) => {
                return Err(Error::new(
                    Code::NeedsArray,
                    "this contains chunks of bytes, but no array",
                ));
            }
            Part::Chunk(chunk) if *chunk < chunks => return Ok((*chunk..chunk + 1, 0..u64::MAX)),
            Part::Chunk(chunk) => return Err(no_chunk(*chunk, chunks)),
            Part::Bytes(bounds) => bounds.range(),
            Part::All => 0..u64::MAX,
        };
        let size = u64::from(self.frame().chunk_size()).max(1);
        let end = bytes.end.div_ceil(size).min(chunks);
        Ok(((bytes.start / size).min(end)..end, bytes))
    }
}

mod exchange {
    use super::FrameContainer;
    use crate::elements::{copy, write};
    use crate::exchange::{ArraySource, BoxedSource, Format};
    use crate::{Selection, watch};
    use bloscpack_array::Retyped;
    use bloscpack_dtype::{DType, npy::NpyHeader};
    use bloscpack_error::{Error, Result};
    use bloscpack_frames::NdArray;
    use std::io::Write;

    impl FrameContainer {
        fn array_of(&self, selection: &Selection) -> Result<&NdArray> {
            selection.refuse_columns()?;
            self.require_array()
        }

        /// The dtype of the elements: the given one, that of the file, or else void.
        fn dtype(&self, array: &NdArray) -> Result<DType> {
            let itemsize = u64::from(array.itemsize());
            match (&self.options.dtype, array.dtype()) {
                (Some(given), _) if given.itemsize() != itemsize => {
                    let found = given.itemsize();
                    Err(Error::usage(format!(
                        "dtype {given} has {found} bytes, but an element has {itemsize}"
                    )))
                }
                (Some(dtype), _) | (None, Some(dtype)) => Ok(dtype.clone()),
                (None, None) => Ok(DType::void(itemsize)?),
            }
        }

        pub(crate) fn source(&mut self, selection: &Selection) -> Result<BoxedSource<'_>> {
            let array = self.array_of(selection)?;
            let unknown = self.options.dtype.is_none() && array.dtype().is_none();
            let warning = array.dtype_text().filter(|_| unknown).map(|text| {
                let itemsize = array.itemsize();
                format!(
                    "unknown dtype {text:?}; its elements are treated as {itemsize} raw bytes each"
                )
            });
            let user = array.user_attributes();
            self.warnings.extend(warning);
            // The elements are sound without it.
            let damage = user.as_ref().err();
            self.warnings
                .extend(damage.map(|error| format!("its metadata is left out: {error}")));
            let attributes = user.unwrap_or_default().attributes;
            let array = self.array_of(selection)?;
            let region = selection.part.region(array.shape())?;
            let source = ArraySource::of(Retyped::new(array, self.dtype(array)?)?);
            let source = source.attributes(attributes).slice(&region.ranges)?;
            Ok(watch::rows(&self.options.watch, Box::new(source)))
        }

        /// Writes the elements, for formats that do not need rows: a row may be longer than memory.
        pub(crate) fn export_elements(
            &mut self,
            selection: &Selection,
            format: Format,
            to: &mut (dyn Write + Send),
        ) -> Result<u64> {
            // Checks the selection.
            let rows = self.source(selection)?.rows();
            let array = self.array_of(selection)?;
            if format == Format::Npy {
                let header = NpyHeader {
                    dtype: self.dtype(array)?,
                    fortran_order: false,
                    shape: selection.part.region(array.shape())?.shape(),
                };
                let header = header.encode();
                write(
                    to,
                    &header.map_err(|error| Error::usage(error.to_string()))?,
                )?;
            }
            copy(array, &selection.part, to, &self.options.watch)?;
            Ok(rows)
        }
    }
}

impl Container for FrameContainer {
    fn kind(&self) -> Kind {
        Kind::Frame
    }

    fn outline(&mut self) -> Result<Outline> {
        let outline = Outline::new(Kind::Frame);
        let found = self.frame().virtual_data().map(|found| found.kind().name());
        Ok(match self.array()? {
            Some(array) => Outline {
                layout: Some(found.unwrap_or(array.kind().name())),
                dtype: array.dtype().map(ToString::to_string),
                shape: Some(array.shape().to_vec()),
                bytes: Some(array.nbytes()),
                ..outline
            },
            None => Outline {
                layout: found,
                bytes: Some(self.frame().content_len()),
                ..outline
            },
        })
    }

    fn summary(&mut self) -> Result<Summary> {
        super::frame_summary::summary(self.frame())
    }

    fn verify(&mut self) -> Result<Report> {
        let (frame, watch) = (self.frame(), &self.options.watch);
        let total = frame.content_len();
        let report = frame.verify(|bytes| watch::show(watch, bytes, total));
        let mut damages = report.damages;
        damages.extend(self.place.iter().flat_map(|place| place()));
        let mut all = Report::of(report.chunks, report.bytes, damages);
        all.warnings = report.warnings;
        Ok(all)
    }

    fn copy(&mut self, selection: &Selection, to: &mut dyn Write) -> Result<u64> {
        selection.refuse_columns()?;
        match self.array()? {
            Some(array) => elements::copy(array, &selection.part, to, &self.options.watch),
            None => self.copy_chunks(&selection.part, to),
        }
    }

    fn columns(&mut self, selection: &Selection) -> Result<crate::exchange::BoxedSource<'_>> {
        self.source(selection)
    }

    fn export(
        &mut self,
        selection: &Selection,
        format: crate::exchange::Format,
        to: &mut (dyn Write + Send),
    ) -> Result<u64> {
        use crate::exchange::Format;
        match format {
            Format::Npy | Format::Bytes => self.export_elements(selection, format, to),
            _ => crate::export_source(self.columns(selection)?, selection, format, to),
        }
    }

    fn attributes(&mut self, _: Option<&str>) -> Result<crate::exchange::UserAttributes> {
        let array = self.array()?.map(NdArray::user_attributes);
        Ok(array.transpose()?.unwrap_or_default())
    }

    fn take_warnings(&mut self) -> Vec<String> {
        std::mem::take(&mut self.warnings)
    }

    fn inner(&self) -> Inner<'_> {
        match &self.contents {
            Contents::Array(array) => Inner::NdArray(array),
            Contents::Chunks(frame) | Contents::Broken(frame) => Inner::Frame(frame),
        }
    }
}
