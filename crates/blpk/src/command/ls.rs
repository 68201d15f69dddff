//! `blpk ls`: the datasets below a directory.

use std::path::{Path, PathBuf};

use bloscpack::open::Outline;
use clap::Args;
use serde_json::{Value, json};

use crate::container::not_opened;
use crate::dataset::is_not_directory;
use crate::dataset::walk::datasets;
use crate::failure::Failure;
use crate::json_text;
use crate::output;
use crate::session::Session;
use crate::size::pretty;
use crate::status::Status;
use crate::text::{count, plain, quoted, shape, shown};

/// List the datasets below a directory
///
/// Prints one line for each array or table: path, kind, layout, dtype or columns, shape, and size of its elements, sorted
/// by path. Columns are part of their tables. Symbolic links are not followed, and names that begin with ._ are skipped. If
/// a dataset cannot be opened, that is reported on standard error, and the exit status is the highest of those.
#[derive(Args, Debug)]
pub struct Ls {
    /// Print one JSON object
    #[arg(long)]
    json: bool,

    /// Directory to search
    #[arg(value_name = "DIR", default_value = ".")]
    path: PathBuf,
}

impl Ls {
    pub fn run(&self, session: &Session) -> Result<Status, Failure> {
        if is_not_directory(&self.path) {
            let title = format!("{} is not a directory", quoted(&self.path));
            return Err(Failure::usage(title).hint("blpk info shows what a file contains"));
        }
        let (mut worst, mut found) = (Status::Done, Vec::new());
        for (path, opened) in datasets(&self.path, session)? {
            let failed = |error| not_opened(&path, &error);
            let outline = opened.and_then(|mut opened| opened.container.outline());
            let outline = outline.map_err(failed);
            // If a column cannot be opened, the number of rows is unknown.
            let trouble = outline
                .as_ref()
                .ok()
                .and_then(|outline| outline.trouble.as_ref());
            let trouble = trouble.map(|error| not_opened(&path, error));
            for failure in outline.as_ref().err().into_iter().chain(&trouble) {
                worst = worst.max(failure.status());
            }
            match (self.json, outline) {
                (true, outline) => found.push(entry(&path, &outline, trouble.as_ref())),
                (false, Ok(outline)) => {
                    output::print(&line(&path, &outline))?;
                    trouble.iter().for_each(Failure::report);
                }
                (false, Err(failure)) => failure.report(),
            }
        }
        if self.json {
            json_text::print(&json!({ "datasets": found }))?;
        }
        Ok(worst)
    }
}

fn line(path: &Path, outline: &Outline) -> String {
    let layout = outline.layout.unwrap_or_default();
    let mut text = format!("{}  {}  {layout}  ", shown(path), outline.kind);
    text += &match (&outline.columns, outline.shape.as_deref()) {
        (Some(columns), Some([rows])) => {
            format!("{}  {}", plain(&columns.join(",")), count(*rows, "row"))
        }
        (Some(columns), _) => format!("{}  unknown rows", plain(&columns.join(","))),
        (None, found) => {
            let dtype = plain(outline.dtype.as_deref().unwrap_or_default());
            format!("{dtype}  {}", shape(found.unwrap_or_default()))
        }
    };
    if let Some(bytes) = outline.bytes {
        text += &format!("  {}", pretty(bytes));
    }
    text + "\n"
}

fn entry(path: &Path, outline: &Result<Outline, Failure>, trouble: Option<&Failure>) -> Value {
    let path = path.to_string_lossy();
    match outline {
        Ok(outline) => json!({
            "path": path,
            "kind": outline.kind.name(),
            "layout": outline.layout,
            "dtype": outline.dtype,
            "shape": outline.shape,
            "columns": outline.columns,
            "uncompressed_bytes": outline.bytes,
            "status": trouble.map_or(0, |failure| failure.status().code()),
            "error": trouble.and_then(Failure::title),
        }),
        Err(failure) => {
            let status = failure.status().code();
            json!({ "path": path, "status": status, "error": failure.title() })
        }
    }
}
