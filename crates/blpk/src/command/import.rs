//! `blpk import`: a file of another format into a new dataset.
#![allow(
    rustdoc::broken_intra_doc_links,
    reason = "help texts have types of NumPy in brackets"
)]

mod frame;

pub use frame::describe;

use std::path::{Path, PathBuf};
use std::time::Instant;

use bloscpack::{
    DType,
    dataset::DatasetLayout,
    exchange::{BoxedSource, Format, ImportOptions, Schema, Source, import_array, import_table},
};
use clap::Args;

use crate::args;
use crate::dataset;
use crate::dataset::making::Making;
use crate::dataset::new::New;
use crate::dataset::source::{self, Watched};
use crate::input;
use crate::layout::ArrayLayout;
use crate::message::Failure;
use crate::session::Session;
use crate::size;
use crate::status::Status;

/// Make a dataset or a Blosc2 frame of a file of another format
///
/// IN is .npy, .csv, .arrow or .parquet. An array of NumPy becomes an array, with --table one whose
/// elements have fields becomes a table; the others become tables. In the layouts caterva and b2nd OUT
/// is a frame with an n-dimensional array, made of .npy alone: a file, with --sparse a directory. OUT
/// appears under its name when it is whole; with -f it takes the place of what is there, a dataset as
/// one change. For example:
///   blpk import prices.csv prices --types day=datetime64[D]
///   blpk import grid.npy grid --layout carray-doc --chunkshape 64,64 -c zstd
///   blpk import cube.npy cube.b2nd --layout b2nd --chunkshape 100,100,50 --blockshape 10,20,50
#[derive(Args, Debug)]
#[command(verbatim_doc_comment)]
pub struct Import {
    #[command(flatten)]
    making: Making,

    #[arg(help = "How a dataset lies in its directory: bcolz, blz, blz-doc or carray-doc; or a frame: caterva or b2nd, which tells the dtype",
          long, value_name = "LAYOUT", default_value_t, value_parser = args::array_layout())]
    layout: ArrayLayout,

    /// How many rows there will be in the end, which the length of chunks is chosen by
    #[arg(long, value_name = "N", value_parser = args::count)]
    expected_rows: Option<u64>,

    #[command(flatten)]
    reading: Reading,

    /// Take the fields of an array of NumPy apart, into the columns of a table
    #[arg(long)]
    table: bool,

    /// File to read, or - for standard input
    #[arg(value_name = "IN")]
    input: PathBuf,

    /// Directory or file to make
    #[arg(value_name = "OUT")]
    output: PathBuf,
}

/// What a file of another format does not say itself.
#[derive(Args, Debug)]
pub struct Reading {
    /// Format of IN, where its name does not tell: npy, csv, arrow, parquet
    #[arg(long, value_name = "FORMAT", value_parser = args::format)]
    from: Option<Format>,

    /// Types of columns, as NumPy calls them: day=datetime64[D],id=u4; of CSV, the others are guessed
    #[arg(long, value_name = "NAME=DTYPE,...", value_parser = types)]
    types: Vec<Types>,

    /// What stands where a value of an integer column is missing: NAME=TEXT, or TEXT for all
    #[arg(long, value_name = "[NAME=]TEXT", allow_hyphen_values = true)]
    fill: Vec<String>,

    /// What separates the cells of CSV: one character, or tab
    #[arg(long, value_name = "CHAR", default_value = ",", value_parser = delimiter)]
    delimiter: u8,
}

/// Names with their types.
type Types = Vec<(String, DType)>;

/// Parses `a=f8,b=datetime64[25s]`. A type of several fields has commas of its own: it stands alone.
fn types(text: &str) -> Result<Types, String> {
    let one = |text: &str| {
        let wrong = || format!("'{text}' is not NAME=DTYPE");
        let (name, dtype) = text.split_once('=').ok_or_else(wrong)?;
        let dtype = DType::parse(dtype.trim()).map_err(|error| error.to_string())?;
        Ok((name.trim().to_owned(), dtype))
    };
    if text.contains(['(', '{']) {
        return Ok(vec![one(text)?]);
    }
    text.split(',').map(one).collect()
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        [byte] if byte.is_ascii() => Ok(*byte),
        _ if text.eq_ignore_ascii_case("tab") || text == "\\t" => Ok(b'\t'),
        _ => Err("one character of ASCII separates cells".into()),
    }
}

