//! The container of Blosc2 frames, and of the n-dimensional arrays in them.

use crate::elements::{self, cut, within, write};
use crate::error::no_chunk;
use crate::exchange::UserAttributes;
use crate::selection::refuse_column;
use crate::summary::Summary;
use crate::warnings::Warnings;
use crate::{
    Container, INTERRUPTED, Inner, Kind, Options, Outline, Part, Report, Selection, watch,
};
use bloscpack::Watch;
use bloscpack_array::{Array, Retyped};
use bloscpack_dtype::DType;
use bloscpack_error::{Code, Error, Result};
use bloscpack_frames::{Frame, NdArray, Tensor};
use bloscpack_storage::{Below, SharedSource};
use bloscpack_wire::internal::to_u64;
use std::io::Write;
use std::ops::Range;

/// A Blosc2 frame that was opened.
pub(crate) struct FrameContainer {
    contents: Contents,
    /// Opens the same frame again.
    open: Box<dyn Fn() -> Result<Frame> + Send + Sync>,
    options: Options,
    warnings: Warnings,
    /// Compares the bytes with a digest that a store keeps of them.
    place: Option<VerifyPlace>,
}

type VerifyPlace = Box<dyn Fn() -> Vec<Error> + Send + Sync>;

/// What the frame contains.
enum Contents {
    /// An n-dimensional array.
    Array(Box<NdArray>),
    /// Chunks of bytes, or a tensor (an array without shapes of chunks).
    Chunks(Box<Frame>),
    /// An array whose metadata is damaged.
    Broken(Box<Frame>),
}

/// Opens a contiguous frame: one in a single file.
pub(crate) fn open_source(
    source: SharedSource,
    options: &Options,
    warnings: Vec<String>,
) -> Result<FrameContainer> {
    let opener = options.clone();
    let open = move || Frame::read_with(source.clone(), &opener);
    new(Box::new(open), options, warnings)
}

/// Opens a frame in a store. `place` compares its bytes with the digest that the store keeps.
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

/// Opens a sparse frame: a folder with one file per chunk.
pub(crate) fn open_folder(folder: Below, options: &Options) -> Result<Box<dyn Container>> {
    let opener = options.clone();
    let open = move || Frame::open_store(folder.clone(), &opener);
    Ok(Box::new(new(Box::new(open), options, Vec::new())?))
}

fn new(
    open: Box<dyn Fn() -> Result<Frame> + Send + Sync>,
    options: &Options,
    warnings: Vec<String>,
) -> Result<FrameContainer> {
    let frame = open()?;
    let warnings = Warnings::from_iter(warnings);
    warnings.add(frame.was_interrupted().then_some(INTERRUPTED));
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
    pub(crate) fn frame(&self) -> &Frame {
        match &self.contents {
            Contents::Array(array) => array.frame(),
            Contents::Chunks(frame) | Contents::Broken(frame) => frame,
        }
    }

    /// The array; `None` if the frame contains none.
    fn found(&self) -> Result<Option<&NdArray>> {
        match &self.contents {
            Contents::Array(array) => Ok(Some(array)),
            Contents::Chunks(_) => Ok(None),
            Contents::Broken(_) => self.require_array().map(Some),
        }
    }

    /// The chunks as an array, if the frame describes a tensor and no dtype was given.
    fn tensor(&self) -> Result<Option<Tensor<'_>>> {
        match &self.contents {
            Contents::Chunks(frame) if self.options.dtype.is_none() => Tensor::of(frame),
            _ => Ok(None),
        }
    }

    /// The array. Without one, the error says why.
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

    /// The chunks to read, and the range of the frame's content to copy.
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

impl FrameContainer {
    /// The dtype of the elements: the given one, else the stored one, else void of the element's size.
    fn dtype(&self, array: &NdArray) -> Result<DType> {
        let dtype = self.options.dtype.as_ref().or(array.dtype());
        match (dtype, array.dtype_text()) {
            (Some(dtype), _) => return Ok(dtype.clone()),
            (None, Some(text)) => {
                let itemsize = array.itemsize();
                self.warnings.add([format!(
                    "unknown dtype {text:?}; its elements are treated as {itemsize} raw bytes each"
                )]);
            }
            (None, None) => {}
        }
        Ok(DType::void(array.itemsize().into())?)
    }
}

impl Container for FrameContainer {
    fn kind(&self) -> Kind {
        Kind::Frame
    }

    fn outline(&self) -> Result<Outline> {
        let outline = Outline::new(Kind::Frame);
        let found = self.frame().virtual_data().map(|found| found.kind().name());
        Ok(match self.found()? {
            Some(array) => Outline {
                layout: Some(found.unwrap_or(array.kind().name())),
                dtype: array.dtype().map(ToString::to_string),
                shape: Some(array.shape().to_vec()),
                bytes: Some(array.nbytes()),
                ..outline
            },
            None if let Some(tensor) = self.tensor()? => Outline {
                layout: Some("tensor"),
                dtype: Some(tensor.dtype().to_string()),
                shape: Some(tensor.shape().to_vec()),
                bytes: Some(self.frame().content_len()),
                ..outline
            },
            None => Outline {
                layout: found,
                bytes: Some(self.frame().content_len()),
                ..outline
            },
        })
    }

    fn summary(&self) -> Result<Summary> {
        super::frame_summary::summary(self.frame())
    }

    fn verify(&self) -> Result<Report> {
        let (frame, watch) = (self.frame(), &self.options.watch);
        let total = frame.content_len();
        let mut report = frame.verify(|bytes| watch::show(watch, bytes, total));
        let damages = self.place.iter().flat_map(|place| place());
        report.damages.extend(damages);
        Ok(report.into())
    }

    fn array(&self, column: Option<&str>) -> Result<Option<Box<dyn Array + '_>>> {
        refuse_column(column)?;
        if let Some(tensor) = self.tensor()? {
            return Ok(Some(Box::new(tensor.array()?)));
        }
        let array = self.require_array()?;
        let mut retyped = Retyped::new(array, self.dtype(array)?)?;
        if let Err(error) = array.user_attributes() {
            // The elements are sound without the metadata.
            self.warnings
                .add([format!("its metadata is left out: {error}")]);
            retyped = retyped.without_attributes();
        }
        Ok(Some(Box::new(retyped)))
    }

    fn copy(&self, selection: &Selection, to: &mut dyn Write) -> Result<u64> {
        selection.refuse_columns()?;
        match self.found()? {
            Some(array) => elements::copy(array, &selection.part, to, &self.options.watch),
            None if !matches!(selection.part, Part::Chunk(_))
                && let Some(tensor) = self.tensor()? =>
            {
                elements::copy(&tensor.array()?, &selection.part, to, &self.options.watch)
            }
            None => self.copy_chunks(&selection.part, to),
        }
    }

    fn attributes(&self, _: Option<&str>) -> Result<UserAttributes> {
        let array = self.found()?.map(NdArray::user_attributes);
        Ok(array.transpose()?.unwrap_or_default())
    }

    fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    fn inner(&self) -> Inner<'_> {
        match &self.contents {
            Contents::Array(array) => Inner::NdArray(array),
            Contents::Chunks(_) if matches!(self.tensor(), Ok(Some(_))) => Inner::Other,
            Contents::Chunks(frame) | Contents::Broken(frame) => Inner::Frame(frame),
        }
    }

    fn watch(&self) -> &Watch {
        &self.options.watch
    }
}
