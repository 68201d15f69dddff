//! `blpk convert`: a dataset, frame or file into another layout, or with other settings.

mod dataset;
mod file;
mod frame;
mod numpy;

use std::path::PathBuf;

use bloscpack::{
    Checksum, Compressor, FormatVersion,
    blosc::{ChunkSettings, CompressorFormat},
    dataset::{CArray, DatasetLayout},
    dtype::DType,
    frame::ArrayKind,
};
use clap::Args;

use crate::args;
use crate::dataset::selection::not_a_table;
use crate::dataset::storage_args::StorageArgs;
use crate::failure::Failure;
use crate::frame::has_dtype;
use crate::input::{self, InputKind};
use crate::layout::ArrayLayout;
use crate::session::Session;
use crate::status::Status;
use crate::text::quoted;

/// Convert a dataset, a frame or a file into another layout, or with other settings
///
/// With --layout, OUT is a dataset or a Blosc2 frame (caterva, b2nd), and PATH a dataset, a frame, or a Bloscpack file with
/// a NumPy array. With --format, OUT is a Bloscpack file, and PATH another one or an array. Without either, OUT is of the
/// same kind as PATH. Attributes and metadata are copied if OUT can store them. Settings that are not given are those of
/// PATH; if its level is unknown, it is the default of the codec.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Convert {
    /// Layout of a new dataset: bcolz, blz, blz-doc or carray-doc; or of a new frame: caterva or b2nd
    #[arg(long, value_name = "LAYOUT", value_parser = args::array_layout(), conflicts_with = "format")]
    layout: Option<ArrayLayout>,

    /// Header version of a new Bloscpack file
    #[arg(long, value_name = "1|2|3", value_parser = args::header_format)]
    format: Option<FormatVersion>,

    /// Size of a chunk of a Bloscpack file before compression, or 'max'
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = args::chunk_size)]
    chunk_size: Option<u32>,

    #[command(flatten)]
    storage: StorageArgs,

    /// Only this column of a table, as an array
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// NumPy dtype of the elements, for frames that do not store it
    #[arg(long, value_name = "DTYPE", value_parser = args::dtype)]
    dtype: Option<DType>,

    /// Dataset, frame or Bloscpack file to read
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Directory or file to make
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk convert prices.bcolz prices --layout blz-doc -c zstd -k sha256
  blpk convert --format 2 old.blp new.blp
  blpk convert cube.cat cube.b2nd --layout b2nd --dtype '<f8' --chunkshape 100,100,50";

/// The kind of output.
#[derive(Clone, Copy, Debug)]
enum Goal {
    /// A dataset, by default in the layout of PATH.
    Dataset(Option<DatasetLayout>),
    /// A frame, by default of the kind of PATH.
    Frame(Option<ArrayKind>),
    /// A Bloscpack file.
    File,
}

impl Convert {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let kind = InputKind::of(&self.path)?;
        let goal = self.goal(kind);
        self.check(kind, goal)?;
        let made = match (kind, goal) {
            (InputKind::Directory, Goal::Dataset(_)) => self.dataset(session),
            (InputKind::Directory, Goal::Frame(kind)) => self.array_to_frame(kind, session),
            (InputKind::Directory, Goal::File) => self.array_to_file(session),
            (InputKind::Frame, Goal::Dataset(layout)) => self.frame_to_array(layout, session),
            (InputKind::Frame, Goal::Frame(kind)) => self.frame(kind, session),
            (InputKind::Frame, Goal::File) => Err(self.no_file_from_frame()),
            (InputKind::File, Goal::Dataset(layout)) => self.file_to_array(layout, session),
            (InputKind::File, Goal::Frame(kind)) => self.file_to_frame(kind, session),
            (InputKind::File, Goal::File) => self.file(session),
        }?;
        session.done(format_args!(
            "{} converted into {made}",
            input::name(&self.path)
        ));
        Ok(Status::Done)
    }

    /// The kind of output: by the options, or else that of PATH.
    fn goal(&self, kind: InputKind) -> Goal {
        match (self.layout, self.format, kind) {
            (Some(ArrayLayout::Dataset(layout)), ..) => Goal::Dataset(Some(layout)),
            (Some(ArrayLayout::Frame(kind)), ..) => Goal::Frame(Some(kind)),
            (None, Some(_), _) | (None, None, InputKind::File) => Goal::File,
            (None, None, InputKind::Directory) => Goal::Dataset(None),
            (None, None, InputKind::Frame) => Goal::Frame(None),
        }
    }

    /// Refuses options that have no meaning here.
    fn check(&self, kind: InputKind, goal: Goal) -> Result<(), Failure> {
        match goal {
            Goal::Dataset(layout) => self.check_array(layout.map(ArrayLayout::Dataset))?,
            Goal::Frame(kind) => {
                let kind = kind.unwrap_or(ArrayKind::B2nd);
                self.check_array(Some(ArrayLayout::Frame(kind)))?;
            }
            Goal::File => self.check_file()?,
        }
        if self.column.is_some() && kind != InputKind::Directory {
            return Err(not_a_table(&quoted(&self.path)));
        }
        if self.dtype.is_some() && kind != InputKind::Frame {
            return Err(has_dtype(&quoted(&self.path)));
        }
        Ok(())
    }

    fn no_file_from_frame(&self) -> Failure {
        let path = quoted(&self.path);
        let title =
            format!("{path} is a Blosc2 frame, which cannot be converted into a Bloscpack file");
        Failure::usage(title)
            .hint("blpk convert --layout bcolz makes a dataset, which can be converted into a file")
    }

    fn check_array(&self, layout: Option<ArrayLayout>) -> Result<(), Failure> {
        if self.chunk_size.is_some() {
            return Err(Failure::usage("-z is only for Bloscpack files")
                .hint("use --chunklen or --chunkshape"));
        }
        match layout {
            Some(layout) => self.storage.check(layout),
            None => Ok(()),
        }
    }

    fn check_file(&self) -> Result<(), Failure> {
        if self.storage.is_for_arrays() {
            let title = "--chunklen, --chunkshape, --blockshape, --sparse, --spare and --chunks-per-superchunk are only for datasets and frames";
            return Err(Failure::usage(title).hint("-z is the size of a chunk of a file"));
        }
        let checksum = self.storage.checksum;
        let checksum = checksum.is_some_and(|kind| kind != Checksum::None);
        if self.format == Some(FormatVersion::V1) && checksum {
            let title = "--format 1 does not support checksums";
            return Err(Failure::usage(title).hint("omit -k"));
        }
        Ok(())
    }

    /// The header version of a new file.
    fn header_format(&self) -> FormatVersion {
        self.format.unwrap_or(FormatVersion::V3)
    }
}

/// The codec that writes this format, or the default one.
fn codec_for(format: Option<CompressorFormat>) -> Compressor {
    let mut all = Compressor::ALL.into_iter();
    let found = all.find(|codec| Some(codec.format()) == format && codec.is_available());
    found.unwrap_or(ChunkSettings::default().compressor)
}

/// The codec of the first chunks of an array.
fn codec_of(array: &CArray) -> Compressor {
    let survey = array.survey(100).ok();
    codec_for(survey.and_then(|survey| survey.compressors.first().copied()))
}
