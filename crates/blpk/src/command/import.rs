//! `blpk import`: a file of another format into a new dataset or frame.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts contain NumPy types in brackets"
)]

use std::io::Read;
use std::path::PathBuf;

use bloscpack::{
    Code, Encoder, EncoderBuilder, Error,
    blosc::Aim,
    dtype::npy::{NpyError, NpyHeader},
    error::IoSide as _,
    wire::internal::to_u64,
};
use bloscpack_open::{
    array::Array as _,
    datasets::{Attributes, CArrayBuilder, CTableBuilder, DatasetLayout},
    exchange::{
        BoxedSource, Format, ImportOptions, Source as _, import_array, import_store, import_table,
    },
    frames::ArrayKind,
    internal::size,
};
use clap::Args;
use same_file::is_same_file;

use super::bloscpack_file::{Content, encode, numpy_metadata};
use super::convert::warn_about_axes;
use crate::args;
use crate::args::with_given;
use crate::dataset::{
    new_array, new_table,
    source::ImportArgs,
    source::{self, Imported, ProgressSource},
    storage_args::StorageArgs,
};
use crate::failure::{About as _, Failure};
use crate::frame::{self, array_builder};
use crate::input;
use crate::input::Input;
use crate::layout::{self, Goal};
use crate::layout::{ArrayLayout, StoreForm};
use crate::output::{FolderKind, MadeFrom, Replaces, Target};
use crate::progress::Progress;
use crate::session::Session;
use crate::status::Status;
use crate::store::{self, warn_about_zones};
use crate::text::count;

/// Make a dataset or frame of .npy, CSV, ...
///
/// IN is .npy, .npz, .csv or .tsv; with the feature arrow, which blpk --version shows, also .arrow or .parquet. A NumPy array
/// becomes an array; with --table, an array whose elements have fields becomes a table. The arrays of a .npz become the columns
/// of a table; a single one, an array. The other formats become tables. The layouts caterva and b2nd make a frame with an
/// n-dimensional array, only from .npy: a file, or a directory with --sparse. If OUT ends in .b2nd or .b2frame, b2nd is the
/// default; if it ends in .blp, a .npy becomes a Bloscpack file as Bloscpack's own NumPy functions make it; if it ends in .b2z or .b2d, a
/// table becomes a CTable of python-blosc2, in which missing values stay missing and text has any length, unless --types gives one.
/// OUT appears under its name when it is complete. With -f it atomically replaces an existing dataset, frame or store.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Import {
    #[command(flatten)]
    storage: StorageArgs,

    /// Layout of a dataset: bcolz, blz, blz-doc or carray-doc; of a frame: caterva, or b2nd, which stores the dtype; or of a
    /// store of python-blosc2: b2z, an archive, or b2d, a directory
    /// [default: by the ending of OUT, otherwise bcolz]
    #[arg(long, value_name = "LAYOUT", value_parser = args::array_layout())]
    layout: Option<ArrayLayout>,

    /// Expected final number of rows, which determines the default chunk length
    #[arg(long, value_name = "N", value_parser = args::count)]
    expected_rows: Option<u64>,

    #[command(flatten)]
    reading: ImportArgs,

    /// Store the minimum, maximum and nulls of each superchunk, as blpk dataset index does; in the layouts bcolz and blz
    #[arg(long)]
    index: bool,

    /// Make a table with a column for each field of a NumPy array
    #[arg(long)]
    table: bool,

    /// File to read, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Directory or file to make
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk import prices.csv prices --types day=datetime64[D]
  blpk import prices.parquet prices.b2z
  blpk import grid.npy grid --layout carray-doc --chunkshape 64,64 -c zstd
  blpk import cube.npy cube.b2nd --chunkshape 100,100,50";

