//! `blpk refs`: describes a dataset as a Zarr group that is read where it lies.

use std::io::Write as _;
use std::path::PathBuf;

use bloscpack::wire::internal::to_u64;
use bloscpack_convert::{Conversion, Goal};
use bloscpack_open::zarr::{Format, References};
use clap::Args;

use crate::container::{Opened, Reading};
use crate::failure::{About as _, Failure};
use crate::output::{MadeFrom, Replaces, Target, is_standard_output};
use crate::session::Session;
use crate::status::Status;
use crate::text::{count, is_url};

/// Describe a dataset for readers of Zarr, without a copy
///
/// Writes references, as Kerchunk does: a JSON file with the metadata of a Zarr group, and for each chunk the file and the
/// bytes where it lies. With it, zarr-python and xarray read the dataset itself, through the "reference" file system of fsspec.
///
/// PATH is a dataset of bcolz, BLZ or carray, a folder of them, or a Bloscpack file with a NumPy array, also at a URL. Columns
/// and arrays become members of a group. Chunks that are shorter than others, at the end of an array, are copied into OUT.
/// Other inputs, and chunks compressed with Snappy, are refused: convert them to Zarr.
///
/// Such readers do not compare checksums, and do not notice a change of the dataset: write the references again after one.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Refs {
    /// URL or path of PATH in OUT [default: PATH, as an absolute path if it is no URL]
    #[arg(long, value_name = "URL")]
    root: Option<String>,

    /// Only these columns of a table
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    columns: Vec<String>,

    /// Dataset or file to describe
    #[arg(value_name = "PATH")]
    path: PathBuf,

    /// JSON file to write, or - for standard output
    #[arg(value_name = "OUT", default_value = "-")]
    output: PathBuf,
}

const EXAMPLES: &str = "\
Examples:
  blpk refs prices.bcolz prices.json
  blpk refs prices.bcolz prices.json --root https://example.org/prices.bcolz
  blpk refs s3://bucket/prices.bcolz prices.json

In Python:
  xarray.open_dataset(\"prices.json\", engine=\"kerchunk\")";

impl Refs {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        let reading = Reading {
            is_tree_wanted: true,
            ..Reading::default()
        };
        let mut opened = Opened::open_reading(&self.path, &reading, session, |options| options)?;
        let mut conversion = Conversion::new(Goal::Zarr(Format::V2));
        conversion.columns.clone_from(&self.columns);
        conversion.name = self.name();
        conversion.options = session.array_options();
        let origin = opened.origin.name.clone();
        let warn = |text: &str| session.warning(format_args!("{origin}: {text}"));
        let references = conversion.references(&*opened.container, &warn);
        opened.finish(session);
        let references = references.about(&opened.origin)?;
        let root = match &self.root {
            Some(root) => root.clone(),
            None if is_url(&self.path) => self.path.to_string_lossy().into_owned(),
            None => References::root_of(&self.path)?,
        };
        let made_from = MadeFrom::Path(&self.path);
        let mut output = Target::file(&self.output, Replaces::Plain, made_from, session)?;
        let text = references.to_json(&root);
        output.write_all(text.as_bytes()).about(&output)?;
        let made = output.commit(session)?;
        if !is_standard_output(&self.output) {
            session.done(format_args!(
                "{}, {}, described in {}",
                opened.origin.name,
                count(to_u64(references.chunks().len()), "chunk"),
                made.name,
            ));
        }
        Ok(Status::Done)
    }

    /// The name of the only array: that of its file or folder.
    fn name(&self) -> String {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str());
        stem.filter(|stem| !stem.is_empty())
            .unwrap_or("array")
            .to_owned()
    }
}