impl Reading {
    /// What is said, for the library.
    pub fn options(&self) -> ImportOptions {
        self.apply(ImportOptions::new())
    }

    /// The same, added to what is known.
    pub fn apply(&self, options: ImportOptions) -> ImportOptions {
        let mut options = options.delimiter(self.delimiter);
        for (name, dtype) in self.types.iter().flatten() {
            options = options.dtype(name, dtype.clone());
        }
        for fill in &self.fill {
            options = match fill.split_once('=') {
                Some((name, text)) => options.fill(name, text),
                None => options.fill_all(fill),
            };
        }
        options
    }

    /// Opens the file at `path`.
    pub fn open(
        &self,
        path: &Path,
        options: &ImportOptions,
        session: &Session,
    ) -> Result<(BoxedSource<'static>, Format), Failure> {
        let format = source::format_of(path, self.from)?;
        Ok((source::open(path, format, options, session)?, format))
    }
}

impl Import {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        self.making.fit(self.layout)?;
        if dataset::is_directory(&self.input) {
            let title = format!("{} is a directory", input::name(&self.input));
            return Err(Failure::usage(title).hint("blpk convert makes one dataset of another"));
        }
        match self.layout {
            ArrayLayout::Dataset(layout) => self.dataset(layout, session),
            ArrayLayout::Frame(kind) => self.frame(kind, session),
        }
    }

    fn dataset(&self, layout: DatasetLayout, session: &Session) -> Result<Status, Failure> {
        let begun = Instant::now();
        let new = New::begin(&self.output, &self.input, session)?;
        let opened = self
            .reading
            .open(&self.input, &self.reading.options(), session);
        let (source, format) = opened.map_err(|failure| new.undone(failure))?;
        let name = input::name(&self.input);
        let unread = |error: &bloscpack::Error| Some(source::failure(&name, format, error));
        let mut source = match self.table {
            true => source
                .fields()
                .map_err(|error| new.explain(&error, unread(&error)))?,
            false => source,
        };
        let schema = source.schema().clone();
        if self.table && !schema.is_table {
            let title = format!("{name}: its elements have no fields that could be columns");
            return Err(Failure::usage(title).hint("leave --table out"));
        }
        let mut watched = Watched::new(&mut *source, session);
        let rows = watched.rows();
        let done = self.copy(&mut watched, &schema, layout, &new, session)?;
        done.map_err(|error| {
            let unread = unread(&error).filter(|_| watched.has_failed());
            new.explain(&error, unread)
        })?;
        let made = new.name();
        new.commit(session)?;
        session.verbose(format_args!(
            "{name}, {rows} rows, {}, imported into {made} in {:.2?}",
            size::pretty(rows.saturating_mul(schema.row_bytes())),
            begun.elapsed(),
        ));
        Ok(Status::Done)
    }

    /// Makes the dataset and puts all rows into it.
    fn copy(
        &self,
        source: &mut Watched<'_>,
        schema: &Schema,
        layout: DatasetLayout,
        new: &New<'_>,
        session: &Session,
    ) -> Result<bloscpack::Result<()>, Failure> {
        let expected = self.expected_rows.unwrap_or(source.rows());
        let options = dataset::options(session);
        if schema.is_table {
            let builder =
                schema.table_builder(|_, column| self.making.array(column.expected_rows(expected)));
            let builder = self.making.table(builder)?.layout(layout);
            let builder = builder.replace(new.replaces()).options(options);
            let table = builder.create(new.folder());
            return Ok(table.and_then(|mut table| import_table(source, &mut table, &mut |_| ())));
        }
        let array = schema.array_builder().and_then(|builder| {
            let builder = self.making.array(builder.expected_rows(expected));
            let builder = builder.layout(layout).replace(new.replaces());
            let mut array = builder.options(options).create(new.folder())?;
            import_array(source, &mut array, &mut |_| ())
        });
        Ok(array)
    }
}