impl Import {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let goal = match is_same_file(&self.input, &self.output) {
            // This is refused later, as by all commands.
            Ok(true) => Goal::Layout(ArrayLayout::default()),
            _ => {
                let given = self.layout.map(Goal::Layout);
                let goal = layout::goal(&self.output, given, "import")?;
                goal.unwrap_or(Goal::Layout(ArrayLayout::default()))
            }
        };
        if let Goal::Layout(layout) = goal {
            self.storage.check(layout)?;
        }
        if self.input.is_dir() {
            let title = format!("{} is a directory", input::name(&self.input));
            return Err(Failure::usage(title).hint("blpk convert converts datasets and frames"));
        }
        match goal {
            Goal::Layout(ArrayLayout::Dataset(layout)) => self.dataset(layout, session),
            Goal::Layout(ArrayLayout::Frame(kind)) => self.frame(kind, session),
            Goal::Layout(ArrayLayout::Zarr(_)) => {
                let title = "blpk import makes no Zarr";
                Err(Failure::usage(title).hint("import a dataset, then use blpk convert"))
            }
            Goal::Layout(ArrayLayout::Store(form)) => self.store(form, session),
            Goal::File => self.file(session),
        }
    }

    /// Makes a Bloscpack file.
    fn file(&self, session: &Session) -> Result<Status, Failure> {
        let name = input::name(&self.input);
        let format = source::format_of(&self.input, self.reading.from)?;
        if format != Format::Npy {
            let title = format!("{name} is {format}; only .npy becomes a Bloscpack file");
            return Err(Failure::usage(title)
                .hint("choose a name without .blp to make a table of it, or use blpk compress"));
        }
        if self.table || self.index || self.expected_rows.is_some() || self.storage.is_divided() {
            let title = "a Bloscpack file has none of the settings of datasets and frames";
            return Err(Failure::usage(title).hint("only -c, -l, -s, --shuffle and -k apply to it"));
        }
        let input = Input::open(&self.input, session)?;
        let progress = Progress::new(session, input.length());
        let mut reader = input.reader(&progress);
        let header =
            read_npy_header(&mut reader).about(&Imported::new(&self.input, Format::Npy))?;
        let mut output = Target::file(
            &self.output,
            Replaces::Compressed,
            MadeFrom::Input(&input),
            session,
        )?;
        let builder = npy_encoder(&header, &self.storage, session).about(&input.name())?;
        let done = encode(builder, Content::Reader(&mut reader), &mut output);
        let (plain, tuned) = done.about(&output.made_from(&input))?;
        if let Some(tuned) = tuned {
            session.verbose(tuned);
        }
        let made = output.commit(session)?;
        session.done(format_args!(
            "{}, shape {:?}, {}, imported into {}, {},",
            input.name(),
            header.shape,
            size::pretty(plain),
            made.name,
            size::pretty(made.length),
        ));
        Ok(Status::Done)
    }

    fn dataset(&self, layout: DatasetLayout, session: &Session) -> Result<Status, Failure> {
        let new = Target::folder(&self.output, FolderKind::Dataset, &self.input, session)?;
        let options = ImportOptions::new();
        let opened = self.reading.open(&self.input, options, session);
        let (source, file) = opened.about(&new)?;
        let done = self.fill(&new, source, layout, &file.name, session);
        let (rows, bytes) = done.about(&new.made_from(&file))?;
        let made = new.commit(session)?.name;
        session.done(format_args!(
            "{}, {}, {}, imported into {made}",
            file.name,
            count(rows, "row"),
            size::pretty(bytes),
        ));
        Ok(Status::Done)
    }

    /// Creates the dataset and appends all rows. Returns their number, and their bytes.
    fn fill(
        &self,
        new: &Target,
        mut source: BoxedSource<'static>,
        layout: DatasetLayout,
        name: &str,
        session: &Session,
    ) -> Result<(u64, u64), Failure> {
        if self.table {
            source = source.fields()?;
        }
        let schema = source.schema().clone();
        if self.table && !schema.is_table {
            let title = format!("{name}: its elements have no fields to make columns of");
            return Err(Failure::usage(title).hint("omit --table"));
        }
        let mut rows = ProgressSource::new(&mut *source, session);
        warn_about_zones(&schema, name, session);
        let expected = self.expected_rows.unwrap_or(rows.rows());
        if schema.is_table {
            let builder = CTableBuilder::of_schema(&schema, |_, column| {
                self.storage.array(column.expected_rows(expected))
            });
            let builder = self.storage.table(builder)?.layout(layout);
            let mut table = new_table(new, builder.index(self.index), session)?;
            import_table(&mut rows, &mut table, &mut |_| ())?;
        } else {
            warn_about_axes(&schema, name, session);
            let builder = CArrayBuilder::of_schema(&schema).about(new)?;
            let builder = self.storage.array(builder.expected_rows(expected));
            let mut array = new_array(new, builder.layout(layout).index(self.index), session)?;
            import_array(&mut rows, &mut array, &mut |_| ())?;
        }
        rows.warn_of_missing(name, session);
        let rows = rows.rows();
        Ok((rows, rows.saturating_mul(schema.row_bytes())))
    }

    fn frame(&self, kind: ArrayKind, session: &Session) -> Result<Status, Failure> {
        let name = input::name(&self.input);
        self.check_frame(kind, &name)?;
        let new = frame::new_target(&self.output, &self.input, self.storage.sparse, session)?;
        let import = || -> Result<_, Failure> {
            let npy = source::open_npy(&self.input, session)?;
            let builder = array_builder(kind, npy.dtype(), npy.shape(), &name, session)?;
            let builder = self.storage.frame(builder, npy.shape())?;
            let read = &mut |region: &[_]| npy.read_slice(region);
            // Windows does not rename what is open.
            let bytes = frame::fill(&new, new.path(), builder, read, session)?.nbytes();
            Ok((npy.shape().to_vec(), bytes))
        };
        let (shape, bytes) = import().about(&new.made_from(&name))?;
        let made = new.commit(session)?.name;
        session.done(format_args!(
            "{name}, shape {shape:?}, {}, imported into {made}",
            size::pretty(bytes),
        ));
        Ok(Status::Done)
    }

    /// Refuses formats and options that are only for datasets.
    fn check_frame(&self, kind: ArrayKind, name: &str) -> Result<(), Failure> {
        let layout = kind.name();
        let format = source::format_of(&self.input, self.reading.from)?;
        if format != Format::Npy {
            let title =
                format!("{name} is {format}; only .npy can be imported into the layout {layout}");
            return Err(Failure::usage(title).hint(format!(
                "blpk import makes a table of it, and blpk convert --column NAME --layout {layout} converts a column of that"
            )));
        }
        if self.table || self.index || self.expected_rows.is_some() {
            let title =
                format!("the layout {layout} does not support --table, --index or --expected-rows");
            return Err(Failure::usage(title).hint("they are only for datasets"));
        }
        Ok(())
    }

    /// Makes a store.
    fn store(&self, form: StoreForm, session: &Session) -> Result<Status, Failure> {
        if self.index || self.expected_rows.is_some() {
            let title = format!("the layout {form} does not support --index or --expected-rows");
            return Err(Failure::usage(title).hint("python-blosc2 makes indexes itself"));
        }
        self.storage.refuse_axes()?;
        let name = input::name(&self.input);
        let new = store::new_target(&self.output, &self.input, form, session)?;
        let options = ImportOptions::new().keep_missing();
        let opened = self.reading.open(&self.input, options, session);
        let (source, file) = opened.about(&new)?;
        let import = || -> Result<u64, Failure> {
            let mut source = source.fields()?;
            if !source.schema().is_table {
                let title = format!("{name} is an array, and import makes stores of tables only");
                let hint = format!(
                    "blpk import makes a .b2nd of it, and blpk convert X.b2nd OUT.{form} a store of that"
                );
                return Err(Failure::usage(title).hint(hint));
            }
            let keeps_length = |name: &str| self.reading.has_type(name);
            let schema = source.schema().clone();
            let mut table = store::new_table(&new, &schema, keeps_length, &self.storage, session)?;
            let mut rows = ProgressSource::new(&mut *source, session);
            import_store(&mut rows, &mut table, &mut |_| ())?;
            table.finish().about(&new)
        };
        let rows = import().about(&new.made_from(&file))?;
        let made = new.commit(session)?.name;
        session.done(format_args!(
            "{name}, {}, imported into {made}",
            count(rows, "row")
        ));
        Ok(Status::Done)
    }
}

