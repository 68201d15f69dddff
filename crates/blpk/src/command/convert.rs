//! `blpk convert`: a dataset or a file packed anew, in another layout or with other settings.

mod dataset;
mod file;
mod frame;
mod numpy;

use std::path::PathBuf;

use bloscpack::{Checksum, DType, FormatVersion, dataset::DatasetLayout, frame::ArrayKind};
use clap::Args;

use crate::args;
use crate::dataset::making::Making;
use crate::frame::parse_dtype;
use crate::layout::ArrayLayout;
use crate::message::{Failure, quoted};
use crate::session::Session;
use crate::status::Status;
use crate::what::What;

/// Pack a dataset, a frame or a file anew, in another layout or with other settings
///
/// With --layout OUT is a dataset or a Blosc2 frame (caterva, b2nd), made of a dataset, a frame or a
/// Bloscpack file that holds an array of NumPy; with --format it is a Bloscpack file, made of another
/// one or of an array. Without either it is what PATH is. Attributes and metadata go along where OUT has
/// a place for them; settings are those of PATH where nothing else is said, at the codec's own level
/// where nothing tells it. For example:
///   blpk convert prices.bcolz prices --layout blz-doc -c zstd -k sha256
///   blpk convert --format 2 old.blp new.blp
///   blpk convert cube.cat cube.b2nd --layout b2nd --dtype '<f8' --chunkshape 100,100,50
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Convert {
    /// How a new dataset lies in its directory: bcolz, blz, blz-doc or carray-doc; or a frame: caterva or b2nd
    #[arg(long, value_name = "LAYOUT", value_parser = args::array_layout(), conflicts_with = "format")]
    layout: Option<ArrayLayout>,

    /// Header layout of the new Bloscpack file
    #[arg(long, value_name = "1|2|3", value_parser = clap::value_parser!(u8).range(1..=3))]
    format: Option<u8>,

    /// Bytes of a chunk of a Bloscpack file before compression, or 'max'
    #[arg(short = 'z', long, value_name = "SIZE", allow_negative_numbers = true, value_parser = args::chunk_size)]
    chunk_size: Option<u32>,

    #[command(flatten)]
    making: Making,

    /// Only this column of a table, which becomes an array
    #[arg(long, value_name = "NAME")]
    column: Option<String>,

    /// What the elements of a frame are, as NumPy calls it, where its file does not tell
    #[arg(long, value_name = "DTYPE", value_parser = parse_dtype)]
    dtype: Option<DType>,

    /// Dataset, frame or Bloscpack file to read
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// Directory or file to make
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

/// What is to be made.
#[derive(Clone, Copy, Debug)]
enum Goal {
    /// A dataset, in the layout of another one where none is said.
    Dataset(Option<DatasetLayout>),
    /// A frame, of the kind of another one where none is said.
    Frame(Option<ArrayKind>),
    /// A Bloscpack file.
    File,
}

impl Convert {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let what = What::of(&self.path)?;
        let goal = self.goal(what);
        self.fit(what, goal)?;
        match (what, goal) {
            (What::Directory, Goal::Dataset(_)) => self.dataset(session),
            (What::Directory, Goal::Frame(kind)) => self.array_to_frame(kind, session),
            (What::Directory, Goal::File) => self.array_to_file(session),
            (What::Frame, Goal::Dataset(layout)) => self.frame_to_array(layout, session),
            (What::Frame, Goal::Frame(kind)) => self.frame(kind, session),
            (What::Frame, Goal::File) => Err(self.no_file_of_frame()),
            (What::File, Goal::Dataset(layout)) => self.file_to_array(layout, session),
            (What::File, Goal::Frame(kind)) => self.file_to_frame(kind, session),
            (What::File, Goal::File) => self.file(session),
        }
    }

    /// What is said is to be made, or else what there is.
    fn goal(&self, what: What) -> Goal {
        match (self.layout, self.format, what) {
            (Some(ArrayLayout::Dataset(layout)), ..) => Goal::Dataset(Some(layout)),
            (Some(ArrayLayout::Frame(kind)), ..) => Goal::Frame(Some(kind)),
            (None, Some(_), _) | (None, None, What::File) => Goal::File,
            (None, None, What::Directory) => Goal::Dataset(None),
            (None, None, What::Frame) => Goal::Frame(None),
        }
    }

    /// Refuses options that mean nothing here.
    fn fit(&self, what: What, goal: Goal) -> Result<(), Failure> {
        match goal {
            Goal::Dataset(layout) => self.fit_array(layout.map(ArrayLayout::Dataset))?,
            Goal::Frame(kind) => {
                let kind = kind.unwrap_or(ArrayKind::B2nd);
                self.fit_array(Some(ArrayLayout::Frame(kind)))?;
            }
            Goal::File => self.fit_file()?,
        }
        let path = quoted(&self.path);
        if self.column.is_some() && what != What::Directory {
            return Err(Failure::usage(format!("{path} is no table")));
        }
        if self.dtype.is_some() && what != What::Frame {
            let title = format!("{path} tells itself what its elements are");
            return Err(Failure::usage(title).hint("--dtype is for Blosc2 frames"));
        }
        Ok(())
    }

    fn no_file_of_frame(&self) -> Failure {
        let title = format!(
            "{} is a Blosc2 frame: no Bloscpack file is made of it",
            quoted(&self.path)
        );
        Failure::usage(title)
            .hint("blpk convert --layout bcolz makes a dataset, of which one can be made")
    }

    fn fit_array(&self, layout: Option<ArrayLayout>) -> Result<(), Failure> {
        if self.chunk_size.is_some() {
            let title =
                "-z is for Bloscpack files; --chunklen or --chunkshape tell how long a chunk is";
            return Err(Failure::usage(title));
        }
        match layout {
            Some(layout) => self.making.fit(layout),
            None => Ok(()),
        }
    }

    fn fit_file(&self) -> Result<(), Failure> {
        if self.making.is_of_datasets() || self.making.is_of_frames() {
            let title = "--chunklen, --chunkshape, --blockshape, --sparse, --spare and --superchunk are for datasets and frames";
            return Err(Failure::usage(title).hint("-z tells the bytes of a chunk"));
        }
        let checksum = self
            .making
            .checksum
            .is_some_and(|kind| kind != Checksum::None);
        if self.format == Some(1) && checksum {
            let title = "--format 1 has no place for checksums: leave -k out";
            return Err(Failure::usage(title));
        }
        Ok(())
    }

    /// The header layout of the new file.
    fn header(&self) -> FormatVersion {
        match self.format {
            Some(1) => FormatVersion::V1,
            Some(2) => FormatVersion::V2,
            _ => FormatVersion::V3,
        }
    }
}