/// Reads the header, and nothing after it.
fn read_npy_header(reader: &mut impl Read) -> bloscpack::Result<NpyHeader> {
    let mut start = Vec::new();
    let mut read_to = |len: usize, start: &mut Vec<u8>| {
        let more = to_u64(len.saturating_sub(start.len()));
        reader.by_ref().take(more).read_to_end(start).reading()
    };
    read_to(NpyHeader::START, &mut start)?;
    let damaged = |error: NpyError| Error::new(Code::Header, error.to_string());
    let len = NpyHeader::len_of(&start).map_err(damaged)?;
    read_to(len, &mut start)?;
    Ok(NpyHeader::parse(&start).map_err(damaged)?.0)
}

fn npy_encoder(
    header: &NpyHeader,
    storage: &StorageArgs,
    session: &Session,
) -> bloscpack::Result<EncoderBuilder> {
    let (codec, filter) = (&storage.codec, storage.filter.filter());
    let is_given = codec.codec.is_some() || codec.level().is_some() || filter.is_some();
    let (dtype, shape) = (&header.dtype, &header.shape);
    let metadata = numpy_metadata(dtype, shape, header.fortran_order, &Attributes::default())?;
    let mut builder = Encoder::builder()
        .metadata(metadata)
        .threads(session.threads)
        .limits(session.write_limits());
    if !is_given {
        builder = builder.auto(Aim::Balance);
    }
    // As Bloscpack: longer elements are compressed as bytes.
    let typesize = u8::try_from(header.dtype.itemsize()).ok();
    let typesize = typesize.filter(|bytes| *bytes > 0);
    let builder = with_given!(builder,
        typesize: typesize,
        level: codec.level(),
        filter: filter,
        compressor: codec.codec,
        checksum: storage.checksum,
        size: header.content_len(),
    );
    Ok(builder)
}
